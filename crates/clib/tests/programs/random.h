/* Numbers for the tests: the same on every run. */
#include <stdint.h>
#include <string.h>

static uint64_t state = 88172645463325252u;

static inline uint64_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static inline unsigned below(unsigned limit) { return (unsigned)(any() % limit); }

/* A double of any size, or one of those where rounding is near a border. */
static inline double any_double(void) {
    static const double special[] = {
        0.0, -0.0, 1.0 / 0.0, -1.0 / 0.0, 5e-324, -5e-324, 1.7976931348623157e308,
        2.2250738585072014e-308, 0.5, 1.5, 2.5, 9.5, 99.5, 0.1, 1e15, 1e16, 1e17, 123456789.5,
        9999995, 0.00001, 0.0001, 0.00012345, 1e300, 1e-300, 9007199254740993., 1, -1};
    uint64_t bits = any();
    double x;
    switch (below(6)) {
    case 0: memcpy(&x, &bits, 8); return x == x ? x : 0.25;
    case 1: return (double)(int64_t)bits / 1000;
    case 2: return (int)(bits % 2001) - 1000;
    case 3: return ((int)(bits % 20001) - 10000) / 8.0;
    case 4: return (double)(bits % 100000) / 100;
    default: return special[bits % (sizeof special / sizeof *special)];
    }
}

static inline uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, 8);
    return x == x ? bits : 0x7ff8000000000000u;
}
