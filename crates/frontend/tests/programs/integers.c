#include "check.h"

static const int samples[] = { 0, 1, -1, 2, -2, 7, -7, 127, -128, 255, 32767, -32768, 65535,
                               2147483647, -2147483647 - 1, 123456789, -987654321 };
#define COUNT (sizeof samples / sizeof samples[0])

sum_t check_binary_operators(void)
{
    sum_t h = 1;
    for (unsigned i = 0; i < COUNT; i++)
        for (unsigned j = 0; j < COUNT; j++) {
            int a = samples[i], b = samples[j];
            unsigned ua = a, ub = b;
            long la = a, lb = (long)b << 20;
            h = mix(h, a + b);
            h = mix(h, a - b);
            h = mix(h, a * b);
            h = mix(h, ua * ub);
            h = mix(h, la * lb);
            h = mix(h, (a & b) | (a ^ ~b));
            if (b && !(a == -2147483647 - 1 && b == -1))
                h = mix(h, a / b * 3 + a % b);
            if (ub)
                h = mix(h, ua / ub * 5 + ua % ub);
            if (lb)
                h = mix(h, la / lb + la % lb);
            h = mix(h, a << (b & 31));
            h = mix(h, a >> (b & 31));
            h = mix(h, ua >> (ub % 32));
            h = mix(h, la >> (b & 63));
            h = mix(h, (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b));
            h = mix(h, (ua < ub) + 2 * (ua <= ub) + 4 * (a > ub) + 8 * (la >= b));
        }
    return h;
}

sum_t check_conversions(void)
{
    sum_t h = 2;
    for (unsigned i = 0; i < COUNT; i++) {
        int a = samples[i];
        signed char sc = a;
        unsigned char uc = a;
        short s = a;
        unsigned short us = a;
        unsigned u = a;
        long l = a;
        unsigned long ul = a;
        long long ll = u;
        _Bool b = a;
        char c = a;
        __int128 w = (__int128)a << 70;
        unsigned __int128 uw = u;
        h = mix(h, sc);
        h = mix(h, uc);
        h = mix(h, s + us);
        h = mix(h, u);
        h = mix(h, l ^ ul);
        h = mix(h, ll);
        h = mix(h, b);
        h = mix(h, c);
        h = mix(h, (unsigned long)(w >> 64));
        h = mix(h, (unsigned long)(uw * uw * uw));
        h = mix(h, sc * uc + (s << 3) - us);
        h = mix(h, -uc);
        h = mix(h, ~us);
        h = mix(h, +sc);
        h = mix(h, !u + !!b);
        h = mix(h, (unsigned char)(sc >> 1));
    }
    return h;
}

sum_t check_compound_assignments(void)
{
    sum_t h = 3;
    signed char sc = 100;
    unsigned char uc = 200;
    short s = -3000;
    unsigned short us = 60000;
    int i = 77;
    unsigned u = 0xdeadbeef;
    long l = -123456789012345;
    _Bool b = 0;
    for (int n = 1; n < 40; n++) {
        sc += n;
        uc -= n * 3;
        s *= n;
        us /= 1 + n % 5;
        us += 5000;
        i <<= n & 3;
        i ^= u;
        u >>= 1;
        u |= n << 27;
        l %= 1000000007;
        l *= 31 + n;
        sc ^= uc;
        uc <<= 1;
        s >>= 2;
        s += us;
        b += n & 4;
        b ^= n & 1;
        i += sc++ + --uc;
        us++;
        --s;
        u -= b--;
        i -= b;
        h = mix(h, sc + uc * 3 + s * 5 + us * 7 + i + u + l + b);
    }
    i = sc = 300;
    h = mix(h, i);
    l = us = -1;
    h = mix(h, l);
    b = i = 256;
    return mix(h, b);
}

sum_t check_enumerations_and_characters(void)
{
    enum color { RED = -1, GREEN, BLUE = 5, LAST = BLUE + 'a' } c = RED;
    enum big { HUGE_ONE = 0x100000000 } g = HUGE_ONE;
    sum_t h = 4;
    h = mix(h, c);
    c = LAST;
    h = mix(h, c + '\n' + '\xff' + L'x' + u'\x1234');
    h = mix(h, g >> 4);
    c++;
    h = mix(h, c > GREEN);
    return mix(h, sizeof c + sizeof g * 16 + sizeof 'a' * 256 + _Alignof(long));
}
