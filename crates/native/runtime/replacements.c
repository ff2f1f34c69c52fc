/* The part of an object's harness that is the same for all programs. Another file has the
 * definitions of functions and variables that the program's text uses and does not define. */
#include "lydian.h"

__attribute__((visibility("default"))) struct lydian_services *lydian_services;

#define END(how, code) lydian_services->end(how, code); __builtin_unreachable()

void *__wrap_malloc(lydian_u64 size) { return lydian_services->allocate(LYDIAN_MALLOC, size, 16); }

static void *array(lydian_u32 function, lydian_u64 count, lydian_u64 size) {
    lydian_u64 bytes; /* more than there is, if the product overflows */
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = ~(lydian_u64)0;
    return lydian_services->allocate(function, bytes, 16);
}

void *__wrap_calloc(lydian_u64 count, lydian_u64 size) { return array(LYDIAN_CALLOC, count, size); }

static void *resize(lydian_u32 function, void *old, lydian_u64 size) {
    lydian_u64 known = old ? lydian_services->block_size(old) : 0;
    if (old && size == 0) return lydian_services->release(old), (void *)0;
    char *new = lydian_services->allocate(function, size, 16);
    if (!new || !old) return new;
    lydian_services->copy(new, old, known < size ? known : size);
    lydian_services->release(old);
    return new;
}

void *__wrap_realloc(void *old, lydian_u64 size) { return resize(LYDIAN_REALLOC, old, size); }

void *__wrap_reallocarray(void *old, lydian_u64 count, lydian_u64 size) {
    lydian_u64 bytes; /* more than there is, if the product overflows */
    if (__builtin_mul_overflow(count, size, &bytes)) bytes = ~(lydian_u64)0;
    return resize(LYDIAN_REALLOCARRAY, old, bytes);
}

static char *copy(lydian_u32 function, const char *from, lydian_u64 length) {
    char *to = lydian_services->allocate(function, length + 1, 16);
    if (to) lydian_services->copy(to, from, length), to[length] = 0;
    return to;
}

char *__wrap_strdup(const char *from) {
    return copy(LYDIAN_STRDUP, from, lydian_services->length(from));
}

char *__wrap_strndup(const char *from, lydian_u64 limit) {
    lydian_u64 length = 0;
    while (length < limit && from[length]) length++;
    return copy(LYDIAN_STRNDUP, from, length);
}

void *__wrap_aligned_alloc(lydian_u64 align, lydian_u64 size) {
    if (align == 0 || (align & (align - 1))) return 0;
    return lydian_services->allocate(LYDIAN_ALIGNED_ALLOC, size, align);
}

int __wrap_posix_memalign(void **to, lydian_u64 align, lydian_u64 size) {
    if (align % sizeof(void *) || (align & (align - 1)) || align == 0) return 22;
    void *block = lydian_services->allocate(LYDIAN_POSIX_MEMALIGN, size, align);
    if (!block) return 12;
    *to = block;
    return 0;
}

void __wrap_free(void *block) { lydian_services->release(block); }

void __wrap_exit(int code) { END(LYDIAN_EXITED, code); }
void __wrap__exit(int code) { END(LYDIAN_EXITED, code); }
void __wrap__Exit(int code) { END(LYDIAN_EXITED, code); }
void __wrap_quick_exit(int code) { END(LYDIAN_EXITED, code); }
void __wrap_abort(void) { END(LYDIAN_ABORTED, 0); }
void __wrap___assert_fail(void) { END(LYDIAN_ABORTED, 0); }
void __wrap___assert(void) { END(LYDIAN_ABORTED, 0); }
void __wrap___stack_chk_fail(void) { END(LYDIAN_ABORTED, 0); }

/* The functions of verifiers and test generators. A run whose assumptions do not hold ends. */
static void assume(int holds) {
    if (!holds) lydian_services->end(LYDIAN_ASSUMPTION, 0);
}

void __wrap___VERIFIER_assume(int holds) { assume(holds); }
void __wrap_klee_assume(lydian_u64 holds) { assume(holds != 0); }
void __wrap___CPROVER_assume(int holds) { assume(holds); }
void __wrap_klee_silent_exit(int status) { (void)status, assume(0); }
void __wrap___VERIFIER_error(void) { END(LYDIAN_ABORTED, 0); }
void __wrap_reach_error(void) { END(LYDIAN_ABORTED, 0); }
void __wrap___CPROVER_assert(int holds, const char *what) {
    (void)what;
    if (!holds) lydian_services->end(LYDIAN_ABORTED, 0);
}
void __wrap_klee_make_symbolic(void *to, lydian_u64 size, const char *name) {
    (void)name;
    lydian_services->external(LYDIAN_MAKE_SYMBOLIC, to, size, 1, 0, 0);
}
int __wrap_klee_int(const char *name) {
    int value;
    (void)name;
    lydian_services->external(LYDIAN_KLEE_INT, &value, sizeof value, 1, 0, 0);
    return value;
}
int __wrap_klee_range(int least, int end, const char *name) {
    int value;
    (void)name;
    lydian_services->external(LYDIAN_KLEE_RANGE, &value, sizeof value, 1, 0, 0);
    assume(least <= value && value < end);
    return value;
}

int __wrap_open(const char *path, int flags, ...) { return lydian_services->open_file(path, flags); }
void *__wrap_fopen(const char *path, const char *mode) {
    return lydian_services->open_stream(path, mode);
}

__attribute__((visibility("default")))
void lydian_wide(lydian_u32 decision, lydian_u32 words, const lydian_u64 *values) {
    lydian_services->wide(decision, words, values);
}

#define SERVICE __attribute__((visibility("default")))

SERVICE int lydian_row(lydian_u32 table, lydian_u32 words, const unsigned long long *values) {
    return lydian_services->row(table, words, (const lydian_u64 *)values);
}

SERVICE int lydian_lock(void) { return lydian_services->lock(); }
SERVICE void lydian_unlock(void) { lydian_services->unlock(); }
SERVICE int lydian_add(lydian_u32 *set, unsigned long long owner, lydian_u32 words,
                       const unsigned long long *values) {
    return lydian_services->add(set, owner, words, values);
}
SERVICE void lydian_drop(lydian_u32 *set, lydian_u32 node) { lydian_services->drop(set, node); }
SERVICE lydian_u32 lydian_find(unsigned long long owner, lydian_u32 words,
                               const unsigned long long *values) {
    return lydian_services->find(owner, words, values);
}
SERVICE const unsigned long long *lydian_values(lydian_u32 node) {
    return lydian_services->values(node);
}
SERVICE lydian_u32 lydian_next(lydian_u32 node) { return lydian_services->next(node); }
SERVICE void lydian_forget(void *activation) { lydian_services->forget(activation); }

SERVICE
int lydian_readable(const void *address, lydian_u64 size) {
    return lydian_services->readable(address, size);
}

/* Calls of the user's labels do nothing: probes in their place record the labels. */
__attribute__((weak)) void lydian_label(const char *name, ...) { (void)name; }
