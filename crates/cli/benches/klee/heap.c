/* A heap of tasks: all are put in, then taken out by priority as long as their time allows. */
#include "input.h"

#ifndef COUNT
#define COUNT 5
#endif

struct task {
    unsigned char priority;
    unsigned char cost;
};

struct heap {
    struct task task[COUNT];
    int count;
};

static int before(const struct task *a, const struct task *b)
{
    return a->priority > b->priority || (a->priority == b->priority && a->cost < b->cost);
}

static void swap(struct task *a, struct task *b)
{
    struct task kept = *a;

    *a = *b;
    *b = kept;
}

static void put(struct heap *heap, const struct task *task)
{
    int at = heap->count++;

    heap->task[at] = *task;
    while (at > 0 && before(&heap->task[at], &heap->task[(at - 1) / 2])) {
        swap(&heap->task[at], &heap->task[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
}

static struct task take(struct heap *heap)
{
    struct task first = heap->task[0];
    int at = 0;

    heap->task[0] = heap->task[--heap->count];
    for (;;) {
        int best = at;

        for (int child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (before(&heap->task[child], &heap->task[best]))
                best = child;
        if (best == at)
            return first;
        swap(&heap->task[at], &heap->task[best]);
        at = best;
    }
}

/* How many tasks are done in `time`. */
static int schedule(const struct task *task, int count, int time)
{
    struct heap heap = { .count = 0 };
    int done = 0;

    for (int i = 0; i < count; i++)
        put(&heap, &task[i]);
    while (heap.count > 0) {
        struct task next = take(&heap);

        if (next.cost > time)
            break;
        time -= next.cost;
        done++;
    }
    return done;
}

int main(void)
{
    struct task task[COUNT];

    INPUT(task);
    return schedule(task, COUNT, 200);
}
