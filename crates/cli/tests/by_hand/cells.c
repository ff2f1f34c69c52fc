// Definitions and uses of array cells. A pair of cells is covered where both are of one cell, at run
// time; which pairs there are follows from where in the variable they may be. Variables without
// arrays have the pairs that they have in all-uses.

void *memset(void *, int, unsigned long);

//= function other
//= test {"i": 0, "j": 1, "k": 0}
//= test {"i": 0, "j": 0, "k": 1}
// The example of the literature: from @B to @D if i = k != j.
// other(0, 1, 0): B to D. other(0, 0, 1): A to D.
//= all-uses       4/4 -- a parameter each, and of the array as a whole the last definition
//= all-defs       4/4
//= all-uses-cells 5/6 missing the cell of a of `a[j] = 2` in line @C reaches `a[k]` of the return in
//=     line @D
//= all-defs-cells 5/6 missing @C
int other(int i, int j, int k)
{
    int a[3] = { 5, 6, 7 }; // @A
    a[i] = 1;               // @B
    a[j] = 2;               // @C
    return a[k];            // @D
}

//= function moved
//= test {"i": 0}
// The index changes between definition and use: these are never of one cell.
//= all-uses-cells 4/5 missing the cell of a of `a[i] = 3` in line @B reaches `a[i]` of the return in
//=     line @D -- i: to B, to i++, and from there to the return
//= all-defs-cells 3/4 missing @B
int moved(int i)
{
    int a[4] = { 0 }; // @A
    a[i] = 3;         // @B
    i++;
    return a[i];      // @D
}

//= function grid
//= test {"r": 1, "c": 2}
//= test {"r": 0, "c": 1}
// Two dimensions. grid(1, 2): B to C, A to D. grid(0, 1): A to C, B to D. What C writes is in
// another row than what D reads, which the text says.
//= all-uses-cells 7/7 -- r: 1, c: 2; 2 to C, 2 to D
//= all-defs-cells 4/4
int grid(int r, int c)
{
    int m[2][3] = { { 0 } }; // @A
    m[r][c] = 4;             // @B
    m[1][2] += 1;            // @C
    return m[0][c];          // @D
}

//= function sums
//= test {"n": 1}
//= test {"n": 4}
// A loop that reads the cell it writes and the one before. sums(1): A to the return. sums(4): from A
// to all of a[0], a[1], a[2], a[3], from B to a[1], a[2] as the one before and a[3] in the end.
//= all-uses-cells 15/16 missing the cell of a of `a[i] += a[i - 1]` in line @B reaches `a[i]` in
//=     line @B -- n: 2; i: 2 definitions to 2 ways, B and i++; a: 2 to each of a[i], a[i - 1], a[3]
//= all-defs-cells 5/5
int sums(int n)
{
    int a[4] = { 1 };           // @A
    for (int i = 1; i < n; i++)
        a[i] += a[i - 1];       // @B
    return a[3];                // @D
}

//= function down
//= test {"n": 1}
// Recursion: cells are those of one activation. down(1): in down(0) A to E, then in down(1) B to E.
//= all-uses-cells 6/6 -- n: B, the condition, the argument
//= all-defs-cells 3/3
int down(int n)
{
    int a[2] = { 0 };  // @A
    a[n & 1] = n;      // @B
    if (n > 0)
        down(n - 1);
    return a[1];       // @E
}

//= function aim
//= test {"i": 1, "j": 1}
//= test {"i": 2, "j": 1}
// A write through a pointer defines the cell that it hits. aim(1, 1): C to D. aim(2, 1): B to D.
//= all-uses-cells 5/6 missing a of `int a[4] = { 0 }` in line @A reaches `a[1]` of the return in
//=     line @D
//= all-defs-cells 5/6 missing @A
int aim(int i, int j)
{
    int a[4] = { 0 }; // @A
    int *p = &a[i];
    a[j] = 1;         // @B
    *p = 2;           // @C
    return a[1];      // @D
}

//= function wiped
//= test {"i": 0, "w": 1}
//= test {"i": 0, "w": 0}
// What gets the whole array defines all of its cells.
//= all-uses-cells 5/6 missing a of `int a[3] = { 7, 7, 7 }` in line @A reaches `a[0]` of the return in
//=     line @D
//= all-defs-cells 4/5 missing @A
int wiped(int i, int w)
{
    int a[3] = { 7, 7, 7 };     // @A
    a[i] = 1;                   // @B
    if (w)
        memset(a, 0, sizeof a); // @M
    return a[0];                // @D
}

struct part { int n; int v[2]; };

//= function copied
//= test {"i": 1, "j": 0}
// A copy of a struct reads all cells of one and defines all of another. copied(1, 0): at C x.n and
// x.v[0] are of A, x.v[1] of B; at E all are of C.
//= all-uses-cells 7/8 missing the cell of y of `y.v[j] += y.n` in line @E reaches `y.v[1]` of the
//=     return in line @F -- i, j; 2 to C; C to y.v[j] and to y.n; 2 to F
//= all-defs-cells 5/6 missing @E
int copied(int i, int j)
{
    struct part x = { 1, { 2, 3 } }; // @A
    struct part y;
    x.v[i] = 4;                      // @B
    y = x;                           // @C
    y.v[j] += y.n;                   // @E
    return y.v[1];                   // @F
}

//= function asked
//= test {"i": 1, "v": 5}
//= test {"i": 0, "v": 0}
// Conditions and switches: each way is a pair. asked(1, 5): v to B; the condition reads A, false;
// the switch reads B, default. asked(0, 0): the condition reads B, false; the switch reads A, case 7.
//= all-uses-cells 6/10 missing a of `int a[2] = { 0, 7 }` in line @A reaches `a[0]` of the condition in
//=     line @C, true; the cell of a of `a[i] = v` in line @B reaches `a[0]` of the condition in
//=     line @C, true; a of `int a[2] = { 0, 7 }` in line @A reaches `a[1]` of the switch in
//=     line @S, default; the cell of a of `a[i] = v` in line @B reaches `a[1]` of the switch in
//=     line @S, case 7
//= all-defs-cells 4/4
int asked(int i, int v)
{
    int a[2] = { 0, 7 }; // @A
    a[i] = v;            // @B
    if (a[0] > 0)        // @C
        return 1;
    switch (a[1])        // @S
    {
    case 7:
        return 2;
    }
    return 3;
}

static int shelf[3];

//= function put
// The pairs of a global are those of the whole run, and belong to their uses.
//= all-uses-cells 2/2
//= all-defs-cells 3/3
static void put(int i, int v)
{
    shelf[i] = v;    // @P
}

//= function get
//= all-uses-cells 3/3 -- i; P, and the initial value
//= all-defs-cells 2/2
static int get(int i)
{
    return shelf[i]; // @G
}

//= function shelves
//= test {"i": 1, "j": 2}
//= test {"i": 0, "j": 1}
// shelves(1, 2): the initial value. shelves(0, 1): what the first call puts there.
//= all-uses-cells 2/2
//= all-defs-cells 2/2
int shelves(int i, int j)
{
    put(i, 1);
    put(j, 2);
    return get(0);
}

int main(void)
{
    other(0, 1, 0), other(0, 0, 1);
    moved(0);
    grid(1, 2), grid(0, 1);
    sums(1), sums(4);
    down(1);
    aim(1, 1), aim(2, 1);
    wiped(0, 1), wiped(0, 0);
    copied(1, 0);
    asked(1, 5), asked(0, 0);
    shelves(1, 2), shelves(0, 1);
    return 0;
}
