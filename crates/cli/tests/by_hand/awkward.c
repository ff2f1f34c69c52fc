// What is easily got wrong: decisions within decisions that recur, jumps into loops, evaluations
// that never end, operators that evaluate both sides.

#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

//= function descend
//= test {"n": 2}
// A decision that is evaluated again within its second condition.
// descend(2): F- in the third activation, then TT in the second and in the first.
//= stmt     3/3
//= fcc      1/1
//= dc       2/2
//= cc       3/4 missing d0.c1 false
//= mcc      1/4 covered d0 TT
//= gacc     2/4 covered d0.c0 true decides; d0.c1 true decides
//= cacc,racc 0/2
//= mcdc     1/2 missing d0.c1 decides
//= bc       3/4 missing d0.c1 to false
//= bbc      4/4
//= epc,ppc  2/3 -- ABC and AD, not ABD
//= all-uses 4/4 -- n: two ways, the argument, the return
//= all-defs 1/1
//= bva      3/6 missing d0.c0 just outside; d0.c1 at the border; d0.c1 just outside
//=     -- n was 2, 1, 0; the result 1 and 1
int descend(int n)
{
    if (n > 0 && descend(n - 1) > 0)
        return 1;
    return n == 0;
}

//= function duff
//= test {"n": 3}
//= test {"n": 2}
// A switch into a loop. duff(3): ACBCD; duff(2): ABCD.
//= stmt     7/7
//= bbc      4/4 -- `do` alone is no block
//= bc       4/5 missing default
//= dc       2/2
//= slo      0/0
//= elo,mlo  1/1
//= epc      4/7 missing @A @C @D; @A @D; @B @C @B
//= ppc      3/6 missing @A @C @D; @A @D; @B @C @B
//= srtc,crtc 1/2
//= bpc      2/4 missing @A @D; @A @C @D
//= cpc      2/7 covered @A @B @C @D; @A @C @B @C @D
//= all-defs 5/5
//= all-uses 11/13 missing the parameter n reaches the switch in line @S, default;
//=     s of `int s = 0` in line @A reaches the return in line @D
int duff(int n)
{
    int s = 0;      // @A
    switch (n % 2)  // @S
    {
    case 0:
        do {
            s += 2; // @B
    case 1:
            s += 1; // @C
            n -= 2;
        } while (n > 0);
    }
    return s;       // @D
}

//= function chain
//= test {"a": 1, "b": 0}
//= test {"a": 0, "b": 0}
// chain(1, 0), chain(0, 0).
//= stmt     1/1
//= dc,cc    3/4
//= mcc      3/4
//= bc       3/4 missing d1.c0 to true
//= bbc      4/5 missing arm of d1 true -- the entry, the second test, three arms
//= gacc     3/4
//= cacc,racc,mcdc 1/2
int chain(int a, int b)
{
    return a ? 1 : b ? 2 : 3;
}

//= function inverted
//= test {"a": 0, "b": 1}
//= test {"a": 1, "b": 1}
//= test {"a": 0, "b": 0}
// !a && b, written with negations. inverted(0, 1), (1, 1), (0, 0): FT=T, Tt=F, FF=F.
//= dc       2/2
//= cc,bc    4/4
//= mcc      3/4 missing d0 TF
//= gacc     4/4
//= gicc     2/8 covered d0.c0 false idle, d0 false; d0.c1 true idle, d0 false
//= cacc,racc,mcdc 2/2
//= ricc     0/4
//= ic,utpc  3/3 -- !ab; a + !b
//= cutpnfp  4/4
//= short-circuit cacc,racc,mcdc 2/2
//= short-circuit mcc 2/4 covered d0 FT; d0 FF
int inverted(int a, int b)
{
    if (!(a || !b))
        return 1;
    return 0;
}

//= function eager
//= test {"x": 1, "y": 0}
//= test {"x": 0, "y": 1}
// `&` evaluates both sides, and either may mask the other. eager(1, 0), (0, 1): TF=F, FT=F.
//= dc       1/2
//= cc,bc    4/4
//= mcc      2/4
//= gacc     2/4 covered d0.c0 false decides; d0.c1 false decides
//= gicc     2/8
//= cacc,racc,mcdc 0/2
//= ricc     0/4
//= bva      4/6
//= bbc      2/3 -- nothing is skipped
//= epc      2/3 -- decisions are branches, of `&` too: x F leads to the end whatever y is
//= short-circuit mcc 2/4
//= short-circuit gacc 2/4
//= short-circuit cacc,racc,mcdc 0/2
int eager(int x, int y)
{
    if ((x > 0) & (y > 0))
        return 1;
    return 0;
}

//= function stored
//= test {"a": 1, "b": 1, "c": 0}
//= test {"a": 0, "b": 1, "c": 1}
// Value decisions. stored(1, 1, 0), (0, 1, 1): a && b is TT, Ft; a || c is Tf, FT.
//= stmt     3/3
//= dc       3/4 missing d1 false
//= cc       7/8 missing d0.c1 false
//= mcc      4/8
//= gacc     5/8 missing d0.c1 false decides; d1.c0 false decides; d1.c1 false decides
//= cacc,racc 1/4
//= mcdc     1/4 covered d0.c0 decides
//= bc       6/8 missing d0.c1 to false; d1.c1 to false
//= all-uses 8/10
//= all-defs 5/5
int stored(int a, int b, int c)
{
    int ok = a && b;
    ok += a || c;
    return ok == 2;
}

//= function unevaluated
//= test {"a": 1, "b": 1}
// What sizeof has is never evaluated. unevaluated(1, 1).
//= dc,cc,mcc,bc 1/2
//= gacc     1/2
//= mcdc     0/1
int unevaluated(int a, int b)
{
    return (int)sizeof(a && b) + (a ? 4 : 8);
}

//= function warm
// warm(36.5). A float has no next value: only the border.
//= bva      1/1
//= wm       10/19 +2 duplicates
//=     -- t: +1 of 6; 36.5: 3 of 3; ROR >=, <=, ==, true of 7; the negation; of each return one
int warm(double t)
{
    if (t > 36.5)
        return 1;
    return 0;
}

//= function top
//= test {"u": 4}
//= test {"u": 3}
// top(4), top(3).
//= bva      2/3 missing d0.c0 just inside
int top(unsigned u)
{
    if (u >= 4u)
        return 1;
    return 0;
}

//= function search
//= test {"n": 7}
// search(7).
//= stmt     3/4
//= bbc      3/4
//= slo      0/0
//= elo      1/1
//= mlo      0/1
//= epc      1/5
//= srtc,crtc 0/2
int search(int n)
{
    while (1) {           // @A
        if (n % 7 == 0)   // @B
            return n;     // @C
        n++;              // @D
    }
}

//= function tree
//= test {"n": 2}
// tree(2): rounds of one activation are counted across those of others.
//= slo,elo,mlo 1/1
//= srtc,crtc 2/2
//= epc      5/5 -- the outer one: ABCBCBD, tree(1): ABCBD, tree(0): ABD
//= all-defs 5/5
//= all-uses 13/13
//=     -- i < n: i 4 (2 definitions, 2 ways), n 2; s += ...: s 2, n 1; i++: 2; the return: 2
int tree(int n)
{
    int s = 1;            // @A
    for (int i = 0;
         i < n;           // @B
         i++)
        s += tree(n - 1); // @C
    return s;             // @D
}

static int leave(int n)
{
    if (n)
        _exit(4);
    return 1;
}

//= function halfway
//= test {"a": 1, "b": 0}
// halfway(1, 0): TT; and in a process of its own halfway(1, 1), which never ends.
//= dc       1/2
//= cc,bc    2/4
//= mcc      1/4
//= bbc      3/4
//= stmt     2/3
int halfway(int a, int b)
{
    if (a && leave(b))
        return 1;
    return 0;
}

//= function never_decided
// never_decided(1) does not end its evaluation: an event is what a decision is at its outcome.
//= fc       1/1
//= stmt     1/1
//= dc       0/2
//= cc,bc    0/4
//= mcdc     0/2
//= epc      0/5
int never_decided(int a)
{
    return a && leave(a) ? 1 : 2;
}

//= function choose_call
//= test {"n": 0}
//= test {"n": 3}
// The condition is an assignment; what it assigns is used. choose_call(0), choose_call(3).
//= dc,cc    2/2
//= mcc,bc   2/2
//= mcdc     1/1
//= fcc      1/1
//= stmt     3/3
int choose_call(int n)
{
    int k;
    if ((k = leave(0) - 1 + n))
        return k;
    return -1;
}

int main(void)
{
    descend(2);
    duff(3), duff(2);
    chain(1, 0), chain(0, 0);
    inverted(0, 1), inverted(1, 1), inverted(0, 0);
    eager(1, 0), eager(0, 1);
    stored(1, 1, 0), stored(0, 1, 1);
    unevaluated(1, 1);
    warm(36.5);
    top(4), top(3);
    search(7);
    tree(2);
    halfway(1, 0);
    choose_call(0), choose_call(3);
    if (fork() == 0) {
        halfway(1, 1);
        _exit(0);
    }
    wait(NULL);
    if (fork() == 0) {
        never_decided(1);
        _exit(0);
    }
    wait(NULL);
    return 0;
}
