/* What the files of the library share: the host's calls, which the interpreter serves, and the
   library's own helpers. The declarations are the system's, so that types and constants are those
   of the user's code. */
#ifndef LYDIAN_INTERNAL_H
#define LYDIAN_INTERNAL_H

#include <features.h>
/* The scanf family by its own names; the header would give it others. */
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

/* The host. A negative result is an error number with its sign changed. */
extern long __lydian_write(int fd, const void *bytes, unsigned long count);
extern long __lydian_read(int fd, void *bytes, unsigned long count);
extern int __lydian_open(const char *path, int flags, int mode);
extern int __lydian_close(int fd);
extern long __lydian_seek(int fd, long offset, int whence);
extern int __lydian_remove(const char *path);
extern int __lydian_rename(const char *from, const char *to);
extern int __lydian_isatty(int fd);
extern long __lydian_time(void);
extern long __lydian_clock(void);
extern void __lydian_exit(int status) __attribute__((noreturn));
extern const char *__lydian_getenv(const char *name);
void (*__lydian_destructor(int number))(void);

/* Questions to an engine that follows paths. Whether a text has no end in sight, so that what is far
   behind this place is not followed; and what follows from there: any number. Where a program runs,
   every text is read to its end. */
extern int __lydian_goes_on(const char *text);
extern unsigned long long __lydian_anything(void);

/* A number of the floating types, taken apart: mantissa * 2^exponent. */
enum lydian_float_class { LYDIAN_ZERO, LYDIAN_FINITE, LYDIAN_INFINITE, LYDIAN_NAN };
struct lydian_float {
    enum lydian_float_class kind;
    int negative;
    /* Of a long double: for hexadecimal output, which writes it differently. */
    int extended;
    uint64_t mantissa;
    int exponent;
};
struct lydian_float lydian_take_apart(double x);

/* Exact decimal digits: 0.d1 d2 d3 ... * 10^point, without zeros at either end. */
struct lydian_decimal {
    char *digits;
    int count;
    int point;
};
void lydian_to_decimal(struct lydian_decimal *out, uint64_t mantissa, int exponent, uint32_t *work);
/* How many 32-bit numbers of work space that takes, and how many digits it may give. */
enum { LYDIAN_DOUBLE_LIMBS = 128, LYDIAN_LONG_DOUBLE_LIMBS = 1800 };

/* A floating type as the conversion from decimal needs it. */
struct lydian_format {
    int mantissa_bits;
    /* The exponent of the lowest bit of the least number, and of the greatest one. */
    int least_exponent;
    int greatest_exponent;
};
/* What follows the last bit that is kept, in parts of that bit. */
enum lydian_rest {
    LYDIAN_NOTHING, LYDIAN_LESS_THAN_HALF, LYDIAN_HALF, LYDIAN_MORE_THAN_HALF
};
/* bits * 2^exponent, and a rest, rounded to a format; the first of the 64 bits is set. */
struct lydian_float lydian_round(uint64_t bits, int exponent, enum lydian_rest rest,
                                 const struct lydian_format *format, int *range_error);
/* The correctly rounded value of digits * 10^exponent. */
struct lydian_float lydian_from_decimal(const char *digits, int count, long exponent,
                                        const struct lydian_format *format, int *range_error);
double lydian_assemble_double(struct lydian_float parts);

/* Where characters of a number are read from: a string or a stream. */
struct lydian_source {
    const char *text;
    FILE *stream;
    /* How many characters were read, and how many may be. */
    size_t used;
    size_t limit;
    /* Whether scanf reads: it goes on to where a word can no longer be `infinity`, and fails there, and
       knows `nan` without parentheses alone. */
    int is_scan;
    /* Whether it is read at a place that is not followed: each character is any. */
    int is_far;
};
int lydian_get(struct lydian_source *in);
/* Gives back the character that was read last. */
void lydian_unget(struct lydian_source *in, int c);
int lydian_is_space(int c);
/* Reads what follows blanks. */
int lydian_skip_space(struct lydian_source *in);
/* The digits of an integer: its magnitude, whether it was negative, whether it is too large, and whether
   there are so many digits that it may be, which an exploration need not ask of few. */
struct lydian_integer {
    uint64_t magnitude;
    int negative;
    int too_large;
    int is_long;
};
/* So many blanks before a number, and so many of its digits beyond those that fit in 64 bits, are
   followed one by one in a text that has no end in sight. */
enum { LYDIAN_NEAR_BLANKS = 1, LYDIAN_NEAR_DIGITS = 2 };
/* `accepted` is how many characters make the number; 0: there is none. */
struct lydian_integer lydian_read_integer(struct lydian_source *in, int base, size_t *accepted);
/* *range_error becomes 1 where the value does not fit, and LYDIAN_BROKEN_OFF for `0x` without a digit,
   which is a zero and an x, and for a part of `infinity` that is more than `inf`. */
enum { LYDIAN_BROKEN_OFF = -1 };
struct lydian_float lydian_read_float(struct lydian_source *in, const struct lydian_format *format,
                                      int *range_error, size_t *accepted);
extern const struct lydian_format lydian_double_format;
extern const struct lydian_format lydian_float_format;
extern const struct lydian_format lydian_long_double_format;

/* Formatted output to a stream, or to memory where the stream is null. */
struct lydian_sink {
    FILE *stream;
    char *at;
    char *end;
    size_t count;
    int failed;
};
int lydian_format(struct lydian_sink *out, const char *format, va_list arguments);
void lydian_put(struct lydian_sink *out, const char *bytes, size_t count);

/* Streams. */
int lydian_fill(FILE *stream);
void lydian_flush_all(void);

/* A number of 128 bits, which not every target has a type for. */
struct lydian_wide {
    uint64_t high, low;
};
static inline struct lydian_wide lydian_times(uint64_t a, uint64_t b) {
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low, cross = a_high * b_low + (low >> 32);
    uint64_t other = a_low * b_high + (uint32_t)cross;
    struct lydian_wide result = {a_high * b_high + (cross >> 32) + (other >> 32),
                                 other << 32 | (uint32_t)low};
    return result;
}
static inline struct lydian_wide lydian_doubled(struct lydian_wide x) {
    struct lydian_wide result = {x.high << 1 | x.low >> 63, x.low << 1};
    return result;
}
static inline struct lydian_wide lydian_minus(struct lydian_wide a, struct lydian_wide b) {
    struct lydian_wide result = {a.high - b.high - (a.low < b.low), a.low - b.low};
    return result;
}
static inline int lydian_is_less(struct lydian_wide a, struct lydian_wide b) {
    return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline long lydian_checked(long result) {
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

#endif
