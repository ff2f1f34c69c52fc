/* Small: a simple form of collision avoidance, with few conditions in each decision. */
#include "input.h"

enum advice { NONE, CLIMB, DESCEND };

/* Feet; the least distance that counts as safe in each layer of the air. */
static const int safe[] = { 400, 500, 640, 740 };

struct encounter {
    int own, other;  /* altitudes */
    int up, down;    /* distance expected after a climb, after a descent */
    unsigned layer;
};

static int least_room(unsigned layer)
{
    return safe[layer < 4 ? layer : 3];
}

static enum advice advise(const struct encounter *e)
{
    int room = least_room(e->layer);
    int climb = e->own > e->other && e->up >= room;
    int descend = e->own < e->other && e->down >= room;

    if (e->own - (long)e->other > 1000 || e->other - (long)e->own > 1000)
        return NONE;
    if (climb)
        return CLIMB;
    if (descend)
        return DESCEND;
    return e->up > e->down ? CLIMB : DESCEND;
}

int main(void)
{
    struct encounter e;

    INPUT(e);
    return advise(&e);
}
