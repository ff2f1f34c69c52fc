/* long double in the x87's format, _Float16 and __bf16. */
#include "check.h"
#include <stdarg.h>

typedef union {
    long double value;
    unsigned long words[2];
} bits_t;

static sum_t add(sum_t sum, long double value)
{
    bits_t bits = { 0 };
    bits.value = value;
    sum = mix(sum, bits.words[0]);
    return mix(sum, bits.words[1] & 0xffff);
}

static long double table[] = { 0.1L, -1e400L, 1e-4940L, 3.6e-4951L, 1.0L / 3, 18446744073709551615.0L, 0x1.8p-1L };
static const struct { char c; long double x; short s; } placed = { 1, 2.5L, 3 };

long double half_of(long double x) { return x / 2; }

long double sum_of(int count, ...)
{
    va_list list;
    long double total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) {
        int small = va_arg(list, int);
        total += va_arg(list, long double) * small;
        total -= va_arg(list, double);
    }
    va_end(list);
    return total;
}

sum_t check_arithmetic(void)
{
    sum_t sum = 1;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        long double x = table[i];
        for (unsigned j = 0; j < sizeof table / sizeof *table; j++) {
            long double y = table[j];
            sum = add(sum, x + y);
            sum = add(sum, x - y);
            sum = add(sum, x * y);
            sum = add(sum, x / y);
            sum = mix(sum, (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y));
        }
        x += 1;
        sum = add(sum, x++);
        sum = add(sum, --x);
        x *= 3.5;
        x -= i;
        sum = add(sum, -x);
        sum = mix(sum, !x + 2 * (x ? 1 : 0));
    }
    return sum;
}

sum_t check_conversions(void)
{
    sum_t sum = 2;
    static const long longs[] = { 0, -1, 9223372036854775807, -9223372036854775807 - 1, 9007199254740993, 123456789 };
    for (unsigned i = 0; i < sizeof longs / sizeof *longs; i++) {
        long n = longs[i];
        long double x = n, y = (unsigned long)n;
        sum = add(sum, x);
        sum = add(sum, y);
        sum = mix(sum, (sum_t)(long)x);
        sum = mix(sum, (sum_t)(unsigned long)y);
        sum = mix(sum, (sum_t)(int)(x / 4294967296));
        sum = mix(sum, (sum_t)(signed char)(n % 100 + 0.5L));
        double d = (double)x;
        float f = (float)(x + 0.3L);
        sum = mix_double(sum, d);
        sum = mix_double(sum, f);
        sum = add(sum, d);
        sum = add(sum, f);
        sum = mix(sum, (_Bool)x);
        __int128 wide = (__int128)n * n;
        sum = add(sum, wide);
        sum = mix(sum, (sum_t)((__int128)(long double)wide >> 60));
        sum = add(sum, (unsigned __int128)wide * 3);
    }
    sum = add(sum, (float)0.1L);
    sum = add(sum, 0.1);
    return sum;
}

sum_t check_calls(void)
{
    sum_t sum = 3;
    long double (*function)(long double) = half_of;
    sum = add(sum, half_of(7));
    sum = add(sum, function(0.1L));
    sum = add(sum, sum_of(2, 3, 1.25L, 0.5, -2, 1e100L, 0.1));
    sum = add(sum, placed.x);
    struct { int n; long double v[3]; } local = { 1, { 0.5L, 2 } }, copy;
    copy = local;
    copy.v[2] = copy.v[0] + copy.v[1];
    sum = add(sum, copy.v[2]);
    sum = mix(sum, sizeof copy + _Alignof(long double));
    long double *p = &copy.v[1];
    *p += 1;
    p[-1] = *p * 2;
    sum = add(sum, copy.v[0]);
    sum = add(sum, copy.n ? copy.v[1] : copy.v[2]);
    return sum;
}

sum_t check_classes(void)
{
    sum_t sum = 4;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        long double x = table[i];
        sum = mix(sum, __builtin_isnan(x) + 2 * !!__builtin_isinf(x) + 4 * __builtin_isfinite(x)
                           + 8 * !!__builtin_signbit(x) + 16 * __builtin_isnormal(x));
        sum = mix(sum, __builtin_isgreater(x, 0.1L) + 2 * __builtin_isunordered(x, x));
    }
    sum = add(sum, __builtin_infl());
    sum = mix(sum, __builtin_isnan(__builtin_nanl("")));
    return sum;
}

static _Float16 halves[] = { 0.1f16, -2.5f16, 65504.0f16, 6e-8f16, 1.0f16 / 3 };

static sum_t add_half(sum_t sum, _Float16 value)
{
    union { _Float16 value; unsigned short bits; } u = { value };
    return mix(sum, u.bits);
}

_Float16 scaled(_Float16 x, int by) { return x * by; }

sum_t check_half_precision(void)
{
    sum_t sum = 5;
    for (unsigned i = 0; i < sizeof halves / sizeof *halves; i++) {
        for (unsigned j = 0; j < sizeof halves / sizeof *halves; j++) {
            _Float16 x = halves[i], y = halves[j];
            sum = add_half(sum, x + y);
            sum = add_half(sum, x * y - x / y);
            sum = add_half(sum, (_Float16)(x * y) - x);
            sum = mix(sum, (x < y) + 2 * (x == y) + 4 * (x >= y) + 8 * !x);
            x += y * y;
            sum = add_half(sum, x);
            x++;
            sum = add_half(sum, -x);
            sum = mix(sum, x < 1000 && x > -1000 ? (sum_t)(int)(x / 4) : 9);
            sum = mix_double(sum, x);
            sum = mix_double(sum, (float)y);
            sum = add_half(sum, (_Float16)(double)(y * 1.0001));
            sum = add_half(sum, scaled(y, (int)i));
        }
    }
    sum = add_half(sum, (_Float16)2049);
    return sum;
}

/* What compilers call to round; older run-time libraries lack it. */
__bf16 __truncsfbf2(float x)
{
    union { float value; unsigned bits; } from = { x };
    union { unsigned short bits; __bf16 value; } to;
    to.bits = (from.bits + 0x7fff + (from.bits >> 16 & 1)) >> 16;
    return to.value;
}

sum_t check_brain_floats(void)
{
    sum_t sum = 6;
    __bf16 list[] = { 0.1f, -3.0f, 1e30f, 1e-40f };
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            __bf16 x = list[i] * list[j] + list[i];
            union { __bf16 value; unsigned short bits; } u = { x };
            sum = mix(sum, u.bits);
            sum = mix_double(sum, (float)x);
            sum = mix(sum, list[i] < list[j]);
        }
    }
    return sum;
}
