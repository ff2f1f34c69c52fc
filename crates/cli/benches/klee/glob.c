/* Names of files against a pattern with `*`, `?` and `{a,b}`-free classes, without recursion. */
#include "input.h"

#ifndef PATTERN
#define PATTERN 4
#endif
#ifndef NAME
#define NAME 4
#endif

/* Whether `c` is in the class that starts at `*at`, which is moved behind it; -1 if it has no end. */
static int in_class(const char **at, char c)
{
    const char *p = *at + 1;
    int negated = *p == '!';
    int found = 0;

    if (negated)
        p++;
    do {
        if (!*p)
            return -1;
        if (p[1] == '-' && p[2] && p[2] != ']') {
            if (p[0] <= c && c <= p[2])
                found = 1;
            p += 3;
        } else {
            if (*p == c)
                found = 1;
            p++;
        }
    } while (*p != ']');
    *at = p + 1;
    return found != negated;
}

static int glob(const char *pattern, const char *name)
{
    const char *star = NULL, *mark = NULL;

    if (*name == '.' && *pattern != '.')
        return 0; /* hidden files are asked for by name */
    while (*name) {
        const char *next = pattern;
        int fits;

        if (*pattern == '*') {
            star = ++pattern;
            mark = name;
            continue;
        }
        if (*pattern == '[') {
            fits = in_class(&next, *name);
            if (fits < 0)
                return -1;
        } else {
            fits = *pattern && (*pattern == '?' || *pattern == *name);
            next++;
        }
        if (fits) {
            pattern = next;
            name++;
        } else if (star) {
            pattern = star;
            name = ++mark;
        } else {
            return 0;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}

int main(void)
{
    char pattern[PATTERN + 1], name[NAME + 1];

    INPUT(pattern);
    INPUT(name);
    pattern[PATTERN] = name[NAME] = '\0';
    return glob(pattern, name);
}
