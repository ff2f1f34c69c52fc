/* Library: a percent-encoded name=value list, decoded in place. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 6
#endif

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The length after decoding; -1 for a bad escape, -2 for an encoded null character. */
static int unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '+') {
            *to++ = ' ';
        } else if (*from == '%') {
            int high = hex_of(from[1]);
            int low = high < 0 ? -1 : hex_of(from[2]);

            if (low < 0)
                return -1;
            if (high == 0 && low == 0)
                return -2;
            *to++ = (char)(high << 4 | low);
            from += 2;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
    return (int)(to - text);
}

/* The number of pairs, or a fault. */
static int decode(char *text)
{
    int pairs = 0;

    while (*text) {
        char *end = text, *value = NULL;
        int last, length;

        for (; *end && *end != '&'; end++)
            if (*end == '=' && !value)
                value = end + 1;
        last = !*end;
        *end = '\0';
        if (value)
            value[-1] = '\0';
        length = unescape(text);
        if (length <= 0)
            return length < 0 ? length : -3;
        length = value ? unescape(value) : 0;
        if (length < 0)
            return length;
        pairs++;
        text = last ? end : end + 1;
    }
    return pairs;
}

int main(void)
{
    char text[LENGTH + 1];

    INPUT(text);
    text[LENGTH] = '\0';
    return decode(text);
}
