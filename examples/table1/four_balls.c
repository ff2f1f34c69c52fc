/*
 * Four balls, at most one of which is heavier or lighter than the others: two or three weighings
 * on a balance find it. Weights are short, so that a pan with two balls fits an int.
 */

enum tilt { LEFT_DOWN = 1, LEVEL = 0, RIGHT_DOWN = -1 };

static enum tilt weigh(int left, int right)
{
    if (left > right)
        return LEFT_DOWN;
    if (left < right)
        return RIGHT_DOWN;
    return LEVEL;
}

/*
 * The number of the odd ball, 1 to 4; negative if it is too light, 0 if all weigh the same. What
 * breaks the promise of one odd ball may get any of these answers.
 */
int four_balls(short first, short second, short third, short fourth)
{
    enum tilt pairs = weigh(first + second, third + fourth);

    if (pairs == LEVEL)
        return 0;

    /* The odd ball makes its own pair differ; the side that went down says heavy or light. */
    switch (weigh(first, second)) {
    case LEFT_DOWN:
        return pairs == LEFT_DOWN ? 1 : -2;
    case RIGHT_DOWN:
        return pairs == LEFT_DOWN ? 2 : -1;
    case LEVEL:
        break;
    }
    if (weigh(third, fourth) == LEFT_DOWN)
        return pairs == LEFT_DOWN ? -4 : 3;
    return pairs == LEFT_DOWN ? -3 : 4;
}
