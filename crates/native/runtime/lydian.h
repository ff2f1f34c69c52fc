/* The interface of the runner and the loaded object: the functions of the runner that the object
 * calls. */
#ifndef LYDIAN_H
#define LYDIAN_H

typedef unsigned char lydian_byte;
typedef unsigned int lydian_u32;
typedef unsigned long lydian_u64;

/* Ways in which a call ends (`ending` in `request.rs`). */
enum {
    LYDIAN_RETURNED = 0,
    LYDIAN_EXITED = 1,
    LYDIAN_ABORTED = 2,
    LYDIAN_NORETURN = 3,
    LYDIAN_CRASHED = 4,
    LYDIAN_BAD_FREE = 5,
    LYDIAN_ASSUMPTION = 6,
    LYDIAN_OUTRAN = 7,
    LYDIAN_UNMAPPED = 8
};

/* Numbers of the external functions that every program has (`NUMBERED` in `harness.rs`). */
enum {
    LYDIAN_MALLOC = 0,
    LYDIAN_CALLOC = 1,
    LYDIAN_REALLOC = 2,
    LYDIAN_REALLOCARRAY = 3,
    LYDIAN_STRDUP = 4,
    LYDIAN_STRNDUP = 5,
    LYDIAN_ALIGNED_ALLOC = 6,
    LYDIAN_POSIX_MEMALIGN = 7,
    LYDIAN_MAKE_SYMBOLIC = 8,
    LYDIAN_KLEE_INT = 9,
    LYDIAN_KLEE_RANGE = 10,
    LYDIAN_ANY_BYTES = 11,
    LYDIAN_ANY_NUMBER = 12,
    LYDIAN_DEVICE = 13,
    LYDIAN_INTERRUPT = 14
};

struct lydian_services {
    /* Writes the next queued result of an undefined function, or zeros. `kind` says how a number
     * is read (`NumberKind` in `lydian_ir::test`); it is 0 for functions that give no inputs.
     * The queued writes of the call are made first. `to` has the `count` pointers at which ways
     * to written memory may begin: the first arguments, null if they are no pointers, and then
     * words for `...`. */
    void (*external)(lydian_u32 function, void *result, lydian_u64 size, int kind, lydian_u32 count,
                     void *const *to);
    /* Ends the call under test. Does not return. */
    void (*end)(int how, long code);
    /* Allocates, unless the queue says that this call of this function fails. */
    void *(*allocate)(lydian_u32 function, lydian_u64 size, lydian_u64 align);
    /* The size of a live block. Ends the call if there is none at this address. */
    lydian_u64 (*block_size)(void *block);
    /* Releases a block. */
    void (*release)(void *block);
    /* Records an evaluation of a decision with many conditions. */
    void (*wide)(lydian_u32 decision, lydian_u32 words, const lydian_u64 *values);
    /* Whether all of these bytes surely belong to live objects. */
    int (*readable)(const void *address, lydian_u64 size);
    /* Records values that a label or a sequence bound; 0 where there is no room. */
    int (*row)(lydian_u32 table, lydian_u32 words, const lydian_u64 *values);
    /* Sets of environments (`environments.h`). */
    int (*lock)(void);
    void (*unlock)(void);
    int (*add)(lydian_u32 *set, unsigned long long owner, lydian_u32 words,
               const unsigned long long *values);
    void (*drop)(lydian_u32 *set, lydian_u32 node);
    lydian_u32 (*find)(unsigned long long owner, lydian_u32 words, const unsigned long long *values);
    const unsigned long long *(*values)(lydian_u32 node);
    lydian_u32 (*next)(lydian_u32 node);
    void (*forget)(void *activation);
    /* `open` and `fopen` in the folder of tests; no file elsewhere exists. */
    int (*open_file)(const char *path, int flags);
    void *(*open_stream)(const char *path, const char *mode);
    /* The C library's `memcpy` and `strlen`: the harness's fixed part uses no library itself, so
     * that a program which uses none is linked with none. */
    void (*copy)(void *to, const void *from, lydian_u64 size);
    lydian_u64 (*length)(const char *text);
};

/* Calls one function under test: arguments from an image, the result to another. */
struct lydian_entry {
    void (*call)(lydian_byte *arguments, lydian_byte *result);
    lydian_u64 result_size;
};

#endif
