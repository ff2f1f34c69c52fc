/* The same as text, for the most part. */
int limit = 10;
static int calls;
struct point { int x, y; };
int sensor(int channel);

int same(int a) { return a * 2; /* doubled */ }
int clamp(int a, int low, int high)
{
    int r = a;
    if (r > high)
        r = high;
    if (a < low)
        r = low;
    return r;
}
int twice(int a) { return a << 1; }
int above(int a) { return a >= 5; }
int sum(const int *p, int n)
{
    int s = 0, i = 0;
    while (i < n) {
        if (i >= 3)
            break;
        s += p[i];
        i++;
    }
    return s;
}
void swap(struct point *p) { int t = p->x; p->x = p->y; p->y = t + (t == 77); }
int count(void) { calls += 1; return calls; }
int divide(int a, int b) { return a / b; }
int raise(int a) { if (a >= limit) limit = a; return limit; }
int fresh(void) { return 1; }
int typed(long a) { return a; }
int reading(int c) { int v = sensor(c); if (v <= 0) v = sensor(c + 1); return v; }
int caller(int a) { return above(a) + 1; }
const int *first(const int *p, int n) { for (int i = 0; i < n; i++) if (p[i] > 0) return p + i; return p; }
