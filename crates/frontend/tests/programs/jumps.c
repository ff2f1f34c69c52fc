/* Computed goto, labels as values, setjmp and longjmp. */
#include "check.h"
#include <setjmp.h>

static int interpret(const unsigned char *code)
{
    static const void *const table[] = {&&stop, &&inc, &&twice, &&skip, &&back};
    int acc = 1, fuel = 40;
    goto *table[*code];
inc:
    acc += 3;
    code++;
    goto *table[*code];
twice: {
    int copy = acc;
    acc += copy;
    code++;
    goto *table[*code];
}
skip:
    code += 2;
    goto *table[*code];
back:
    if (--fuel == 0)
        goto stop;
    code -= 2;
    goto *table[*code];
stop:
    return acc * 100 + fuel;
}

sum_t check_threaded_code(void)
{
    static const unsigned char a[] = {1, 2, 3, 0, 1, 2, 0};
    static const unsigned char b[] = {1, 1, 1, 4, 0};
    return (sum_t)(interpret(a) * 7 + interpret(b));
}

sum_t check_offsets(void)
{
    static const int offsets[] = {&&a - &&a, &&b - &&a, &&c - &&a};
    sum_t h = 1;
    int i = 0;
next:
    goto *(&&a + offsets[i]);
a:
    h = h * 5 + 1;
    i = 2;
    goto next;
b:
    h = h * 5 + 2;
    return h;
c:
    h = h * 5 + 3;
    i = 1;
    goto next;
}

sum_t check_out_of_scopes(void)
{
    sum_t h = 0;
    void *to = &&again;
    int n = 0;
again:
    n++;
    {
        int inner[4] = {n, n + 1, n + 2, n + 3};
        int *p = inner;
        h = h * 3 + (sum_t)p[n & 3];
        if (n < 6)
            goto *to;
        to = &&done;
        {
            int more[2] = {1, 2};
            int *q = more;
            h += (sum_t)q[1];
            goto *to;
        }
    }
done:
    return h * 10 + (sum_t)n;
}

static jmp_buf env, other;

static void thrower(int depth, int value)
{
    volatile char pad[32];
    pad[depth & 31] = 1;
    if (depth == 0)
        longjmp(env, value);
    thrower(depth - 1, value);
}

sum_t check_longjmp(void)
{
    volatile int tries = 0;
    sum_t h = 0;
    int got = setjmp(env);
    h = (sum_t)(tries * 100 + got);
    if (tries < 3) {
        tries++;
        thrower(tries, tries == 2 ? 0 : tries * 10);
    }
    return h;
}

static int guarded(int x)
{
    if (setjmp(other))
        return -x;
    if (x > 5)
        longjmp(other, 1);
    return x;
}

sum_t check_guarded(void)
{
    sum_t h = 0;
    for (int i = 0; i < 10; i++)
        h = h * 3 + (sum_t)guarded(i);
    return h;
}

sum_t check_switch_on_setjmp(void)
{
    volatile sum_t h = 0;
    switch (setjmp(env)) {
    case 0: h += 1; longjmp(env, 1);
    case 1: h += 20; longjmp(env, 2);
    case 2: h += 300; break;
    default: h = 9999;
    }
    return h;
}

struct handler { jmp_buf env; struct handler *outer; };
static struct handler *handlers;

static int protect(int (*f)(int), int x)
{
    struct handler h;
    volatile int result = 0;
    h.outer = handlers;
    handlers = &h;
    if (setjmp(h.env) == 0)
        result = f(x);
    else
        result = -1;
    handlers = h.outer;
    return result;
}

static int fails(int x) { if (x & 1) longjmp(handlers->env, 5); return x * 2; }
static int nests(int x) { int r = protect(fails, x); if (r < 0 && x > 2) longjmp(handlers->env, 1); return r + 100; }

sum_t check_nested_handlers(void)
{
    sum_t h = 0;
    for (int i = 0; i < 6; i++)
        h = h * 7 + (sum_t)protect(nests, i);
    return h + (handlers == 0);
}
