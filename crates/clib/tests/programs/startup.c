/* What runs before main and after it. */
#include <stdio.h>
#include <stdlib.h>

#define BEFORE(name, ...)                                                                     \
    __attribute__((constructor __VA_ARGS__)) static void name(void) { puts("before: " #name); }
#define AFTER(name, ...)                                                                      \
    __attribute__((destructor __VA_ARGS__)) static void name(void) { puts("after: " #name); }

AFTER(first_after)
BEFORE(plain)
BEFORE(late, (2000))
BEFORE(early, (101))
BEFORE(second_plain)
BEFORE(second_late, (2000))
AFTER(early_after, (101))
AFTER(late_after, (2000))
AFTER(second_after)

static void last_words(void);
__attribute__((constructor(1999))) static void registers(int argc, char **argv) {
    printf("registers, of %d: %s\n", argc, argv[argc] ? "?" : "ended");
    atexit(last_words);
}

__attribute__((constructor, destructor)) static void both(void) {
    static int times;
    printf("both: %d\n", ++times);
    if (times == 2) printf("no new line at the end");
}

static void last_words(void) { puts("last words"); }

int main(void) {
    puts("main");
    exit(3);
}
