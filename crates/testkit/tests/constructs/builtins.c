int f(int x, int y, const int *a)
{
    int sum;
    unsigned carry;
    if (__builtin_add_overflow(x, y, &sum))
        return 1;
    if (__builtin_addc((unsigned)x, (unsigned)a[0], 1u, &carry) == 3 && carry)
        return 2;
    if (__builtin_popcount((unsigned)y) == 31 && __builtin_bitreverse8((unsigned char)x) == 0x41)
        return 3;
    switch (x) {
    case 5 ... 7:
        return __atomic_load_n(&a[1], __ATOMIC_SEQ_CST) ?: 4;
    default:
        return sum > 3;
    }
}
