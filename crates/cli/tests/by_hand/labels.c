// Objectives that the user writes: labels in comments and calls, and the hyperlabels of labels.htol.
// Measured by `lydian cover`: each line `test` is one run.

#ifndef __LYDIAN__
#define lydian_label(name, predicate)
#endif

struct pair { int x, y; };

//= function clamp
//= test {"x": 150}
//= test {"x": 7}
//= user     2/3 missing never
//= htol     3/4 missing same_run
//=     -- big and small by two runs, one of both; big before small in no run
int clamp(int x)
{
    //! small: x < 10
    //! big: x > 100
    if (x > 100)
        x = 100;
    //! never: x > 100
    return x;
}

//= function pointed
// Where a pointer is null what it points to is unknown: so is x > 3, and so is its negation.
//= test {"p": null}
//= user     1/3 covered neither
//= htol     0/1 -- it needs p->x
int pointed(const struct pair *p)
{
    //! large: p->x > 3
    //! small: !(p->x > 3)
    //! neither: !(p && p->x > 3)
    return p ? p->x : 0;
}

//= function turns
//= test {"n": 2}
//= user     3/4 missing third
//= htol     1/3 missing back; short
//=     -- first, then second, never the other way; each round passes the place of third
int turns(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) {
        //! first: i == 0
        //! second: i == 1
        //! third: i == 2
        s += i;
    }
    //! end: 1
    return s;
}

//= function called
//= test {"n": 5}
//= user     1/2 covered odd
int called(int n)
{
    if (n > 9)
        lydian_label("large", n > 9);
    for (lydian_label("odd", n & 1); n > 3; n--)
        ;
    return n;
}

//= function again
// Recursion: again(2) enters itself with 1 and 0. Within a run, and within one activation.
//= test {"n": 2}
//= user     2/2
//= htol     2/3 missing one_activation
//=     -- before(2) then after(0) is no pair of one activation; of a run it is
int again(int n)
{
    int r = 0;
    //! before: n == 2
    if (n > 0)
        r = again(n - 1);
    //! after: n == 0
    return r + n;
}

//= function passes
//= test {"x": 1, "y": 0}
//= user     3/3
//= htol     1/2 missing around -- the middle lies between
int passes(int x, int y)
{
    //! one: x == 1
    y += x;
    //! two: y == 1
    y += x;
    //! three: y == 2
    return y;
}

//= function fork_in_the_road
//= test {"a": 1, "b": 0}
//= test {"a": 0, "b": 1}
//= user     2/2
//= htol     2/3 missing both_at_once
int fork_in_the_road(int a, int b)
{
    if (a) {
        //! left: b == 0
        b = 2;
    } else {
        //! right: b == 1
        b = 3;
    }
    return b;
}
