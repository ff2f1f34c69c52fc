#include "check.h"

static int order;

static int step(int v)
{
    order = order * 10 + v;
    return v;
}

static int three(int a, int b, int c)
{
    return a * 100 + b * 10 + c;
}

static int *slot(int *p, int v)
{
    step(v);
    return p;
}

sum_t check_order_of_evaluation(void)
{
    sum_t h = 1;
    int a[8] = { 0 }, i = 2, j;
    order = 0;
    h = mix(h, three(step(1), step(2), step(3)));
    h = mix(h, step(4) + step(5) * step(6));
    h = mix(h, order);
    order = 0;
    *slot(a, 1) = step(2);
    slot(a, 3)[step(4)] = step(5);
    *slot(a + 1, 6) += step(7);
    h = mix(h, order);
    j = i++ + 5;
    h = mix(h, i * 10 + j);
    a[i++] = 7;
    a[--i] += 3;
    h = mix(h, a[3] + i);
    j = (i += 2) * 3;
    h = mix(h, j + i);
    i = j = a[0] = 6;
    h = mix(h, i + j + a[0]);
    j = (a[1] = 3, a[1] + 1) + (i -= 2);
    h = mix(h, j);
    int before = i;
    j = before + (before = 9) * 0 + before;
    h = mix(h, j);
    order = 3;
    j = order + step(1) + order;
    h = mix(h, j);
    int (*f)(int, int, int) = three;
    h = mix(h, f(i++, i++, i++) + (*f)(1, 2, 3) + (&three)(4, 5, 6) + (**f)(7, 8, 9));
    h = mix(h, i);
    return h;
}

sum_t check_statement_expressions(void)
{
    int n = 5;
    int v = ({ int t = n * 2; if (t > 4) t -= 1; t; }) + ({ n++; n; });
    sum_t h = mix(2, v);
#define MAX(a, b) ({ __typeof__(a) x_ = (a); __typeof__(b) y_ = (b); x_ > y_ ? x_ : y_; })
    h = mix(h, MAX(n++, MAX(3, v)) + n);
    for (int i = 0; i < 3; i++)
        h = mix(h, ({ int k; for (k = 0; k < i; k++) ; &k; }) != 0);
    ({ h = mix(h, 1); });
    return h;
}

volatile int device = 3;
static volatile struct { int a, b : 4; } port;

sum_t check_volatile(void)
{
    volatile int mine = device;
    sum_t h = 3;
    mine += device++;
    device = mine = mine * 2;
    h = mix(h, mine + device + device);
    port.a = 5;
    port.b = 3;
    port.b++;
    h = mix(h, port.a + port.b);
    if (device && mine > 3 || port.a)
        h = mix(h, 1);
    device;
    while (mine-- > 0)
        h = mix(h, mine);
    return h;
}

sum_t check_compound_literals(void)
{
    struct pair { int a, b; };
    sum_t h = 4;
    struct pair *kept[3];
    for (int i = 0; i < 3; i++) {
        struct pair *p = &(struct pair){ i, .b = i * i };
        p->a += 5;
        h = mix(h, p->a + p->b);
        kept[i] = p;
    }
    int *list = (int[]){ 3, 1, 2 };
    h = mix(h, list[0] + (int[4]){ 1, 2 }[1] + ((struct pair){ .b = 4 }).b + (int){ 6 });
    return mix(h, sizeof (int[7]){ 0 } + (kept[0] != 0));
}

sum_t check_effects_beside_an_expected_value(void)
{
    sum_t h = 9;
    for (int x = -1; x < 2; x++) {
        int z = 10;
        if (__builtin_expect(x ? x > 0 : 0, z++))
            h = mix(h, 7);
        if (__builtin_expect(x > 0 && z, 1))
            h = mix(h, 8);
        if (__builtin_expect_with_probability(x < 0 || z == 11, 1, 0.9))
            z += 3;
        h = mix(h, z);
    }
    return h;
}
