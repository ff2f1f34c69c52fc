// Paths from definitions to uses: of array cells, and of globals. A path of a local is a path of the
// function, whatever lies on it. One of a cell or a global is covered by a run that takes it from the
// definition to the use with no other definition of the cell or the variable between, in one
// activation. Its lines are those of the nodes that are entered after the definition's own.

//= function chosen
//= test {"i": 0, "c": 1}
//= test {"i": 1, "c": 0}
// chosen(0, 1): B reaches E by D. chosen(1, 0): A reaches E.
//= all-du-paths       4/4 +1 duplicates -- i: A; c: AD, AE; of the whole array B by ADE, AE
//= all-du-paths-cells 5/7 missing a of `int a[2] = { 1, 2 }` in line @A reaches `a[0]` of the return
//=     in line @E by @D @E; the cell of a of `a[i] = 3` in line @B reaches `a[0]` of the return in
//=     line @E by @E
int chosen(int i, int c)
{
    int a[2] = { 1, 2 }; // @A
    a[i] = 3;            // @B
    if (c)
        c = 0;           // @D
    return a[0];         // @E
}

//= function raised
//= test {"n": 0}
//= test {"n": 1}
//= test {"n": 2}
// The paths of i and n: ALB, ALE, BLB, BLE. raised(0): A to E. raised(1): A to both reads of B, and
// from B to E. raised(2): what is read in the second turn, and then at E, has come by LBL.., a path
// that passes L twice. B writes no cell that the next turn reads.
//= all-du-paths       4/4 +10 duplicates
//= all-du-paths-cells 8/10 +6 duplicates missing the cell of a of `a[i] += a[2]` in line @B reaches
//=     `a[2]` in line @B by @L @B; the cell of a of `a[i] += a[2]` in line @B reaches `a[i]` in
//=     line @B by @L @B
int raised(int n)
{
    int a[3] = { 1, 1, 1 };     // @A
    for (int i = 0; i < n; i++) // @L
        a[i] += a[2];           // @B
    return a[0];                // @E
}

//= function asked
//= test {"i": 1, "v": 5}
//= test {"i": 0, "v": 0}
//= test {"i": 0, "v": 4}
// Conditions and switches: each way is an objective. asked(1, 5): A to P by B, false; B to S,
// default. asked(0, 0): A to P, false; A to S, case 7. asked(0, 4): B to P, true.
//= all-du-paths       7/10 +2 duplicates missing @A @P @R; @A @P @S @U; @B @P @S @T
//= all-du-paths-cells 7/14 +2 duplicates covered @A @B; @A @P;
//=     a of `int a[2] = { 0, 7 }` in line @A reaches `a[0]` of the condition in line @P, false by @B @P;
//=     a of `int a[2] = { 0, 7 }` in line @A reaches `a[0]` of the condition in line @P, false by @P;
//=     the cell of a of `a[i] = v` in line @B reaches `a[0]` of the condition in line @P, true by @P;
//=     a of `int a[2] = { 0, 7 }` in line @A reaches `a[1]` of the switch in line @S, case 7 by @P @S;
//=     the cell of a of `a[i] = v` in line @B reaches `a[1]` of the switch in line @S, default by @P @S
int asked(int i, int v)
{
    int a[2] = { 0, 7 }; // @A
    if (v)
        a[i] = v;        // @B
    if (a[0] > 0)        // @P
        return 1;        // @R
    switch (a[1])        // @S
    {
    case 7:
        return 2;        // @T
    }
    return 3;            // @U
}

//= function down
//= test {"n": 1}
// Recursion: cells, and the ways since, are those of one activation. down(1): in down(0) A to E, then
// in down(1) B to E by D.
//= all-du-paths-cells 5/7 +1 duplicates missing a of `int a[2] = { 0 }` in line @A reaches `a[1]` of
//=     the return in line @E by @D @E; the cell of a of `a[n & 1] = n` in line @B reaches `a[1]` of
//=     the return in line @E by @E
int down(int n)
{
    int a[2] = { 0 };  // @A
    a[n & 1] = n;      // @B
    if (n > 0)
        down(n - 1);   // @D
    return a[1];       // @E
}

//= function aim
//= test {"i": 1, "c": 1}
//= test {"i": 2, "c": 1}
//= test {"i": 0, "c": 0}
// A write through a pointer is a definition where it hits. aim(1, 1): C to D. aim(2, 1): A to D by C.
// aim(0, 0): A to D.
//= all-du-paths-cells 6/6 +1 duplicates -- i: A; c: AC, AD; p: AC again
int aim(int i, int c)
{
    int a[4] = { 0 }; // @A
    int *p = &a[i];
    if (c)
        *p = 2;       // @C
    return a[1];      // @D
}

struct slots { int k; int v[2]; };

//= function given
// A parameter with cells is defined before the first node is entered. given(s, 0, 1): B to E.
// given(s, 0, 0): the parameter to E.
//= all-du-paths-cells 4/5 +1 duplicates missing the parameter s reaches `s.v[0]` of the return in
//=     line @E by @C @B @E
int given(struct slots s, int i, int c)
{
    if (c)              // @C
        s.v[i] = 1;     // @B
    return s.v[0];      // @E
}

static int shelf[2];

//= function put
//= all-du-paths,all-du-paths-cells 1/1
static void put(int i)
{
    shelf[i] = 9;
}

//= function keep
//= test {"i": 1, "j": 0}
// What is called may define a global: keep(1, 0) overwrites what A wrote. There is no node between.
//= all-du-paths       1/1 +1 duplicates -- what is called always defines the array as a whole
//= all-du-paths-cells 1/2 +1 duplicates missing the cell of shelf of `shelf[0] = i` in line @A reaches
//=     `shelf[0]` of the return in line @C directly
int keep(int i, int j)
{
    shelf[0] = i;    // @A
    put(j);
    return shelf[0]; // @C
}

static int bin[2];

static void throw(int i)
{
    bin[i] = 9;
}

//= function spare
//= test {"i": 1, "j": 1}
// The same with another cell: spare(1, 1) leaves what A wrote.
//= all-du-paths       1/1 +1 duplicates
//= all-du-paths-cells 2/2 +1 duplicates
int spare(int i, int j)
{
    bin[0] = i;    // @A
    throw(j);
    return bin[0]; // @C
}

static int mode;

//= function state
//= test {"c": 1, "d": 1}
//= test {"c": 0, "d": 0}
// state(1, 1): ABCDE, on which D defines. state(0, 0): ACE.
//= all-du-paths,all-du-paths-cells 6/9 +1 duplicates missing @A @C @D; @B @C @E;
//=     mode of `mode = 1` in line @A reaches the return in line @E by @B @C @E
int state(int c, int d)
{
    mode = 1;       // @A
    if (c)
        d++;        // @B
    if (d > 1)      // @C
        mode = 2;   // @D
    return mode;    // @E
}

static int level;

//= function lift
//= all-du-paths,all-du-paths-cells 1/1
static void lift(int by)
{
    level += by;
}

//= function after
//= test {"c": 1}
//= test {"c": 0}
// By B the callee has defined the variable.
//= all-du-paths,all-du-paths-cells 3/4 +1 duplicates missing level of `level = 0` in line @A reaches the
//=     return in line @C by @B @C
int after(int c)
{
    level = 0;        // @A
    if (c)
        lift(c);      // @B
    return level;     // @C
}

static int deep;

//= function nest
//= test {"n": 1}
//= test {"n": 2}
// Only the activation that defines the variable has come from there: in nest(2) the inner ones read
// at G what D of the outer one wrote, which is no pair of theirs.
//= all-du-paths,all-du-paths-cells 6/8 +3 duplicates missing @C @D @E @G;
//=     deep of `deep = n` in line @D reaches the return in line @G by @E @G
int nest(int n)
{
    if (n > 1)         // @C
        deep = n;      // @D
    if (n > 0)         // @E
        nest(n - 1);   // @F
    return deep;       // @G
}

static int turns;

//= function spin
//= test {"n": 0}
//= test {"n": 1}
// spin(0): ALE. spin(1): ALBLE.
//= all-du-paths,all-du-paths-cells 8/10 missing turns of `turns += 2` in line @B reaches the condition
//=     in line @L, true by @L; turns of `turns += 2` in line @B reaches its use in line @B
//=     by @L @B
int spin(int n)
{
    turns = 0;             // @A
    while (turns < n)      // @L
        turns += 2;        // @B
    return turns;          // @E
}

int main(void)
{
    struct slots s = { 1, { 2, 3 } };
    chosen(0, 1), chosen(1, 0);
    raised(0), raised(1), raised(2);
    asked(1, 5), asked(0, 0), asked(0, 4);
    down(1);
    aim(1, 1), aim(2, 1), aim(0, 0);
    given(s, 0, 1), given(s, 0, 0);
    keep(1, 0);
    spare(1, 1);
    state(1, 1), state(0, 0);
    after(1), after(0);
    nest(1), nest(2);
    spin(0), spin(1);
    return 0;
}
