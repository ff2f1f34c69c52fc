/* What differs where pointers have 32 bits: sizes, layouts, addresses in initialisers, variable
   arguments, pointer arithmetic, jumps, and the C library's widths. Floats are only computed with
   where the x87's wider registers make no difference. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define SIZE(type) printf("%s %zu %zu\n", #type, sizeof(type), _Alignof(type))
#define OFFSET(type, member) printf(#type "." #member " %zu\n", offsetof(type, member))

struct node {
    struct node *next;
    double weight;
    char tag;
    long long wide;
    long double widest;
    short tail;
};
struct bits {
    char lead;
    unsigned long long a : 40, b : 20;
    unsigned long c : 17;
    int : 0;
    signed d : 3;
    _Bool e : 1;
};
struct packed {
    char a;
    void *p;
    long long b;
} __attribute__((packed));
struct aligned {
    char a;
    long long b __attribute__((aligned(8)));
    double c;
};
union any {
    char text[5];
    void *pointer;
    long long number;
    long double widest;
};
struct flexible {
    long count;
    char *items[];
};

static void sizes(void) {
    SIZE(char), SIZE(short), SIZE(int), SIZE(long), SIZE(long long), SIZE(float), SIZE(double);
    SIZE(long double), SIZE(void *), SIZE(size_t), SIZE(ptrdiff_t), SIZE(intmax_t), SIZE(wchar_t);
    SIZE(struct node), SIZE(struct bits), SIZE(struct packed), SIZE(struct aligned);
    SIZE(union any), SIZE(struct flexible), SIZE(max_align_t), SIZE(double _Complex);
    SIZE(long double _Complex), SIZE(_Atomic long long), SIZE(div_t), SIZE(lldiv_t);
    OFFSET(struct node, weight), OFFSET(struct node, wide), OFFSET(struct node, widest);
    OFFSET(struct node, tail), OFFSET(struct packed, b), OFFSET(struct aligned, b);
    OFFSET(struct aligned, c), OFFSET(struct flexible, items);
    printf("%ld %lu %lld\n", LONG_MAX, ULONG_MAX, LLONG_MIN);
}

static int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
static struct node third, second = {&third, 2.5, 'b', -2, 2.25L, 2};
static struct node first = {.next = &second, .weight = 1.5, .tag = 'a', .wide = 1LL << 40};
static struct node third = {.next = (struct node *)&table[3], .tail = -7};
static int *const inside[] = {table, &table[7], table + 3, 0, (int *)16};
static const char *words[] = {"one", "two" + 1, 0};
static uintptr_t number = (uintptr_t)&table[2];
static const long apart = &table[6] - &table[1];
static int (*compare_texts)(const char *, const char *) = strcmp;

static void initialisers(void) {
    for (struct node *at = &first; at != (void *)&table[3]; at = at->next)
        printf("%g %d %lld %Lg %d\n", at->weight, at->tag, at->wide, at->widest, at->tail);
    printf("%d %d %d %d %lu\n", *inside[0], *inside[1], *inside[2], !inside[3],
           (unsigned long)inside[4]);
    printf("%s %s %d\n", words[0], words[1], words[2] == 0);
    printf("%d %ld %d\n", *(int *)number, apart, compare_texts("a", "b") < 0);
    printf("%d\n", (int)(sizeof first / sizeof first.next));
}

struct pair {
    char c;
    long long v;
};
static long long sum(int count, ...) {
    va_list list, again;
    long long total = 0;
    va_start(list, count);
    va_copy(again, list);
    while (count--) {
        switch (va_arg(list, int)) {
        case 0: total += va_arg(list, int); break;
        case 1: total += va_arg(list, long long); break;
        case 2: total += (long long)va_arg(list, double); break;
        case 3: total += (long long)va_arg(list, long double); break;
        case 4: total += *va_arg(list, int *); break;
        case 5: {
            struct pair pair = va_arg(list, struct pair);
            total += pair.c + pair.v;
        }
        }
    }
    va_end(list);
    total = 1000 * total + va_arg(again, int);
    va_end(again);
    return total;
}
static int through(va_list *list) { return va_arg(*list, int); }
static int by_value(va_list list) { return va_arg(list, int); }
static int several(int count, ...) {
    va_list list;
    va_start(list, count);
    int a = through(&list), b = through(&list), c = by_value(list);
    va_end(list);
    return 100 * a + 10 * b + c;
}
static void variadic(void) {
    struct pair pair = {5, 1LL << 33};
    printf("%lld\n", sum(6, 0, 7, 1, 1LL << 35, 2, 9.0, 3, 11.0L, 4, &table[5], 5, pair));
    printf("%d\n", several(3, 1, 2, 3));
}

static void arithmetic(unsigned unsigned_index, long long wide_index, int negative) {
    int *p = table + 4;
    printf("%d %d %d\n", p[unsigned_index], p[wide_index], p[negative]);
    printf("%d %d\n", *(p + unsigned_index), *(p - negative));
    char *low = 0, *high = (char *)-1;
    printf("%lu %lu %d\n", (unsigned long)high, (unsigned long)(low - 1), high + 1 == low);
    printf("%d %d\n", low - 1 == high, (uintptr_t)(low + 0xfffffff0u) == 0xfffffff0u);
    printf("%td %td\n", high - low, (int *)0x80000000u - (int *)0);
    unsigned long long from = (unsigned long long)(uintptr_t)high;
    printf("%llx %llx\n", from, (unsigned long long)(void *)high);
    printf("%d\n", (char *)(0x100000000ULL + 5) == (char *)5);
    char *near_end = (char *)0xffffff00u;
    printf("%d\n", near_end + 0x200 < near_end);
    unsigned long overflow = ULONG_MAX;
    overflow += 2;
    long least = LONG_MIN;
    printf("%lu %ld %d\n", overflow, -(least + 1), __builtin_popcountl(-1L));
    printf("%d %d %d\n", __builtin_clzl(1), __builtin_ctzl(4), __builtin_ffsll(1LL << 40));
    long sum_of;
    printf("%d", __builtin_add_overflow(LONG_MAX, 1L, &sum_of));
    long long wide_sum;
    printf("%d %lld\n", __builtin_add_overflow(LONG_MAX, 1L, &wide_sum), wide_sum);
    printf("%zu %zu\n", sizeof "text", strlen("text"));
    int n = negative + 9;
    int rows[n][3];
    int(*row)[3] = rows + 2;
    printf("%zu %zu %td\n", sizeof rows, sizeof *row, row - rows);
}

static jmp_buf back;
static void jump(int depth) {
    if (depth) jump(depth - 1);
    longjmp(back, 7);
}

static void *builtin_back[5];
static __attribute__((noinline)) void builtin_jump(void) { __builtin_longjmp(builtin_back, 1); }
static void builtin_jumps(void) {
    volatile int times = 0;
    if (__builtin_setjmp(builtin_back)) times = times + 10;
    times = times + 1;
    if (times < 20) builtin_jump();
    printf("builtin %d\n", times);
}

static _Atomic(int *) shared;
static void pointers_in_memory(void) {
    atomic_store(&shared, table);
    int *old = atomic_exchange(&shared, table + 2), *expected = table + 2;
    printf("%d %d\n", *old, atomic_compare_exchange_strong(&shared, &expected, table + 5));
    printf("%d\n", *atomic_load(&shared));
    int *copy, *list[4] = {table, table + 1, table + 2, table + 3};
    memcpy(&copy, &list[2], sizeof copy);
    printf("%d\n", *copy);
    unsigned char bytes[sizeof copy];
    for (size_t i = 0; i < sizeof copy; i++) bytes[i] = ((unsigned char *)&list[3])[i];
    memcpy(&copy, bytes, sizeof bytes);
    printf("%d\n", *copy);
    int *volatile shown = table + 6;
    union any any = {.pointer = shown};
    printf("%d\n", *(int *)any.pointer);
    static const void *labels[] = {&&zero, &&one};
    goto *labels[table[0]];
zero:
    puts("zero");
one:
    puts("one");
}

static void library(void) {
    char text[200], *end;
    printf("%ld %lu %lld\n", strtol("3000000000", &end, 10), strtoul("4294967296", 0, 10),
           strtoll("-9000000000", 0, 10));
    int i, count;
    long l;
    long long ll;
    size_t z;
    double d;
    count = sscanf("99999999999 -4000000000 123456789012 77 0x1.8p1", "%d %ld %lld %zu %lf", &i, &l,
                   &ll, &z, &d);
    printf("%d %d %ld %lld %zu %g\n", count, i, l, ll, z, d);
    count = sprintf(text, "%hhd %hd %d %ld %lld %jd %zd %td %lx %llx %p", 300, 70000, -1, -2L, -3LL,
                    (intmax_t)-4, (ptrdiff_t)-5, (ptrdiff_t)-6, -7L, -8LL, (void *)0x1234);
    printf("%d %s\n", count, text);
    printf("%2$s %1$lld %3$ld %4$g\n", 1LL << 34, "numbered", -1L, 0.5);
    printf("%ls %lc %La\n", L"wide", (wint_t)'c', 1.5L);
    div_t quotient = div(-7, 2);
    lldiv_t wide = lldiv(-7000000000LL, 2000000001);
    printf("%d %d %lld %lld %ld\n", quotient.quot, quotient.rem, wide.quot, wide.rem, labs(-9L));
    char **list = calloc(4, sizeof *list);
    for (i = 0; i < 4; i++) list[i] = strdup((const char *[]){"pear", "fig", "plum", "apple"}[i]);
    list = realloc(list, 8 * sizeof *list);
    for (i = 0; i < 4; i++) printf("%s ", list[i]), free(list[i]);
    free(list);
    void *huge = malloc((size_t)-1), *product = calloc(65536, 65537);
    printf("%d %d\n", huge == 0, product == 0);
    srand(5);
    printf("%d %ld\n", rand() % 100, random() % 100);
}

int main(int argc, char **argv) {
    sizes();
    initialisers();
    variadic();
    arithmetic(0xffffffffu, 0x100000001LL, -2);
    int from = setjmp(back);
    printf("from %d\n", from);
    if (!from) jump(3);
    builtin_jumps();
    pointers_in_memory();
    library();
    printf("%d %d %d\n", argc, argv[0] != 0, argv[argc] == 0);
    return argc + 40;
}
