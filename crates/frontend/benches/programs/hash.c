/* Digests blocks of bytes as MD5 does: rotations, additions and tables on 32-bit words. */

static const unsigned char rotations[64] = {
    7, 12, 17, 22, 7, 12, 17, 22, 7, 12, 17, 22, 7, 12, 17, 22,
    5, 9,  14, 20, 5, 9,  14, 20, 5, 9,  14, 20, 5, 9,  14, 20,
    4, 11, 16, 23, 4, 11, 16, 23, 4, 11, 16, 23, 4, 11, 16, 23,
    6, 10, 15, 21, 6, 10, 15, 21, 6, 10, 15, 21, 6, 10, 15, 21,
};

struct digest {
    unsigned state[4];
    unsigned long length;
    unsigned char buffer[64];
};

static unsigned constants[64];

static unsigned rotate(unsigned x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static unsigned word(const unsigned char *p)
{
    return p[0] | (unsigned)p[1] << 8 | (unsigned)p[2] << 16 | (unsigned)p[3] << 24;
}

static void block(struct digest *d, const unsigned char *p)
{
    unsigned a = d->state[0], b = d->state[1], c = d->state[2], e = d->state[3];
    unsigned m[16];
    for (int i = 0; i < 16; i++)
        m[i] = word(p + 4 * i);
    for (int i = 0; i < 64; i++) {
        unsigned f, g;
        if (i < 16) {
            f = (b & c) | (~b & e);
            g = i;
        } else if (i < 32) {
            f = (e & b) | (~e & c);
            g = (5 * i + 1) % 16;
        } else if (i < 48) {
            f = b ^ c ^ e;
            g = (3 * i + 5) % 16;
        } else {
            f = c ^ (b | ~e);
            g = (7 * i) % 16;
        }
        f += a + constants[i] + m[g];
        a = e;
        e = c;
        c = b;
        b += rotate(f, rotations[i]);
    }
    d->state[0] += a;
    d->state[1] += b;
    d->state[2] += c;
    d->state[3] += e;
}

static void update(struct digest *d, const unsigned char *p, unsigned long n)
{
    while (n > 0) {
        d->buffer[d->length++ % 64] = *p++;
        n--;
        if (d->length % 64 == 0)
            block(d, d->buffer);
    }
}

unsigned long bench(void)
{
    static unsigned char text[4096];
    struct digest d = {{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476}, 0, {0}};
    unsigned x = 1;
    for (int i = 0; i < 64; i++) {
        x = x * 1664525u + 1013904223u;
        constants[i] = x;
    }
    for (int i = 0; i < 4096; i++)
        text[i] = (unsigned char)(i * 7);
    for (int round = 0; round < 40; round++)
        update(&d, text, sizeof text);
    return (unsigned long)d.state[0] << 32 | d.state[3];
}
