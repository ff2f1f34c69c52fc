/* The functions on strings and memory that have no model of their own. */
#include "internal.h"
#undef strdupa
#undef basename

char *strtok_r(char *text, const char *separators, char **rest) {
    if (!text) text = *rest;
    text += strspn(text, separators);
    if (!*text) {
        *rest = text;
        return NULL;
    }
    char *end = text + strcspn(text, separators);
    if (*end) *end++ = 0;
    *rest = end;
    return text;
}
char *__strtok_r(char *text, const char *separators, char **rest) {
    return strtok_r(text, separators, rest);
}
char *strtok(char *text, const char *separators) {
    static char *rest;
    return strtok_r(text, separators, &rest);
}
char *strsep(char **text, const char *separators) {
    char *start = *text;
    if (!start) return NULL;
    char *end = start + strcspn(start, separators);
    *text = *end ? end + 1 : NULL;
    *end = 0;
    return start;
}

/* The C locale orders by bytes. */
int strcoll(const char *a, const char *b) { return strcmp(a, b); }
size_t strxfrm(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size) {
        size_t kept = length < size ? length + 1 : size;
        memcpy(to, from, kept);
    }
    return length;
}

void *mempcpy(void *to, const void *from, size_t count) {
    memcpy(to, from, count);
    return (char *)to + count;
}
void *memccpy(void *to, const void *from, int c, size_t count) {
    const char *found = memchr(from, c, count);
    if (!found) {
        memcpy(to, from, count);
        return NULL;
    }
    size_t length = (size_t)(found - (const char *)from) + 1;
    memcpy(to, from, length);
    return (char *)to + length;
}
void *memrchr(const void *bytes, int c, size_t count) {
    const unsigned char *at = (const unsigned char *)bytes + count;
    while (count--)
        if (*--at == (unsigned char)c) return (void *)at;
    return NULL;
}
void *rawmemchr(const void *bytes, int c) {
    const unsigned char *at = bytes;
    while (*at != (unsigned char)c) at++;
    return (void *)at;
}
void *memmem(const void *in, size_t in_length, const void *what, size_t length) {
    const char *at = in;
    if (!length) return (void *)in;
    while (in_length >= length) {
        const char *found = memchr(at, *(const char *)what, in_length - length + 1);
        if (!found) return NULL;
        if (!memcmp(found, what, length)) return (void *)found;
        in_length -= (size_t)(found + 1 - at);
        at = found + 1;
    }
    return NULL;
}
char *strchrnul(const char *text, int c) {
    while (*text && *text != (char)c) text++;
    return (char *)text;
}
char *strcasestr(const char *in, const char *what) {
    size_t length = strlen(what);
    for (;; in++) {
        if (!strncasecmp(in, what, length)) return (char *)in;
        if (!*in) return NULL;
    }
}
char *stpncpy(char *to, const char *from, size_t count) {
    size_t length = strnlen(from, count);
    memcpy(to, from, length);
    memset(to + length, 0, count - length);
    return to + length;
}
size_t strlcpy(char *to, const char *from, size_t size) {
    size_t length = strlen(from);
    if (size) {
        size_t kept = length < size ? length : size - 1;
        memcpy(to, from, kept);
        to[kept] = 0;
    }
    return length;
}
size_t strlcat(char *to, const char *from, size_t size) {
    size_t before = strnlen(to, size);
    return before == size ? size + strlen(from) : before + strlcpy(to + before, from, size - before);
}
char *index(const char *text, int c) { return strchr(text, c); }
char *rindex(const char *text, int c) { return strrchr(text, c); }
void bcopy(const void *from, void *to, size_t count) { memmove(to, from, count); }
void bzero(void *to, size_t count) { memset(to, 0, count); }
void explicit_bzero(void *to, size_t count) { memset(to, 0, count); }
void swab(const void *from, void *to, ssize_t count) {
    const char *a = from;
    char *b = to;
    for (; count > 1; count -= 2, a += 2, b += 2) {
        char first = a[0];
        b[0] = a[1];
        b[1] = first;
    }
}

static int is_digit(int c) { return c >= '0' && c <= '9'; }

/* Digits count as numbers, and those with zeros in front as fractions. */
int strverscmp(const char *a, const char *b) {
    size_t i = 0, run = 0;
    int zeros = 1;
    for (; a[i] == b[i]; i++) {
        if (!a[i]) return 0;
        if (!is_digit(a[i])) {
            run = i + 1;
            zeros = 1;
        } else if (a[i] != '0') {
            zeros = 0;
        }
    }
    size_t k = i;
    if (run < i || (is_digit(a[i]) && is_digit(b[i]))) {
        int starts_with_zero = run < i ? a[run] == '0' : a[i] == '0' || b[i] == '0';
        if (!starts_with_zero) {
            while (is_digit(a[k]) && is_digit(b[k])) k++;
            if (is_digit(a[k])) return 1;
            if (is_digit(b[k])) return -1;
        } else if (zeros && run < i && (is_digit(a[i]) || is_digit(b[i]))) {
            return (unsigned char)(a[i] - '0') - (unsigned char)(b[i] - '0');
        }
    }
    return (unsigned char)a[i] - (unsigned char)b[i];
}

/* The texts of errors, by number. */
static const char *const error_texts[] = {
    "Success", "Operation not permitted", "No such file or directory", "No such process",
    "Interrupted system call", "Input/output error", "No such device or address",
    "Argument list too long", "Exec format error", "Bad file descriptor", "No child processes",
    "Resource temporarily unavailable", "Cannot allocate memory", "Permission denied",
    "Bad address", "Block device required", "Device or resource busy", "File exists",
    "Invalid cross-device link", "No such device", "Not a directory", "Is a directory",
    "Invalid argument", "Too many open files in system", "Too many open files",
    "Inappropriate ioctl for device", "Text file busy", "File too large",
    "No space left on device", "Illegal seek", "Read-only file system", "Too many links",
    "Broken pipe", "Numerical argument out of domain", "Numerical result out of range",
    "Resource deadlock avoided", "File name too long", "No locks available",
    "Function not implemented", "Directory not empty", "Too many levels of symbolic links"};

char *strerror(int number) {
    static char unknown[40];
    if (number >= 0 && (size_t)number < sizeof error_texts / sizeof *error_texts)
        return (char *)error_texts[number];
    switch (number) {
    case ENOMSG: return "No message of desired type";
    case EBADMSG: return "Bad message";
    case EOVERFLOW: return "Value too large for defined data type";
    case EILSEQ: return "Invalid or incomplete multibyte or wide character";
    case ENOTSUP: return "Operation not supported";
    case ETIMEDOUT: return "Connection timed out";
    case ECONNREFUSED: return "Connection refused";
    case EINPROGRESS: return "Operation now in progress";
    }
    snprintf(unknown, sizeof unknown, "Unknown error %d", number);
    return unknown;
}
/* The form of the GNU library, which _GNU_SOURCE declares. */
char *strerror_r(int number, char *buffer, size_t size) {
    (void)buffer;
    (void)size;
    return strerror(number);
}
int __xpg_strerror_r(int number, char *buffer, size_t size) {
    strlcpy(buffer, strerror(number), size);
    return 0;
}
char *strsignal(int number) {
    static char text[30];
    snprintf(text, sizeof text, "Signal %d", number);
    return text;
}

char *basename(const char *path) {
    char *slash = strrchr(path, '/');
    return slash ? slash + 1 : (char *)path;
}
