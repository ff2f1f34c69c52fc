/* Ordinary C whose inputs have no shape before a function looks at them. What `bc` must say of each
 * function is in `ordinary_c.rs`. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Memory of the inputs. */

struct leaf { int v; };
struct tree { struct leaf *c[4]; };
int pointers_in_arrays(struct tree *t) { if (t->c[1] == 0) return 1; return t->c[1]->v > 3; }

struct vector { int *data; unsigned n, cap; };
int push(struct vector *v, int x)
{
    if (v->n == v->cap) {
        int *d = realloc(v->data, (v->cap * 2 + 1) * sizeof *d);
        if (!d) return -1;
        v->data = d;
        v->cap = v->cap * 2 + 1;
    }
    v->data[v->n++] = x;
    return 0;
}

struct list { struct list *next; int k; };
int free_all(struct list *l)
{
    int n = 0;
    while (l) { struct list *x = l->next; free(l); l = x; n++; }
    if (n > 2) return 1;
    return 0;
}

static void cleanup(struct vector *v) { free(v->data); v->data = 0; }
int cleans_up(int a)
{
    struct vector v = {0};
    v.data = malloc(4);
    cleanup(&v);
    if (a > 3) return 1;
    return 0;
}

int aliases(int *a, int *b) { *a = 1; *b = 2; if (*a == 2) return 1; return 0; }

struct flexible { unsigned n; int a[]; };
int finds(struct flexible *s)
{
    for (unsigned i = 0; i < s->n; i++) if (s->a[i] == 77) return 1;
    return 0;
}

int from_bytes(const unsigned char *p) { float f; memcpy(&f, p, 4); if (f > 2) return 1; return 0; }

int neighbour(unsigned j)
{
    int x[12], y[12];
    for (int i = 0; i < 12; i++) { x[i] = 1; y[i] = 2; }
    int *p = y;
    if (j > 11) return -1;
    if (p[j] == 1) return x[0];
    return 0;
}

/* Functions that are not here. */

void (*hook)(int);
int calls_a_pointer(int k) { hook(k); if (k > 2) return 2; return 1; }
int calls_if_set(int k) { if (hook) { hook(k); return 2; } return 1; }

struct out { int x, y; };
int ask(struct out *o);
int asks(void) { struct out o = {1, 2}; ask(&o); if (o.x == 5 && o.y == 7) return 1; return 0; }
int asks_back(int (*back)(struct out *))
{
    struct out o = {1, 2};
    back(&o);
    if (o.x == 5 && o.y == 7) return 1;
    return 0;
}

int converts(const char *s)
{
    errno = 0;
    long v = strtol(s, 0, 10);
    if (errno == ERANGE) return 1;
    if (v > 10) return 2;
    return 0;
}

int scans(const char *s)
{
    int a, b;
    if (sscanf(s, "%d %d", &a, &b) == 2 && a > b) return 1;
    return 0;
}

/* Types of values. */

int complement(unsigned char c) { if (~c == 0) return 1; return 0; }
int high_half(unsigned long long v) { if ((int)(v >> 32) != 0) return 1; return 0; }
int widened(int i) { if ((long)(unsigned)i == -1) return 1; return 0; }
int compared_as_unsigned(char *p) { if (p[0] == 0xffu) return 1; return 0; }
int masked(long b) { if (~(b | 127L) == 1) return 1; return 0; }
int negated(unsigned u, int a) { if (!u < a) return 1; return 0; }
int sign_of(double d)
{
    if (((union { double f; uint64_t i; }){ d }).i >> 63) return 1;
    return 0;
}
int with_environment(double a)
{
#pragma STDC FENV_ACCESS ON
    if (a > 1) return 1;
    return 0;
}

/* Conditions. */

int choice(int a, int b) { if (a < 250 || (b ? 2 : 3) == a) return 1; return 0; }
int without_a_value(int c) { int x; if (c > 3) x = c; if (c > 3 && x == 9) return 1; return 0; }
int asserting(int a) { assert(a != 3); if (a > 5) return 1; return 0; }

/* What lasts, and what others change. */

int counts_calls(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }
int odd_number(int *p) { if ((uintptr_t)p & 1) return 1; return 0; }
int odd_character(char *p) { if ((uintptr_t)p & 1) return 1; return 0; }
int reads_twice(volatile int *p) { if (*p != *p) return 1; return 0; }

struct device { volatile uint32_t status, data; };
#define DEVICE ((struct device *)0x40011000)
int waits(int c)
{
    while (!(DEVICE->status & 0x80)) {}
    DEVICE->data = c;
    if (c == 3) return 1;
    return 0;
}

int sign_of_a_quotient(float a, float b)
{
    union { float f; unsigned i; } u;
    u.f = a / b;
    if (u.i >> 31) return 1;
    return 0;
}

/* Data of one's own next to a struct that others know. */

struct known { char kind; unsigned char *text; int count; struct { int x; } tail[]; };
struct own { int flags; struct own *next; };
int own_before(struct known *k)
{
    if (k->kind == 3) {
        struct own *o = (struct own *)((unsigned char *)k - sizeof(struct own));
        if (o->flags == 7 && o->next && o->next->flags == 8) return 1;
    }
    return k->count;
}
int own_behind(struct own *o)
{
    struct own *next = o + 1;
    struct known *k = (struct known *)next;
    if (k->kind == 3 && k->text[2] == 'x') return 1;
    if (k->count > 2 && k->tail[1].x == 77 && o->flags == 5) return 2;
    return o->next ? 3 : 4;
}
int own_tail(struct own *o, int i)
{
    struct known *k = (struct known *)(o + 1);
    if (o->flags > i && i >= 0 && k->tail[i].x == 5) return 1;
    return k->kind;
}

/* Stacks of pointers to structs that begin with a pointer, at any place. */
struct buffer { char *text; int column; };
struct scanner { size_t top; struct buffer **stack; char *at; };
int column_at_top(struct scanner *s)
{
    if (!(s->stack ? s->stack[s->top] : NULL)) return 0;
    if (s->stack[20] == s->stack[s->top] && s->top != 20) return 1;
    return s->stack[s->top]->column == 7 ? 2 : 3;
}
void pop_buffer(struct scanner *s)
{
    while (s->stack && s->stack[s->top]) {
        s->stack[s->top] = NULL;
        if (s->top > 0) s->top--;
    }
}

/* Links of a list lie within what is listed, and the head is a link, too. */
struct link { struct link *prev, *next; };
struct entry { int event; struct link link; int count; };
int count_entries(struct link *head, struct entry *first)
{
    struct entry *e = (struct entry *)((char *)head->next - offsetof(struct entry, link));
    if (head->next == head || head->prev == head->next) return 0;
    if (head->next == &first->link && e->event == 3 && first->count == 5) return 1;
    if (e->link.next == head) return 2;
    return 3;
}

/* A choice of pointers is compared with another pointer. */
int first_of_two(char *a, char *b, char *end, int which)
{
    char *p = which ? a : b;
    if (p < end && *p == 'x') return which ? 1 : 2;
    if (which && a == b) return 3;
    return 4;
}

/* A list of arguments is handed on: nobody writes through it. */
void put_line(const char *);
int log_line(const char *format, ...)
{
    char line[32];
    va_list list;
    va_start(list, format);
    int size = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    if (size < 0) return -1;
    if (size >= (int)sizeof line) return -2;
    put_line(line);
    return 0;
}

/* Addresses that lie in numbers, and pointers that are moved by numbers. */

unsigned long known_address;

int at_a_known_address(int *p, unsigned long other)
{
    if (*p == 3)
        return 0;
    return (unsigned long)p == known_address || (unsigned long)p + 24 == other;
}

struct priv {
    union {
        struct node *one;
        struct node **many;
    } nodes;
    int kind, count, done, status, offset;
};

int place_among_many(struct priv *priv, struct node *node)
{
    int at = 0;
    for (int i = 0; i < priv->count; i++) {
        if (priv->nodes.many[i] == node) {
            at = i + 1;
            break;
        }
    }
    if (at == 0)
        return -1;
    return node ? 1 : 2;
}

struct owned {
    int size;
    char *block;
};

int frees_what_was_made_before(struct owned *owned, unsigned long header)
{
    char *block = (char *)owned - header;
    if (block != owned->block)
        return 1;
    free(block);
    return 0;
}

int reads_before_it_grows(struct owned *owned, long from)
{
    if (!owned->block || owned->block[from] == 'x')
        return 0;
    owned->block = realloc(owned->block, 100);
    return owned->block ? from > 2 : 3;
}

/* Pointers in rows, at places that the input says. */

struct handlers {
    unsigned used;
    int (*of[8])(int);
    char *names[16];
};

int calls_the_handler(struct handlers *all, unsigned char event)
{
    if (event >= 8 || !all->of[event])
        return -1;
    if (all->of[event](3) == 4)
        return 1;
    return 0;
}

int counted;

int leads_to_a_global(int **row, unsigned char at)
{
    counted = 5;
    if (at >= 8 || !row[at])
        return 9;
    if (row[at] == &counted)
        return 1;
    if (*row[at] == 5)
        return 2;
    return 0;
}

int follows_one_of_two(int **row, unsigned at)
{
    int seen = 0;
    if (row[0] == &counted) {
        seen = *row[at & 1];
        if (at & 1)
            return 8;
        if (!row[1])
            seen++;
    }
    return seen;
}

int follows_where_chosen(int **row, unsigned at, int chosen, int *other)
{
    int *place = chosen ? row[at & 1] : other;
    int seen = *place;
    if (!chosen && !row[at & 1])
        seen++;
    return seen;
}

/* Behind `row[to] = &own` nothing else can hold 7 here. */
int stores_a_local(int **row, unsigned char to, unsigned char from, int store)
{
    int own = 7;
    int *old = row[from];
    if (store)
        row[to] = &own;
    if (row[from] != old && *row[from] != 8)
        return 1;
    return 0;
}

int names_an_entry(struct handlers *all, unsigned char to, unsigned char from)
{
    if (to >= 16 || from >= 16)
        return 2;
    all->names[to] = "abc";
    if (all->names[from] && all->names[from][0] == 'a' && all->names[from][3] == 'x')
        return 1;
    return 0;
}

/* Numbers that stand for pointers. */

void *map_memory(unsigned long size);

int maps(unsigned long size)
{
    void *area = map_memory(size);
    if (area == (void *)-1)
        return -1;
    return area != 0;
}

#define REMOVED ((char *)-2)

int finds_a_name(struct handlers *all, unsigned char from)
{
    for (unsigned at = from; at < 16; at++) {
        if (!all->names[at])
            return 0;
        if (all->names[at] == REMOVED)
            continue;
        if (all->names[at][0] == 'x')
            return 1;
    }
    return 2;
}

typedef void (*discard)(void *);
#define STATIC ((discard)0)
#define TRANSIENT ((discard)-1)

int binds(char *text, discard how)
{
    if (how != STATIC && how != TRANSIENT)
        how(text);
    return how == TRANSIENT;
}

/* Bytes behind the first element, at a distance of two parts. */

int in_the_second_channel(int samples[2][576], unsigned char n, unsigned char k)
{
    int const *right = samples[1];
    if (n < 100 || k < 100)
        return 2;
    right += n;
    right += k;
    if (right[0] == 5)
        return 1;
    return 0;
}

/* A part of a union that is read as a float has no address, whatever its bits are. */

struct value {
    int kind;
    union {
        char *text;
        double number;
    } of;
};

int kind_of_number(struct value *value)
{
    if (value->kind == 1)
        return value->of.text && value->of.text[0] == 'x';
    if (value->of.number != value->of.number)
        return 3;
    return value->of.number < 0;
}

/* The sum of an address and any number goes around; pointers that are compared do not. */

struct filled {
    char *bytes;
    unsigned long size, used;
};

int next_piece(int, struct filled *to);

int was_flushed(struct filled *to)
{
    char *before = to->bytes + to->used;
    int more = next_piece(to->size > 8, to);
    if (to->bytes + to->used < before)
        before = to->bytes;
    return more && *before == 'x';
}
