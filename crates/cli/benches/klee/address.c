/* Library: an address of the Internet, version 4 or 6, from text to bytes, as inet_pton. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 7
#endif

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static int parse_v4(const char *s, uint8_t *out)
{
    for (int part = 0; part < 4; part++) {
        unsigned value = 0;
        int digits = 0;

        while (*s >= '0' && *s <= '9') {
            if (digits && value == 0)
                return 0; /* octal is not meant */
            value = value * 10 + (unsigned)(*s++ - '0');
            if (++digits > 3 || value > 255)
                return 0;
        }
        if (!digits || *s != (part < 3 ? '.' : '\0'))
            return 0;
        s++;
        out[part] = (uint8_t)value;
    }
    return 1;
}

static int parse_v6(const char *s, uint8_t *out)
{
    int at = 0, gap = -1;

    if (*s == ':' && *++s != ':')
        return 0;
    while (*s) {
        unsigned value = 0;
        int digits = 0;

        if (*s == ':') {
            if (gap >= 0)
                return 0;
            gap = at;
            s++;
            continue;
        }
        for (; hex_of(*s) >= 0; s++, digits++) {
            if (digits == 4)
                return 0;
            value = value << 4 | (unsigned)hex_of(*s);
        }
        if (!digits || at == 16)
            return 0;
        out[at++] = (uint8_t)(value >> 8);
        out[at++] = (uint8_t)value;
        if (*s == ':') {
            if (!*++s)
                return 0;
        } else if (*s) {
            return 0;
        }
    }
    if (gap < 0)
        return at == 16;
    if (at == 16)
        return 0;
    for (int i = 15, from = at - 1; i >= gap; i--, from--) {
        out[i] = from >= gap ? out[from] : 0;
    }
    return 1;
}

/* 4 or 6, or 0 if it is neither. */
static int parse(const char *text, uint8_t *out)
{
    if (parse_v4(text, out))
        return 4;
    return parse_v6(text, out) ? 6 : 0;
}

int main(void)
{
    char text[LENGTH + 1];
    uint8_t out[16];

    INPUT(text);
    text[LENGTH] = '\0';
    return parse(text, out);
}
