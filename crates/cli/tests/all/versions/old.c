int limit = 10;
static int calls;
struct point { int x, y; };
int sensor(int channel);

int same(int a) { return a * 2; }
int clamp(int a, int low, int high)
{
    if (a < low)
        return low;
    if (a > high)
        return high;
    return a;
}
int twice(int a) { return a + a; }
int above(int a) { return a > 5; }
int sum(const int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n && i < 3; i++)
        s += p[i];
    return s;
}
void swap(struct point *p) { int t = p->x; p->x = p->y; p->y = t; }
int count(void) { calls++; return calls; }
int divide(int a, int b) { if (b == 0) return 0; return a / b; }
int raise(int a) { if (a > limit) limit = a; return limit; }
int gone(void) { return 1; }
int typed(int a) { return a; }
int reading(int c) { int v = sensor(c); if (v < 0) v = sensor(c + 1); return v; }
int caller(int a) { return above(a) + 1; }
const int *first(const int *p, int n) { for (int i = 0; i < n; i++) if (p[i] > 0) return p + i; return 0; }
