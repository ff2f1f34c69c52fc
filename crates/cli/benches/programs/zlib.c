/* Compresses 50 MB of text with zlib and prints the user time that it took, in microseconds. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include "zlib.h"

enum { SIZE = 50000000 };

static long used(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec;
}

/* Words of a vocabulary of 4,096, the frequent ones often, with numbers and punctuation between. */
static void fill(unsigned char *to) {
    unsigned long state = 1;
    size_t at = 0;
    while (at < SIZE) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long word = (state >> 52) & (state >> 40) & 4095;
        size_t letters = 2 + word % 7;
        for (size_t n = 0; n < letters && at < SIZE; n++) {
            to[at++] = (unsigned char)('a' + word % 26);
            word = word * 31 + 7;
        }
        unsigned kind = (unsigned)(state >> 33) % 32;
        if (kind == 0 && at + 8 < SIZE) at += (size_t)sprintf((char *)to + at, " %u", (unsigned)(state >> 48));
        if (at < SIZE) to[at++] = kind < 2 ? '\n' : kind < 4 ? ',' : ' ';
    }
}

int main(void) {
    unsigned char *from = malloc(SIZE + 16);
    uLongf packed = compressBound(SIZE);
    unsigned char *to = malloc(packed);
    if (!from || !to) return 1;
    fill(from);
    long before = used();
    if (compress2(to, &packed, from, SIZE, 6) != Z_OK) return 2;
    printf("%ld\n", used() - before);
    fprintf(stderr, "%lu\n", packed);
    return 0;
}
