/*
 * Counts the characters of UTF-8 text, with three entry points that take 3, 5 and 7 bytes.
 * Overlong forms, surrogates and what lies above U+10FFFF are faults, as in RFC 3629, section 4.
 * A single damaged byte is forgiven and counts as one character; at the second the text is refused.
 */
#include <stddef.h>
#include <stdint.h>

enum utf8_fault {
    UTF8_OK = 0,
    UTF8_STRAY_CONTINUATION = -1,
    UTF8_BAD_LEAD = -2,
    UTF8_TRUNCATED = -3,
    UTF8_BAD_CONTINUATION = -4,
    UTF8_OVERLONG = -5,
    UTF8_SURROGATE = -6,
    UTF8_TOO_LARGE = -7
};

struct reader {
    const uint8_t *next;
    const uint8_t *end;
};

/* How many bytes follow this lead byte, or a fault. */
static int bytes_after(uint8_t lead)
{
    if (lead < 0x80)
        return 0;
    if (lead < 0xC0)
        return UTF8_STRAY_CONTINUATION;
    if (lead < 0xE0)
        return 1;
    if (lead < 0xF0)
        return 2;
    if (lead < 0xF8)
        return 3;
    return UTF8_BAD_LEAD;
}

/* Is this a code point that UTF-8 may hold, and in as many bytes as were used for it? */
static int check(uint32_t code, int following)
{
    if (following == 1 && code < 0x80)
        return UTF8_OVERLONG;
    if (following == 2) {
        if (code < 0x800)
            return UTF8_OVERLONG;
        if (code >= 0xD800 && code <= 0xDFFF)
            return UTF8_SURROGATE;
    }
    if (following == 3) {
        if (code < 0x10000)
            return UTF8_OVERLONG;
        if (code > 0x10FFFF)
            return UTF8_TOO_LARGE;
    }
    return UTF8_OK;
}

/* Checks one code point and moves the reader behind it; a fault leaves the reader where it was. */
static int decode(struct reader *in)
{
    const uint8_t *at = in->next;
    uint8_t lead = *at++;
    int following = bytes_after(lead);
    uint32_t value;
    int fault;

    if (following < 0)
        return following;
    if (in->end - at < following)
        return UTF8_TRUNCATED;

    value = following == 0 ? lead : lead & (0x3Fu >> following);
    for (int i = 0; i < following; i++, at++) {
        if ((*at & 0xC0) != 0x80)
            return UTF8_BAD_CONTINUATION;
        value = value << 6 | (*at & 0x3Fu);
    }
    fault = check(value, following);
    if (fault != UTF8_OK)
        return fault;

    in->next = at;
    return UTF8_OK;
}

/* The number of characters in the text, or the second fault. */
int utf8_count(const uint8_t *text, size_t length)
{
    struct reader in = { text, text + length };
    int count = 0, faults = 0;

    while (in.next < in.end) {
        int fault = decode(&in);
        if (fault != UTF8_OK) {
            if (faults++ > 0)
                return fault;
            in.next++;
        }
        count++;
    }
    return count;
}

int utf8_3(uint8_t b0, uint8_t b1, uint8_t b2)
{
    const uint8_t text[] = { b0, b1, b2 };
    return utf8_count(text, sizeof text);
}

int utf8_5(uint8_t b0, uint8_t b1, uint8_t b2, uint8_t b3, uint8_t b4)
{
    const uint8_t text[] = { b0, b1, b2, b3, b4 };
    return utf8_count(text, sizeof text);
}

int utf8_7(uint8_t b0, uint8_t b1, uint8_t b2, uint8_t b3, uint8_t b4, uint8_t b5, uint8_t b6)
{
    const uint8_t text[] = { b0, b1, b2, b3, b4, b5, b6 };
    return utf8_count(text, sizeof text);
}
