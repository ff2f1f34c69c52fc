/* A program that waits in front of `main`, and is copied each time it is to run.
 *
 * It is loaded into the program in front of its libraries. When these are relocated and initialised,
 * which is most of what it takes to start a compiler, the start of `main` comes by here. Standard
 * input is then a socket of packets, one for each run: four descriptors (the run's standard input,
 * output and error, and where to tell of it), and bytes: one for flags, then words with a zero after
 * each: the folder to run in, the environment, an empty word, the arguments. A copy of this process
 * goes on into `main` with them. The run is told of twice, by its process and by its wait status. A
 * packet with the flag TAKE is run by this process itself if it can be: nothing may be asked of it
 * afterwards.
 *
 * A copy tells its status itself, in memory that it shares with the server, when nothing of its
 * program is left to run: for the system to take its memory apart takes as long again as a short run.
 *
 * LYDIAN_FORK_SERVER is `DEVICE:INODE` of the program's file, any other does nothing here. With
 * `:SECONDS:PATH` behind it the server stays when its client has gone, for others that find a socket at
 * the path, until nobody has been there for so long. Each has what it started ended when it goes.
 *
 * Glibc has taken the environment from the stack before, and does not look for it behind the
 * arguments; other C libraries may, so this is not for them.
 *
 * A copy has no page of the program's code mapped, and each that it touches costs a fault: a third of the
 * time of a short run. So the first copies of a server that stays tell which they touched, and the server
 * maps these. Their entries are copied with the server where a page of the same mapping is its own,
 * which one is made. Such a copy takes longer to make, so some are made before they are needed: spare
 * ones wait for the packet of their run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef __GLIBC__
#error "only for glibc"
#endif

enum { TAKE = 1 };
enum { PACKET = 1 << 18, WORDS = 1 << 15, RUNS = 64, CLIENTS = 32, FILES = 128, DESCRIPTORS = 4 };
enum { LESSONS = 6, BLOCKS = 1 << 13, MAPPINGS = 256, PAGES_OF_BLOCK = 16, SPARES = 3 };

struct run {
    pid_t process; /* 0 for none */
    int spare;     /* for a spare one, the socket that it waits at; -1 for others */
    int client;    /* its number */
    int tell;
    volatile int is_done; /* set by the run itself, after the status */
    volatile int status;
};

struct file {
    const char *path;
    dev_t device;
    ino_t inode;
    struct timespec changed;
};

/* What copies touched: the first address of each block of pages. */
struct touched {
    int lessons; /* copies that tell */
    int count;
    char *volatile blocks[BLOCKS];
};

struct mapping {
    char *first, *end;
    int protection;
};

static struct run *runs; /* shared with the copies */
static struct touched *touched; /* too */
static struct run *own;  /* this process's */
static pid_t own_process;
static int clients[CLIENTS]; /* sockets; -1 for none */
static struct file files[FILES];
static int file_count;
static char packet[PACKET];
static ssize_t packet_size;
static char *words[WORDS + 1];
static int word_count, argument_at, listener = -1, ended = -1;
static int seconds; /* 0 where it does not stay */
static struct sockaddr_un address = {.sun_family = AF_UNIX};
static struct stat at_address;
static sigset_t usual_mask;
static struct sigaction usual_interrupt, usual_pipe;

/* Whether LYDIAN_FORK_SERVER speaks of this program; takes the rest of it. */
static int is_named(const char *name) {
    struct stat file;
    unsigned long long device, inode;
    int read = 0;
    if (stat("/proc/self/exe", &file)) return 0;
    if (sscanf(name, "%llu:%llu%n", &device, &inode, &read) != 2) return 0;
    if (device != file.st_dev || inode != file.st_ino) return 0;
    int path = 0;
    if (sscanf(name + read, ":%d:%n", &seconds, &path) != 1 || !path) seconds = 0;
    else if (strlen(name + read + path) >= sizeof address.sun_path) seconds = 0;
    else strcpy(address.sun_path, name + read + path);
    return 1;
}

static void tell(int to, int number) {
    ssize_t written;
    do written = write(to, &number, sizeof number);
    while (written < 0 && errno == EINTR);
}

/* Notes a file that is loaded. */
static int note_file(struct dl_phdr_info *info, size_t size, void *data) {
    struct stat about;
    (void)size, (void)data;
    if (file_count < FILES && *info->dlpi_name && !stat(info->dlpi_name, &about))
        files[file_count++] =
            (struct file){info->dlpi_name, about.st_dev, about.st_ino, about.st_mtim};
    return 0;
}

/* Whether the program would be loaded from the same files today. */
static int is_current(void) {
    struct stat about;
    for (int i = 0; i < file_count; i++) {
        struct file *file = &files[i];
        if (stat(file->path, &about) || about.st_dev != file->device ||
            about.st_ino != file->inode || about.st_mtim.tv_sec != file->changed.tv_sec ||
            about.st_mtim.tv_nsec != file->changed.tv_nsec)
            return 0;
    }
    return 1;
}

/* Opens the socket for other clients. Where that fails there are none. */
static void listen_at_address(void) {
    struct sockaddr_un draft = address;
    int length = snprintf(draft.sun_path, sizeof draft.sun_path, "%s.%d", address.sun_path, (int)getpid());
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    mode_t usual = umask(0177);
    int is_open = listener >= 0 && length < (int)sizeof draft.sun_path &&
                  !bind(listener, (struct sockaddr *)&draft, sizeof draft) &&
                  !listen(listener, CLIENTS);
    umask(usual);
    /* Whoever sees the path can connect; who came before is no longer found. */
    if (is_open && !stat(draft.sun_path, &at_address) && !rename(draft.sun_path, address.sun_path)) {
        setsid();
        if (chdir("/")) _exit(1);
        dl_iterate_phdr(note_file, NULL);
        return;
    }
    if (is_open) unlink(draft.sun_path);
    if (listener >= 0) close(listener);
    listener = -1;
    seconds = 0;
}

static void stop_listening(void) {
    struct stat there;
    if (listener < 0) return;
    if (!stat(address.sun_path, &there) && there.st_dev == at_address.st_dev &&
        there.st_ino == at_address.st_ino)
        unlink(address.sun_path);
    close(listener);
    listener = -1;
}

/* The mappings of files that nobody writes. */
static int read_mappings(struct mapping mappings[MAPPINGS]) {
    int count = 0;
    char line[512], rights[5];
    unsigned long first, end, inode;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && count < MAPPINGS && fgets(line, sizeof line, maps)) {
        if (!strchr(line, '\n')) break;
        if (sscanf(line, "%lx-%lx %4s %*x %*s %lu", &first, &end, rights, &inode) != 4) continue;
        if (!inode || rights[0] != 'r' || rights[1] != '-' || rights[3] != 'p') continue;
        int protection = PROT_READ | (rights[2] == 'x' ? PROT_EXEC : 0);
        mappings[count++] = (struct mapping){(char *)first, (char *)end, protection};
    }
    if (maps) fclose(maps);
    return count;
}

/* Tells the server what this copy touched of the program's code. */
static void teach(void) {
    if (__sync_fetch_and_add(&touched->lessons, 1) >= LESSONS) return;
    struct mapping mappings[MAPPINGS];
    int count = read_mappings(mappings), pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    long page = sysconf(_SC_PAGESIZE);
    unsigned long long entries[PAGES_OF_BLOCK * 64];
    for (int i = 0; pages >= 0 && i < count; i++) {
        for (char *at = mappings[i].first; at < mappings[i].end;) {
            size_t wanted = (size_t)(mappings[i].end - at) / page * sizeof *entries;
            if (wanted > sizeof entries) wanted = sizeof entries;
            off_t place = (off_t)((unsigned long)at / page * sizeof *entries);
            ssize_t read = pread(pages, entries, wanted, place);
            int got = read > 0 ? (int)(read / (ssize_t)sizeof *entries) : 0;
            if (!got) break;
            for (int k = 0; k < got; k += PAGES_OF_BLOCK) {
                int here = 0;
                for (int j = k; j < got && j < k + PAGES_OF_BLOCK; j++) here |= entries[j] >> 63;
                if (!here) continue;
                int number = __sync_fetch_and_add(&touched->count, 1);
                if (number >= BLOCKS) return;
                touched->blocks[number] = at + k * page;
            }
            at += got * page;
        }
    }
}

/* Maps what copies touched, so that later ones find it mapped. Whether there was anything new. */
static int learn(void) {
    static struct mapping mappings[MAPPINGS];
    static char is_ready[MAPPINGS];
    static int done, mapping_count;
    int count = touched->count < BLOCKS ? touched->count : BLOCKS;
    if (done == count) return 0;
    if (!mapping_count) mapping_count = read_mappings(mappings);
    for (; done < count; done++) {
        char *at = touched->blocks[done];
        for (int i = 0; at && i < mapping_count; i++) {
            struct mapping *of = &mappings[i];
            if (at < of->first || at >= of->end) continue;
            size_t size = (size_t)(of->end - of->first);
            if (!is_ready[i] && !mprotect(of->first, size, of->protection | PROT_WRITE)) {
                *(volatile char *)of->first = *(volatile char *)of->first;
                if (mprotect(of->first, size, of->protection)) _exit(1);
            }
            is_ready[i] = 1;
            (void)*(volatile char *)at;
        }
    }
    return 1;
}

static int prepare(void) {
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    if (sigprocmask(SIG_BLOCK, &children, &usual_mask)) return 0;
    ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    for (int i = 0; i < CLIENTS; i++) clients[i] = -1;
    clients[0] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    size_t size = RUNS * sizeof *runs + sizeof *touched;
    runs = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    touched = (struct touched *)(runs + RUNS);
    /* What the user interrupts, or a reader that is gone, ends the copies. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, &usual_interrupt);
    sigaction(SIGPIPE, &ignore, &usual_pipe);
    if (ended < 0 || clients[0] < 0 || runs == MAP_FAILED) return 0;
    if (seconds > 0) listen_at_address();
    return 1;
}

/* Takes the packet apart: the folder, the environment, the arguments. */
static int read_words(ssize_t size) {
    word_count = argument_at = 0;
    if (size < 2 || packet[size - 1]) return 0;
    for (char *at = packet + 1; at < packet + size; at += strlen(at) + 1) {
        if (word_count == WORDS) return 0;
        int ends_environment = !*at && !argument_at;
        words[word_count++] = ends_environment ? NULL : at;
        if (ends_environment) argument_at = word_count;
    }
    words[word_count] = NULL;
    return argument_at > 1 && word_count > argument_at;
}

/* Receives one packet. 1 for a run, 0 for the end, -1 for nothing to run. */
static int receive(int from, int descriptors[DESCRIPTORS]) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * DESCRIPTORS)];
    } control;
    struct iovec bytes = {packet, PACKET};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t size = recvmsg(from, &message, MSG_CMSG_CLOEXEC);
    if (size < 0) return errno == EINTR || errno == EAGAIN ? -1 : 0;
    if (size == 0) return 0;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    int whole = head && head->cmsg_type == SCM_RIGHTS &&
                head->cmsg_len == CMSG_LEN(sizeof(int) * DESCRIPTORS);
    if (!whole) return -1;
    memcpy(descriptors, CMSG_DATA(head), sizeof(int) * DESCRIPTORS);
    packet_size = size;
    if (!(message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) && read_words(size)) return 1;
    for (int i = 0; i < DESCRIPTORS; i++) close(descriptors[i]);
    return -1;
}

/* Hands the packet on to a spare copy. */
static int hand_on(int to, const int descriptors[DESCRIPTORS]) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * DESCRIPTORS)];
    } control;
    memset(&control, 0, sizeof control);
    struct iovec bytes = {packet, (size_t)packet_size};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int) * DESCRIPTORS);
    memcpy(CMSG_DATA(&control.head), descriptors, sizeof(int) * DESCRIPTORS);
    return sendmsg(to, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == packet_size;
}

static struct run *free_run(void) {
    for (int i = 0; i < RUNS; i++)
        if (!runs[i].process) return &runs[i];
    return NULL;
}

static int is_under_way(const struct run *run) { return run->process && run->spare < 0; }

static int is_idle(void) {
    for (int i = 0; i < RUNS; i++)
        if (is_under_way(&runs[i])) return 0;
    return 1;
}

static int has_clients(void) {
    for (int i = 0; i < CLIENTS; i++)
        if (clients[i] >= 0) return 1;
    return 0;
}

static void tell_end(struct run *run, int status) {
    if (is_under_way(run)) {
        tell(run->tell, status);
        close(run->tell);
    } else {
        close(run->spare);
    }
    run->process = 0;
}

static void tell_of_ended(void) {
    struct signalfd_siginfo seen;
    while (read(ended, &seen, sizeof seen) > 0) {}
    for (int i = 0; i < RUNS; i++)
        if (is_under_way(&runs[i]) && runs[i].is_done) tell_end(&runs[i], runs[i].status);
    int status, any = 0;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0; any = 1)
        for (int i = 0; i < RUNS; i++)
            if (runs[i].process == process) tell_end(&runs[i], status);
    if (any && listener >= 0 && learn())
        for (int i = 0; i < RUNS; i++)
            if (runs[i].process && !is_under_way(&runs[i])) shutdown(runs[i].spare, SHUT_RDWR);
}

/* The last that runs of a copy: its status is known, its streams are at their ends. */
static void leave(int status, void *nothing) {
    (void)nothing;
    if (getpid() != own_process) return;
    fflush(NULL);
    for (int i = 0; i < 3; i++) close(i);
    own->status = (status & 0xff) << 8;
    __sync_synchronize();
    own->is_done = 1;
    kill(getppid(), SIGCHLD);
    teach();
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
    sigaction(SIGPIPE, &usual_pipe, NULL);
    sigprocmask(SIG_SETMASK, &usual_mask, NULL);
    environ = words + 1;
    if (chdir(words[0])) {
        dprintf(STDERR_FILENO, "%s: %s\n", words[0], strerror(errno));
        _exit(127);
    }
}

/* What a copy does that is to run in the place of this. */
static void become_copy(struct run *run) {
    setpgid(0, 0);
    own = run;
    own_process = getpid();
}

/* Makes a spare copy, if there is to be another. Whether this is it, with the packet to run. */
static int make_spare(int descriptors[DESCRIPTORS]) {
    int count = 0, ends[2];
    for (int i = 0; i < RUNS; i++) count += runs[i].process && !is_under_way(&runs[i]);
    struct run *run = free_run();
    if (count >= SPARES || !run) return 0;
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) return 0;
    *run = (struct run){.spare = ends[0], .tell = -1};
    pid_t process = fork();
    if (process == 0) {
        become_copy(run);
        /* Nothing else of the server's is to be held open while it waits. */
        if (dup2(ends[1], 3) < 0 || syscall(SYS_close_range, 4u, ~0u, 0u)) _exit(1);
        int received;
        do received = receive(3, descriptors);
        while (received < 0 && errno == EINTR);
        if (received <= 0) _exit(0);
        return 1;
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return 0;
    }
    setpgid(process, process);
    run->process = process;
    return 0;
}

/* Starts the run of a packet. Whether this process is the one to run it. */
static int start(int client, int descriptors[DESCRIPTORS]) {
    int to = descriptors[DESCRIPTORS - 1];
    struct run *run = NULL;
    pid_t process = -1;
    if ((packet[0] & TAKE) && is_idle() && listener < 0) {
        tell(to, (int)getpid());
        become_run(descriptors);
        return 1;
    }
    for (int i = 0; i < RUNS && !run; i++)
        if (runs[i].process && !is_under_way(&runs[i]) && hand_on(runs[i].spare, descriptors))
            run = &runs[i];
    if (run) {
        process = run->process;
        close(run->spare);
        run->spare = -1;
        run->client = client;
        run->tell = to;
    } else if ((run = free_run())) {
        *run = (struct run){.spare = -1, .client = client, .tell = to};
        process = fork();
        if (process == 0) {
            become_copy(run);
            become_run(descriptors);
            on_exit(leave, NULL);
            return 1;
        }
    }
    for (int i = 0; i < DESCRIPTORS - 1; i++) close(descriptors[i]);
    if (process < 0) {
        close(to);
        return 0;
    }
    setpgid(process, process);
    run->process = process;
    tell(to, (int)process);
    return 0;
}

static void welcome(void) {
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC), number = 0;
    if (client < 0) return;
    struct ucred peer;
    socklen_t size = sizeof peer;
    int is_own = !getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
    while (number < CLIENTS && clients[number] >= 0) number++;
    int current = is_current();
    if (is_own && number < CLIENTS && current && send(client, "", 1, MSG_NOSIGNAL) == 1)
        clients[number] = client;
    else
        close(client);
    if (!current) stop_listening();
}

/* A client has gone. Nobody waits for what it started. */
static void forget(int client) {
    close(clients[client]);
    clients[client] = -1;
    if (listener < 0) return;
    for (int i = 0; i < RUNS; i++)
        if (is_under_way(&runs[i]) && runs[i].client == client && !runs[i].is_done)
            kill(-runs[i].process, SIGTERM);
}

/* Waits for packets until one is for this process. */
static void serve(void) {
    if (!prepare() || send(clients[0], "", 1, MSG_NOSIGNAL) != 1) _exit(1);
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0) _exit(1);
    if (null > 2) close(null);
    for (;;) {
        int is_alone = !has_clients() && is_idle();
        if (is_alone && listener < 0) break;
        int descriptors[DESCRIPTORS];
        /* While somebody waits for a run, it is to have the processors. */
        for (int i = 0; is_alone && i < SPARES; i++)
            if (make_spare(descriptors)) {
                become_run(descriptors);
                on_exit(leave, NULL);
                return;
            }
        struct pollfd seen[2 + CLIENTS] = {{ended, POLLIN, 0}, {listener, POLLIN, 0}};
        for (int i = 0; i < CLIENTS; i++) seen[2 + i] = (struct pollfd){clients[i], POLLIN, 0};
        int count = poll(seen, 2 + CLIENTS, is_alone ? seconds * 1000 : -1);
        if (count == 0) break;
        if (count < 0 && errno != EINTR) _exit(1);
        if (count < 0) continue;
        if (seen[0].revents) tell_of_ended();
        for (int i = 0; i < CLIENTS; i++) {
            if (!seen[2 + i].revents) continue;
            int received = receive(clients[i], descriptors);
            if (received > 0 && start(i, descriptors)) return;
            if (received == 0) forget(i);
        }
        if (seen[1].revents) welcome();
    }
    stop_listening();
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
        count = word_count - argument_at;
        arguments = words + argument_at;
    }
    return library(program, count, arguments, begin, end, unload, stack);
}
