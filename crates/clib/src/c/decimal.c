/* Floating-point numbers to decimal and back, exactly.

   m * 2^e is an integer for e >= 0, and for e < 0 it is m * 5^-e with the point moved -e places to
   the left. So one product of a small number and a power of two or five has all digits. It is kept
   in limbs of nine digits.

   Back: digits * 10^e is a fraction of two integers; its first bits are found by long division, and
   what is left of it decides how to round. */
#include "internal.h"

struct lydian_float lydian_take_apart(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    struct lydian_float parts = {LYDIAN_FINITE, (int)(bits >> 63), 0, 0, 0};
    int exponent = (int)(bits >> 52 & 2047);
    parts.mantissa = bits & 0xfffffffffffffu;
    if (exponent == 2047) {
        parts.kind = parts.mantissa ? LYDIAN_NAN : LYDIAN_INFINITE;
        return parts;
    }
    if (exponent)
        parts.mantissa |= 1ull << 52;
    else
        exponent = 1;
    parts.exponent = exponent - 1075;
    if (!parts.mantissa) parts.kind = LYDIAN_ZERO;
    return parts;
}

enum { LIMB = 1000000000 };

/* Multiplies the number of `count` limbs, least first; gives the new count. */
static int multiply_limbs(uint32_t *limbs, int count, uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < count; i++) {
        carry += (uint64_t)limbs[i] * factor;
        limbs[i] = (uint32_t)(carry % LIMB);
        carry /= LIMB;
    }
    if (carry) limbs[count++] = (uint32_t)carry;
    return count;
}

void lydian_to_decimal(struct lydian_decimal *out, uint64_t mantissa, int exponent, uint32_t *work) {
    int count = 0;
    while (mantissa && exponent < 0 && !(mantissa & 1)) {
        mantissa >>= 1;
        exponent++;
    }
    for (; mantissa; mantissa /= LIMB) work[count++] = (uint32_t)(mantissa % LIMB);
    out->point = exponent < 0 ? exponent : 0;
    for (; exponent >= 29; exponent -= 29) count = multiply_limbs(work, count, 1u << 29);
    if (exponent > 0) count = multiply_limbs(work, count, 1u << exponent);
    for (; exponent <= -12; exponent += 12) count = multiply_limbs(work, count, 244140625u);
    uint32_t rest = 1;
    for (; exponent < 0; exponent++) rest *= 5;
    if (rest > 1) count = multiply_limbs(work, count, rest);
    char *digit = out->digits;
    for (int i = count - 1; i >= 0; i--) {
        uint32_t limb = work[i];
        for (int k = 8; k >= 0; k--) {
            digit[k] = (char)('0' + limb % 10);
            limb /= 10;
        }
        digit += 9;
    }
    int length = (int)(digit - out->digits), zeros = 0;
    while (zeros < length && out->digits[zeros] == '0') zeros++;
    out->point += length - zeros;
    while (length > zeros && out->digits[length - 1] == '0') length--;
    out->count = length - zeros;
    if (zeros) memmove(out->digits, out->digits + zeros, (size_t)out->count);
}

/* Natural numbers in limbs of 32 bits, least first. */
enum { BIG_LIMBS = 1400 };
struct big {
    int count;
    uint32_t limb[BIG_LIMBS];
};

static void big_multiply(struct big *number, uint32_t factor, uint32_t summand) {
    uint64_t carry = summand;
    for (int i = 0; i < number->count; i++) {
        carry += (uint64_t)number->limb[i] * factor;
        number->limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry) number->limb[number->count++] = (uint32_t)carry;
}

static void big_times_power_of_ten(struct big *number, long power) {
    for (; power >= 9; power -= 9) big_multiply(number, LIMB, 0);
    uint32_t rest = 1;
    for (; power > 0; power--) rest *= 10;
    if (rest > 1) big_multiply(number, rest, 0);
}

static int big_bits(const struct big *number) {
    int bits = 32 * number->count;
    if (number->count) bits -= __builtin_clz(number->limb[number->count - 1]);
    return bits;
}

static void big_shift_left(struct big *number, int by) {
    int words = by / 32, bits = by % 32;
    if (bits) {
        uint32_t carry = 0;
        for (int i = 0; i < number->count; i++) {
            uint32_t limb = number->limb[i];
            number->limb[i] = limb << bits | carry;
            carry = limb >> (32 - bits);
        }
        if (carry) number->limb[number->count++] = carry;
    }
    if (words && number->count) {
        memmove(number->limb + words, number->limb, (size_t)number->count * sizeof(uint32_t));
        memset(number->limb, 0, (size_t)words * sizeof(uint32_t));
        number->count += words;
    }
}

/* a -= b if that is not negative; whether it was done. */
static int big_subtract(struct big *a, const struct big *b) {
    if (a->count < b->count) return 0;
    if (a->count == b->count) {
        int i = a->count - 1;
        while (i >= 0 && a->limb[i] == b->limb[i]) i--;
        if (i >= 0 && a->limb[i] < b->limb[i]) return 0;
    }
    int64_t borrow = 0;
    for (int i = 0; i < a->count; i++) {
        int64_t difference = (int64_t)a->limb[i] - (i < b->count ? b->limb[i] : 0) + borrow;
        a->limb[i] = (uint32_t)difference;
        borrow = difference >> 32;
    }
    while (a->count && a->limb[a->count - 1] == 0) a->count--;
    return 1;
}

/* The first 64 bits of a / b; *exponent is that of their lowest one. The quotient is in
   [2^63, 2^64), and a becomes the remainder. */
static uint64_t big_quotient(struct big *a, struct big *b, int *exponent) {
    int shift = big_bits(b) - big_bits(a);
    if (shift > 0) big_shift_left(a, shift);
    if (shift < 0) big_shift_left(b, -shift);
    *exponent = -shift;
    if (!big_subtract(a, b)) {
        big_shift_left(a, 1);
        *exponent -= 1;
        big_subtract(a, b);
    }
    uint64_t quotient = 1;
    for (int i = 0; i < 63; i++) {
        big_shift_left(a, 1);
        quotient = quotient << 1 | (uint64_t)big_subtract(a, b);
    }
    *exponent -= 63;
    return quotient;
}

const struct lydian_format lydian_double_format = {53, -1074, 971};
const struct lydian_format lydian_float_format = {24, -149, 104};
const struct lydian_format lydian_long_double_format = {64, -16445, 16320};

/* Whether a number just below the normal ones would be one if its exponent had no limit: it is then
   not too small. */
static int rounds_up_to_normal(uint64_t bits, const struct lydian_format *format) {
    int cut = 64 - format->mantissa_bits;
    uint64_t top = UINT64_MAX << cut, half = cut ? 1ull << (cut - 1) : 0;
    return cut && (bits & top) == top && (bits & half);
}

/* Rounds 64 bits, the first of them set, and what follows them to a format. */
struct lydian_float lydian_round(uint64_t bits, int exponent, enum lydian_rest rest,
                                 const struct lydian_format *format, int *range_error) {
    struct lydian_float result = {LYDIAN_FINITE, 0, 0, 0, 0};
    int cut = 64 - format->mantissa_bits;
    int below = format->least_exponent - (exponent + cut);
    int tiny = below > 0 && !(below == 1 && rounds_up_to_normal(bits, format));
    if (below > 0) cut += below;
    uint64_t mantissa = bits;
    enum lydian_rest lost = rest;
    if (cut > 64) {
        mantissa = 0;
        lost = LYDIAN_LESS_THAN_HALF;
    } else if (cut > 0) {
        uint64_t half = 1ull << (cut - 1), low = bits & ((half << 1) - 1);
        mantissa = cut == 64 ? 0 : bits >> cut;
        lost = low > half || (low == half && rest) ? LYDIAN_MORE_THAN_HALF
               : low == half                        ? LYDIAN_HALF
               : low || rest                        ? LYDIAN_LESS_THAN_HALF
                                                    : LYDIAN_NOTHING;
    }
    exponent += cut;
    if (lost == LYDIAN_MORE_THAN_HALF || (lost == LYDIAN_HALF && (mantissa & 1))) {
        mantissa++;
        if (format->mantissa_bits == 64 ? mantissa == 0 : mantissa >> format->mantissa_bits) {
            mantissa = 1ull << (format->mantissa_bits - 1);
            exponent++;
        }
    }
    if (tiny && lost) *range_error = 1;
    if (exponent > format->greatest_exponent) {
        *range_error = 1;
        result.kind = LYDIAN_INFINITE;
        return result;
    }
    result.kind = mantissa ? LYDIAN_FINITE : LYDIAN_ZERO;
    result.mantissa = mantissa;
    result.exponent = exponent;
    return result;
}

struct lydian_float lydian_from_decimal(const char *digits, int count, long exponent,
                                        const struct lydian_format *format, int *range_error) {
    struct lydian_float result = {LYDIAN_ZERO, 0, 0, 0, 0};
    while (count && *digits == '0') {
        digits++;
        count--;
    }
    if (!count) return result;
    if (exponent + count > 5000) {
        *range_error = 1;
        result.kind = LYDIAN_INFINITE;
        return result;
    }
    if (exponent + count < -5000) {
        *range_error = 1;
        return result;
    }
    struct big above, below;
    above.count = 0;
    for (int i = 0; i < count; i++) big_multiply(&above, 10, (uint32_t)(digits[i] - '0'));
    below.count = 1;
    below.limb[0] = 1;
    if (exponent > 0)
        big_times_power_of_ten(&above, exponent);
    else
        big_times_power_of_ten(&below, -exponent);
    int binary;
    uint64_t bits = big_quotient(&above, &below, &binary);
    enum lydian_rest rest = LYDIAN_NOTHING;
    if (above.count) {
        big_shift_left(&above, 1);
        int half = big_subtract(&above, &below);
        rest = !half         ? LYDIAN_LESS_THAN_HALF
               : above.count ? LYDIAN_MORE_THAN_HALF
                             : LYDIAN_HALF;
    }
    return lydian_round(bits, binary, rest, format, range_error);
}

double lydian_assemble_double(struct lydian_float parts) {
    uint64_t bits = 0;
    switch (parts.kind) {
    case LYDIAN_ZERO: break;
    case LYDIAN_INFINITE: bits = 2047ull << 52; break;
    case LYDIAN_NAN: bits = 0xfffull << 51; break;
    case LYDIAN_FINITE:
        bits = parts.mantissa;
        if (bits >> 52) bits = (bits & 0xfffffffffffffu) | (uint64_t)(parts.exponent + 1075) << 52;
        break;
    }
    bits |= (uint64_t)parts.negative << 63;
    double result;
    memcpy(&result, &bits, sizeof result);
    return result;
}
