/* Mutants of an assignment put other globals in the place of what it writes: ones that the function
   itself does not name, and that others change. */
static int turns = 3;
static int limit = 1;
int turn(void) { return ++turns; }
int raise(void) { return limit += 2; }
int f(int x, int y, const int *a)
{
    static int last = 1;
    if (x > 2 && y < a[1])
        last = 3;
    last = (short)(1);
    return last + (x == 4);
}
