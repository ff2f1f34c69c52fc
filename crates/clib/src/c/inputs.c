/* Standard input and small files whose bytes are inputs: what explorations link in the place of
   stream.c. LYDIAN_STDIN and LYDIAN_FILE are how many bytes they have at most, LYDIAN_FILES is how
   many files there are: `A`, `B` and so on. Each byte is the result of a function that nobody
   defines, asked for when it is read for the first time: from 0 to 255, or -1 at the end. No other
   file exists. What is written to files is not kept.

   A stream takes all that its descriptor has left when it is first read, as glibc's do with files
   that are smaller than their buffers. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LYDIAN_MOST (LYDIAN_STDIN > LYDIAN_FILE ? LYDIAN_STDIN : LYDIAN_FILE)

extern void __VERIFIER_assume(int);

#define LYDIAN_GIVES(name) extern int lydian_input_##name(void);
LYDIAN_EACH(LYDIAN_GIVES)

enum { OPEN_AT_ONCE = 16, NO_FILE = -1 };

/* What is known of each file so far; standard input is number 0. */
static unsigned char known[LYDIAN_FILES + 1][LYDIAN_MOST + 1];
static int count[LYDIAN_FILES + 1];
static int ended[LYDIAN_FILES + 1];

/* What is open, by descriptor. */
static struct {
    int open;
    /* NO_FILE: it can only be written to. */
    int file;
    /* Where the descriptor and the stream read next. */
    int at, stream_at;
    /* Whether the stream took what the descriptor had. */
    int filled;
    int pushed, has_pushed;
    int at_end;
} opened[OPEN_AT_ONCE] = {{1, 0}, {1, NO_FILE}, {1, NO_FILE}};

static struct _IO_FILE streams[OPEN_AT_ONCE] = {{._fileno = 0}, {._fileno = 1}, {._fileno = 2}};
FILE *stdin = &streams[0];
FILE *stdout = &streams[1];
FILE *stderr = &streams[2];

static int next_of(int file) {
    int number = 0;
#define LYDIAN_ASK(name) \
    if (file == number++) return lydian_input_##name();
    LYDIAN_EACH(LYDIAN_ASK)
    return -1;
}

/* The byte of a file at a place; -1 at its end. */
static int byte_at(int file, int at) {
    if (at < count[file]) return known[file][at];
    if (at > count[file] && byte_at(file, at - 1) < 0) return -1;
    if (ended[file] || count[file] >= (file ? LYDIAN_FILE : LYDIAN_STDIN)) return -1;
    int c = next_of(file);
    __VERIFIER_assume(c >= -1 && c <= 255);
    if (c < 0) {
        ended[file] = 1;
        return -1;
    }
    known[file][count[file]++] = (unsigned char)c;
    return c;
}

static int size_of(int file) {
    int at = 0;
    while (byte_at(file, at) >= 0) at++;
    return at;
}

/* ---- descriptors --------------------------------------------------------------------------- */

static int is_open(int fd) { return fd >= 0 && fd < OPEN_AT_ONCE && opened[fd].open; }

int open(const char *path, int flags, ...) {
    int file = path[0] - 'A' + 1;
    int exists = file >= 1 && file <= LYDIAN_FILES && path[0] && !path[1];
    if (!path[0] || strchr(path, '/')) {
        errno = ENOENT;
        return -1;
    }
    if (!exists && !(flags & O_CREAT)) {
        errno = ENOENT;
        return -1;
    }
    if (exists && (flags & O_CREAT) && (flags & O_EXCL)) {
        errno = EEXIST;
        return -1;
    }
    for (int fd = 0; fd < OPEN_AT_ONCE; fd++) {
        if (opened[fd].open) continue;
        int reads = exists && (flags & O_ACCMODE) != O_WRONLY && !(flags & O_TRUNC);
        memset(&opened[fd], 0, sizeof opened[fd]);
        opened[fd].open = 1;
        opened[fd].file = reads ? file : NO_FILE;
        return fd;
    }
    errno = EMFILE;
    return -1;
}

int close(int fd) {
    if (!is_open(fd)) {
        errno = EBADF;
        return -1;
    }
    opened[fd].open = 0;
    return 0;
}

ssize_t read(int fd, void *to, size_t wanted) {
    if (!is_open(fd) || opened[fd].file == NO_FILE) {
        errno = EBADF;
        return -1;
    }
    size_t done = 0;
    while (done < wanted && !opened[fd].filled) {
        int c = byte_at(opened[fd].file, opened[fd].at);
        if (c < 0) break;
        opened[fd].at++;
        ((unsigned char *)to)[done++] = (unsigned char)c;
    }
    return (ssize_t)done;
}

/* ---- streams ------------------------------------------------------------------------------- */

FILE *fopen(const char *path, const char *mode) {
    int flags = mode[0] == 'r' ? O_RDONLY : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
                                                            : O_WRONLY | O_CREAT | O_APPEND;
    if (mode[0] != 'r' && mode[0] != 'w' && mode[0] != 'a') {
        errno = EINVAL;
        return NULL;
    }
    int fd = open(path, flags, 0666);
    if (fd < 0) return NULL;
    streams[fd]._fileno = fd;
    return &streams[fd];
}

FILE *fdopen(int fd, const char *mode) {
    (void)mode;
    if (!is_open(fd)) {
        errno = EBADF;
        return NULL;
    }
    streams[fd]._fileno = fd;
    return &streams[fd];
}

int fclose(FILE *stream) { return close(stream->_fileno) < 0 ? EOF : 0; }
int fileno(FILE *stream) { return stream->_fileno; }
int feof(FILE *stream) { return opened[stream->_fileno].at_end; }
int ferror(FILE *stream) { return (void)stream, 0; }
void clearerr(FILE *stream) { opened[stream->_fileno].at_end = 0; }

int fgetc(FILE *stream) {
    int fd = stream->_fileno;
    if (opened[fd].has_pushed) {
        opened[fd].has_pushed = 0;
        return opened[fd].pushed;
    }
    if (opened[fd].file == NO_FILE) return EOF;
    if (!opened[fd].filled) {
        opened[fd].filled = 1;
        opened[fd].stream_at = opened[fd].at;
    }
    /* A stream that was at its end stays there. */
    int c = opened[fd].at_end ? -1 : byte_at(opened[fd].file, opened[fd].stream_at);
    if (c < 0) {
        opened[fd].at_end = 1;
        return EOF;
    }
    opened[fd].stream_at++;
    return c;
}

int getc(FILE *stream) { return fgetc(stream); }
int _IO_getc(FILE *stream) { return fgetc(stream); }
int getc_unlocked(FILE *stream) { return fgetc(stream); }
int fgetc_unlocked(FILE *stream) { return fgetc(stream); }
int getchar(void) { return fgetc(stdin); }
int getchar_unlocked(void) { return fgetc(stdin); }

int ungetc(int c, FILE *stream) {
    int fd = stream->_fileno;
    if (c == EOF || opened[fd].has_pushed) return EOF;
    opened[fd].has_pushed = 1;
    opened[fd].pushed = (unsigned char)c;
    opened[fd].at_end = 0;
    return (unsigned char)c;
}

char *fgets(char *to, int size, FILE *stream) {
    int done = 0;
    if (size <= 0) return NULL;
    while (done < size - 1) {
        int c = fgetc(stream);
        if (c == EOF) break;
        to[done++] = (char)c;
        if (c == '\n') break;
    }
    if (done == 0 && size > 1) return NULL;
    to[done] = 0;
    return to;
}

size_t fread(void *to, size_t size, size_t items, FILE *stream) {
    size_t done = 0, wanted = size * items;
    while (done < wanted) {
        int c = fgetc(stream);
        if (c == EOF) break;
        ((unsigned char *)to)[done++] = (unsigned char)c;
    }
    return size ? done / size : 0;
}

long ftell(FILE *stream) {
    int fd = stream->_fileno;
    return (opened[fd].filled ? opened[fd].stream_at : opened[fd].at) - opened[fd].has_pushed;
}

int fseek(FILE *stream, long offset, int whence) {
    int fd = stream->_fileno;
    if (opened[fd].file == NO_FILE) return 0;
    long base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? ftell(stream) : size_of(opened[fd].file);
    if (base + offset < 0) {
        errno = EINVAL;
        return -1;
    }
    opened[fd].filled = 1;
    opened[fd].stream_at = (int)(base + offset);
    opened[fd].has_pushed = opened[fd].at_end = 0;
    return 0;
}

void rewind(FILE *stream) { fseek(stream, 0, SEEK_SET); }
