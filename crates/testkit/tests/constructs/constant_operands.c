static int step(int *count)
{
    return ++*count;
}

/* Operators that evaluate both sides, one side or its result being constant. */
int f(int x, int y, const int *a)
{
    int count = 0, r = 0;
    if (((2 <= 0) != 0) & ((x != 4) != 0))
        r += 1;
    if (((1 != 0) | (x > 3)) && y > 2)
        r += 2;
    if ((((a[0] > 1) & 0) && y > 7) || x == 5)
        r += 4;
    if ((((x > y) | 1) ? (step(&count) > 1) : (y == 9)) || a[1] == 2)
        r += 8;
    r += ((0 & (y > 3)) == !(x < 2)) ? 16 : 32;
    return r + count;
}
