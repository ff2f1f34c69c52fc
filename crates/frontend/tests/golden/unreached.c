static const int table[4] = { 5, 0, 7, 0 };

int traps_on_some_states(int a, int b, int i)
{
    if (a && (b >> i & 1))
        return 1;
    return b > 0 && table[i] / b > 1;
}

int operators_inside(int a, int b)
{
    if (a < 250 || (b ? 2 : 3) == a)
        return 1;
    return a > 1 && (b && a / b > 1) + 1 == 2;
}

int through_a_pointer(const int *p)
{
    return p && *p > 3;
}

int not_assigned_on_every_way(int c)
{
    int x;
    if (c > 3)
        x = c;
    return c > 3 && x == 9;
}
