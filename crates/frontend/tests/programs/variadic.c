/* Variable arguments. */
#include "check.h"
#include <stdarg.h>

struct small { char c; short s; };
struct wide { long a, b, c; };
union either { double d; long l; };

static long sum(int count, ...)
{
    va_list ap;
    long total = 0;
    va_start(ap, count);
    for (int i = 0; i < count; i++)
        total = total * 31 + va_arg(ap, int);
    va_end(ap);
    return total;
}

static sum_t mixed(const char *kinds, ...)
{
    va_list ap;
    sum_t h = 7;
    va_start(ap, kinds);
    for (; *kinds; kinds++) {
        switch (*kinds) {
        case 'i': h = h * 33 + (unsigned)va_arg(ap, int); break;
        case 'l': h = h * 33 + (sum_t)va_arg(ap, long); break;
        case 'd': h = h * 33 + (sum_t)(va_arg(ap, double) * 8); break;
        case 'p': h = h * 33 + (sum_t)*va_arg(ap, const char *); break;
        case 's': { struct small s = va_arg(ap, struct small); h = h * 33 + (sum_t)(s.c + s.s); break; }
        case 'w': { struct wide w = va_arg(ap, struct wide); h = h * 33 + (sum_t)(w.a ^ w.b ^ w.c); break; }
        case 'e': h = h * 33 + (sum_t)va_arg(ap, union either).l; break;
        case 'x': { unsigned __int128 x = va_arg(ap, unsigned __int128); h = h * 33 + (sum_t)(x >> 64) + (sum_t)x; break; }
        }
    }
    va_end(ap);
    return h;
}

static int forwarded(int n, va_list ap)
{
    int total = 0;
    while (n-- > 0)
        total += va_arg(ap, int) * (n + 1);
    return total;
}

static int forward(int n, ...)
{
    va_list ap, again;
    va_start(ap, n);
    va_copy(again, ap);
    int a = forwarded(n, ap), b = forwarded(n, again);
    va_end(ap);
    va_end(again);
    va_start(ap, n);
    int c = va_arg(ap, int);
    va_end(ap);
    return a * 1000 + b + c;
}

struct holder { int before; va_list list; };

static int by_pointer(va_list *ap) { return va_arg(*ap, int); }

static int held(int n, ...)
{
    struct holder h;
    h.before = n;
    va_start(h.list, n);
    int a = by_pointer(&h.list);
    int b = va_arg(h.list, int);
    va_end(h.list);
    return a * 100 + b + h.before;
}

static int deep(int depth, ...)
{
    va_list ap;
    va_start(ap, depth);
    int x = va_arg(ap, int);
    int r = depth == 0 ? x : deep(depth - 1, x * 3 + depth, 9) + va_arg(ap, int);
    va_end(ap);
    return r;
}

sum_t check_ints(void) { return (sum_t)(sum(0) + sum(1, 5) + sum(9, 1, -2, 3, 4, 5, 6, 7, 8, 9)); }

sum_t check_mixed(void)
{
    struct small s = {3, -400};
    struct wide w = {1L << 40, 77, -5};
    union either e = {.d = 2.5};
    float f = 1.25f;
    short sh = -3;
    return mixed("iildpswexid", 1, sh, 1L << 33, 2.5, "hello", s, w, e,
                 ((unsigned __int128)7 << 64) | 99, 'c', f);
}

sum_t check_aligned(void) { return mixed("ixix", 1, (unsigned __int128)5, 2, (unsigned __int128)6); }

sum_t check_forward(void) { return (sum_t)(forward(3, 10, 20, 30) + held(4, 50, 60)); }

sum_t check_recursion(void) { return (sum_t)deep(4, 1, 2); }

sum_t check_through_pointer(void)
{
    long (*f)(int, ...) = sum;
    return (sum_t)(f(3, 7, 8, 9) + (sum)(2, 1, 2));
}

sum_t check_in_conditions(void)
{
    sum_t h = 0;
    for (int i = 0; i < 3; i++)
        if (sum(2, i, 1) > 30 && sum(1, i) != 1)
            h += (sum_t)i + 1;
    return h;
}
