/* Which kind of triangle three lengths make: the "trityp" of the testing literature. */

enum triangle {
    NOT_A_TRIANGLE = 0,
    SCALENE = 1,
    ISOSCELES = 2,
    EQUILATERAL = 3
};

static void put_in_order(int *smaller, int *larger)
{
    if (*smaller > *larger) {
        int kept = *smaller;
        *smaller = *larger;
        *larger = kept;
    }
}

/* The sides may come in any order. */
int trityp(int a, int b, int c)
{
    put_in_order(&a, &b);
    put_in_order(&b, &c);
    put_in_order(&a, &b);

    /* Now a <= b <= c. The sum is taken in long long, so that it cannot overflow. */
    if (a <= 0 || (long long)a + b <= c)
        return NOT_A_TRIANGLE;
    if (a == b && b == c)
        return EQUILATERAL;
    if (a == b || b == c)
        return ISOSCELES;
    return SCALENE;
}
