#include "check.h"

static int classify(int v)
{
    switch (v) {
    case 0:
        return 10;
    case 1:
    case 2:
        v += 5;
        /* fall through */
    case 3: {
        int inner = v * 2;
        if (inner > 10)
            break;
        return inner;
    }
    case 'a' ... 'f':
        v -= 'a';
    default:
        v *= 3;
        switch (v & 3) {
        case 1:
            v++;
            break;
        case 2:
            goto done;
        default:
            v--;
        }
        break;
    case -5:
        v = 99;
    }
    return v;
done:
    return -v;
}

sum_t check_switches(void)
{
    sum_t h = 1;
    for (int i = -10; i < 120; i++)
        h = mix(h, classify(i));
    for (unsigned long big = 0xffffffffffffff00ul; big; big += 64)
        switch (big) {
        case 0xffffffffffffff40ul:
            h = mix(h, 5);
            continue;
        case 0:
            h = mix(h, 6);
        }
    switch (3) { int hidden; case 3: hidden = 4; int *p = &hidden; ++*p; h = mix(h, hidden); }
    switch ((unsigned char)h) default: h = mix(h, 7);
    return h;
}

static void copy(char *to, const char *from, int count)
{
    int n = (count + 7) / 8;
    switch (count % 8) {
    case 0: do { *to++ = *from++;
    case 7: *to++ = *from++;
    case 6: *to++ = *from++;
    case 5: *to++ = *from++;
    case 4: *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
            } while (--n > 0);
    }
}

sum_t check_a_switch_into_a_loop(void)
{
    char to[32] = { 0 };
    sum_t h = 2;
    for (int n = 1; n < 27; n++) {
        copy(to, "abcdefghijklmnopqrstuvwxyz", n);
        for (int i = 0; i < 32; i++)
            h = mix(h, to[i]);
    }
    return h;
}

sum_t check_loops(void)
{
    sum_t h = 3;
    int n = 0;
    do
        h = mix(h, n);
    while (++n < 5);
    for (int i = 0, j = 10; i < j; i++, j--) {
        if (i == 2)
            continue;
        int square = i * i;
        int *p = &square;
        *p += j;
        h = mix(h, square);
        if (square > 20)
            break;
    }
    for (;;) {
        if (n-- < -4)
            break;
        while (n > 2) {
            n--;
            if (n == 3)
                goto out;
        }
    }
out:
    while (1)
        if (h & 1)
            break;
        else
            h = mix(h, 1);
    return mix(h, n);
}

sum_t check_gotos(void)
{
    sum_t h = 4;
    int n = 0;
again:
    if (n > 6)
        goto end;
    {
        int fresh = n * 2;
        int *p = &fresh;
        if (n & 1) {
            n += 2;
            goto inside;
        }
        *p = 5;
    inside:
        if (n % 3 == 0)
            *p = 1;
        h = mix(h, n & 1 ? n : *p);
        n++;
        goto again;
    }
end:
    return h;
}

sum_t check_conditionals(void)
{
    sum_t h = 5;
    for (int a = -2; a < 3; a++)
        for (int b = -2; b < 3; b++) {
            h = mix(h, a > b ? a : b);
            h = mix(h, a ? b ? 1 : 2 : b ? 3 : 4);
            h = mix(h, a ?: b);
            h = mix(h, (a - b ?: 7) + (a ? 1 : -1u));
            long wide = a < 0 ? a : 3000000000u;
            h = mix(h, wide);
            const char *word = a == b ? "same" : a < b ? "less" : 0;
            h = mix(h, word ? word[a + 2 > 3 ? 3 : a + 2] : 1);
            a == b ? (void)(h = mix(h, 8)) : (void)0;
            h = mix(h, (a, b, a * b));
        }
    return h;
}

static int depth(int n)
{
    return n <= 1 ? 1 : depth(n / 2) + (n & 1 ? depth(n - 1) : 0);
}

static int even(int n);
static int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}
static int even(int n)
{
    return n == 0 ? 1 : odd(n - 1);
}

sum_t check_recursion(void)
{
    return mix(mix(6, depth(37)), even(20) * 2 + odd(7));
}
