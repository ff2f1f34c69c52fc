/* Kinds of the triangles of a list: the triangle of the literature, COUNT times. Follows examples/table1/trityp.c. */
#include "input.h"

#ifndef COUNT
#define COUNT 2
#endif

static int most_frequent(int side[][3], int count)
{
    int seen[4] = { 0 };
    int best = 0;

    for (int i = 0; i < count; i++)
        seen[trityp(side[i][0], side[i][1], side[i][2])]++;
    for (int kind = 1; kind < 4; kind++)
        if (seen[kind] > seen[best])
            best = kind;
    return best;
}

int main(void)
{
    int side[COUNT][3];

    INPUT(side);
    return most_frequent(side, COUNT);
}
