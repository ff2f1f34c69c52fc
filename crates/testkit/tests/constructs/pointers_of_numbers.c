/* Mutants of a number that a pointer is made of: their values are converted to the number's type. */
int f(int x, int y, const int *a)
{
    int b[4] = { 1, 2, 3, x };
    int *p = b + (y & 3);
    if (p == (int *)((unsigned long)b + 8))
        return a[0];
    return x;
}
