/*
 * The odd one of COUNT balls: the promise of one odd ball is checked, then a balance with pans of
 * thirds finds it.
 */
#include "input.h"

#ifndef COUNT
#define COUNT 9
#endif

static int load(const short *ball, int from, int to)
{
    int sum = 0;

    while (from < to)
        sum += ball[from++];
    return sum;
}

/* How many balls weigh something else than most do; the weight of most comes back in `usual`. */
static int odd_ones(const short *ball, int count, short *usual)
{
    int odd = 0;

    *usual = ball[0] == ball[1] || ball[0] == ball[2] ? ball[0] : ball[1];
    for (int i = 0; i < count; i++)
        if (ball[i] != *usual)
            odd++;
    return odd;
}

/* The index of the odd ball; -1 if there is none, -2 if there are several. */
static int find_odd(const short *ball, int count)
{
    int from = 0, size = count;
    short usual;
    int odd = odd_ones(ball, count, &usual);

    if (odd != 1)
        return odd == 0 ? -1 : -2;
    while (size > 1) {
        int third = (size + 2) / 3;
        int left = load(ball, from, from + third);
        int next = from + 2 * third < from + size ? from + 2 * third : from + size;
        int right = load(ball, from + third, next);

        if (left != usual * third) {
            size = third;
        } else if (right != usual * (next - from - third)) {
            size = next - from - third;
            from += third;
        } else {
            size -= next - from;
            from = next;
        }
    }
    return from;
}

int main(void)
{
    short ball[COUNT];

    INPUT(ball);
    return find_odd(ball, COUNT);
}
