/* What compilers call to multiply and divide complex numbers, as C's Annex G has it: infinities are
 * recovered where the plain formulas give no number. The quotient is scaled as libgcc does it
 * (Baudin and Smith's method), whose results these are to the last bit. */

#include "internal.h"

#define PUT(z, re, im) (__real__(z) = (re), __imag__(z) = (im))

/* 1 for an infinity and 0 for anything else, with the sign of the number. */
#define UNIT(copysign, x) copysign(__builtin_isinf(x) ? 1 : 0, x)

#define PRODUCT(name, type, copysign, infinity)                                                    \
    _Complex type name(type a, type b, type c, type d)                                             \
    {                                                                                              \
        type ac = a * c, bd = b * d, ad = a * d, bc = b * c;                                       \
        type x = ac - bd, y = ad + bc;                                                             \
        _Complex type result;                                                                      \
        if (__builtin_isnan(x) && __builtin_isnan(y)) {                                            \
            int again = 0;                                                                         \
            if (__builtin_isinf(a) || __builtin_isinf(b)) {                                        \
                a = UNIT(copysign, a);                                                             \
                b = UNIT(copysign, b);                                                             \
                if (__builtin_isnan(c))                                                            \
                    c = copysign(0, c);                                                            \
                if (__builtin_isnan(d))                                                            \
                    d = copysign(0, d);                                                            \
                again = 1;                                                                         \
            }                                                                                      \
            if (__builtin_isinf(c) || __builtin_isinf(d)) {                                        \
                c = UNIT(copysign, c);                                                             \
                d = UNIT(copysign, d);                                                             \
                if (__builtin_isnan(a))                                                            \
                    a = copysign(0, a);                                                            \
                if (__builtin_isnan(b))                                                            \
                    b = copysign(0, b);                                                            \
                again = 1;                                                                         \
            }                                                                                      \
            if (!again && (__builtin_isinf(ac) || __builtin_isinf(bd) || __builtin_isinf(ad)       \
                           || __builtin_isinf(bc))) {                                              \
                if (__builtin_isnan(a))                                                            \
                    a = copysign(0, a);                                                            \
                if (__builtin_isnan(b))                                                            \
                    b = copysign(0, b);                                                            \
                if (__builtin_isnan(c))                                                            \
                    c = copysign(0, c);                                                            \
                if (__builtin_isnan(d))                                                            \
                    d = copysign(0, d);                                                            \
                again = 1;                                                                         \
            }                                                                                      \
            if (again) {                                                                           \
                x = infinity * (a * c - b * d);                                                    \
                y = infinity * (a * d + b * c);                                                    \
            }                                                                                      \
        }                                                                                          \
        PUT(result, x, y);                                                                         \
        return result;                                                                             \
    }

/* The end of every quotient: what it is where both parts came out as no number. */
#define RECOVERED(copysign, infinity)                                                              \
    if (__builtin_isnan(x) && __builtin_isnan(y)) {                                                \
        if (c == 0 && d == 0 && (!__builtin_isnan(a) || !__builtin_isnan(b))) {                    \
            x = copysign(infinity, c) * a;                                                         \
            y = copysign(infinity, c) * b;                                                         \
        } else if ((__builtin_isinf(a) || __builtin_isinf(b)) && __builtin_isfinite(c)             \
                   && __builtin_isfinite(d)) {                                                     \
            a = UNIT(copysign, a);                                                                 \
            b = UNIT(copysign, b);                                                                 \
            x = infinity * (a * c + b * d);                                                        \
            y = infinity * (b * c - a * d);                                                        \
        } else if ((__builtin_isinf(c) || __builtin_isinf(d)) && __builtin_isfinite(a)             \
                   && __builtin_isfinite(b)) {                                                     \
            c = UNIT(copysign, c);                                                                 \
            d = UNIT(copysign, d);                                                                 \
            x = 0 * (a * c + b * d);                                                               \
            y = 0 * (b * c - a * d);                                                               \
        }                                                                                          \
    }                                                                                              \
    PUT(result, x, y);                                                                             \
    return result

#define SCALE(by) (a = a by, b = b by, c = c by, d = d by)

/* `big` is half of the greatest number, `least` the least normal one, `digit` the distance from 1 to
 * the next. */
#define QUOTIENT(name, type, fabs, copysign, infinity, big, least, digit)                          \
    _Complex type name(type a, type b, type c, type d)                                             \
    {                                                                                              \
        type ratio, over, x, y;                                                                    \
        _Complex type result;                                                                      \
        int swapped = fabs(c) < fabs(d);                                                           \
        type largest = swapped ? fabs(d) : fabs(c);                                                \
        if (largest >= big)                                                                        \
            SCALE(/ 2);                                                                            \
        largest = swapped ? fabs(d) : fabs(c);                                                     \
        if (largest < digit)                                                                       \
            SCALE(* (1 / digit));                                                                  \
        else if (largest < big * digit                                                             \
                 && ((fabs(a) < least && fabs(b) < big * digit)                                    \
                     || (fabs(b) < least && fabs(a) < big * digit)))                               \
            SCALE(* (1 / digit));                                                                  \
        if (swapped) {                                                                             \
            ratio = c / d;                                                                         \
            over = c * ratio + d;                                                                  \
            if (fabs(ratio) > least) {                                                             \
                x = (a * ratio + b) / over;                                                        \
                y = (b * ratio - a) / over;                                                        \
            } else {                                                                               \
                x = (c * (a / d) + b) / over;                                                      \
                y = (c * (b / d) - a) / over;                                                      \
            }                                                                                      \
        } else {                                                                                   \
            ratio = d / c;                                                                         \
            over = d * ratio + c;                                                                  \
            if (fabs(ratio) > least) {                                                             \
                x = (b * ratio + a) / over;                                                        \
                y = (b - a * ratio) / over;                                                        \
            } else {                                                                               \
                x = (d * (b / c) + a) / over;                                                      \
                y = (b - d * (a / c)) / over;                                                      \
            }                                                                                      \
        }                                                                                          \
        RECOVERED(copysign, infinity);                                                             \
    }

static long double magnitude(long double x)
{
    return __builtin_signbit(x) ? -x : x;
}

static long double with_sign(long double x, long double sign)
{
    return __builtin_signbit(sign) ? -magnitude(x) : magnitude(x);
}

PRODUCT(__mulsc3, float, __builtin_copysignf, __builtin_inff())
PRODUCT(__muldc3, double, __builtin_copysign, __builtin_inf())
PRODUCT(__mulxc3, long double, with_sign, __builtin_infl())

/* In double nothing overflows, so the plain formula does. */
_Complex float __divsc3(float a, float b, float c, float d)
{
    double aa = a, bb = b, cc = c, dd = d;
    double over = cc * cc + dd * dd;
    float x = (float)((aa * cc + bb * dd) / over);
    float y = (float)((bb * cc - aa * dd) / over);
    _Complex float result;
    RECOVERED(__builtin_copysignf, __builtin_inff());
}

QUOTIENT(__divdc3, double, __builtin_fabs, __builtin_copysign, __builtin_inf(), (__DBL_MAX__ / 2),
         __DBL_MIN__, __DBL_EPSILON__)
QUOTIENT(__divxc3, long double, magnitude, with_sign, __builtin_infl(), (__LDBL_MAX__ / 2),
         __LDBL_MIN__, __LDBL_EPSILON__)

#undef PUT
#undef UNIT
#undef PRODUCT
#undef RECOVERED
#undef SCALE
#undef QUOTIENT
