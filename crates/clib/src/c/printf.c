/* The printf family: its many doors to lydian_format. */
#include "internal.h"

int vfprintf(FILE *stream, const char *format, va_list arguments) {
    struct lydian_sink out = {stream, NULL, NULL, 0, 0};
    return lydian_format(&out, format, arguments);
}

int vsnprintf(char *to, size_t size, const char *format, va_list arguments) {
    char *end = size ? to + size - 1 : to;
    /* A size that is no real one, as callers give who know that there is room. */
    if (size > INT_MAX) end = to + INT_MAX;
    struct lydian_sink out = {NULL, to, end, 0, 0};
    int result = lydian_format(&out, format, arguments);
    if (size) *out.at = 0;
    return result;
}

int vsprintf(char *to, const char *format, va_list arguments) {
    return vsnprintf(to, SIZE_MAX, format, arguments);
}

int vprintf(const char *format, va_list arguments) { return vfprintf(stdout, format, arguments); }

int vasprintf(char **to, const char *format, va_list arguments) {
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (length < 0) return -1;
    *to = malloc((size_t)length + 1);
    if (!*to) return -1;
    return vsnprintf(*to, (size_t)length + 1, format, arguments);
}

int vdprintf(int fd, const char *format, va_list arguments) {
    char *text;
    int length = vasprintf(&text, format, arguments);
    if (length < 0) return -1;
    for (int done = 0; done < length;) {
        long now = lydian_checked(__lydian_write(fd, text + done, (size_t)(length - done)));
        if (now <= 0) {
            length = -1;
            break;
        }
        done += (int)now;
    }
    free(text);
    return length;
}

#define WITH_ARGUMENTS(call)                \
    va_list arguments;                      \
    va_start(arguments, format);            \
    int result = call;                      \
    va_end(arguments);                      \
    return result

int printf(const char *format, ...) { WITH_ARGUMENTS(vfprintf(stdout, format, arguments)); }
int fprintf(FILE *stream, const char *format, ...) {
    WITH_ARGUMENTS(vfprintf(stream, format, arguments));
}
int sprintf(char *to, const char *format, ...) {
    WITH_ARGUMENTS(vsnprintf(to, SIZE_MAX, format, arguments));
}
int snprintf(char *to, size_t size, const char *format, ...) {
    WITH_ARGUMENTS(vsnprintf(to, size, format, arguments));
}
int asprintf(char **to, const char *format, ...) {
    WITH_ARGUMENTS(vasprintf(to, format, arguments));
}
int dprintf(int fd, const char *format, ...) { WITH_ARGUMENTS(vdprintf(fd, format, arguments)); }

/* The forms that -D_FORTIFY_SOURCE calls. The interpreter sees an overflow by itself. */
int __printf_chk(int flag, const char *format, ...) {
    (void)flag;
    WITH_ARGUMENTS(vfprintf(stdout, format, arguments));
}
int __fprintf_chk(FILE *stream, int flag, const char *format, ...) {
    (void)flag;
    WITH_ARGUMENTS(vfprintf(stream, format, arguments));
}
int __sprintf_chk(char *to, int flag, size_t room, const char *format, ...) {
    (void)flag;
    (void)room;
    WITH_ARGUMENTS(vsnprintf(to, SIZE_MAX, format, arguments));
}
int __snprintf_chk(char *to, size_t size, int flag, size_t room, const char *format, ...) {
    (void)flag;
    (void)room;
    WITH_ARGUMENTS(vsnprintf(to, size, format, arguments));
}
int __asprintf_chk(char **to, int flag, const char *format, ...) {
    (void)flag;
    WITH_ARGUMENTS(vasprintf(to, format, arguments));
}
int __vprintf_chk(int flag, const char *format, va_list arguments) {
    (void)flag;
    return vfprintf(stdout, format, arguments);
}
int __vfprintf_chk(FILE *stream, int flag, const char *format, va_list arguments) {
    (void)flag;
    return vfprintf(stream, format, arguments);
}
int __vsprintf_chk(char *to, int flag, size_t room, const char *format, va_list arguments) {
    (void)flag;
    (void)room;
    return vsprintf(to, format, arguments);
}
int __vsnprintf_chk(char *to, size_t size, int flag, size_t room, const char *format,
                    va_list arguments) {
    (void)flag;
    (void)room;
    return vsnprintf(to, size, format, arguments);
}
int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments) {
    (void)flag;
    return vasprintf(to, format, arguments);
}
