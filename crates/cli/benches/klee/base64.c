/* Library: Base64 to bytes, with the padding and the unused bits checked. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 8
#endif

static int value_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

/* The number of bytes written, or -1. */
static int decode(const unsigned char *in, int length, unsigned char *out)
{
    int written = 0, padding = 0;

    if (length % 4)
        return -1;
    for (int i = 0; i < length; i += 4) {
        uint32_t group = 0;

        for (int k = 0; k < 4; k++) {
            int value = 0;

            if (in[i + k] == '=' && i + 4 == length && k >= 2) {
                padding++;
            } else {
                value = value_of(in[i + k]);
                if (value < 0 || padding)
                    return -1;
            }
            group = group << 6 | (uint32_t)value;
        }
        if ((padding == 1 && group & 0xFF) || (padding == 2 && group & 0xFFFF))
            return -1;
        out[written++] = (unsigned char)(group >> 16);
        if (padding < 2)
            out[written++] = (unsigned char)(group >> 8);
        if (padding < 1)
            out[written++] = (unsigned char)group;
    }
    return written;
}

int main(void)
{
    unsigned char text[LENGTH], bytes[LENGTH];

    INPUT(text);
    return decode(text, LENGTH, bytes);
}
