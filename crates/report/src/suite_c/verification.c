
/* ---- What verifiers and KLEE define ---------------------------------------------------------- */

/* Exit status of a test whose assumptions do not hold. */
enum { LYDIAN_NO_TEST = 115 };

struct lydian_object {
    const char *bytes;
    unsigned long size;
};
static const struct lydian_object *lydian_results_klee_make_symbolic = 0;
static unsigned lydian_left_klee_make_symbolic = 0;
static const int *lydian_results_klee_int = 0, *lydian_results_klee_range = 0;
static unsigned lydian_left_klee_int = 0, lydian_left_klee_range = 0;

static void LYDIAN_UNUSED lydian_assume(int holds)
{
    if (!holds) lydian_exit(LYDIAN_NO_TEST);
}

#define LYDIAN_DEFINES(result, name, parameters)                                    \
    result lydian_own_##name parameters __asm__(#name) __attribute__((__weak__));   \
    result lydian_own_##name parameters

LYDIAN_DEFINES(void, __VERIFIER_assume, (int holds)) { lydian_assume(holds); }
LYDIAN_DEFINES(void, __CPROVER_assume, (int holds)) { lydian_assume(holds); }
LYDIAN_DEFINES(void, klee_assume, (unsigned long holds)) { lydian_assume(holds != 0); }
LYDIAN_DEFINES(void, klee_silent_exit, (int status)) { (void)status; lydian_assume(0); }
LYDIAN_DEFINES(void, __VERIFIER_error, (void)) { __builtin_abort(); }
LYDIAN_DEFINES(void, reach_error, (void)) { __builtin_abort(); }
LYDIAN_DEFINES(void, __CPROVER_assert, (int holds, const char *what))
{
    (void)what;
    if (!holds) __builtin_abort();
}
LYDIAN_DEFINES(void, klee_make_symbolic, (char *to, unsigned long size, const char *name))
{
    unsigned long given = 0;
    (void)name;
    __builtin_memset(to, 0, size);
    if (lydian_left_klee_make_symbolic == 0) return;
    given = lydian_results_klee_make_symbolic->size;
    __builtin_memcpy(to, lydian_results_klee_make_symbolic->bytes, given < size ? given : size);
    lydian_left_klee_make_symbolic--;
    lydian_results_klee_make_symbolic++;
}
LYDIAN_DEFINES(int, klee_int, (const char *name))
{
    (void)name;
    if (lydian_left_klee_int == 0) return 0;
    lydian_left_klee_int--;
    return *lydian_results_klee_int++;
}
LYDIAN_DEFINES(int, klee_range, (int least, int end, const char *name))
{
    int value = 0;
    (void)name;
    if (lydian_left_klee_range > 0) {
        lydian_left_klee_range--;
        value = *lydian_results_klee_range++;
    }
    lydian_assume(least <= value && value < end);
    return value;
}
