int f(int x, int y, const int *a)
{
    if (x < 1 || x > 6)
        return -1;
    int *copy = __builtin_alloca((unsigned long)x * sizeof *copy);
    for (int i = 0; i < x && i < 4; i++)
        copy[i] = a[i] ^ y;
    if (x == 3 && copy[2] == 1234)
        return 1;
    return copy[0] == 5;
}
