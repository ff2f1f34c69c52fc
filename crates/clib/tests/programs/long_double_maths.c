/* Long doubles: what is exact or rounded once, on numbers of every size. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "random.h"

static void show(long double x) {
    uint64_t mantissa;
    uint16_t top;
    memcpy(&mantissa, &x, 8);
    memcpy(&top, (char *)&x + 8, 2);
    if (x != x)
        printf(" nan");
    else
        printf(" %04x:%016lx", top, mantissa);
}

static long double some(void) {
    static const long double special[] = {0.0L, -0.0L, 1.0L, -1.5L, 0.5L, 2.5L, 0x1p63L, 0x1p62L,
        0x1.fffffffffffffffep62L, INFINITY, -INFINITY, NAN, 0x1p-16445L, 0x1p-16382L,
        0x1.fffffffffffffffep16383L, 4503599627370497.5L, -0x1.8p-16400L};
    unsigned long choice = below(8);
    if (choice == 0) return special[below(sizeof special / sizeof *special)];
    uint64_t mantissa = (uint64_t)below(1u << 31) << 33 ^ (uint64_t)below(1u << 31) << 11 ^ below(4096);
    long double x = (long double)mantissa;
    if (choice < 5) x *= 0x1p-40L;
    if (choice == 5) x *= 0x1p16000L;
    if (choice == 6) x *= 0x1p-16440L;
    if (choice == 7) x = (long double)below(2000) / 4;
    return below(2) ? -x : x;
}

int main(void) {
    for (int i = 0; i < 600; i++) {
        long double x = some(), y = some(), whole;
        int exponent = 0;
        show(x), show(y);
        show(floorl(x)), show(ceill(x)), show(truncl(x)), show(roundl(x)), show(rintl(x));
        show(fabsl(x)), show(copysignl(x, y)), show(sqrtl(x)), show(fmodl(x, y));
        if (x != 0 || y != 0) show(fminl(x, y)), show(fmaxl(x, y));
        show(fdiml(x, y)), show(nextafterl(x, y)), show(logbl(x));
        show(modfl(x, &whole)), show(whole);
        show(frexpl(x, &exponent));
        if (isfinite(x)) printf(" %d", exponent);
        show(ldexpl(x, (int)below(40000) - 20000)), show(scalbnl(x, (int)below(200) - 100));
        printf(" %d %ld %ld %d %d\n", ilogbl(x), lrintl(x), lroundl(x), fpclassify(x), signbit(x) != 0);
    }
    return 0;
}
