/* Answers accesses to devices: memory at addresses that the program names as numbers. No header of the
 * library is needed, so that suites may include this before any source.
 *
 * No page of a device can be accessed. An access faults; the handler opens the page, puts the next value
 * of the script there if the access reads, and lets the processor execute the one instruction. The trap
 * behind it notes what was written, and closes the page.
 *
 * The file that includes this defines three functions:
 * - `lydian_device_next` gives the next value of the script, or 0 where there is none;
 * - `lydian_device_wrote` is told of each write;
 * - `lydian_device_stops` ends the run, and does not return: the script has no such read next, or the
 *   machine cannot do what is asked.
 * It calls `lydian_device_fault` for SIGSEGV and SIGTRAP, which gives 0 where the fault is the program's
 * own, and sets `lydian_devices.on` while the program runs.
 *
 * Volatile variables of the program whose reads are in the script are answered in the same way: their
 * pages are guarded while the program runs (`lydian_device_guard`, `lydian_device_guards`). Other variables
 * on these pages are accessed as they are. So the handler calls no library, whose addresses may lie on such
 * a page, and keeps its own data on pages of their own.
 *
 * A handler of interrupts may run just before a read of a device or variable (`lydian_device_interrupt`):
 * the fault calls it, and the instruction that reads is executed again when it has returned. Volatile
 * variables are memory while it runs, and no other handler does. */

struct lydian_device_read {
    unsigned long address, size;
    const void *value;
};

enum lydian_device_end { LYDIAN_NO_READ = 1, LYDIAN_NO_PAGE = 2, LYDIAN_NO_WIDTH = 3 };

static int lydian_device_next(struct lydian_device_read *read);
static void lydian_device_wrote(unsigned long address, unsigned long size, const void *value);
static void lydian_device_stops(enum lydian_device_end why, unsigned long address);

#ifdef __has_attribute
#if __has_attribute(no_profile_instrument_function)
#define LYDIAN_NO_PROFILE __attribute__((no_profile_instrument_function))
#endif
#endif
#ifndef LYDIAN_NO_PROFILE
#define LYDIAN_NO_PROFILE
#endif

#if defined(__x86_64__) && defined(__linux__)

/* Where devices may lie (`ir::device`). */
static const unsigned long lydian_devices_from = 0x10000, lydian_devices_to = 0x800000000;

enum {
    LYDIAN_DEVICE_PAGE = 4096,
    LYDIAN_DEVICE_PAGES = 1024,
    LYDIAN_DEVICES_AT_ONCE = 4,
    LYDIAN_DEVICE_WIDEST = 16,
    LYDIAN_INTERRUPTS = 64,
    LYDIAN_SEGV = 11,
    LYDIAN_TRAP = 5
};

struct lydian_device_range {
    unsigned long address, size;
};

/* A handler that runs before the read of this number at an address. */
struct lydian_interrupt {
    unsigned long address;
    void (*handler)(void);
    unsigned read, reads_done, has_run;
};

static struct __attribute__((__aligned__(4096))) lydian_device_state {
    /* Whether accesses to devices are answered. */
    int on;
    /* The pages of devices that were mapped, those that are open for one instruction, and its write. */
    unsigned long pages[LYDIAN_DEVICE_PAGES], open[LYDIAN_DEVICES_AT_ONCE];
    unsigned page_count, open_count;
    unsigned long written, width;
    /* The volatile variables that have values in the script, and their pages. */
    struct lydian_device_range variables[LYDIAN_DEVICE_PAGES];
    unsigned long guarded[LYDIAN_DEVICE_PAGES];
    unsigned variable_count, guarded_count;
    /* The handlers of interrupts that are to run, how many ran, and whether one does. */
    struct lydian_interrupt interrupts[LYDIAN_INTERRUPTS];
    unsigned interrupt_count, interrupts_done;
    int in_handler;
} lydian_devices;

LYDIAN_NO_PROFILE static long lydian_device_call(long number, unsigned long a, unsigned long b, long c, long d)
{
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = -1, r9 __asm__("r9") = 0;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

LYDIAN_NO_PROFILE static long lydian_device_protect(unsigned long page, int rights)
{
    return lydian_device_call(10, page, LYDIAN_DEVICE_PAGE, rights, 0);
}

/* What an instruction does to its operand in memory, which it writes: how many bytes, and whether it
 * reads them first. 0 where the instruction is not known. */
struct lydian_device_store {
    unsigned long width;
    int reads;
};

LYDIAN_NO_PROFILE static struct lydian_device_store lydian_device_decode(const unsigned char *code)
{
    struct lydian_device_store store = {0, 0};
    int is_short = 0, is_long = 0, repeats = 0, middle;
    unsigned long size;
    for (;; code++) {
        if (*code == 0x66) is_short = 1;
        else if (*code == 0xf2 || *code == 0xf3) repeats = *code;
        else if (*code != 0x2e && *code != 0x36 && *code != 0x3e && *code != 0x26 && *code != 0x64 &&
                 *code != 0x65 && *code != 0x67 && *code != 0xf0)
            break;
    }
    if (*code == 0xc5 || *code == 0xc4) {
        /* AVX has stores alone: of one number, or of a vector. */
        int three = *code == 0xc4, last = code[three ? 2 : 1], kind = last & 3;
        if (three && (code[1] & 31) != 1) return store;
        code += three ? 3 : 2;
        if (*code == 0x11 && kind >= 2) store.width = kind == 2 ? 4 : 8;
        else if (*code == 0x7e && kind == 1) store.width = three && last & 0x80 ? 8 : 4;
        else if (*code == 0xd6 || *code == 0x13 || *code == 0x17) store.width = 8;
        else if ((*code == 0x11 || *code == 0x29 || *code == 0x7f || *code == 0xe7 || *code == 0x2b) &&
                 !(last & 4))
            store.width = 16;
        return store;
    }
    if ((*code & 0xf0) == 0x40) is_long = *code++ & 8;
    size = is_long ? 8 : is_short ? 2 : 4;
    if (*code != 0x0f) {
        middle = code[1] >> 3 & 7;
        switch (*code) {
        case 0x88: case 0xc6: case 0xa2: case 0xa4: case 0xaa: store.width = 1; return store;
        case 0x89: case 0xc7: case 0xa3: case 0xa5: case 0xab: store.width = size; return store;
        case 0x8c: store.width = 2; return store;
        case 0x8f: store.width = 8; return store;
        case 0xd9: store.width = middle == 7 ? 2 : middle == 2 || middle == 3 ? 4 : 0; return store;
        case 0xdb: store.width = middle == 7 ? 10 : middle >= 1 && middle <= 3 ? 4 : 0; return store;
        case 0xdd: store.width = middle == 7 ? 2 : middle >= 1 && middle <= 3 ? 8 : 0; return store;
        case 0xdf: store.width = middle == 7 ? 8 : middle >= 1 && middle <= 3 ? 2 : 0; return store;
        case 0x80: case 0x81: case 0x83: case 0x86: case 0x87: case 0xc0: case 0xc1: case 0xd0: case 0xd1:
        case 0xd2: case 0xd3: case 0xf6: case 0xf7: case 0xfe: case 0xff: break;
        default:
            if (*code >= 0x40 || (*code & 7) > 1) return store;
        }
        store.width = *code & 1 ? size : 1;
        store.reads = 1;
        return store;
    }
    code++;
    if (*code >= 0x90 && *code <= 0x9f) {
        store.width = 1;
        return store;
    }
    switch (*code) {
    case 0x11: store.width = repeats == 0xf3 ? 4 : repeats == 0xf2 ? 8 : 16; break;
    case 0x29: case 0x2b: store.width = 16; break;
    case 0x7f: case 0xe7: store.width = is_short || repeats ? 16 : 8; break;
    case 0x7e: store.width = is_long ? 8 : 4; break;
    case 0x13: case 0x17: case 0xd6: store.width = 8; break;
    case 0xc3: store.width = size; break;
    case 0xae: store.width = 4; break;
    case 0x38: store.width = code[1] == 0xf1 ? size : 0; break;
    case 0xb0: case 0xc0: store.width = 1, store.reads = 1; break;
    case 0xc7: store.width = is_long ? 16 : 8, store.reads = 1; break;
    case 0xa4: case 0xa5: case 0xab: case 0xac: case 0xad: case 0xb1: case 0xb3: case 0xba: case 0xbb:
    case 0xc1: store.width = size, store.reads = 1; break;
    }
    return store;
}

enum { LYDIAN_DEVICE_CLOSED = 0, LYDIAN_DEVICE_ACCESSIBLE = 3 };

LYDIAN_NO_PROFILE static int lydian_device_is_in(const unsigned long *pages, unsigned count, unsigned long page)
{
    unsigned at;
    for (at = 0; at < count && pages[at] != page; at++) {}
    return at < count;
}

LYDIAN_NO_PROFILE static unsigned long lydian_device_page(unsigned long address)
{
    return address & ~(unsigned long)(LYDIAN_DEVICE_PAGE - 1);
}

LYDIAN_NO_PROFILE static int lydian_device_is_of_device(unsigned long address)
{
    return address >= lydian_devices_from && address < lydian_devices_to;
}

/* Forgets variables and handlers. */
static void lydian_device_forget(void)
{
    lydian_devices.variable_count = lydian_devices.guarded_count = 0;
    lydian_devices.interrupt_count = lydian_devices.interrupts_done = 0;
    lydian_devices.in_handler = 0;
}

/* Accesses of a variable's pages are to fault. */
static void lydian_device_guard_pages(unsigned long address, unsigned long size)
{
    struct lydian_device_state *all = &lydian_devices;
    unsigned long page = lydian_device_page(address);
    if (lydian_device_is_of_device(address)) return;
    for (; page < address + size; page += LYDIAN_DEVICE_PAGE)
        if (all->guarded_count < LYDIAN_DEVICE_PAGES &&
            !lydian_device_is_in(all->guarded, all->guarded_count, page))
            all->guarded[all->guarded_count++] = page;
}

/* A variable has values in the script. */
static void lydian_device_guard(unsigned long address, unsigned long size)
{
    struct lydian_device_state *all = &lydian_devices;
    unsigned at;
    if (lydian_device_is_of_device(address) || all->variable_count == LYDIAN_DEVICE_PAGES) return;
    for (at = 0; at < all->variable_count; at++)
        if (all->variables[at].address == address && all->variables[at].size == size) return;
    all->variables[all->variable_count].address = address;
    all->variables[all->variable_count++].size = size;
    lydian_device_guard_pages(address, size);
}

/* A handler runs before the read of this number, from 1, at an address. */
static void lydian_device_interrupt(void (*handler)(void), unsigned long address, unsigned read)
{
    struct lydian_device_state *all = &lydian_devices;
    struct lydian_interrupt *interrupt = &all->interrupts[all->interrupt_count];
    if (all->interrupt_count == LYDIAN_INTERRUPTS) return;
    all->interrupt_count++;
    interrupt->address = address;
    interrupt->handler = handler;
    interrupt->read = read;
    interrupt->reads_done = interrupt->has_run = 0;
    lydian_device_guard_pages(address, 1);
}

/* Closes or opens the pages of these variables. */
LYDIAN_NO_PROFILE static void lydian_device_guards(int rights)
{
    unsigned at;
    for (at = 0; at < lydian_devices.guarded_count; at++)
        lydian_device_protect(lydian_devices.guarded[at], rights);
}

/* Opens the page of an address, which is mapped if it is not. Gives 0 where it cannot be. */
LYDIAN_NO_PROFILE static int lydian_device_opens(unsigned long address)
{
    enum { MMAP = 9, PRIVATE = 2, ANONYMOUS = 0x20, NO_REPLACE = 0x100000 };
    struct lydian_device_state *all = &lydian_devices;
    unsigned long page = lydian_device_page(address);
    if (all->open_count == LYDIAN_DEVICES_AT_ONCE) return 0;
    if (lydian_device_is_of_device(address) && !lydian_device_is_in(all->pages, all->page_count, page)) {
        if (all->page_count == LYDIAN_DEVICE_PAGES) return 0;
        if (lydian_device_call(MMAP, page, LYDIAN_DEVICE_PAGE, LYDIAN_DEVICE_CLOSED,
                               PRIVATE | ANONYMOUS | NO_REPLACE) != (long)page)
            return 0;
        all->pages[all->page_count++] = page;
    }
    all->open[all->open_count++] = page;
    return !lydian_device_protect(page, LYDIAN_DEVICE_ACCESSIBLE);
}

/* Notes what an instruction wrote, and closes the pages that it accessed. */
LYDIAN_NO_PROFILE static void lydian_device_closes(void)
{
    struct lydian_device_state *all = &lydian_devices;
    unsigned long width = all->width;
    all->width = 0;
    if (width) lydian_device_wrote(all->written, width, (const void *)all->written);
    while (all->open_count) lydian_device_protect(all->open[--all->open_count], LYDIAN_DEVICE_CLOSED);
}

LYDIAN_NO_PROFILE static void lydian_device_ends(enum lydian_device_end why, unsigned long address)
{
    lydian_devices.width = 0;
    lydian_device_closes();
    lydian_device_guards(LYDIAN_DEVICE_ACCESSIBLE);
    lydian_device_stops(why, address);
}

/* Gives a read the next value of the script, which must be for this place. */
LYDIAN_NO_PROFILE static void lydian_device_gives(unsigned long address)
{
    struct lydian_device_read read;
    /* No compiler may make a call of these copies. */
    volatile unsigned char *to;
    unsigned long at;
    if (!lydian_device_next(&read) || address - read.address >= read.size)
        lydian_device_ends(LYDIAN_NO_READ, address);
    to = (volatile unsigned char *)read.address;
    for (at = 0; at < read.size; at++) to[at] = ((const volatile unsigned char *)read.value)[at];
}

LYDIAN_NO_PROFILE static int lydian_device_is_of_variable(unsigned long address)
{
    const struct lydian_device_range *all = lydian_devices.variables;
    unsigned at;
    for (at = 0; at < lydian_devices.variable_count; at++)
        if (address - all[at].address < all[at].size) return 1;
    return 0;
}

LYDIAN_NO_PROFILE static int lydian_device_interrupts(unsigned long address)
{
    const struct lydian_interrupt *all = lydian_devices.interrupts;
    unsigned at;
    for (at = 0; at < lydian_devices.interrupt_count; at++)
        if (all[at].address == address) return 1;
    return 0;
}

/* Calls a handler. It may access devices, so their faults are let through. */
LYDIAN_NO_PROFILE static void lydian_device_runs(struct lydian_interrupt *interrupt)
{
    enum { SIGNAL_MASK = 14, UNBLOCK = 1, BLOCK = 0, MASK_BYTES = 8 };
    unsigned long own = 1ul << (LYDIAN_TRAP - 1) | 1ul << (LYDIAN_SEGV - 1);
    interrupt->has_run = 1;
    lydian_devices.interrupts_done++;
    lydian_devices.in_handler = 1;
    lydian_device_guards(LYDIAN_DEVICE_ACCESSIBLE);
    lydian_device_call(SIGNAL_MASK, UNBLOCK, (unsigned long)&own, 0, MASK_BYTES);
    interrupt->handler();
    lydian_device_call(SIGNAL_MASK, BLOCK, (unsigned long)&own, 0, MASK_BYTES);
    lydian_device_guards(LYDIAN_DEVICE_CLOSED);
    lydian_devices.in_handler = 0;
}

/* A read at an address is about to be made: counts it, and runs the handlers that are to run before it. */
LYDIAN_NO_PROFILE static void lydian_device_reads(unsigned long address)
{
    struct lydian_interrupt *all = lydian_devices.interrupts;
    unsigned at;
    for (at = 0; at < lydian_devices.interrupt_count; at++)
        if (all[at].address == address) all[at].reads_done++;
    if (lydian_devices.in_handler) return;
    for (at = 0; at < lydian_devices.interrupt_count; at++)
        if (all[at].address == address && all[at].reads_done == all[at].read && !all[at].has_run)
            lydian_device_runs(&all[at]);
}

LYDIAN_NO_PROFILE static int lydian_device_fault(int signal, const void *info, void *context)
{
    /* The registers of the kernel's `ucontext`, and its numbers of them. */
    enum { REGISTERS = 40, INSTRUCTION = 16, FLAGS = 17, ERROR = 19, ADDRESS_OF_FAULT = 16 };
    enum { WRITES = 2, FETCHES = 16, TRAP_FLAG = 0x100 };
    struct lydian_device_state *all = &lydian_devices;
    unsigned long *registers = (unsigned long *)((char *)context + REGISTERS), address;
    struct lydian_device_store store = {0, 1};
    int is_device, is_scripted;
    if (signal == LYDIAN_TRAP && all->open_count) {
        registers[FLAGS] &= ~(unsigned long)TRAP_FLAG;
        lydian_device_closes();
        return 1;
    }
    if (signal != LYDIAN_SEGV || !all->on || registers[ERROR] & FETCHES) return 0;
    address = *(const unsigned long *)((const char *)info + ADDRESS_OF_FAULT);
    is_device = lydian_device_is_of_device(address);
    if (!is_device && !lydian_device_is_in(all->guarded, all->guarded_count, lydian_device_page(address)))
        return 0;
    is_scripted = is_device || lydian_device_is_of_variable(address);
    if (is_scripted || lydian_device_interrupts(address)) {
        if (registers[ERROR] & WRITES) {
            store = lydian_device_decode((const unsigned char *)registers[INSTRUCTION]);
            if (!store.width || store.width > LYDIAN_DEVICE_WIDEST)
                lydian_device_ends(LYDIAN_NO_WIDTH, address);
        }
        if (store.reads) lydian_device_reads(address);
    }
    if (!lydian_device_opens(address)) lydian_device_ends(LYDIAN_NO_PAGE, address);
    if (is_scripted && store.reads) lydian_device_gives(address);
    if (is_device && store.width) {
        all->written = address;
        all->width = store.width;
    }
    registers[FLAGS] |= TRAP_FLAG;
    return 1;
}

#else

enum { LYDIAN_SEGV = 11, LYDIAN_TRAP = 5, LYDIAN_DEVICE_CLOSED = 0, LYDIAN_DEVICE_ACCESSIBLE = 3 };
static struct {
    int on;
    unsigned variable_count, guarded_count, interrupt_count, interrupts_done;
} lydian_devices;
static void lydian_device_forget(void)
{
    lydian_devices.variable_count = lydian_devices.guarded_count = 0;
    lydian_devices.interrupt_count = lydian_devices.interrupts_done = 0;
}
static void lydian_device_interrupt(void (*handler)(void), unsigned long address, unsigned read)
{
    (void)handler, (void)address, (void)read;
    lydian_devices.interrupt_count++;
}
static void lydian_device_guard(unsigned long address, unsigned long size) { (void)address, (void)size; }
static void lydian_device_guards(int rights) { (void)rights; }

static int lydian_device_fault(int signal, const void *info, void *context)
{
    (void)signal, (void)info, (void)context;
    return 0;
}

#endif
