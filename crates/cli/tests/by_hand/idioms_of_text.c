/* Functions over texts, packets, numbers and states, as programs have them: each branch of each can be
   reached. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buf {
    char *data;
    size_t len, cap;
};
int appends(struct buf *b, const char *s, size_t n)
{
    if (b->len + n + 1 > b->cap) {
        size_t c = b->cap ? b->cap * 2 : 16;
        while (c < b->len + n + 1)
            c *= 2;
        char *d = realloc(b->data, c);
        if (!d)
            return -1;
        b->data = d;
        b->cap = c;
    }
    memcpy(b->data + b->len, s, n);
    b->len += n;
    b->data[b->len] = 0;
    return 0;
}

struct lex {
    const char *p, *end;
    int line;
};
int next_token(struct lex *l)
{
    while (l->p < l->end && isspace((unsigned char)*l->p)) {
        if (*l->p == '\n')
            l->line++;
        l->p++;
    }
    if (l->p == l->end)
        return 0;
    if (isalpha((unsigned char)*l->p) || *l->p == '_') {
        const char *s = l->p;
        while (l->p < l->end && (isalnum((unsigned char)*l->p) || *l->p == '_'))
            l->p++;
        return l->p - s == 2 && !memcmp(s, "if", 2) ? 2 : 1;
    }
    if (isdigit((unsigned char)*l->p)) {
        int v = 0;
        while (l->p < l->end && isdigit((unsigned char)*l->p)) {
            if (v > INT_MAX / 10)
                return -2;
            v = v * 10 + (*l->p++ - '0');
        }
        return v == 42 ? 5 : 3;
    }
    l->p++;
    return 4;
}

struct node {
    struct node *prev, *next;
    int v;
};
void links_behind(struct node *h, struct node *n)
{
    n->next = h->next;
    n->prev = h;
    h->next->prev = n;
    h->next = n;
    if (n->next == h)
        h->v++;
}

int removes_all(struct node *h, int v)
{
    struct node *n, *t;
    int c = 0;
    for (n = h->next; n != h; n = t) {
        t = n->next;
        if (n->v == v) {
            n->prev->next = n->next;
            n->next->prev = n->prev;
            free(n);
            c++;
        }
    }
    return c;
}

uint32_t checksum(const uint8_t *d, size_t n)
{
    uint32_t c = ~0u;
    while (n--) {
        c ^= *d++;
        for (int k = 0; k < 8; k++)
            c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    }
    return c == 0x12345678 ? 1 : ~c;
}

int is_utf8(const uint8_t *s, size_t n)
{
    size_t i = 0;
    while (i < n) {
        uint8_t c = s[i++];
        int k = c < 0x80 ? 0 : (c >> 5) == 6 ? 1 : (c >> 4) == 14 ? 2 : (c >> 3) == 30 ? 3 : -1;
        if (k < 0)
            return -1;
        while (k--)
            if (i >= n || (s[i++] & 0xc0) != 0x80)
                return -2;
    }
    return 0;
}

struct conf {
    char key[16];
    char val[16];
};
int sets_a_value(struct conf *c, int n, const char *line)
{
    const char *eq = strchr(line, '=');
    if (!eq || eq == line)
        return -1;
    size_t k = eq - line;
    if (k >= sizeof c->key)
        return -2;
    for (int i = 0; i < n; i++)
        if (strlen(c[i].key) == k && !strncmp(c[i].key, line, k)) {
            if (strlen(eq + 1) >= sizeof c->val)
                return -3;
            strcpy(c[i].val, eq + 1);
            return i;
        }
    return -4;
}

static int depth;
int nests(const char **s)
{
    if (**s != '(')
        return 0;
    if (++depth > 3) {
        depth = 0;
        return -1;
    }
    (*s)++;
    int n = 1;
    while (**s == '(') {
        int r = nests(s);
        if (r < 0)
            return r;
        n += r;
    }
    if (**s != ')')
        return -2;
    (*s)++;
    depth--;
    return n;
}

int kind_of_triangle(float a, float b, float c)
{
    if (a + b <= c || a + c <= b || b + c <= a)
        return 0;
    if (a == b && b == c)
        return 3;
    if (a == b || b == c || a == c)
        return 2;
    return 1;
}

typedef struct {
    int (*cmp)(const void *, const void *);
    void **v;
    int n;
} heap;
int sifts_up(heap *h, void *x)
{
    int i = h->n++;
    while (i > 0) {
        int p = (i - 1) / 2;
        if (h->cmp(h->v[p], x) <= 0)
            break;
        h->v[i] = h->v[p];
        i = p;
    }
    h->v[i] = x;
    return i;
}

int fills_from(unsigned char *m, int w, int h, int x, int y)
{
    if (x < 0 || y < 0 || x >= w || y >= h || !m[y * w + x])
        return 0;
    m[y * w + x] = 0;
    return 1 + (x + 1 < w && m[y * w + x + 1]) + (y + 1 < h && m[(y + 1) * w + x]);
}

int has_a_row(int a[3][3])
{
    for (int i = 0; i < 3; i++) {
        if (a[i][0] && a[i][0] == a[i][1] && a[i][1] == a[i][2])
            return a[i][0];
        if (a[0][i] && a[0][i] == a[1][i] && a[1][i] == a[2][i])
            return a[0][i];
    }
    return a[1][1] && ((a[0][0] == a[1][1] && a[1][1] == a[2][2]) ||
                       (a[0][2] == a[1][1] && a[1][1] == a[2][0]))
               ? a[1][1]
               : 0;
}

enum ev { EV_A, EV_B, EV_C, EV_N };
enum stt { S0, S1, S2, SN };
struct fsm {
    enum stt s;
    void *ctx;
};
static int act1(struct fsm *f)
{
    return f->ctx ? 1 : 0;
}

static int act2(struct fsm *f)
{
    f->ctx = 0;
    return 2;
}

static const struct {
    enum stt next;
    int (*act)(struct fsm *);
} T[SN][EV_N] = {{{S1, act1}, {S0, 0}, {S2, act2}},
                 {{S1, 0}, {S2, act1}, {S0, 0}},
                 {{S0, act2}, {S2, 0}, {S1, 0}}};
int dispatches(struct fsm *f, enum ev e)
{
    if (e >= EV_N || f->s >= SN)
        return -1;
    int r = 0;
    if (T[f->s][e].act)
        r = T[f->s][e].act(f);
    if (r != 1)
        f->s = T[f->s][e].next;
    return r;
}

int shortens_path(char *path, size_t n)
{
    char *s = path, *d = path;
    while (*s) {
        if (s[0] == '/' && s[1] == '/') {
            s++;
            continue;
        }
        if (s[0] == '/' && s[1] == '.' && (s[2] == '/' || !s[2])) {
            s += 2;
            continue;
        }
        *d++ = *s++;
    }
    *d = 0;
    return (size_t)(d - path) < n;
}

struct q {
    struct q *next;
    int pri;
};
int inserts_by_priority(struct q **h, struct q *n)
{
    while (*h && (*h)->pri >= n->pri)
        h = &(*h)->next;
    n->next = *h;
    *h = n;
    return n->next ? n->next->pri : -1;
}

int probes(uint16_t *tab, int n, uint16_t key)
{
    uint32_t i = key * 2654435761u >> 28;
    for (int k = 0; k < n; k++) {
        if (tab[(i + k) & 15] == key)
            return (i + k) & 15;
        if (!tab[(i + k) & 15]) {
            tab[(i + k) & 15] = key;
            return -1;
        }
    }
    return -2;
}

int swaps_links(struct node *a, struct node *b)
{
    struct node *t = a->next;
    a->next = b->next;
    b->next = t;
    if (a == b)
        return 1;
    if (a->next == a)
        return 2;
    return t == b;
}

int counts_comments(int argc, char *argv[])
{
    FILE *f;
    char line[64];
    int n = 0;
    if (argc < 2)
        return 1;
    f = fopen(argv[1], "r");
    if (!f)
        return 2;
    while (fgets(line, sizeof line, f))
        if (line[0] == '#')
            n++;
    fclose(f);
    return n > 1;
}

unsigned sums_differences(int8_t *p, int n)
{
    unsigned s = 0;
    int8_t last = 0;
    for (int i = 0; i < n; i++) {
        int8_t d = p[i] - last;
        last = p[i];
        s += d < 0 ? -d : d;
        if (d == -128)
            return 7;
    }
    return s;
}

struct s1 {
    unsigned a : 3, b : 5;
    signed c : 4;
    uint8_t d;
};
int compares_fields(struct s1 *s)
{
    if (s->c < -5 && s->a == 7)
        return 1;
    s->b += s->a;
    return s->b == 3;
}

union num {
    int64_t i;
    double d;
    char *s;
};
struct val {
    int tag;
    union num u;
};
int adds_values(struct val *v, int n)
{
    double t = 0;
    for (int i = 0; i < n; i++)
        switch (v[i].tag) {
        case 0:
            t += v[i].u.i;
            break;
        case 1:
            t += v[i].u.d;
            break;
        case 2:
            if (!v[i].u.s)
                return -1;
            t += atoi(v[i].u.s);
            break;
        default:
            return -2;
        }
    return t > 50;
}

static int state;
static char acc[8];
static int fill;
int collects_a_tag(char c)
{
    if (state == 0) {
        if (c == '<') {
            state = 1;
            fill = 0;
        }
        return 0;
    }
    if (c == '>') {
        state = 0;
        acc[fill] = 0;
        return strcmp(acc, "ok") == 0 ? 2 : 1;
    }
    if (fill < 7)
        acc[fill++] = c;
    else {
        state = 0;
        return -1;
    }
    return 0;
}

void *aligns(void *base, size_t n, size_t align)
{
    uintptr_t p = (uintptr_t)base;
    if (align & (align - 1))
        return 0;
    p = (p + align - 1) & ~(uintptr_t)(align - 1);
    if (p - (uintptr_t)base > n)
        return 0;
    return (void *)p;
}

struct chunk {
    size_t size;
    struct chunk *next;
};
static char arena[256];
static struct chunk *head;
void *allocates(size_t n)
{
    if (!head) {
        head = (struct chunk *)arena;
        head->size = sizeof arena - sizeof *head;
        head->next = 0;
    }
    for (struct chunk **p = &head; *p; p = &(*p)->next)
        if ((*p)->size >= n) {
            struct chunk *c = *p;
            *p = c->next;
            return c + 1;
        }
    return 0;
}

int prints_a_pair(const char *fmt, int a, const char *b)
{
    char out[32];
    int n = snprintf(out, sizeof out, fmt[0] == 'd' ? "%d-%s" : "%s:%d",
                     fmt[0] == 'd' ? (void *)(intptr_t)a : (void *)b, b, a);
    return n;
}

int prints_bounded(char *dst, size_t cap, const char *a, int b)
{
    int n = snprintf(dst, cap, "%s=%d;", a, b);
    if (n < 0)
        return -1;
    if ((size_t)n >= cap)
        return 1;
    return dst[n - 1] == ';' && dst[0] == 'x' ? 2 : 0;
}

bool sees_once(bool *seen, unsigned n, unsigned x)
{
    if (x >= n)
        return false;
    bool was = seen[x];
    seen[x] = true;
    return was;
}

struct mat {
    int r, c;
    float *v;
};
int multiplies(const struct mat *a, const struct mat *b, struct mat *o)
{
    if (a->c != b->r || o->r != a->r || o->c != b->c)
        return -1;
    for (int i = 0; i < a->r; i++)
        for (int j = 0; j < b->c; j++) {
            float s = 0;
            for (int k = 0; k < a->c; k++)
                s += a->v[i * a->c + k] * b->v[k * b->c + j];
            o->v[i * o->c + j] = s;
        }
    return o->r > 0 && o->c > 0 && o->v[0] > 1.0f;
}

int checks_a_packet(uint8_t *pkt, size_t len)
{
    if (len < 4)
        return -1;
    uint16_t n = pkt[0] << 8 | pkt[1];
    if (n > len - 4)
        return -2;
    uint16_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += pkt[4 + i];
    return sum == (pkt[2] << 8 | pkt[3]) ? 0 : -3;
}

struct list {
    struct list *next;
    char *key;
};
static struct list *all;
int interns(const char *k)
{
    for (struct list *l = all; l; l = l->next)
        if (!strcmp(l->key, k))
            return 1;
    struct list *n = malloc(sizeof *n);
    if (!n)
        return -1;
    n->key = strdup(k);
    if (!n->key) {
        free(n);
        return -2;
    }
    n->next = all;
    all = n;
    return 0;
}

int divides(long a, long b, long *r)
{
    if (b == 0)
        return -1;
    if (a == (-0x7fffffffffffffffL - 1) && b == -1)
        return -2;
    *r = a / b;
    return *r == 7 && a % b == 3;
}

int has_half_the_bits(uint32_t x)
{
    int n = 0;
    while (x) {
        x &= x - 1;
        n++;
    }
    return n == 16;
}

int is_a_date(int y, int m, int d)
{
    static const int t[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (m < 1 || m > 12 || d < 1)
        return 0;
    int k = t[m - 1] + (m == 2 && (y % 4 == 0 && (y % 100 != 0 || y % 400 == 0)));
    return d <= k;
}

char *trims(char *s)
{
    char *e;
    while (*s == ' ')
        s++;
    if (!*s)
        return s;
    e = s + strlen(s) - 1;
    while (e > s && *e == ' ')
        *e-- = 0;
    return s;
}

int matches(const char *p, const char *s)
{
    for (; *p; p++, s++) {
        if (*p == '*') {
            while (*p == '*')
                p++;
            if (!*p)
                return 1;
            for (; *s; s++)
                if (matches(p, s))
                    return 1;
            return 0;
        }
        if (*p != '?' && *p != *s)
            return 0;
        if (!*s)
            return 0;
    }
    return !*s;
}

int has_a_sum(int *a, int n, int k)
{
    int i = 0, j = n - 1;
    while (i < j) {
        int s = a[i] + a[j];
        if (s == k)
            return 1;
        if (s < k)
            i++;
        else
            j--;
    }
    return 0;
}

struct rb {
    struct rb *l, *r, *p;
    int red, k;
};
int black_height(struct rb *n)
{
    if (!n)
        return 1;
    if (n->red && ((n->l && n->l->red) || (n->r && n->r->red)))
        return 0;
    int a = black_height(n->l), b = black_height(n->r);
    if (!a || !b || a != b)
        return 0;
    return a + !n->red;
}

struct rb *rotates(struct rb *root, struct rb *x)
{
    struct rb *y = x->r;
    x->r = y->l;
    if (y->l)
        y->l->p = x;
    y->p = x->p;
    if (!x->p)
        root = y;
    else if (x == x->p->l)
        x->p->l = y;
    else
        x->p->r = y;
    y->l = x;
    x->p = y;
    return root;
}

int executes(uint8_t op, int8_t *stk, int sp)
{
    switch (op >> 4) {
    case 0:
        if (sp >= 8)
            return -1;
        stk[sp] = op & 15;
        return sp + 1;
    case 1:
        if (sp < 2)
            return -2;
        switch (op & 3) {
        case 0:
            stk[sp - 2] += stk[sp - 1];
            break;
        case 1:
            stk[sp - 2] -= stk[sp - 1];
            break;
        case 2:
            if (!stk[sp - 1])
                return -3;
            stk[sp - 2] /= stk[sp - 1];
            break;
        default:
            return -4;
        }
        return sp - 1;
    default:
        return -5;
    }
}

struct tok {
    const char *at;
    int line, kind;
    char text[16];
};
int scans_into_a_buffer(struct tok *t)
{
    while (isspace((unsigned char)*t->at)) {
        if (*t->at == '\n')
            t->line++;
        t->at++;
    }
    if (!*t->at)
        return t->kind = 0;
    int n = 0;
    if (isdigit((unsigned char)*t->at)) {
        while (isdigit((unsigned char)*t->at) && n < 15)
            t->text[n++] = *t->at++;
        t->text[n] = 0;
        return t->kind = 1;
    }
    if (isalpha((unsigned char)*t->at) || *t->at == '_') {
        while ((isalnum((unsigned char)*t->at) || *t->at == '_') && n < 15)
            t->text[n++] = *t->at++;
        t->text[n] = 0;
        return t->kind = 2;
    }
    t->text[0] = *t->at++;
    t->text[1] = 0;
    return t->kind = 3;
}
