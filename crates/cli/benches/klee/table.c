/* A hash table with open addressing: keys go in, some go out, one is looked up. */
#include "input.h"

#ifndef KEYS
#define KEYS 4
#endif

enum { SLOTS = 8, EMPTY = 0, GONE = 1 };

static unsigned slot_of(uint16_t key)
{
    return (key * 40503u >> 8) % SLOTS;
}

/* The slot of the key; else the one where it may be put, or -1. */
static int find(const uint16_t *slot, uint16_t key, int *there)
{
    unsigned at = slot_of(key);
    int free = -1;

    *there = 0;
    for (int i = 0; i < SLOTS; i++, at = (at + 1) % SLOTS) {
        if (slot[at] == key) {
            *there = 1;
            return (int)at;
        }
        if (slot[at] == GONE && free < 0)
            free = (int)at;
        if (slot[at] == EMPTY)
            return free < 0 ? (int)at : free;
    }
    return free;
}

/* Keys in order: each is put in, or taken out if it is there. How many are left. */
static int toggle_all(const uint16_t *key, int count)
{
    uint16_t slot[SLOTS] = { EMPTY };
    int left = 0;

    for (int i = 0; i < count; i++) {
        int there, at;

        if (key[i] == EMPTY || key[i] == GONE)
            return -1;
        at = find(slot, key[i], &there);
        if (at < 0)
            return -2;
        slot[at] = there ? GONE : key[i];
        left += there ? -1 : 1;
    }
    return left;
}

int main(void)
{
    uint16_t key[KEYS];

    INPUT(key);
    return toggle_all(key, KEYS);
}
