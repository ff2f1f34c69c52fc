/* Variable length arrays, pointers to them, and alloca. */
#include "check.h"
#include <string.h>
#include <stdlib.h>
#include <alloca.h>

static sum_t fill(int n)
{
    int a[n];
    sum_t h = sizeof a;
    for (int i = 0; i < n; i++)
        a[i] = i * i + n;
    for (int i = n; i-- > 0;)
        h = mix(h, (unsigned long)a[i]);
    return h;
}

sum_t check_lengths(void)
{
    sum_t h = 1;
    for (int n = 1; n < 20; n += 4)
        h = mix(h, fill(n));
    return h;
}

static long matrix(int rows, int cols, int m[rows][cols])
{
    long total = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            total = total * 3 + m[r][c];
    return total + (long)sizeof m[0] + (long)sizeof *m;
}

sum_t check_matrices(void)
{
    int rows = 3, cols = 4;
    int m[rows][cols + 1], k = 0;
    sum_t h = mix(sizeof m, sizeof m[0]);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c <= cols; c++)
            m[r][c] = ++k * 7 % 11;
    h = mix(h, (unsigned long)matrix(rows, cols + 1, m));
    int (*p)[cols + 1] = m;
    cols = 100;
    p++;
    h = mix(h, (unsigned long)(p[1][2] + (*p)[3] + *p[0]));
    h = mix(h, (unsigned long)(p - m) + sizeof *p + sizeof(*p)[0]);
    p += 1;
    h = mix(h, (unsigned long)(&m[2] == p) + (unsigned long)(&m[rows][0] - &m[0][0]));
    return h;
}

static int evaluations;
static int counted(int n) { evaluations++; return n; }

sum_t check_bounds_are_evaluated_once(void)
{
    evaluations = 0;
    int a[counted(3)][counted(2)];
    int n = 4, b[n++];
    sum_t h = mix(sizeof a + sizeof b, (unsigned long)n);
    h = mix(h, sizeof a + sizeof a[1] + sizeof(int[counted(5)]));
    a[2][1] = 8;
    b[3] = 9;
    h = mix(h, (unsigned long)(a[2][1] + b[3]));
    return mix(h, (unsigned long)evaluations);
}

sum_t check_typedefs(void)
{
    int n = 3;
    typedef short row[n];
    n = 50;
    row r, table[2];
    typedef row *rows;
    rows p = table;
    for (unsigned i = 0; i < sizeof r / sizeof *r; i++)
        r[i] = table[0][i] = (short)(i + 5), table[1][i] = (short)(i * 100);
    __typeof__(r) copy;
    memcpy(copy, r, sizeof copy);
    sum_t h = mix(sizeof r + sizeof table, sizeof copy);
    h = mix(h, sizeof(row) + sizeof *p);
    return mix(h, (unsigned long)(copy[2] + p[1][2] + (p + 1)[0][1]));
}

static sum_t scopes(int limit)
{
    sum_t h = 1;
    for (int i = 1; i < 12; i++) {
        char a[i];
        memset(a, i, sizeof a);
        if (i == 3)
            continue;
        if (i > limit)
            break;
        {
            long inner[i + 1];
            inner[i] = a[i - 1];
            if (i == 5)
                goto next;
            h = mix(h, (unsigned long)inner[i] + sizeof inner);
        }
    next:
        h = mix(h, sizeof a);
    }
    return h;
}

sum_t check_scopes(void) { return scopes(4) ^ scopes(7) ^ scopes(20); }

sum_t check_jumps_back(void)
{
    int n = 1;
    sum_t h = 1;
again:;
    int a[n];
    a[n - 1] = n;
    h = mix(h, sizeof a + (unsigned long)a[n - 1]);
    if (n++ < 4)
        goto again;
    return h;
}

static sum_t reversed(const char *s)
{
    size_t n = strlen(s);
    char out[n + 1];
    for (size_t i = 0; i < n; i++)
        out[i] = s[n - 1 - i];
    out[n] = 0;
    sum_t h = 1;
    for (char *p = out; *p; p++)
        h = mix(h, (unsigned long)*p);
    return h;
}

sum_t check_strings(void) { return reversed("") ^ reversed("abc") ^ reversed("a longer one"); }

sum_t check_alloca(void)
{
    int *list[4];
    sum_t h = 1;
    for (int i = 0; i < 4; i++) {
        list[i] = alloca((size_t)(i + 1) * sizeof(int));
        list[i][i] = i * 3;
    }
    for (int i = 0; i < 4; i++)
        h = mix(h, (unsigned long)list[i][i]);
    h = mix(h, (unsigned long)__builtin_alloca_with_align(8, 512) % 64);
    return mix(h, alloca(0) != 0);
}

sum_t check_statement_expressions(void)
{
    sum_t h = 1;
    for (int n = 2; n < 5; n++)
        h = mix(h, (unsigned long)({ int t[n]; t[n - 1] = n * 2; t[n - 1] + (int)sizeof t; }));
    return h;
}

sum_t check_of_pointers(void)
{
    int n = 3, x = 1, y = 2;
    int *a[n], *(*pa)[n] = &a;
    a[0] = &x;
    a[2] = &y;
    *(*pa)[2] += 5;
    struct { int v; char c[4]; } s[n];
    s[1].c[2] = 4;
    s[2] = s[1];
    int (*heap)[n] = malloc(2 * sizeof *heap);
    heap[1][2] = 6;
    sum_t h = (sum_t)(*a[0] + y + s[2].c[2] + heap[1][2]) + sizeof s + sizeof *pa;
    free(heap);
    if (n > 2 && sizeof a > 16)
        h = mix(h, 1);
    return h;
}

static int sum_star(int n, const int a[static n]) { int t = 0; while (n--) t += a[n]; return t; }
static int use_old(n, a) int n; int a[n][2]; { return a[n - 1][1]; }

sum_t check_parameters(void)
{
    int a[] = {1, 2, 3, 4}, b[2][2] = {{1, 2}, {3, 4}};
    return (sum_t)(sum_star(4, a) * 10 + use_old(2, b));
}

/* Bounds of parameters are evaluated where the function begins, also those that no type keeps. */

static int bound_calls;
static int bound(int n) { bound_calls += n; return n; }

static int counts(int a, int b[a++], int c[bound(a)][bound(2)], int d[static 1])
{
    return a * 1000 + (int)(sizeof c[0]) * 10 + b[0] + d[0];
}

static int reads_through_a_pointer(int n, int rows[][*&n + 1]) { return (int)sizeof rows[0] + n; }

sum_t check_bounds_of_parameters(void)
{
    int numbers[12] = { 1, 2, 3 };
    sum_t sum = (sum_t)counts(4, numbers, (void *)numbers, numbers + 1);
    sum = mix(sum, (sum_t)bound_calls);
    sum = mix(sum, (sum_t)reads_through_a_pointer(3, (void *)numbers));
    return mix(sum, (sum_t)counts(1, numbers, (void *)numbers, numbers + 2) + (sum_t)bound_calls);
}

sum_t check_arrays_in_the_heads_of_loops(void)
{
    sum_t h = 1;
    int n = 5;
    for (int a[n], i = 0; i < n; i++, h = mix(h, sizeof a)) {
        a[i] = i * n;
        h = mix(h, (unsigned long)a[i]);
    }
    for (int i = 0, b[n + 1][counted(3)]; ; ) {
        b[i][2] = i + n;
        h = mix(h, (unsigned long)b[i][2] + sizeof b + sizeof b[0]);
        if (++i > n)
            break;
    }
    for (int i = 0, c[n], d[n * 2]; i < 2; i++)
        for (char (*p)[n] = (char (*)[n])c; i < 1; i++, p++) {
            h = mix(h, sizeof c + sizeof d + sizeof *p);
            n++;
            h = mix(h, (unsigned long)((char *)(p + 1) - (char *)p));
        }
    int m = 2;
    for (int e[m]; m < 5; m++)
        h = mix(h, sizeof e);
    return h;
}

sum_t check_arrays_behind_labels(void)
{
    sum_t h = 1;
    int n = 1;
again:
    int a[n];
    a[n - 1] = n;
    h = mix(h, sizeof a + (unsigned long)a[n - 1]);
    if (++n < 6)
        goto again;
    switch (n) {
    default:
        h++;
    other:
        int b[n][2];
        b[n - 1][1] = 7;
        h = mix(h, sizeof b + (unsigned long)b[n - 1][1]);
    }
    if (n++ < 8)
        goto again;
    if (n < 0)
        goto end;
end:
    return h;
}

static int empty(int n, int seed)
{
    int a[n] = {}, total = seed;
    char b[n + 1][3] = {};
    struct { long x; char c; } s[n * 2] = {};
    for (int i = 0; i < n; i++)
        total += a[i] * 3 + b[i][1] + b[n][2] + (int)s[n + i].x + s[i].c;
    for (int i = 0; i < n; i++)
        a[i] = s[i].c = b[i][2] = -1, s[i].x = 5;
    return total + (int)sizeof b;
}

sum_t check_arrays_initialised_by_empty_braces(void)
{
    sum_t h = 1;
    for (int n = 1; n < 9; n++)
        h = mix(h, (unsigned long)empty(n, n * 2));
    return h;
}

static int store[100];

sum_t check_casts_to_pointers_to_arrays(void)
{
    sum_t h = 1;
    int n = 3, k = 2;
    for (int i = 0; i < 100; i++)
        store[i] = i * i % 37;
    void *raw = store;
    typedef int row[n];
    h = mix(h, (unsigned long)((int (*)[n])store)[2][1]);
    h = mix(h, (unsigned long)((int (*)[n][k + 1])raw)[1][2][1]);
    h = mix(h, (unsigned long)(*((int (*)[n])raw + 4))[2]);
    h = mix(h, (unsigned long)((char *)((row *)raw + 2) - (char *)raw));
    h = mix(h, sizeof *(int (*)[n])raw + sizeof(*(int (*)[4][k])raw)[0]);
    evaluations = 0;
    h = mix(h, (unsigned long)((int (*)[counted(5)])raw)[counted(2)][3]);
    h = mix(h, (unsigned long)evaluations);
    int (*p)[n] = (int (*)[n])(int (*)[k])raw;
    h = mix(h, (unsigned long)(((int (*)[n])raw + 7) - p) + (unsigned long)p[1][1]);
    for (int i = 0; i < 3; i++, k = (int)sizeof *(int (*)[i + 1])raw)
        h = mix(h, (unsigned long)((int (*)[k])store)[i][1]);
    h = mix(h, n > 2 && ((short (*)[n])raw)[3][2] == store[5] ? 3 : 4);
    return h;
}

sum_t check_arrays_in_odd_places(void)
{
    sum_t h = 1;
    evaluations = 0;
    int n = 4;
    static int q[64];
    for (int i = 0; i < 64; i++) q[i] = i * 7;
    int (*p)[n] = (int (*)[n])q;
    for (int a[n], i = 0; i < 3; i++, p = (int (*)[n])(q + i)) {
        a[i] = p[1][2];
        h = mix(h, sizeof a + (unsigned long)a[i]);
    }
    for (int a[n]; ; h = mix(h, sizeof a), ({ int b[n + 1]; b[n] = 3; h += sizeof b + b[n]; })) {
        for (int c[n][counted(2)], j = 0; j < 2; j++)
            h = mix(h, sizeof c + (unsigned long)((int (*)[n])q)[j][1] + ((int (*)[j + 1])q)[1][0]);
        if (n-- < 2) break;
    }
    n = 3;
    if (n) for (char x[n]; n < 5; n++) h = mix(h, sizeof x);
    int k = 0;
    do l: for (int a[n]; k < 4; k++) h = mix(h, sizeof a); while (k < 3);
    int *r = (int *)(int (*)[n])q + ((int (*)[n])q)[1][0];
    h = mix(h, (unsigned long)(r - q));
    h = mix(h, (unsigned long)evaluations);
    typedef int row[n];
    for (row a = {}, *b = &a; n < 8; n++) { (*b)[1]++; h = mix(h, sizeof *b + a[1] + sizeof a); }
    for (__typeof__(*p) z; n < 10; n++) { z[0] = n; h = mix(h, sizeof z + z[0]); }
    return h;
}
