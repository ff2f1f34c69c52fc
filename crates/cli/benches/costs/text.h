/* Text that the drivers work on: words of a vocabulary, the frequent ones often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long state = 1;

static unsigned any(unsigned below)
{
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(state >> 33) % below;
}

/* Fills `size` bytes with words, numbers and punctuation. */
static void fill(char *to, size_t size)
{
    size_t at = 0;
    while (at < size) {
        unsigned word = any(4096) & any(4096), kind = any(32);
        size_t letters = 2 + word % 7;
        for (size_t n = 0; n < letters && at < size; n++) {
            to[at++] = (char)('a' + word % 26);
            word = word * 31 + 7;
        }
        if (kind == 0 && at + 12 < size)
            at += (size_t)sprintf(to + at, " %u", any(65536));
        if (at < size)
            to[at++] = kind < 2 ? '\n' : kind < 4 ? ',' : ' ';
    }
}
