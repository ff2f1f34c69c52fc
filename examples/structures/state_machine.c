/* A state machine that is driven by a table, with callbacks, and a door that uses it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct machine;

struct event {
    int kind;
    uint32_t argument;
};

/* All callbacks may be null. */
struct state {
    const char *name;
    void (*on_enter)(struct machine *machine);
    void (*on_exit)(struct machine *machine);
    bool (*on_event)(struct machine *machine, const struct event *event); /* true: dealt with */
};

/* The first row goes that fits the state and the event, and whose guard does not say no. */
struct transition {
    int from; /* or ANY_STATE */
    int event;
    bool (*guard)(const struct machine *machine, const struct event *event);
    void (*action)(struct machine *machine, const struct event *event);
    int to; /* or SAME_STATE, which neither leaves nor enters */
};

enum { ANY_STATE = -1, SAME_STATE = -2 };

struct machine {
    const struct state *states;
    size_t state_count;
    const struct transition *transitions;
    size_t transition_count;
    int current;
    bool busy;        /* within machine_handle */
    unsigned ignored; /* events that nothing dealt with */
    void *context;    /* for the callbacks */
};

enum machine_result { MACHINE_MOVED, MACHINE_STAYED, MACHINE_IGNORED, MACHINE_BUSY, MACHINE_BROKEN };

static bool is_state(const struct machine *m, int state)
{
    return state >= 0 && (size_t)state < m->state_count;
}

/* Enters the first state. Returns false if there is no such state. */
bool machine_start(struct machine *m, int first)
{
    if (m == NULL || m->states == NULL || !is_state(m, first))
        return false;
    m->current = first;
    m->busy = false;
    m->ignored = 0;
    if (m->states[first].on_enter != NULL)
        m->states[first].on_enter(m);
    return true;
}

static const struct transition *choose(const struct machine *m, const struct event *event)
{
    for (size_t i = 0; i < m->transition_count; i++) {
        const struct transition *t = &m->transitions[i];
        if (t->from != ANY_STATE && t->from != m->current)
            continue;
        if (t->event == event->kind && (t->guard == NULL || t->guard(m, event)))
            return t;
    }
    return NULL;
}

static void move(struct machine *m, int to)
{
    const struct state *left = &m->states[m->current];

    if (left->on_exit != NULL)
        left->on_exit(m);
    m->current = to;
    if (m->states[to].on_enter != NULL)
        m->states[to].on_enter(m);
}

/* The state's own handler comes first, then the table. */
enum machine_result machine_handle(struct machine *m, const struct event *event)
{
    enum machine_result result = MACHINE_STAYED;
    const struct state *state;
    const struct transition *t;

    if (m == NULL || event == NULL || !is_state(m, m->current))
        return MACHINE_BROKEN;
    if (m->busy)
        return MACHINE_BUSY; /* a callback must not send events */

    m->busy = true;
    state = &m->states[m->current];
    if (state->on_event == NULL || !state->on_event(m, event)) {
        t = choose(m, event);
        if (t == NULL) {
            m->ignored++;
            result = MACHINE_IGNORED;
        } else if (t->to != SAME_STATE && !is_state(m, t->to)) {
            result = MACHINE_BROKEN;
        } else {
            if (t->action != NULL)
                t->action(m, event);
            if (t->to != SAME_STATE) {
                move(m, t->to);
                result = MACHINE_MOVED;
            }
        }
    }
    m->busy = false;
    return result;
}

/* The door: it opens by itself, or locks until the right code comes. */
enum door_state { DOOR_CLOSED, DOOR_OPEN, DOOR_LOCKED };
enum door_event { PUSH, PULL, LOCK, CODE, ALARM };
enum { MOST_TRIES = 3 };

struct door {
    uint32_t code;
    int tries; /* wrong codes in a row */
    bool siren;
};

static bool code_fits(const struct machine *m, const struct event *event)
{
    const struct door *door = m->context;
    return event->argument == door->code && door->tries < MOST_TRIES;
}

static void wrong_code(struct machine *m, const struct event *event)
{
    struct door *door = m->context;
    (void)event;
    if (door->tries < MOST_TRIES)
        door->tries++;
    if (door->tries == MOST_TRIES)
        door->siren = true;
}

static void forget_tries(struct machine *m)
{
    struct door *door = m->context;
    door->tries = 0;
    door->siren = false;
}

/* An open door only takes a push, and an alarm. */
static bool open_event(struct machine *m, const struct event *event)
{
    (void)m;
    return event->kind != PUSH && event->kind != ALARM;
}

static const struct state door_states[] = {
    [DOOR_CLOSED] = { "closed", forget_tries, NULL, NULL },
    [DOOR_OPEN] = { "open", NULL, NULL, open_event },
    [DOOR_LOCKED] = { "locked", NULL, forget_tries, NULL },
};

static const struct transition door_transitions[] = {
    { DOOR_CLOSED, PULL, NULL, NULL, DOOR_OPEN },
    { DOOR_CLOSED, LOCK, NULL, NULL, DOOR_LOCKED },
    { DOOR_OPEN, PUSH, NULL, NULL, DOOR_CLOSED },
    { DOOR_LOCKED, CODE, code_fits, NULL, DOOR_CLOSED },
    { DOOR_LOCKED, CODE, NULL, wrong_code, SAME_STATE },
    { ANY_STATE, ALARM, NULL, NULL, DOOR_LOCKED },
};

bool door_init(struct machine *m, struct door *door, uint32_t code)
{
    if (m == NULL || door == NULL)
        return false;
    *door = (struct door){ .code = code };
    *m = (struct machine){
        .states = door_states,
        .state_count = sizeof door_states / sizeof door_states[0],
        .transitions = door_transitions,
        .transition_count = sizeof door_transitions / sizeof door_transitions[0],
        .context = door,
    };
    return machine_start(m, DOOR_CLOSED);
}

/* Sends one event to the door. Returns whether the siren is on. */
bool door_send(struct machine *m, enum door_event kind, uint32_t argument)
{
    const struct event event = { .kind = kind, .argument = argument };
    const struct door *door = m->context;

    if (machine_handle(m, &event) == MACHINE_BROKEN)
        return true;
    return door->siren;
}
