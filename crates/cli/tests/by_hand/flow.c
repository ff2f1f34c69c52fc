// Control flow, paths, loops and data flow. A letter behind `@` marks the line where a node of the
// textbook's flow graph begins. Every `all-uses` is a sum over the uses of the definitions that
// reach them, a use in a condition or a switch once for each way. What several pairs have as a path
// counts once in `all-du-paths`.

//= function straight
//= test {"x": 1}
// straight(1). One node, x defined three times.
//= fc       1/1
//= stmt     3/3
//= bbc      1/1
//= bc,dc    0/0
//= slo,elo,mlo 0/0
//= epc,ppc,bpc,cpc 1/1 covered @A
//= srtc,crtc 0/0
//= all-defs 3/3
//= all-uses 3/3
//= all-du-paths 1/1 +2 duplicates covered @A
int straight(int x)
{
    x += 1; // @A
    x *= 2;
    return x;
}

//= function diamond
//= test {"x": 1}
// diamond(1): ABD.
//= stmt     4/5 missing @C
//= bbc      3/4 missing @C
//= bc,dc    1/2
//= slo,elo,mlo 0/0
//= epc,ppc,bpc,cpc 1/2 missing @A @C @D
//= srtc,crtc 0/0
//= all-defs 2/3 -- y = 0 reaches no use; x and y = 1 do
//= all-uses 2/4 -- x: T; y = 1 to the return
//= all-du-paths 2/4 missing @A @C; @C @D
int diamond(int x)
{
    int y = 0; // @A
    if (x > 0)
        y = 1; // @B
    else
        y = 2; // @C
    return y;  // @D
}

//= function sum
//= test {"n": 0}
//= test {"n": 1}
// sum(0): ABD; sum(1): ABCBD.
//= stmt     5/5
//= bbc      4/4 -- the loop's test is a block of its own: control comes to it from A and from C
//= bc,dc    2/2
//= slo,elo  1/1
//= mlo      0/1
//= epc      4/5 missing @C @B @C
//= ppc      4/5 missing @C @B @C
//= srtc,crtc 1/2 -- that of B is BCB, that of C is CBC
//= bpc      2/2
//= cpc      2/3 missing @A @B @C @B @C @B @D
//= all-defs 4/4
//= all-uses 8/12 missing n of `n--` in line @D1 reaches the condition in line @B, true;
//=     n of `n--` in line @D1 reaches its use in line @C;
//=     n of `n--` in line @D1 reaches its use in line @D1;
//=     s of `s += n` in line @C reaches its use in line @C
//=     -- n in the test: 2 definitions, 2 ways; s += n: 2 of s, 2 of n; n--: 2; return s: 2
//= all-du-paths 3/4 +8 duplicates missing @C @B @C -- the others: ABC, ABD, CBD
int sum(int n)
{
    int s = 0;    // @A
    while (n > 0) // @B
    {
        s += n;   // @C
        n--;      // @D1
    }
    return s;     // @D
}

//= function early
//= test {"n": 1}
//= test {"n": 20}
// Early exits from a loop. early(1): ABCEGBCD; early(20): ABCEFH.
//= stmt     8/8 -- for, i = 0, i++, if, return, if, break, return
//= bbc      8/8
//= bc       5/6 missing d0.c0 to false
//= dc       5/6 missing d0 false
//= slo      0/1
//= elo,mlo  1/1
//= epc      8/10 missing @A @B @H; @G @B @H
//= ppc      5/11 covered @A @B @C @E @G; @B @C @E @G @B; @C @E @G @B @C; @E @G @B @C @D;
//=     @A @B @C @E @F @H
//=     -- the others: ABH, ABCD, EGBCE, GBCEG, CEGBH, GBCEFH
//= srtc,crtc 2/4 -- of B, C, E and G, the circle closes at B and C
//= bpc      1/4 covered @A @B @C @E @F @H -- 3 choices and one
//= cpc      2/9 -- after 0, 1 or 2 rounds: to H from B, to D, to F
//= all-defs 3/3
//= all-uses 10/16 -- i < 3: 2 of 4; i == n: 2 of 4 for i, 2 of 2 for n; return i: 1 of 2;
//=     n > 9: 2 of 2; i++: 1 of 2
//= all-du-paths 6/11 +5 duplicates covered @A @B @C; @A @B @C @E; @A @B @C @E @G; @G @B @C;
//=     @G @B @C @D; @A @B @C @E @F
int early(int n)
{
    int i;
    for (i = 0;       // @A
         i < 3;       // @B
         i++)         // @G
    {
        if (i == n)   // @C
            return i; // @D
        if (n > 9)    // @E
            break;    // @F
    }
    return -1;        // @H
}

//= function fall
//= test {"x": 1}
//= test {"x": 7}
// A case that falls through. fall(1): ABCE; fall(7): ADE.
//= stmt     7/7
//= bbc      5/5
//= bc       2/3 missing case 2 -- C was entered from B only
//= dc       0/0
//= epc      3/4 missing @A @C @E
//= ppc,bpc,cpc 2/3 missing @A @C @E
//= srtc,crtc 0/0
//= all-defs 5/5
//= all-uses 6/8 missing the parameter x reaches the switch in line @S, case 2;
//=     r of `int r = 0` in line @A reaches its use in line @C
//= all-du-paths 5/6 +2 duplicates missing @A @C
int fall(int x)
{
    int r = 0;  // @A
    switch (x)  // @S
    {
    case 1:
        r += 1; // @B
        // falls through
    case 2:
        r += 2; // @C
        break;
    default:
        r = 9;  // @D
    }
    return r;   // @E
}

//= function implicit
//= test {"x": 5}
//= test {"x": 2}
// A switch without `default`: its way past all cases is an edge too.
// implicit(5): AC; implicit(2): ABC.
//= stmt     4/4 -- switch, x = 7, break, return
//= bbc      3/3
//= bc       2/4 missing case 1; case 3 ... 4
//= epc,ppc  2/2 -- ABC and AC; three cases lead to one node
//= bpc,cpc  2/2
//= all-defs 2/2
//= all-uses 4/6 -- x: 2 of its 4 ways; the return, from the parameter and from x = 7
//= all-du-paths 3/3 +3 duplicates -- AB for three cases; AC twice; BC
int implicit(int x)
{
    switch (x)   // @A
    {
    case 1:
    case 2:
    case 3 ... 4:
        x = 7;   // @B
        break;
    }
    return x;    // @C
}

//= function into
//= test {"n": 2, "skip": 0}
//= test {"n": 1, "skip": 1}
// `goto` into a loop. into(2, 0): ACDECDECF; into(1, 1): ABECF.
//= stmt     8/8
//= bbc      6/6
//= bc,dc    4/4
//= slo      0/1 -- into(1, 1) never comes to the loop from before it
//= elo      1/1
//= mlo      1/1
//= epc      7/8 missing @A @C @F
//= ppc      6/8 missing @A @C @F; @A @B @E @C @D
//= srtc,crtc 3/3
//= bpc      1/3 covered @A @B @E @C @F
//= cpc      2/6 covered @A @B @E @C @F; @A @C @D @E @C @D @E @C @F
//= all-defs 6/6
//= all-uses 12/14 missing the parameter n reaches the condition in line @C, false;
//=     s of `int s = 0` in line @A reaches the return in line @F
//= all-du-paths 9/10 +5 duplicates missing @A @C @F
int into(int n, int skip)
{
    int s = 0;       // @A
    if (skip)
        goto middle; // @B
    while (n > 0)    // @C
    {
        s += 10;     // @D
    middle:
        s += 1;      // @E
        n--;
    }
    return s;        // @F
}

//= function nest
//= test {"n": 1, "m": 2}
//= test {"n": 2, "m": 1}
// nest(1, 2): ABCDCEF; nest(2, 1): ABCEBCEF.
//= stmt     8/8
//= bbc      6/6 -- A, B with the start of the inner loop, C, D, E with the outer test, F
//= bc,dc    4/4
//= slo      1/1 -- `do` is never skipped
//= elo      2/2
//= mlo      1/2
//= epc      8/9 missing @D @C @D
//= ppc      6/10 missing @A @B @C @E @F; @D @C @D; @D @C @E @B; @E @B @C @D
//= srtc     3/4
//= crtc     3/4 -- for C: CDC by one run, CEBC by the other
//= bpc      2/3 missing @A @B @C @E @F
//= cpc      2/7
//= all-defs 7/7
//= all-uses 15/19
//= all-du-paths 10/13 +6 duplicates missing @D @C @D; @E @B @C @D; @A @B @C @E @F
int nest(int n, int m)
{
    int c = 0;           // @A
    do {
        int j = m;       // @B
        while (j > n)    // @C
        {
            j--;         // @D
            c++;
        }
        n--;             // @E
    } while (n > 0);
    return c;            // @F
}

//= function endless
//= test {"n": 2}
//= test {"n": 16}
// A loop without a condition, `continue` and `break`. Control comes to the return from `break`
// alone: they are one block.
// endless(2): ABDE; endless(16): ABCB, six times DFB, DE.
//= stmt     8/8
//= bbc      6/6
//= bc,dc    4/4
//= slo      0/0
//= elo,mlo  1/1
//= epc      8/10 missing @C @B @C; @F @B @C
//= ppc      8/12 missing @C @B @C; @A @B @D @F; @C @B @D @E; @D @F @B @C
//= srtc,crtc 3/4
//= bpc      1/3 covered @A @B @D @E
//= cpc      1/7
//= all-defs 3/3
//= all-uses 9/9
//= all-du-paths 7/7 +2 duplicates
int endless(int n)
{
    for (;;) {        // @A
        n -= 3;       // @B
        if (n > 10)
            continue; // @C
        if (n < 0)    // @D
            break;    // @E
        n++;          // @F
    }
    return n;
}

//= function retry
//= test {"n": 2}
// A loop of `goto`. retry(2): ABCBD.
//= stmt     5/5
//= bbc      4/4
//= slo,elo,mlo 0/0 -- no loop statement
//= epc,ppc  3/5 missing @A @B @D; @C @B @C
//= srtc,crtc 1/2
//= bpc      1/2 missing @A @B @D
//= cpc      1/3 covered @A @B @C @B @D
//= all-defs 3/3
//= all-uses 7/7
//= all-du-paths 5/6 +1 duplicates missing @A @B @D
int retry(int n)
{
    int t = 0;      // @A
again:
    t++;            // @B
    if (t < n)
        goto again; // @C
    return t;       // @D
}

//= function deep
//= test {"n": 1}
// Recursion: definitions, paths and loops are those of one activation.
// deep(1): ABCD without its call, and within it deep(0): ACE.
//= fc       1/1
//= fcc      1/1
//= stmt     6/6
//= bbc      5/5
//= bc,dc    4/4
//= epc      3/5 missing @A @C @D; @B @C @E
//= ppc,cpc  2/4 missing @A @C @D; @A @B @C @E
//= srtc,crtc 0/0
//= all-defs 3/3
//= all-uses 7/9 missing x of `int x = 1` in line @A reaches the return in line @D;
//=     x of `x = deep(n - 1)` in line @B reaches the return in line @E
//=     -- n: two tests, the argument; x: each of 2 to each of 2 returns
//= all-du-paths 5/8 +3 duplicates missing @A @C @D; @A @B @C @E; @B @C @E
int deep(int n)
{
    int x = 1;           // @A
    if (n > 0)
        x = deep(n - 1); // @B
    if (n > 0)           // @C
        return x + 1;    // @D
    return x;            // @E
}

//= function fact
//= test {"n": 2}
// fact(2): AC, and within it fact(1): AB.
//= fcc      1/1
//= stmt     3/3
//= bbc      3/3
//= epc,ppc,bpc,cpc 2/2
//= slo,elo,mlo 0/0
int fact(int n)
{
    if (n <= 1)             // @A
        return 1;           // @B
    return n * fact(n - 1); // @C
}

//= function parts
//= test {"n": 1, "i": 1}
// An array counts as a whole: writing an element ends the reach of the initialiser.
// parts(1, 1).
//= stmt     4/4
//= bbc      3/3
//= epc,ppc  1/2
//= all-defs 3/4
//= all-uses 4/6 missing the parameter i reaches the condition in line @C, false;
//=     a of `int a[3] = { n, 0, 0 }` in line @A reaches the return in line @D
//= all-du-paths 3/4 +2 duplicates missing @A @D
int parts(int n, int i)
{
    int a[3] = { n, 0, 0 }; // @A
    if (i < 3)              // @C
        a[i] = 5;           // @B
    return a[0];            // @D
}

//= function arms
//= test {"x": 1}
// The arms of `?:` are nodes. arms(1): ABD.
//= stmt     2/2
//= bbc      3/4 missing arm of d0 false
//= bc,dc    1/2
//= epc,ppc,bpc,cpc 1/2
//= fcc      1/2 missing arms calls retry
//= all-du-paths 2/3 +2 duplicates missing @A @C
int arms(int x)
{
    int y = x > 0   // @A
        ? sum(x)    // @B
        : retry(x); // @C
    return y;
}

int main(void)
{
    straight(1);
    diamond(1);
    sum(0), sum(1);
    early(1), early(20);
    fall(1), fall(7);
    implicit(5), implicit(2);
    into(2, 0), into(1, 1);
    nest(1, 2), nest(2, 1);
    endless(2), endless(16);
    retry(2);
    deep(1);
    fact(2);
    parts(1, 1);
    arms(1);
    return 0;
}
