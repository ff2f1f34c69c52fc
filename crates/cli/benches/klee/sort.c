/* Insertion sort, then the median without the outliers. */
#include "input.h"

#ifndef COUNT
#define COUNT 6
#endif

static void sort(int *value, int count)
{
    for (int i = 1; i < count; i++) {
        int v = value[i];
        int k = i;

        while (k > 0 && value[k - 1] > v) {
            value[k] = value[k - 1];
            k--;
        }
        value[k] = v;
    }
}

/* The median of what lies within `spread` of the middle value. */
static int trimmed_median(int *value, int count, unsigned spread)
{
    int from = 0, to = count - 1, middle;

    sort(value, count);
    middle = value[count / 2];
    while ((unsigned)middle - (unsigned)value[from] > spread)
        from++;
    while ((unsigned)value[to] - (unsigned)middle > spread)
        to--;
    return value[(from + to) / 2];
}

int main(void)
{
    int value[COUNT];

    INPUT(value);
    return trimmed_median(value, COUNT, 1000);
}
