#include "check.h"

/* Definitions without prototypes: arguments are promoted, and surplus ones are let be. */

static float quotient(x, y)
    float x;
    double y;
{
    return 1.0 + y / (2.5 * x);
}

static int narrowed(c, s, b, f)
    char c;
    unsigned short s;
    _Bool b;
    float f;
{
    float *kept = &f;
    c += 1;
    s += 2;
    *kept *= 2;
    if (c < 0 && b)
        c += 3;
    return c + s + b + (int)f;
}

static int count;
static int next() { return ++count; }

sum_t check_promoted_arguments(void)
{
    float quotient();
    float x = 4.0f;
    sum_t sum = (sum_t)(quotient(x, 3.0) * 1000000.0f);
    return sum * 31 + (sum_t)(quotient(0.5f, 7.25) * 1000.0f);
}

sum_t check_narrow_parameters(void)
{
    return (sum_t)narrowed(127, 65535, 1, 1.75) * 7 + (sum_t)narrowed('a', 70000, 0, 2.5f);
}

sum_t check_surplus_arguments(void)
{
    int later();
    count = 3;
    int a = next(count = 7, 1.5, &count);
    return (sum_t)(a * 100 + count) + (sum_t)later(next(), 2) * 1000;
}

int later() { return count * 2; }
