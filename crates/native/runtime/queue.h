/* The queued results of undefined functions in the running test, and the writes of their calls.
 * A part of the runner; the layouts are those of `request.rs`. */

struct external {
    uint32_t function, size, used, writes; /* the size of the result, which follows; that of all writes */
};
/* One write: the number of the stub's pointer at which its way begins, or `VARIABLE`, whose
 * address follows then; and the bytes of the image. The steps of the way follow, and then the
 * image. */
struct write {
    uint32_t pointer, size;
    uint64_t offset, variable, steps;
};
enum { VARIABLE = 0xffffffffu }; /* `VARIABLE` in `request.rs` */

static uint8_t *queue, *queue_next;
static uint32_t queue_length, queue_position;

static struct external *queued(uint8_t *at) { return (struct external *)at; }

static uint8_t *after(uint8_t *at) {
    return at + sizeof(struct external) + padded(queued(at)->size) + queued(at)->writes;
}

/* The next result that is queued for this function, in the order of its own calls. */
static struct external *next_result(uint32_t function) {
    while (queue_position < queue_length && queued(queue_next)->used) {
        queue_next = after(queue_next);
        queue_position++;
    }
    uint8_t *at = queue_next;
    for (uint32_t i = queue_position; i < queue_length; i++, at = after(at)) {
        if (queued(at)->used || queued(at)->function != function) continue;
        queued(at)->used = 1;
        return queued(at);
    }
    return NULL;
}

/* Whether the test's inputs do not name the function that gives them. */
static int queue_is_unnamed(void) {
    uint8_t *at = queue;
    for (uint32_t i = 0; i < queue_length; i++, at = after(at)) {
        uint32_t function = queued(at)->function;
        if (function == LYDIAN_ANY_BYTES || function == LYDIAN_ANY_NUMBER) return 1;
    }
    return 0;
}

/* Where a way of so many steps leads from a pointer; NULL where it meets a null pointer. */
static uint8_t *follow(uint8_t *pointer, const uint64_t *steps, uint64_t count) {
    for (; pointer && count; count--) memcpy(&pointer, pointer + *steps++, sizeof pointer);
    return pointer;
}

/* Makes the writes of a call. A write through a null pointer is left out. */
static void write_queued(struct external *call, lydian_u32 count, void *const *to) {
    uint8_t *at = (uint8_t *)(call + 1) + padded(call->size), *end = at + call->writes;
    while (at < end) {
        struct write *write = (struct write *)at;
        uint64_t *steps = (uint64_t *)(write + 1);
        uint8_t *image = (uint8_t *)steps + padded(write->steps * sizeof *steps);
        uint8_t *first = write->pointer < count ? to[write->pointer] : NULL;
        if (write->pointer == VARIABLE) first = (uint8_t *)write->variable;
        uint8_t *target = follow(first, steps, write->steps);
        if (target) memcpy(target + write->offset, image, write->size);
        at = image + padded(write->size);
    }
}

static void serve_external(lydian_u32 function, void *result, lydian_u64 size, int kind,
                           lydian_u32 count, void *const *to) {
    /* Where a number is in its image, by kind, and how many bytes it has (`NumberKind`). */
    static const uint8_t place[][2] = {{0, 0}, {0, 16}, {24, 4}, {16, 8}, {32, 16}};
    struct external *next = next_result(function);
    const uint8_t *from = next ? (uint8_t *)(next + 1) : NULL;
    uint64_t given = next ? next->size : 0;
    if (!next && kind && queue_is_unnamed()) {
        if ((next = next_result(LYDIAN_ANY_NUMBER)) && next->size >= 48) {
            from = (uint8_t *)(next + 1) + place[kind][0];
            given = place[kind][1];
        } else if ((next = next_result(LYDIAN_ANY_BYTES))) {
            from = (uint8_t *)(next + 1);
            given = next->size;
        } else {
            serve_end(LYDIAN_EXITED, 1);
        }
    }
    if (next) write_queued(next, count, to);
    memset(result, 0, size);
    if (next) memcpy(result, from, given < size ? given : size);
}
