#include "check.h"
#include <string.h>
#include <stdlib.h>
#include <ctype.h>
#include <stdatomic.h>

int snprintf(char *, unsigned long, const char *, ...);

typedef int (*binary)(int, int);

static int plus(int a, int b) { return a + b; }
static int times(int a, int b) { return a * b; }
static double real(double a, float b) { return a / b; }
static void nothing(int *p) { *p += 1; }
static unsigned char narrow(int v) { return v; }
static _Bool flag(int v) { return v; }
static short sum_of(signed char a, unsigned short b, long c, _Bool d) { return a + b + c + d; }

static int old_style(a, b)
    int a;
    char *b;
{
    return a + b[0];
}

static int fold(binary f, const int *list, int count, int start)
{
    while (count--)
        start = f(start, *list++);
    return start;
}

static binary choose(int which)
{
    static const binary table[2] = { plus, times };
    return which < 2 ? table[which] : 0;
}

sum_t check_calls(void)
{
    int list[] = { 3, 1, 4, 1, 5 }, n = 2;
    sum_t h = 1;
    h = mix(h, fold(plus, list, 5, 0) + fold(choose(1), list, 5, 1));
    h = mix(h, choose(0)(3, 4) + !choose(2) + (choose(1) == times));
    h = mix_double(h, real(7, 2) + real(n, 3.5));
    nothing(&n);
    h = mix(h, n + narrow(300) + flag(256) + sum_of(200, 70000, 3, 9));
    return mix(h, old_style(3, "a"));
}

sum_t check_library(void)
{
    char buffer[32];
    sum_t h = 2;
    strcpy(buffer, "hello");
    h = mix(h, strlen(buffer) + (strcmp(buffer, "help") < 0) + (memcmp(buffer, "hello", 6) == 0));
    memset(buffer + 5, '!', 3);
    buffer[8] = 0;
    h = mix(h, strchr(buffer, '!') - buffer);
    for (char *p = buffer; *p; p++)
        h = mix(h, isalpha((unsigned char)*p) ? toupper((unsigned char)*p) : *p);
    int *heap = malloc(4 * sizeof *heap);
    if (!heap)
        return 0;
    for (int i = 0; i < 4; i++)
        heap[i] = i + abs(-i);
    memmove(heap + 1, heap, 3 * sizeof *heap);
    h = mix(h, heap[3] + heap[0]);
    free(heap);
    __builtin_memcpy(buffer, "xyz", 4);
    return mix(h, __builtin_strlen(buffer) + buffer[1]);
}

sum_t check_builtins(void)
{
    sum_t h = 3;
    for (unsigned i = 0; i < 12; i++) {
        unsigned v = i * 0x9e3779b9u + 1;
        unsigned long w = v * 0x100000001ul;
        h = mix(h, __builtin_clz(v) + 100 * __builtin_ctz(v) + 10000 * __builtin_popcount(v));
        h = mix(h, __builtin_clzl(w) + 100 * __builtin_ctzll(w) + 10000 * __builtin_popcountl(w));
        h = mix(h, __builtin_parity(v) + __builtin_ffs(v & 0xfff0) * 2 + __builtin_ffs(0) + __builtin_clrsb((int)v));
        h = mix(h, __builtin_bswap32(v) + __builtin_bswap64(w) + __builtin_bswap16(v));
        h = mix(h, __builtin_rotateleft32(v, i) + __builtin_rotateright64(w, i * 3));
        int sum, product;
        unsigned difference;
        long wide;
        unsigned char byte;
        h = mix(h, __builtin_add_overflow((int)v, (int)v, &sum) + 2 * __builtin_sub_overflow(i, 5u, &difference));
        h = mix(h, __builtin_mul_overflow((int)v, 3, &product) + 2 * __builtin_mul_overflow(w, w, &wide));
        h = mix(h, __builtin_add_overflow(i * 30, 1, &byte) + 2 * __builtin_smul_overflow(v, 7, &sum));
        h = mix(h, sum + product + difference + wide + byte);
        h = mix(h, __builtin_uaddl_overflow(w, w, (unsigned long *)&wide) + wide);
    }
    h = mix(h, __builtin_constant_p(3) + 2 * __builtin_types_compatible_p(int, long) + __builtin_choose_expr(1, 4, 5));
    return mix(h, _Generic(h, int: 1, unsigned long: 2, default: 3) + __builtin_object_size(&h, 0) * 0);
}

sum_t check_atomics(void)
{
    static _Atomic int counter = 3;
    int plain = 5;
    sum_t h = 4;
    counter = counter + 2;
    counter += 4;
    counter++;
    h = mix(h, counter);
    h = mix(h, __atomic_fetch_add(&plain, 3, 5) * 10 + __atomic_sub_fetch(&plain, 1, 0));
    h = mix(h, __sync_fetch_and_or(&plain, 8) + __sync_nand_and_fetch(&plain, 5));
    h = mix(h, __atomic_exchange_n(&plain, 77, 0) + __atomic_load_n(&plain, 0));
    int expected = 76;
    h = mix(h, __atomic_compare_exchange_n(&plain, &expected, 4, 0, 0, 0) * 2 + expected);
    h = mix(h, __atomic_compare_exchange_n(&plain, &expected, 4, 0, 0, 0) * 2 + expected);
    h = mix(h, __sync_val_compare_and_swap(&plain, 4, 6) + __sync_bool_compare_and_swap(&plain, 1, 2));
    __sync_synchronize();
    __atomic_store_n(&plain, plain + 1, 0);
    __asm__ volatile("" ::: "memory");
    atomic_fetch_xor(&counter, 5);
    h = mix(h, atomic_exchange(&counter, 9) + atomic_load(&counter));
    return mix(h, plain);
}
