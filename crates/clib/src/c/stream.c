/* Streams over the host's file descriptors. A FILE is the system's own struct, and its fields have
   their usual meaning: _IO_read_ptr .. _IO_read_end is what can be read from the buffer,
   _IO_write_base .. _IO_write_ptr what is to be written. At most one of the two is not empty.
   The buffer has room in front for characters that are given back. */
#include "internal.h"

enum {
    CAN_READ = 1,
    CAN_WRITE = 2,
    AT_END = 4,
    FAILED = 8,
    LINE_BUFFERED = 16,
    UNBUFFERED = 32,
    APPENDS = 64,
    OWNS_BUFFER = 128,
    IS_STATIC = 256,
    KNOWS_TERMINAL = 512,
};

enum { PUSHED_ROOM = 8, BUFFER_SIZE = 4096 };

static struct _IO_FILE lydian_stderr = {
    ._flags = CAN_WRITE | UNBUFFERED | IS_STATIC | KNOWS_TERMINAL, ._fileno = 2};
static struct _IO_FILE lydian_stdout = {
    ._flags = CAN_WRITE | IS_STATIC, ._fileno = 1, ._chain = &lydian_stderr};
static struct _IO_FILE lydian_stdin = {
    ._flags = CAN_READ | IS_STATIC, ._fileno = 0, ._chain = &lydian_stdout};

FILE *stdin = &lydian_stdin;
FILE *stdout = &lydian_stdout;
FILE *stderr = &lydian_stderr;

/* All streams that are open. */
static FILE *lydian_streams = &lydian_stdin;

/* Gives a stream its buffer. 0 where there is no memory. */
static int has_buffer(FILE *stream) {
    if (stream->_IO_buf_base) return 1;
    char *buffer = malloc(PUSHED_ROOM + BUFFER_SIZE);
    if (!buffer) return 0;
    if (!(stream->_flags & KNOWS_TERMINAL)) {
        stream->_flags |= KNOWS_TERMINAL;
        if ((stream->_flags & CAN_WRITE) && __lydian_isatty(stream->_fileno))
            stream->_flags |= LINE_BUFFERED;
    }
    stream->_flags |= OWNS_BUFFER;
    stream->_IO_buf_base = buffer;
    stream->_IO_buf_end = buffer + PUSHED_ROOM + BUFFER_SIZE;
    stream->_IO_read_ptr = stream->_IO_read_end = buffer + PUSHED_ROOM;
    stream->_IO_write_base = stream->_IO_write_ptr = buffer + PUSHED_ROOM;
    return 1;
}

static int write_all(FILE *stream, const char *bytes, size_t count) {
    while (count) {
        long done = __lydian_write(stream->_fileno, bytes, count);
        if (done <= 0) {
            errno = done ? (int)-done : EIO;
            stream->_flags |= FAILED;
            return EOF;
        }
        bytes += done;
        count -= (size_t)done;
    }
    return 0;
}

static int write_out(FILE *stream) {
    char *from = stream->_IO_write_base;
    size_t count = (size_t)(stream->_IO_write_ptr - from);
    stream->_IO_write_ptr = from;
    return count ? write_all(stream, from, count) : 0;
}

/* Forgets what was read ahead; the descriptor's position is then the stream's. */
static void drop_read_ahead(FILE *stream) {
    long ahead = stream->_IO_read_end - stream->_IO_read_ptr;
    stream->_IO_read_ptr = stream->_IO_read_end = stream->_IO_write_base;
    if (ahead) __lydian_seek(stream->_fileno, -ahead, SEEK_CUR);
}

int fflush(FILE *stream) {
    if (!stream) {
        int result = 0;
        for (FILE *each = lydian_streams; each; each = each->_chain)
            if (write_out(each)) result = EOF;
        return result;
    }
    if (stream->_IO_write_ptr != stream->_IO_write_base) return write_out(stream);
    if (stream->_IO_read_ptr != stream->_IO_read_end) drop_read_ahead(stream);
    return 0;
}

void lydian_flush_all(void) { fflush(NULL); }

/* Reads into the empty buffer. The next character stays in it; EOF at the end. */
int lydian_fill(FILE *stream) {
    if (stream->_IO_read_ptr != stream->_IO_read_end)
        return (unsigned char)*stream->_IO_read_ptr;
    if (!(stream->_flags & CAN_READ)) {
        errno = EBADF;
        stream->_flags |= FAILED;
        return EOF;
    }
    if (!has_buffer(stream)) return EOF;
    if (write_out(stream)) return EOF;
    /* Whoever is asked should see what was written so far. */
    if (stream == stdin) write_out(stdout);
    char *start = stream->_IO_buf_base + PUSHED_ROOM;
    size_t room = (size_t)(stream->_IO_buf_end - start);
    if (stream->_flags & UNBUFFERED) room = 1;
    long got = __lydian_read(stream->_fileno, start, room);
    if (got <= 0) {
        if (got < 0) errno = (int)-got;
        stream->_flags |= got ? FAILED : AT_END;
        return EOF;
    }
    stream->_IO_read_ptr = start;
    stream->_IO_read_end = start + got;
    return (unsigned char)*start;
}

int fgetc(FILE *stream) {
    if (lydian_fill(stream) == EOF) return EOF;
    return (unsigned char)*stream->_IO_read_ptr++;
}

int ungetc(int c, FILE *stream) {
    if (c == EOF || !(stream->_flags & CAN_READ) || !has_buffer(stream)) return EOF;
    if (write_out(stream)) return EOF;
    if (stream->_IO_read_ptr == stream->_IO_buf_base) return EOF;
    *--stream->_IO_read_ptr = (char)c;
    stream->_flags &= ~AT_END;
    return (unsigned char)c;
}

size_t fread(void *to, size_t size, size_t count, FILE *stream) {
    size_t wanted = size * count, done = 0;
    while (done < wanted && lydian_fill(stream) != EOF) {
        size_t ready = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
        if (ready > wanted - done) ready = wanted - done;
        memcpy((char *)to + done, stream->_IO_read_ptr, ready);
        stream->_IO_read_ptr += ready;
        done += ready;
    }
    return wanted ? done / size : 0;
}

/* Makes a stream ready for output. 0 where it cannot be written to. */
static int begin_writing(FILE *stream) {
    if (!(stream->_flags & CAN_WRITE)) {
        errno = EBADF;
        stream->_flags |= FAILED;
        return 0;
    }
    if (!has_buffer(stream)) return 0;
    if (stream->_IO_read_ptr != stream->_IO_read_end) drop_read_ahead(stream);
    return 1;
}

static size_t put_bytes(const char *bytes, size_t count, FILE *stream) {
    if (!count || !begin_writing(stream)) return 0;
    size_t left = count;
    while (left) {
        size_t room = (size_t)(stream->_IO_buf_end - stream->_IO_write_ptr);
        if (room > left) room = left;
        memcpy(stream->_IO_write_ptr, bytes, room);
        stream->_IO_write_ptr += room;
        bytes += room;
        left -= room;
        if (stream->_IO_write_ptr == stream->_IO_buf_end && write_out(stream)) return count - left;
    }
    int flush = (stream->_flags & UNBUFFERED) != 0;
    if (stream->_flags & LINE_BUFFERED) flush = memchr(bytes - count, '\n', count) != NULL;
    if (flush && write_out(stream)) return 0;
    return count;
}

size_t fwrite(const void *from, size_t size, size_t count, FILE *stream) {
    size_t bytes = size * count;
    if (!bytes) return 0;
    return put_bytes(from, bytes, stream) / size;
}

int fputc(int c, FILE *stream) {
    char byte = (char)c;
    int quick = stream->_IO_buf_base && (stream->_flags & CAN_WRITE) &&
                !(stream->_flags & (LINE_BUFFERED | UNBUFFERED)) &&
                stream->_IO_read_ptr == stream->_IO_read_end &&
                stream->_IO_write_ptr + 1 < stream->_IO_buf_end;
    if (quick) {
        *stream->_IO_write_ptr++ = byte;
        return (unsigned char)byte;
    }
    return put_bytes(&byte, 1, stream) == 1 ? (unsigned char)byte : EOF;
}

int fputs(const char *text, FILE *stream) {
    size_t length = strlen(text);
    return put_bytes(text, length, stream) == length ? 1 : EOF;
}

int puts(const char *text) {
    if (fputs(text, stdout) == EOF || fputc('\n', stdout) == EOF) return EOF;
    return (int)strlen(text) + 1;
}

char *fgets(char *to, int size, FILE *stream) {
    if (size <= 0) return NULL;
    char *at = to, *end = to + size - 1;
    while (at < end && lydian_fill(stream) != EOF) {
        size_t ready = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
        if (ready > (size_t)(end - at)) ready = (size_t)(end - at);
        char *line = memchr(stream->_IO_read_ptr, '\n', ready);
        if (line) ready = (size_t)(line - stream->_IO_read_ptr) + 1;
        memcpy(at, stream->_IO_read_ptr, ready);
        stream->_IO_read_ptr += ready;
        at += ready;
        if (line) break;
    }
    if (at == to && end != to) return NULL;
    if (stream->_flags & FAILED) return NULL;
    *at = 0;
    return to;
}

ssize_t getdelim(char **line, size_t *capacity, int delimiter, FILE *stream) {
    size_t length = 0;
    if (!*line) *capacity = 0;
    for (;;) {
        if (length + 2 > *capacity) {
            size_t larger = *capacity < 60 ? 120 : 2 * *capacity;
            char *moved = realloc(*line, larger);
            if (!moved) return -1;
            *line = moved;
            *capacity = larger;
        }
        int c = fgetc(stream);
        if (c == EOF) {
            if (length == 0 || (stream->_flags & FAILED)) return -1;
            break;
        }
        (*line)[length++] = (char)c;
        if (c == delimiter) break;
    }
    (*line)[length] = 0;
    return (ssize_t)length;
}

ssize_t getline(char **line, size_t *capacity, FILE *stream) {
    return getdelim(line, capacity, '\n', stream);
}

/* The flags of open() for a mode such as "r+b"; -1 for one that is none. */
static int open_flags(const char *mode) {
    int plus = 0, flags = 0;
    for (const char *at = mode + (*mode != 0); *at && *at != ','; at++) {
        if (*at == '+') plus = 1;
        if (*at == 'x') flags |= O_EXCL;
        if (*at == 'e') flags |= O_CLOEXEC;
    }
    switch (*mode) {
    case 'r': return flags | (plus ? O_RDWR : O_RDONLY);
    case 'w': return flags | (plus ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
    case 'a': return flags | (plus ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
    default: errno = EINVAL; return -1;
    }
}

static int stream_flags(int flags) {
    int access = flags & O_ACCMODE;
    int result = flags & O_APPEND ? APPENDS : 0;
    if (access != O_WRONLY) result |= CAN_READ;
    if (access != O_RDONLY) result |= CAN_WRITE;
    return result;
}

static FILE *new_stream(int fd, int flags) {
    FILE *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->_flags = stream_flags(flags);
    stream->_fileno = fd;
    stream->_chain = lydian_streams;
    lydian_streams = stream;
    return stream;
}

FILE *fdopen(int fd, const char *mode) {
    int flags = open_flags(mode);
    return flags < 0 ? NULL : new_stream(fd, flags);
}

FILE *fopen(const char *path, const char *mode) {
    int flags = open_flags(mode);
    if (flags < 0) return NULL;
    int fd = (int)lydian_checked(__lydian_open(path, flags, 0666));
    return fd < 0 ? NULL : new_stream(fd, flags);
}

/* Writes what is left and closes the descriptor. */
static int end_stream(FILE *stream) {
    int result = fflush(stream);
    if (lydian_checked(__lydian_close(stream->_fileno)) < 0) result = EOF;
    if (stream->_flags & OWNS_BUFFER) free(stream->_IO_buf_base);
    stream->_IO_buf_base = NULL;
    stream->_IO_read_ptr = stream->_IO_read_end = NULL;
    stream->_IO_write_base = stream->_IO_write_ptr = NULL;
    return result;
}

int fclose(FILE *stream) {
    for (FILE **link = &lydian_streams; *link; link = &(*link)->_chain) {
        if (*link == stream) {
            *link = stream->_chain;
            break;
        }
    }
    int result = end_stream(stream);
    if (!(stream->_flags & IS_STATIC)) free(stream);
    return result;
}

FILE *freopen(const char *path, const char *mode, FILE *stream) {
    int flags = open_flags(mode);
    if (!path || flags < 0) return NULL;
    end_stream(stream);
    int fd = (int)lydian_checked(__lydian_open(path, flags, 0666));
    stream->_flags = (stream->_flags & IS_STATIC) | stream_flags(flags);
    stream->_fileno = fd;
    if (fd < 0) {
        stream->_flags &= IS_STATIC;
        return NULL;
    }
    return stream;
}

FILE *tmpfile(void) {
    static unsigned number;
    char path[40];
    for (int tries = 0; tries < 1000; tries++) {
        snprintf(path, sizeof path, "/tmp/lydian-%lx-%u", (unsigned long)__lydian_time(), number++);
        FILE *stream = fopen(path, "w+x");
        if (stream) {
            __lydian_remove(path);
            return stream;
        }
    }
    return NULL;
}

char *tmpnam(char *to) {
    static unsigned number;
    static char own[L_tmpnam];
    if (!to) to = own;
    snprintf(to, L_tmpnam, "/tmp/lyd%u", number++);
    return to;
}

int setvbuf(FILE *stream, char *buffer, int mode, size_t size) {
    if (mode != _IOFBF && mode != _IOLBF && mode != _IONBF) return -1;
    stream->_flags &= ~(LINE_BUFFERED | UNBUFFERED);
    stream->_flags |= KNOWS_TERMINAL;
    if (mode == _IOLBF) stream->_flags |= LINE_BUFFERED;
    if (mode == _IONBF) stream->_flags |= UNBUFFERED;
    int in_use = stream->_IO_read_ptr != stream->_IO_read_end ||
                 stream->_IO_write_ptr != stream->_IO_write_base;
    if (buffer && size > 4 * PUSHED_ROOM && !in_use) {
        if (stream->_flags & OWNS_BUFFER) free(stream->_IO_buf_base);
        stream->_flags &= ~OWNS_BUFFER;
        stream->_IO_buf_base = buffer;
        stream->_IO_buf_end = buffer + size;
        stream->_IO_read_ptr = stream->_IO_read_end = buffer + PUSHED_ROOM;
        stream->_IO_write_base = stream->_IO_write_ptr = buffer + PUSHED_ROOM;
    }
    return 0;
}

void setbuf(FILE *stream, char *buffer) {
    setvbuf(stream, buffer, buffer ? _IOFBF : _IONBF, BUFSIZ);
}
void setbuffer(FILE *stream, char *buffer, size_t size) {
    setvbuf(stream, buffer, buffer ? _IOFBF : _IONBF, size);
}
void setlinebuf(FILE *stream) { setvbuf(stream, NULL, _IOLBF, 0); }

int fseek(FILE *stream, long offset, int whence) {
    if (write_out(stream)) return -1;
    if (whence == SEEK_CUR) offset -= stream->_IO_read_end - stream->_IO_read_ptr;
    stream->_IO_read_ptr = stream->_IO_read_end;
    stream->_flags &= ~AT_END;
    return lydian_checked(__lydian_seek(stream->_fileno, offset, whence)) < 0 ? -1 : 0;
}

long ftell(FILE *stream) {
    /* What is to be appended is written first, as only then its place is known. */
    if ((stream->_flags & APPENDS) && write_out(stream)) return -1;
    long at = lydian_checked(__lydian_seek(stream->_fileno, 0, SEEK_CUR));
    if (at < 0) return -1;
    return at - (stream->_IO_read_end - stream->_IO_read_ptr) +
           (stream->_IO_write_ptr - stream->_IO_write_base);
}

int fseeko(FILE *stream, off_t offset, int whence) { return fseek(stream, offset, whence); }
off_t ftello(FILE *stream) { return ftell(stream); }

void rewind(FILE *stream) {
    fseek(stream, 0, SEEK_SET);
    stream->_flags &= ~FAILED;
}

int fgetpos(FILE *stream, fpos_t *position) {
    long at = ftell(stream);
    if (at < 0) return -1;
    position->__pos = at;
    return 0;
}
int fsetpos(FILE *stream, const fpos_t *position) {
    return fseek(stream, position->__pos, SEEK_SET);
}

int feof(FILE *stream) { return (stream->_flags & AT_END) != 0; }
int ferror(FILE *stream) { return (stream->_flags & FAILED) != 0; }
void clearerr(FILE *stream) { stream->_flags &= ~(AT_END | FAILED); }
int fileno(FILE *stream) { return stream->_fileno; }

int getc(FILE *stream) { return fgetc(stream); }
int getchar(void) { return fgetc(stdin); }
int putc(int c, FILE *stream) { return fputc(c, stream); }
int putchar(int c) { return fputc(c, stdout); }
int getw(FILE *stream) {
    int word;
    return fread(&word, sizeof word, 1, stream) == 1 ? word : EOF;
}
int putw(int word, FILE *stream) { return fwrite(&word, sizeof word, 1, stream) == 1 ? 0 : EOF; }

int remove(const char *path) { return (int)lydian_checked(__lydian_remove(path)); }
int rename(const char *from, const char *to) {
    return (int)lydian_checked(__lydian_rename(from, to));
}

/* There is one thread, so locks are always free. */
void flockfile(FILE *stream) { (void)stream; }
void funlockfile(FILE *stream) { (void)stream; }
int ftrylockfile(FILE *stream) { (void)stream; return 0; }
int fgetc_unlocked(FILE *stream) { return fgetc(stream); }
int getc_unlocked(FILE *stream) { return fgetc(stream); }
int getchar_unlocked(void) { return fgetc(stdin); }
int fputc_unlocked(int c, FILE *stream) { return fputc(c, stream); }
int putc_unlocked(int c, FILE *stream) { return fputc(c, stream); }
int putchar_unlocked(int c) { return fputc(c, stdout); }
char *fgets_unlocked(char *to, int size, FILE *stream) { return fgets(to, size, stream); }
int fputs_unlocked(const char *text, FILE *stream) { return fputs(text, stream); }
size_t fread_unlocked(void *to, size_t size, size_t count, FILE *stream) {
    return fread(to, size, count, stream);
}
size_t fwrite_unlocked(const void *from, size_t size, size_t count, FILE *stream) {
    return fwrite(from, size, count, stream);
}
int fflush_unlocked(FILE *stream) { return fflush(stream); }
int feof_unlocked(FILE *stream) { return feof(stream); }
int ferror_unlocked(FILE *stream) { return ferror(stream); }
void clearerr_unlocked(FILE *stream) { clearerr(stream); }

/* What the system's headers make of getc and putc. */
int __uflow(FILE *stream) { return fgetc(stream); }
int __overflow(FILE *stream, int c) { return fputc(c, stream); }
int _IO_getc(FILE *stream) { return fgetc(stream); }
int _IO_putc(int c, FILE *stream) { return fputc(c, stream); }

FILE *popen(const char *command, const char *mode) {
    (void)command;
    (void)mode;
    errno = ENOSYS;
    return NULL;
}
int pclose(FILE *stream) {
    (void)stream;
    errno = ECHILD;
    return -1;
}

void perror(const char *what) {
    const char *text = strerror(errno);
    if (what && *what) {
        fputs(what, stderr);
        fputs(": ", stderr);
    }
    fputs(text, stderr);
    fputc('\n', stderr);
}
