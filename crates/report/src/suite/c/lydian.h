/* What runs tests that Lydian writes. The same for every suite: included once before the source under
 * test, whose macros change nothing here, and once behind it, for what tests are written with. */
#pragma GCC system_header

#ifndef LYDIAN_H
#define LYDIAN_H

/* Where a compiler optimises, headers of the library define functions in terms of others: `putchar` by
 * `putc`. Whoever counts calls of the one would find none. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif

/* Sanitizers that ask the terminal for colours set the error number at each of their messages. Blocks that
 * are too large are refused, as without them. */
const char *lydian_asan_options(void) __asm__("__asan_default_options") __attribute__((__weak__));
const char *lydian_asan_options(void) { return "color=never:allocator_may_return_null=1"; }
const char *lydian_ubsan_options(void) __asm__("__ubsan_default_options") __attribute__((__weak__));
const char *lydian_ubsan_options(void) { return "color=never"; }

/* Functions of the library under names of their own, so that nothing depends on other headers. */
extern int lydian_dprintf(int, const char *, ...) __asm__("dprintf")
    __attribute__((__format__(__printf__, 2, 3)));
extern int lydian_fork(void) __asm__("fork");
extern int lydian_flush(void *) __asm__("fflush");
extern void *lydian_signal(int, void *) __asm__("signal");
extern int lydian_waitpid(int, int *, int) __asm__("waitpid");
extern void lydian_exit(int) __asm__("exit") __attribute__((__noreturn__));
#if defined(__x86_64__) && !defined(__ILP32__)
/* By the kernel itself: programs have variables called alarm. */
static unsigned lydian_alarm(unsigned seconds)
{
    unsigned long left;
    __asm__ __volatile__("syscall"
                         : "=a"(left)
                         : "a"(37UL), "D"((unsigned long)seconds)
                         : "rcx", "r11", "memory");
    return (unsigned)left;
}
#else
extern unsigned lydian_alarm(unsigned) __asm__("alarm");
#endif
extern const char *lydian_path __asm__("program_invocation_name") __attribute__((__weak__));
extern const char *lydian_program __asm__("program_invocation_short_name") __attribute__((__weak__));
extern int lydian_setenv(const char *, const char *, int) __asm__("setenv");
extern int lydian_unsetenv(const char *) __asm__("unsetenv");
extern int lydian_memfd(const char *, unsigned) __asm__("memfd_create");
extern int lydian_creat(const char *, unsigned) __asm__("creat");
extern long lydian_write_file(int, const void *, unsigned long) __asm__("write");
extern long lydian_lseek(int, long, int) __asm__("lseek");
extern int lydian_dup2(int, int) __asm__("dup2");
extern int lydian_close(int) __asm__("close");
extern void *lydian_fdopen(int, const char *) __asm__("fdopen");
extern int lydian_getpid(void) __asm__("getpid");
extern int lydian_mkdir(const char *, unsigned) __asm__("mkdir");
extern int lydian_rmdir(const char *) __asm__("rmdir");
extern int lydian_chdir(const char *) __asm__("chdir");
extern int lydian_unlink(const char *) __asm__("unlink");
extern int lydian_sprintf(char *, const char *, ...) __asm__("sprintf");
extern int lydian_strcmp(const char *, const char *) __asm__("strcmp");
extern int *lydian_errno(void) __asm__("__errno_location");
extern void *lydian_stdin __asm__("stdin");

#ifndef LYDIAN_SECONDS
#define LYDIAN_SECONDS 10
#endif

/* ---- Checks -------------------------------------------------------------------------------- */

static const char *lydian_name = "";
static int lydian_failures = 0;

#define LYDIAN_SAYS(...)                                                                           \
    (lydian_dprintf(1, "%s:%d: %s: ", file, line, lydian_name), lydian_dprintf(1, __VA_ARGS__),    \
     lydian_dprintf(1, "\n"), lydian_failures++)

static void lydian_fail(const char *file, int line, const char *what)
{
    LYDIAN_SAYS("%s", what);
}

static void lydian_check_int(const char *file, int line, const char *what, long long seen,
                             long long expected)
{
    if (seen != expected) LYDIAN_SAYS("%s is %lld, expected %lld", what, seen, expected);
}

static void lydian_check_unsigned(const char *file, int line, const char *what,
                                  unsigned long long seen, unsigned long long expected)
{
    if (seen != expected) LYDIAN_SAYS("%s is %llu, expected %llu", what, seen, expected);
}

/* Floats are compared by their bits; every NaN is like every other. */
static void lydian_check_double(const char *file, int line, const char *what, double seen,
                                double expected)
{
    int both_nan = __builtin_isnan(seen) && __builtin_isnan(expected);
    if (__builtin_memcmp(&seen, &expected, sizeof seen) && !both_nan)
        LYDIAN_SAYS("%s is %.17g, expected %.17g", what, seen, expected);
}

static void lydian_check_float(const char *file, int line, const char *what, float seen,
                               float expected)
{
    int both_nan = __builtin_isnan(seen) && __builtin_isnan(expected);
    if (__builtin_memcmp(&seen, &expected, sizeof seen) && !both_nan)
        LYDIAN_SAYS("%s is %.9g, expected %.9g", what, (double)seen, (double)expected);
}

static void lydian_check_pointer(const char *file, int line, const char *what, const void *seen,
                                 const void *expected)
{
    /* A compiler may know that a result declared to be new memory is no address of the test's. */
    const void *volatile is = seen, *volatile should = expected;
    if (is != should) LYDIAN_SAYS("%s is %p, expected %p", what, seen, expected);
}

static void lydian_check_set(const char *file, int line, const char *what, const void *seen)
{
    if (!seen) LYDIAN_SAYS("%s is null", what);
}

static void lydian_check_text(const char *file, int line, const char *what, const void *seen,
                              const void *expected)
{
    if (!seen || lydian_strcmp((const char *)seen, (const char *)expected))
        LYDIAN_SAYS("%s is \"%s\", expected \"%s\"", what, seen ? (const char *)seen : "(null)",
                    (const char *)expected);
}

static void lydian_check_bytes(const char *file, int line, const char *what, const void *seen,
                               const void *expected, unsigned long size)
{
    const unsigned char *a = (const unsigned char *)seen, *b = (const unsigned char *)expected;
    unsigned long i;
    for (i = 0; i < size; i++) {
        if (a[i] != b[i]) {
            LYDIAN_SAYS("byte %lu of %s is %d, expected %d", i, what, a[i], b[i]);
            return;
        }
    }
}

/* ---- Variables ------------------------------------------------------------------------------- */

/* Sets a variable that may be const, which compilers must not see. */
static void lydian_overwrite(void *to, const void *from, unsigned long size)
{
    void *volatile hidden = to;
    __builtin_memcpy(hidden, from, size);
}

/* Keeps a function out of its callers: these could read a const variable before it is set. clang takes
 * the attribute in front of a definition only, by a pragma around the source. */
#if defined __clang__ || __GNUC__ < 8
#define LYDIAN_OPAQUE(name)
#else
#define LYDIAN_OPAQUE(name)                                                                        \
    _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wattributes\"")              \
    __typeof__(name) name __attribute__((__noipa__)); _Pragma("GCC diagnostic pop")
#endif

/* ---- Allocated blocks ------------------------------------------------------------------------ */

extern void *lydian_calloc(unsigned long, unsigned long) __asm__("calloc");
extern void lydian_free(void *) __asm__("free");

/* The blocks of the running test, and how many of them were released. */
static void *lydian_blocks[256];
static int lydian_block_count = 0, lydian_released = 0;

/* A block of zeros. */
static void *lydian_block(unsigned long size)
{
    void *block = lydian_calloc(1, size);
    if (lydian_block_count < 256) lydian_blocks[lydian_block_count++] = block;
    return block;
}

static void lydian_release(void *block)
{
    int at;
    for (at = 0; block && at < lydian_block_count; at++) lydian_released += lydian_blocks[at] == block;
    lydian_free(block);
}

static void *lydian_copy(void *to, const void *from, unsigned long size)
{
    __builtin_memcpy(to, from, size);
    return to;
}

#ifndef LYDIAN_LEAKS
/* What a call allocates and gives away is not released by its test, unless the test can reach it. Clang's
 * runtime comes first where it is weak. */
#ifdef __clang__
const char *__lsan_default_options(void) __attribute__((__visibility__("default")));
#else
const char *__lsan_default_options(void) __attribute__((__weak__));
#endif
const char *__lsan_default_options(void)
{
    return "detect_leaks=0";
}
#endif

/* ---- Standard input, files and the environment ------------------------------------------------ */

/* The contents of standard input, or of a file in a folder of the test's own. */
static void lydian_give(const char *name, const char *bytes, unsigned long size)
{
    int is_stdin = name[0] == 's', fd;
    char folder[64];
    if (is_stdin) {
        fd = lydian_memfd("stdin", 0);
    } else {
        lydian_sprintf(folder, "/tmp/lydian-%d", lydian_getpid());
        (void)!lydian_mkdir(folder, 0700);
        (void)!lydian_chdir(folder);
        fd = lydian_creat(name, 0600);
    }
    if (fd < 0 || lydian_write_file(fd, bytes, size) != (long)size) {
        lydian_fail("lydian.h", __LINE__, "a file of the test cannot be written");
        return;
    }
    if (is_stdin) {
        lydian_lseek(fd, 0, 0);
        lydian_dup2(fd, 0);
        lydian_stdin = lydian_fdopen(0, "r");
    }
    lydian_close(fd);
}

/* Removes the folder that a test's process left. */
static void lydian_clean(int process)
{
    char path[64];
    int name;
    for (name = 'A'; name <= 'Z'; name++) {
        lydian_sprintf(path, "/tmp/lydian-%d/%c", process, name);
        (void)!lydian_unlink(path);
    }
    lydian_sprintf(path, "/tmp/lydian-%d", process);
    (void)!lydian_rmdir(path);
}

/* ---- What undefined functions write ------------------------------------------------------------ */

/* A stub reads arguments for `...` behind whatever parameter is its last. */
#pragma GCC diagnostic ignored "-Wvarargs"

struct lydian_write {
    /* In which call, from 1. */
    unsigned call;
    /* Where the way begins: at what an argument points to, or at a variable. */
    unsigned argument;
    void *variable;
    /* Pointers that are followed: each lies so many bytes behind where the one before leads. */
    __SIZE_TYPE__ through[8];
    unsigned steps;
    /* What is written so many bytes behind the end; zeros if nothing is given. */
    __SIZE_TYPE__ offset;
    const void *from;
    __SIZE_TYPE__ size;
};

/* Writes what a call writes to where ways from its arguments lead; what lies behind a null pointer is left
 * out. */
static void lydian_set(const struct lydian_write *all, unsigned count, unsigned call,
                       void *const *arguments)
{
    unsigned i, step;
    for (i = 0; i < count; i++) {
        const struct lydian_write *write = &all[i];
        char *at;
        if (write->call != call) continue;
        at = (char *)(write->variable ? write->variable : arguments[write->argument]);
        for (step = 0; at && step < write->steps; step++)
            __builtin_memcpy(&at, at + write->through[step], sizeof at);
        if (at && write->from) __builtin_memcpy(at + write->offset, write->from, write->size);
        else if (at) __builtin_memset(at + write->offset, 0, write->size);
    }
}

/* ---- Running tests -------------------------------------------------------------------------- */

/* How a test should end. */
enum lydian_ending {
    LYDIAN_RETURNS,
    LYDIAN_EXITS,
    LYDIAN_CRASHES,
    LYDIAN_HANGS,
    LYDIAN_ENDS,
    /* It does what C leaves undefined, and may end in any way. Its status is 1 if it is known to end
     * the process. */
    LYDIAN_UNDEFINED
};

/* Exit statuses of a test's process that no program is likely to choose. */
enum { LYDIAN_PASSED = 112, LYDIAN_FAILED = 113, LYDIAN_NO_RETURN = 114, LYDIAN_NO_TEST = 115 };

struct lydian_test {
    const char *name;
    void (*run)(void);
    enum lydian_ending ending;
    int status;
};

/* Whether a process that ended so ended as its test should. */
static int lydian_as_expected(int state, enum lydian_ending ending, int status)
{
    int exited = (state & 0x7f) == 0, code = state >> 8 & 0xff, signal = state & 0x7f;
    switch (ending) {
    case LYDIAN_UNDEFINED: return 1;
    case LYDIAN_RETURNS: return exited && code == LYDIAN_PASSED;
    case LYDIAN_EXITS: return exited && code == (status & 0xff);
    case LYDIAN_CRASHES: return !exited && (status == 0 || signal == status);
    case LYDIAN_HANGS: return signal == 14;
    case LYDIAN_ENDS: return !exited || (code != LYDIAN_PASSED && code != LYDIAN_FAILED);
    }
    return 0;
}

#ifdef LYDIAN_HAS_DEVICES
static void lydian_device_begin(void);
#define LYDIAN_BEGINS() lydian_device_begin()
#else
#define LYDIAN_BEGINS() ((void)0)
#endif

/* Runs one test in a process of its own and gives 1 if it fails. With LYDIAN_NO_FORK it runs here, unless
 * it would end all tests. */
static int lydian_run(const struct lydian_test *test)
{
    int state = 0, number, child, before = lydian_failures;
    lydian_name = test->name;
    /* No test depends on the name of the file that has the tests. */
    if (&lydian_path && &lydian_program) lydian_path = lydian_program = "program";
#ifdef LYDIAN_NO_FORK
    *lydian_errno() = 0;
    LYDIAN_BEGINS();
    if (test->ending == LYDIAN_RETURNS) test->run();
    if (test->ending == LYDIAN_UNDEFINED && test->status == 0) test->run();
    return lydian_failures > before;
#endif
    /* What is buffered would be written by both processes. */
    lydian_flush(0);
    child = lydian_fork();
    if (child == 0) {
        /* A framework may catch signals itself. */
        for (number = 1; number < 32; number++) lydian_signal(number, 0);
        lydian_alarm(LYDIAN_SECONDS);
        LYDIAN_BEGINS();
        *lydian_errno() = 0;
        test->run();
        lydian_exit(lydian_failures > before ? LYDIAN_FAILED : LYDIAN_PASSED);
    }
    if (child < 0 || lydian_waitpid(child, &state, 0) < 0) {
        lydian_dprintf(1, "%s: cannot be run\n", test->name);
        return 1;
    }
#ifdef LYDIAN_HAS_FILES
    lydian_clean(child);
#endif
    if (lydian_as_expected(state, test->ending, test->status)) return 0;
    if ((state & 0x7f) != 0) {
        lydian_dprintf(1, "%s: ended by signal %d\n", test->name, state & 0x7f);
    } else if (state >> 8 != LYDIAN_FAILED) {
        lydian_dprintf(1, "%s: exited with status %d\n", test->name, state >> 8 & 0xff);
    }
    lydian_dprintf(1, "FAILED %s\n", test->name);
    return 1;
}

/* Runs all tests, says how many fail, and gives what `main` returns. */
static int lydian_run_all(const struct lydian_test *tests, int count)
{
    int at, failed = 0;
    for (at = 0; at < count; at++) failed += lydian_run(&tests[at]);
    lydian_dprintf(1, "%d tests, %d failed\n", count, failed);
    return failed > 0;
}

/* ---- What verifiers and KLEE define ------------------------------------------------------------ */

#ifdef LYDIAN_VERIFIES
struct lydian_object {
    const char *bytes;
    unsigned long size;
};
static struct lydian_object lydian_results_klee_make_symbolic[LYDIAN_VERIFIES];
static int lydian_results_klee_int[LYDIAN_VERIFIES], lydian_results_klee_range[LYDIAN_VERIFIES];
static unsigned lydian_given_klee_make_symbolic = 0, lydian_given_klee_int = 0;
static unsigned lydian_given_klee_range = 0;
static unsigned lydian_calls_klee_make_symbolic = 0, lydian_calls_klee_int = 0;
static unsigned lydian_calls_klee_range = 0;
typedef struct lydian_object lydian_type_klee_make_symbolic;
typedef int lydian_type_klee_int;
typedef int lydian_type_klee_range;

static void lydian_assume(int holds)
{
    if (!holds) lydian_exit(LYDIAN_NO_TEST);
}

#define LYDIAN_DEFINES(result, name, parameters)                                                   \
    result lydian_own_##name parameters __asm__(#name) __attribute__((__weak__));                  \
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
    struct lydian_object *given;
    (void)name;
    __builtin_memset(to, 0, size);
    if (lydian_calls_klee_make_symbolic >= lydian_given_klee_make_symbolic) return;
    given = &lydian_results_klee_make_symbolic[lydian_calls_klee_make_symbolic++];
    __builtin_memcpy(to, given->bytes, given->size < size ? given->size : size);
}
LYDIAN_DEFINES(int, klee_int, (const char *name))
{
    (void)name;
    if (lydian_calls_klee_int >= lydian_given_klee_int) return 0;
    return lydian_results_klee_int[lydian_calls_klee_int++];
}
LYDIAN_DEFINES(int, klee_range, (int least, int end, const char *name))
{
    int value = 0;
    (void)name;
    if (lydian_calls_klee_range < lydian_given_klee_range)
        value = lydian_results_klee_range[lydian_calls_klee_range++];
    lydian_assume(least <= value && value < end);
    return value;
}
#endif

#else

/* ---- What tests are written with -------------------------------------------------------------- */

/* Tests lead variables of the program to their own, and pass what no program should. */
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#if defined __clang__
#pragma GCC diagnostic ignored "-Wsentinel"
#elif defined __GNUC__ && __GNUC__ >= 12
#pragma GCC diagnostic ignored "-Wdangling-pointer"
#pragma GCC diagnostic ignored "-Wstringop-overflow"
#endif

#ifndef NULL
#define NULL ((void *)0)
#endif
#undef CHECK_INT
#undef CHECK_UINT
#undef CHECK_DOUBLE
#undef CHECK_FLOAT
#undef CHECK_PTR
#undef CHECK_NOT_NULL
#undef CHECK_STR
#undef CHECK_BYTES
#undef CHECK_SAME
#undef CHECK_CALLS
#undef CHECK_RELEASED
#undef GIVES
#undef FAILS
#undef WRITES
#undef ENDS
#undef FREE
#undef BLOCK
#undef BLOCK_OF

#define CHECK_INT(seen, expected) lydian_check_int(__FILE__, __LINE__, #seen, seen, expected)
#define CHECK_UINT(seen, expected) lydian_check_unsigned(__FILE__, __LINE__, #seen, seen, expected)
#define CHECK_DOUBLE(seen, expected) lydian_check_double(__FILE__, __LINE__, #seen, seen, expected)
#define CHECK_FLOAT(seen, expected) lydian_check_float(__FILE__, __LINE__, #seen, seen, expected)
#define CHECK_PTR(seen, expected)                                                                  \
    lydian_check_pointer(__FILE__, __LINE__, #seen, (const void *)(seen), (const void *)(expected))
#define CHECK_NOT_NULL(seen) lydian_check_set(__FILE__, __LINE__, #seen, (const void *)(seen))
/* Texts up to their ends. */
#define CHECK_STR(seen, expected)                                                                  \
    lydian_check_text(__FILE__, __LINE__, #seen, (const void *)(seen), expected)
/* So many bytes at an address. */
#define CHECK_BYTES(seen, expected, size)                                                          \
    lydian_check_bytes(__FILE__, __LINE__, #seen, (const void *)(seen), expected, size)
/* All bytes of an array. */
#define CHECK_SAME(seen, expected)                                                                 \
    lydian_check_bytes(__FILE__, __LINE__, #seen, (const void *)(seen), expected, sizeof(expected))

/* The program may read a union by another member than the test sets. */
#define SETTLE(object) __asm__ volatile("" : : "r"(&(object)) : "memory")
#define FREE(block) lydian_free((void *)(block))
/* How often an undefined function was called. */
#define CHECK_CALLS(name, count)                                                                   \
    lydian_check_int(__FILE__, __LINE__, "calls of " #name, lydian_calls_##name, count)

/* How many of the blocks that the test made were released. */
#define CHECK_RELEASED(count)                                                                      \
    lydian_check_int(__FILE__, __LINE__, "blocks released", lydian_released, count)
#define LYDIAN_COUNTS_RELEASES                                                                     \
    void lydian_tried_free(void *) __asm__("lydian_own_free");                                     \
    void lydian_tried_free(void *block) { lydian_release(block); }

/* An allocated block with a value, or with so many of them. */
#define BLOCK(type, ...)                                                                           \
    ((type *)lydian_copy(lydian_block(sizeof(type)), &(type){ __VA_ARGS__ }, sizeof(type)))
#define BLOCK_OF(type, count, ...)                                                                 \
    ((type *)lydian_copy(lydian_block(sizeof(type[count])), (type[count]){ __VA_ARGS__ },         \
                         sizeof(type[count])))

/* What an undefined function returns, call by call; further calls return zero. */
#define GIVES(name, ...)                                                                           \
    do {                                                                                           \
        lydian_type_##name lydian_values[] = { __VA_ARGS__ };                                      \
        lydian_given_##name = sizeof lydian_values / sizeof *lydian_values;                        \
        __builtin_memcpy((void *)lydian_results_##name, (void *)lydian_values,                     \
                         sizeof lydian_values);                                                    \
    } while (0)
/* That call of an allocator, from 1, fails. */
#define FAILS(name, call) (lydian_fails_##name |= 1ULL << ((call) - 1))
/* What a call of an undefined function writes: members of `struct lydian_write`. */
#define WRITES(name, ...)                                                                          \
    (lydian_writes_##name[lydian_written_##name++] = (struct lydian_write){ __VA_ARGS__ })
/* Keeps the bytes of a variable, or gives them back. */
#define LYDIAN_RESTORE(variable, kept, is_kept)                                                    \
    __builtin_memcpy((is_kept) ? (void *)&(variable) : (void *)(kept),                             \
                     (is_kept) ? (void *)(kept) : (void *)&(variable), sizeof(variable))
/* Keeps a compiler from leaving out a call because its result is for nothing. */
#define LYDIAN_KEEP(value) __asm__ volatile("" : : "r"(&(value)) : "memory")
/* The call before should not have returned. */
#define LYDIAN_RETURNED() lydian_fail(__FILE__, __LINE__, "the call returned, where it should exit")

/* A function for a test, for somebody else's `main`; it gives 0 where the test passes. */
#define LYDIAN_CASE(name, test, ending, status)                                                    \
    int lydian_case_##name(void);                                                                  \
    int lydian_case_##name(void)                                                                   \
    {                                                                                              \
        static const struct lydian_test run = { #name, test, ending, status };                     \
        return lydian_run(&run);                                                                   \
    }

/* The variables of a stub with room for so many results. */
#define LYDIAN_RESULTS(name, count)                                                                \
    static lydian_type_##name lydian_results_##name[count];                                        \
    static unsigned lydian_given_##name = 0, lydian_calls_##name = 0;
#define LYDIAN_WRITTEN(name, count)                                                                \
    static struct lydian_write lydian_writes_##name[count];                                        \
    static unsigned lydian_written_##name = 0;
/* A stub has a name of its own in C and that of the function for the linker alone, so that it contradicts
 * no declaration. It is weak: a definition that is linked goes before. */
#define LYDIAN_STUB(name, symbol, count)                                                           \
    lydian_type_##name lydian_stub_##name(void) __attribute__((__weak__));                         \
    LYDIAN_STUB_OF_LIBRARY(name, symbol, count)
/* That of a function of the C library is not: the run-time of a sanitizer defines it, too. */
#define LYDIAN_STUB_OF_LIBRARY(name, symbol, count)                                                \
    LYDIAN_RESULTS(name, count)                                                                    \
    lydian_type_##name lydian_stub_##name(void) __asm__(symbol);                                   \
    lydian_type_##name lydian_stub_##name(void)                                                    \
    {                                                                                              \
        static lydian_type_##name none;                                                            \
        if (lydian_calls_##name++ >= lydian_given_##name) return none;                             \
        return lydian_results_##name[lydian_calls_##name - 1];                                     \
    }
#define LYDIAN_STUB_OF_NOTHING(name, symbol)                                                       \
    static unsigned lydian_calls_##name = 0;                                                       \
    void lydian_stub_##name(void) __asm__(symbol) __attribute__((__weak__));                       \
    void lydian_stub_##name(void) { lydian_calls_##name++; }
#define LYDIAN_STUB_THAT_ENDS(name, symbol)                                                        \
    void lydian_stub_##name(void) __asm__(symbol) __attribute__((__weak__, __noreturn__));         \
    void lydian_stub_##name(void) { lydian_exit(LYDIAN_NO_RETURN); }
#define LYDIAN_VARIABLE(name, size, align)                                                         \
    unsigned char lydian_data_##name[size] __asm__(#name)                                          \
        __attribute__((__weak__, __aligned__(align)));
#endif
