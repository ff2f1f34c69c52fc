/* A circular doubly linked list whose links lie within the structs, and a queue of jobs on it. */
#include <stdbool.h>
#include <stddef.h>

#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))

struct list {
    struct list *next;
    struct list *prev;
};

struct job {
    int id;
    int priority; /* greater goes first */
    struct list link;
    const char *name; /* may be null */
};

struct job_queue {
    struct list jobs; /* sorted by priority */
    size_t count;
    size_t limit; /* 0: none */
};

void list_init(struct list *head)
{
    head->next = head;
    head->prev = head;
}

bool list_empty(const struct list *head)
{
    return head->next == head;
}

static void insert_between(struct list *node, struct list *prev, struct list *next)
{
    node->prev = prev;
    node->next = next;
    prev->next = node;
    next->prev = node;
}

void list_add_head(struct list *head, struct list *node)
{
    insert_between(node, head, head->next);
}

void list_add_tail(struct list *head, struct list *node)
{
    insert_between(node, head->prev, head);
}

/* Takes a node out of its list. Does nothing if it is in none. */
void list_remove(struct list *node)
{
    if (node->next == NULL || node->prev == NULL)
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = NULL;
    node->prev = NULL;
}

/* Moves all nodes of `from` behind `at`. `from` is empty then. */
void list_splice(struct list *at, struct list *from)
{
    struct list *first = from->next;
    struct list *last = from->prev;

    if (list_empty(from))
        return;
    first->prev = at;
    last->next = at->next;
    at->next->prev = last;
    at->next = first;
    list_init(from);
}

size_t list_length(const struct list *head)
{
    size_t length = 0;

    for (const struct list *node = head->next; node != head; node = node->next)
        length++;
    return length;
}

void queue_init(struct job_queue *queue, size_t limit)
{
    list_init(&queue->jobs);
    queue->count = 0;
    queue->limit = limit;
}

struct job *queue_find(const struct job_queue *queue, int id)
{
    for (struct list *node = queue->jobs.next; node != &queue->jobs; node = node->next) {
        struct job *job = container_of(node, struct job, link);
        if (job->id == id)
            return job;
    }
    return NULL;
}

/* Puts a job behind those of the same priority. Returns false if there is no room for it. */
bool queue_put(struct job_queue *queue, struct job *job)
{
    struct list *node;

    if (queue == NULL || job == NULL)
        return false;
    if (queue->limit != 0 && queue->count >= queue->limit)
        return false;
    if (queue_find(queue, job->id) != NULL)
        return false;

    for (node = queue->jobs.prev; node != &queue->jobs; node = node->prev) {
        if (container_of(node, struct job, link)->priority >= job->priority)
            break;
    }
    list_add_head(node, &job->link);
    queue->count++;
    return true;
}

/* Takes out the first job of the greatest priority; null if there is none. */
struct job *queue_take(struct job_queue *queue)
{
    struct job *job;

    if (list_empty(&queue->jobs))
        return NULL;
    job = container_of(queue->jobs.next, struct job, link);
    list_remove(&job->link);
    queue->count--;
    return job;
}

/* Takes out all jobs below a priority, or without a name. Returns how many. */
size_t queue_prune(struct job_queue *queue, int lowest)
{
    struct list *node = queue->jobs.next;
    size_t removed = 0;

    while (node != &queue->jobs) {
        struct list *next = node->next;
        struct job *job = container_of(node, struct job, link);
        if (job->priority < lowest || job->name == NULL) {
            list_remove(node);
            removed++;
        }
        node = next;
    }
    queue->count -= removed;
    return removed;
}

/* Moves the jobs of `from` to the front of `to`, if they fit there and none goes before them. */
bool queue_merge(struct job_queue *to, struct job_queue *from)
{
    if (to == from || from->count == 0)
        return false;
    if (to->limit != 0 && from->count > to->limit - to->count)
        return false;
    if (!list_empty(&to->jobs)) {
        const struct job *first = container_of(to->jobs.next, struct job, link);
        const struct job *last = container_of(from->jobs.prev, struct job, link);
        if (last->priority < first->priority)
            return false;
    }
    list_splice(&to->jobs, &from->jobs);
    to->count += from->count;
    from->count = 0;
    return true;
}
