// Functions, calls, and ways to leave them.

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

//= function leaf
//= fc       1/1
//= fcc      0/0
//= all-uses 1/1
static int leaf(int n)
{
    return n + 1;
}

//= function other
//= fc       1/1
//= fcc      0/0
static int other(int n)
{
    return n - 1;
}

//= function unused
// Never called: nothing is covered.
//= fc       0/1
//= fcc      0/2 missing unused calls leaf; unused calls other
//= stmt     0/3
//= bbc      0/3
//= bc,dc    0/2
//= epc,ppc,bpc,cpc 0/2
//= all-uses 0/4 -- n: two ways and two arguments
//= all-defs 0/1
int unused(int n)
{
    if (n > 0)
        return leaf(n);
    return other(n);
}

//= function places
// Two calls of one function are one pair. places(0).
//= fc       1/1
//= fcc      1/2 missing places calls other
int places(int n)
{
    if (n > 10)
        return other(n);
    if (n > 5)
        return leaf(n);
    return leaf(n + 1);
}

//= function by_pointer
// A call through a pointer names nobody. by_pointer(other).
//= fc       1/1
//= fcc      1/1 covered by_pointer calls leaf
int by_pointer(int (*f)(int))
{
    return f(1) + leaf(2);
}

//= function within
// Calls as arguments of calls. within(1).
//= fcc      2/2
//= stmt     1/1
//= bpc,cpc,epc,ppc 1/1
int within(int n)
{
    return leaf(other(leaf(n)));
}

int odd(int n);

//= function even
// Mutual recursion: even(3), odd(2), even(1), odd(0).
//= fc       1/1
//= fcc      1/1
//= dc       1/2 missing d0 true
//= stmt     2/3
int even(int n)
{
    if (n == 0)
        return 1;
    return odd(n - 1);
}

//= function odd
//= fc       1/1
//= fcc      1/1
//= dc       2/2
//= stmt     3/3
int odd(int n)
{
    if (n == 0)
        return 0;
    return even(n - 1);
}

#define TWICE(x) (leaf(x) + leaf(x))

//= function expanded
// Calls from a macro, one where evaluation may not come. expanded(0), expanded(-1).
//= fcc      1/2 missing expanded calls other
//= dc       1/2 missing d0 true
//= cc       3/4 missing d0.c1 true
//=     -- n is F in 0 and T in -1; TWICE(n) > 8 is no value in 0 (a call), 0 > 8 F in -1
//= mcc      1/4 covered d0 TF
//= mcdc     0/2 -- F- and TF have one outcome
//= bva      0/3
int expanded(int n)
{
    if (n && TWICE(n) > 8)
        return other(n);
    return 0;
}

//= function leaves
// Does not return where n is not 0. In processes of their own: leaves(0), leaves(1).
//= fc       1/1
//= fcc      2/2 -- the call of _exit counts as it begins
//= stmt     3/3
//= dc       2/2
int leaves(int n)
{
    if (n)
        _exit(3);
    return leaf(n);
}

//= function aborts
// An early exit within an expression: what follows it is not done. aborts(1).
//= fc       1/1
//= fcc      1/2 missing aborts calls other
//= stmt     1/2 missing @B
//= all-uses 1/3 covered the parameter n reaches its use in line @A
//= all-defs 1/2
int aborts(int n)
{
    int k = leaves(n); // @A
    return other(k) + n; // @B
}

int main(void)
{
    places(0);
    by_pointer(other);
    within(1);
    even(3);
    expanded(0), expanded(-1);
    leaves(0);
    if (fork() == 0) {
        leaves(1);
        unused(1);
    }
    wait(NULL);
    if (fork() == 0) {
        aborts(1);
        unused(1);
    }
    wait(NULL);
    return 0;
}
