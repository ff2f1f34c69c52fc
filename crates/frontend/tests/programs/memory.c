#include "check.h"

struct point { short x; int y; };
struct shape { char tag; struct point at[3]; union { int i; float f; char c[8]; } u; struct shape *next; };

static struct point swap(struct point p)
{
    short x = p.x;
    p.x = p.y;
    p.y = x;
    return p;
}

static struct point add(struct point a, struct point b)
{
    return (struct point){ a.x + b.x, a.y + b.y };
}

struct big { long v[6]; };

static struct big grow(struct big b, int by)
{
    for (int i = 0; i < 6; i++)
        b.v[i] += by * i;
    return b;
}

sum_t check_structs(void)
{
    sum_t h = 1;
    struct point p = { 3, 70000 }, q = swap(p), *r = &q;
    h = mix(h, p.x + q.x + q.y);
    p = add(swap(p), *r);
    h = mix(h, p.x * 3 + p.y);
    struct shape s = { 'a', { { 1, 2 }, [2] = { .y = 9 } }, .u.f = 2.5f }, t;
    s.next = &t;
    t = s;
    t.at[1] = p;
    t.at[t.at[0].x].y += 5;
    s.next->u.i ^= 0x55;
    h = mix(h, t.u.i + s.u.c[3] + s.next->at[1].y + sizeof s + (s.next == &t));
    h = mix(h, swap(t.at[1]).x + add(p, q).y);
    struct big b = { { 1, 2, 3, 4, 5, 6 } }, c;
    c = b = grow(grow(b, 3), -7);
    for (int i = 0; i < 6; i++)
        h = mix(h, b.v[i] ^ c.v[5 - i]);
    struct point chosen = h & 1 ? p : q;
    h = mix(h, chosen.y + (h & 2 ? add(p, p) : q).x);
    return mix(h, ({ struct point z = p; z.x++; z; }).x);
}

sum_t check_pointers(void)
{
    sum_t h = 2;
    int a[10], *p = a, *end = a + 10;
    for (int i = 0; p < end; i += 3)
        *p++ = i * i;
    h = mix(h, p - a);
    while (p > a)
        h = mix(h, *--p);
    p += 4;
    *p++ += 2;
    (*p)++;
    ++*p;
    *p-- -= 7;
    h = mix(h, p - a + *p + p[1] + p[-1] + 2[a]);
    int **pp = &p;
    **pp = 12;
    ++*pp;
    h = mix(h, **pp + (p == a + 5) + (p != &a[5]) + !p);
    char *bytes = (char *)a;
    for (unsigned i = 0; i < sizeof a; i++)
        h = mix(h, bytes[i]);
    int grid[3][4] = { { 1, 2, 3, 4 }, { 5 }, { 0, 0, 9 } };
    int (*row)[4] = grid;
    row++;
    h = mix(h, (*row)[0] + row[1][2] + grid[0][3] + *(*(grid + 2) + 2));
    h = mix(h, &grid[2][1] - &grid[0][0]);
    long offset = (char *)&row[1][1] - (char *)grid;
    void *raw = grid;
    h = mix(h, offset + *(int *)((char *)raw + 4) + ((unsigned long)raw % 4));
    const char *text = "some text" + 5;
    h = mix(h, *text + text[3] + text[4] + "abc"[1]);
    return mix(h, (row ? 1 : 2) + (&a[3] < &a[4] && &a[3] <= &a[3]));
}

sum_t check_unions(void)
{
    union { unsigned u; unsigned char c[4]; short s[2]; struct { char a, b; } ab; } v = { 0x12345678 }, w;
    sum_t h = mix(3, v.c[0] + v.c[3] * 256 + v.s[1] + v.ab.b);
    v.c[2] = 0xee;
    w = v;
    w.ab.a++;
    return mix(h, v.u + w.u);
}

sum_t check_flexible_arrays(void)
{
    static struct { int n; char text[]; } flexible = { 4, "flex" };
    static long room[4];
    struct list { int count; short items[]; } *list = (void *)room;
    list->count = 5;
    sum_t h = 4;
    for (int i = 0; i < list->count; i++)
        list->items[i] = i * 7;
    for (int i = 0; i < list->count; i++)
        h = mix(h, list->items[i]);
    return mix(h, flexible.text[flexible.n - 1] + sizeof *list);
}

sum_t check_offsets(void)
{
    struct packed { char c; int i; } __attribute__((packed)) p = { 1, 2 };
    struct outer { char a; struct { long b; struct point c[4]; }; } o = { .b = 5 };
    o.c[2].y = 6;
    sum_t h = mix(5, sizeof p + __builtin_offsetof(struct packed, i) * 16);
    h = mix(h, __builtin_offsetof(struct outer, c[2].y) + o.b + p.i);
    return mix(h, *(int *)((char *)&o + __builtin_offsetof(struct outer, c[2].y)));
}
