/* The runner: loads one compiled object, runs tests on it, and reports their outcomes.
 *
 * It shares one memory file with its parent: a control page, the cells that the instrumented
 * code sets, the set of wide decisions' vectors, requests and replies. A crash of the code under
 * test is noted in the control page and ends this process; the parent starts another one.
 *
 * Arguments: the object's path, then numbers in the order of `struct setup`. */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#include "lydian.h"
#include "confine.h"

enum { PAGE = 4096, ALIGN = 16 };
enum { WANT_CELLS = 1, WANT_MEMORY = 2, WANT_HEAP = 4, WANT_FILL = 8 };
enum { STATE_LOADING = 0, STATE_READY = 1, STATE_CRASHED = 2, STATE_FAILED = 3 };

struct control {
    _Atomic uint32_t request; /* the parent counts its requests here */
    _Atomic uint32_t reply;   /* the runner follows */
    _Atomic uint32_t current; /* position of the test that runs */
    _Atomic uint32_t state;
    _Atomic uint32_t parent_sleeps;
    _Atomic uint32_t runner_sleeps;
    uint32_t first, count, wants; /* of the request */
    uint32_t done;                /* how many tests are in the reply */
    uint64_t request_size, reply_size;
    uint32_t signal;
    uint32_t overflow; /* whether the crash ran out of stack */
    uint64_t address;
    uint64_t wide_used; /* words in use in the wide set */
    uint32_t wide_full;
    uint32_t pad;
    char message[512];
};

struct setup {
    uint64_t cells_at, cells_size, wide_at, wide_size, symbols_at, request_at, request_limit,
        reply_at, reply_limit, total, region, region_size, cells_offset, symbols_offset, entries,
        symbols, own_symbols, parent;
    struct confinement confinement;
};

struct test {
    /* `arguments` is the size of those of one call; `earlier` is how many calls come before the last;
     * `devices` says whether the program accesses any. */
    uint32_t size, function, arguments, objects, globals, externals, relocations, files, earlier, devices,
        pad[2];
};
struct relocation {
    uint32_t at, symbol;
    uint64_t addend;
};
struct object {
    uint64_t address;
    uint32_t size, read_only;
};
struct global {
    uint32_t symbol, size;
    uint64_t pad;
};
struct file {
    /* The lengths of its name and of its contents, which follow. Or it is a variable of the environment
     * (`FileKind` in `request.rs`), which may be missing. */
    uint32_t name, size, is_variable, missing;
};
struct run {
    uint32_t size, test, how, code;
    uint32_t result, cells, objects, globals;
    uint32_t wrote_read_only, released, blocks, device_writes;
};
struct changed {
    uint32_t symbol, size, pad[2];
};
/* A block that was allocated and is live; its contents follow. */
struct told_block {
    uint64_t address, size;
};
struct symbol {
    uint64_t address, size, writable, pad;
};

static struct setup setup;
static struct control *control;
static uint8_t *shared, *cells;
static struct lydian_entry *entries;
static struct symbol *symbols;
static jmp_buf back;
static int how;
static long code;

static uint32_t running_test(void) { return atomic_load_explicit(&control->current, memory_order_relaxed); }

/* ---- waiting ------------------------------------------------------------------------------ */

static void futex(_Atomic uint32_t *word, int op, uint32_t value, const struct timespec *limit) {
    syscall(SYS_futex, word, op, value, limit, NULL, 0);
}

static void tell(_Atomic uint32_t *word, uint32_t value, _Atomic uint32_t *sleeps) {
    atomic_store(word, value);
    if (atomic_load(sleeps)) futex(word, FUTEX_WAKE, 1, NULL);
}

static void orphaned(void) {
    if ((uint64_t)getppid() != setup.parent) _exit(4);
}

static uint32_t await_request(uint32_t seen) {
    for (int spin = 0; spin < 200; spin++) {
        uint32_t now = atomic_load(&control->request);
        if (now != seen) return now;
        __builtin_ia32_pause();
    }
    for (;;) {
        atomic_store(&control->runner_sleeps, 1);
        uint32_t now = atomic_load(&control->request);
        if (now == seen) {
            struct timespec limit = {1, 0};
            futex(&control->request, FUTEX_WAIT, seen, &limit);
            now = atomic_load(&control->request);
        }
        atomic_store(&control->runner_sleeps, 0);
        if (now != seen) return now;
        orphaned();
    }
}

/* ---- faults ------------------------------------------------------------------------------- */

static int lydian_device_fault(int signal, const void *info, void *context);

static void on_fault(int signal, siginfo_t *fault, void *context) {
    ucontext_t *user = context;
    if (lydian_device_fault(signal, fault, context)) return;
    uint64_t address = (uint64_t)fault->si_addr;
    uint64_t stack = (uint64_t)user->uc_mcontext.gregs[REG_RSP];
    /* The kernel gives no address if no memory can have it. */
    if (fault->si_code == SI_KERNEL) address = UINT64_MAX;
    control->signal = (uint32_t)signal;
    control->address = address;
    control->overflow = signal == SIGSEGV && address < stack + PAGE && stack - address < 1 << 20;
    atomic_store(&control->state, STATE_CRASHED);
    futex(&control->reply, FUTEX_WAKE, 1, NULL);
    _exit(5);
}

static void on_tick(int signal) {
    (void)signal;
    orphaned();
}

static void install_handlers(void) {
    static uint8_t stack[64 * 1024];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    int faults[] = {SIGSEGV, SIGFPE, SIGBUS, SIGILL, SIGABRT, SIGTRAP};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) sigaction(faults[i], &action, NULL);
    struct sigaction tick = {.sa_handler = on_tick, .sa_flags = SA_RESTART | SA_ONSTACK};
    sigaction(SIGALRM, &tick, NULL);
    struct itimerval every = {{1, 0}, {1, 0}};
    setitimer(ITIMER_REAL, &every, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}

static void fail(const char *message) {
    snprintf(control->message, sizeof control->message, "%s", message);
    atomic_store(&control->state, STATE_FAILED);
    futex(&control->reply, FUTEX_WAKE, 1, NULL);
    _exit(3);
}

/* ---- services for the code under test ----------------------------------------------------- */

static uint64_t padded(uint64_t size) { return (size + ALIGN - 1) & ~(uint64_t)(ALIGN - 1); }

static void serve_end(int ended, long with) {
    how = ended;
    code = with;
    _longjmp(back, 1);
}

#include "queue.h"
#include "devices.h"

/* ---- devices ------------------------------------------------------------------------------- */

/* A write of a device, as replies have it. */
struct device_write {
    uint64_t address;
    uint32_t size, pad;
    uint8_t value[16];
};
enum { DEVICE_WRITES = 1 << 12 };
static struct device_write device_writes[DEVICE_WRITES];
static uint32_t device_write_count;

/* The address is where the writes of a call would be (`request.rs`). */
static int lydian_device_next(struct lydian_device_read *read) {
    struct external *next = next_result(LYDIAN_DEVICE);
    if (!next) return 0;
    read->value = next + 1;
    read->size = next->size;
    memcpy(&read->address, (uint8_t *)(next + 1) + padded(next->size), sizeof read->address);
    return 1;
}

/* A handler of interrupts that is to run, as `request.rs` has it. */
struct queued_interrupt {
    uint64_t address, handler, read;
};

/* Guards the volatile variables that the running test has values for, and those at whose reads handlers
 * of interrupts run. */
static void guard_variables(void) {
    uint8_t *at = queue;
    lydian_device_forget();
    for (uint32_t i = 0; i < queue_length; i++, at = after(at)) {
        struct queued_interrupt interrupt = {0};
        uint8_t *behind = (uint8_t *)(queued(at) + 1) + padded(queued(at)->size);
        if (queued(at)->function == LYDIAN_DEVICE) {
            memcpy(&interrupt, behind, sizeof interrupt.address);
            lydian_device_guard(interrupt.address, queued(at)->size);
        } else if (queued(at)->function == LYDIAN_INTERRUPT) {
            memcpy(&interrupt, behind, sizeof interrupt);
            lydian_device_interrupt((void (*)(void))interrupt.handler, interrupt.address,
                                    (unsigned)interrupt.read);
        }
    }
}

static void lydian_device_wrote(unsigned long address, unsigned long size, const void *value) {
    if (device_write_count == DEVICE_WRITES) return;
    struct device_write *write = &device_writes[device_write_count++];
    *write = (struct device_write){.address = address, .size = (uint32_t)size};
    memcpy(write->value, value, size);
}

static void lydian_device_stops(enum lydian_device_end why, unsigned long address) {
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, SIGSEGV);
    sigaddset(&own, SIGTRAP);
    lydian_devices.on = 0;
    sigprocmask(SIG_UNBLOCK, &own, NULL);
    serve_end(why == LYDIAN_NO_READ ? LYDIAN_OUTRAN : LYDIAN_UNMAPPED, (long)(address & 0xffffffff));
}

/* Blocks of the code under test lie in an arena that is empty again at the start of each test.
 * Sizes are rounded up to powers of two; a released block goes to the list of its size. */
enum { ARENA_SIZE = 1 << 30, CLASSES = 31 };
struct block {
    uint64_t size, live;
    struct block *next;  /* of its class, while it is released */
    struct block *older; /* the block made before it */
};
static const uint64_t LIVE = 0x6c796469616e6c76;
static uint8_t *arena, *arena_next, *arena_end;
/* The number of the running test's object that begins at an address, or -1. Such an object
 * counts as a block that was allocated before the call. */
static int object_at(uint64_t address, uint64_t *size);

/* The objects that were released, a bit each. Objects with higher numbers share bits. */
enum { LYDIAN_OBJECTS = 1 << 12 };
static uint8_t released_objects[LYDIAN_OBJECTS / 8];

static int is_released(int object) {
    return object < LYDIAN_OBJECTS && released_objects[object / 8] >> object % 8 & 1;
}

static struct block *released[CLASSES], *newest;

static void arena_open(void) {
    arena = mmap(NULL, ARENA_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                 -1, 0);
    if (arena == MAP_FAILED) fail("no memory for the heap of the code under test");
    arena_next = arena;
    arena_end = arena + ARENA_SIZE;
}

static void arena_reset(void) {
    memset(released_objects, 0, sizeof released_objects);
    if (arena_next == arena) return;
    if (arena_next - arena > 1 << 22) madvise(arena, (size_t)(arena_next - arena), MADV_DONTNEED);
    arena_next = arena;
    newest = NULL;
    memset(released, 0, sizeof released);
}

static struct block *arena_take(uint64_t size, uint64_t align) {
    int class = 5;
    while (class < CLASSES && (uint64_t)1 << class < size) class++;
    if (class >= CLASSES) return NULL;
    if (align <= ALIGN && released[class]) {
        struct block *block = released[class];
        released[class] = block->next;
        return block;
    }
    if (align < ALIGN) align = ALIGN;
    uint64_t data = ((uint64_t)arena_next + sizeof(struct block) + align - 1) & ~(align - 1);
    if (data + ((uint64_t)1 << class) > (uint64_t)arena_end) return NULL;
    arena_next = (uint8_t *)data + ((uint64_t)1 << class);
    struct block *block = (struct block *)data - 1;
    block->older = newest;
    newest = block;
    return block;
}

/* The value of memory that was never written, in the heap and on the stack. */
static int fill;

static void *serve_allocate(lydian_u32 function, lydian_u64 size, lydian_u64 align) {
    struct external *next = next_result(function);
    int fails = next && next->size > 0 && *(uint8_t *)(next + 1) == 0;
    struct block *block = fails ? NULL : arena_take(size ? size : 1, align);
    if (!block) {
        if (function != LYDIAN_POSIX_MEMALIGN) errno = ENOMEM;
        return NULL;
    }
    block->size = size;
    block->live = LIVE;
    memset(block + 1, function == LYDIAN_CALLOC ? 0 : fill, size);
    return block + 1;
}

static lydian_u64 serve_block_size(void *at) {
    uint64_t size_of_object;
    int object = object_at((uint64_t)at, &size_of_object);
    if (object >= 0) {
        if (is_released(object)) serve_end(LYDIAN_BAD_FREE, 0);
        return size_of_object;
    }
    struct block *block = (struct block *)at - 1;
    int inside = (uint8_t *)block >= arena && (uint8_t *)at <= arena_next &&
                 (uint64_t)at % ALIGN == 0;
    if (!inside || block->live != LIVE) serve_end(LYDIAN_BAD_FREE, 0);
    return block->size;
}

static void serve_release(void *at) {
    if (!at) return;
    struct block *block = (struct block *)at - 1;
    uint64_t size = serve_block_size(at);
    int object = object_at((uint64_t)at, &size);
    if (object >= 0) {
        if (object < LYDIAN_OBJECTS) released_objects[object / 8] |= 1 << object % 8;
        return;
    }
    int class = 5;
    while ((uint64_t)1 << class < size) class++;
    block->live = 0;
    block->next = released[class];
    released[class] = block;
}

/* Vectors of wide decisions: records of (decision, number of words, the words), found again by an
 * open hash table of their positions. */
enum { WIDE_SLOTS = 1 << 14 };
static uint64_t *wide;
static uint32_t wide_slots[WIDE_SLOTS];

/* Enters a record: 1 if it is new, 2 if it is known, 0 if there is no room up to `limit`, in
 * words. */
static int keep(uint32_t *slots, uint32_t count, uint64_t limit, lydian_u32 decision,
                lydian_u32 words, const lydian_u64 *values) {
    uint64_t hash = decision * 0x9e3779b97f4a7c15u;
    for (uint32_t i = 0; i < words; i++) hash = (hash ^ values[i]) * 0xbf58476d1ce4e5b9u, hash ^= hash >> 29;
    uint64_t head = (uint64_t)decision << 32 | words;
    for (uint32_t probe = 0; probe < count; probe++) {
        uint32_t *slot = &slots[(hash + probe) % count];
        if (*slot == 0) {
            uint64_t need = control->wide_used + 1 + words;
            if (need > limit) return 0;
            uint64_t *record = wide + control->wide_used;
            record[0] = head;
            memcpy(record + 1, values, words * 8);
            *slot = (uint32_t)control->wide_used + 1;
            control->wide_used = need;
            return 1;
        }
        uint64_t *record = wide + *slot - 1;
        if (record[0] == head && !memcmp(record + 1, values, words * 8)) return 2;
    }
    return 0;
}

static void serve_wide(lydian_u32 decision, lydian_u32 words, const lydian_u64 *values) {
    uint64_t limit = setup.wide_size / 8;
    if (!keep(wide_slots, WIDE_SLOTS, limit, decision, words, values)) control->wide_full = 1;
}

/* Values that labels and sequences bind are kept with the vectors, under numbers that no
 * decision has (`BOUND_TABLE` in `measure.rs`). The number of rows is limited for each table and
 * for all, so that vectors have room (`runner.rs`). */
enum { ROW_SLOTS = 1 << 17, ROWS = ROW_SLOTS / 2, ROWS_OF_TABLE = 4096, TABLES = 1 << 16,
       WIDE_ROOM = 1 << 17 };
static const lydian_u32 BOUND_TABLE = 0x80000000u;
static uint32_t row_slots[ROW_SLOTS], rows_kept;
static uint16_t rows_of_table[TABLES];

static int serve_row(lydian_u32 table, lydian_u32 words, const lydian_u64 *values) {
    uint64_t limit = setup.wide_size / 8 - WIDE_ROOM;
    if (table >= TABLES || rows_kept == ROWS) return 0;
    if (rows_of_table[table] == ROWS_OF_TABLE) limit = 0;
    int kept = keep(row_slots, ROW_SLOTS, limit, BOUND_TABLE | table, words, values);
    if (kept == 1) rows_kept++, rows_of_table[table]++;
    return kept != 0;
}

static void wide_clear(void) {
    if (control->wide_used == 0) return;
    control->wide_used = 0;
    memset(wide_slots, 0, sizeof wide_slots);
    if (!rows_kept) return;
    rows_kept = 0;
    memset(row_slots, 0, sizeof row_slots);
    memset(rows_of_table, 0, sizeof rows_of_table);
}

enum { LYDIAN_NODES = 1 << 15, LYDIAN_BUCKETS = 1 << 14, LYDIAN_VALUES = 32 };
#include "environments.h"

static void environments_clear(void) {
    lydian_busy = 0;
    if (!lydian_used_nodes) return;
    lydian_used_nodes = lydian_free_nodes = 0;
    memset(lydian_buckets, 0, sizeof lydian_buckets);
}


/* ---- the object's own memory -------------------------------------------------------------- */

struct range {
    uint8_t *start, *copy;
    uint64_t size;
};
static struct range ranges[16];
static int range_count;
static uint64_t base;

static void add_range(uint64_t start, uint64_t end) {
    if (start >= end) return;
    if (range_count == 16) fail("the object has too many writable segments");
    struct range *new = &ranges[range_count++];
    *new = (struct range){(uint8_t *)start, NULL, end - start};
}

/* Adds [start, end) without the pages of the cells. */
static void add_without_cells(uint64_t start, uint64_t end) {
    uint64_t from = (uint64_t)cells, to = from + setup.cells_size;
    if (!cells || to <= start || end <= from) {
        add_range(start, end);
        return;
    }
    add_range(start, from);
    add_range(to, end);
}

static uint64_t image_from, image_to;

static int find_writable(struct dl_phdr_info *object, size_t size, void *unused) {
    (void)size, (void)unused;
    if (object->dlpi_addr != base) return 0;
    image_from = base;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uint64_t end = base + part->p_vaddr + part->p_memsz;
        if (part->p_type == PT_LOAD && end > image_to) image_to = end;
    }
    uint64_t protected_from = 0, protected_to = 0;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_GNU_RELRO) continue;
        protected_from = base + part->p_vaddr;
        protected_to = (protected_from + part->p_memsz) & ~(uint64_t)(PAGE - 1);
    }
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_W)) continue;
        uint64_t start = base + part->p_vaddr, end = start + part->p_memsz;
        if (start < protected_to && protected_from < end) {
            add_without_cells(start, protected_from);
            start = protected_to;
        }
        add_without_cells(start, end);
    }
    return 1;
}

static void snapshot(void) {
    dl_iterate_phdr(find_writable, NULL);
    for (int i = 0; i < range_count; i++) {
        ranges[i].copy = malloc(ranges[i].size);
        if (!ranges[i].copy) fail("no memory for the object's initial contents");
        memcpy(ranges[i].copy, ranges[i].start, ranges[i].size);
    }
}

/* The initial contents of a place before a change is undone, or NULL. */
static const uint8_t *initial(uint64_t address, uint64_t size) {
    for (int i = 0; i < range_count; i++) {
        uint64_t start = (uint64_t)ranges[i].start;
        if (start <= address && address + size <= start + ranges[i].size)
            return ranges[i].copy + (address - start);
    }
    return NULL;
}

static void restore(void) {
    for (int i = 0; i < range_count; i++)
        memcpy(ranges[i].start, ranges[i].copy, ranges[i].size);
}

/* ---- inputs ------------------------------------------------------------------------------- */

static uint8_t *open_pages;

/* The records of the running test's objects. */
static uint8_t *test_objects;
static uint32_t test_object_count;

static void make_room(uint64_t address, uint64_t size) {
    uint64_t first = (address - setup.region) / PAGE, last = (address + size - 1 - setup.region) / PAGE;
    for (uint64_t page = first; page <= last; page++) {
        if (open_pages[page]) continue;
        uint64_t end = page;
        while (end <= last && !open_pages[end]) open_pages[end++] = 1;
        mprotect((void *)(setup.region + page * PAGE), (end - page) * PAGE, PROT_READ | PROT_WRITE);
    }
}

#include "files.h"

struct layout {
    uint8_t *arguments, *objects, *globals;
};

/* The number in place of a symbol that stands for `errno` (`request.rs`). */
static const uint32_t ERROR_NUMBER_PLACE = 1u << 31 | 3;

/* The address of a symbol, of a standard stream (`STREAM` in `request.rs`), or of `errno`. */
static uint64_t place_of(uint32_t symbol) {
    FILE *streams[] = {stdin, stdout, stderr};
    if (symbol == ERROR_NUMBER_PLACE) return (uint64_t)&errno;
    if (symbol >> 31) return (uint64_t)streams[symbol & 3];
    return symbols[symbol].address;
}

/* The value of `errno` when the running test begins. */
static int first_error_number;

static struct layout place(uint8_t *at) {
    struct test *test = (struct test *)at;
    struct layout layout;
    uint8_t *p = at + sizeof *test;
    struct relocation *relocations = (struct relocation *)p;
    for (uint32_t i = 0; i < test->relocations; i++) {
        uint64_t address = place_of(relocations[i].symbol) + relocations[i].addend;
        memcpy(at + relocations[i].at, &address, 8);
    }
    p += test->relocations * sizeof *relocations;
    layout.arguments = p;
    p += padded(test->arguments) * (test->earlier + (uint64_t)1);
    layout.objects = p;
    test_objects = p;
    test_object_count = test->objects;
    for (uint32_t i = 0; i < test->objects; i++) {
        struct object *object = (struct object *)p;
        if (object->size) {
            make_room(object->address, object->size);
            memcpy((void *)object->address, object + 1, object->size);
        }
        p += sizeof *object + padded(object->size);
    }
    layout.globals = p;
    for (uint32_t i = 0; i < test->globals; i++) {
        struct global *global = (struct global *)p;
        /* Until the call begins, the runner's own calls change `errno`. */
        int is_error_number = global->symbol == ERROR_NUMBER_PLACE;
        void *to = is_error_number ? &first_error_number : (void *)place_of(global->symbol);
        memcpy(to, global + 1, global->size);
        p += sizeof *global + padded(global->size);
    }
    queue = queue_next = p;
    queue_length = test->externals;
    queue_position = 0;
    for (uint32_t i = 0; i < test->externals; i++) p = after(p);
    place_files(p, test->files);
    return layout;
}

/* Whether these bytes lie in an object of the test, in a live block of the heap, in a variable of
 * the program, in its constants, or in the stack that is in use. */
static uint64_t stack_end;

static int in_objects(uint64_t from, uint64_t to) {
    uint8_t *p = test_objects;
    for (uint32_t i = 0; i < test_object_count; i++) {
        struct object *object = (struct object *)p;
        if (object->address <= from && to <= object->address + object->size) return 1;
        p += sizeof *object + padded(object->size);
    }
    return 0;
}

static int object_at(uint64_t address, uint64_t *size) {
    if (address < setup.region || address - setup.region >= setup.region_size) return -1;
    uint8_t *p = test_objects;
    for (uint32_t i = 0; i < test_object_count; i++) {
        struct object *object = (struct object *)p;
        if (object->address == address) return *size = object->size, (int)i;
        p += sizeof *object + padded(object->size);
    }
    return -1;
}

static int in_heap(uint64_t from, uint64_t to) {
    for (struct block *block = newest; block; block = block->older) {
        uint64_t start = (uint64_t)(block + 1);
        if (start <= from && to <= start + block->size) return block->live == LIVE;
    }
    return 0;
}

static int in_image(uint64_t from, uint64_t to) {
    for (uint64_t i = 0; i < setup.symbols; i++) {
        struct symbol *symbol = &symbols[i];
        if (symbol->address <= from && from < symbol->address + symbol->size)
            return to <= symbol->address + symbol->size;
    }
    return 1;
}

/* The C library's tables of characters have elements from -128 to 255. Programs read the pointer to
 * a table too. */
static int in_table(uint64_t from, uint64_t to, const void *const *table, uint64_t element) {
    uint64_t at = (uint64_t)table, zero = (uint64_t)*table;
    if (at <= from && to <= at + sizeof *table) return 1;
    return zero - 128 * element <= from && to <= zero + 256 * element;
}

static int in_library(uint64_t from, uint64_t to) {
    const unsigned short *const *classes = __ctype_b_loc();
    const int *const *lower = __ctype_tolower_loc(), *const *upper = __ctype_toupper_loc();
    return in_table(from, to, (const void *const *)classes, sizeof **classes) ||
           in_table(from, to, (const void *const *)lower, sizeof **lower) ||
           in_table(from, to, (const void *const *)upper, sizeof **upper);
}

static int serve_readable(const void *address, lydian_u64 size) {
    uint64_t from = (uint64_t)address, to;
    if (__builtin_add_overflow(from, size, &to)) return 0;
    if (from >= setup.region && from < setup.region + setup.region_size) return in_objects(from, to);
    if (from >= (uint64_t)arena && from < (uint64_t)arena_end) return in_heap(from, to);
    if (from >= image_from && to <= image_to) return in_image(from, to);
    if (in_library(from, to)) return 1;
    return from >= (uint64_t)__builtin_frame_address(0) && to <= stack_end;
}

static void serve_copy(void *to, const void *from, lydian_u64 size) { memcpy(to, from, size); }

static lydian_u64 serve_length(const char *text) { return strlen(text); }

static struct lydian_services services = {
    serve_external, serve_end,   serve_allocate, serve_block_size, serve_release,
    serve_wide,     serve_readable, serve_row,   lydian_lock,      lydian_unlock,
    lydian_add,     lydian_drop, lydian_find,    lydian_values,    lydian_next,
    lydian_forget,  serve_open_file, serve_open_stream, serve_copy,  serve_length};

/* ---- replies ------------------------------------------------------------------------------ */

static uint8_t result[1 << 16] __attribute__((aligned(64)));

static uint8_t *tell_objects(uint8_t *out, struct run *run, struct test *test, uint8_t *p, int wanted) {
    for (uint32_t i = 0; i < test->objects; i++) {
        struct object *object = (struct object *)p;
        void *memory = (void *)object->address;
        if (object->read_only && memcmp(memory, object + 1, object->size)) run->wrote_read_only = 1;
        if (wanted) {
            memcpy(out, memory, object->size);
            out += padded(object->size);
            run->objects++;
        }
        memset(memory, 0, object->size);
        p += sizeof *object + padded(object->size);
    }
    return out;
}

/* Globals whose contents are not their initial ones. */
static uint8_t *tell_globals(uint8_t *out, struct run *run) {
    for (uint32_t i = 0; i < setup.symbols; i++) {
        struct symbol *symbol = &symbols[i];
        if (!symbol->writable) continue;
        const uint8_t *first = initial(symbol->address, symbol->size);
        if (!first || !memcmp((void *)symbol->address, first, symbol->size)) continue;
        struct changed *changed = (struct changed *)out;
        *changed = (struct changed){.symbol = i, .size = (uint32_t)symbol->size};
        memcpy(changed + 1, (void *)symbol->address, symbol->size);
        out += sizeof *changed + padded(symbol->size);
        run->globals++;
    }
    return out;
}

static uint8_t *tell_cells(uint8_t *out, struct run *run) {
    uint32_t *list = (uint32_t *)out;
    for (uint64_t i = 0; i < setup.cells_size; i += 8) {
        uint64_t eight;
        memcpy(&eight, cells + i, 8);
        if (!eight) continue;
        for (uint32_t k = 0; k < 8; k++)
            if (cells[i + k]) list[run->cells++] = (uint32_t)(i + k);
    }
    uint64_t words = control->wide_used;
    list[run->cells] = (uint32_t)words;
    out += padded((run->cells + 1) * 4);
    memcpy(out, wide, words * 8);
    return out + padded(words * 8);
}

/* The most bytes of the heap in a reply. */
enum { TOLD_BLOCKS = 256, TOLD_BYTES = 1 << 16, TOLD_RELEASED = 1024 };

/* The objects that were released, and the blocks that are live, the newest first. */
static uint8_t *tell_heap(uint8_t *out, struct run *run, uint32_t objects) {
    uint32_t *list = (uint32_t *)out;
    for (uint32_t i = 0; i < objects && i < TOLD_RELEASED; i++)
        if (is_released((int)i)) list[run->released++] = i;
    out += padded(run->released * 4);
    uint64_t told = 0;
    for (struct block *block = newest; block && run->blocks < TOLD_BLOCKS; block = block->older) {
        if (block->live != LIVE || told + block->size > TOLD_BYTES) continue;
        struct told_block *head = (struct told_block *)out;
        *head = (struct told_block){(uint64_t)(block + 1), block->size};
        memcpy(head + 1, block + 1, block->size);
        out += sizeof *head + padded(block->size);
        told += padded(block->size);
        run->blocks++;
    }
    return out;
}

static uint8_t *tell_device_writes(uint8_t *out, struct run *run) {
    run->device_writes = device_write_count;
    memcpy(out, device_writes, device_write_count * sizeof *device_writes);
    return out + device_write_count * sizeof *device_writes;
}

static uint64_t globals_size;

/* Room that one reply may need at most. */
static uint64_t room(struct test *test, uint32_t wants) {
    uint64_t need = sizeof(struct run) + padded(entries[test->function].result_size);
    if (wants & WANT_CELLS) need += setup.cells_size * 4 + setup.wide_size + 2 * ALIGN;
    if (wants & WANT_MEMORY) need += test->size + globals_size + (test->devices ? sizeof device_writes : 0);
    if (wants & WANT_HEAP)
        need += TOLD_RELEASED * 4 + ALIGN + 2 * TOLD_BYTES +
                TOLD_BLOCKS * (sizeof(struct told_block) + ALIGN);
    return need;
}

/* Leaves a value in the part of the stack that calls use next. */
static __attribute__((noinline)) void fill_stack(void) {
    uint8_t room[1 << 14];
    memset(room, fill, sizeof room);
    __asm__ volatile("" : : "r"(room) : "memory");
}

/* Makes the calls of a test, and leaves the result of the last one. */
static void call_all(struct test *test, struct lydian_entry *entry, uint8_t *arguments) {
    for (uint64_t left = test->earlier + (uint64_t)1; left; left--) {
        entry->call(arguments, result);
        arguments += padded(test->arguments);
    }
}

static uint8_t *run_test(uint8_t *at, uint8_t *out, uint32_t position, uint32_t wants) {
    struct test *test = (struct test *)at;
    struct lydian_entry *entry = &entries[test->function];
    restore();
    arena_reset();
    environments_clear();
    if (wants & WANT_CELLS) {
        if (cells) memset(cells, 0, setup.cells_size);
        wide_clear();
    }
    first_error_number = 0;
    /* Two values that differ in every bit, for tests that find undetermined values. */
    fill = wants & WANT_FILL ? 0xa5 : wants & WANT_HEAP ? 0x5a : 0;
    struct layout layout = place(at);
    how = LYDIAN_RETURNED;
    code = 0;
    atomic_store_explicit(&control->current, position, memory_order_relaxed);
    if (wants & WANT_HEAP) fill_stack();
    errno = first_error_number;
    device_write_count = 0;
    guard_variables();
    lydian_devices.on = test->devices || lydian_devices.guarded_count || lydian_devices.interrupt_count;
    lydian_device_guards(LYDIAN_DEVICE_CLOSED);
    if (_setjmp(back) == 0) call_all(test, entry, layout.arguments);
    lydian_device_guards(LYDIAN_DEVICE_ACCESSIBLE);
    lydian_devices.on = 0;
    struct run *run = (struct run *)out;
    *run = (struct run){.test = position, .how = (uint32_t)how, .code = (uint32_t)code};
    uint8_t *p = out + sizeof *run;
    if (how == LYDIAN_RETURNED) {
        run->result = (uint32_t)entry->result_size;
        memcpy(p, result, run->result);
        p += padded(run->result);
    }
    p = tell_objects(p, run, test, layout.objects, wants & WANT_MEMORY);
    if (wants & WANT_MEMORY) p = tell_globals(p, run);
    if (wants & WANT_CELLS) p = tell_cells(p, run);
    if (wants & WANT_HEAP) p = tell_heap(p, run, test->objects);
    if (wants & WANT_MEMORY) p = tell_device_writes(p, run);
    run->size = (uint32_t)(p - out);
    return p;
}

static void serve(void) {
    uint8_t *at = shared + setup.request_at, *out = shared + setup.reply_at;
    uint8_t *limit = out + setup.reply_limit;
    uint32_t wants = control->wants;
    for (uint32_t i = 0; i < control->first; i++) at += ((struct test *)at)->size;
    uint32_t i = control->first;
    for (; i < control->count; i++) {
        if (i > control->first && attempts_are_full()) break;
        if (out + room((struct test *)at, wants) > limit) break;
        out = run_test(at, out, i, wants);
        at += ((struct test *)at)->size;
        control->done = i + 1;
        control->reply_size = (uint64_t)(out - (shared + setup.reply_at));
    }
}

/* ---- start -------------------------------------------------------------------------------- */

static void open_shared(char **argv) {
    uint64_t *numbers = (uint64_t *)&setup;
    for (size_t i = 0; i < sizeof setup / 8; i++) numbers[i] = strtoull(argv[2 + i], NULL, 10);
    shared = mmap(NULL, setup.total, PROT_READ | PROT_WRITE, MAP_SHARED, STDIN_FILENO, 0);
    if (shared == MAP_FAILED) _exit(6);
    control = (struct control *)shared;
    wide = (uint64_t *)(shared + setup.wide_at);
    symbols = (struct symbol *)(shared + setup.symbols_at);
}

/* The shared memory comes as standard input; programs under test find none there. */
static void empty_input(void) {
    int empty = open("/dev/null", O_RDONLY);
    if (empty < 0 || dup2(empty, STDIN_FILENO) < 0) fail("standard input cannot be emptied");
    close(empty);
}

static void open_region(void) {
    void *region = mmap((void *)setup.region, setup.region_size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (region != (void *)setup.region) fail("the region of inputs is taken");
    open_pages = calloc(setup.region_size / PAGE, 1);
    if (!open_pages) fail("no memory for the table of pages");
}

/* The parent gives a symbol's offset in the object if it knows it. Otherwise the object's own
 * table has the address. */
static void find_symbols(void **own) {
    for (uint64_t i = 0; i < setup.symbols; i++) {
        if (i < setup.own_symbols) symbols[i].address = (uint64_t)own[i];
        else symbols[i].address += base;
        if (symbols[i].writable) globals_size += symbols[i].size + 2 * sizeof(struct changed);
    }
}

static void load(const char *path) {
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object) fail(dlerror());
    entries = dlsym(object, "lydian_entries");
    void **own = dlsym(object, "lydian_symbols");
    struct lydian_services **slot = dlsym(object, "lydian_services");
    if (!entries || !own || !slot) fail("the object was not built for this runner");
    base = (uint64_t)own - setup.symbols_offset;
    *slot = &services;
    if (setup.cells_size) {
        cells = (uint8_t *)(base + setup.cells_offset);
        void *mapped = mmap(cells, setup.cells_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                            STDIN_FILENO, (off_t)setup.cells_at);
        if (mapped != cells) fail("the cells cannot be shared");
    }
    find_symbols(own);
    for (uint64_t i = 0; i < setup.entries; i++)
        if (entries[i].result_size > sizeof result) fail("a result is too large");
}

int main(int argc, char **argv) {
    if (argc != 2 + (int)(sizeof setup / 8)) return 2;
    open_shared(argv);
    stack_end = (uint64_t)__builtin_frame_address(0);
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    open_region();
    arena_open();
    install_handlers();
    const char *failed = confine(shared, &setup.confinement);
    if (failed) fail(failed);
    open_own_folder();
    load(argv[1]);
    empty_input();
    snapshot();
    first_free_descriptor = dup(0);
    close(first_free_descriptor);
    uint32_t seen = atomic_load(&control->reply);
    atomic_store(&control->state, STATE_READY);
    futex(&control->reply, FUTEX_WAKE, 1, NULL);
    for (;;) {
        seen = await_request(seen);
        serve();
        tell(&control->reply, seen, &control->parent_sleeps);
    }
}
