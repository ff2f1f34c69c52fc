/* Functions over tables, lists, trees, rings and pools, as programs have them: each branch of each can be
   reached, but where idioms.rs says otherwise. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct P {
    int k;
    int *p;
};
int g;
int copies_an_element(struct P *arr, unsigned char i)
{
    struct P x = arr[i];
    if (!x.p)
        return 3;
    if (x.p == &g)
        return 1;
    if (*x.p == x.k)
        return 2;
    return 0;
}

int swaps_two(int **v, unsigned char i, unsigned char j)
{
    int *t = v[i];
    v[i] = v[j];
    v[j] = t;
    if (v[i] == v[j] && i != j)
        return 1;
    if (v[i] && *v[i] == 3)
        return 2;
    return 0;
}

struct cell {
    unsigned char kind : 3;
    unsigned char open : 1;
    short w;
};
int opens_a_cell(struct cell grid[8][8], unsigned x, unsigned y)
{
    if (x > 7 || y > 7)
        return -1;
    if (grid[y][x].kind == 5)
        return 1;
    if (grid[y][x].open && grid[y][x].w < -100)
        return 2;
    grid[y][x].open = 1;
    return grid[x][y].open;
}

struct ent {
    struct ent *next;
    const char *key;
    int val;
};
struct tab {
    unsigned n;
    struct ent *buckets[16];
};
int looks_up(struct tab *t, const char *key)
{
    unsigned h = 5381;
    for (const char *s = key; *s; s++)
        h = h * 33 + (unsigned char)*s;
    for (struct ent *e = t->buckets[h % 16]; e; e = e->next)
        if (!strcmp(e->key, key))
            return e->val;
    return -1;
}

int removes_from_chain(struct tab *t, unsigned h, int k)
{
    struct ent **pp = &t->buckets[h & 15];
    while (*pp) {
        if ((*pp)->val == k) {
            struct ent *d = *pp;
            *pp = d->next;
            free(d);
            t->n--;
            return 1;
        }
        pp = &(*pp)->next;
    }
    return 0;
}

int sums_numbers(double *a, unsigned char n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] != a[i])
            return -1;
        s += a[i];
    }
    return s > 100;
}

int parses_a_pair(const char *s)
{
    const char *e = strchr(s, '=');
    if (!e)
        return 0;
    if (e - s > 4)
        return 1;
    if (e[1] == '"') {
        const char *q = strrchr(e + 2, '"');
        return q && q[1] == 0 ? 2 : 3;
    }
    return atoi(e + 1) > 10 ? 4 : 5;
}

union U {
    double d;
    int *p;
    unsigned u[2];
};
int looks_back(short *p, int n)
{
    if (n < 3)
        return 0;
    p += n;
    if (p[-1] == 5 && p[-2] == -5)
        return 1;
    return p[-3] == 0;
}

int copies_at_most(char *dst, const char *src, unsigned n)
{
    if (n > 8)
        return 0;
    strncpy(dst, src, n);
    if (n && dst[n - 1] != 0)
        return 1;
    return strlen(src) < n;
}

enum st { A, B, C };
int steps_by_characters(enum st *s, const signed char *in)
{
    switch (*s) {
    case A:
        if (*in < 0)
            *s = B;
        return 0;
    case B:
        if (isdigit((unsigned char)*in))
            *s = C;
        else
            *s = A;
        return 1;
    case C:
        return 2;
    default:
        return 3;
    }
}

int has_a_cycle(struct ent *e)
{
    struct ent *slow = e, *fast = e;
    while (fast && fast->next) {
        slow = slow->next;
        fast = fast->next->next;
        if (slow == fast)
            return 1;
    }
    return 0;
}

int walks_records(unsigned char *b, unsigned n)
{
    unsigned i = 0, c = 0;
    while (i + 2 <= n) {
        unsigned t = b[i], l = b[i + 1];
        i += 2;
        if (l > n - i)
            return -1;
        if (t == 7 && l == 2)
            c = b[i] << 8 | b[i + 1];
        i += l;
    }
    return c == 0x1234;
}

int searches_names(const char **names, int n, const char *x)
{
    int lo = 0, hi = n - 1;
    while (lo <= hi) {
        int m = (lo + hi) / 2, c = strcmp(names[m], x);
        if (c == 0)
            return m;
        if (c < 0)
            lo = m + 1;
        else
            hi = m - 1;
    }
    return -1;
}

struct S {
    int a[4];
    struct {
        char *n;
        int v;
    } e[4];
};
int copies_a_struct(struct S *s, struct S *d, unsigned i)
{
    *d = *s;
    if (i > 3)
        return 9;
    if (d->e[i].n == s->e[i].n && d->e[i].v == 3)
        return 1;
    return d == s;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int sorts_three(int *a)
{
    qsort(a, 3, sizeof *a, compare_ints);
    if (a[0] == a[2])
        return 1;
    return a[1] == 5;
}

int splits_at_commas(char *s)
{
    char *t = strtok(s, ",");
    int n = 0;
    while (t) {
        if (!strcmp(t, "ab"))
            return 1;
        n++;
        t = strtok(NULL, ",");
    }
    return n > 1;
}

int reads_two(FILE *f)
{
    int c = fgetc(f);
    if (c == EOF)
        return -1;
    if (c == 'x')
        return 1;
    return fgetc(f) == 'y';
}

int finds_in_row(int **rows, int r, int c)
{
    if (r < 0 || r > 3)
        return -1;
    int *row = rows[r];
    for (int i = 0; i < c; i++)
        if (row[i] == 42)
            return i + 1;
    return 0;
}

typedef int (*op)(int, int);
static int add(int a, int b)
{
    return a + b;
}

static int sub(int a, int b)
{
    return a - b;
}

static const op ops[4] = {add, sub, 0, add};
int calls_an_operation(unsigned char k, int a, int b)
{
    if (k > 3 || !ops[k])
        return -1;
    int r = ops[k](a, b);
    if (r == 7)
        return 1;
    return r < 0 ? 2 : 0;
}

static op table[8];
void set_operation(unsigned k, op o)
{
    if (k < 8)
        table[k] = o;
}

int calls_what_was_set(unsigned char k, int a)
{
    if (k < 8 && table[k])
        return table[k](a, 3) == 9;
    return 5;
}

struct ring {
    unsigned head, tail;
    void *slot[8];
};
int puts_in(struct ring *r, void *x)
{
    unsigned n = (r->head + 1) & 7;
    if (n == r->tail)
        return 0;
    r->slot[r->head] = x;
    r->head = n;
    return 1;
}

void *takes(struct ring *r)
{
    if (r->head == r->tail)
        return 0;
    void *x = r->slot[r->tail];
    r->tail = (r->tail + 1) & 7;
    if (!x)
        return (void *)r;
    return x;
}

int puts_and_takes(struct ring *r)
{
    int a;
    r->head = r->tail = 3;
    puts_in(r, &a);
    return takes(r) == &a;
}

struct item {
    struct item *next;
    struct obj *of;
};
struct obj {
    int kind;
    char name[12];
    struct item *items[3];
    int (*draw)(struct obj *, int);
};
int visits_items(struct obj *o, unsigned i)
{
    if (i >= 3)
        return -1;
    for (struct item *t = o->items[i]; t; t = t->next) {
        if (t->of == o)
            return 1;
        if (t->of && t->of->draw && t->of->draw(t->of, i) > 3)
            return 2;
    }
    return 0;
}

int least_by_name(struct obj **list, int n, int k)
{
    int best = -1;
    for (int i = 0; i < n; i++) {
        if (!list[i])
            continue;
        if (list[i]->kind == k && (best < 0 || strcmp(list[i]->name, list[best]->name) < 0))
            best = i;
    }
    return best;
}

struct pool {
    struct blk {
        struct blk *next;
        int used;
    } * free;
    struct blk blocks[4];
};
struct blk *pops_a_block(struct pool *p)
{
    struct blk *b = p->free;
    if (!b)
        return 0;
    if (b < p->blocks || b >= p->blocks + 4)
        return 0;
    p->free = b->next;
    b->used = 1;
    return b;
}

int pushes_a_block(struct pool *p, struct blk *b)
{
    ptrdiff_t i = b - p->blocks;
    if (i < 0 || i > 3)
        return -1;
    if (!p->blocks[i].used)
        return -2;
    p->blocks[i].used = 0;
    p->blocks[i].next = p->free;
    p->free = &p->blocks[i];
    return (int)i;
}

struct msg {
    uint8_t type, len;
    union {
        uint8_t raw[8];
        struct {
            uint16_t a, b;
        } w;
        uint32_t d;
    } u;
};
int first_difference(int **a, int **b, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (a[i] != b[i])
            return i + 1;
    return n == 3;
}

char *finds_variable(char **env, const char *name)
{
    size_t n = strlen(name);
    for (; *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=')
            return *env + n + 1;
    return 0;
}

int counts_options(int argc, char **argv)
{
    int v = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-') {
            if (argv[i][1] == 'v')
                v++;
            else if (argv[i][1] == 'o' && i + 1 < argc)
                i++;
            else
                return -1;
        }
    }
    return v > 1;
}

struct tree {
    struct tree *kid[2];
    int key;
};
int finds_key(struct tree *t, int k)
{
    while (t) {
        if (t->key == k)
            return 1;
        t = t->kid[k > t->key];
    }
    return 0;
}

int inserts_key(struct tree **root, int k)
{
    struct tree **p = root;
    while (*p) {
        if ((*p)->key == k)
            return 0;
        p = &(*p)->kid[k > (*p)->key];
    }
    struct tree *n = calloc(1, sizeof *n);
    if (!n)
        return -1;
    n->key = k;
    *p = n;
    return 1;
}

int height(struct tree *t)
{
    if (!t)
        return 0;
    int l = height(t->kid[0]), r = height(t->kid[1]);
    return (l > r ? l : r) + 1;
}

struct dev {
    const struct drv *drv;
    void *priv;
};
struct drv {
    int (*open)(struct dev *);
    void (*close)(struct dev *);
    const char *name;
};
int opens_by_name(struct dev *devs, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++) {
        struct dev *d = &devs[i];
        if (d->drv && d->drv->name && !strcmp(d->drv->name, name)) {
            if (d->drv->open && d->drv->open(d) < 0) {
                if (d->drv->close)
                    d->drv->close(d);
                return -2;
            }
            return (int)i;
        }
    }
    return -1;
}

int applies(double (*fn[3])(double), int k, double x)
{
    if (k < 0 || k > 2)
        return -1;
    double y = fn[k](x);
    if (y != y)
        return 3;
    return y > x;
}

static struct {
    const char *name;
    int id;
    op fn;
} cmds[] = {{"add", 1, add}, {"sub", 2, sub}, {"x", 3, 0}};
int runs_command(const char *s, int a)
{
    for (unsigned i = 0; i < sizeof cmds / sizeof *cmds; i++)
        if (!strcmp(cmds[i].name, s)) {
            if (!cmds[i].fn)
                return -2;
            return cmds[i].fn(a, 1) == 3;
        }
    return -1;
}

int sets_a_bit(uint32_t *bits, unsigned n, unsigned i)
{
    if (i >= n * 32)
        return -1;
    if (bits[i / 32] & 1u << i % 32)
        return 1;
    bits[i / 32] |= 1u << i % 32;
    return bits[i / 32] == 0xffffffff ? 2 : 0;
}

