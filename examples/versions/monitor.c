/* One turn of a traffic monitor: it sorts the aircraft around into levels of danger, chooses the most
 * dangerous one, and changes the advice to the pilot, the volume of the horn, and the display.
 *
 * Unlike the logic in advisory.c it keeps its state in memory, and writes to it in most of its branches. */

enum level { CLEAR, NEAR, CAUTION, WARNING };
enum order { KEEP, UP, DOWN };

struct track {
    int range, closing, height;
    int is_heard;
    enum level level;
};

struct monitor {
    struct track tracks[3];
    int own_height, own_rate, gear_is_down, is_inhibited;
    int radio_height, wind;
    enum order order;
    int strength, held, volume, brightness, alarms;
};

#define FAR_RANGE 9000
#define NEAR_RANGE 3000
#define MOST_RATE 1200
#define LOW 1000

/* Readings beyond what the sensors can measure are cut off. */
static void clean(struct monitor *m)
{
    if (m->own_rate > MOST_RATE)
        m->own_rate = MOST_RATE;
    if (m->own_rate < 0 - MOST_RATE)
        m->own_rate = 0 - MOST_RATE;
    if (m->radio_height < 0 || m->radio_height > 2500)
        m->radio_height = m->own_height;
    if (m->wind < 0)
        m->wind = 0;
}

static void sort(struct monitor *m, struct track *t)
{
    t->level = CLEAR;
    if (!t->is_heard || t->range >= FAR_RANGE)
        return;
    t->level = NEAR;
    if (t->closing > 0 && t->range < NEAR_RANGE && t->height - m->own_height < LOW)
        t->level = CAUTION;
    if (t->level == CAUTION && (t->closing > 600 || t->range < 1000))
        t->level = WARNING;
}

static int worst(const struct monitor *m)
{
    int found = 0, i;

    for (i = 1; i < 3; i++)
        if (m->tracks[i].level > m->tracks[found].level)
            found = i;
    return found;
}

static void choose(struct monitor *m, const struct track *t)
{
    int above = t->height > m->own_height;

    if (t->level < CAUTION || m->is_inhibited) {
        m->order = KEEP;
        m->strength = 0;
        return;
    }
    if (above && m->own_height > LOW)
        m->order = DOWN;
    else
        m->order = UP;
    m->strength = 1;
    if (t->level == WARNING && m->own_rate * 2 < MOST_RATE && !m->gear_is_down)
        m->strength = 2;
}

/* What the pilot hears and sees. */
static void show(struct monitor *m)
{
    m->volume = 3;
    if (m->wind > 40 || m->gear_is_down)
        m->volume = 4;
    if (m->strength == 2)
        m->volume = 6;
    m->brightness = 5;
    if (m->radio_height < LOW && m->own_rate < 0)
        m->brightness = 7;
}

enum order turn(struct monitor *m)
{
    int i, before = m->order;

    clean(m);
    for (i = 0; i < 3; i++)
        sort(m, &m->tracks[i]);
    choose(m, &m->tracks[worst(m)]);
    show(m);
    if (m->order != KEEP && before == KEEP)
        m->alarms++;
    if (m->order == KEEP && before != KEEP && m->held < 3) {
        m->held++;
        m->order = before;
    } else if (m->order != KEEP || m->held >= 3) {
        m->held = 0;
    }
    if (m->alarms > 9 && m->held == 0)
        m->alarms = 9;
    if (m->volume > 5 && m->brightness < 6)
        m->brightness = 6;
    return m->order;
}
