// Values: weak mutants, run-time errors, classes of inputs.

#include <limits.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

//= function add
//= test {"a": 3, "b": 5}
// add(3, 5).
//= wm       22/25 missing 3x ABS abs
//=     -- seven insertions for each of a, b and a + b: abs, -abs, -, ~, !, +1, -1; four AOR
//= rte      0/1
//= idc      2/10
int add(int a, int b)
{
    return a + b;
}

//= function below
//= test {"x": 10}
// below(10).
//= wm       10/19 +2 duplicates
//=     -- x: 7, of which -abs, -, ~, ! and -1 make it smaller; 10: 0, 1, -1, none of which is above
//=     10; ROR: <=, >=, == and true, not >, != and false; each return has two mutants that differ
//=     wherever it is passed, so their predicates are one
//= idc      1/5 covered x positive
//= bva      1/3 covered d0.c0 at the border
//= rte      0/0
int below(int x)
{
    if (x < 10)
        return 1;
    return 0;
}

//= function mask
//= test {"u": 4}
// mask(4): 4 | 16.
//= wm       31/36 missing 2x UOI +1; CRO 12 -> -1; CRO 2 -> -1; LOR | -> ^
//=     -- five insertions each (unsigned: no ABS) for u, u & 12, u, u << 2 and the whole; 3 + 3 CRO,
//=     2 + 2 LOR, one SOR. A shift by -1 traps: no value. 5 & 12 is 4, 5 << 2 | 4 is 20.
//= rte      0/0
//= idc      1/3 covered u positive
unsigned mask(unsigned u)
{
    return (u & 12u) | (u << 2);
}

//= function assign
//= test {"a": 4, "b": -2}
// assign(4, -2).
//= wm       20/23 missing ABS abs; 2x ABS -abs
//=     -- a, b and the returned c seven each; c = b to b or a (Theorem 2 of [000])
//= idc      2/10 covered a positive; b negative
int assign(int a, int b)
{
    int c = a;
    c = b;
    return c;
}

//= function promoted
//= test {"c": 1}
// promoted(1).
//= wm       19/21 missing 2x ABS abs -- the promoted value, 2, the product
//= rte      0/1 -- multiplication
//= idc      1/5
int promoted(signed char c)
{
    return c * 2;
}

//= function half
// half(4).
//= wm       15/18 missing 2x ABS abs; AOR / -> - -- no ~ and no % of floats
//= rte      0/0 -- a float division has a result
//= idc      1/6 covered d positive
double half(double d)
{
    return d / 2.0;
}

//= function at
// at(row + 3, 1), the elements before and after being there.
//= wm       12/14 missing 2x ABS abs -- the index and the element
//= rte      0/1
//= idc      2/7 covered p not null; i positive
int at(const int *p, int i)
{
    return p[i];
}

//= function band
//= test {"x": 5, "low": 5}
// band(5, 5).
//= wm       18/44 +5 duplicates
//=     -- low 1 of 7, x 5 of 7, ROR 4 of 7 (<, >, !=, false); x 0 of 7, 9 3 of 3, ROR 4 of 7 (>, >=,
//=     ==, false); COR 1 of 5 (false); returns 3 of 6: 21 of 49. Duplicates: two mutants of either
//=     return, and && to false, which is the first comparison to false, both `c0 && c1`. Those
//=     whose predicates are equal but not the same, as `c1 && c0`, count each.
//= bva      1/6 covered d0.c0 at the border
//= rte      0/0
int band(int x, int low)
{
    if (low <= x && x <= 9)
        return 5;
    return 6;
}

//= function sum_into
// sum_into(2, 3).
//= test {"x": 2, "y": 3}
//= wm       29/33 missing 4x ABS abs
//=     -- seven each for x, y, the sum and the return; four AOR; x replaced by y
//= idc      2/10
//= rte      0/1
int sum_into(int x, int y)
{
    x = x + y;
    return x;
}

//= function bump
// bump(4): `++` becomes `--` and nothing else; x, x + 1 and the return seven each.
//= test {"x": 4}
//= wm       19/22 missing 3x ABS abs
//= idc      1/5
int bump(int x)
{
    x++;
    return x;
}

//= function add_into
// add_into(2, 3): `+=` as in sum_into, `--` as in bump; the variable of either replaced by the other.
//= test {"x": 2, "y": 3}
//= wm       43/49 missing 6x ABS abs -- 7 x, 7 y, 7 the sum, 4 AOR, LHS; 7 y, 7 y - 1, AOR, LHS; 7
int add_into(int x, int y)
{
    x += y;
    y--;
    return x;
}

//= function narrow
// narrow(4, 6): x stays 4, and `y &= y` would leave y as it is.
//= test {"x": 4, "y": 6}
//= wm       21/31 missing 4x ABS abs; ABS -abs; UOI -; 2x UOI +1; UOI -1; LHS x -> y
//=     -- x 3 of 7 (-4 & 6 and 5 & 6 are 4, too), y 4 of 7 (7 & 4 and 5 & 4 are 4), x & y 6 of 7, LOR
//=     2 of 2, the return 6 of 7
int narrow(int x, int y)
{
    x &= y;
    return x;
}

//= function put
// put(room + 2, 1, 5): where the address differs something else is written.
//= wm       12/14 missing 2x ABS abs -- the index and the value
//= idc      3/12 covered p not null; i positive; v positive
//= rte      0/1
void put(int *p, int i, int v)
{
    p[i] = v;
}

//= function quotient
// quotient(1, 0) in a process of its own.
//= rte      1/2 missing division overflows
//= idc      2/10 covered a positive; b zero
int quotient(int a, int b)
{
    return a / b;
}

//= function share
//= test {"a": 4, "b": 2}
// share(4, 2).
//= rte      0/1
//= idc      2/6
unsigned share(unsigned a, unsigned b)
{
    return a / b;
}

//= function left
//= test {"a": 1, "n": 40}
// left(1, 40): whether bits are lost is not known where the shift has no value.
//= rte      1/2 missing left shift overflows
int left(int a, int n)
{
    return a << n;
}

//= function element
//= test {"i": 0}
//= test {"i": 4}
// element(0), element(4).
//= rte      1/1
//= idc      2/5
int element(int i)
{
    int t[4] = { 1, 2, 3, 4 };
    return t[i];
}

//= function truncated
// truncated(3e9).
//= rte      1/1
//= idc      1/6
int truncated(double d)
{
    return (int)d;
}

//= function minus
// minus(INT_MIN).
//= rte      1/1
//= idc      1/5 covered a least
int minus(int a)
{
    return -a;
}

//= function load
// load(NULL) in a process of its own.
//= rte      1/1
//= idc      1/2 covered p null
int load(const int *p)
{
    return *p;
}

//= function product
//= test {"a": 65536, "b": 65536}
// product(65536, 65536).
//= rte      1/1
int product(int a, int b)
{
    return a * b;
}

enum colour { RED, GREEN, BLUE = 5, CYAN = 5 };

//= function flags
// flags(1, GREEN, LLONG_MIN), flags(0, 7, 0).
//= idc      6/11 missing c RED; c BLUE; l negative; l positive; l greatest
//= rte      0/0
int flags(_Bool b, enum colour c, long long l)
{
    return b && c == GREEN && l < 0;
}

struct pair { int x, y; };

//= function whole
// whole({0, 0}, 1). A structure has no classes.
//= idc      1/5 covered n positive
int whole(struct pair p, int n)
{
    return p.x + n;
}

int main(void)
{
    static const int row[] = { 1, 2, 3, 7, 8, 9 };
    const int *volatile nowhere = NULL;
    volatile int zero = 0, sink = 0;
    int room[5] = { 0 };
    add(3, 5);
    below(10);
    mask(4);
    assign(4, -2);
    promoted(1);
    half(4);
    at(row + 3, 1);
    band(5, 5);
    sum_into(2, 3);
    bump(4);
    add_into(2, 3);
    narrow(4, 6);
    put(room + 2, 1, 5);
    share(4, 2);
    left(1, 40);
    element(0), element(4);
    truncated(3e9);
    minus(INT_MIN);
    product(65536, 65536);
    flags(1, GREEN, LLONG_MIN), flags(0, (enum colour)7, 0);
    whole((struct pair){ 0, 0 }, 1);
    if (fork() == 0) {
        sink = quotient(1, zero);
        _exit(0);
    }
    wait(NULL);
    if (fork() == 0) {
        sink = load(nowhere);
        _exit(0);
    }
    wait(NULL);
    return sink;
}
