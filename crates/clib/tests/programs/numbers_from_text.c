/* strtod, strtof and the strto family on texts of all kinds. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "random.h"

static int digits(char *to, const char *from, unsigned kinds, unsigned most) {
    unsigned count = below(most);
    for (unsigned i = 0; i < count; i++) to[i] = from[below(kinds)];
    return (int)count;
}

static void number(char *text) {
    static const char *const special[] = {
        "inf", "infinity", "INFINITY", "infinit", "nan", "nan(12)", "nan(", "NaN", "in", "e5", ".",
        "0x", "0x.", "0x.p1", "0e", "1e", "1e+", "-", "+.5", "0", "00", "-0", "1.e5", ".e1",
        "2.2250738585072011e-308", "2.2250738585072012e-308", "1.7976931348623159e308",
        "1.7976931348623158e308", "4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "9007199254740993", "9007199254740993.00000000000000000000000000001",
        "0x1.fffffffffffff8p1023", "0x1p-1075", "0x1.00000000000008p0",
        "0x1.000000000000080000001p0"};
    int at = 0;
    if (below(4) == 0) text[at++] = " \t\n"[below(3)];
    if (below(3) == 0) text[at++] = "+-"[below(2)];
    switch (below(7)) {
    case 0: at += sprintf(text + at, "%.*g", (int)below(25) + 1, any_double()); break;
    case 1:
        at += digits(text + at, "0123456789", 10, 40);
        if (below(2)) {
            text[at++] = '.';
            at += digits(text + at, "0123456789", 10, 40);
        }
        if (below(2)) at += sprintf(text + at, "e%d", (int)below(700) - 350);
        break;
    case 2:
        at += sprintf(text + at, "0x");
        at += digits(text + at, "0123456789abcdefABCDEF", 22, 20);
        if (below(2)) {
            text[at++] = '.';
            at += digits(text + at, "0123456789abcdef", 16, 20);
        }
        if (below(2)) at += sprintf(text + at, "p%d", (int)below(2400) - 1200);
        break;
    case 3:
        at += sprintf(text + at, "%s", special[below(sizeof special / sizeof *special)]);
        break;
    case 4: at += sprintf(text + at, "%ld", (long)(any() >> below(64))); break;
    case 5: {
        uint64_t bits = any() & 0x800fffffffffffffu;
        double x;
        memcpy(&x, &bits, 8);
        at += sprintf(text + at, "%.*e", (int)below(800), x);
        break;
    }
    default: at += sprintf(text + at, "%u.%u", below(1000), below(1000));
    }
    if (below(4) == 0) text[at++] = "xe.,p "[below(6)];
    text[at] = 0;
}

int main(void) {
    static char text[4000];
    for (int i = 0; i < 2000; i++) {
        number(text);
        char *end;
        errno = 0;
        double x = strtod(text, &end);
        printf("%.60s: %lx %d %d", text, bits_of(x), (int)(end - text), errno);
        errno = 0;
        float y = strtof(text, &end);
        printf(" %lx %d %d", bits_of(y), (int)(end - text), errno);
        int base = (int)below(37);
        if (base == 1) base = 0;
        /* A base that there is not leaves the end as it was. */
        if (i % 50 == 7) base = i % 100 == 7 ? 1 : 37 + i;
        errno = 0;
        long z = strtol(text, &end, base);
        printf(" %ld %d %d", z, (int)(end - text), errno);
        errno = 0;
        unsigned long u = strtoul(text, &end, base);
        printf(" %lu %d %d\n", u, (int)(end - text), errno);
    }
    return 0;
}
