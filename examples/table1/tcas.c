/*
 * Collision avoidance between two aircraft, of the size and shape of the "Tcas" of the testing
 * literature: twelve integers from the sensors and the other aircraft go in, an advice comes out.
 * The rules are this program's own; do not fly with them.
 */

enum advice {
    NO_ADVICE = 0,
    CLIMB = 1,
    DESCEND = 2,
    HOLD_RATE = 3,
    CLIMB_FAST = 4,
    DESCEND_FAST = 5,
    TURN_UP = 6,
    TURN_DOWN = 7
};

enum intent { INTENT_NONE = 0, INTENT_CLIMB = 1, INTENT_DESCEND = 2 };

/* Feet. */
enum {
    CEILING = 60000,
    THIN_AIR = 41000,
    ALERT_SEPARATION = 600,
    CLOSE_SEPARATION = 300,
    CROSSING_MARGIN = 100,
    UNSURE_MARGIN = 50,
    SLOW_CLIMB_COST = 250
};

struct encounter {
    int separation;      /* vertical distance now */
    int reports_agree;   /* do the last reports of the other aircraft agree? */
    int own_altitude;
    int own_rate;        /* positive when we climb */
    int other_altitude;
    int needed;          /* the separation that counts as safe here */
    int room_above;      /* expected separation if we climb */
    int room_below;      /* expected separation if we descend */
    int other_intent;    /* what the other aircraft says that it does */
    int other_equipped;  /* does it run the same system? */
    int climb_inhibited; /* too heavy or too slow to climb well */
};

static int within(int value, int limit)
{
    return value >= 0 && value <= limit;
}

/*
 * The separation that counts as safe grows with height, where altimeters differ more. Layer 0 is
 * near the ground, layer 3 and above at cruising height.
 */
static int safe_room(int layer)
{
    switch (layer) {
    case 0:
        return 400;
    case 1:
        return 500;
    case 2:
        return 640;
    default:
        return 740;
    }
}

static int climb_room(const struct encounter *e)
{
    int slow = e->climb_inhibited || e->own_altitude > THIN_AIR;

    return slow ? e->room_above - SLOW_CLIMB_COST : e->room_above;
}

/* A climb crosses the other's altitude when we are below it; that needs a margin on top. */
static int climb_works(const struct encounter *e)
{
    int room = climb_room(e);

    if (room <= e->room_below)
        return e->own_altitude > e->other_altitude && room >= e->needed;
    if (e->own_altitude < e->other_altitude)
        return room >= e->needed + CROSSING_MARGIN;
    return 1;
}

static int descent_works(const struct encounter *e)
{
    if (e->room_below < climb_room(e))
        return e->own_altitude < e->other_altitude && e->room_below >= e->needed;
    if (e->own_altitude > e->other_altitude)
        return e->room_below >= e->needed + CROSSING_MARGIN;
    return 1;
}

/* Two aircraft with the system must not choose the same sense: what the other said first holds. */
static int may(const struct encounter *e, int sense)
{
    return !e->other_equipped || !e->reports_agree || e->other_intent != sense;
}

static int converging(const struct encounter *e)
{
    return e->own_altitude < e->other_altitude ? e->own_rate > 0 : e->own_rate < 0;
}

/* Nothing beyond the alert separation is a threat; nearer, what converges or is very close. */
static int is_threat(const struct encounter *e)
{
    if (e->separation >= ALERT_SEPARATION)
        return 0;
    return converging(e) || e->separation < CLOSE_SEPARATION;
}

static int urgent(const struct encounter *e)
{
    return e->separation < CLOSE_SEPARATION || !e->reports_agree;
}

/* Someone who descends has to turn first, and then climbs fast if there is little time. */
static enum advice climb_how(const struct encounter *e)
{
    if (e->own_rate < 0)
        return TURN_UP;
    return urgent(e) && !e->climb_inhibited ? CLIMB_FAST : CLIMB;
}

static enum advice descend_how(const struct encounter *e)
{
    if (e->own_rate > 0)
        return TURN_DOWN;
    return urgent(e) ? DESCEND_FAST : DESCEND;
}

enum advice collision_advice(int separation, int confident, int reports_agree,
                             int own_altitude, int own_rate, int other_altitude, int layer,
                             int room_above, int room_below, int other_intent,
                             int other_equipped, int climb_inhibited)
{
    struct encounter e = {
        .separation = separation,
        .reports_agree = reports_agree,
        .own_altitude = own_altitude,
        .own_rate = own_rate,
        .other_altitude = other_altitude,
        .room_above = room_above,
        .room_below = room_below,
        .other_intent = other_intent,
        .other_equipped = other_equipped,
        .climb_inhibited = climb_inhibited,
    };
    int up, down;

    if (!within(room_above, CEILING) || !within(room_below, CEILING) || !is_threat(&e))
        return NO_ADVICE;

    e.needed = safe_room(layer);
    if (!confident) /* our own altitude is not known well */
        e.needed += UNSURE_MARGIN;

    up = climb_works(&e);
    down = descent_works(&e);
    if (!may(&e, INTENT_CLIMB))
        up = 0;
    if (!may(&e, INTENT_DESCEND))
        down = 0;

    if (up && down) /* either would do: the one with more room */
        return room_above > room_below ? climb_how(&e) : descend_how(&e);
    if (up)
        return climb_how(&e);
    return down ? descend_how(&e) : HOLD_RATE;
}
