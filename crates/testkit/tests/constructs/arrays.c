/* No mutants: some read beside the arrays. */
static int last(int n, const int *from)
{
    int a[n];
    for (int i = 0; i < n && i < 4; i++)
        a[i] = from[i] * 2;
    if (n > 4)
        return 0;
    return a[n - 1];
}

int f(int x, int y, const int *a)
{
    if (x < 1 || x > 3)
        return 5;
    int m[x][2];
    m[x - 1][1] = y;
    if (last(x, a) == 66 && m[x - 1][1] > 1000)
        return (int)sizeof m;
    return 0;
}
