/* Builtins that are computed in place, in expressions of all kinds: what they read is a use there. */
static unsigned low(unsigned long x) { return (unsigned)__builtin_ctzll(x | 8) >> 1; }
int f(int x, int y, const int *a)
{
    unsigned long word = (unsigned long)x;
    int ones = __builtin_popcountll(word);
    if (__builtin_bswap32((unsigned)a[0]) > 255u)
        return (int)low(word);
    if (__builtin_ffs(y) == 3 || __builtin_parity((unsigned)ones))
        return __builtin_rotateleft8((unsigned char)y, 3);
    return __builtin_clrsb(a[1]) + __builtin_ctz((unsigned)(y | 1));
}
