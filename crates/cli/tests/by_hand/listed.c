// Paths that the user lists (SPC), in listed.htol and in comments. Each line `test` is one run.

#ifndef __LYDIAN__
#define lydian_label(name, predicate)
#endif

//= function straight
// All of it is one node.
//= test {"x": 1}
//= spc      1/1
int straight(int x)
{
    x += 1;
    return x;
}

//= function choose
//= test {"x": 1}
//= test {"x": -1}
//= spc      3/4 missing back
//=     -- both arms are taken, but none before the other
int choose(int x)
{
    //! path yes = line 26 -> line 27 -> line 32;
    //! path no = line 26 -> line 29 -> line 32;
    if (x > 0)
        x = 2;
    else
        x = 3;
    //! path either = line 26 -> ... -> line 32;
    //! path back = line 27 -> ... -> line 29;
    return x;
}

//= function rounds
//= test {"n": 2}
//= spc      3/5 missing never; thrice
//=     -- no run skips the loop, none goes round three times
int rounds(int n)
{
    int s = 0;
    /*! htol
     * path never = line 41 -> line 49 -> line 51;
     * path once = line 49 -> line 50 -> line 49;
     * path twice = line 50 -> line 49 -> line 50;
     * path thrice = line 50 -> line 49 -> line 50 -> line 49 -> line 50;
     * path out = line 50 -> line 49 -> line 51;
     */
    while (s < n)
        s++;
    return s;
}

//= function skips
// Short-circuit evaluation: b is a node of its own.
//= test {"a": 1, "b": 0}
//= spc      2/4 missing both; neither
int skips(int a, int b)
{
    //! before: 1
    int r = 0;
    //! path neither = before -> line 66 -> after;
    //! path both = before -> line 67 -> line 68;
    //! path first = line 66 -> line 67 -> after;
    //! path any = before -> ... -> after;
    if (a &&
        b)
        r = 1;
    //! after: 1
    return r;
}

//= function recursive
// Each activation has its own paths: 2 and 1 go down, 0 straight to the end.
//= test {"n": 2}
//= spc      2/3 missing crossed
//=     -- what is called in between does not count, and within one call there is no such way
//= htol     1/1
int recursive(int n)
{
    int r = 1;
    //! path down = line 85 -> line 86 -> line 88;
    //! path bottom = line 85 -> line 88;
    //! path crossed = line 86 -> ... -> line 85;
    if (n > 0)
        r = recursive(n - 1);
    //! objective both = down . bottom;
    return r;
}

//= function shared
// In the file and in a comment: the same path twice is a duplicate.
//= test {"x": 3}
//= spc      1/1 +1 duplicates
int shared(int x)
{
    int r = x;
    if (x > 2)
        //! path in_comment =
        //!   line 98 -> line 101;
        r = 7;
    return r;
}

//= function cases
// Fall-through: case 1 goes on in case 2, and that in case 0.
//= test {"x": 1}
//= test {"x": 3}
//= spc      3/5 missing direct; zero
int cases(int x)
{
    int r = 0;
    //! path through = line 120 -> line 122 -> line 125;
    //! path direct = line 118 -> line 122;
    //! path other = line 118 -> line 127;
    //! path zero = line 118 -> line 125 -> line 127;
    //! path rest = line 122 -> line 123 -> line 125 -> line 127;
    switch (x) {
    case 1:
        r = 1;
    case 2:
        r += 2;
        r *= 2;
    case 0:
        break;
    }
    return r;
}

//= function phases
// Two loops: the gap spans what lies between, other rounds among it.
//= test {"n": 2, "m": 1}
//= spc      3/5 missing back; twice
//=     -- the first loop never comes after the second, which goes round once
int phases(int n, int m)
{
    int s = 0;
    for (int i = 0; i < n; i++)
        s += i;
    while (m > 0) {
        m--;
        s++;
    }
    //! path both = line 139 -> ... -> line 140 -> line 141;
    //! path spread = line 139 -> ... -> line 139 -> ... -> line 142 -> line 140 -> line 149;
    //! path same = line 141 -> ... -> line 142;
    //! path back = line 141 -> ... -> line 139;
    //! path twice = line 141 -> line 140 -> line 141;
    return s;
}
