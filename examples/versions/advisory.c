/* Advice to a pilot whose aircraft may come too near to another one: climb, descend, or neither.
 *
 * The logic is of the kind that collision avoidance systems have: thresholds by layers of altitude,
 * separations that are predicted for both manoeuvres, and what the other aircraft intends. */

enum advice { NONE, CLIMB, DESCEND, UNRESOLVED };
enum intent { UNKNOWN_INTENT, WILL_CLIMB, WILL_DESCEND };

struct aircraft {
    int altitude;
    int rate;
    int report_is_valid;
};

struct encounter {
    struct aircraft own, other;
    int layer;
    int separation_up, separation_down;
    int other_can_coordinate;
    enum intent intent;
    int climb_is_inhibited;
};

#define HORIZON 600
#define MOST_RATE 600
#define CLIMB_BONUS 100

static int threshold(int layer)
{
    if (layer <= 0)
        return 400;
    if (layer == 1)
        return 500;
    if (layer == 2)
        return 640;
    return 740;
}

static int own_is_below(const struct encounter *e)
{
    return e->own.altitude < e->other.altitude;
}

static int own_is_above(const struct encounter *e)
{
    return e->other.altitude < e->own.altitude;
}

static int inhibited_climb(const struct encounter *e)
{
    return e->climb_is_inhibited ? e->separation_up + CLIMB_BONUS : e->separation_up;
}

static int climb_without_crossing(const struct encounter *e)
{
    int prefers_up = inhibited_climb(e) > e->separation_down;
    if (prefers_up)
        return !own_is_below(e)
            || (own_is_below(e) && !(e->separation_down >= threshold(e->layer)));
    return own_is_above(e) && e->other.rate < HORIZON && e->separation_up >= threshold(e->layer);
}

static int descent_without_crossing(const struct encounter *e)
{
    int prefers_up = inhibited_climb(e) > e->separation_down;
    if (prefers_up)
        return own_is_below(e) && e->other.rate < HORIZON
            && e->separation_down >= threshold(e->layer);
    return !own_is_above(e) || (own_is_above(e) && e->separation_up >= threshold(e->layer));
}

enum advice advise(const struct encounter *e)
{
    enum advice found = NONE;
    int enabled = e->own.report_is_valid && e->own.rate <= MOST_RATE && e->own.altitude > HORIZON;
    int coordinates = e->other_can_coordinate && e->other.report_is_valid;
    int intent_is_unknown = coordinates && e->intent == UNKNOWN_INTENT;
    int wants_up, wants_down;

    if (!enabled || (!intent_is_unknown && coordinates))
        return found;
    wants_up = climb_without_crossing(e) && own_is_below(e);
    wants_down = descent_without_crossing(e) && own_is_above(e);
    if (wants_up && wants_down)
        found = UNRESOLVED;
    else if (wants_up)
        found = CLIMB;
    else if (wants_down)
        found = DESCEND;
    if (found == CLIMB && e->own.rate < 0 - MOST_RATE)
        found = UNRESOLVED;
    if (found == DESCEND && e->own.altitude < HORIZON + 400)
        found = NONE;
    return found;
}
