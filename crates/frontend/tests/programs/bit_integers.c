/* Integers of any number of bits: `_BitInt` of C23. */
#include "check.h"

typedef _BitInt(7) s7;
typedef unsigned _BitInt(3) u3;
typedef unsigned _BitInt(33) u33;
typedef _BitInt(33) s33;
#ifdef __i386__
typedef _BitInt(120) s90;
#else
typedef _BitInt(90) s90;
#endif
typedef unsigned _BitInt(128) u128;

static s7 global7 = -64;
static u33 table[3] = { 1, 0x1ffffffffwb, 0x300000005wb };
static s90 wide = -1234567890123456789012wb;

static s7 add7(s7 a, s7 b) { return a + b; }
static u33 mul33(u33 a, u33 b) { return a * b; }

sum_t check_narrow_results_wrap(void)
{
    sum_t h = 1;
    for (int i = -70; i < 70; i += 3) {
        s7 a = i, b = (s7)(i * 5);
        u3 c = i;
        s33 d = i * 123456789l;
        u33 e = (u33)i;
        a++;
        b--;
        h = mix(h, (unsigned long)(long)a + (unsigned long)c);
        h = mix(h, (unsigned long)(long)add7(a, b));
        h = mix(h, (unsigned long)(long)(s7)(a * b));
        h = mix(h, (unsigned long)(long)(a - b));
        h = mix(h, (unsigned long)(long)-a);
        h = mix(h, (unsigned long)(long)~a + (unsigned long)~c);
        h = mix(h, (unsigned long)mul33(e, e + 7));
        h = mix(h, (unsigned long)(long)(d * d));
        h = mix(h, (unsigned long)(long)(b ? a / b : 1) + (unsigned long)(long)(b ? a % b : 1));
        h = mix(h, (unsigned long)(e / 3) + (unsigned long)(e % 7));
        h = mix(h, (a < b) * 2ul + (a == b) + (e > 5) * 4ul + !c);
    }
    return h;
}

sum_t check_shifts_stay_within_the_width(void)
{
    sum_t h = 1;
    for (int i = 0; i < 33; i++) {
        u33 e = 0x1abcdef01wb;
        s33 s = -0x9abcdef1wb;
        e <<= i;
        s >>= i;
        h = mix(h, (unsigned long)e);
        h = mix(h, (unsigned long)(long)s);
        s <<= i;
        h = mix(h, (unsigned long)(long)s + (unsigned long)((u33)-1 >> i));
    }
    s7 a = 1;
    h = mix(h, (unsigned long)(long)(a << 6) + (unsigned long)(long)((s7)-5 >> 1));
    return h;
}

sum_t check_conversions_of_bit_integers(void)
{
    sum_t h = 1;
    for (int i = -200; i < 200; i += 7) {
        s7 a = (s7)i;
        u3 c = (u3)i;
        u33 e = a;
        s33 s = e;
        _Bool q = c;
        double d = a;
        float f = e;
        h = mix(h, (unsigned long)e + q);
        h = mix(h, (unsigned long)(long)s);
        h = mix(h, (unsigned long)(long)(d * 4) + (unsigned long)f);
        s90 w = a * (s90)i;
        h = mix(h, (unsigned long)w + (unsigned long)(w >> 60));
        u128 u = (u128)w;
        h = mix(h, (unsigned long)(u >> 64));
        char k = a;
        short m = e;
        h = mix(h, (unsigned long)(long)k + (unsigned long)(long)m);
        s7 back = d / 2;
        h = mix(h, (unsigned long)(long)back);
        c = q;
        h = mix(h, (unsigned long)c + (a ? 1u : 2u));
    }
    return h;
}

struct parts { s7 a; u3 f : 2; s33 g : 20; u33 h; s90 w; unsigned _BitInt(1) one; };

static struct parts constant = { -3, 2, -5000, 0x1fffffffewb, -77, 1 };

sum_t check_bit_integers_in_memory(void)
{
    sum_t h = mix(sizeof(struct parts), sizeof(s90) + _Alignof(s90) * 32 + sizeof(u33));
    struct parts p = constant;
    for (int i = 0; i < 20; i++) {
        p.a += i * 3;
        p.f += 1;
        p.g -= i * 40009;
        p.h = p.h * 3 + 1;
        p.w = p.w * 1000003 - i;
        p.one++;
        table[i % 3] -= p.h;
        global7 ^= p.a;
        wide = wide * 31 + p.w;
        h = mix(h, (unsigned long)(long)p.a + p.f + (unsigned long)(long)p.g);
        h = mix(h, (unsigned long)p.h + (unsigned long)(p.w >> 40) + (unsigned long)p.one);
        h = mix(h, (unsigned long)table[i % 3] + (unsigned long)(long)global7);
        h = mix(h, (unsigned long)wide + (unsigned long)(wide >> 50));
    }
    s7 *at = &p.a;
    (*at)++;
    h = mix(h, (unsigned long)(long)(*at)--);
    return mix(h, (unsigned long)(long)p.a);
}

sum_t check_switches_and_indices_of_bit_integers(void)
{
    sum_t h = 1;
    int values[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };
    for (int i = 0; i < 40; i++) {
        u3 c = i;
        s7 s = i * 7;
        h = mix(h, (unsigned long)values[c]);
        switch (s) {
        case -64 ... -1: h += 3; break;
        case 0: h += 5; break;
        case 35: h += 7; break;
        default: h += 11;
        }
        for (u3 k = 0; k < 7; k++)
            h = mix(h, k);
        h = mix(h, (unsigned long)(int)(c ? s : c) + sizeof(c + s) + sizeof(c + 1));
        h = mix(h, _Generic(c + (u3)1, u3: 1, int: 2, default: 3));
    }
    return h;
}

#define LIMIT ((s7)63 + (s7)1)
enum { WRAPPED = (int)(unsigned _BitInt(5))37 };

sum_t check_constants_of_bit_integers(void)
{
    u128 all = 340282366920938463463374607431768211455uwb;
    static unsigned _BitInt(5) cut = (unsigned _BitInt(5))100;
    static const s33 quotient = (s33)-1000000007 / 13;
    int values[WRAPPED + 1];
    sum_t h = mix(sizeof values, (unsigned long)(all >> 100));
    h = mix(h, (unsigned long)cut + (unsigned long)(long)quotient);
    return mix(h, (unsigned long)(long)LIMIT + (unsigned long)~(u3)1);
}
