// What labels and sequences bind, and guards over it: measured by `lydian cover` against
// hyperlabels.htol. Each line `test` is one run.

#ifndef __LYDIAN__
#define lydian_label(name, predicate)
#endif

struct pair { int x, y; };

//= function decided
// Example 1 (strong MC/DC) and V-D1.
//= test {"x": 1, "y": 1, "a": 1, "b": 2}
//= test {"x": 1, "y": 2, "a": 1, "b": 2}
//= test {"x": 1, "y": 2, "a": 3, "b": 2}
//= htol     4/5 missing h2
//=     -- true-true, false-true and false-false: no two runs differ in a < b alone
int decided(int x, int y, int a, int b)
{
    //! loc_1: 1
    if (x == y && a < b)
        return 1;
    return 0;
}

//= function correlated
// V-D1: with b false each value of a decides.
//= test {"a": 1, "b": 0}
//= test {"a": 0, "b": 0}
//= htol     1/1
int correlated(int a, int b)
{
    //! loc_1: 1
    return a || b;
}

static int g(void) { return 1; }

//= function calls_twice
// Example 2: a callee from one of its calls.
//= test {"a": 0, "b": 1}
//= htol     1/1
int calls_twice(int a, int b)
{
    int s = 0;
    if (a) {
        //! loc_1: 1
        s += g();
    }
    if (b) {
        //! loc_2: 1
        s += g();
    }
    return s;
}

//= function used
// Example 3: a definition and its two uses; V-D2: one of them.
//= test {"x": 3, "c": 1}
//= htol     2/3 missing h5
int used(int x, int c)
{
    int res;
    //! loc_1: 1
    int a = x;
    if (c) {
        //! loc_2: 1
        res = a + 1;
    } else {
        //! loc_3: 1
        res = a - 1;
    }
    return res;
}

//= function flowcontrol
// Example 4: one low, two results.
//= test {"high": 1, "low": 5}
//= test {"high": 9, "low": 5}
//= htol     1/1
int flowcontrol(int high, int low)
{
    int res = 0;
    //! loc_1: 1
    res = low + (high > 3);
    //! loc_2: 1
    return res;
}

//= function independent
//= test {"high": 1, "low": 5}
//= test {"high": 9, "low": 5}
//= test {"high": 9, "low": 6}
//= htol     0/1 missing h6 -- what is low alone tells the result
int independent(int high, int low)
{
    int res = 0;
    //! loc_1: 1
    res = low + (high - high);
    //! loc_2: 1
    return res;
}

//= function foo
// V-D2: array cells. a[1] is written, then written again: i = k = j.
//= test {"i": 1, "j": 1, "k": 1}
//= test {"i": 1, "j": 2, "k": 3}
//= htol     1/2 missing h9
int foo(int i, int j, int k)
{
    int a[4] = {0};
    //! loc_1: 1
    a[i & 3] = 5;
    //! loc_2: 1
    a[j & 3] = 6;
    //! loc_3: 1
    return a[k & 3] + 1;
}

//= function cells
// Three definitions, 10, 20, 30, of cells 0, 1, 2; then cell 1, which holds 20, or cell 2, 30, is read.
//= test {"k": 1}
//= test {"k": 2}
//= htol     2/4 missing reaches; never
//=     -- no definition has its own value yet where it is passed; 0 before 1; 0, 1, then 2
int cells(int k)
{
    int a[4] = {0};
    for (int i = 0; i < 3; i++) {
        //! set: 1
        a[i] = 10 * (i + 1);
    }
    //! get: k >= 0 && k < 3
    return a[k & 3];
}

//= function down
// Recursion: 2, 1, 0 before; 0, 1, 2 after. Each call binds its own n.
//= test {"n": 2}
//= htol     3/4 missing other_call
//=     -- before(2), after(0) by two calls; alone: between before(0) and after(0) there is none
int down(int n)
{
    int r = 0;
    //! before: 1
    if (n > 0)
        r = down(n - 1);
    //! after: 1
    return r + n;
}

//= function far
// Where p is null its x is unknown, and nothing is bound.
//= test {"p": null, "n": -3}
//= htol     2/4 missing reads; small
//=     -- -3 * 2^62 has no room in 64 bits; -3 to the fifth is negative
int far(const struct pair *p, long n)
{
    //! at: 1
    return (p ? p->x : 0) + (n > 0);
}

static int total;

static void deposit(int sum)
{
    //! in: sum > 0
    total += sum;
}

static void withdraw(int sum)
{
    //! out: 1
    total -= sum;
}

//= function account
// Labels of several functions, in one run: 5, 3 in; 8 out. Then, in another run, 3 out before 3 in.
//= test {"n": 2, "early": 0}
//= test {"n": 1, "early": 1}
//= htol     5/7 missing overdrawn; three
//=     -- what is taken was there, and deposit was never called three times
int account(int n, int early)
{
    total = 0;
    if (early)
        withdraw(3);
    //! asked: 1
    for (int i = 0; i < n; i++)
        deposit(i == n - 1 ? 3 : 5);
    if (!early)
        withdraw(total);
    //! objective in_then_out = [deposit::in -> withdraw::out];
    //! objective early_out = [withdraw::out -> deposit::in];
    //! objective all_out = < [deposit::in |> { a <- sum } -> deposit::in |> { b <- sum } ->
    //!     withdraw::out |> { c <- sum }] | c == a + b >;
    //! objective asked_first = [asked -(pc != withdraw::out)-> deposit::in];
    //! objective overdrawn = (withdraw::out, sum > total && total > 0);
    //! objective three = [(deposit::entry, 1) -> (deposit::entry, 1) -> (deposit::entry, 1)];
    //! objective with_parts = < deposit::in |> { a <- sum } . withdraw::out |> { b <- sum } | a == b >;
    return total;
}
