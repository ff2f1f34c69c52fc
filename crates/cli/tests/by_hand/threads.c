// Threads: what belongs to one activation is not mixed with that of another thread. A barrier makes
// both threads stand in the function at once.

#include <pthread.h>
#include <stddef.h>

static pthread_barrier_t barrier;

//= function meet
//= fc       1/1
//= fcc      1/1
//= stmt     1/1
static void meet(void)
{
    pthread_barrier_wait(&barrier);
}

//= function step
// step(0) and step(9) at once: ACE and ABCD.
//= fc       1/1
//= fcc      1/1
//= stmt     7/7
//= bbc      5/5
//= bc,dc    4/4
//= epc      3/5 missing @A @C @D; @B @C @E
//= ppc,cpc  2/4 missing @A @C @D; @A @B @C @E
//= all-defs 3/3
//= all-uses 6/8 missing x of `int x = 0` in line @A reaches the return in line @D;
//=     x of `x = 1` in line @B reaches the return in line @E
static int step(int n)
{
    int x = 0;        // @A
    if (n > 0)
        x = 1;        // @B
    meet();           // @C
    if (n > 5)
        return x + 1; // @D
    return x;         // @E
}

//= function slots
// Cells of an array in both activations. slots(0) and slots(1) at once: SB to SD, SA to SD.
//= all-uses-cells 3/3
//= all-defs-cells 3/3
static int slots(int i)
{
    int a[2] = { 0 }; // @SA
    a[i] = 1;         // @SB
    meet();
    return a[0];      // @SD
}

//= function rounds
// rounds(1) twice at once: each enters the loop once.
//= fc       1/1
//= stmt     5/5
//= bbc      4/4
//= bc,dc    2/2
//= slo      0/1
//= elo      1/1
//= mlo      0/1 -- the two rounds are of two activations
//= epc      3/5 missing @A @B @D; @C @B @C
//= srtc,crtc 1/2
//= all-uses 6/10 missing i of `int i = 0` in line @A reaches the condition in line @B, false;
//=     i of `i++` in line @C1 reaches the condition in line @B, true;
//=     i of `i++` in line @C1 reaches its use in line @C1;
//=     i of `int i = 0` in line @A reaches the return in line @D
static int rounds(int n)
{
    int i = 0;    // @A
    while (i < n) // @B
    {
        meet();   // @C
        i++;      // @C1
    }
    return i;     // @D
}

//= function checked
// Conjunctions take evaluations of any thread: checked(1, 1) in one, checked(1, 0) in the other,
// checked(0, 1) in the first thread: TT=T, TF=F, Ft=F.
//= dc       2/2
//= mcc      3/4 missing d0 FF
//= cacc,racc,mcdc 2/2
//= gacc     4/4
//= cutpnfp  4/4
static int checked(int a, int b)
{
    if (a && b)
        return 1;
    return 0;
}

//= function falls
// A switch in two threads: falls(1) and falls(2).
//= bc       2/3 missing default
//= epc      3/4 missing @A @D
//= all-uses 6/8
//=     -- n: 2 of 3 ways; k = 0 to k += 1 (case 1) and k += 2 (case 2); k += 1 to k += 2;
//=     k to the return: from k += 2, not from k = 0
static int falls(int n)
{
    int k = 0;  // @A
    switch (n) {
    case 1:
        k += 1; // @B
    case 2:
        k += 2; // @C
    }
    return k;   // @D
}

static int meet_with(int n)
{
    meet();
    return n;
}

//= function apart
// Both threads stand within the decision at once: apart(1, 0), (0, 9) and apart(2, 5): TF, F-, TT.
//= dc       2/2
//= cc,bc    4/4
//= mcc      2/4 covered d0 TT; d0 TF
//= gacc     3/4
//= cacc,racc 1/2
//= mcdc     2/2
//= bbc      4/4
//= epc,ppc,cpc 3/3
//= all-uses 3/3 -- two ways of a, the argument b
static int apart(int a, int b)
{
    if (a > 0 && meet_with(b) > 0)
        return 1;
    return 0;
}

static void *first(void *unused)
{
    step(0);
    slots(0);
    rounds(1);
    checked(1, 1), checked(0, 1);
    falls(1);
    apart(1, 0), apart(0, 9);
    return unused;
}

static void *second(void *unused)
{
    step(9);
    slots(1);
    rounds(1);
    checked(1, 0);
    falls(2);
    apart(2, 5);
    return unused;
}

//= function main
//= fc       1/1
//= fcc      3/3 -- what pthread_create calls is no call by name
//= stmt     6/6
int main(void)
{
    pthread_t one, two;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&one, NULL, first, NULL);
    pthread_create(&two, NULL, second, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    return 0;
}
