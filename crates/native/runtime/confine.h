/* Confinement of the runner: it gives up the rights that tests must not have, and notes the
 * calls that are refused.
 *
 * Landlock and a filter of system calls confine the program; the parent makes both
 * (`confine.rs`). A call that the filter refuses raises SIGSYS here: it is noted and fails.
 * Calls on files are made again from the gate, which the filter lets pass, so that Landlock's
 * refusals are noted too. Nothing in this file is a barrier.
 *
 * The file that includes this defines `running_test`, and sets `own_files` where it opens files
 * for a test itself. */

enum { ATTEMPTS = 64, ATTEMPTS_OF_TEST = 16, ATTEMPT_TEXT = 128 };
/* The number in place of a call's number that says that a file grew beyond its limit. */
static const uint32_t FILE_SIZE_EXCEEDED = 0xffffffff;

struct attempt {
    uint32_t test, machine, number, refused;
    uint64_t arguments[6];
    char text[2][ATTEMPT_TEXT];
};
struct attempts {
    _Atomic uint32_t used;
    uint32_t pad[3];
    struct attempt list[ATTEMPTS];
};
struct confinement {
    /* `landlock` says that standard output is a ruleset; limits are in bytes. */
    uint64_t is_confined, landlock, filter_at, filter_length, attempts_at, file_size, memory, descriptors;
};

static struct attempts *attempts;
static uint32_t running_test(void);
/* Whether the runner opens or removes files itself. */
static int own_files;
/* Whether the program opened a file or changed the folder by calls of its own. */
static int files_touched;

/* ---- the gate ----------------------------------------------------------------------------- */

/* Makes a system call; the filter knows it by the place behind its instruction. */
long lydian_gate(long number, long, long, long, long, long, long);
extern const char lydian_gate_end[];

#if defined(__x86_64__)
enum { MACHINE = (int)0xc000003eu };
__asm__(".text\n.globl lydian_gate\n.globl lydian_gate_end\nlydian_gate:\n"
        "mov %rdi, %rax\nmov %rsi, %rdi\nmov %rdx, %rsi\nmov %rcx, %rdx\n"
        "mov %r8, %r10\nmov %r9, %r8\nmov 8(%rsp), %r9\nsyscall\n"
        "lydian_gate_end:\nret\n");

static void call_arguments(const ucontext_t *user, uint32_t machine, uint64_t *to) {
    const greg_t *all = user->uc_mcontext.gregs;
    int own[] = {REG_RDI, REG_RSI, REG_RDX, REG_R10, REG_R8, REG_R9};
    int narrow[] = {REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP};
    int is_own = machine == (uint32_t)MACHINE;
    for (int i = 0; i < 6; i++) {
        to[i] = (uint64_t)all[is_own ? own[i] : narrow[i]];
        if (!is_own) to[i] &= 0xffffffff;
    }
}
static void set_result(ucontext_t *user, long result) { user->uc_mcontext.gregs[REG_RAX] = result; }
#elif defined(__i386__)
enum { MACHINE = 0x40000003 };
__asm__(".text\n.globl lydian_gate\n.globl lydian_gate_end\nlydian_gate:\n"
        "push %ebp\npush %edi\npush %esi\npush %ebx\n"
        "mov 20(%esp), %eax\nmov 24(%esp), %ebx\nmov 28(%esp), %ecx\nmov 32(%esp), %edx\n"
        "mov 36(%esp), %esi\nmov 40(%esp), %edi\nmov 44(%esp), %ebp\nint $0x80\n"
        "lydian_gate_end:\npop %ebx\npop %esi\npop %edi\npop %ebp\nret\n");

static void call_arguments(const ucontext_t *user, uint32_t machine, uint64_t *to) {
    int own[] = {REG_EBX, REG_ECX, REG_EDX, REG_ESI, REG_EDI, REG_EBP};
    (void)machine;
    for (int i = 0; i < 6; i++) to[i] = (uint32_t)user->uc_mcontext.gregs[own[i]];
}
static void set_result(ucontext_t *user, long result) { user->uc_mcontext.gregs[REG_EAX] = result; }
#endif

/* ---- notes -------------------------------------------------------------------------------- */

static int is_noted(const struct attempt *new, const struct attempt *known) {
    return new->number == known->number && new->machine == known->machine &&
           new->refused == known->refused &&
           !memcmp(new->arguments, known->arguments, 3 * sizeof *new->arguments) &&
           !memcmp(new->text, known->text, sizeof new->text);
}

static void note(struct attempt *new) {
    uint32_t of_test = 0, used = atomic_load(&attempts->used);
    new->test = running_test();
    for (uint32_t i = 0; i < used && i < ATTEMPTS; i++) {
        if (attempts->list[i].test != new->test) continue;
        if (is_noted(new, &attempts->list[i])) return;
        of_test++;
    }
    if (of_test >= ATTEMPTS_OF_TEST) return;
    used = atomic_fetch_add(&attempts->used, 1);
    if (used < ATTEMPTS) attempts->list[used] = *new;
}

/* Whether the attempts of one more test may have no room. */
static int attempts_are_full(void) {
    return attempts && atomic_load(&attempts->used) > ATTEMPTS - ATTEMPTS_OF_TEST;
}

/* The kernel checks the memory, except for a null pointer, and then refuses the call. */
static int is_readable(uint64_t at) {
    return at >= 4096 && lydian_gate(SYS_rt_sigprocmask, -1, (long)(at & ~(uint64_t)7), 0, 8, 0, 0) != -EFAULT;
}

/* Copies a string of the program. The pointer may be invalid. */
static void copy_text(char *to, uint64_t from) {
    for (int i = 0; i < ATTEMPT_TEXT - 1; i++) {
        if ((i == 0 || (from + i) % 4096 == 0) && !is_readable(from + i)) return;
        to[i] = *(const char *)(uintptr_t)(from + i);
        if (!to[i]) return;
    }
}

/* ---- what is refused ---------------------------------------------------------------------- */

/* The filter's answer for a call, as `filter.rs` writes it. */
static int error_of(int answer) { return answer & 0xff; }
static int path_of(int answer) { return (answer >> 8 & 7) - 1; }
static int second_of(int answer) { return (answer >> 11 & 7) - 1; }
enum { CHANGES_ALWAYS = 1, CHANGES_BY_FLAGS = 2, CHANGES_BY_FLAGS_THERE = 3 };

static int changes_folder(int answer, const uint64_t *arguments) {
    uint64_t flags = arguments[path_of(answer) + 1];
    switch (answer >> 14 & 3) {
    case CHANGES_ALWAYS: return 1;
    case CHANGES_BY_FLAGS: return (flags & O_CREAT) != 0;
    case CHANGES_BY_FLAGS_THERE:
        return is_readable(flags) && (*(const uint64_t *)(uintptr_t)flags & O_CREAT) != 0;
    default: return 0;
    }
}

static int is_device(const char *path) { return !strncmp(path, "/dev/", 5); }

/* Makes a call about files again. */
static long repeat(struct attempt *new, int answer) {
    const uint64_t *a = new->arguments;
    long result = lydian_gate(new->number, (long)a[0], (long)a[1], (long)a[2], (long)a[3], (long)a[4],
                              (long)a[5]);
    new->refused = result == -EACCES || result == -EPERM || result == -EXDEV;
    if (own_files) return result;
    if (result >= 0) files_touched = 1;
    int changes = result >= 0 && changes_folder(answer, a) && !is_device(new->text[0]);
    if (new->refused || changes) note(new);
    return result;
}

static void on_refused(int signal, siginfo_t *call, void *context) {
    int answer = call->si_errno, error = error_of(answer);
    struct attempt new = {.machine = call->si_arch, .number = (uint32_t)call->si_syscall, .refused = 1};
    (void)signal;
    call_arguments(context, call->si_arch, new.arguments);
    /* The reader of the notes knows which argument of a refused call is a path. */
    int path = error ? 0 : path_of(answer), second = error ? 1 : second_of(answer);
    copy_text(new.text[0], new.arguments[path]);
    if (second >= 0) copy_text(new.text[1], new.arguments[second]);
    if (error) note(&new);
    set_result(context, error ? -error : repeat(&new, answer));
}

static void on_large_file(int signal) {
    struct attempt new = {.machine = MACHINE, .number = FILE_SIZE_EXCEEDED, .refused = 1};
    (void)signal;
    note(&new);
}

/* ---- confinement -------------------------------------------------------------------------- */

static int limit(int of, uint64_t to) {
    struct rlimit limit;
    if (getrlimit(of, &limit)) return -1;
    if (limit.rlim_max < to) to = limit.rlim_max;
    limit.rlim_cur = limit.rlim_max = to;
    return setrlimit(of, &limit);
}

/* Descriptors that this process inherited. */
static void close_inherited(void) {
    if (!syscall(SYS_close_range, 3, ~0u, 0)) return;
    for (int fd = 3; fd < 4096; fd++) close(fd);
}

/* Gives up all capabilities, except for reading and writing files, which Landlock confines. */
static int drop_capabilities(void) {
    struct {
        uint32_t version;
        int process;
    } head = {0x20080522, 0};
    struct {
        uint32_t effective, permitted, inheritable;
    } sets[2];
    enum { DAC_OVERRIDE = 1 << 1, DAC_READ_SEARCH = 1 << 2 };
    if (syscall(SYS_capget, &head, sets)) return -1;
    uint32_t kept = DAC_OVERRIDE | DAC_READ_SEARCH;
    sets[0].effective &= kept, sets[0].permitted &= kept, sets[0].inheritable = 0;
    sets[1].effective = sets[1].permitted = sets[1].inheritable = 0;
    return (int)syscall(SYS_capset, &head, sets);
}

/* Takes the ruleset from standard output; of /proc the process sees itself. */
static int restrict_files(void) {
    enum { ADD_RULE = 445, RESTRICT_SELF = 446, PATH_BENEATH = 1, READ_FILE = 1 << 2, READ_DIR = 1 << 3 };
    struct __attribute__((packed)) {
        uint64_t allowed;
        int32_t folder;
    } rule = {READ_FILE | READ_DIR, open("/proc/self", O_PATH | O_CLOEXEC)};
    if (rule.folder >= 0) {
        if (syscall(ADD_RULE, STDOUT_FILENO, PATH_BENEATH, &rule, 0)) return -1;
        close(rule.folder);
    }
    return (int)syscall(RESTRICT_SELF, STDOUT_FILENO, 0);
}

/* Fills in the filter's fields that the parent could not know. */
static void complete_filter(struct sock_filter *filter, size_t length) {
    enum { PROCESS = 0x6c790001, GATE_LOW, GATE_HIGH };
    uint64_t gate = (uint64_t)(uintptr_t)lydian_gate_end;
    for (size_t i = 0; i < length; i++) {
        if (filter[i].code != (BPF_JMP | BPF_JEQ | BPF_K)) continue;
        switch (filter[i].k) {
        case PROCESS: filter[i].k = (uint32_t)getpid(); break;
        case GATE_LOW: filter[i].k = (uint32_t)gate; break;
        case GATE_HIGH: filter[i].k = (uint32_t)(gate >> 32); break;
        }
    }
}

static int filter_calls(struct sock_filter *filter, size_t length) {
    enum { SET_MODE_FILTER = 1, NO_SPECULATION_LIMITS = 4 };
    struct sock_fprog program = {(unsigned short)length, filter};
    struct sigaction refused = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    if (sigaction(SIGSYS, &refused, NULL)) return -1;
    complete_filter(filter, length);
    return (int)syscall(SYS_seccomp, SET_MODE_FILTER, NO_SPECULATION_LIMITS, &program);
}

/* Confines this process for good. Returns the step that failed, or NULL. */
static const char *confine(uint8_t *memory, const struct confinement *how) {
    if (!how->is_confined) return NULL;
    struct sigaction large = {.sa_handler = on_large_file, .sa_flags = SA_RESTART | SA_ONSTACK};
    attempts = (struct attempts *)(memory + how->attempts_at);
    close_inherited();
    if (drop_capabilities()) return "capabilities cannot be given up";
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) return "new privileges cannot be given up";
    if (how->landlock && restrict_files()) return "Landlock refuses the rules for files";
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return "standard output cannot be emptied";
    if (sigaction(SIGXFSZ, &large, NULL) || limit(RLIMIT_FSIZE, how->file_size) ||
        limit(RLIMIT_AS, how->memory) || limit(RLIMIT_NOFILE, how->descriptors) ||
        limit(RLIMIT_MSGQUEUE, 0))
        return "limits cannot be set";
    struct sock_filter *filter = (struct sock_filter *)(memory + how->filter_at);
    if (how->filter_length && filter_calls(filter, how->filter_length))
        return "the filter of system calls cannot be set";
    return NULL;
}
