/* Random directives on random texts: what is converted, and where. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "random.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Numbers that do not fit set `errno`; others, and what is no number, leave it. */
static void out_of_range(void) {
    static const char *const texts[] = {"-01234567890123456789012345", "99999999999999999999", "123",
                                        "12345678901", "1e999", "1e-999", "x"};
    static const char *const formats[] = {"%d", "%u", "%ld", "%lu", "%hd", "%lf", "%f", "%*d", "%p"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (unsigned k = 0; k < sizeof formats / sizeof *formats; k++) {
            union {
                unsigned char bytes[sizeof(double)];
                double number;
            } read = {{0}};
            errno = 5;
            int count = sscanf(texts[i], formats[k], &read);
            printf("%s %s: %d %d", texts[i], formats[k], count, errno);
            for (unsigned b = 0; b < sizeof read; b++) printf(" %02x", read.bytes[b]);
            puts("");
        }
    }
}

int main(void) {
    out_of_range();
    static const char *const texts[] = {
        "12 34 abc", "  -5,7", "0x1f 0x", "99999999999999999999 1", "1.5e3 2.25", "abc def",
        "a,b,c", "", "   ", "0x", "-", "1e", "1e+", "nan inf", "12abc", "[x] y", "100%", "077 08",
        "+-3", "3.14.15", ".5", "infinity", "1e5x", "hello world foo",
        "infi 2", "INFx", "nan(12)", "-0x1p3", "-0xz", "000000000000000000012 9223372036854775808"};
    static const char *const directives[] = {
        "%d", "%i", "%u", "%x", "%o", "%ld", "%hhd", "%hd", "%s", "%5s", "%c", "%3c", "%[a-z]",
        "%[^,]", "%f", "%lf", "%*d", "%n", "%%", "%p", "%2d", "%3f", "%1s", "%[]a]", "%[^]a]",
        "%5[0-9a]", "%5lf", "%4lf", "%lld", "%llu"};
    static const char *const between[] = {" ", "", ",", "x", " , "};
    for (int i = 0; i < 3000; i++) {
        char format[200] = "";
        for (unsigned count = 1 + below(3); count; count--) {
            strcat(format, directives[below(COUNT(directives))]);
            strcat(format, between[below(COUNT(between))]);
        }
        const char *text = texts[below(COUNT(texts))];
        unsigned char out[4][64];
        memset(out, 0xaa, sizeof out);
        int result = sscanf(text, format, out[0], out[1], out[2], out[3]);
        printf("{%s} {%s} %d:", text, format, result);
        for (int k = 0; k < 3; k++)
            for (int byte = 0; byte < 12; byte++) printf("%02x", out[k][byte]);
        printf("\n");
    }
    char *made = NULL;
    int result = sscanf("alloc me", "%ms", &made);
    printf("%d %s\n", result, made);
    long sum = 0;
    int number;
    while (scanf("%d,", &number) == 1) sum += number;
    char rest[20];
    printf("%ld %d %s\n", sum, scanf("%19s", rest), rest);
    return 0;
}
