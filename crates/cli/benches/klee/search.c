/* Lookups by bisection in a sorted table of ranges, as in routing tables and character classes. */
#include "input.h"

#ifndef RANGES
#define RANGES 5
#endif
#ifndef KEYS
#define KEYS 2
#endif

struct range {
    uint16_t first, last;
};

/* Ranges in order, none empty, none that meets the next. */
static int is_table(const struct range *table, int count)
{
    for (int i = 0; i < count; i++) {
        if (table[i].first > table[i].last)
            return 0;
        if (i > 0 && table[i - 1].last >= table[i].first)
            return 0;
    }
    return 1;
}

static int find(const struct range *table, int count, uint16_t key)
{
    int low = 0, high = count - 1;

    while (low <= high) {
        int middle = low + (high - low) / 2;

        if (key < table[middle].first)
            high = middle - 1;
        else if (key > table[middle].last)
            low = middle + 1;
        else
            return middle;
    }
    return -1;
}

static int lookups(const struct range *table, const uint16_t *key)
{
    int found = 0;

    if (!is_table(table, RANGES))
        return -1;
    for (int i = 0; i < KEYS; i++)
        if (find(table, RANGES, key[i]) >= 0)
            found++;
    return found;
}

int main(void)
{
    struct range table[RANGES];
    uint16_t key[KEYS];

    INPUT(table);
    INPUT(key);
    return lookups(table, key);
}
