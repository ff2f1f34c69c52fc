struct point { int x, y; };
struct flags { unsigned a : 3, b : 7; int c : 5; _Bool d : 1; };
struct node { struct node *next; struct point at; char name[8]; };
struct point make(int x, int y);
extern int table[];
static const char *const names[] = { "one", "two" };

int pointers(int *p, int *q, long n)
{
    p += n;
    *p++ = 3;
    *--q -= 4;
    p[n + 1] = q[2];
    return p - q + (p < q) + *(p - 1);
}

int members(struct node *n, int i)
{
    n->next->at.x = i;
    n->name[i] = 'x';
    n->at = make(1, i);
    struct point local = n->at;
    local.x += make(i, 2).y;
    return local.x + n->name[3];
}

int bit_fields(struct flags *f, int v)
{
    f->a = v;
    f->c += 3;
    int got = f->b = v + 1;
    f->d = v;
    return got + f->c++;
}

double mixed(float a, double b, int i, unsigned char c)
{
    c += a;
    c++;
    i *= b;
    i <<= c;
    return a * b + i + (long)b % 7;
}

int initialisers(int a)
{
    int array[5] = { a, [3] = a + 1 };
    struct node n = { .at = { 1, a }, .name = "ab" };
    struct point *p = &(struct point){ a, 2 };
    static int calls = 3;
    calls++;
    return array[3] + n.at.y + p->x + calls + names[1][0] + sizeof array;
}

volatile int device;

int volatiles(void)
{
    volatile int mine = device;
    mine += device * 2;
    return mine + mine;
}

int statement_expression(int a)
{
    return ({ int t = a * 2; t + 1; }) + 3;
}

int indirect(int (*op)(int, int), int a, int b)
{
    a += op(a++, b);
    return (*op)(a, b) ?: 7;
}

int checked(int a, int b)
{
    int sum;
    if (__builtin_add_overflow(a, b, &sum))
        return -1;
    return sum + table[2];
}
