/*
 * Counts the feasible paths of a Table I program, independently of Lydian: runs it on many inputs
 * drawn from the values around which its branches turn, and counts the distinct sequences of edges
 * that clang's edge coverage reports without optimisation. Where the inputs are drawn at random the
 * count is a lower bound, to be trusted where no new path came in the last large part of the runs.
 * `scripts/count-paths` builds and runs it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include PROGRAM

#define UNCOUNTED __attribute__((no_sanitize("coverage")))
#define TABLE_BITS 22

static uint64_t path = 1;
static uint64_t run;
static uint64_t random_state = 88172645463325252u; /* a fixed seed: the same runs every time */

UNCOUNTED void __sanitizer_cov_trace_pc_guard_init(uint32_t *first, uint32_t *end)
{
    static uint32_t count;

    for (; first < end; first++)
        if (*first == 0)
            *first = ++count;
}

UNCOUNTED void __sanitizer_cov_trace_pc_guard(const uint32_t *guard)
{
    path = (path ^ *guard) * 0x9E3779B97F4A7C15u;
    path ^= path >> 29;
}

UNCOUNTED static size_t below(size_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (size_t)((random_state * 2685821657736338717u >> 33) % limit);
}

#define PICK(values) ((values)[below(sizeof(values) / sizeof *(values))])

#if defined TRITYP
UNCOUNTED static void run_once(void)
{
    static const int side[] = { -1, 0, 1, 2, 3, 4, 5, 2147483647 };
    trityp(PICK(side), PICK(side), PICK(side));
}
#elif defined FOUR_BALLS
UNCOUNTED static void run_once(void)
{
    static const short weight[] = { 0, 1, 2, 3, 4 };
    four_balls(PICK(weight), PICK(weight), PICK(weight), PICK(weight));
}
#elif defined UTF8
/* Every combination of one byte of each class that the decoder tells apart: this count is exact. */
UNCOUNTED static void run_once(void)
{
    static const uint8_t class[] = { 0x00, 0x80, 0x90, 0xA0, 0xC0, 0xC2, 0xE0, 0xE1,
                                     0xED, 0xEE, 0xF0, 0xF1, 0xF4, 0xF5, 0xF8 };
    uint8_t b[7] = { 0 };
    uint64_t rest = run;

    for (int i = 0; i < 7; i++, rest /= sizeof class)
        b[i] = class[rest % sizeof class];
#if UTF8 == 3
    utf8_3(b[0], b[1], b[2]);
#elif UTF8 == 5
    utf8_5(b[0], b[1], b[2], b[3], b[4]);
#else
    utf8_7(b[0], b[1], b[2], b[3], b[4], b[5], b[6]);
#endif
}
#elif defined TCAS
UNCOUNTED static void run_once(void)
{
    static const int separation[] = { 299, 300, 600 };
    static const int yes_no[] = { 0, 1 };
    static const int altitude[] = { 1, 2, 3, 41000, 41001, 41002 };
    static const int rate[] = { -1, 0, 1 };
    static const int layer[] = { 0, 1, 2, 3 };
    static const int room[] = { -1,  0,   200, 350, 399, 400, 450,  500,  550,  600,   640,  650,
                                690, 740, 750, 790, 840, 900, 1000, 1100, 2000, 60000, 60001 };
    static const int intent[] = { 0, 1, 2 };
    collision_advice(PICK(separation), PICK(yes_no), PICK(yes_no), PICK(altitude), PICK(rate),
                     PICK(altitude), PICK(layer), PICK(room), PICK(room), PICK(intent),
                     PICK(yes_no), PICK(yes_no));
}
#elif defined REPLACE
UNCOUNTED static void run_once(void)
{
    static const char pattern[] = { 0, 'a', 'b', 'c', '?', '[', '^', ']', '-', '*', '%', '$', '@' };
    static const char with[] = { 0, '&', '@', 'x' };
    static const char line[] = { 0, 'a', 'b', 'c', '*' };
    struct request request;

    for (int i = 0; i < PATTERN_ROOM; i++)
        request.pattern[i] = PICK(pattern);
    for (int i = 0; i < WITH_ROOM; i++)
        request.with[i] = PICK(with);
    for (int i = 0; i < LINE_ROOM; i++)
        request.line[i] = PICK(line);
    replace(below(1000) == 0 ? NULL : &request);
}
#endif

UNCOUNTED int main(int argc, char **argv)
{
    const uint64_t mask = ((uint64_t)1 << TABLE_BITS) - 1;
    const uint64_t runs = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    uint64_t *seen = calloc(mask + 1, sizeof *seen);
    uint64_t paths = 0, last_new = 0;

    if (!seen)
        return 1;
    for (run = 1; run <= runs && paths < mask / 2; run++) {
        uint64_t slot;

        path = 1;
        run_once();
        for (slot = path & mask; seen[slot] != 0 && seen[slot] != path; slot = (slot + 1) & mask)
            ;
        if (seen[slot] == 0) {
            seen[slot] = path;
            paths++;
            last_new = run;
        }
    }
    printf("%" PRIu64 " paths, the last new one at run %" PRIu64 " of %" PRIu64 "\n", paths, last_new,
           runs);
    free(seen);
    return 0;
}
