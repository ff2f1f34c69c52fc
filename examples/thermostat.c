/* A heater's state machine: floating point, an enum, state that lives from call to call. */
#include <stdbool.h>

enum mode { OFF, HEATING, RESTING, FAULT };

struct thermostat {
    enum mode mode;
    double target;    /* degrees Celsius */
    unsigned seconds; /* since the mode was entered */
};

enum { SHORTEST_REST = 120, LONGEST_HEATING = 3600 };

static bool plausible(double celsius)
{
    return celsius > -40.0 && celsius < 85.0; /* false for a NaN as well */
}

static void enter(struct thermostat *t, enum mode mode)
{
    t->mode = mode;
    t->seconds = 0;
}

/* One step, a second later. Returns whether the heater is to be on. */
bool thermostat_step(struct thermostat *t, double celsius, bool enabled)
{
    if (t->seconds < LONGEST_HEATING)
        t->seconds++;
    if (!plausible(celsius))
        enter(t, FAULT);

    switch (t->mode) {
    case OFF:
        if (enabled && celsius < t->target - 0.5)
            enter(t, HEATING);
        break;
    case HEATING:
        if (!enabled || celsius > t->target + 0.5)
            enter(t, RESTING);
        else if (t->seconds >= LONGEST_HEATING)
            enter(t, FAULT);
        break;
    case RESTING:
        if (t->seconds >= SHORTEST_REST)
            enter(t, OFF);
        break;
    case FAULT:
        if (!enabled && plausible(celsius))
            enter(t, OFF);
        break;
    }
    return t->mode == HEATING;
}
