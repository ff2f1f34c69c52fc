/* Random directives with random arguments, and directives that are special. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include "random.h"

static const char *pick(const char *const *from, unsigned count) { return from[below(count)]; }

static void one(void) {
    static const char *const short_lengths[] = {"hh", "h", ""};
    static const char *const long_lengths[] = {"l", "ll", "j", "z", "t"};
    static const char *const strings[] = {"", "a", "hello", "a longer string that fills"};
    char format[64];
    int at = sprintf(format, "[%%");
    for (unsigned flags = below(4); flags; flags--) format[at++] = "-+ #0"[below(5)];
    if (below(2)) at += sprintf(format + at, "%u", below(40));
    if (below(2)) {
        format[at++] = '.';
        if (below(8)) at += sprintf(format + at, "%u", below(below(5) ? 12 : 60));
    }
    int count = 0;
    switch (below(8)) {
    case 0: case 1: case 2:
        sprintf(format + at, "%c]", "fFeEgGaA"[below(8)]);
        count = printf(format, any_double());
        break;
    case 3: {
        int value = below(3) ? (int)any() : (int)below(100);
        sprintf(format + at, "%s%c]", pick(short_lengths, 3), "diouxX"[below(6)]);
        count = printf(format, value);
        break;
    }
    case 4: {
        long long value = below(3) ? (long long)any() : (long long)below(100);
        unsigned length = below(5);
        sprintf(format + at, "%s%c]", long_lengths[length], "diouxX"[below(6)]);
        /* "ll" and "j" say another size than the others where `long` has 32 bits. */
        count = length == 1 || length == 2 ? printf(format, value) : printf(format, (long)value);
        break;
    }
    case 5:
        sprintf(format + at, "s]");
        count = printf(format, pick(strings, 4));
        break;
    case 6:
        sprintf(format + at, "c]");
        count = printf(format, 'a' + below(26));
        break;
    case 7:
        sprintf(format + at, "p]");
        count = printf(format, below(3) ? (void *)(any() >> 20) : NULL);
        break;
    }
    printf(" %s %d\n", format, count);
}

int main(void) {
    for (int i = 0; i < 3000; i++) one();
    printf("%2$s %1$d %3$*4$d|%3$-*4$d|\n", 5, "two", 7, 6);
    int written = 0;
    printf("abc%n", &written);
    printf("%d %s %y %%\n", written, (char *)0, 1);
    printf("%b %#B %m|\n", 10, 10);
    printf("%.3s|%.10s|%5.1s|\n", (char *)0, (char *)0, "xyz");
    printf("%ls|%lc|%5ls|\n", L"wide", L'w', L"abc");
    printf("%*.*f|%-*d|%.*d|\n", 10, 2, 3.14159, -5, 3, -1, 7);
    char few[8];
    int length = snprintf(few, sizeof few, "%s", "truncated");
    printf("%d %s\n", length, few);
    char *made;
    printf("%d ", asprintf(&made, "%05d %.17g", 42, 0.1));
    puts(made);
    printf("%.400f\n%.340e\n", 5e-324, 1.7976931348623157e308);
    return 0;
}
