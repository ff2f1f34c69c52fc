/* Library: UTF-8 to UTF-16; what is not well formed becomes U+FFFD, as the Unicode standard says. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 6
#endif

/* The bytes of the well-formed sequence at `s`, or 0; `length` bytes are there. */
static int sequence(const uint8_t *s, int length, uint32_t *code)
{
    uint8_t low = 0x80, high = 0xBF;
    int more;

    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        more = 1;
        *code = s[0] & 0x1F;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        more = 2;
        *code = s[0] & 0x0F;
        if (s[0] == 0xE0)
            low = 0xA0;
        else if (s[0] == 0xED)
            high = 0x9F;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        more = 3;
        *code = s[0] & 0x07;
        if (s[0] == 0xF0)
            low = 0x90;
        else if (s[0] == 0xF4)
            high = 0x8F;
    } else {
        return 0;
    }
    if (more >= length)
        return 0;
    for (int i = 1; i <= more; i++) {
        if (s[i] < low || s[i] > high)
            return 0;
        *code = *code << 6 | (s[i] & 0x3F);
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

static int to_utf16(const uint8_t *in, int length, uint16_t *out, int *replaced)
{
    int written = 0;

    *replaced = 0;
    for (int at = 0; at < length;) {
        uint32_t code;
        int used = sequence(in + at, length - at, &code);

        if (!used) {
            code = 0xFFFD;
            used = 1;
            ++*replaced;
        }
        at += used;
        if (code >= 0x10000) {
            code -= 0x10000;
            out[written++] = (uint16_t)(0xD800 | code >> 10);
            out[written++] = (uint16_t)(0xDC00 | (code & 0x3FF));
        } else {
            out[written++] = (uint16_t)code;
        }
    }
    return written;
}

int main(void)
{
    uint8_t text[LENGTH];
    uint16_t out[LENGTH];
    int replaced;

    INPUT(text);
    return to_utf16(text, LENGTH, out, &replaced) + replaced;
}
