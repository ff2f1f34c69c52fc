/* 128-bit integers. */
#include "check.h"
#include <stdarg.h>

typedef __int128 s128;
typedef unsigned __int128 u128;

#define WIDE(high, low) ((u128)(high) << 64 | (low))

static sum_t add(sum_t sum, u128 v)
{
    sum = mix(sum, (unsigned long)v);
    return mix(sum, (unsigned long)(v >> 64));
}

static s128 table[] = {
    0, 1, -1, 12345, -98765432109876543l,
    (s128)WIDE(0x123456789abcdef0ul, 0xfedcba9876543210ul),
    (s128)WIDE(0x8000000000000000ul, 0), (s128)WIDE(0x7ffffffffffffffful, ~0ul), (s128)1 << 64,
};
static const u128 most = ~(u128)0;
static struct { char c; s128 wide; } placed = { 1, -5 };

s128 pass(s128 a, u128 b, int c) { return a + (s128)b - c; }

s128 sum_of(int count, ...)
{
    va_list list;
    s128 total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) {
        total += va_arg(list, s128);
        total -= va_arg(list, int);
    }
    va_end(list);
    return total;
}

sum_t check_arithmetic(void)
{
    sum_t sum = 1;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
        for (unsigned j = 0; j < sizeof table / sizeof *table; j++) {
            s128 a = table[i], b = table[j];
            u128 x = (u128)a, y = (u128)b;
            sum = add(sum, (u128)(a + b));
            sum = add(sum, (u128)(a - b));
            sum = add(sum, (u128)(a * b));
            if (b != 0 && b != -1) {
                sum = add(sum, (u128)(a / b));
                sum = add(sum, (u128)(a % b));
            }
            if (y) {
                sum = add(sum, x / y);
                sum = add(sum, x % y);
            }
            sum = add(sum, (x & y) | (x ^ ~y));
            sum = add(sum, (u128)(a >> (j * 14)));
            sum = add(sum, x >> (i * 14));
            sum = add(sum, x << (j * 15));
            sum = mix(sum, (a < b) + 2 * (x < y) + 4 * (a == b) + 8 * (a >= b) + 16 * !a + 32 * (a && y));
            a += 3;
            a *= b;
            a >>= 2;
            sum = add(sum, (u128)-a++);
            sum = add(sum, (u128)--a);
            int n = 7;
            n += a;
            n <<= (s128)2;
            sum = mix(sum, n);
        }
    return sum;
}

sum_t check_conversions(void)
{
    sum_t sum = 2;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        s128 a = table[i];
        sum = mix_double(sum, a);
        sum = mix_double(sum, (u128)a);
        sum = mix_double(sum, (float)a);
        sum = mix(sum, (unsigned char)a + (_Bool)a);
        sum = mix(sum, (long)a);
        double d = (double)(a >> 3);
        sum = add(sum, (u128)(s128)d);
        sum = add(sum, (u128)(d < 0 ? -d : d));
        sum = add(sum, (s128)(short)a);
        sum = add(sum, (unsigned)a);
    }
    sum = add(sum, (u128)1e30);
    sum = add(sum, (s128)-1e20f);
    return add(sum, most);
}

sum_t check_statements(void)
{
    sum_t sum = 3;
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        switch (table[i]) {
        case 0: sum = mix(sum, 1); break;
        case -1: sum = mix(sum, 2); break;
        case (s128)1 << 64: sum = mix(sum, 3); break;
        case 10000 ... 20000: sum = mix(sum, 4); break;
        default: sum = mix(sum, 5);
        }
        sum = add(sum, (u128)pass(table[i], most, (int)i));
        sum = add(sum, table[i] ? (u128)table[i] : most);
    }
    sum = add(sum, (u128)sum_of(2, table[5], 3, table[4], -4));
    placed.wide *= 3;
    s128 *p = &placed.wide;
    *p -= most >> 100;
    sum = add(sum, (u128)placed.wide);
    sum = mix(sum, sizeof placed + _Alignof(s128));
    s128 product;
    sum = mix(sum, __builtin_add_overflow(table[7], (s128)16, &product));
    sum = add(sum, (u128)product);
    u128 total;
    sum = mix(sum, __builtin_add_overflow(most, (u128)2, &total));
    sum = add(sum, total);
    sum = mix(sum, __builtin_sub_overflow(table[6], table[8], &product));
    return add(sum, (u128)product);
}

struct bits { u128 low : 3; s128 wide : 70; u128 rest : 40; s128 tail : 15; };

sum_t check_bit_fields(void)
{
    sum_t sum = 4;
    struct bits b = { 5, (s128)-3 << 60, 1ul << 39, -9 };
    sum = add(sum, b.low);
    sum = add(sum, (u128)(s128)b.wide);
    sum = add(sum, b.rest);
    sum = add(sum, (u128)(s128)b.tail);
    b.wide += 12345678901234567l;
    b.low++;
    b.tail = (s128)b.low * 1000;
    sum = add(sum, (u128)(s128)b.wide);
    sum = mix(sum, (long)b.tail + sizeof b);
    return sum;
}

static sum_t overflows(sum_t sum, u128 a, u128 b)
{
    s128 x = (s128)a, y = (s128)b, signed_result;
    u128 unsigned_result;
    long narrow;
    unsigned char least;
    sum = mix(sum, __builtin_add_overflow(a, b, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_add_overflow(x, b, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_sub_overflow(a, y, &signed_result));
    sum = add(sum, (u128)signed_result);
    sum = mix(sum, __builtin_sub_overflow(x, y, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_mul_overflow(a, b, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_mul_overflow(x, y, &signed_result));
    sum = add(sum, (u128)signed_result);
    sum = mix(sum, __builtin_mul_overflow(x, (int)b, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_mul_overflow((unsigned char)a, -16, &unsigned_result));
    sum = add(sum, unsigned_result);
    sum = mix(sum, __builtin_mul_overflow(x, b, &narrow));
    sum = mix(sum, (sum_t)narrow);
    sum = mix(sum, __builtin_sub_overflow(x, (short)b, &least));
    return mix(sum, least);
}

sum_t check_overflow_of_mixed_types(void)
{
    u128 most = ~(u128)0, half = (u128)1 << 127, root = (u128)1 << 64;
    u128 values[] = { 0, 1, 2, 255, most, most - 1, half, half - 1, half + 1, root, root - 1,
                      -root, (u128)1 << 63, (u128)0x123456789abcdef << 60, most / 3, -(u128)7 };
    unsigned count = sizeof values / sizeof *values;
    sum_t sum = 6;
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < count; j++)
            sum = overflows(sum, values[i], values[j]);
    return sum;
}
