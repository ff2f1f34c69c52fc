/* The functions of <math.h> on long double that are exact, or rounded once. */
#include "internal.h"

/* The parts of the x87's format: the integer bit is a bit like any other. */
struct extended {
    uint64_t mantissa;
    uint16_t top;
};

enum { BIAS = 16383, MOST_EXPONENT = 32767, SIGN = 32768 };

static struct extended extended_of(long double x) {
    struct extended parts;
    memcpy(&parts.mantissa, &x, 8);
    memcpy(&parts.top, (char *)&x + 8, 2);
    return parts;
}
static long double from_extended(struct extended parts) {
    long double x = 0;
    memcpy(&x, &parts.mantissa, 8);
    memcpy((char *)&x + 8, &parts.top, 2);
    return x;
}

long double fabsl(long double x) {
    struct extended parts = extended_of(x);
    parts.top &= MOST_EXPONENT;
    return from_extended(parts);
}
long double copysignl(long double x, long double sign) {
    struct extended parts = extended_of(x);
    parts.top = (uint16_t)((parts.top & MOST_EXPONENT) | (extended_of(sign).top & SIGN));
    return from_extended(parts);
}
int __signbitl(long double x) { return extended_of(x).top >> 15; }
int __fpclassifyl(long double x) {
    if (isnan(x)) return FP_NAN;
    if (isinf(x)) return FP_INFINITE;
    if (x == 0) return FP_ZERO;
    return fabsl(x) < 0x1p-16382L ? FP_SUBNORMAL : FP_NORMAL;
}

/* What is not changed by cutting off the bits after the point is no number, or an integer. */
long double truncl(long double x) {
    struct extended parts = extended_of(x);
    int exponent = (parts.top & MOST_EXPONENT) - BIAS;
    if (exponent >= 63) return x;
    if (exponent < 0) return copysignl(0, x);
    parts.mantissa &= ~(uint64_t)0 << (63 - exponent);
    return from_extended(parts);
}
long double floorl(long double x) {
    long double cut = truncl(x);
    return cut > x ? cut - 1 : cut;
}
long double ceill(long double x) {
    long double cut = truncl(x);
    return cut < x ? cut + 1 : cut;
}
long double roundl(long double x) {
    long double cut = truncl(x);
    return fabsl(x - cut) >= 0.5L ? cut + copysignl(1, x) : cut;
}
long double rintl(long double x) {
    long double cut = truncl(x), rest = fabsl(x - cut);
    int odd = truncl(cut / 2) * 2 != cut;
    return rest > 0.5L || (rest == 0.5L && odd) ? cut + copysignl(1, x) : cut;
}
long double nearbyintl(long double x) { return rintl(x); }
long double modfl(long double x, long double *whole) {
    *whole = truncl(x);
    return copysignl(isinf(x) ? 0 : x - *whole, x);
}

static long long_of(long double x) {
    return x >= (long double)LONG_MIN && x < -(long double)LONG_MIN ? (long)x : LONG_MIN;
}
static long long long_long_of(long double x) {
    return x >= -0x1p63L && x < 0x1p63L ? (long long)x : LLONG_MIN;
}
long lrintl(long double x) { return long_of(rintl(x)); }
long lroundl(long double x) { return long_of(roundl(x)); }
long long llrintl(long double x) { return long_long_of(rintl(x)); }
long long llroundl(long double x) { return long_long_of(roundl(x)); }

long double fminl(long double a, long double b) {
    if (isnan(a)) return b;
    return isnan(b) || a <= b ? a : b;
}
long double fmaxl(long double a, long double b) {
    if (isnan(a)) return b;
    return isnan(b) || a >= b ? a : b;
}
long double fdiml(long double a, long double b) {
    if (isnan(a) || isnan(b)) return a + b;
    return a > b ? a - b : 0;
}

/* The mantissa with its highest bit set, so that x is mantissa * 2^exponent. */
static uint64_t normal_mantissa(long double x, int *exponent) {
    struct extended parts = extended_of(x);
    int biased = parts.top & MOST_EXPONENT;
    *exponent = (biased ? biased : 1) - BIAS - 63;
    while (!(parts.mantissa >> 63)) {
        parts.mantissa <<= 1;
        --*exponent;
    }
    return parts.mantissa;
}

long double frexpl(long double x, int *exponent) {
    *exponent = 0;
    if (x == 0 || isnan(x) || isinf(x)) return x;
    struct extended parts = {normal_mantissa(x, exponent), (uint16_t)(BIAS - 1)};
    *exponent += 64;
    return copysignl(from_extended(parts), x);
}

/* Steps that are exact; only the last product may round. */
long double scalbnl(long double x, int exponent) {
    for (int steps = 0; steps < 2 && exponent > 16383; steps++) {
        x *= 0x1p16383L;
        exponent -= 16383;
    }
    for (int steps = 0; steps < 2 && exponent < -16382; steps++) {
        x *= 0x1p-16318L;
        exponent += 16318;
    }
    if (exponent > 16383) exponent = 16383;
    if (exponent < -16382) exponent = -16382;
    struct extended power = {(uint64_t)1 << 63, (uint16_t)(exponent + BIAS)};
    return x * from_extended(power);
}
long double ldexpl(long double x, int exponent) { return scalbnl(x, exponent); }
long double scalblnl(long double x, long exponent) {
    if (exponent > 100000) exponent = 100000;
    if (exponent < -100000) exponent = -100000;
    return scalbnl(x, (int)exponent);
}
int ilogbl(long double x) {
    if (x == 0) return FP_ILOGB0;
    if (isnan(x)) return FP_ILOGBNAN;
    if (isinf(x)) return INT_MAX;
    int exponent;
    frexpl(x, &exponent);
    return exponent - 1;
}
long double logbl(long double x) {
    if (x == 0) return -HUGE_VALL;
    if (isnan(x) || isinf(x)) return x * x;
    return ilogbl(x);
}

long double fmodl(long double x, long double y) {
    if (isnan(x) || isnan(y) || isinf(x) || y == 0) return (x * y) / (x * y);
    long double most = fabsl(x), least = fabsl(y);
    if (most < least) return x;
    int exponent, least_exponent;
    uint64_t divisor = normal_mantissa(least, &least_exponent);
    uint64_t rest = normal_mantissa(most, &exponent);
    for (; exponent > least_exponent; exponent--) {
        int carries = 0;
        if (rest >= divisor) rest -= divisor;
        carries = (int)(rest >> 63);
        rest <<= 1;
        /* Twice the rest is less than twice the divisor: one subtraction brings it back. */
        if (carries) rest -= divisor;
    }
    if (rest >= divisor) rest -= divisor;
    if (!rest) return copysignl(0, x);
    return copysignl(scalbnl((long double)rest, least_exponent), x);
}

/* The root of a number of 128 bits, one bit at a time, and once more for the rounding. No root lies
   halfway between two numbers of 64 bits. */
long double sqrtl(long double x) {
    if (x == 0 || isnan(x) || (isinf(x) && x > 0)) return x;
    if (x < 0) return (x - x) / (x - x);
    int exponent;
    uint64_t mantissa = normal_mantissa(x, &exponent);
    struct lydian_wide number = {mantissa >> 1, mantissa << 63};
    exponent -= 63;
    if (exponent & 1) {
        number = lydian_doubled(number);
        exponent--;
    }
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t tried = root | (uint64_t)1 << bit;
        if (!lydian_is_less(number, lydian_times(tried, tried))) root = tried;
    }
    struct lydian_wide rest = lydian_minus(number, lydian_times(root, root));
    /* All 64 bits of the root are kept. */
    if ((rest.high || rest.low > root) && !++root) return scalbnl(0x1p64L, exponent / 2);
    return scalbnl((long double)root, exponent / 2);
}

long double nextafterl(long double x, long double towards) {
    if (isnan(x) || isnan(towards)) return x + towards;
    if (x == towards) return towards;
    struct extended parts = extended_of(x);
    if (x == 0) {
        struct extended least = {1, 0};
        return copysignl(from_extended(least), towards);
    }
    int away = (x < towards) == (x > 0);
    if (away) {
        if (!++parts.mantissa) {
            parts.mantissa = (uint64_t)1 << 63;
            parts.top++;
        } else if (parts.mantissa == (uint64_t)1 << 63 && !(parts.top & MOST_EXPONENT)) {
            parts.top++;
        }
    } else if (parts.mantissa == (uint64_t)1 << 63 && (parts.top & MOST_EXPONENT)) {
        parts.top--;
        parts.mantissa = parts.top & MOST_EXPONENT ? ~(uint64_t)0 : ~(uint64_t)0 >> 1;
    } else {
        parts.mantissa--;
    }
    return from_extended(parts);
}
long double nanl(const char *tag) {
    (void)tag;
    return __builtin_nanl("");
}
