/* Wide characters in the C locale: each byte of ASCII is one character, others are none. */
#include "internal.h"
#include <wctype.h>

size_t wcslen(const wchar_t *text) {
    size_t length = 0;
    while (text[length]) length++;
    return length;
}
size_t wcsnlen(const wchar_t *text, size_t most) {
    size_t length = 0;
    while (length < most && text[length]) length++;
    return length;
}
wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t count) {
    return memcpy(to, from, count * sizeof(wchar_t));
}
wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t count) {
    return memmove(to, from, count * sizeof(wchar_t));
}
wchar_t *wmemset(wchar_t *to, wchar_t c, size_t count) {
    for (size_t i = 0; i < count; i++) to[i] = c;
    return to;
}
int wmemcmp(const wchar_t *a, const wchar_t *b, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}
wchar_t *wmemchr(const wchar_t *text, wchar_t c, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (text[i] == c) return (wchar_t *)text + i;
    return NULL;
}
wchar_t *wcscpy(wchar_t *to, const wchar_t *from) { return wmemcpy(to, from, wcslen(from) + 1); }
wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t count) {
    size_t length = wcsnlen(from, count);
    wmemcpy(to, from, length);
    wmemset(to + length, 0, count - length);
    return to;
}
wchar_t *wcscat(wchar_t *to, const wchar_t *from) {
    wcscpy(to + wcslen(to), from);
    return to;
}
wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t count) {
    wchar_t *end = to + wcslen(to);
    size_t length = wcsnlen(from, count);
    wmemcpy(end, from, length);
    end[length] = 0;
    return to;
}
int wcsncmp(const wchar_t *a, const wchar_t *b, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
        if (!a[i]) return 0;
    }
    return 0;
}
int wcscmp(const wchar_t *a, const wchar_t *b) { return wcsncmp(a, b, SIZE_MAX); }
int wcscoll(const wchar_t *a, const wchar_t *b) { return wcscmp(a, b); }
wchar_t *wcschr(const wchar_t *text, wchar_t c) {
    for (;; text++) {
        if (*text == c) return (wchar_t *)text;
        if (!*text) return NULL;
    }
}
wchar_t *wcsrchr(const wchar_t *text, wchar_t c) {
    const wchar_t *last = NULL;
    do
        if (*text == c) last = text;
    while (*text++);
    return (wchar_t *)last;
}
wchar_t *wcsstr(const wchar_t *in, const wchar_t *what) {
    size_t length = wcslen(what);
    for (;; in++) {
        if (!wcsncmp(in, what, length)) return (wchar_t *)in;
        if (!*in) return NULL;
    }
}
size_t wcsspn(const wchar_t *text, const wchar_t *set) {
    size_t length = 0;
    while (text[length] && wcschr(set, text[length])) length++;
    return length;
}
size_t wcscspn(const wchar_t *text, const wchar_t *set) {
    size_t length = 0;
    while (text[length] && !wcschr(set, text[length])) length++;
    return length;
}
wchar_t *wcspbrk(const wchar_t *text, const wchar_t *set) {
    text += wcscspn(text, set);
    return *text ? (wchar_t *)text : NULL;
}
wchar_t *wcsdup(const wchar_t *text) {
    size_t length = wcslen(text) + 1;
    wchar_t *copy = malloc(length * sizeof(wchar_t));
    return copy ? wmemcpy(copy, text, length) : NULL;
}

size_t mbrtowc(wchar_t *to, const char *from, size_t count, mbstate_t *state) {
    (void)state;
    if (!from) return 0;
    if (!count) return (size_t)-2;
    unsigned char byte = (unsigned char)*from;
    if (byte > 127) {
        errno = EILSEQ;
        return (size_t)-1;
    }
    if (to) *to = byte;
    return byte != 0;
}
size_t mbrlen(const char *from, size_t count, mbstate_t *state) {
    return mbrtowc(NULL, from, count, state);
}
int mbtowc(wchar_t *to, const char *from, size_t count) {
    return (int)mbrtowc(to, from, count, NULL);
}
int mblen(const char *from, size_t count) { return mbtowc(NULL, from, count); }
size_t wcrtomb(char *to, wchar_t c, mbstate_t *state) {
    (void)state;
    if (!to) return 1;
    if ((unsigned)c > 127) {
        errno = EILSEQ;
        return (size_t)-1;
    }
    *to = (char)c;
    return 1;
}
int wctomb(char *to, wchar_t c) { return to ? (int)wcrtomb(to, c, NULL) : 0; }
int mbsinit(const mbstate_t *state) {
    (void)state;
    return 1;
}
size_t __ctype_get_mb_cur_max(void) { return 1; }
wint_t btowc(int c) { return c >= 0 && c <= 127 ? (wint_t)c : WEOF; }
int wctob(wint_t c) { return c <= 127 ? (int)c : EOF; }

size_t mbsrtowcs(wchar_t *to, const char **from, size_t count, mbstate_t *state) {
    (void)state;
    const char *at = *from;
    for (size_t done = 0;; done++, at++) {
        if (to && done == count) {
            *from = at;
            return done;
        }
        unsigned char byte = (unsigned char)*at;
        if (byte > 127) {
            errno = EILSEQ;
            return (size_t)-1;
        }
        if (to) to[done] = byte;
        if (!byte) {
            if (to) *from = NULL;
            return done;
        }
    }
}
size_t mbstowcs(wchar_t *to, const char *from, size_t count) {
    return mbsrtowcs(to, &from, count, NULL);
}
size_t wcsrtombs(char *to, const wchar_t **from, size_t count, mbstate_t *state) {
    (void)state;
    const wchar_t *at = *from;
    for (size_t done = 0;; done++, at++) {
        if (to && done == count) {
            *from = at;
            return done;
        }
        if ((unsigned)*at > 127) {
            errno = EILSEQ;
            return (size_t)-1;
        }
        if (to) to[done] = (char)*at;
        if (!*at) {
            if (to) *from = NULL;
            return done;
        }
    }
}
size_t wcstombs(char *to, const wchar_t *from, size_t count) {
    return wcsrtombs(to, &from, count, NULL);
}

static int is_ascii(wint_t c) { return c <= 127; }
#include <ctype.h>
#define WIDE_CLASS(name) \
    int isw##name(wint_t c) { return is_ascii(c) && (is##name)((int)c); }
WIDE_CLASS(alnum)
WIDE_CLASS(alpha)
WIDE_CLASS(blank)
WIDE_CLASS(cntrl)
WIDE_CLASS(digit)
WIDE_CLASS(graph)
WIDE_CLASS(lower)
WIDE_CLASS(print)
WIDE_CLASS(punct)
WIDE_CLASS(space)
WIDE_CLASS(upper)
WIDE_CLASS(xdigit)
wint_t towlower(wint_t c) { return is_ascii(c) ? (wint_t)(tolower)((int)c) : c; }
wint_t towupper(wint_t c) { return is_ascii(c) ? (wint_t)(toupper)((int)c) : c; }

/* The digits of a wide number as bytes; what is no ASCII ends them. */
static size_t narrow(char *to, const wchar_t *from, size_t size) {
    size_t length = 0;
    while (length + 1 < size && from[length] && (unsigned)from[length] <= 127) {
        to[length] = (char)from[length];
        length++;
    }
    to[length] = 0;
    return length;
}
enum { LONGEST_NUMBER = 900 };
#define FROM_WIDE(type, name, plain)                                 \
    type name(const wchar_t *text, wchar_t **end, int base) {        \
        char bytes[LONGEST_NUMBER], *stop = NULL;                    \
        narrow(bytes, text, sizeof bytes);                           \
        type result = plain(bytes, &stop, base);                     \
        if (end && stop) *end = (wchar_t *)text + (stop - bytes);    \
        return result;                                               \
    }
FROM_WIDE(long, wcstol, strtol)
FROM_WIDE(long long, wcstoll, strtoll)
FROM_WIDE(unsigned long, wcstoul, strtoul)
FROM_WIDE(unsigned long long, wcstoull, strtoull)
double wcstod(const wchar_t *text, wchar_t **end) {
    char bytes[LONGEST_NUMBER], *stop;
    narrow(bytes, text, sizeof bytes);
    double result = strtod(bytes, &stop);
    if (end) *end = (wchar_t *)text + (stop - bytes);
    return result;
}

wint_t fputwc(wchar_t c, FILE *stream) {
    if ((unsigned)c > 127) {
        errno = EILSEQ;
        return WEOF;
    }
    return fputc(c, stream) == EOF ? WEOF : (wint_t)c;
}
wint_t putwc(wchar_t c, FILE *stream) { return fputwc(c, stream); }
wint_t putwchar(wchar_t c) { return fputwc(c, stdout); }
wint_t fgetwc(FILE *stream) {
    int c = fgetc(stream);
    return c == EOF || c > 127 ? WEOF : (wint_t)c;
}
wint_t getwc(FILE *stream) { return fgetwc(stream); }
wint_t getwchar(void) { return fgetwc(stdin); }
int fputws(const wchar_t *text, FILE *stream) {
    for (; *text; text++)
        if (fputwc(*text, stream) == WEOF) return -1;
    return 1;
}
int fwide(FILE *stream, int mode) {
    (void)stream;
    return mode;
}
