
/* ---- What undefined functions write ---------------------------------------------------------- */

/* A stub reads arguments for `...` behind whatever parameter is its last. */
#pragma GCC diagnostic ignored "-Wvarargs"

struct lydian_write {
    /* Where the way begins: at what an argument points to, or at a variable. */
    unsigned argument;
    void *variable;
    /* Pointers that are followed: each lies so many bytes behind where the one before leads. */
    const __SIZE_TYPE__ *through;
    unsigned steps;
    /* What is written so many bytes behind the end. */
    __SIZE_TYPE__ offset;
    const void *from;
    __SIZE_TYPE__ size;
};

/* What one call writes, in this order. */
struct lydian_writes {
    unsigned count;
    const struct lydian_write *list;
};

/* Writes to where ways from the arguments lead; what lies behind a null pointer is left out. */
static void LYDIAN_UNUSED lydian_set(const struct lydian_writes *call, void *const *arguments)
{
    unsigned i, step;
    for (i = 0; i < call->count; i++) {
        const struct lydian_write *write = &call->list[i];
        char *at = write->variable ? write->variable : arguments[write->argument];
        for (step = 0; at && step < write->steps; step++)
            __builtin_memcpy(&at, at + write->through[step], sizeof at);
        if (at) __builtin_memcpy(at + write->offset, write->from, write->size);
    }
}
