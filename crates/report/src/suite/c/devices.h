
/* ---- The script of a test ------------------------------------------------------------------------ */

struct lydian_access {
    unsigned long address, size;
    unsigned char value[16];
};
enum { LYDIAN_ACCESSES = 4096 };

/* The reads that the test has values for, and the writes that it made. */
static struct __attribute__((__aligned__(4096))) {
    struct lydian_access reads[LYDIAN_ACCESSES], writes[LYDIAN_ACCESSES];
    unsigned read_count, reads_done, write_count, writes_checked;
    /* Where a run goes on that asks for more than its script has. */
    void *back[64] __attribute__((__aligned__(64)));
    int may_outrun;
} lydian_script;

extern int lydian_setjmp(void *) __asm__("_setjmp") __attribute__((__returns_twice__));
extern void lydian_longjmp(void *, int) __asm__("longjmp") __attribute__((__noreturn__));
struct lydian_action {
    void (*handler)(int, void *, void *);
    unsigned long mask[16];
    int flags;
    void (*restorer)(void);
};
extern int lydian_sigaction(int, const struct lydian_action *, void *) __asm__("sigaction");
extern int lydian_sigprocmask(int, const unsigned long *, void *) __asm__("sigprocmask");

/* Handlers of signals read and write the script, which no compiler knows. */
#define LYDIAN_SYNCHRONISE()                                                                       \
    __asm__ volatile("" : : "r"(&lydian_script), "r"(&lydian_devices) : "memory")

static void lydian_add_read(unsigned long address, unsigned long size, unsigned long long value)
{
    struct lydian_access *read = &lydian_script.reads[lydian_script.read_count];
    if (lydian_script.read_count == LYDIAN_ACCESSES) return;
    read->address = address;
    read->size = size;
    __builtin_memcpy(read->value, &value, sizeof value);
    lydian_script.read_count++;
    lydian_device_guard(address, size);
    LYDIAN_SYNCHRONISE();
}

LYDIAN_NO_PROFILE static int lydian_device_next(struct lydian_device_read *read)
{
    const struct lydian_access *next = &lydian_script.reads[lydian_script.reads_done];
    if (lydian_script.reads_done == lydian_script.read_count) return 0;
    lydian_script.reads_done++;
    read->address = next->address;
    read->size = next->size;
    read->value = next->value;
    return 1;
}

LYDIAN_NO_PROFILE static void lydian_device_wrote(unsigned long address, unsigned long size,
                                                 const void *value)
{
    unsigned long at;
    struct lydian_access *write = &lydian_script.writes[lydian_script.write_count];
    if (lydian_script.write_count == LYDIAN_ACCESSES) return;
    lydian_script.write_count++;
    write->address = address;
    write->size = size;
    for (at = 0; at < size; at++)
        ((volatile unsigned char *)write->value)[at] = ((const volatile unsigned char *)value)[at];
}

/* Sanitizers that keep a table of all addresses use some of them for it. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer)
#define LYDIAN_OWN_ADDRESSES
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LYDIAN_OWN_ADDRESSES
#endif

static void lydian_device_stops(enum lydian_device_end why, unsigned long address)
{
    /* SIGTRAP and SIGSEGV may come again. */
    unsigned long own[16] = {1ul << 4 | 1ul << 10};
    lydian_devices.on = 0;
    lydian_sigprocmask(1, own, 0);
    if (why == LYDIAN_NO_READ && lydian_script.may_outrun) lydian_longjmp(lydian_script.back, 1);
#ifdef LYDIAN_OWN_ADDRESSES
    if (why == LYDIAN_NO_PAGE) {
        lydian_dprintf(1, "%s: left out, since the sanitizer needs the device's address\n", lydian_name);
        lydian_exit(LYDIAN_PASSED);
    }
#endif
    lydian_dprintf(1, "%s: %s (memory at 0x%lx)\n", lydian_name,
                   why == LYDIAN_NO_READ ? "a device is read that is not the next in READS"
                   : why == LYDIAN_NO_PAGE ? "this process cannot map a device's address"
                                           : "a device is written by an instruction that is not known",
                   address);
    lydian_exit(LYDIAN_FAILED);
}

LYDIAN_NO_PROFILE static void lydian_on_device_fault(int signal, void *info, void *context)
{
    struct lydian_action usual = {0, {0}, 0, 0};
    /* The instruction is executed again, and its fault is the program's own. */
    if (!lydian_device_fault(signal, info, context)) lydian_sigaction(signal, &usual, 0);
}

/* Answers the accesses of the test that begins. */
static void lydian_device_begin(void)
{
    struct lydian_action action = {lydian_on_device_fault, {0}, 4, 0};
    lydian_script.read_count = lydian_script.reads_done = 0;
    lydian_script.write_count = lydian_script.writes_checked = 0;
    lydian_device_forget();
    lydian_sigaction(LYDIAN_SEGV, &action, 0);
    lydian_sigaction(LYDIAN_TRAP, &action, 0);
    lydian_devices.on = 1;
    LYDIAN_SYNCHRONISE();
}

static void lydian_check_write(const char *file, int line, const char *what, unsigned long address,
                               unsigned long size, unsigned long long value)
{
    const struct lydian_access *write;
    unsigned long long seen = 0;
    LYDIAN_SYNCHRONISE();
    write = &lydian_script.writes[lydian_script.writes_checked];
    if (lydian_script.writes_checked == lydian_script.write_count) {
        LYDIAN_SAYS("%s is not written", what);
        return;
    }
    lydian_script.writes_checked++;
    __builtin_memcpy(&seen, write->value, write->size < sizeof seen ? write->size : sizeof seen);
    if (write->address != address || write->size != size || seen != value)
        LYDIAN_SAYS("0x%llx is written to %lu bytes at 0x%lx, expected 0x%llx to %lu bytes at 0x%lx, %s",
                    seen, write->size, write->address, value, size, address, what);
}

/* Checks that the test had all its reads, and that it made no further write. */
static void lydian_check_devices(const char *file, int line)
{
    const struct lydian_access *write;
    LYDIAN_SYNCHRONISE();
    write = &lydian_script.writes[lydian_script.writes_checked];
    if (lydian_script.reads_done < lydian_script.read_count)
        LYDIAN_SAYS("%u reads of READS are not made", lydian_script.read_count - lydian_script.reads_done);
    if (lydian_devices.interrupts_done < lydian_devices.interrupt_count)
        LYDIAN_SAYS("%u handlers of RUNS do not run",
                    lydian_devices.interrupt_count - lydian_devices.interrupts_done);
    if (lydian_script.writes_checked < lydian_script.write_count)
        LYDIAN_SAYS("memory at 0x%lx is written, too", write->address);
}

#else

#undef READS
#undef RUNS
#undef SCRIPTED
#undef CHECK_WRITE
#undef CHECK_DEVICES
#undef OUTRUNS

/* The next read of a device or volatile variable is that of so many bytes at this address, and gives this
 * value. */
#define READS(place, size, value) lydian_add_read((unsigned long)(place), size, value)
/* A handler of interrupts runs just before the read of this number, from 1, of a device or volatile variable. */
#define RUNS(handler, place, number)                                                               \
    lydian_device_interrupt((void (*)(void))(handler), (unsigned long)(place), number)
/* Something in which volatile variables have the values of READS. */
#define SCRIPTED(...)                                                                              \
    lydian_device_guards(LYDIAN_DEVICE_CLOSED);                                                    \
    __VA_ARGS__;                                                                                   \
    lydian_device_guards(LYDIAN_DEVICE_ACCESSIBLE)
/* The next write of a device is that of so many bytes at this address, with this value. */
#define CHECK_WRITE(place, size, value)                                                            \
    lydian_check_write(__FILE__, __LINE__, #place, (unsigned long)(place), size, value)
/* There were no further reads and writes. */
#define CHECK_DEVICES() lydian_check_devices(__FILE__, __LINE__)
/* The call asks for another read of a device when there is none left in READS. */
#define OUTRUNS(call)                                                                              \
    do {                                                                                           \
        lydian_script.may_outrun = 1;                                                                     \
        if (!lydian_setjmp(lydian_script.back)) {                                                     \
            SCRIPTED(call);                                                                        \
            lydian_fail(__FILE__, __LINE__, "the call returned, where it should read a device");   \
        }                                                                                          \
        lydian_script.may_outrun = 0;                                                                     \
    } while (0)
#endif
