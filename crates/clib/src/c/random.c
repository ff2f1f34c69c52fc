/* Random numbers: the additive feedback generator of 31 words that rand() has on Linux, and the
   linear congruential generator of drand48(). */
#include "internal.h"

enum { DEGREE = 31, SEPARATION = 3 };
static int32_t state[DEGREE];
static int front, rear, is_seeded;

static int32_t next(void) {
    uint32_t sum = (uint32_t)state[front] + (uint32_t)state[rear];
    state[front] = (int32_t)sum;
    if (++front == DEGREE) front = 0;
    if (++rear == DEGREE) rear = 0;
    return (int32_t)(sum >> 1);
}

void srandom(unsigned seed) {
    state[0] = seed ? (int32_t)seed : 1;
    for (int i = 1; i < DEGREE; i++) {
        /* 16807 * x mod (2^31 - 1), without overflow. */
        int32_t high = state[i - 1] / 127773, low = state[i - 1] % 127773;
        int32_t word = 16807 * low - 2836 * high;
        state[i] = word < 0 ? word + 2147483647 : word;
    }
    front = SEPARATION;
    rear = 0;
    is_seeded = 1;
    for (int i = 0; i < 10 * DEGREE; i++) next();
}

long random(void) {
    if (!is_seeded) srandom(1);
    return next();
}
int rand(void) { return (int)random(); }
void srand(unsigned seed) { srandom(seed); }

int rand_r(unsigned *seed) {
    unsigned x = *seed, result;
    x = x * 1103515245 + 12345;
    result = x / 65536 % 2048;
    x = x * 1103515245 + 12345;
    result = result << 10 ^ x / 65536 % 1024;
    x = x * 1103515245 + 12345;
    result = result << 10 ^ x / 65536 % 1024;
    *seed = x;
    return (int)result;
}

static uint64_t word48;
static uint64_t step48(void) {
    word48 = (word48 * 0x5deece66dull + 11) & 0xffffffffffffu;
    return word48;
}
void srand48(long seed) { word48 = ((uint64_t)seed & 0xffffffffu) << 16 | 0x330e; }
double drand48(void) { return (double)step48() / 281474976710656.0; }
long lrand48(void) { return (long)(step48() >> 17); }
long mrand48(void) { return (int32_t)(step48() >> 16); }
