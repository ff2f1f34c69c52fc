/* Small: the odd one of four balls. Follows examples/table1/four_balls.c. */
#include "input.h"

int main(void)
{
    short ball[4];

    INPUT(ball);
    return four_balls(ball[0], ball[1], ball[2], ball[3]);
}
