/* Formatted input: the scanf family. */
#include "internal.h"

/* The last is `long long` too. */
enum scan_length { SCAN_PLAIN, SCAN_CHAR, SCAN_SHORT, SCAN_LONG, SCAN_LONG_DOUBLE };

struct scan_directive {
    int suppress;
    int allocate;
    size_t width;
    enum scan_length length;
    /* The set of %[. */
    const char *set;
    const char *set_end;
    int excluded;
};

/* In long_double.c. */
void lydian_store_long_double(void *to, struct lydian_float parts);
float lydian_assemble_float(struct lydian_float parts);

static void store_integer(const struct scan_directive *d, void *to, uint64_t value) {
    switch (d->length) {
    case SCAN_CHAR: *(unsigned char *)to = (unsigned char)value; break;
    case SCAN_SHORT: *(unsigned short *)to = (unsigned short)value; break;
    case SCAN_PLAIN: *(unsigned *)to = (unsigned)value; break;
    case SCAN_LONG: *(unsigned long *)to = (unsigned long)value; break;
    default: *(unsigned long long *)to = value; break;
    }
}

/* What does not fit a `long`, or a `long long`, becomes the nearest number of that type, and sets
   `errno`, as the system's library does. */
static uint64_t nearest_number(struct lydian_integer x, int is_long, int is_signed) {
    uint64_t most = is_signed ? (is_long ? LONG_MAX : LLONG_MAX) : (is_long ? ULONG_MAX : ULLONG_MAX);
    int may_be_beyond = most < INT64_MAX || x.is_long;
    if (may_be_beyond && (x.too_large || x.magnitude > most + (is_signed && x.negative))) {
        errno = ERANGE;
        return is_signed && x.negative ? ~most : most;
    }
    return x.negative ? -x.magnitude : x.magnitude;
}

/* 1: converted; 0: what is there does not match; -1: nothing is there. As the system's library does,
   a number that breaks off (`0x`, `1e`) is taken for what comes before. */
static int scan_integer(struct lydian_source *in, const struct scan_directive *d, int base,
                        int is_signed, void *to) {
    size_t accepted = 0;
    struct lydian_integer x = lydian_read_integer(in, base, &accepted);
    if (!accepted) return 0;
    uint64_t value = nearest_number(x, d->length != SCAN_LONG_DOUBLE, is_signed);
    if (to) store_integer(d, to, value);
    return 1;
}

static int scan_float(struct lydian_source *in, const struct scan_directive *d, void *to) {
    int range_error = 0;
    size_t accepted = 0;
    const struct lydian_format *format = d->length == SCAN_LONG          ? &lydian_double_format
                                         : d->length == SCAN_LONG_DOUBLE ? &lydian_long_double_format
                                                                         : &lydian_float_format;
    struct lydian_float x = lydian_read_float(in, format, &range_error, &accepted);
    if (!accepted || range_error == LYDIAN_BROKEN_OFF) return 0;
    if (range_error > 0) errno = ERANGE;
    if (!to) return 1;
    if (d->length == SCAN_LONG)
        *(double *)to = lydian_assemble_double(x);
    else if (d->length == SCAN_LONG_DOUBLE)
        lydian_store_long_double(to, x);
    else
        *(float *)to = lydian_assemble_float(x);
    return 1;
}

static int in_set(const struct scan_directive *d, int c) {
    for (const char *at = d->set; at < d->set_end; at++) {
        int low = (unsigned char)*at, high = low;
        if (at + 2 < d->set_end && at[1] == '-') {
            high = (unsigned char)at[2];
            at += 2;
        }
        if (c >= low && c <= high) return !d->excluded;
    }
    return d->excluded;
}

/* Where characters go: to the caller's array, or to one that grows. */
struct characters {
    char *bytes;
    wchar_t *wide;
    size_t count, capacity;
    int grows;
};

static int add_character(struct characters *to, int c) {
    if (to->grows && to->count + 1 >= to->capacity) {
        size_t capacity = 2 * to->capacity + 32;
        size_t size = to->wide ? sizeof(wchar_t) : 1;
        void *moved = realloc(to->wide ? (void *)to->wide : to->bytes, capacity * size);
        if (!moved) return 0;
        if (to->wide)
            to->wide = moved;
        else
            to->bytes = moved;
        to->capacity = capacity;
    }
    if (to->wide) to->wide[to->count] = c;
    if (to->bytes) to->bytes[to->count] = (char)c;
    to->count++;
    return 1;
}

/* %c, %s and %[. */
static int scan_characters(struct lydian_source *in, const struct scan_directive *d, char conversion,
                           void *target) {
    struct characters to = {NULL, NULL, 0, 0, d->allocate && target};
    int is_wide = d->length == SCAN_LONG;
    if (to.grows) {
        void *room = malloc(32 * (is_wide ? sizeof(wchar_t) : 1));
        if (!room) return 0;
        to.capacity = 32;
        if (is_wide)
            to.wide = room;
        else
            to.bytes = room;
    } else if (is_wide) {
        to.wide = target;
    } else {
        to.bytes = target;
    }
    size_t width = d->width ? d->width : conversion == 'c' ? 1 : SIZE_MAX;
    size_t read = 0;
    int ended = 0;
    while (read < width) {
        int c = lydian_get(in);
        if (c == EOF) {
            ended = 1;
            break;
        }
        int fits = conversion == 'c' || (conversion == 's' ? !lydian_is_space(c) : in_set(d, c));
        if (!fits) {
            lydian_unget(in, c);
            break;
        }
        read++;
        if (!add_character(&to, c)) return 0;
    }
    int enough = read > 0;
    if (to.grows) {
        if (!enough) {
            free(to.bytes);
            free(to.wide);
        } else {
            *(void **)target = is_wide ? (void *)to.wide : to.bytes;
        }
    }
    if (!enough) return read == 0 && ended ? -1 : 0;
    if (conversion != 'c') {
        if (to.wide) to.wide[to.count] = 0;
        if (to.bytes) to.bytes[to.count] = 0;
    }
    return 1;
}

static const char *read_set(const char *at, struct scan_directive *d) {
    d->excluded = *at == '^';
    if (*at == '^') at++;
    d->set = at;
    /* A bracket that comes first is one of the set. */
    if (*at == ']') at++;
    while (*at && *at != ']') at++;
    d->set_end = at;
    return *at ? at + 1 : at;
}

static const char *read_scan_directive(const char *at, struct scan_directive *d) {
    struct scan_directive nothing = {0};
    *d = nothing;
    for (; *at == '*' || *at == '\''; at++)
        if (*at == '*') d->suppress = 1;
    for (; *at >= '0' && *at <= '9'; at++) d->width = 10 * d->width + (size_t)(*at - '0');
    if (*at == 'm') {
        d->allocate = 1;
        at++;
    }
    for (;; at++) {
        switch (*at) {
        case 'h': d->length = d->length == SCAN_SHORT ? SCAN_CHAR : SCAN_SHORT; break;
        case 'l': d->length = d->length == SCAN_LONG ? SCAN_LONG_DOUBLE : SCAN_LONG; break;
        case 'z': case 't': d->length = SCAN_LONG; break;
        case 'L': case 'j': case 'q': d->length = SCAN_LONG_DOUBLE; break;
        default: return at;
        }
    }
}

static int skip_to_text(struct lydian_source *in) {
    int c = lydian_skip_space(in);
    lydian_unget(in, c);
    return c != EOF;
}

/* As scan_integer gives. */
static int scan_one(struct lydian_source *in, struct scan_directive *d, char conversion, void *to) {
    if (conversion != 'c' && conversion != 'C' && conversion != '[' && !skip_to_text(in)) return -1;
    struct lydian_source part = *in;
    part.limit = d->width && d->width < in->limit - in->used ? in->used + d->width : in->limit;
    /* Counted from here on, so that what is accepted can be compared. */
    size_t before = in->used;
    if (part.text) part.text += before;
    part.used = 0;
    part.limit -= before;
    int result = 0;
    switch (conversion) {
    case 'd': result = scan_integer(&part, d, 10, 1, to); break;
    case 'u': result = scan_integer(&part, d, 10, 0, to); break;
    case 'i': result = scan_integer(&part, d, 0, 1, to); break;
    case 'o': result = scan_integer(&part, d, 8, 0, to); break;
    case 'x': case 'X': result = scan_integer(&part, d, 16, 0, to); break;
    case 'p':
        d->length = SCAN_LONG;
        result = scan_integer(&part, d, 16, 0, to);
        break;
    case 'a': case 'A': case 'e': case 'E': case 'f': case 'F': case 'g': case 'G':
        result = scan_float(&part, d, to);
        break;
    case 'C': case 'S': d->length = SCAN_LONG; /* fall through */
    case 'c': case 's': case '[':
        part.limit = SIZE_MAX;
        result = scan_characters(&part, d, conversion == 'C' ? 'c' : conversion == 'S' ? 's' : conversion, to);
        break;
    }
    in->used = before + part.used;
    in->is_far = part.is_far;
    return result;
}

static int is_scan_conversion(char c) { return c && strchr("duioxXpaAeEfFgGcCsS[", c) != NULL; }

static int scan(struct lydian_source *in, const char *format, va_list *arguments) {
    int assigned = 0;
    for (const char *at = format; *at;) {
        if (lydian_is_space((unsigned char)*at)) {
            at++;
            skip_to_text(in);
            continue;
        }
        if (*at != '%' || at[1] == '%') {
            if (*at == '%') {
                at++;
                skip_to_text(in);
            }
            int c = lydian_get(in);
            if (c != (unsigned char)*at) {
                lydian_unget(in, c);
                return c == EOF && assigned == 0 ? EOF : assigned;
            }
            at++;
            continue;
        }
        struct scan_directive d;
        at = read_scan_directive(at + 1, &d);
        char conversion = *at ? *at++ : 0;
        if (conversion == '[') at = read_set(at, &d);
        if (conversion == 'n') {
            if (!d.suppress) store_integer(&d, va_arg(*arguments, void *), in->used);
            continue;
        }
        if (!is_scan_conversion(conversion)) return assigned;
        void *to = d.suppress ? NULL : va_arg(*arguments, void *);
        int result = scan_one(in, &d, conversion, to);
        if (result < 0) return assigned ? assigned : EOF;
        if (result == 0) return assigned;
        if (!d.suppress) assigned++;
    }
    return assigned;
}

int vfscanf(FILE *stream, const char *format, va_list arguments) {
    struct lydian_source in = {NULL, stream, 0, SIZE_MAX, 1};
    va_list own;
    va_copy(own, arguments);
    int result = scan(&in, format, &own);
    va_end(own);
    return result;
}
int vsscanf(const char *text, const char *format, va_list arguments) {
    struct lydian_source in = {text, NULL, 0, SIZE_MAX, 1};
    va_list own;
    va_copy(own, arguments);
    int result = scan(&in, format, &own);
    va_end(own);
    return result;
}
int vscanf(const char *format, va_list arguments) { return vfscanf(stdin, format, arguments); }

#define WITH_PLACES(call)              \
    va_list arguments;                 \
    va_start(arguments, format);       \
    int result = call;                 \
    va_end(arguments);                 \
    return result

int sscanf(const char *text, const char *format, ...) {
    WITH_PLACES(vsscanf(text, format, arguments));
}
int fscanf(FILE *stream, const char *format, ...) {
    WITH_PLACES(vfscanf(stream, format, arguments));
}
int scanf(const char *format, ...) { WITH_PLACES(vfscanf(stdin, format, arguments)); }

/* The names that headers give them, by standard. */
#define UNDER_ANOTHER_NAME(prefix)                                                  \
    int prefix##_sscanf(const char *text, const char *format, ...) {                \
        WITH_PLACES(vsscanf(text, format, arguments));                              \
    }                                                                               \
    int prefix##_fscanf(FILE *stream, const char *format, ...) {                    \
        WITH_PLACES(vfscanf(stream, format, arguments));                            \
    }                                                                               \
    int prefix##_scanf(const char *format, ...) {                                   \
        WITH_PLACES(vfscanf(stdin, format, arguments));                             \
    }                                                                               \
    int prefix##_vsscanf(const char *text, const char *format, va_list arguments) { \
        return vsscanf(text, format, arguments);                                    \
    }                                                                               \
    int prefix##_vfscanf(FILE *stream, const char *format, va_list arguments) {     \
        return vfscanf(stream, format, arguments);                                  \
    }                                                                               \
    int prefix##_vscanf(const char *format, va_list arguments) {                    \
        return vfscanf(stdin, format, arguments);                                   \
    }

UNDER_ANOTHER_NAME(__isoc99)
UNDER_ANOTHER_NAME(__isoc23)
