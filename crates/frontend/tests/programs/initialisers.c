#include "check.h"

struct entry { const char *name; int (*run)(int); long *where; unsigned char bytes[5]; };

static int twice(int v)
{
    return v * 2;
}

static int negate(int v)
{
    return -v;
}

static long cells[4] = { [1] = 5, 7, [0] = 3 };
int tentative;
static struct entry entries[] = {
    { "first", twice, &cells[1], { 1, 2, [4] = 9 } },
    { .run = negate, .name = "second" + 2, .where = cells + 2 },
    [3] = { .bytes = "abcd", .where = (long *)((char *)cells + 24) },
};
static const int matrix[][3] = { { 1 }, { 1, 2 }, { 1, 2, 3 } };
static union { float f; int i; } numbers[2] = { { 1.5f }, { .i = 7 } };
static struct { unsigned a : 4, b : 12; _Bool c : 1; int d : 9; } packed = { 9, 0xabc, 1, -100 };
static char text[] = "text", cut[3] = "cut", padded[8] = { "pad" };
static int *pointer = (int[]){ 4, 5, 6 };
static unsigned long number = sizeof entries / sizeof entries[0] + 'x' * 3 - (7 > 3 ? 2u : 1);
static int ranges[10] = { [2 ... 5] = 4, [4] = 1 };
static _Bool truth = 0.5, lies = 0 && 1;
static signed char narrow = 200, shifted = -1 >> 3;
static unsigned wide[2] = { -1, 1ul << 33 >> 2 };
static void *self = &self;
static long difference = &cells[3] - &cells[1];

sum_t check_static_initialisers(void)
{
    sum_t h = 1;
    for (int i = 0; i < 4; i++) {
        struct entry *e = &entries[i];
        h = mix(h, e->name ? e->name[1] : 1);
        h = mix(h, e->run ? e->run(7) : 2);
        h = mix(h, e->where ? *e->where : 3);
        for (int j = 0; j < 5; j++)
            h = mix(h, e->bytes[j]);
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            h = mix(h, matrix[i][j]);
    h = mix(h, numbers[0].i + numbers[1].i + packed.a + packed.b + packed.c + packed.d);
    h = mix(h, sizeof text + text[3] + cut[2] + padded[2] + padded[3] + pointer[2] + number);
    for (int i = 0; i < 10; i++)
        h = mix(h, ranges[i]);
    h = mix(h, truth + 2 * lies + narrow + shifted + wide[0] + wide[1] + (self == &self) + difference);
    return mix(h, tentative);
}

static int counter(void)
{
    static int n = 3;
    static int *last = &n;
    {
        static int n = 100;
        n += 10;
        *last += n;
    }
    return n++;
}

sum_t check_static_locals(void)
{
    sum_t h = 2;
    for (int i = 0; i < 5; i++)
        h = mix(h, counter());
    h = mix(h, __func__[3] + sizeof __func__);
    return h;
}

sum_t check_automatic_initialisers(void)
{
    sum_t h = 3;
    for (int n = 0; n < 3; n++) {
        int a[6] = { n, [3] = n * 2, n + 1 };
        struct { char c; struct { int x, y[2]; } in; unsigned f : 5; } s = { 'c', { n, { [1] = 4 } }, n + 30 };
        char word[6] = "ab", other[] = { 'x', n, 0 }, empty[300] = "";
        const int big[40] = { 1, 2, 3, [20] = 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25 };
        const char *names[] = { "zero", "one", word };
        union { long l; char c; } u = { .c = n };
        int scalar = { n + 1 };
        struct { int p, q; } pair = { 1, 2 }, copied = pair;
        int zeros[4] = { };
        for (int i = 0; i < 6; i++)
            h = mix(h, a[i] + word[i]);
        h = mix(h, s.in.x + s.in.y[0] + s.in.y[1] + s.f + other[1] + empty[299] + big[n * 10] + big[39]);
        h = mix(h, names[n][1] + u.l + scalar + copied.q + zeros[n] + sizeof other);
        a[0] = 77;
        word[0] = 'z';
    }
    return h;
}
