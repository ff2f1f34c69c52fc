
/* ---- What undefined functions write through their parameters --------------------------------- */

struct lydian_write {
    unsigned argument;
    __SIZE_TYPE__ offset;
    const void *from;
    __SIZE_TYPE__ size;
};

/* What one call writes, in this order. */
struct lydian_writes {
    unsigned count;
    const struct lydian_write *list;
};

/* Writes to where the arguments point; what goes through a null pointer is left out. */
static void LYDIAN_UNUSED lydian_set(const struct lydian_writes *call, void *const *to)
{
    for (unsigned i = 0; i < call->count; i++) {
        const struct lydian_write *write = &call->list[i];
        char *target = to[write->argument];
        if (target) __builtin_memcpy(target + write->offset, write->from, write->size);
    }
}
