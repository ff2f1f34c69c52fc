/* Mutants of a number that a pointer is made of: their values are converted to the number's type. */
int f(int x, unsigned char c)
{
    int a[4] = { 1, 2, 3, x };
    int *p = a + (c & 3);
    if (p == (int *)((unsigned long)a + 8))
        return 1;
    if ((char *)((unsigned long)p - 4) < (char *)a)
        return 2;
    return *(int *)((unsigned long)a + (c & 1) * 4);
}
