// What is a decision, and what its conditions are.

#include <stddef.h>

struct flags { unsigned on : 1, level : 3; double weight; };

//= function same
//= fc       1/1
static int same(int v)
{
    return v;
}

//= function denied
// `!` alone makes a value decision. denied(0).
//= test {"a": 0}
//= dc,cc    1/2
//= mcc      1/2
//= mcdc     0/1
//= bc       1/2
int denied(int a)
{
    return !a;
}

//= function hopeless
// The outcome is false whatever n is. What can be seen from the text alone to be false everywhere
// is no objective: it would be infeasible, and take no part in the percentage either.
//= test {"n": 5}
//= dc       1/1
//= cc       1/2
//= mcc      1/2
//= bc       1/2
//= gacc,cacc,racc,mcdc 0/0 -- n > 2 never decides
//= gicc     1/2 -- true and false, the outcome being false
//= ricc     0/1 -- two of the outcome false, of which F is missing
//= ic,utpc  1/1 -- the negation is constantly true: one implicant without literals
//= cutpnfp  0/0
//= stmt     2/3
int hopeless(int n)
{
    if (n > 2 && 0)
        return 1;
    return 0;
}

//= function compared
// A lone comparison that is used as a value is none.
//= test {"a": 1}
//= dc,cc,mcc,bc,gacc 0/0
//= cacc,racc,mcdc,ic,bva 0/0
int compared(int a)
{
    return a > 0;
}

//= function picked
// picked(1, 1), (0, 1): TT=T, Ft=F.
//= test {"a": 1, "b": 1}
//= test {"a": 0, "b": 1}
//= dc       2/2
//= cc       3/4 missing d0.c1 false
//= mcdc     1/2
//= bbc      5/5 -- the entry, b, two arms, the return
int picked(int a, int b)
{
    int x = (a && b) ? 3 : 4;
    return x;
}

//= function filled
// filled(0, 5), (1, 5): FT=T, T-=T.
//= test {"a": 0, "b": 5}
//= test {"a": 1, "b": 5}
//= dc       1/2 missing d0 false
//= cc       3/4 missing d0.c1 false
//= mcc      1/4 covered d0 FT
//= gacc     1/4 covered d0.c1 true decides -- in T- it is not known whether a decides
//= mcdc     0/2
int filled(int a, int b)
{
    int y = 0, x;
    x = a || (y = b);
    return x + y;
}

//= function chained
// The second `==` compares a truth value with a number: one condition. chained(1, 1, 1).
//= test {"a": 1, "b": 1, "c": 1}
//= dc,cc    1/2
//= mcc      1/2
//= bva      1/3 covered d0.c0 at the border
int chained(int a, int b, int c)
{
    if (a == b == c)
        return 1;
    return 0;
}

//= function parity
// parity(1, 1, 1), (0, 1, 1): TTT=T, FTT=F.
//= test {"a": 1, "b": 1, "c": 1}
//= test {"a": 0, "b": 1, "c": 1}
//= dc       2/2
//= cc       4/6
//= mcc      2/8
//= gacc     4/6
//= gicc,ricc 0/0
//= cacc,racc,mcdc 1/3
//= ic,utpc  2/8 -- four points where it is true, four where it is false, none beside another
//= cutpnfp  2/24 -- TTT and FTT, by the first, both ways
//= bva      4/9 -- b and c were 1, a was 1 and 0
int parity(int a, int b, int c)
{
    if ((a > 0) == (b > 0) == (c > 0))
        return 1;
    return 0;
}

//= function by_switch
// The operand of a switch is a value. by_switch(1, 1), (0, 0): TT=T, Ff=F.
//= test {"a": 1, "b": 1}
//= test {"a": 0, "b": 0}
//= dc       2/2
//= cc       4/4
//= mcc      2/4
//= bc       5/6 missing d0.c1 to false
int by_switch(int a, int b)
{
    switch (a && b) {
    case 1:
        return 3;
    }
    return 4;
}

//= function or_else
// An expression statement. or_else(1, 0), (0, 1): TF=F, F-=F.
//= test {"a": 1, "b": 0}
//= test {"a": 0, "b": 1}
//= dc       1/2 missing d0 true
//= cc       3/4 missing d0.c1 true
//= mcdc     0/2
//= fcc      1/1
//= stmt     2/2
int or_else(int a, int b)
{
    a && same(b);
    return 0;
}

//= function packed
// Bit-fields and a float as conditions. packed({1, 5, 0}), ({1, 0, 2}): TTF=F, TF-=F.
//= dc       1/2
//= cc       4/6 missing d0.c0 false; d0.c2 true -- what is not reached may trap
//= mcc      1/8 covered d0 TTF
//= bva      0/0
int packed(const struct flags *s)
{
    if (s->on && s->level && s->weight)
        return 1;
    return 0;
}

//= function until_equal
// until_equal(1, 2).
//= test {"a": 1, "b": 2}
//= dc,cc    2/2
//= mcdc     1/1
//= slo,mlo  0/1
//= elo      1/1
//= bva      2/3 missing d0.c0 just above
int until_equal(int a, int b)
{
    while (!(a == b))
        a++;
    return a;
}

//= function agree
// Coupled conditions, each variable twice. agree(1, 1), (0, 1): TTTt=T, FtFT=F.
//= test {"a": 1, "b": 1}
//= test {"a": 0, "b": 1}
//= dc       2/2
//= cc       6/8 missing d0.c1 false; d0.c3 false
//= mcc      2/16
//= gacc     4/8
//= cacc     1/4 covered d0.c0 decides
//= racc     0/4
//= mcdc     1/4 covered d0.c0 decides
//= short-circuit mcc 0/16
//= short-circuit racc 0/4 -- c0 and c2 differ, both reached
int agree(int a, int b)
{
    return (a && b) == (a || b);
}

//= function in_statement
// A statement expression. in_statement(1, 0).
//= test {"a": 1, "b": 0}
//= stmt     4/4
//= dc       1/2 missing d0 true
//= cc       2/4
int in_statement(int a, int b)
{
    int k = ({
        int t = a && b;
        t;
    });
    return k;
}

#define unlikely(x) __builtin_expect(!!(x), 0)

//= function hinted
// A hint is no operator. hinted(1, 1), (1, 0).
//= test {"a": 1, "b": 1}
//= test {"a": 1, "b": 0}
//= dc       2/2
//= cc       3/4 missing d0.c0 false
//= mcdc     1/2
int hinted(int a, int b)
{
    if (unlikely(a && b))
        return 1;
    return 0;
}

//= function two_in_one
// Decisions that are parts of one expression. two_in_one(1, 0): TF=F, Tf=T.
//= test {"a": 1, "b": 0}
//= stmt     1/1
//= dc       2/4
//= cc       4/8
//= mcc      2/8
int two_in_one(int a, int b)
{
    return (a && b) + (a || b);
}

//= function three_in_line
// Two uses of a macro on one line are decisions of their own. three_in_line(5, 20), (50, 20):
// TT=T; TF=F, TF=F, F.
//= test {"x": 5, "y": 20}
//= test {"x": 50, "y": 20}
//= dc       4/6
//= cc       6/10
#define INSIDE(v) ((v) > 0 && (v) < 10)
int three_in_line(int x, int y)
{
    return INSIDE(x) ? 1 : INSIDE(y) ? 2 : x < y ? 3 : 4;
}

int main(void)
{
    const struct flags one = { 1, 5, 0 }, two = { 1, 0, 2 };
    denied(0);
    hopeless(5);
    compared(1);
    picked(1, 1), picked(0, 1);
    filled(0, 5), filled(1, 5);
    chained(1, 1, 1);
    parity(1, 1, 1), parity(0, 1, 1);
    by_switch(1, 1), by_switch(0, 0);
    or_else(1, 0), or_else(0, 1);
    packed(&one), packed(&two);
    until_equal(1, 2);
    agree(1, 1), agree(0, 1);
    in_statement(1, 0);
    hinted(1, 1), hinted(1, 0);
    two_in_one(1, 0);
    three_in_line(5, 20), three_in_line(50, 20);
    return 0;
}
