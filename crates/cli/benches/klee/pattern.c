/*
 * A small pattern language: `.` any character, `x*` and `x+` and `x?` repeat x, `[a-c]` and `[^ab]`
 * a class, `\x` the character x, `^` and `$` the ends of the text.
 */
#include "input.h"

#ifndef PATTERN
#define PATTERN 4
#endif
#ifndef TEXT
#define TEXT 3
#endif

static int match_here(const char *pattern, const char *text);

/* The end of the item at `p`, or null if it is not well formed. */
static const char *item_end(const char *p)
{
    if (*p == '\\')
        return p[1] ? p + 2 : NULL;
    if (*p != '[')
        return p + 1;
    p++;
    if (*p == '^')
        p++;
    do {
        if (!*p)
            return NULL;
        p++;
    } while (*p != ']');
    return p + 1;
}

static int in_class(const char *p, const char *end, char c)
{
    int negated = *p == '^';

    if (negated)
        p++;
    for (; p < end; p++) {
        if (p + 2 < end && p[1] == '-') {
            if (p[0] <= c && c <= p[2])
                return !negated;
            p += 2;
        } else if (*p == c) {
            return !negated;
        }
    }
    return negated;
}

static int match_one(const char *item, const char *end, char c)
{
    if (!c)
        return 0;
    switch (*item) {
    case '.':
        return 1;
    case '\\':
        return item[1] == c;
    case '[':
        return in_class(item + 1, end - 1, c);
    default:
        return *item == c;
    }
}

/* As many as there are, then fewer; `least` of them at any rate. */
static int match_many(const char *item, const char *end, const char *text, int least, int most)
{
    int count = 0;

    while (count < most && match_one(item, end, text[count]))
        count++;
    for (; count >= least; count--)
        if (match_here(end + 1, text + count))
            return 1;
    return 0;
}

static int match_here(const char *pattern, const char *text)
{
    const char *end;

    if (!*pattern)
        return 1;
    if (pattern[0] == '$' && !pattern[1])
        return !*text;
    end = item_end(pattern);
    if (!end)
        return 0;
    switch (*end) {
    case '*':
        return match_many(pattern, end, text, 0, TEXT);
    case '+':
        return match_many(pattern, end, text, 1, TEXT);
    case '?':
        return match_many(pattern, end, text, 0, 1);
    }
    return match_one(pattern, end, *text) && match_here(end, text + 1);
}

static int matches(const char *pattern, const char *text)
{
    if (*pattern == '^')
        return match_here(pattern + 1, text);
    do {
        if (match_here(pattern, text))
            return 1;
    } while (*text++);
    return 0;
}

int main(void)
{
    char pattern[PATTERN + 1], text[TEXT + 1];

    INPUT(pattern);
    INPUT(text);
    pattern[PATTERN] = text[TEXT] = '\0';
    return matches(pattern, text);
}
