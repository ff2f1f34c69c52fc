/* Assembly that is known to do nothing. */
#include "check.h"

sum_t check_barriers(void)
{
    int x = 5, y;
    __asm__ volatile("" ::: "memory");
    asm("" : "+r"(x));
    __asm__("" : "=r"(y) : "0"(x + 3));
    asm volatile("nop");
    asm volatile("nop\n\tnop" ::: "memory");
    asm volatile("pause" ::"r"(x++));
    if (x > 3 && y)
        __asm__("" : "+g"(y));
    return (sum_t)(x * 10 + y);
}

sum_t check_hidden_pointer(void)
{
    int a[4] = {1, 2, 3, 4};
    int *p = a;
    asm("" : "=r"(p) : "0"(p));
    asm volatile("" : "+m"(a[1]) : "m"(a));
    return (sum_t)(p[0] + p[1] * 10 + a[3]);
}
