// Decisions. `T` and `F` are values of conditions that evaluation reached, `t` and `f` of those
// that it did not reach and that have a value on the state all the same, `-` is no value. A row is
// the conditions from left to right with the outcome.

#include <stddef.h>

struct pair { int x, y; };

//= function both
//= test {"a": 1, "b": 1}
//= test {"a": 1, "b": 0}
// Rows of both(1, 1), both(1, 0): TT=T, TF=F.
//= fc      1/1
//= stmt    3/3
//= bbc     4/4 -- the entry with `a`; `b`; one for each return
//= bc      3/4 missing d0.c0 to false
//= dc      2/2
//= cc      3/4 missing d0.c0 false
//= dcc     5/6 missing d0.c0 false
//= mcc     2/4 missing d0 FT; d0 FF
//= gacc    3/4 missing d0.c0 false decides
//= gicc    1/8 covered d0.c0 true idle, d0 false -- TF: `a` is idle where `b` is false
//= cacc    1/2 missing d0.c0 decides
//= racc    1/2 missing d0.c0 alone decides
//= mcdc    1/2 missing d0.c0 decides
//= ricc    0/4
//= ic      2/3 missing !d0 !c0 -- ab; the negation is !a + !b
//= utpc    2/3 missing !d0 !c0 alone
//= cutpnfp 2/4 covered d0 c0 c1 by c1; !d0 !c1 by c1 -- TT with TF and back; FT was not seen
//= bva     0/0 -- what C tests against 0 is no relational condition
//= wm      12/15 +2 duplicates missing UOI ~; UOI +1; COR && -> right
//=     -- `a` and `b` each ~, +1, -1 and !; five of &&; 1 and 0 each to two other constants.
//=     `a` is 1 throughout: ~a and a+1 are true as well; && to `b` is no difference on TT, TF
//= idc     3/10 covered a positive; b positive; b zero
//= rte     0/0
//= fcc     0/0
//= short-circuit mcc 2/4 missing d0 FT; d0 FF
//= short-circuit cacc,racc,mcdc 1/2
//= short-circuit gacc 3/4 missing d0.c0 false decides
int both(int a, int b)
{
    if (a && b)
        return 1;
    return 0;
}

//= function effect
//= test {"n": 0, "k": 9}
//= test {"n": 1, "k": 0}
//= test {"n": 5, "k": 0}
// Side effects in conditions: neither has a value where it is not reached.
// Rows of effect(0, 9), effect(1, 0), effect(5, 0): F-=F, TF=F (n 2, k 2), TT=T (n 6, k 6).
//= fc      1/1
//= stmt    3/3
//= bbc     4/4
//= bc      4/4
//= dc      2/2
//= cc      4/4
//= dcc     6/6
//= mcc     2/4 missing d0 FT; d0 FF -- in F- the second has no value
//= gacc    3/4 missing d0.c0 false decides -- whether it decides hangs on the second's value
//= gicc    1/8 covered d0.c0 true idle, d0 false
//= cacc    1/2 missing d0.c0 decides
//= racc    1/2 missing d0.c0 alone decides
//= mcdc    2/2 -- a mark does not ask for what was not reached: Table I of [003]
//= ricc    0/4 -- F- and TF would have to agree on the second
//= ic      3/3 -- !a is true in F-, whatever b
//= utpc    2/3 missing !d0 !c0 alone -- that !b is false is not known in F-
//= cutpnfp 2/4 covered d0 c0 c1 by c1; !d0 !c1 by c1
//= bva     3/6 missing d0.c0 just outside; d0.c1 at the border; d0.c1 just inside
//=     -- n of `n++ > 0` was 0, 1, 5; k of `(k += n) > 3` was 2, 6
//= short-circuit cacc,racc,mcdc 2/2 -- TT and F- differ in the first, the second is free
//= short-circuit gacc 4/4
//= short-circuit ricc 1/4 covered d0.c0 alone idle, d0 false -- TF and F-
//= short-circuit mcc 2/4
int effect(int n, int k)
{
    if (n++ > 0 && (k += n) > 3)
        return k;
    return n;
}

//= function coupled
//= test {"x": 2}
//= test {"x": 5}
//= test {"x": 15}
//= test {"x": 20}
// Coupled conditions: x > 3, x < 10 and x == 20 are never FF anything, nor TTT.
// Rows of coupled(2), (5), (15), (20): FtF=F, TTf=T, TFF=F, TFT=T.
//= stmt    3/3
//= bbc     5/5
//= bc      6/6
//= dc      2/2
//= cc      6/6
//= dcc     8/8
//= mcc     4/8 covered d0 FTF; d0 TTF; d0 TFF; d0 TFT
//= gacc    6/6
//= gicc    5/12 covered d0.c0 true idle, d0 true; d0.c0 true idle, d0 false;
//=     d0.c1 true idle, d0 false; d0.c1 false idle, d0 true; d0.c2 false idle, d0 true
//=     -- c0 idle in TFF, TFT; c1 idle in FtF, TFT; c2 idle in TTf
//= cacc,racc,mcdc 3/3 -- TTf with FtF, TTf with TFF, TFT with TFF
//= ricc    0/6
//= ic      4/4 -- c0 c1 + c2; !c0 !c2 + !c1 !c2
//= utpc    4/4
//= cutpnfp 6/7 missing !d0 !c0 !c2 by c2 -- FTT would be needed
//= bva     2/9 covered d0.c0 just outside; d0.c2 at the border
//= short-circuit mcc 2/8 covered d0 TFF; d0 TFT
//= short-circuit cacc,racc,mcdc 3/3
int coupled(int x)
{
    if ((x > 3 && x < 10) || x == 20)
        return 1;
    return 0;
}

//= function same_int
//= test {"a": 1, "b": 1, "c": 1}
//= test {"a": 0, "b": 1, "c": 0}
//= test {"a": 5, "b": 0, "c": 1}
// `a` is a number, not a Boolean expression: `==` is no Boolean operator, `b && c` is the decision.
// Rows of same_int(1, 1, 1), (0, 1, 0), (5, 0, 1): TT=T, TF=F, Ft=F.
//= stmt    1/1
//= bc      4/4
//= dc      2/2
//= cc      4/4
//= dcc     6/6
//= mcc     3/4 missing d0 FF
//= gacc    4/4
//= gicc    2/8 covered d0.c0 true idle, d0 false; d0.c1 true idle, d0 false
//= cacc,racc,mcdc 2/2
//= ricc    0/4
//= ic,utpc 3/3
//= cutpnfp 4/4
//= bva     0/0 -- a comparison that is used as a value is no condition
//= short-circuit mcc 2/4 missing d0 FT; d0 FF
//= short-circuit cacc,racc,mcdc 2/2
int same_int(int a, int b, int c)
{
    return a == (b && c);
}

//= function same_bool
//= test {"a": 1, "b": 1, "c": 1}
//= test {"a": 0, "b": 1, "c": 1}
//= test {"a": 0, "b": 0, "c": 1}
//= test {"a": 1, "b": 1, "c": 0}
// One decision of three conditions; both sides of `==` are evaluated.
// Rows of same_bool(1, 1, 1), (0, 1, 1), (0, 0, 1), (1, 1, 0): TTT=T, FTT=F, FFt=T, TTF=F.
//= stmt    3/3
//= bc      6/6
//= dc      2/2
//= cc      6/6
//= dcc     8/8
//= mcc     4/8 covered d0 TTT; d0 FTT; d0 FFT; d0 TTF
//= gacc    6/6 -- `a` always decides; `b` where c, `c` where b
//= gicc    2/8 covered d0.c1 true idle, d0 false; d0.c2 true idle, d0 true
//=     -- `a` is never idle; `b` in TTF, `c` in FFt
//= cacc    3/3 -- FTT and FFt show `b`
//= racc    3/3
//= mcdc    3/3
//= ricc    0/4
//= ic      4/6 missing d0 !c0 !c2; !d0 c0 !c1 -- abc + !a!b + !a!c; !abc + a!b + a!c
//= utpc    4/6 missing d0 !c0 !c2 alone; !d0 c0 !c1 alone
//= cutpnfp 6/14 covered d0 c0 c1 c2 by c0; d0 c0 c1 c2 by c2; d0 !c0 !c1 by c1;
//=     !d0 !c0 c1 c2 by c0; !d0 !c0 c1 c2 by c1; !d0 c0 !c2 by c2
//= bva     0/0
//= short-circuit mcc 3/8 covered d0 TTT; d0 FTT; d0 TTF
//= short-circuit cacc,racc,mcdc 3/3
int same_bool(_Bool a, int b, int c)
{
    if (a == (b && c))
        return 1;
    return 0;
}

#define WITHIN(v, low, high) ((v) >= (low) && (v) <= (high))

//= function in_macro
//= test {"x": 5, "low": 0}
//= test {"x": -9, "low": 0}
//= test {"x": 50, "low": 0}
// (c0 && c1) || !(c2 && c3), all from a macro.
// Rows of in_macro(5, 0), (-9, 0), (50, 0): TTtt=T, FtFt=T, TFTT=F.
//= stmt    3/3
//= bbc     6/6 -- entry with c0, c1, c2, c3, the returns
//= bc      7/8 missing d0.c3 to false
//= dc      2/2
//= cc      7/8 missing d0.c3 false
//= dcc     9/10 missing d0.c3 false
//= mcc     3/16 covered d0 TTTT; d0 FTFT; d0 TFTT
//= gacc    6/8 missing d0.c0 false decides; d0.c3 false decides
//= gicc    5/16 covered d0.c0 false idle, d0 true; d0.c0 true idle, d0 false;
//=     d0.c1 true idle, d0 true; d0.c2 true idle, d0 true; d0.c3 true idle, d0 true
//= cacc    2/4 missing d0.c0 decides; d0.c3 decides
//= racc    1/4 covered d0.c1 alone decides -- TTtt and TFTT
//= mcdc    2/4 missing d0.c0 decides; d0.c3 decides -- in FtFt the right side masks c0
//= ricc    0/8
//= ic      3/5 missing d0 !c3; !d0 !c0 c2 c3 -- c0c1 + !c2 + !c3; !c0c2c3 + !c1c2c3
//= utpc    3/5 missing d0 !c3 alone; !d0 !c0 c2 c3 alone
//= cutpnfp 2/10 covered d0 c0 c1 by c1; !d0 !c1 c2 c3 by c1
//= bva     0/12
//= short-circuit mcc 1/16 covered d0 TFTT
//= short-circuit cacc,mcdc 2/4
//= short-circuit racc 1/4 covered d0.c1 alone decides
//=     -- F-F- against TFTT differs in c0 and in c2, both reached
int in_macro(int x, int low)
{
    if (WITHIN(x, low, 9) || !WITHIN(x, -5, 100))
        return 1;
    return 0;
}

//= function guarded
// The second condition may trap: it has no value where the first is false.
// Rows of guarded(NULL), ({1}), ({0}): F-=F, TT=T, TF=F.
//= stmt    3/3
//= bbc     4/4
//= bc      4/4
//= dc      2/2
//= cc      4/4
//= dcc     6/6
//= mcc     2/4 missing d0 FT; d0 FF
//= gacc    3/4 missing d0.c0 false decides
//= gicc    1/8 covered d0.c0 true idle, d0 false
//= cacc,racc 1/2
//= mcdc    2/2
//= ricc    0/4
//= ic      3/3
//= utpc    2/3 missing !d0 !c0 alone
//= cutpnfp 2/4 covered d0 c0 c1 by c1; !d0 !c1 by c1
//= bva     2/3 missing d0.c1 just outside
//= idc     2/2
//= rte     0/1 -- p->x with a null p: the first condition keeps it out
//= short-circuit cacc,racc,mcdc 2/2
int guarded(const struct pair *p)
{
    if (p && p->x > 0)
        return 1;
    return 0;
}

//= function choose
//= test {"a": 1, "b": 1, "c": 0}
//= test {"a": 1, "b": 0, "c": 0}
//= test {"a": 0, "b": 0, "c": 1}
// `?:` between Boolean expressions is a Boolean operator: one decision.
// Rows of choose(1, 1, 0), (1, 0, 0), (0, 0, 1): TTf=T, TFf=F, FfT=T.
//= stmt    3/3
//= bc      5/6 missing d0.c2 to false
//= dc      2/2
//= cc      6/6
//= dcc     8/8
//= mcc     3/8 covered d0 TTF; d0 TFF; d0 FFT
//= gacc    5/6 missing d0.c2 false decides -- the test decides where the arms differ
//= gicc    4/12 covered d0.c0 true idle, d0 false; d0.c1 false idle, d0 true;
//=     d0.c2 false idle, d0 true; d0.c2 false idle, d0 false
//= cacc    1/3 covered d0.c1 decides -- TTf and FfT have one outcome, in TFf `a` does not decide
//= racc    1/3 covered d0.c1 alone decides
//= mcdc    2/3 missing d0.c2 decides -- TF- and F-T show `a`: the arms not taken are free
//= ricc    0/6
//= ic      3/4 missing !d0 !c0 !c2 -- ab + !ac; a!b + !a!c
//= utpc    3/4 missing !d0 !c0 !c2 alone
//= cutpnfp 2/8 covered d0 c0 c1 by c1; !d0 c0 !c1 by c1
//= bva     0/0
//= short-circuit mcc 0/8 -- one arm never has a value
//= short-circuit cacc,racc,mcdc 2/3 -- what was not reached agrees with anything
int choose(_Bool a, _Bool b, _Bool c)
{
    if (a ? b : c)
        return 1;
    return 0;
}

//= function same
//= fc 1/1
static int same(int v)
{
    return v;
}

//= function nested
//= test {"a": 1, "b": 1, "c": 0}
//= test {"a": 1, "b": 0, "c": 0}
//= test {"a": 0, "b": 1, "c": 7}
// A decision within a condition of another: `a && b` is an argument.
// nested(1, 1, 0), (1, 0, 0), (0, 1, 7). Inner: TT=T, TF=F, Ft=F; outer: Tf=T, FF=F, FT=T.
//= stmt    3/3
//= bc      8/8
//= dc      4/4
//= cc      8/8
//= dcc     12/12
//= mcc     6/8
//= gacc    8/8
//= gicc    4/16
//= cacc,racc,mcdc 4/4
//= ricc    0/8
//= ic,utpc 6/6
//= cutpnfp 8/8
//= bva     2/3 -- 0 and 1, never -1
//= fcc     1/1
//= short-circuit mcc 4/8 -- TT, TF; FF, FT
//= short-circuit cacc,racc,mcdc 4/4
int nested(int a, int b, int c)
{
    if (same(a && b) > 0 || c)
        return 1;
    return 0;
}

enum { SIZE = 8 };

//= function folded
//= test {"n": 3}
//= test {"n": 9}
// Constants are no conditions; a decision of constants alone is none.
// folded(3), folded(9): the first decision is T, T; the second one F (n is 4), T (n is 10).
//= stmt    5/7 missing @A; @B
//= dc      3/4 missing d0 false
//= cc      3/4 missing d0.c0 false
//= dcc     3/4 +4 duplicates
//= bc      3/4 missing d0.c0 to false
//= mcc     3/4 missing d0 F
//= gacc    3/4 missing d0.c0 false decides
//= gicc,ricc 0/0 -- the only condition is never idle
//= cacc,racc,mcdc 1/2
//= ic      3/4
//= utpc    3/4
//= cutpnfp 2/4
//= bva     1/6 covered d0.c0 just inside
//= slo,elo,mlo 0/0 -- while (0) is no loop
int folded(int n)
{
    if (sizeof(long) == 4)
        return -1; // @A
    if (n > 2 && SIZE > 4)
        n++;
    while (0)
        n--; // @B
    return n > 7 || SIZE < 4;
}

//= function scan
// A decision in `for`, one in `?:`, and a condition that may trap.
// scan({4, 5, 6}, 3, 5): TT=T, TF=F, then i < n T; scan({4, 5, 6}, 0, 9): F-=F, then F.
//= stmt    5/5 -- for, i = 0, the empty body, i++, return
//= dc      4/4
//= cc      6/6
//= dcc     8/8 +2 duplicates
//= mcc     4/6 missing d0 FT; d0 FF
//= gacc    5/6 missing d0.c0 false decides
//= gicc    1/8 covered d0.c0 true idle, d0 false
//= cacc,racc 2/3
//= mcdc    3/3
//= ricc    0/4
//= ic      5/5
//= utpc    4/5
//= cutpnfp 4/6
//= bva     4/9 covered d0.c0 at the border; d0.c1 at the border; d0.c1 just below;
//=     d1.c0 at the border
//= slo     1/1
//= elo     1/1
//= mlo     0/1
//= short-circuit cacc,racc,mcdc 3/3
int scan(const int *v, int n, int stop)
{
    int i;
    for (i = 0; i < n && v[i] != stop; i++)
        ;
    return i < n ? i : -1;
}

//= function differ
//= test {"x": 1, "y": 1}
//= test {"x": 1, "y": 0}
//= test {"x": 0, "y": 1}
// Two comparisons that `!=` combines, each a condition.
// Rows of differ(1, 1), (1, 0), (0, 1): TT=F, TF=T, FT=T.
//= dc      2/2
//= cc      4/4
//= mcc     3/4 missing d0 FF
//= gacc    4/4
//= gicc,ricc 0/0 -- both always decide
//= cacc,racc,mcdc 2/2
//= ic,utpc 3/4 -- a!b + !ab; ab + !a!b
//= cutpnfp 4/8 -- TF with TT by b; FT with TT by a; TT with FT by a, with TF by b
//= bc      4/4
//= bva     4/6 -- x and y were 1 and 0, never -1
//= epc     3/4 -- decisions are branches, of `!=` too: each way of y after each way of x
//= short-circuit mcc 3/4
//= short-circuit cacc,racc,mcdc 2/2
int differ(int x, int y)
{
    if ((x > 0) != (y > 0))
        return 1;
    return 0;
}

int main(void)
{
    static const int row[] = { 4, 5, 6 };
    struct pair one = { 1, 0 }, zero = { 0, 0 };

    both(1, 1), both(1, 0);
    effect(0, 9), effect(1, 0), effect(5, 0);
    coupled(2), coupled(5), coupled(15), coupled(20);
    same_int(1, 1, 1), same_int(0, 1, 0), same_int(5, 0, 1);
    same_bool(1, 1, 1), same_bool(0, 1, 1), same_bool(0, 0, 1), same_bool(1, 1, 0);
    in_macro(5, 0), in_macro(-9, 0), in_macro(50, 0);
    guarded(NULL), guarded(&one), guarded(&zero);
    choose(1, 1, 0), choose(1, 0, 0), choose(0, 0, 1);
    nested(1, 1, 0), nested(1, 0, 0), nested(0, 1, 7);
    folded(3), folded(9);
    scan(row, 3, 5), scan(row, 0, 9);
    differ(1, 1), differ(1, 0), differ(0, 1);
    return 0;
}
