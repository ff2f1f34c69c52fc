#include "check.h"

static const double samples[] = { 0.0, -0.0, 1.0, -1.5, 0.1, 1e10, -1e-10, 3.5, 1e300, -2.5, 16777217.0 };
#define COUNT (sizeof samples / sizeof samples[0])

sum_t check_arithmetic(void)
{
    sum_t h = 1;
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++) {
            double a = samples[i], b = samples[j];
            float fa = (float)(a > 1e30 ? 1e30 : a), fb = b < 1e30 ? b : 7.25f;
            h = mix_double(h, a + b);
            h = mix_double(h, a - b * 3);
            h = mix_double(h, a * b);
            if (b != 0)
                h = mix_double(h, a / b);
            h = mix_double(h, fa + fb);
            h = mix_double(h, fa * fb);
            h = mix_double(h, fa - 1);
            h = mix_double(h, -a);
            h = mix(h, (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b));
            h = mix(h, (fa < fb) + 2 * !(fa <= fb) + 4 * !a + 8 * (a && b) + 16 * (fa || b));
        }
    return h;
}

sum_t check_conversions(void)
{
    sum_t h = 2;
    for (unsigned i = 0; i < COUNT; i++) {
        double a = samples[i];
        if (a > 1e9 || a < -1e9)
            a = 123.75;
        h = mix(h, (int)a);
        h = mix(h, (long)(a * 1000));
        h = mix(h, (signed char)(a < -100 || a > 100 ? 99.5 : a));
        h = mix(h, (unsigned)(a < 0 ? 0 : a));
        h = mix(h, (unsigned long)(a < 0 ? 1e15 : a * 1e6));
        h = mix(h, (_Bool)a);
        float f = a;
        int n = f;
        h = mix(h, n);
        f += n;
        f *= 0.3;
        n *= 1.7;
        n -= f;
        unsigned char c = 10;
        c *= 2.6f;
        h = mix_double(h, f);
        h = mix(h, n + c);
        f++;
        --a;
        h = mix_double(h, f-- + a++);
        h = mix_double(h, a);
    }
    float from_big = 123456789123456789l;
    double from_unsigned = 0xffffffffffffff00ul;
    h = mix_double(h, from_big);
    return mix_double(h, from_unsigned + (unsigned char)3 + (short)-4 + 7u);
}

sum_t check_constants(void)
{
    static const double table[] = { 1, 2.5f, 1.0 / 3, -0.0, (float)0.1, 1e3L, 0x1.8p3, (int)7.9 };
    sum_t h = 3;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        h = mix_double(h, table[i]);
    double inf = __builtin_inf(), nan = __builtin_nan("");
    h = mix(h, __builtin_isnan(nan) + 2 * !!__builtin_isinf(-inf) + 4 * __builtin_isfinite(1.5));
    h = mix(h, (nan == nan) + 2 * (nan != nan) + 4 * (nan < 1) + 8 * !(nan >= 1));
    h = mix(h, !!__builtin_signbit(-0.0) + 2 * __builtin_isgreater(2.0, 1.0) + 4 * __builtin_isunordered(nan, 1.0));
    return mix_double(h, inf);
}
