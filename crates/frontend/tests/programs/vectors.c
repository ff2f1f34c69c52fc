/* Vectors. */
#include "check.h"

typedef int v4i __attribute__((vector_size(16)));
typedef unsigned v4u __attribute__((vector_size(16)));
typedef signed char v16c __attribute__((vector_size(16)));
typedef unsigned short v8us __attribute__((vector_size(16)));
typedef long v2l __attribute__((vector_size(16)));
typedef float v4f __attribute__((vector_size(16)));
typedef double v2d __attribute__((vector_size(16)));
typedef short v4s __attribute__((vector_size(8)));
typedef float f3 __attribute__((ext_vector_type(3)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i2 __attribute__((ext_vector_type(2)));

static v4i table[] = { { 1, 2, 3, 4 }, { -5, 6, -7, 8 }, { 0x7fffffff, -1, 0, 100 }, { 9 } };
static v4f floats = { 1.5f, -2, 0.1f };
static const v2l packed = (v2l)(v4i){ 1, 2, 3, 4 };

static sum_t add(sum_t sum, v4i v)
{
    for (int i = 0; i < 4; i++)
        sum = mix(sum, v[i]);
    return sum;
}

static sum_t add_bytes(sum_t sum, v16c v)
{
    for (int i = 0; i < 16; i++)
        sum = mix(sum, v[i]);
    return sum;
}

v4i scaled(v4i v, int by) { return v * by; }
v4f blend(v4f a, v4f b, v4i mask) { return (v4f)(((v4i)a & mask) | ((v4i)b & ~mask)); }

sum_t check_integer_operators(void)
{
    sum_t sum = 1;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            v4i a = table[i], b = table[j];
            sum = add(sum, a + b);
            sum = add(sum, a - b * 3);
            sum = add(sum, (a & b) | (a ^ ~b));
            sum = add(sum, a << 3);
            sum = add(sum, a >> (b & 15));
            sum = add(sum, (v4i)((v4u)a >> 5));
            sum = add(sum, a / (b | 1) + a % 7);
            sum = add(sum, -a);
            sum = add(sum, (a < b) + (a == b) * 2 + (a >= b) * 4 + (v4i)((v4u)a > (v4u)b) * 8);
            v16c c = (v16c)a, d = (v16c)b;
            sum = add_bytes(sum, c + d);
            sum = add_bytes(sum, c * d);
            sum = add_bytes(sum, (c > d) & d);
            sum = add(sum, (v4i)((v8us)a - (v8us)b));
            sum = add(sum, (v4i)((v2l)a * (v2l)b));
            a += b;
            a <<= 1;
            a ^= i;
            sum = add(sum, a);
            sum = add(sum, scaled(a, i) + b);
        }
    return sum;
}

sum_t check_floats(void)
{
    sum_t sum = 2;
    v4f a = floats, b = { 3, 0.25f, -1, 8 };
    v4f c = a * b + a / b - 0.5f;
    for (int i = 0; i < 4; i++)
        sum = mix_double(sum, c[i]);
    sum = add(sum, a < b);
    sum = add(sum, a != b);
    sum = add(sum, (v4i)blend(a, b, a > b));
    sum = add(sum, (v4i)-a);
    sum = add(sum, __builtin_convertvector(c * 100, v4i));
    v2d d = { 1.5, -2.5 };
    d = d * d + 1;
    sum = mix_double(sum, d[0] + d[1]);
    return sum;
}

sum_t check_elements(void)
{
    sum_t sum = 3;
    v4i v = { 1, 2 }, *p = &v;
    for (int i = 0; i < 4; i++) {
        v[i] += i * 10;
        (*p)[3 - i]++;
    }
    sum = add(sum, v);
    sum = add(sum, __builtin_shufflevector(v, table[1], 0, 5, 2, 7));
    sum = add(sum, __builtin_shufflevector(v, v, 3, 2, 1, 0));
    v4s narrow = __builtin_convertvector(v, v4s);
    sum = mix(sum, (long)narrow);
    narrow = (v4s)0x1234567890abcdefl;
    sum = mix(sum, narrow[2]);
    sum = add(sum, (v4i)packed);
    sum = mix(sum, sizeof v + _Alignof(v4i) + (table + 2 - table));
    v4i list[2][2] = { { v, table[0] }, { table[1] } };
    list[1][1] = list[0][0] + list[1][0];
    sum = add(sum, list[1][1]);
    struct { char c; v4i v; } s = { 1, { 7, 8, 9 } }, t;
    t = s;
    t.v[3] = s.c;
    sum = add(sum, t.v);
    sum = mix(sum, (v + 1)[2]);
    sum = add(sum, v[0] > 3 ? v : -v);
    v = (v4i){ v[3], v[2], v[1], v[0] };
    sum = add(sum, v);
    return sum;
}

sum_t check_components(void)
{
    sum_t sum = 4;
    f3 a = { 1, 2, 3 };
    a.x += 10;
    a.yz = a.zx;
    f3 b = a.zyx * 2.0f;
    sum = mix_double(sum, b.x + b.y * 10 + b.s2 * 100);
    i4 v = { 1, 2, 3, 4 };
    v.lo = v.hi;
    v.odd = v.even + 5;
    i4 *p = &v;
    p->w = 77;
    i2 pair = p->yw;
    sum = mix(sum, v.x + v.y * 10 + v.z * 100 + v.w * 1000 + pair.x + pair.y);
    i4 joined = { 9, pair.y, 8 };
    sum = mix(sum, joined.s0 + joined.s1 + joined.s2 + joined.s3);
    i4 zero = !v;
    sum = mix(sum, zero.x);
    sum = mix(sum, sizeof a);
    return sum;
}

/* What intrinsics are made of. */
typedef char v16q __attribute__((vector_size(16)));
typedef unsigned char v16uc __attribute__((vector_size(16)));
typedef short v8s __attribute__((vector_size(16)));
typedef long long v2q __attribute__((vector_size(16)));

sum_t check_builtins(void)
{
    sum_t sum = 5;
    v4i v = { -1, 0x12345678, 3, -4 };
    v8s w = { -300, 5, 77, -1, 32767, -32768, 9, 1000 };
    v16q u = { 'a', 'b', '\x80', 'd', -1, 1, 0, 7, -9, 100, -100, 3, 4, 5, 6, -128 };
    sum = mix(sum, __builtin_ia32_pmovmskb128(u));
    sum = mix(sum, __builtin_ia32_pmovmskb128((v16q)(u == 'd')));
    for (int i = 0; i < 70; i += 13) {
        sum = add(sum, (v4i)__builtin_ia32_psllwi128(w, i));
        sum = add(sum, (v4i)__builtin_ia32_psrawi128(w, i));
        sum = add(sum, (v4i)__builtin_ia32_pslldi128(v, i));
        sum = add(sum, (v4i)__builtin_ia32_psrldi128(v, i));
        sum = add(sum, (v4i)__builtin_ia32_psradi128(v, i));
        sum = add(sum, (v4i)__builtin_ia32_psrlqi128((v2q)v, i));
        sum = add(sum, (v4i)__builtin_ia32_psllqi128((v2q)w, i));
    }
    sum = add(sum, (v4i)__builtin_ia32_pslldqi128_byteshift((v2q)v, 3));
    sum = add(sum, (v4i)__builtin_ia32_psrldqi128_byteshift((v2q)w, 5));
    sum = add(sum, (v4i)__builtin_ia32_psrldqi128_byteshift((v2q)w, 16));
    sum = add(sum, (v4i)__builtin_ia32_pshufd(v, 0x1b));
    sum = add(sum, (v4i)__builtin_ia32_pshuflw(w, 0x4e));
    sum = add(sum, (v4i)__builtin_ia32_pshufhw(w, 0x93));
    sum = add(sum, (v4i)__builtin_elementwise_max((v16uc)u, (v16uc)w));
    sum = add(sum, (v4i)__builtin_elementwise_min(w, (v8s)v));
    v4f f = __builtin_ia32_shufps((v4f){ 1, -2, 3, -4 }, (v4f){ 7, -8, 9, 10 }, 0x72);
    sum = mix(sum, __builtin_ia32_movmskps(f));
    sum = add(sum, (v4i)f);
    v2d d = __builtin_ia32_shufpd((v2d){ 1.5, -2 }, (v2d){ 3, -4 }, 1);
    sum = mix(sum, __builtin_ia32_movmskpd(d));
    return mix_double(sum, d[0] * 10 + d[1]);
}
