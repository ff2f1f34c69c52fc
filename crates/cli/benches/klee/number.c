/* Library: text to long, in any base, as strtol. */
#include "input.h"
#include <limits.h>

#ifndef LENGTH
#define LENGTH 5
#endif

static int is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z')
        return c - 'A' + 10;
    return 36;
}

static int has_hex_prefix(const char *s)
{
    return s[0] == '0' && (s[1] == 'x' || s[1] == 'X') && digit_of(s[2]) < 16;
}

static long to_long(const char *text, const char **end, int base, int *range_error)
{
    const char *s = text;
    unsigned long value = 0, limit;
    int negative = 0, digits = 0;

    *range_error = 0;
    while (is_blank(*s))
        s++;
    if (*s == '+' || *s == '-')
        negative = *s++ == '-';
    if ((base == 0 || base == 16) && has_hex_prefix(s)) {
        s += 2;
        base = 16;
    } else if (base == 0) {
        base = *s == '0' ? 8 : 10;
    }
    limit = negative ? (unsigned long)LONG_MAX + 1 : LONG_MAX;
    for (; digit_of(*s) < base; s++, digits++) {
        unsigned long digit = (unsigned long)digit_of(*s);

        if (value > (limit - digit) / (unsigned long)base)
            *range_error = 1;
        else
            value = value * (unsigned long)base + digit;
    }
    *end = digits ? s : text;
    if (*range_error)
        return negative ? LONG_MIN : LONG_MAX;
    return negative ? (long)(0 - value) : (long)value;
}

int main(void)
{
    char text[LENGTH + 1];
    const char *end;
    int range_error;

    INPUT(text);
    text[LENGTH] = '\0';
    return (int)to_long(text, &end, 0, &range_error) + (int)(end - text) + range_error;
}
