/* Collision avoidance over several reports of the other aircraft. Follows examples/table1/tcas.c. */
#include "input.h"

#ifndef REPORTS
#define REPORTS 2
#endif

struct report {
    int altitude;
    int separation;
    int room_above, room_below;
    int intent;
};

/* The advice after the last report; an advice is not taken back while the reports disagree. */
static enum advice follow(const struct report *report, int count, int own_altitude, int own_rate)
{
    enum advice advice = NO_ADVICE;
    int agree = 1;

    for (int i = 0; i < count; i++) {
        const struct report *r = &report[i];
        enum advice next;

        if (i > 0)
            agree = r->altitude - report[i - 1].altitude < 500;
        next = collision_advice(r->separation, 1, agree, own_altitude, own_rate, r->altitude, 1,
                                r->room_above, r->room_below, r->intent, 1, 0);
        if (agree || advice == NO_ADVICE)
            advice = next;
    }
    return advice;
}

int main(void)
{
    struct report report[REPORTS];
    int own_altitude, own_rate;

    INPUT(report);
    INPUT(own_altitude);
    INPUT(own_rate);
    for (int i = 0; i < REPORTS; i++)
        report[i].altitude &= 0xFFFF;
    return follow(report, REPORTS, own_altitude, own_rate);
}
