/* What programs use of the system beside C: descriptors, signals and locales, as far as one process
   with one thread and the C locale goes. */
#include "internal.h"
#include <langinfo.h>
#include <signal.h>

ssize_t write(int fd, const void *bytes, size_t count) {
    return lydian_checked(__lydian_write(fd, bytes, count));
}
ssize_t read(int fd, void *bytes, size_t count) {
    return lydian_checked(__lydian_read(fd, bytes, count));
}
int open(const char *path, int flags, ...) {
    int mode = 0;
    if (flags & O_CREAT) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, int);
        va_end(arguments);
    }
    return (int)lydian_checked(__lydian_open(path, flags, mode));
}
int creat(const char *path, mode_t mode) {
    return (int)lydian_checked(__lydian_open(path, O_WRONLY | O_CREAT | O_TRUNC, (int)mode));
}
int close(int fd) { return (int)lydian_checked(__lydian_close(fd)); }
off_t lseek(int fd, off_t offset, int whence) {
    return lydian_checked(__lydian_seek(fd, offset, whence));
}
int unlink(const char *path) { return (int)lydian_checked(__lydian_remove(path)); }
int isatty(int fd) {
    if (__lydian_isatty(fd)) return 1;
    errno = ENOTTY;
    return 0;
}
pid_t getpid(void) { return 4242; }
pid_t getppid(void) { return 4241; }
uid_t getuid(void) { return 1000; }
uid_t geteuid(void) { return 1000; }
gid_t getgid(void) { return 1000; }
gid_t getegid(void) { return 1000; }
long sysconf(int name) {
    switch (name) {
    case _SC_PAGESIZE: return 4096;
    case _SC_NPROCESSORS_CONF: case _SC_NPROCESSORS_ONLN: return 1;
    case _SC_CLK_TCK: return 100;
    case _SC_OPEN_MAX: return 1024;
    }
    errno = EINVAL;
    return -1;
}
int getpagesize(void) { return 4096; }

/* The byte order of networks. */
uint32_t htonl(uint32_t x) { return __builtin_bswap32(x); }
uint32_t ntohl(uint32_t x) { return __builtin_bswap32(x); }
uint16_t htons(uint16_t x) { return __builtin_bswap16(x); }
uint16_t ntohs(uint16_t x) { return __builtin_bswap16(x); }

/* Signals are never delivered, but raise() calls what was set. */
static sighandler_t signal_handlers[65];
sighandler_t signal(int number, sighandler_t handler) {
    if (number < 1 || number > 64) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sighandler_t before = signal_handlers[number];
    signal_handlers[number] = handler;
    return before;
}
int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (number < 1 || number > 64) {
        errno = EINVAL;
        return -1;
    }
    if (before) {
        memset(before, 0, sizeof *before);
        before->sa_handler = signal_handlers[number];
    }
    if (action) signal_handlers[number] = action->sa_handler;
    return 0;
}
int raise(int number) {
    if (number < 1 || number > 64) return -1;
    sighandler_t handler = signal_handlers[number];
    if (handler == SIG_IGN) return 0;
    if (handler == SIG_DFL) {
        if (number == SIGCHLD || number == SIGCONT || number == SIGURG || number == SIGWINCH)
            return 0;
        abort();
    }
    handler(number);
    return 0;
}
int sigemptyset(sigset_t *set) {
    memset(set, 0, sizeof *set);
    return 0;
}
int sigfillset(sigset_t *set) {
    memset(set, 255, sizeof *set);
    return 0;
}
int sigaddset(sigset_t *set, int number) {
    unsigned bits = 8 * sizeof *set->__val, bit = (unsigned)(number - 1);
    set->__val[bit / bits] |= 1ul << bit % bits;
    return 0;
}
int sigdelset(sigset_t *set, int number) {
    unsigned bits = 8 * sizeof *set->__val, bit = (unsigned)(number - 1);
    set->__val[bit / bits] &= ~(1ul << bit % bits);
    return 0;
}
int sigprocmask(int how, const sigset_t *set, sigset_t *before) {
    (void)how;
    (void)set;
    if (before) sigemptyset(before);
    return 0;
}
unsigned alarm(unsigned seconds) {
    (void)seconds;
    return 0;
}

char *setlocale(int category, const char *name) {
    (void)category;
    if (!name || !*name || !strcmp(name, "C") || !strcmp(name, "POSIX")) return "C";
    return NULL;
}
static struct lconv c_locale = {
    .decimal_point = ".", .thousands_sep = "", .grouping = "", .int_curr_symbol = "",
    .currency_symbol = "", .mon_decimal_point = "", .mon_thousands_sep = "", .mon_grouping = "",
    .positive_sign = "", .negative_sign = "",
    .int_frac_digits = CHAR_MAX, .frac_digits = CHAR_MAX, .p_cs_precedes = CHAR_MAX,
    .p_sep_by_space = CHAR_MAX, .n_cs_precedes = CHAR_MAX, .n_sep_by_space = CHAR_MAX,
    .p_sign_posn = CHAR_MAX, .n_sign_posn = CHAR_MAX, .int_p_cs_precedes = CHAR_MAX,
    .int_p_sep_by_space = CHAR_MAX, .int_n_cs_precedes = CHAR_MAX, .int_n_sep_by_space = CHAR_MAX,
    .int_p_sign_posn = CHAR_MAX, .int_n_sign_posn = CHAR_MAX};
struct lconv *localeconv(void) { return &c_locale; }
char *nl_langinfo(nl_item item) {
    switch (item) {
    case CODESET: return "ANSI_X3.4-1968";
    case RADIXCHAR: return ".";
    case D_T_FMT: return "%a %b %e %H:%M:%S %Y";
    case D_FMT: return "%m/%d/%y";
    case T_FMT: return "%H:%M:%S";
    case YESEXPR: return "^[yY]";
    case NOEXPR: return "^[nN]";
    }
    return "";
}

/* Command line options, as getopt() reads them. */
char *optarg;
int optind = 1, opterr = 1, optopt;
int getopt(int count, char *const *arguments, const char *options) {
    static int at = 1;
    if (optind == 0) {
        optind = 1;
        at = 1;
    }
    if (optind >= count || arguments[optind][0] != '-' || !arguments[optind][1]) return -1;
    if (!strcmp(arguments[optind], "--")) {
        optind++;
        return -1;
    }
    const char *word = arguments[optind];
    int c = (unsigned char)word[at++];
    const char *option = c == ':' ? NULL : strchr(options, c);
    if (!word[at]) {
        optind++;
        at = 1;
    }
    if (!option) {
        optopt = c;
        if (opterr && *options != ':')
            fprintf(stderr, "%s: invalid option -- '%c'\n", arguments[0], c);
        return '?';
    }
    if (option[1] != ':') return c;
    optarg = NULL;
    if (at > 1) {
        optarg = (char *)word + at;
        optind++;
        at = 1;
    } else if (option[2] != ':' && optind < count) {
        optarg = arguments[optind++];
    } else if (option[2] != ':') {
        optopt = c;
        if (opterr && *options != ':')
            fprintf(stderr, "%s: option requires an argument -- '%c'\n", arguments[0], c);
        return *options == ':' ? ':' : '?';
    }
    return c;
}
