/* Lydian's run-time in a user's program: maps a counter file over the cells, before main.
 *
 * It is compiled twice: with LYDIAN_LAST it is the object that stands last on the link line and
 * only ends the section. It uses no library, no thread-local variable and no descriptor below
 * 100. It prints nothing unless LYDIAN_VERBOSE is set. If anything fails, the program continues
 * uncounted. */

#define SECTION __attribute__((section("lydian_cells"), aligned(4096), used))
#define HIDDEN __attribute__((visibility("hidden")))

#ifdef LYDIAN_LAST

HIDDEN SECTION unsigned char lydian_cells_end[64] = {0};

#else

HIDDEN SECTION unsigned char lydian_cells_begin[64] = "LYDIANF1";
extern HIDDEN unsigned char lydian_cells_end[64];

/* NO_ADDRESS is beyond the addresses that programs get. */

typedef unsigned char u8;
typedef unsigned long word; /* as wide as a pointer */
typedef unsigned long long u64;

#if defined(__x86_64__) && !defined(__ILP32__)
enum { WRITE = 1, CLOSE = 3, LSEEK = 8, MMAP = 9, MUNMAP = 11, SIGPROCMASK = 14, FCNTL = 72,
       FLOCK = 73, OPENAT = 257, MKDIRAT = 258, UNLINKAT = 263, FALLOCATE = 285, PRLIMIT = 302 };
static long call(long n, word a, word b, word c, word d, word e, word f) {
    long result;
    register word r10 __asm__("r10") = d;
    register word r8 __asm__("r8") = e;
    register word r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}
#define HAVE_CALLS 1
#define NO_ADDRESS(at) ((at) >> 47)
#elif defined(__aarch64__) && !defined(__ILP32__)
enum { FCNTL = 25, FLOCK = 32, MKDIRAT = 34, UNLINKAT = 35, FALLOCATE = 47, OPENAT = 56, CLOSE = 57,
       LSEEK = 62, WRITE = 64, SIGPROCMASK = 135, MUNMAP = 215, MMAP = 222, PRLIMIT = 261 };
static long call(long n, word a, word b, word c, word d, word e, word f) {
    register long x8 __asm__("x8") = n;
    register word x0 __asm__("x0") = a;
    register word x1 __asm__("x1") = b;
    register word x2 __asm__("x2") = c;
    register word x3 __asm__("x3") = d;
    register word x4 __asm__("x4") = e;
    register word x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return (long)x0;
}
#define HAVE_CALLS 1
#define NO_ADDRESS(at) ((at) >> 48)
#elif defined(__i386__)
enum { WRITE = 4, CLOSE = 6, LSEEK = 19, MUNMAP = 91, FLOCK = 143, SIGPROCMASK = 175, MMAP = 192,
       FCNTL = 221, OPENAT = 295, MKDIRAT = 296, UNLINKAT = 301, FALLOCATE = 324, PRLIMIT = 340 };
static long call(long n, word a, word b, word c, word d, word e, word f) {
    /* The first argument goes through ebx and the sixth through ebp, which the compiler may need
     * itself; no operand may lie on the stack, which moves. */
    long result;
    word rest[4] = {a, e, f, (word)n}, *at = rest;
    __asm__ volatile("pushl %%ebx\n\tpushl %%ebp\n\tmovl (%1), %%ebx\n\tmovl 8(%1), %%ebp\n\t"
                     "movl 12(%1), %%eax\n\tmovl 4(%1), %1\n\tint $0x80\n\t"
                     "popl %%ebp\n\tpopl %%ebx"
                     : "=&a"(result), "+D"(at)
                     : "c"(b), "d"(c), "S"(d)
                     : "memory");
    return result;
}
#define HAVE_CALLS 1
#define NO_ADDRESS(at) ((void)(at), 0)
#endif

#if defined(HAVE_CALLS)

enum { AT_CWD = -100, O_RDONLY = 0, O_RDWR = 2, O_CREAT = 0100, O_CLOEXEC = 02000000,
       LOCK_EX = 2, LOCK_NB = 4, SEEK_SET = 0, SEEK_END = 2, PROT = 3, MAP_SHARED = 1,
       MAP_FIXED = 16, F_DUPFD_CLOEXEC = 1030, RLIMIT_FSIZE = 1 };
enum { ENOENT = 2, EAGAIN = 11, ENOSYS = 38, EOPNOTSUPP = 95 };
enum { SLOTS = 64, PATH = 4096, HIGH = 200 };

#define C1(n, a) call(n, (word)(a), 0, 0, 0, 0, 0)
#define C2(n, a, b) call(n, (word)(a), (word)(b), 0, 0, 0, 0)
#define C3(n, a, b, c) call(n, (word)(a), (word)(b), (word)(c), 0, 0, 0)
#define C4(n, a, b, c, d) call(n, (word)(a), (word)(b), (word)(c), (word)(d), 0, 0)
#define C6(n, a, b, c, d, e, f) \
    call(n, (word)(a), (word)(b), (word)(c), (word)(d), (word)(e), (word)(f))

static int kept_lock = -1;
static int started;

extern char **environ __attribute__((weak));

static const char *variable(char **env, const char *name) {
    for (; env && *env; env++) {
        const char *at = *env, *want = name;
        while (*want && *at == *want) at++, want++;
        if (!*want && *at == '=') return at + 1;
    }
    return 0;
}

/* Appends to a path; 0 if it grows too long. */
static char *append(char *path, char *at, const char *text) {
    while (at && *text) {
        if (at >= path + PATH - 1) return 0;
        *at++ = *text++;
    }
    if (at) *at = 0;
    return at;
}

static char *append_hex(char *path, char *at, u64 number) {
    char digits[17];
    for (int i = 0; i < 16; i++) digits[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
    digits[16] = 0;
    return append(path, at, digits);
}

static char *append_small(char *path, char *at, unsigned number) {
    char digits[3] = {(char)('0' + number / 10), (char)('0' + number % 10), 0};
    return append(path, at, number < 10 ? digits + 1 : digits);
}

static void say(char **env, const char *text) {
    word length = 0;
    const char *wanted = variable(env, "LYDIAN_VERBOSE");
    if (!wanted || !*wanted) return;
    while (text[length]) length++;
    C3(WRITE, 2, text, length);
}

/* The name of the image, made of its size and of the units between its ends; 0 if there are
 * none. */
static u64 image(const u8 *begin, word size) {
    u64 hash = 0xcbf29ce484222325ull ^ size;
    int units = 0;
    for (word at = 64; at + 64 <= size;) {
        const u8 *unit = begin + at;
        word length = 64;
        if (unit[0] == 'L' && unit[6] == 'C' && unit[7] == '1') {
            units = 1;
            for (int i = 8; i < 24; i++) hash = (hash ^ unit[i]) * 0x100000001b3ull;
            length = *(const word *)(unit + 24);
            if (length < 64 || length % 64) length = 64;
        }
        at += length;
    }
    return units ? hash | 1 : 0;
}

/* Makes a file that says that a run was not counted. */
static void lost(char **env, const char *directory, u64 id, const char *why) {
    static char path[PATH];
    char *at = append(path, append(path, path, directory), "/lost");
    if (at) C3(MKDIRAT, AT_CWD, path, 0777);
    at = append_hex(path, append(path, at, "/"), id);
    if (at) {
        long fd = C4(OPENAT, AT_CWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0) C1(CLOSE, fd);
    }
    say(env, "lydian: this run is not counted: ");
    say(env, why);
    say(env, "\n");
}

/* Makes the file at least this large, with allocated blocks. Checks the limit on the size of
 * files first, since growing beyond it raises a signal. */
static int grow(int fd, word size) {
    u64 limit[2];
    if (C4(PRLIMIT, 0, RLIMIT_FSIZE, 0, limit) == 0 && limit[0] < size) return 0;
#if defined(__i386__)
    long done = C6(FALLOCATE, fd, 0, 0, 0, size, 0);
#else
    long done = C4(FALLOCATE, fd, 0, 0, size);
#endif
    if (done == 0) return 1;
    if (done != -ENOSYS && done != -EOPNOTSUPP) return 0;
    static const u8 zeros[4096];
    long from = C3(LSEEK, fd, 0, SEEK_END);
    while (from >= 0 && (word)from < size) {
        word left = size - (word)from;
        long written = C3(WRITE, fd, zeros, left < sizeof zeros ? left : sizeof zeros);
        if (written <= 0) return 0;
        from += written;
    }
    return from >= 0;
}

/* A file with room for the image, locked unless all are taken; -1 if there is none. `path` is its
 * name without the number, of which `at` is the end. */
static int slot(const char *directory, char *path, char *at, word size) {
    for (unsigned number = 0; number <= SLOTS; number++) {
        /* All taken: processes may share the first. */
        int shares = number == SLOTS;
        if (!append_small(path, at, shares ? 0 : number)) return -1;
        long fd = C4(OPENAT, AT_CWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd == -ENOENT && number == 0) {
            static char folder[PATH];
            char *end = append(folder, folder, directory);
            if (!end) return -1;
            C3(MKDIRAT, AT_CWD, folder, 0777);
            if (!append(folder, end, "/cells")) return -1;
            C3(MKDIRAT, AT_CWD, folder, 0777);
            fd = C4(OPENAT, AT_CWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        }
        if (fd < 0) return -1;
        if (!shares && C2(FLOCK, fd, LOCK_EX | LOCK_NB) == -EAGAIN) {
            C1(CLOSE, fd);
            continue;
        }
        long length = C3(LSEEK, fd, 0, SEEK_END);
        if (length >= 0 && ((word)length == size || ((word)length < size && grow((int)fd, size))))
            return (int)fd;
        if (length == 0) C3(UNLINKAT, AT_CWD, path, 0);
        C1(CLOSE, fd);
        /* A file of another size is damaged: the next one will do. */
        if (length < 0 || (word)length < size) return -1;
    }
    return -1;
}

static long map(void *where, word size, int flags, int fd) {
    return C6(MMAP, where, size, PROT, flags, fd, 0);
}

static int is_error(long address) { return address < 0 && address > -4096; }

static void attach(char **env, const char *directory) {
    static char path[PATH];
    u8 *begin = lydian_cells_begin, *end = lydian_cells_end;
    /* The compiler must not take them for two objects. */
    __asm__("" : "+r"(begin), "+r"(end));
    word size = (word)(end - begin);
    /* A program cannot be counted if its linker does not keep the order of its inputs. */
    if (end <= begin || ((word)begin | size) % 4096) return;
    u64 id = image(begin, size);
    if (!id) return;
    char *at = append(path, append(path, path, directory), "/cells/");
    at = append(path, append_hex(path, at, id), ".");
    if (!at) return;
    int fd = slot(directory, path, at, size);
    if (fd < 0) return lost(env, directory, id, "its counter file cannot be made");
    long other = map(0, size, MAP_SHARED, fd);
    if (!is_error(other)) {
        const word *from = (const word *)begin;
        word *to = (word *)other;
        for (word i = 0; i < size / sizeof(word); i++)
            if (from[i]) to[i] |= from[i];
        C2(MUNMAP, other, size);
    }
    if (is_error(other) || is_error(map(begin, size, MAP_SHARED | MAP_FIXED, fd))) {
        C1(CLOSE, fd);
        return lost(env, directory, id, "its counter file cannot be mapped");
    }
    /* The lock lives as long as the descriptor, which gets a number that programs do not use. */
    kept_lock = (int)C3(FCNTL, fd, F_DUPFD_CLOEXEC, HIGH);
    C1(CLOSE, fd);
}

/* The folder for the counters of a test. A file in it has the test's name. */
static const char *of_test(const char *directory, const char *test) {
    static char path[PATH], folder[PATH];
    u64 hash = 0xcbf29ce484222325ull;
    word length = 0;
    for (; test[length]; length++) hash = (hash ^ (u8)test[length]) * 0x100000001b3ull;
    char *at = append(folder, folder, directory);
    if (at) C3(MKDIRAT, AT_CWD, folder, 0777);
    at = append(folder, at, "/tests");
    if (at) C3(MKDIRAT, AT_CWD, folder, 0777);
    at = append_hex(folder, append(folder, at, "/"), hash);
    if (!at || !append(path, append(path, path, folder), "/name")) return directory;
    C3(MKDIRAT, AT_CWD, folder, 0777);
    long fd = C4(OPENAT, AT_CWD, path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return directory;
    C3(WRITE, fd, test, length);
    C1(CLOSE, fd);
    return folder;
}

static void start(int argc, char **argv, char **env) {
    if (started) return;
    started = 1;
    /* C libraries that pass no arguments here leave other values in their places. */
    if (argc < 0 || argc > 1 << 24 || !argv || env != argv + argc + 1)
        env = &environ ? environ : 0;
    const char *directory = variable(env, "LYDIAN_DIR");
    if (!directory || !*directory) directory = LYDIAN_DIRECTORY;
    const char *test = variable(env, "LYDIAN_TEST");
    attach(env, test && *test ? of_test(directory, test) : directory);
}

/* Pages that could not be read, plus one, by their last bits. They are forgotten after so many
 * questions, since the program may get memory there. Until then such memory counts as
 * unreadable. */
enum { REFUSED = 1024, FORGET = 1 << 12 };
static word refused[REFUSED];
static unsigned refusals;

static int page_can_be_read(word at) {
    word page = at / 4096, *before = &refused[page % REFUSED];
    if (*before == page + 1) {
        if (++refusals % FORGET) return 0;
        for (int i = 0; i < REFUSED; i++) refused[i] = 0;
    }
    /* The kernel checks the memory and then refuses the call. */
    if (C4(SIGPROCMASK, ~0u >> 1, at & ~(word)7, 0, 8) != -14) return 1;
    *before = page + 1;
    return 0;
}

/* Whether memory can be read. */
HIDDEN int lydian_can_be_read(const void *p, unsigned long n) {
    word first = (word)p, last = first + (n ? n - 1 : 0);
    if (first < 4096 || last < first || NO_ADDRESS(last)) return 0;
    return page_can_be_read(first) && (first / 4096 == last / 4096 || page_can_be_read(last));
}

#else

static void start(int argc, char **argv, char **env) { (void)argc, (void)argv, (void)env; }

#endif

#ifdef LYDIAN_SHARED
/* The earliest priority that a library can ask for. */
static __attribute__((section(".init_array.00101"), used)) void (*const lydian_start)(
    int, char **, char **) = start;
#if defined(HAVE_CALLS)
static __attribute__((destructor)) void stop(void) {
    if (kept_lock >= 0) C1(CLOSE, kept_lock);
    kept_lock = -1;
}
#endif
#else
/* This runs before the initialisers of all libraries or, if the C library has no such array, as
 * the first initialiser of the program. */
static __attribute__((section(".preinit_array"), used)) void (*const lydian_before)(
    int, char **, char **) = start;
static __attribute__((section(".init_array.00101"), used)) void (*const lydian_start)(
    int, char **, char **) = start;
#endif

#endif
