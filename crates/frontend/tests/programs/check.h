/* What every program here uses: checksums that depend on the order of what is mixed in. */
typedef unsigned long sum_t;

static sum_t mix(sum_t h, unsigned long v)
{
    h ^= v;
    h *= 0x100000001b3ul;
    return h ^ h >> 29;
}

static sum_t mix_double(sum_t h, double v)
{
    union { double d; unsigned long u; } pun;
    pun.d = v;
    return mix(h, pun.u);
}
