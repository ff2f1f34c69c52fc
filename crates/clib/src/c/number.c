/* Numbers from text: the strto family and what scanf shares with it. */
#include "internal.h"

int lydian_get(struct lydian_source *in) {
    if (in->used >= in->limit) return EOF;
    int c;
    if (in->stream) {
        c = fgetc(in->stream);
        if (c == EOF) return EOF;
    } else {
        c = (unsigned char)(in->is_far ? __lydian_anything() : in->text[in->used]);
        if (!c) return EOF;
    }
    in->used++;
    return c;
}

void lydian_unget(struct lydian_source *in, int c) {
    if (c == EOF) return;
    in->used--;
    if (in->stream) ungetc(c, in->stream);
}

/* Whether what is read goes on for longer than it is followed. */
static int goes_far(const struct lydian_source *in, size_t read, size_t near) {
    return read > near && !in->stream && !in->is_far && __lydian_goes_on(in->text + in->used);
}

/* Goes on to any place of a text that is further on. */
static void go_far(struct lydian_source *in) {
    in->used += __lydian_anything() & INT_MAX >> 2;
    in->is_far = 1;
}

int lydian_is_space(int c) { return c == ' ' || (unsigned)c - '\t' < 5; }

int lydian_skip_space(struct lydian_source *in) {
    size_t blanks = 0;
    int c;
    while (lydian_is_space(c = lydian_get(in))) {
        if (goes_far(in, ++blanks, LYDIAN_NEAR_BLANKS)) {
            go_far(in);
            return lydian_get(in);
        }
    }
    return c;
}

/* 99 for what is no digit of any base. Few branches, as each one splits the paths of an
   exploration. */
static int digit_value(int c) {
    unsigned digit = (unsigned)c - '0', letter = ((unsigned)c | 32) - 'a';
    if (digit < 10) return (int)digit;
    return letter < 26 ? (int)letter + 10 : 99;
}

/* The same where only the digits of a base count: for small ones an exploration has nothing to choose. */
static unsigned digit_of_base(int c, int base) {
    return base <= 10 ? (unsigned)c - '0' : (unsigned)digit_value(c);
}

/* So many digits of a base surely fit a signed number of 64 bits. */
static size_t fitting_digits(int base) {
    return base <= 2 ? 62 : base <= 8 ? 20 : base <= 10 ? 18 : base <= 16 ? 15 : 12;
}

/* Any number, behind any place further on. */
static struct lydian_integer any_integer(struct lydian_source *in, int negative) {
    struct lydian_integer result = {__lydian_anything(), negative, __lydian_anything() & 1, 1};
    go_far(in);
    return result;
}

struct lydian_integer lydian_read_integer(struct lydian_source *in, int base, size_t *accepted) {
    struct lydian_integer result = {0, 0, 0, 0};
    *accepted = 0;
    int c = lydian_skip_space(in);
    if (in->is_far) {
        result = any_integer(in, __lydian_anything() & 1);
        /* A number, one and an x, or none. */
        if (__lydian_anything() & 1) *accepted = in->used - (__lydian_anything() & 1);
        return result;
    }
    if (c == '-' || c == '+') {
        result.negative = c == '-';
        c = lydian_get(in);
    }
    if (c == '0' && (base == 0 || base == 16)) {
        *accepted = in->used;
        c = lydian_get(in);
        if (c == 'x' || c == 'X') {
            /* Without a digit behind it the x is no part of the number. */
            base = 16;
            c = lydian_get(in);
        } else if (base == 0) {
            base = 8;
        }
    } else if (base == 0) {
        base = 10;
    }
    const uint64_t most = UINT64_MAX / (unsigned)base;
    const size_t fitting = fitting_digits(base);
    size_t digits = 0;
    unsigned value;
    while ((value = digit_of_base(c, base)) < (unsigned)base) {
        uint64_t larger = result.magnitude * (unsigned)base + value;
        result.is_long = ++digits > fitting;
        /* Without branches, as an exploration has nothing to choose here. */
        if (result.is_long) result.too_large |= (result.magnitude > most) | (larger < value);
        result.magnitude = larger;
        *accepted = in->used;
        if (goes_far(in, digits, fitting + LYDIAN_NEAR_DIGITS)) {
            result = any_integer(in, result.negative);
            *accepted = in->used;
            return result;
        }
        c = lydian_get(in);
    }
    lydian_unget(in, c);
    return result;
}

static uint64_t parse(const char *text, char **end, int base, uint64_t most, uint64_t most_negative,
                      int is_signed) {
    struct lydian_source in = {text, NULL, 0, SIZE_MAX, 0};
    size_t accepted = 0;
    if (base < 0 || base == 1 || base > 36) {
        /* glibc leaves *end as it is. */
        errno = EINVAL;
        return 0;
    }
    struct lydian_integer x = lydian_read_integer(&in, base, &accepted);
    if (end) *end = (char *)text + accepted;
    uint64_t limit = x.negative && is_signed ? most_negative : most;
    int may_be_beyond = most < INT64_MAX || x.is_long;
    if (may_be_beyond && (x.too_large || x.magnitude > limit)) {
        errno = ERANGE;
        return x.negative && is_signed ? -most_negative : most;
    }
    return x.negative ? -x.magnitude : x.magnitude;
}

long strtol(const char *text, char **end, int base) {
    return (long)parse(text, end, base, LONG_MAX, (unsigned long)LONG_MIN, 1);
}
long long strtoll(const char *text, char **end, int base) {
    return (long long)parse(text, end, base, LLONG_MAX, (unsigned long long)LLONG_MIN, 1);
}
unsigned long strtoul(const char *text, char **end, int base) {
    return (unsigned long)parse(text, end, base, ULONG_MAX, 0, 0);
}
unsigned long long strtoull(const char *text, char **end, int base) {
    return parse(text, end, base, ULLONG_MAX, 0, 0);
}
intmax_t strtoimax(const char *text, char **end, int base) { return strtoll(text, end, base); }
uintmax_t strtoumax(const char *text, char **end, int base) { return strtoull(text, end, base); }
int atoi(const char *text) { return (int)strtol(text, NULL, 10); }
long atol(const char *text) { return strtol(text, NULL, 10); }
long long atoll(const char *text) { return strtoll(text, NULL, 10); }

/* Reads the letters of a word, in either case; gives how many of them are there. */
static int match_word(struct lydian_source *in, const char *word) {
    int matched = 0;
    for (; word[matched]; matched++) {
        int c = lydian_get(in);
        if ((c | 32) != word[matched]) {
            lydian_unget(in, c);
            break;
        }
    }
    return matched;
}

static enum lydian_float_class read_infinity(struct lydian_source *in, int *range_error,
                                             size_t *accepted) {
    if (match_word(in, "nf") < 2) return LYDIAN_ZERO;
    *accepted = in->used;
    int matched = match_word(in, "inity");
    if (matched == 5)
        *accepted = in->used;
    else if (matched)
        *range_error = LYDIAN_BROKEN_OFF;
    return LYDIAN_INFINITE;
}

static enum lydian_float_class read_nan(struct lydian_source *in, size_t *accepted) {
    if (match_word(in, "an") < 2) return LYDIAN_ZERO;
    *accepted = in->used;
    if (in->is_scan) return LYDIAN_NAN;
    int c = lydian_get(in);
    if (c != '(') {
        lydian_unget(in, c);
        return LYDIAN_NAN;
    }
    do
        c = lydian_get(in);
    while (digit_value(c) < 36 || c == '_');
    if (c == ')')
        *accepted = in->used;
    else
        lydian_unget(in, c);
    return LYDIAN_NAN;
}

/* The number behind an `e` or `p`; 0 where there is none. */
static long read_exponent(struct lydian_source *in, size_t *accepted) {
    long exponent = 0;
    int c = lydian_get(in), negative = c == '-';
    if (c == '-' || c == '+') c = lydian_get(in);
    while (c >= '0' && c <= '9') {
        if (exponent < 100000000) exponent = 10 * exponent + (c - '0');
        *accepted = in->used;
        c = lydian_get(in);
    }
    lydian_unget(in, c);
    return negative ? -exponent : exponent;
}

static struct lydian_float read_hexadecimal(struct lydian_source *in,
                                            const struct lydian_format *format, int *range_error,
                                            size_t *accepted) {
    /* 128 bits, of which the four highest are kept free. */
    uint64_t high = 0, low = 0;
    long exponent = 0;
    int rest = 0, dot = 0, c, any = 0;
    for (;;) {
        c = lydian_get(in);
        if (c == '.' && !dot) {
            dot = 1;
            if (any) *accepted = in->used;
            continue;
        }
        int value = digit_value(c);
        if (value >= 16) break;
        any = 1;
        *accepted = in->used;
        if (high >> 60) {
            rest |= value != 0;
            exponent += 4;
        } else {
            high = high << 4 | low >> 60;
            low = low << 4 | (unsigned)value;
        }
        if (dot) exponent -= 4;
    }
    if (any && (c | 32) == 'p')
        exponent += read_exponent(in, accepted);
    else
        lydian_unget(in, c);
    struct lydian_float zero = {LYDIAN_ZERO, 0, 0, 0, 0};
    /* Where the width ends behind the x, the system's scanf has not read it. */
    int is_cut = !any && in->is_scan && in->used == in->limit;
    if (is_cut) lydian_unget(in, 'x');
    if (!any && !is_cut) *range_error = LYDIAN_BROKEN_OFF;
    if (!high && !low) return zero;
    for (; !(high >> 63); exponent--) {
        high = high << 1 | low >> 63;
        low <<= 1;
    }
    exponent += 64;
    if (exponent > 40000) exponent = 40000;
    if (exponent < -40000) exponent = -40000;
    uint64_t half = 1ull << 63;
    enum lydian_rest below = low > half || (low == half && rest) ? LYDIAN_MORE_THAN_HALF
                             : low == half                        ? LYDIAN_HALF
                             : low || rest                        ? LYDIAN_LESS_THAN_HALF
                                                                  : LYDIAN_NOTHING;
    return lydian_round(high, (int)exponent, below, format, range_error);
}

/* More digits than decide the rounding of any double. */
enum { MOST_DIGITS = 800 };

/* Few digits and a small power of ten: both are exact, so one operation rounds once. */
static int is_quick(const char *digits, int count, long exponent, double *result) {
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (count > 15 || exponent < -22 || exponent > 22) return 0;
    int64_t whole = 0;
    for (int i = 0; i < count; i++) whole = 10 * whole + (digits[i] - '0');
    *result = (double)whole;
    if (exponent < 0) *result /= powers[-exponent];
    if (exponent > 0) *result *= powers[exponent];
    return 1;
}

static struct lydian_float read_decimal(struct lydian_source *in, int c,
                                        const struct lydian_format *format, int *range_error,
                                        size_t *accepted) {
    char digits[MOST_DIGITS + 1];
    int count = 0, rest = 0, dot = 0, any = *accepted != 0;
    long exponent = 0;
    for (;; c = lydian_get(in)) {
        if (c == '.' && !dot) {
            dot = 1;
            if (any) *accepted = in->used;
            continue;
        }
        if (c < '0' || c > '9') break;
        any = 1;
        *accepted = in->used;
        if (dot) exponent--;
        if (count == 0 && c == '0') continue;
        if (count < MOST_DIGITS) {
            digits[count++] = (char)c;
        } else {
            rest |= c != '0';
            exponent++;
        }
    }
    if (any && (c | 32) == 'e')
        exponent += read_exponent(in, accepted);
    else
        lydian_unget(in, c);
    if (rest) {
        digits[count++] = '1';
        exponent--;
    }
    while (count && digits[count - 1] == '0') {
        count--;
        exponent++;
    }
    double quick;
    if (format == &lydian_double_format && is_quick(digits, count, exponent, &quick))
        return lydian_take_apart(quick);
    return lydian_from_decimal(digits, count, exponent, format, range_error);
}

struct lydian_float lydian_read_float(struct lydian_source *in, const struct lydian_format *format,
                                      int *range_error, size_t *accepted) {
    struct lydian_float result = {LYDIAN_ZERO, 0, 0, 0, 0};
    int negative = 0, c = lydian_skip_space(in);
    if (c == '-' || c == '+') {
        negative = c == '-';
        c = lydian_get(in);
    }
    if (c == 'i' || c == 'I') {
        result.kind = read_infinity(in, range_error, accepted);
    } else if (c == 'n' || c == 'N') {
        result.kind = read_nan(in, accepted);
    } else if (c == '0') {
        *accepted = in->used;
        c = lydian_get(in);
        if (c == 'x' || c == 'X')
            result = read_hexadecimal(in, format, range_error, accepted);
        else
            result = read_decimal(in, c, format, range_error, accepted);
    } else {
        result = read_decimal(in, c, format, range_error, accepted);
    }
    result.negative = *accepted != 0 && negative;
    return result;
}

double strtod(const char *text, char **end) {
    struct lydian_source in = {text, NULL, 0, SIZE_MAX, 0};
    int range_error = 0;
    size_t accepted = 0;
    struct lydian_float x = lydian_read_float(&in, &lydian_double_format, &range_error, &accepted);
    if (range_error > 0) errno = ERANGE;
    if (end) *end = (char *)text + accepted;
    return lydian_assemble_double(x);
}

float lydian_assemble_float(struct lydian_float parts) {
    uint32_t bits = 0;
    switch (parts.kind) {
    case LYDIAN_ZERO: break;
    case LYDIAN_INFINITE: bits = 255u << 23; break;
    case LYDIAN_NAN: bits = 511u << 22; break;
    case LYDIAN_FINITE:
        bits = (uint32_t)parts.mantissa;
        if (bits >> 23) bits = (bits & 0x7fffffu) | (uint32_t)(parts.exponent + 150) << 23;
        break;
    }
    bits |= (uint32_t)parts.negative << 31;
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

float strtof(const char *text, char **end) {
    struct lydian_source in = {text, NULL, 0, SIZE_MAX, 0};
    int range_error = 0;
    size_t accepted = 0;
    struct lydian_float x = lydian_read_float(&in, &lydian_float_format, &range_error, &accepted);
    if (range_error > 0) errno = ERANGE;
    if (end) *end = (char *)text + accepted;
    return lydian_assemble_float(x);
}

double atof(const char *text) { return strtod(text, NULL); }

/* The names that newer headers give them. */
long __isoc23_strtol(const char *text, char **end, int base) { return strtol(text, end, base); }
long long __isoc23_strtoll(const char *text, char **end, int base) {
    return strtoll(text, end, base);
}
unsigned long __isoc23_strtoul(const char *text, char **end, int base) {
    return strtoul(text, end, base);
}
unsigned long long __isoc23_strtoull(const char *text, char **end, int base) {
    return strtoull(text, end, base);
}
