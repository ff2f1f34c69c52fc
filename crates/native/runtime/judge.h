/* Mutant probes by data: executes the list of a place's entries, which begins at an offset of
 * lydian_code.
 *
 * Part of the text of an instrumented unit. The text before it, made in `mutant_probes.rs`, has
 * the kinds of entries, LYDIAN_SLOTS, lydian_code, and the counters of passes and calls. Cells
 * are passed by number, so that no cell's address is taken. An entry is its kind, numbers and,
 * for most kinds, code, which the run-time evaluates. Without the run-time, no mutant is judged. */
extern int lydian_evaluate(const unsigned char *, const unsigned long long *, const unsigned char *,
                           unsigned long long *, unsigned long long *)
    __attribute__((weak, visibility("hidden")));

static unsigned long lydian_operand(const unsigned char **code) {
    unsigned long number = 0;
    int shift = 0;
    for (;; shift += 7) {
        unsigned char byte = *(*code)++;
        number |= (unsigned long)(byte & 127) << shift;
        if (byte < 128) return number;
    }
}

/* `turn` is the number of the counter of the place's calls, or negative. `bytes` are the bytes
 * of a decision's mutants, and `words` the arguments of the place. */
static __attribute__((noinline, cold, unused, no_sanitize("address", "thread", "undefined"))) void
lydian_judge(unsigned long at, long turn, unsigned char *bytes, const unsigned long long *words) {
    const unsigned char *code = lydian_code + at;
    unsigned long long slots[LYDIAN_SLOTS], pages[4] = {0};
    /* Whether a cell is not set, among cells that any operand can set, and among those that only
     * a negative one can set. */
    int open[2] = {0, 0}, news = 0, done = 0, kind, truth;
    unsigned long first, byte, count, length = 0;
    if (!lydian_evaluate) return;
    for (; (kind = *code++) != LYDIAN_END; code += length) {
        first = lydian_operand(&code), length = 0;
        switch (kind) {
        case LYDIAN_LABEL:
        case LYDIAN_SIGNLABEL:
            length = lydian_operand(&code);
            if (lydian_hit[first]) break;
            if (lydian_evaluate(code, words, bytes, slots, pages) == 2) lydian_hit[first] = news = 1;
            else open[kind == LYDIAN_SIGNLABEL] = 1;
            break;
        case LYDIAN_MUTANT:
            truth = 0;
            for (count = lydian_operand(&code); count; count--)
                if (!lydian_hit[lydian_operand(&code)]) truth = 1;
            length = lydian_operand(&code);
            if (truth) bytes[first] = (unsigned char)lydian_evaluate(code, words, bytes, slots, pages);
            break;
        case LYDIAN_RUN:
        case LYDIAN_SIGNRUN:
            byte = lydian_operand(&code), count = lydian_operand(&code);
            length = lydian_operand(&code);
            truth = lydian_evaluate(code, words, bytes, slots, pages);
            for (; count; count--, byte++, first++) {
                if (lydian_hit[first]) continue;
                if (truth && bytes[byte] == truth) lydian_hit[first] = news = 1;
                else open[kind == LYDIAN_SIGNRUN] = 1;
            }
            break;
        case LYDIAN_OPEN:
        case LYDIAN_SIGNOPEN:
            if (!lydian_hit[first]) open[kind == LYDIAN_SIGNOPEN] = 1;
            break;
        case LYDIAN_BYTES:
            if (!bytes) bytes = __builtin_alloca(first + 1), bytes[0] = 0;
            if (!bytes[0]) bytes[0] = 1, __builtin_memset(bytes + 1, 0, first);
            break;
        case LYDIAN_REACHED:
            count = lydian_operand(&code), length = lydian_operand(&code);
            if (words[count + first / 64] >> first % 64 & 1) length = 0;
            break;
        case LYDIAN_SHARED:
            length = first;
            lydian_evaluate(code, words, bytes, slots, pages);
            break;
        case LYDIAN_GATE:
            byte = lydian_operand(&code), count = lydian_operand(&code);
            if (open[0]) break;
            if (first) lydian_hit[first] = 1;
            if (open[1]) break;
            /* A place without open cells waits for more passes than programs have. */
            for (done = 1; count; count--, byte++) lydian_wait[byte] = 2147483647;
        }
    }
    if (turn < 0 || done) return;
    if (news) lydian_called[turn] /= 2;
    lydian_wait[turn] = lydian_pause(++lydian_called[turn]);
}
