/* Makes inputs of a function from its types, and runs it on them.
 *
 *     runtime UNIT.so FIRST RUNS CELLS SECONDS   runs FIRST, FIRST + 1, ... as long as there is time;
 *                                               prints "hit CELL RUN", at the end "runs COUNT", and
 *                                               "trapped CELL" for each that was set only by runs that
 *                                               ended in a trap of the sanitizer: it may have been set
 *                                               by the expression whose evaluation C leaves undefined
 *     runtime UNIT.so show RUN CELLS             one run alone; prints its input and the cells that it set
 *
 * UNIT.so has the instrumented text, tables of its types, and stubs of what it leaves undefined (see
 * tables.rs). CELLS are numbers of cells, separated by commas. What a run does follows from its number
 * alone. It ends where the sanitizer's traps, a guard page or a limit end it; what was recorded before
 * counts. Batches of runs are made in processes of their own.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define ASAN 1
const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:"
           "handle_abort=0:allocator_may_return_null=1:abort_on_error=1:allow_user_segv_handler=1:"
           "detect_stack_use_after_return=0:verify_asan_link_order=0:log_path=/dev/null";
}
#endif
#endif

typedef unsigned long word;

/* The kinds of types, as tables.rs numbers them. */
enum { OPAQUE, INTEGER, FLOAT, DOUBLE, BOOLEAN, POINTER, ARRAY, STRUCT, UNION, FUNCTION };

struct type {
    int kind;
    word size, align;
    int element, first, fields, is_const; /* of pointers: whether what they point to is const */
    word count;
};
struct field {
    int type;
    word bit_offset;
    int bits;
};
struct global {
    void *at;
    int type;
};
struct callee {
    int type;
    void *function;
};

static const struct type *types;
static const struct field *fields;
static const struct global *globals;
static const struct callee *callees;
static const word *constants, *sentinels;
static const int *parameters;
static int global_count, callee_count, constant_count, parameter_count, sentinel_count;
static void (*call)(const word *, const double *, const float *);
static unsigned char (*read_cell)(word);
static word cells[4096];
static int cell_count;

static word random_state;
static int showing, depth;

static word next(void) {
    word z = random_state += 0x9e3779b97f4a7c15ul;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebul;
    return z ^ (z >> 31);
}
static word below(word bound) { return (word)(((unsigned __int128)next() * bound) >> 64); }

/* How a run ends before the function returns. */
static sigjmp_buf end_of_run;
static volatile sig_atomic_t running, trapped;
void attack_stop(void);
void attack_stop(void) {
    if (running) {
        running = 0;
        siglongjmp(end_of_run, 1);
    }
    _exit(3);
}
static void on_signal(int number) {
    trapped = number == SIGILL || number == SIGTRAP;
    attack_stop();
}
/* A run that two ticks have seen ends with the next one: few that go on so long ever end. One run
 * alone has more time, as it may be made by the slower build. */
enum { TICK = 1000, TICKS = 2, TICKS_ALONE = 50 };
static volatile word current_run, ticked_run;
static volatile int ticks;
static void on_tick(int number) {
    (void)number;
    if (ticked_run != current_run) {
        ticked_run = current_run;
        ticks = 1;
    } else if (++ticks > (showing ? TICKS_ALONE : TICKS) && running) {
        attack_stop();
    }
}

/* Memory of the inputs: slots that end at a page which cannot be accessed. */
enum { PAGE = 4096, SMALL = 96, LARGE = 6, LARGE_PAGES = 16 };
static char *small_slots, *large_slots;
static int small_used, large_used;
struct part {
    char *at;
    int type;
};
static struct part parts[1024];
static int part_count;
struct object {
    char *at;
    word size;
    int type;
    word count;
};
static struct object objects[SMALL + LARGE];
static int object_count;

static void map_slots(void) {
    word small = (word)SMALL * 2 * PAGE, large = (word)LARGE * (LARGE_PAGES + 1) * PAGE;
    small_slots = mmap(0, small, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    large_slots = mmap(0, large, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < SMALL; i++)
        mprotect(small_slots + (word)i * 2 * PAGE, PAGE, PROT_READ | PROT_WRITE);
    for (int i = 0; i < LARGE; i++)
        mprotect(large_slots + (word)i * (LARGE_PAGES + 1) * PAGE, LARGE_PAGES * PAGE,
                 PROT_READ | PROT_WRITE);
}

static int in_slots(const char *at) {
    return (at >= small_slots && at < small_slots + (word)SMALL * 2 * PAGE) ||
           (at >= large_slots && at < large_slots + (word)LARGE * (LARGE_PAGES + 1) * PAGE);
}

static void forget_objects(void) {
#ifdef ASAN
    __asan_poison_memory_region(small_slots, (word)SMALL * 2 * PAGE);
    __asan_poison_memory_region(large_slots, (word)LARGE * (LARGE_PAGES + 1) * PAGE);
#endif
    small_used = large_used = part_count = object_count = 0;
}

static char *allocate(word size, word align) {
    char *end;
    word room;
    /* Some objects are blocks of the heap, which the function may free or resize. */
    if (small_used < SMALL && below(6) == 0) {
        small_used++;
        return calloc(1, size);
    }
    if (size <= PAGE && small_used < SMALL) {
        end = small_slots + (word)small_used++ * 2 * PAGE + PAGE;
        room = PAGE;
    } else if (size <= LARGE_PAGES * PAGE && large_used < LARGE) {
        room = LARGE_PAGES * PAGE;
        end = large_slots + (word)large_used++ * (LARGE_PAGES + 1) * PAGE + room;
    } else {
        return 0;
    }
    char *at = end - size;
    at -= (word)at % align;
    if (at < end - room)
        return 0;
#ifdef ASAN
    __asan_unpoison_memory_region(at, size);
#endif
    memset(at, 0, size);
    return at;
}

static void show(const char *format, ...) {
    if (!showing)
        return;
    va_list list;
    va_start(list, format);
    printf("%*s", 2 * depth, "");
    vprintf(format, list);
    va_end(list);
}

static void add_part(char *at, int type) {
    if (part_count < 1024)
        parts[part_count++] = (struct part){at, type};
}

static word number(word bits) {
    static const word limits[] = {0,    1,     2,      7,          8,          9,         10,
                                  15,   16,    31,     32,         63,         64,        127,
                                  128,  255,   256,    32767,      32768,      65535,     65536,
                                  '0',  '9',   'a',    'z',        'A',        ' ',       '\n',
                                  '"',  '\\',  '-',    0x7fffffff, 0x80000000, 0xffffffff};
    word value;
    switch (below(8)) {
    case 0: value = 0; break;
    case 1: value = below(5); break;
    case 2: value = -(1 + below(3)); break;
    case 3: value = limits[below(sizeof limits / sizeof *limits)]; break;
    case 4:
    case 5:
        if (constant_count) {
            value = constants[below(constant_count)] + below(3) - 1;
            break;
        }
        /* fall through */
    case 6: value = next() >> below(64); break;
    default: value = (1ul << below(bits ? bits : 1)) + below(3) - 1; break;
    }
    return below(6) == 0 ? -value : value;
}

static double real(void) {
    static const double some[] = {0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 1e-9, 1e9, 1e308, -1e308, 4.9e-324,
                                  __builtin_inf(), -__builtin_inf(), __builtin_nan("")};
    switch (below(4)) {
    case 0: return some[below(sizeof some / sizeof *some)];
    case 1: return (double)(long)below(201) - 100;
    case 2: return ((double)next() / 1.8446744073709552e19 - 0.5) * (double)(1ul << below(40));
    default: return (double)(long)number(32);
    }
}

static void fill(char *at, int type);
static void *pointer_to(int pointee, int is_const);

static int is_text(int type) { return types[type].kind == INTEGER && types[type].size == 1; }

static void *function_of(int type) {
    int found = 0;
    void *chosen = 0;
    for (int i = 0; i < callee_count; i++)
        if (callees[i].type == type && below(++found) == 0)
            chosen = callees[i].function;
    return chosen;
}

/* A new object of some elements. */
static void *fresh(int type) {
    word size = types[type].size ? types[type].size : 1;
    word count = 1;
    if (types[type].size == 0) {
        count = 64;
    } else if (is_text(type)) {
        count = 1 + below(below(4) ? 24 : 400);
    } else if (below(2)) {
        count = below(5) ? 1 + below(6) : 1 + below(80);
    }
    if (size * count > LARGE_PAGES * PAGE)
        count = 1;
    char *at = allocate(size * count, types[type].align ? types[type].align : 1);
    if (!at)
        return 0;
    objects[object_count++] = (struct object){at, size * count, type, count};
    show("%lu of type %d at %p\n", count, type, (void *)at);
    depth++;
    if (types[type].kind == OPAQUE || types[type].kind == FUNCTION) {
        for (word i = 0; i < size * count; i++)
            at[i] = (char)number(8);
    } else if (is_text(type)) {
        word plain = below(3);
        for (word i = 0; i < count; i++) {
            word value = plain ? number(7) : number(8);
            at[i] = (char)(plain && value == 0 && below(8) ? 'a' + below(4) : value);
        }
        if (below(4))
            at[count - 1] = 0;
        show("bytes");
        for (word i = 0; showing && i < count; i++)
            printf(" %02x", (unsigned char)at[i]);
        if (showing)
            printf("\n");
    } else {
        for (word i = 0; i < count; i++)
            add_part(at + i * size, type);
        for (word i = 0; i < count; i++)
            fill(at + i * size, type);
    }
    depth--;
    return at;
}

/* The first part of the type behind a random one, around the end. */
static void *known(int type) {
    int begin = part_count ? (int)below((word)part_count) : 0;
    for (int i = 0; i < part_count; i++) {
        int at = begin + i < part_count ? begin + i : begin + i - part_count;
        if (parts[at].type == type)
            return parts[at].at;
    }
    return 0;
}

static void *pointer_to(int pointee, int is_const) {
    (void)is_const;
    word way = below(16);
    if (sentinel_count && below(16) == 0)
        return (void *)sentinels[below(sentinel_count)];
    if (types[pointee].kind == FUNCTION)
        return way == 0 ? 0 : function_of(pointee);
    if (way < 2)
        return 0;
    if (way < 6) {
        char *at = known(pointee);
        if (at)
            return at;
    }
    int any = is_text(pointee) || (types[pointee].kind == OPAQUE && types[pointee].size == 0);
    if (way == 6 && object_count) {
        struct object *object = &objects[below(object_count)];
        if (object->type == pointee)
            return object->at + object->size;
        if (any)
            return object->at + below(object->size + 1);
    }
    if (way == 7 && any && object_count) {
        struct object *object = &objects[below(object_count)];
        if (object->type == pointee || is_text(pointee) || types[pointee].kind == OPAQUE)
            return object->at + below(object->size);
    }
    if (depth > 7)
        return way < 12 ? 0 : known(pointee);
    return fresh(pointee);
}

static void fill_bits(char *at, word offset, int bits) {
    word value = number(bits);
    for (int i = 0; i < bits; i++, offset++) {
        char mask = (char)(1 << offset % 8);
        at[offset / 8] = (char)((at[offset / 8] & ~mask) | ((value >> i & 1) ? mask : 0));
    }
}

static void fill_field(char *at, const struct field *field) {
    if (field->bits >= 0)
        fill_bits(at, field->bit_offset, field->bits);
    else
        fill(at + field->bit_offset / 8, field->type);
}

enum { FEW = 16 };
static void fill(char *at, int type) {
    const struct type *t = &types[type];
    switch (t->kind) {
    case INTEGER: {
        word value = number(8 * t->size);
        memcpy(at, &value, t->size < 8 ? t->size : 8);
        show("%p: %ld\n", (void *)at, (long)value);
        break;
    }
    case BOOLEAN: *at = (char)below(2); break;
    case FLOAT: {
        float value = (float)real();
        memcpy(at, &value, sizeof value);
        break;
    }
    case DOUBLE: {
        double value = real();
        memcpy(at, &value, sizeof value);
        show("%p: %g\n", (void *)at, value);
        break;
    }
    case POINTER: {
        void *value = pointer_to(t->element, t->is_const);
        memcpy(at, &value, sizeof value);
        show("%p: -> %p\n", (void *)at, value);
        break;
    }
    case ARRAY: {
        /* Of a long array mostly a few elements alone are not zero: filling takes the time of a run. */
        int few = t->count > FEW && below(4);
        for (word i = 0; i < (few ? FEW : t->count); i++) {
            char *element = at + (few ? below(t->count) : i) * types[t->element].size;
            add_part(element, t->element);
            fill(element, t->element);
        }
        break;
    }
    case STRUCT:
        for (int i = 0; i < t->fields; i++) {
            const struct field *field = &fields[t->first + i];
            if (field->bits < 0)
                add_part(at + field->bit_offset / 8, field->type);
            fill_field(at, field);
        }
        break;
    case UNION:
        if (t->fields)
            fill_field(at, &fields[t->first + below(t->fields)]);
        break;
    default: break; /* what is not known stays zero */
    }
}

/* What stubs of undefined functions do. */
word attack_value(int type);
word attack_value(int type) {
    word value = 0;
    if (types[type].size && types[type].size <= 8)
        fill((char *)&value, type);
    return value;
}
float attack_float(void);
float attack_float(void) { return (float)real(); }
double attack_double(void);
double attack_double(void) { return real(); }
void attack_write(word pointer, int type);
void attack_write(word pointer, int type) {
    if (!pointer || !types[type].size || types[type].kind == FUNCTION || below(4) == 0)
        return;
    fill((char *)pointer, type);
}

/* Allocations may fail, as C says. */
void *attack_malloc(word);
void *attack_malloc(word size) { return below(5) == 0 || size > 1 << 20 ? 0 : malloc(size); }
void *attack_realloc(void *, word);
void *attack_realloc(void *at, word size) {
    if (in_slots(at))
        attack_stop(); /* it is no block of the heap */
    return below(5) == 0 || size > 1 << 20 ? 0 : realloc(at, size);
}
void attack_free(void *);
void attack_free(void *at) {
    if (in_slots(at))
        attack_stop(); /* the library would end the run, slowly */
    free(at);
}
void *attack_calloc(word, word);
void *attack_calloc(word count, word size) {
    word all;
    if (below(5) == 0 || __builtin_mul_overflow(count, size, &all) || all > 1 << 20)
        return 0;
    return calloc(count, size);
}

/* Whether a predicate may read memory: of the inputs, of the stack, or of the unit. */
static char *unit_start, *unit_end, *stack_top;
int lydian_readable(const void *pointer, word size);
int lydian_readable(const void *pointer, word size) {
    const char *at = pointer, *end = at + size;
    char here;
    for (int i = 0; i < object_count; i++)
        if (at >= objects[i].at && end <= objects[i].at + objects[i].size)
            return 1;
#ifdef ASAN
    if (((at >= unit_start && end <= unit_end) || (at > &here && end <= stack_top)))
        return !__asan_region_is_poisoned((void *)at, size);
    return 0;
#else
    return (at >= unit_start && end <= unit_end) || (at > &here && end <= stack_top);
#endif
}
void lydian_wide(unsigned, unsigned, const unsigned long long *);
void lydian_wide(unsigned decision, unsigned words, const unsigned long long *values) {
    (void)decision, (void)words, (void)values;
}
int lydian_row(unsigned, unsigned, const unsigned long long *);
int lydian_row(unsigned table, unsigned words, const unsigned long long *values) {
    (void)table, (void)words, (void)values;
    return 0;
}

/* The unit's writable memory: every run begins with what it held first. */
static char *writable, *snapshot;
static word writable_size;
static int find_unit(struct dl_phdr_info *info, size_t size, void *name) {
    (void)size;
    if (!strstr(info->dlpi_name, name))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        char *start = (char *)info->dlpi_addr + segment->p_vaddr;
        if (!unit_start || start < unit_start)
            unit_start = start;
        if (start + segment->p_memsz > unit_end)
            unit_end = start + segment->p_memsz;
        if (segment->p_flags & PF_W) {
            writable = start;
            writable_size = segment->p_memsz;
        }
    }
    return 1;
}

/* Copies what `AddressSanitizer` would not let be copied: all of the unit's memory. */
__attribute__((no_sanitize("address"))) static void copy(char *to, const char *from, word size) {
#ifdef ASAN
    volatile word *words = (volatile word *)to;
    word at = 0;
    for (; at + sizeof(word) <= size; at += sizeof(word))
        words[at / sizeof(word)] = ((const volatile word *)from)[at / sizeof(word)];
    for (; at < size; at++)
        ((volatile char *)to)[at] = ((const volatile char *)from)[at];
#else
    memcpy(to, from, size);
#endif
}

static void one_call(void) {
    word words[16] = {0};
    double doubles[16] = {0};
    float floats[16] = {0};
    for (int i = 0; i < parameter_count; i++) {
        const struct type *t = &types[parameters[i]];
        if (t->kind == DOUBLE)
            doubles[i] = real();
        else if (t->kind == FLOAT)
            floats[i] = (float)real();
        else
            fill((char *)&words[i], parameters[i]);
        show("argument %d: %ld %g %g\n", i, (long)words[i], doubles[i], (double)floats[i]);
    }
    call(words, doubles, floats);
}

/* Calls before the last one give static locals their values; each call has new inputs. */
static void one_run(word run) {
    current_run = run;
    trapped = 0;
    random_state = run * 0xd1342543de82ef95ul + 0x632be59bd9b4e019ul;
    next();
    copy(writable, snapshot, writable_size);
    forget_objects();
    if (sigsetjmp(end_of_run, 1) == 0) {
        running = 1;
        for (int i = 0; i < global_count; i++) {
            if (below(3) == 0)
                continue;
            show("global %d at %p\n", i, globals[i].at);
            add_part(globals[i].at, globals[i].type);
            fill(globals[i].at, globals[i].type);
        }
        word before = below(4) == 0 ? 1 + below(3) : 0;
        for (word i = 0; i <= before; i++)
            one_call();
    }
    running = 0;
    depth = 0;
}

static word parse_cells(const char *text) {
    while (*text && cell_count < 4096) {
        cells[cell_count++] = strtoul(text, (char **)&text, 10);
        if (*text == ',')
            text++;
    }
    return cell_count;
}

static void load(const char *path) {
    void *unit = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!unit) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    types = dlsym(unit, "attack_types");
    fields = dlsym(unit, "attack_fields");
    globals = dlsym(unit, "attack_globals");
    callees = dlsym(unit, "attack_callees");
    constants = dlsym(unit, "attack_constants");
    sentinels = dlsym(unit, "attack_sentinels");
    parameters = dlsym(unit, "attack_parameters");
    const int *counts = dlsym(unit, "attack_counts");
    global_count = counts[0], callee_count = counts[1];
    constant_count = counts[2], parameter_count = counts[3], sentinel_count = counts[4];
    call = (void (*)(const word *, const double *, const float *))dlsym(unit, "attack_call");
    read_cell = (unsigned char (*)(word))dlsym(unit, "lydian_read");
    dl_iterate_phdr(find_unit, (void *)path);
    snapshot = malloc(writable_size);
    copy(snapshot, writable, writable_size);
}

static void catch_signals(void) {
    static char stack[1 << 16];
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternate, 0);
    const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_NODEFER};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, 0);
    action.sa_handler = on_tick;
    action.sa_flags = SA_ONSTACK | SA_NODEFER | SA_RESTART;
    sigaction(SIGALRM, &action, 0);
    struct itimerval every = {{0, TICK}, {0, TICK}};
    setitimer(ITIMER_REAL, &every, 0);
}

/* Which cells are known to be hit, and how far the process came, told to the parent. */
struct progress {
    word next;
    unsigned char hit[4096], trapped[4096];
};

static void batch(struct progress *progress, word end) {
    struct rlimit cpu = {10, 10}, file = {0, 0};
    setrlimit(RLIMIT_CPU, &cpu);
    setrlimit(RLIMIT_FSIZE, &file);
    catch_signals();
    for (word run = progress->next; run < end; run++) {
        progress->next = run + 1; /* a run that ends the process is not repeated */
        one_run(run);
        for (int i = 0; i < cell_count; i++)
            if (!progress->hit[i] && read_cell(cells[i])) {
                progress->trapped[i] = 1;
                if (trapped)
                    continue;
                progress->hit[i] = 1;
                char line[64];
                int length = snprintf(line, sizeof line, "hit %lu %lu\n", cells[i], run);
                (void)!write(3, line, (size_t)length);
            }
    }
    _exit(0);
}

int main(int argc, char **argv) {
    char top;
    stack_top = &top;
    if (argc < 5)
        return 2;
    load(argv[1]);
    map_slots();
    parse_cells(argv[4]);
    if (strcmp(argv[2], "show") == 0) {
        showing = 1;
        setvbuf(stdout, 0, _IOLBF, 0);
        catch_signals();
        one_run(strtoul(argv[3], 0, 10));
        for (int i = 0; i < cell_count; i++)
            if (read_cell(cells[i]))
                printf("%s %lu\n", trapped ? "trapped" : "set", cells[i]);
        return 0;
    }
    dup2(1, 3); /* the program under test may close or write to the standard ones */
    int nothing = open("/dev/null", 2);
    dup2(nothing, 0), dup2(nothing, 1), dup2(nothing, 2);
    struct progress *progress =
        mmap(0, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    word end = strtoul(argv[2], 0, 10) + strtoul(argv[3], 0, 10);
    progress->next = strtoul(argv[2], 0, 10);
    word begin = progress->next;
    time_t last = time(0) + (argc > 5 ? atol(argv[5]) : 60);
    while (progress->next < end && time(0) < last) {
        word until = progress->next + 2000 < end ? progress->next + 2000 : end;
        pid_t child = fork();
        if (child == 0)
            batch(progress, until);
        if (child < 0 || waitpid(child, 0, 0) < 0)
            return 2;
    }
    for (int i = 0; i < cell_count; i++)
        if (progress->trapped[i] && !progress->hit[i])
            dprintf(3, "trapped %lu\n", cells[i]);
    dprintf(3, "runs %lu\n", progress->next - begin);
    return 0;
}
