/* A program that waits in front of `main`, and is copied each time it is to run.
 *
 * It is loaded into the program in front of its libraries. When these are relocated and initialised,
 * which is most of what it takes to start a compiler, the start of `main` comes by here. Standard
 * input is then a socket of packets, one for each run: four descriptors (the run's standard input,
 * output and error, and where to tell of it), and bytes: one for flags, the folder to run in, the
 * arguments, each with a zero after it. A copy of this process goes on into `main` with them. The
 * run is told of twice, by its process and by its wait status. A packet with the flag TAKE is run by
 * this process itself if it can be: nothing may be asked of it afterwards.
 *
 * LYDIAN_FORK_SERVER names the program's file by device and inode: any other does nothing here.
 *
 * Glibc has taken the environment from the stack before, and does not look for it behind the
 * arguments; other C libraries may, so this is not for them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __GLIBC__
#error "only for glibc"
#endif

enum { TAKE = 1 };
enum { PACKET = 1 << 18, WORDS = 1 << 15, RUNS = 64, DESCRIPTORS = 4 };

struct run {
    pid_t process; /* 0 for none */
    int tell;
};

static struct run runs[RUNS];
static char packet[PACKET];
static char *words[WORDS + 1];
static int word_count, connection = -1, ended = -1;
static sigset_t usual_mask;
static struct sigaction usual_interrupt;

static int is_named(const char *name) {
    struct stat file;
    char own[64];
    if (stat("/proc/self/exe", &file)) return 0;
    snprintf(own, sizeof own, "%llu:%llu", (unsigned long long)file.st_dev,
             (unsigned long long)file.st_ino);
    return !strcmp(own, name);
}

static void tell(int to, int number) {
    ssize_t written;
    do written = write(to, &number, sizeof number);
    while (written < 0 && errno == EINTR);
}

static int prepare(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &children, &usual_mask)) return 0;
    ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    connection = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    /* What the user interrupts, or a reader that is gone, ends the copies. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &usual_interrupt);
    return ended >= 0 && connection >= 0;
}

/* Takes the packet apart; the first word is the folder. */
static int read_words(ssize_t size) {
    word_count = 0;
    if (size < 2 || packet[size - 1]) return 0;
    for (char *at = packet + 1; at < packet + size; at += strlen(at) + 1) {
        if (word_count == WORDS) return 0;
        words[word_count++] = at;
    }
    words[word_count] = NULL;
    return word_count >= 2;
}

/* Receives one packet. 1 for a run, 0 for the end, -1 for nothing to run. */
static int receive(int descriptors[DESCRIPTORS]) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * DESCRIPTORS)];
    } control;
    struct iovec bytes = {packet, PACKET};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t size = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return errno == EINTR || errno == EAGAIN ? -1 : 0;
    if (size == 0) return 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int whole = head && head->cmsg_type == SCM_RIGHTS &&
                head->cmsg_len == CMSG_LEN(sizeof(int) * DESCRIPTORS);
    if (!whole) return -1;
    memcpy(descriptors, CMSG_DATA(head), sizeof(int) * DESCRIPTORS);
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && read_words(size)) return 1;
    for (int i = 0; i < DESCRIPTORS; i++) close(descriptors[i]);
    return -1;
}

static struct run *free_run(void) {
    for (int i = 0; i < RUNS; i++)
        if (!runs[i].process) return &runs[i];
    return NULL;
}

static int is_idle(void) {
    for (int i = 0; i < RUNS; i++)
        if (runs[i].process) return 0;
    return 1;
}

static void tell_of_ended(void) {
    struct signalfd_siginfo seen;
    while (read(ended, &seen, sizeof seen) > 0) {}
    int status;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;)
        for (int i = 0; i < RUNS; i++)
            if (runs[i].process == process) {
                tell(runs[i].tell, status);
                close(runs[i].tell);
                runs[i].process = 0;
            }
}

/* Makes this process one that was started as usual. */
static void become_run(int descriptors[DESCRIPTORS]) {
    for (int i = 0; i < 3; i++) {
        /* Descriptors 0 to 2 are open, so none of these is one of them. */
        if (dup2(descriptors[i], i) < 0) _exit(127);
    }
    if (syscall(SYS_close_range, 3u, ~0u, 0u))
        for (int other = (int)sysconf(_SC_OPEN_MAX); --other > 2;) close(other);
    sigaction(SIGINT, &usual_interrupt, NULL);
    sigprocmask(SIG_SETMASK, &usual_mask, NULL);
    if (chdir(words[0])) {
        dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
}

/* Starts the run of a packet. Whether this process is the one to run it. */
static int start(int descriptors[DESCRIPTORS]) {
    int to = descriptors[DESCRIPTORS - 1];
    struct run *run = free_run();
    pid_t process = -1;
    if ((packet[0] & TAKE) && is_idle()) {
        tell(to, (int)getpid());
        become_run(descriptors);
        return 1;
    }
    if (run) process = fork();
    if (process == 0) {
        become_run(descriptors);
        return 1;
    }
    for (int i = 0; i < DESCRIPTORS - 1; i++) close(descriptors[i]);
    if (process < 0) {
        close(to);
        return 0;
    }
    *run = (struct run){process, to};
    tell(to, (int)process);
    return 0;
}

/* Waits for packets until one is for this process. */
static void serve(void) {
    if (!prepare() || send(connection, "", 1, MSG_NOSIGNAL) != 1) _exit(1);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) _exit(1);
    if (null > 2) close(null);
    while (connection >= 0 || !is_idle()) {
        struct pollfd seen[2] = {{ended, POLLIN, 0}, {connection, POLLIN, 0}};
        if (poll(seen, 2, -1) < 0 && errno != EINTR) _exit(1);
        if (seen[0].revents) tell_of_ended();
        if (connection < 0 || !seen[1].revents) continue;
        int descriptors[DESCRIPTORS];
        int received = receive(descriptors);
        if (received > 0 && start(descriptors)) return;
        if (received == 0) {
            close(connection);
            connection = -1;
        }
    }
    _exit(0);
}

typedef int main_function(int, char **, char **);
typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void),
                           void (*)(void), void *);

/* In the place of the C library's, which calls `main`. */
__attribute__((visibility("default"))) int __libc_start_main(
    main_function *program, int count, char **arguments, void (*begin)(void), void (*end)(void),
    void (*unload)(void), void *stack) {
    start_function *library = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
    const char *name = getenv("LYDIAN_FORK_SERVER");
    int serves = name && is_named(name);
    unsetenv("LYDIAN_FORK_SERVER");
    unsetenv("LD_PRELOAD");
    if (serves) {
        serve();
        count = word_count - 1;
        arguments = words + 1;
    }
    return library(program, count, arguments, begin, end, unload, stack);
}
