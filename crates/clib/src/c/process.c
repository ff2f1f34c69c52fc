/* The beginning and the end of a program, and what it finds around it. */
#include "internal.h"

enum { MOST_HANDLERS = 64 };
struct handler {
    void (*plain)(void);
    void (*with_status)(int, void *);
    void *argument;
};
static struct handler handlers[MOST_HANDLERS];
static int handler_count;

static int add_handler(struct handler handler) {
    if (handler_count == MOST_HANDLERS) return -1;
    handlers[handler_count++] = handler;
    return 0;
}

int atexit(void (*function)(void)) {
    struct handler handler = {function, NULL, NULL};
    return add_handler(handler);
}
int on_exit(void (*function)(int, void *), void *argument) {
    struct handler handler = {NULL, function, argument};
    return add_handler(handler);
}
int __cxa_atexit(void (*function)(void *), void *argument, void *object) {
    (void)object;
    (void)argument;
    struct handler handler = {(void (*)(void))(void *)function, NULL, NULL};
    return add_handler(handler);
}

static int destructors_run;

void exit(int status) {
    while (handler_count) {
        struct handler last = handlers[--handler_count];
        if (last.plain)
            last.plain();
        else
            last.with_status(status, last.argument);
    }
    void (*destructor)(void);
    while ((destructor = __lydian_destructor(destructors_run))) {
        destructors_run++;
        destructor();
    }
    lydian_flush_all();
    __lydian_exit(status & 255);
}

void _exit(int status) { __lydian_exit(status & 255); }
void _Exit(int status) { __lydian_exit(status & 255); }

static void (*quick_handlers[MOST_HANDLERS])(void);
static int quick_count;
int at_quick_exit(void (*function)(void)) {
    if (quick_count == MOST_HANDLERS) return -1;
    quick_handlers[quick_count++] = function;
    return 0;
}
void quick_exit(int status) {
    while (quick_count) quick_handlers[--quick_count]();
    __lydian_exit(status & 255);
}

char *program_invocation_name = "program";
char *program_invocation_short_name = "program";

void __assert_fail(const char *what, const char *file, unsigned line, const char *function) {
    fflush(stdout);
    fprintf(stderr, "%s: %s:%u: %s: Assertion `%s' failed.\n", program_invocation_short_name, file,
            line, function ? function : "?", what);
    abort();
}

/* What the program changed of its environment: `name=value`, or `name` for what it took out. The
   rest is the host's. */
char **environ;

static char **find_change(const char *name, size_t length) {
    char **at = environ;
    for (; at && *at; at++)
        if (!strncmp(*at, name, length) && ((*at)[length] == '=' || !(*at)[length])) return at;
    return NULL;
}

char *getenv(const char *name) {
    size_t length = strlen(name);
    char **change = find_change(name, length);
    if (!change) return (char *)__lydian_getenv(name);
    return (*change)[length] ? *change + length + 1 : NULL;
}
char *secure_getenv(const char *name) { return getenv(name); }

static int change(char *setting, size_t length) {
    char **known = find_change(setting, length);
    if (known) {
        *known = setting;
        return 0;
    }
    size_t count = 0;
    while (environ && environ[count]) count++;
    char **larger = malloc((count + 2) * sizeof *larger);
    if (!larger) return -1;
    for (size_t i = 0; i < count; i++) larger[i] = environ[i];
    larger[count] = setting;
    larger[count + 1] = NULL;
    environ = larger;
    return 0;
}

int putenv(char *setting) { return change(setting, strcspn(setting, "=")); }

static int is_variable(const char *name) {
    if (*name && !strchr(name, '=')) return 1;
    errno = EINVAL;
    return 0;
}

int setenv(const char *name, const char *value, int overwrite) {
    if (!is_variable(name)) return -1;
    if (!overwrite && getenv(name)) return 0;
    size_t length = strlen(name);
    char *setting = malloc(length + strlen(value) + 2);
    if (!setting) return -1;
    strcpy(setting, name);
    setting[length] = '=';
    strcpy(setting + length + 1, value);
    return change(setting, length);
}

int unsetenv(const char *name) {
    if (!is_variable(name)) return -1;
    char *copy = strdup(name);
    return copy ? change(copy, strlen(copy)) : -1;
}

int system(const char *command) {
    if (!command) return 0;
    errno = ENOSYS;
    return -1;
}

/* Allocation at more than the usual alignment: what malloc gives is moved on until it fits. */
void *aligned_alloc(size_t alignment, size_t size) {
    for (int tries = 0; tries < 64; tries++) {
        char *block = malloc(size);
        if (!block || ((uintptr_t)block & (alignment - 1)) == 0) return block;
        size_t gap = alignment - ((uintptr_t)block & (alignment - 1));
        free(block);
        char *filling = malloc(gap > 64 ? gap - 48 : gap);
        block = malloc(size);
        free(filling);
        if (block && ((uintptr_t)block & (alignment - 1)) == 0) return block;
        free(block);
    }
    errno = ENOMEM;
    return NULL;
}
void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void *valloc(size_t size) { return aligned_alloc(4096, size); }
int posix_memalign(void **to, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || (alignment & (alignment - 1)) || !alignment) return EINVAL;
    void *block = aligned_alloc(alignment, size);
    if (!block) return ENOMEM;
    *to = block;
    return 0;
}
void *reallocarray(void *block, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, total);
}

div_t div(int a, int b) {
    div_t result = {a / b, a % b};
    return result;
}
ldiv_t ldiv(long a, long b) {
    ldiv_t result = {a / b, a % b};
    return result;
}
lldiv_t lldiv(long long a, long long b) {
    lldiv_t result = {a / b, a % b};
    return result;
}
