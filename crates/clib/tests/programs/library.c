/* What else the library computes: random numbers, sorting, exact mathematics, strings. */
#define _GNU_SOURCE
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include "random.h"

static int calls;
static int compare_tens(const void *a, const void *b) {
    calls++;
    return *(const int *)a / 10 - *(const int *)b / 10;
}

static void random_numbers(void) {
    for (int i = 0; i < 20; i++) printf("%d ", rand());
    srand(42);
    for (int i = 0; i < 50; i++) printf("%ld ", random());
    srand(0);
    unsigned seed = 7;
    printf("%d %d\n", rand(), rand_r(&seed));
    srand48(5);
    double x = drand48();
    long y = lrand48();
    printf("%.17g %ld %ld\n", x, y, mrand48());
}

static void sorting(void) {
    for (int k = 0; k < 20; k++) {
        int numbers[80], count = (int)below(80);
        for (int i = 0; i < count; i++) numbers[i] = (int)below(200);
        calls = 0;
        qsort(numbers, (size_t)count, sizeof *numbers, compare_tens);
        printf("%d:", calls);
        for (int i = 0; i < count; i++) printf(" %d", numbers[i]);
        int key = (int)below(200);
        int *found = bsearch(&key, numbers, (size_t)count, sizeof *numbers, compare_tens);
        printf(" %ld\n", found ? found - numbers : -1L);
    }
}

static uint64_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return x == x ? bits : 0x7fc00000u;
}

static void mathematics(void) {
    for (int i = 0; i < 500; i++) {
        double x = any_double(), y = any_double(), z = any_double();
        if (below(3) == 0) z = -x * y;
        int quotient = 0;
        double rest = remquo(x, y, &quotient);
        printf("%lx %lx %lx: %lx", bits_of(x), bits_of(y), bits_of(z), bits_of(fma(x, y, z)));
        printf(" %lx %lx", bits_of(remainder(x, y)), bits_of(rest));
        if (rest == rest) printf(" %d", abs(quotient) & 7);
        printf(" %lx %lx", bits_of(nextafter(x, y)), bits_of(logb(x)));
        printf(" %d %lx", ilogb(x), bits_of(fdim(x, y)));
        printf(" %lx %lx", float_bits(fmaf((float)x, (float)y, (float)z)),
               float_bits(nextafterf((float)x, (float)y)));
        if (fabs(x) < 1e18) printf(" %ld %ld", lrint(x), lround(x));
        printf("\n");
    }
}

static void strings(void) {
    char list[] = "  a,b;;c, d", fields[] = "x=1&y=2&&z", *rest = fields, *part;
    for (part = strtok(list, " ,;"); part; part = strtok(NULL, " ,;")) printf("<%s>", part);
    while ((part = strsep(&rest, "&"))) printf("[%s]", part);
    static const char *const versions[] = {"a", "a1", "a01", "a10", "a9", "a010", "000", "00",
                                           "01", "010", "09", "0", "1", "9", "10", "b", "f1.2",
                                           "f1.10", ""};
    for (int i = 0; i < 19; i++)
        for (int k = 0; k < 19; k++) {
            int order = strverscmp(versions[i], versions[k]);
            printf("%d", order < 0 ? -1 : order > 0);
        }
    printf("\n");
    for (int i = 0; i < 42; i++) printf("%s|", strerror(i < 41 ? i : 999));
    printf("%s %s\n", setlocale(LC_ALL, NULL), localeconv()->decimal_point);
    wchar_t wide[20];
    size_t length = mbstowcs(wide, "hello", 20);
    printf("%zu %ls %zu\n", length, wide, wcslen(wide));
    printf("%ld %g\n", wcstol(L" 42x", NULL, 10), wcstod(L"2.5", NULL));
    printf("%d %d\n", iswalpha(L'x') != 0, towupper(L'q'));
    char *arguments[] = {"p", "-a", "-b", "value", "-cvalue", "--", "rest", NULL};
    int option;
    while ((option = getopt(7, arguments, "ab:c:")) != -1)
        printf("%c %s;", option, option == 'a' ? "" : optarg);
    printf("%d\n", optind);
    setenv("LYDIAN_TEST", "set", 1);
    printf("%s ", getenv("LYDIAN_TEST"));
    unsetenv("LYDIAN_TEST");
    printf("%d\n", getenv("LYDIAN_TEST") == NULL);
}

/* Counts below zero do nothing, and the last byte of an odd one is not copied. */
static void swapped_neighbours(void) {
    for (int count = -3; count <= 8; count++) {
        char to[] = "--------";
        swab("abcdefgh", to, count);
        printf("%s ", to);
    }
    static const unsigned char from[] = {0, 0xff, 0x80, 0x7f};
    unsigned char to[4] = {0};
    swab(from, to, 4);
    for (int i = 0; i < 4; i++) printf("%02x", to[i]);
    printf("\n");
}

int main(void) {
    random_numbers();
    sorting();
    mathematics();
    strings();
    swapped_neighbours();
    return 0;
}
