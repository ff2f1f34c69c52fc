/* Operators on numbers of every width and sign, with constants at the limits of their types. */
typedef unsigned char u8;
typedef unsigned long u64;
enum colour { RED, GREEN = 7, BLUE = -3 };
struct packed { int low : 3; unsigned high : 5, all : 32; unsigned long wide : 40; _Bool flag : 1; };

int narrow(signed char a, u8 b, short c, unsigned short d)
{
    static int calls;
    calls += a < b;
    if (a < b || c == d)
        calls++;
    if ((a ^ b) > 100 && (u8)(a + b) != 255)
        return calls - 1;
    a = c >> 3;
    b = ~b;
    return (a << 2) + (b / 3) * (c % 5 == 0 ? d : -d);
}

unsigned mixed(int i, unsigned u, long l, u64 n)
{
    if (i < u || l >= -9223372036854775807 - 1)
        i += u >> 1;
    if (n > 18446744073709551610u || l < 2147483648)
        u = i / 3 + n % 7;
    if (i == -2147483647 - 1 || u == 0xffffffff)
        return (u & 0xff00ff00) | (i & 0xff);
    n = (u64)i * u + (l << 3);
    l = -l + (long)(n >> 1);
    return u > 5 ? (unsigned)l : n ^ ~0ul;
}

int wide(__int128 w, unsigned __int128 v)
{
    if (w < -5 || v > 1000)
        return w * 3 == v;
    return (int)(w >> 3) + (int)(v << 2);
}

double floats(float f, double d, int i, unsigned u)
{
    if (f < d || f == 0.1f || d > 1e300)
        d = f * 2 + i;
    if (d != d || i / 2.0 > f)
        d = u - f / 3;
    i = d > 1e9 || d < -1e9 || d != d ? 0 : (int)d;
    return -d + i * 0.5f;
}

long double extended(long double x, double d)
{
    if (x > 9223372036854775809.0L || x < d)
        return x * 0.1L - d;
    return x + 1;
}

int members(int a, unsigned b, enum colour c)
{
    struct packed p = { a, b, b, b, a > 3 };
    struct { union { int whole; struct { short left, right; }; }; } u = { { a } };
    if (p.low < p.high || p.flag)
        p.wide = p.all - p.low;
    if (u.left > u.right && c == GREEN)
        u.whole += p.high;
    _Bool both = a > 2 == b < 9, one = (a & 4) ^ (b > 3);
    if ((a > 1) != both ^ one)
        return p.low + u.left;
    return p.wide > 5 ? c : u.whole;
}

long pointers(int *p, short *q, long n)
{
    int t[4][3] = { { 1 }, { 2, 3 } };
    int *at = &t[n & 3][1];
    if (p == 0 || *p > p[1])
        return at - t[0];
    if (at > t[1] && *q < *(char *)p)
        return *(at - 1) + t[n & 3][n & 1];
    return "text"[n & 3] == 't' ? q[n & 3] : ((char *)p)[n & 7];
}
