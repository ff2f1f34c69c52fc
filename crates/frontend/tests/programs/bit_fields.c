#include "check.h"

struct fields {
    unsigned a : 3;
    int b : 5;
    unsigned c : 17;
    _Bool d : 1;
    unsigned long e : 40;
    long f : 23;
    unsigned char : 0;
    signed char g : 4;
    enum { LOW, HIGH = 3 } h : 3;
};

union overlaid { struct { unsigned low : 12, high : 20; }; unsigned all; int sign : 9; };

sum_t check_bit_fields(void)
{
    struct fields s = { 5, -3, 0x1ffff, 1, 0xabcdef0123, -1, 7, HIGH };
    sum_t h = 1;
    for (int n = 0; n < 50; n++) {
        s.a += n;
        s.b -= 3;
        s.c ^= n * 977;
        s.d = n & 4;
        s.e = s.e * 31 + n;
        s.f <<= 1;
        s.f |= n;
        s.g++;
        --s.b;
        s.h = n & 1 ? LOW : HIGH;
        h = mix(h, s.a + s.b * 3 + s.c + s.d);
        h = mix(h, s.e ^ s.f);
        h = mix(h, s.g + s.h);
        int value = s.a = n;
        long other = s.f = n * 0x123456;
        h = mix(h, value + other + (s.b = n) + (s.g += 5) + s.a++ + --s.c + (s.d = n & 2));
        h = mix(h, s.a < 4 && s.b > -2 || s.d);
        h = mix(h, s.a - 7 < 0);
    }
    return mix(h, sizeof s);
}

sum_t check_bit_fields_in_unions(void)
{
    union overlaid u = { .all = 0xfedcba98 };
    sum_t h = mix(2, u.low + u.high * 3 + u.sign);
    u.low += 0xfff;
    u.high--;
    h = mix(h, u.all);
    u.sign = 200;
    h = mix(h, u.all + u.sign);
    union overlaid *p = &u;
    p->high |= 1;
    return mix(h, (p->low ^= 0x123) + p->all);
}
