/* The functions of <math.h> that are exact and have no model of their own. */
#include "internal.h"

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What does not fit gives the least number, as the processor does. */
static long to_long(double x) {
    return x >= (double)LONG_MIN && x < -(double)LONG_MIN ? (long)x : LONG_MIN;
}
static long long to_long_long(double x) {
    return x >= -0x1p63 && x < 0x1p63 ? (long long)x : LLONG_MIN;
}
long lrint(double x) { return to_long(rint(x)); }
long long llrint(double x) { return to_long_long(rint(x)); }
long lround(double x) { return to_long(round(x)); }
long long llround(double x) { return to_long_long(round(x)); }
long lrintf(float x) { return to_long(rintf(x)); }
long long llrintf(float x) { return to_long_long(rintf(x)); }
long lroundf(float x) { return to_long(roundf(x)); }
long long llroundf(float x) { return to_long_long(roundf(x)); }

double fdim(double a, double b) {
    if (isnan(a) || isnan(b)) return a + b;
    return a > b ? a - b : 0;
}
float fdimf(float a, float b) {
    if (isnan(a) || isnan(b)) return a + b;
    return a > b ? a - b : 0;
}

int ilogb(double x) {
    if (x == 0) return FP_ILOGB0;
    if (isnan(x)) return FP_ILOGBNAN;
    if (isinf(x)) return INT_MAX;
    int exponent;
    frexp(x, &exponent);
    return exponent - 1;
}
int ilogbf(float x) { return ilogb(x); }
double logb(double x) {
    if (x == 0) return -HUGE_VAL;
    if (isnan(x) || isinf(x)) return x * x;
    return ilogb(x);
}
float logbf(float x) { return (float)logb(x); }
double scalbln(double x, long exponent) {
    if (exponent > 10000) exponent = 10000;
    if (exponent < -10000) exponent = -10000;
    return scalbn(x, (int)exponent);
}
float scalblnf(float x, long exponent) { return (float)scalbln(x, exponent); }

double nextafter(double x, double towards) {
    if (isnan(x) || isnan(towards)) return x + towards;
    if (x == towards) return towards;
    if (x == 0) return copysign(0x1p-1074, towards);
    uint64_t bits = bits_of(x);
    return from_bits((x < towards) == (x > 0) ? bits + 1 : bits - 1);
}
float nextafterf(float x, float towards) {
    if (isnan(x) || isnan(towards)) return x + towards;
    if (x == towards) return towards;
    if (x == 0) return copysignf(0x1p-149f, towards);
    uint32_t bits = float_bits(x);
    return float_from_bits((x < towards) == (x > 0) ? bits + 1 : bits - 1);
}

/* The remainder of the nearest quotient, and that quotient's last bits. */
double remquo(double x, double y, int *quotient) {
    *quotient = 0;
    if (isnan(x) || isnan(y) || isinf(x) || y == 0) return (x * y) / (x * y);
    if (isinf(y)) return x;
    int negative = signbit(x) != 0, differ = negative != (signbit(y) != 0);
    double a = fabs(x), b = fabs(y);
    int count = 0;
    /* b * 8 may be infinite, and then the quotient is small. */
    if (b < 0x1p1020) a = fmod(a, 8 * b);
    if (b < 0x1p1021 && a >= 4 * b) {
        a -= 4 * b;
        count += 4;
    }
    if (b < 0x1p1022 && a >= 2 * b) {
        a -= 2 * b;
        count += 2;
    }
    if (a >= b) {
        a -= b;
        count += 1;
    }
    double rest = b - a;
    if (a > rest || (a == rest && (count & 1))) {
        a -= b;
        count += 1;
    }
    *quotient = differ ? -(count & 7) : count & 7;
    return negative ? -a : a;
}
double remainder(double x, double y) {
    int quotient;
    return remquo(x, y, &quotient);
}
float remquof(float x, float y, int *quotient) { return (float)remquo(x, y, quotient); }
float remainderf(float x, float y) { return (float)remainder(x, y); }
double drem(double x, double y) { return remainder(x, y); }

/* x * y + z with one rounding. The product has 106 bits; it is added to z in 192, where what falls
   off is kept as one bit. */
double fma(double x, double y, double z) {
    if (x == 0 || y == 0 || z == 0 || isnan(x) || isnan(y) || isnan(z) || isinf(x) || isinf(y) ||
        isinf(z)) {
        /* An exact product, or no number: two operations round as one. For z = 0 it is the
           product's own rounding. */
        if (z == 0 && x != 0 && y != 0 && !isnan(x) && !isnan(y) && !isinf(x) && !isinf(y)) {
            double product = x * y;
            return product == 0 ? product : product + z;
        }
        if (isinf(z) && !isnan(x) && !isnan(y) && !isinf(x) && !isinf(y)) return z;
        return x * y + z;
    }
    struct lydian_float a = lydian_take_apart(x), b = lydian_take_apart(y),
                        c = lydian_take_apart(z);
    struct lydian_wide product = lydian_times(a.mantissa, b.mantissa), summand = {0, c.mantissa};
    int product_exponent = a.exponent + b.exponent, summand_exponent = c.exponent;
    int product_negative = a.negative != b.negative;
    /* Both with their highest bit at 2^125: room for a carry above, and below for the bits that
       decide. */
    while (!(product.high >> 61)) product = lydian_doubled(product), product_exponent--;
    while (!(summand.high >> 61)) summand = lydian_doubled(summand), summand_exponent--;
    struct lydian_wide large = product, small = summand;
    int large_negative = product_negative, small_negative = c.negative;
    int exponent = product_exponent, below = summand_exponent;
    if (summand_exponent > product_exponent ||
        (summand_exponent == product_exponent && lydian_is_less(product, summand))) {
        large = summand;
        small = product;
        large_negative = c.negative;
        small_negative = product_negative;
        exponent = summand_exponent;
        below = product_exponent;
    }
    int distance = exponent - below, lost = 0;
    if (distance > 126) {
        small.high = small.low = 0;
        lost = 1;
    } else {
        for (; distance > 0; distance--) {
            lost |= small.low & 1;
            small.low = small.low >> 1 | small.high << 63;
            small.high >>= 1;
        }
    }
    struct lydian_wide sum;
    if (large_negative == small_negative) {
        sum.low = large.low + small.low;
        sum.high = large.high + small.high + (sum.low < small.low);
    } else {
        sum = lydian_minus(large, small);
        /* What was cut off of the smaller one makes the difference a little less. */
        struct lydian_wide one = {0, 1};
        if (lost) sum = lydian_minus(sum, one);
    }
    if (!sum.high && !sum.low && !lost) return 0.0;
    while (!(sum.high >> 63)) {
        sum = lydian_doubled(sum);
        exponent--;
    }
    int rest = lost || sum.low != 0, range_error = 0;
    struct lydian_float result =
        lydian_round(sum.high, exponent + 64,
                     rest ? LYDIAN_LESS_THAN_HALF : LYDIAN_NOTHING, &lydian_double_format,
                     &range_error);
    result.negative = large_negative;
    return lydian_assemble_double(result);
}

/* Twice the precision of a float holds its product, and the sum is rounded to odd before the last
   rounding, so that it happens once. */
float fmaf(float x, float y, float z) {
    double product = (double)x * y, sum = product + z;
    uint64_t bits = bits_of(sum);
    double back = sum - product, error = (product - (sum - back)) + (z - back);
    if (error != 0 && !isinf(sum) && !isnan(sum) && !(bits & 1)) {
        int away = (error > 0) == (sum > 0);
        sum = from_bits(away ? bits + 1 : bits - 1);
    }
    return (float)sum;
}

int __fpclassify(double x) {
    if (isnan(x)) return FP_NAN;
    if (isinf(x)) return FP_INFINITE;
    if (x == 0) return FP_ZERO;
    return fabs(x) < 0x1p-1022 ? FP_SUBNORMAL : FP_NORMAL;
}
int __fpclassifyf(float x) {
    if (isnan(x)) return FP_NAN;
    if (isinf(x)) return FP_INFINITE;
    if (x == 0) return FP_ZERO;
    return fabsf(x) < 0x1p-126f ? FP_SUBNORMAL : FP_NORMAL;
}
double significand(double x) {
    return x == 0 || isnan(x) || isinf(x) ? x : scalbn(x, -ilogb(x));
}
double nan(const char *tag) {
    (void)tag;
    return __builtin_nan("");
}
int signgam;
