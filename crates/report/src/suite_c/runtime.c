/* ---- What runs the tests ------------------------------------------------------------------- */

/* Declared under names of their own, so that nothing depends on which headers the file includes. */
extern int lydian_dprintf(int, const char *, ...) __asm__("dprintf")
    __attribute__((__format__(__printf__, 2, 3)));
extern int lydian_fork(void) __asm__("fork");
extern int lydian_flush(void *) __asm__("fflush");
extern void *lydian_signal(int, void *) __asm__("signal");
extern int lydian_waitpid(int, int *, int) __asm__("waitpid");
extern void lydian_exit(int) __asm__("exit") __attribute__((__noreturn__));
extern unsigned lydian_alarm(unsigned) __asm__("alarm");

#ifndef LYDIAN_SECONDS
#define LYDIAN_SECONDS 10
#endif
#define LYDIAN_UNUSED __attribute__((__unused__))

#ifdef LYDIAN_HAS_FILES
static void lydian_clean(int process);
#endif

/* How a test should end. */
enum lydian_ending { LYDIAN_RETURNS, LYDIAN_EXITS, LYDIAN_CRASHES, LYDIAN_HANGS, LYDIAN_ENDS };

/* Exit statuses of a test's process that no program is likely to choose. */
enum { LYDIAN_PASSED = 112, LYDIAN_FAILED = 113, LYDIAN_NO_RETURN = 114 };

static const char *lydian_test = "";
static int lydian_failures = 0;

static void LYDIAN_UNUSED lydian_fail(int line, const char *what)
{
    lydian_dprintf(1, "%s:%d: %s: %s\n", __FILE__, line, lydian_test, what);
    lydian_failures++;
}

static void LYDIAN_UNUSED
lydian_check_int(int line, const char *what, long long seen, long long expected)
{
    if (seen != expected) {
        lydian_dprintf(1, "%s:%d: %s: %s is %lld, expected %lld\n", __FILE__, line, lydian_test,
                       what, seen, expected);
        lydian_failures++;
    }
}

static void LYDIAN_UNUSED lydian_check_unsigned(int line, const char *what,
                                                unsigned long long seen,
                                                unsigned long long expected)
{
    if (seen != expected) {
        lydian_dprintf(1, "%s:%d: %s: %s is %llu, expected %llu\n", __FILE__, line, lydian_test,
                       what, seen, expected);
        lydian_failures++;
    }
}

/* Floats are compared by their bits; every NaN is like every other. */
static void LYDIAN_UNUSED
lydian_check_double(int line, const char *what, double seen, unsigned long expected)
{
    unsigned long bits;
    double wanted;
    __builtin_memcpy(&bits, &seen, sizeof bits);
    __builtin_memcpy(&wanted, &expected, sizeof wanted);
    if (bits != expected && !(__builtin_isnan(seen) && __builtin_isnan(wanted))) {
        lydian_dprintf(1, "%s:%d: %s: %s is %.17g, expected %.17g\n", __FILE__, line, lydian_test,
                       what, seen, wanted);
        lydian_failures++;
    }
}

static void LYDIAN_UNUSED
lydian_check_float(int line, const char *what, float seen, unsigned expected)
{
    unsigned bits;
    float wanted;
    __builtin_memcpy(&bits, &seen, sizeof bits);
    __builtin_memcpy(&wanted, &expected, sizeof wanted);
    if (bits != expected && !(__builtin_isnan(seen) && __builtin_isnan(wanted))) {
        lydian_dprintf(1, "%s:%d: %s: %s is %.9g, expected %.9g\n", __FILE__, line, lydian_test,
                       what, (double)seen, (double)wanted);
        lydian_failures++;
    }
}

static void LYDIAN_UNUSED
lydian_check_pointer(int line, const char *what, const void *seen, const void *expected)
{
    if (seen != expected) {
        lydian_dprintf(1, "%s:%d: %s: %s is %p, expected %p\n", __FILE__, line, lydian_test, what,
                       seen, expected);
        lydian_failures++;
    }
}

static void LYDIAN_UNUSED lydian_check_set(int line, const char *what, const void *seen)
{
    if (!seen) {
        lydian_dprintf(1, "%s:%d: %s: %s is null\n", __FILE__, line, lydian_test, what);
        lydian_failures++;
    }
}

static void LYDIAN_UNUSED lydian_check_bytes(int line, const char *what, const void *seen,
                                             const char *expected, unsigned long size)
{
    const unsigned char *a = seen, *b = (const unsigned char *)expected;
    unsigned long i;
    for (i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            lydian_dprintf(1, "%s:%d: %s: byte %lu of %s is %d, expected %d\n", __FILE__, line,
                           lydian_test, i, what, a[i], b[i]);
            lydian_failures++;
            return;
        }
    }
}

/* Whether a process that ended so ended as its test should. */
static int lydian_as_expected(int state, enum lydian_ending ending, int status)
{
    int exited = (state & 0x7f) == 0, code = state >> 8 & 0xff, signal = state & 0x7f;
    switch (ending) {
    case LYDIAN_RETURNS: return exited && code == LYDIAN_PASSED;
    case LYDIAN_EXITS: return exited && code == (status & 0xff);
    case LYDIAN_CRASHES: return !exited && (status == 0 || signal == status);
    case LYDIAN_HANGS: return signal == 14;
    case LYDIAN_ENDS: return !exited || (code != LYDIAN_PASSED && code != LYDIAN_FAILED);
    }
    return 0;
}

/* Runs one test and gives 1 if it fails. */
static int LYDIAN_UNUSED
lydian_run(const char *name, void (*test)(void), enum lydian_ending ending, int status)
{
    lydian_test = name;
#ifdef LYDIAN_NO_FORK
    if (ending == LYDIAN_RETURNS) {
        int before = lydian_failures;
        test();
        (void)status;
        (void)lydian_as_expected;
        return lydian_failures > before;
    }
    return 0;
#else
    int state = 0, number, child;
    /* What is buffered would be written by both processes. */
    lydian_flush(0);
    child = lydian_fork();
    if (child == 0) {
        /* A framework may catch signals itself. */
        for (number = 1; number < 32; number++) lydian_signal(number, 0);
        lydian_alarm(LYDIAN_SECONDS);
        test();
        lydian_exit(lydian_failures ? LYDIAN_FAILED : LYDIAN_PASSED);
    }
    if (child < 0 || lydian_waitpid(child, &state, 0) < 0) {
        lydian_dprintf(1, "%s: cannot be run\n", name);
        return 1;
    }
#ifdef LYDIAN_HAS_FILES
    lydian_clean(child);
#endif
    if (lydian_as_expected(state, ending, status)) {
        return 0;
    }
    if ((state & 0x7f) != 0) {
        lydian_dprintf(1, "%s: ended by signal %d\n", name, state & 0x7f);
    } else if (state >> 8 != LYDIAN_FAILED) {
        lydian_dprintf(1, "%s: exited with status %d\n", name, state >> 8 & 0xff);
    }
    lydian_dprintf(1, "FAILED %s\n", name);
    return 1;
#endif
}
