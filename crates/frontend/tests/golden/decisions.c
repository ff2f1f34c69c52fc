int f(int);
extern int g;

int and_or(int a, int b, int *p)
{
    if (a > 0 && (b < 3 || !p) && *p == 7)
        return 1;
    return 0;
}

int values(int a, int b)
{
    int ok = a && b;
    int no = !a;
    int lone = a < b;
    return ok + no + lone;
}

int boolean_equality(int a, int b)
{
    if ((a > 0) == (b > 0))
        a++;
    if ((a > 0) ^ f(b > 1))
        b++;
    return (a < 3) & !b;
}

int expected(int a, int b)
{
    if (__builtin_expect(!!(a && b), 0))
        return -1;
    while (__builtin_expect(f(a), 1))
        a--;
    return a;
}

int constants(int a)
{
    if (sizeof(int) == 4)
        a++;
    if (a && 1)
        a += 2;
    if (a || 1)
        a += 3;
    while (1) {
        if (a++ > 10)
            break;
    }
    return a;
}

int choices(int a, int b)
{
    int x = a > b ? a : f(b);
    if (a ? b > 1 : g)
        x = (a && b) ? 1 : 0;
    return x;
}

int effects(int a)
{
    int c;
    if ((c = f(a)) > 0 && (a--, c))
        return c;
    a && f(a);
    return f(c++) + c * f(2);
}
