// Conditions that evaluation does not reach, and what they are on the state there.

static const int table[4] = { 5, 0, 7, 0 };

//= function bit
// Rows: a T and bit T, T F; then a F with bit 1, a F with a shift that is too far: unknown.
//= cc   4/4
//= mcc  3/4 missing d0 FF
//= gacc 4/4 -- bit(0, 2, 1): the bit would be 1
//= cacc 2/2
//= short-circuit mcc  2/4
//= short-circuit gacc 4/4
int bit(int a, unsigned b, int i)
{
    return a && ((b >> i) & 1);
}

//= function ratio
// Rows: (1, 4, 2) T T, (1, 1, 2) T F; (0, -9, -3): F T; (0, 1, 0) and (0, INT_MIN, -1): unknown.
//= mcc  3/4 missing d0 FF
//= gacc 4/4
int ratio(int go, int a, int b)
{
    return go && a / b > 1;
}

//= function element
// Rows: i = 0: T T, 1: T F, 3 without go: F F, 4 and -1 without go: unknown.
//= mcc  3/4 missing d0 FT
//= gacc 3/4
int element(int go, int i)
{
    return go && table[i] != 0;
}

//= function inside
// Rows: (250, 1): F F, where the choice is evaluated with b true. (2, 1): T T, as the choice would
// be 2; (9, 0): T F, as it would be 3.
//= mcc  4/6 missing d0 FT; d1 F -- b is tested only where the first condition is false
//= gacc 4/6
int inside(int a, int b)
{
    if (a < 250 || (b ? 2 : 3) == a)
        return 1;
    return 0;
}

//= function unset
// Where c is at most 3 nothing was assigned, so that x == 9 is unknown.
//= mcc  4/6 missing d1 FT; d1 FF
//= gacc 5/6
int unset(int c)
{
    int x;
    if (c > 3)
        x = c;
    if (c > 3 && x == 9)
        return 1;
    return 0;
}

static int get(int c, int *p)
{
    if (c < 3)
        return 1;
    *p = c;
    return 0;
}

//= function fetched
//= mcc  2/4 missing d0 FT; d0 FF
//= gacc 3/4
int fetched(int c)
{
    int x;
    return get(c, &x) == 0 && x == 9;
}

int main(void)
{
    bit(1, 2, 1), bit(1, 2, 0), bit(0, 2, 1), bit(0, 2, 32), bit(0, 2, -1);
    ratio(1, 4, 2), ratio(1, 1, 2), ratio(0, -9, -3), ratio(0, 1, 0);
    ratio(0, -2147483647 - 1, -1);
    element(1, 0), element(1, 1), element(0, 3), element(0, 4), element(0, -1);
    inside(250, 1), inside(2, 1), inside(9, 0);
    unset(9), unset(5), unset(0);
    fetched(9), fetched(5), fetched(0);
    return 0;
}
