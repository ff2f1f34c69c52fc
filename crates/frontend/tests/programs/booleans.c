#include "check.h"

static int calls;

static int tick(int v)
{
    calls = calls * 3 + v;
    return v;
}

static _Bool yes(int v)
{
    calls += 7;
    return v;
}

sum_t check_short_circuit(void)
{
    sum_t h = 1;
    for (int m = 0; m < 16; m++) {
        int a = m & 1, b = m >> 1 & 1, c = m >> 2 & 1, d = m >> 3;
        calls = 1;
        h = mix(h, tick(a) && tick(b) || tick(c) && !tick(d));
        h = mix(h, calls);
        h = mix(h, (tick(a) || tick(b)) && (tick(c) || tick(d)));
        h = mix(h, calls);
        if (!(tick(a) && (tick(b) || !tick(c))) || tick(d))
            h = mix(h, 11);
        h = mix(h, calls);
        a && tick(5);
        b || tick(6);
        !c && (d = !d);
        h = mix(h, calls + d);
        int x = !a, y = !!c, z = !(a && b);
        h = mix(h, x + 2 * y + 4 * z + !x * 8);
        h = mix(h, (a ? tick(b) : tick(c)) && (d ? b : tick(2)));
        h = mix(h, calls);
    }
    return h;
}

sum_t check_boolean_equality(void)
{
    sum_t h = 2;
    for (int a = -1; a < 3; a++)
        for (int b = -1; b < 3; b++)
            for (int c = 0; c < 2; c++) {
                calls = 1;
                if ((a > 0) == (b > 0))
                    h = mix(h, 1);
                if ((a > 0) != (b > 1) || c)
                    h = mix(h, 2);
                if ((a < b) ^ (c == 1))
                    h = mix(h, 3);
                if (((a > 0) & (b > 0)) | (c && a))
                    h = mix(h, 4);
                if ((a && b) == (tick(b) > tick(c)))
                    h = mix(h, 5);
                if ((a > b) == yes(c) != !yes(a))
                    h = mix(h, 6);
                if ((a > 0) == 1 && (b > 0) == 0)
                    h = mix(h, 7);
                if (((a > 0) ? (b > 0) : (c > 0)) == (b ? a > b : !c))
                    h = mix(h, 8);
                if ((a > 0) & (tick(a) && tick(b)))
                    h = mix(h, 9);
                if ((a > 0) == (({ int t = a * b; t > c; }) && c < b))
                    h = mix(h, 10);
                int v = (a < b) == (b < c), w = (a && c) ^ !b, x = (a > 0) | !c;
                _Bool f = a, g = a > b && f;
                h = mix(h, v + 2 * w + 4 * x + 8 * f + 16 * g + 32 * (f == g) + 64 * (f != !g));
                h = mix(h, (f & g) + (f | g) * 2 + (f ^ g) * 4 + ~f);
                h = mix(h, calls);
            }
    return h;
}

sum_t check_tests_of_values(void)
{
    sum_t h = 3;
    double d = 0.5;
    float z = -0.0f;
    int n = 3, *p = &n, *none = 0;
    unsigned char small = 0;
    if (d && !z && p && !none && n - 3 == 0)
        h = mix(h, 1);
    if (n = small)
        h = mix(h, 2);
    while ((n += 2) < 9 && p)
        h = mix(h, n);
    if (p == &n && (char *)p != (char *)&d && small++ == 0)
        h = mix(h, small);
    if (n--, n > 5)
        h = mix(h, n);
    if (__builtin_expect(!!(n > 3 && d > 0), 1))
        h = mix(h, 4);
    if (sizeof(int) == 4 && n)
        h = mix(h, 5);
    if (n || 1)
        h = mix(h, 6);
    if (0 && n)
        h = mix(h, 7);
    if ((n & 4) != 0 == !(n & 2))
        h = mix(h, 8);
    for (int i = 0; i < 3 || !i; i++)
        h = mix(h, i);
    return h;
}
