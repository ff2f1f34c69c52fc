/*
 * Pattern replacement over short lines, like the "replace" of the testing literature: a pattern
 * is compiled into items, matched at each place of a line, and what matched is substituted.
 *
 *   c      itself            ?      any character
 *   [abc]  one of them       [^abc] none of them        [a-c] a range
 *   x*     any number of x   @c     c without its meaning
 *   %, $   start, end of the line, as the pattern's first and last character; else themselves
 *
 * In the replacement, & stands for what matched and @c for c.
 */

enum { PATTERN_ROOM = 3, WITH_ROOM = 1, LINE_ROOM = 2, OUT_ROOM = 4 };
enum { ANY = '?', CLASS = '[', END_CLASS = ']', NOT = '^', RANGE = '-', REPEAT = '*', START = '%', END = '$' };
enum { ESCAPE = '@', DITTO = '&' };
enum { BAD_PATTERN = -1, NO_ROOM = -2, NO_REQUEST = -3 };

/* Each text ends with a null character or where its array ends. */
struct request {
    char pattern[PATTERN_ROOM];
    char with[WITH_ROOM];
    char line[LINE_ROOM];
};

enum kind { LITERAL, ANYTHING, ONE_OF, NONE_OF };

struct item {
    enum kind kind;
    char literal;
    unsigned char from, to; /* of a class: where it lies in the pattern */
    int repeated;
};

static struct item items[PATTERN_ROOM];
static int item_count;
static int at_start, at_end;

static char out[OUT_ROOM];
static int out_length;

static int length_of(const char *text, int room)
{
    int n = 0;
    while (n < room && text[n] != '\0')
        n++;
    return n;
}

/* Reads the class whose bracket is at `at`; returns where it ends, or BAD_PATTERN. */
static int compile_class(const char *pattern, int at, int length, struct item *item)
{
    item->kind = ONE_OF;
    at++;
    if (at < length && pattern[at] == NOT) {
        item->kind = NONE_OF;
        at++;
    }
    item->from = (unsigned char)at;
    while (at < length && pattern[at] != END_CLASS)
        at++;
    if (at == length || at == item->from)
        return BAD_PATTERN;
    item->to = (unsigned char)at;
    return at + 1;
}

static int compile(const char *pattern)
{
    int length = length_of(pattern, PATTERN_ROOM);
    int at = 0;

    item_count = 0;
    at_start = length > 0 && pattern[0] == START;
    at_end = 0;
    if (at_start)
        at++;

    while (at < length) {
        struct item *item = &items[item_count];
        item->repeated = 0;
        switch (pattern[at]) {
        case ANY:
            item->kind = ANYTHING;
            at++;
            break;
        case CLASS:
            at = compile_class(pattern, at, length, item);
            if (at < 0)
                return BAD_PATTERN;
            break;
        case REPEAT: /* nothing to repeat */
            return BAD_PATTERN;
        case END:
            if (at + 1 == length) {
                at_end = 1;
                return item_count;
            }
            item->kind = LITERAL;
            item->literal = END;
            at++;
            break;
        case ESCAPE:
            if (at + 1 < length)
                at++;
            /* fall through */
        default:
            item->kind = LITERAL;
            item->literal = pattern[at++];
            break;
        }
        if (at < length && pattern[at] == REPEAT) {
            item->repeated = 1;
            at++;
        }
        item_count++;
    }
    return item_count;
}

static int in_class(const char *pattern, const struct item *item, char c)
{
    for (int i = item->from; i < item->to; i++) {
        if (i + 2 < item->to && pattern[i + 1] == RANGE) {
            if (pattern[i] <= c && c <= pattern[i + 2])
                return 1;
            i += 2;
        } else if (pattern[i] == c) {
            return 1;
        }
    }
    return 0;
}

static int fits(const char *pattern, const struct item *item, char c)
{
    switch (item->kind) {
    case LITERAL:
        return item->literal == c;
    case ANYTHING:
        return 1;
    case ONE_OF:
        return in_class(pattern, item, c);
    case NONE_OF:
        return !in_class(pattern, item, c);
    }
    return 0;
}

/* Where a match of the items from `first` on ends that starts at `at`, or -1. The longest wins. */
static int match(const struct request *r, int first, int at, int length)
{
    const struct item *item = &items[first];
    int most = at;

    if (first == item_count)
        return at_end && at != length ? -1 : at;
    if (!item->repeated) {
        if (at < length && fits(r->pattern, item, r->line[at]))
            return match(r, first + 1, at + 1, length);
        return -1;
    }
    while (most < length && fits(r->pattern, item, r->line[most]))
        most++;
    for (; most >= at; most--) {
        int end = match(r, first + 1, most, length);
        if (end >= 0)
            return end;
    }
    return -1;
}

static int put(char c)
{
    if (out_length == OUT_ROOM)
        return NO_ROOM;
    out[out_length++] = c;
    return 0;
}

static int put_replacement(const struct request *r, int from, int to)
{
    int length = length_of(r->with, WITH_ROOM);

    for (int i = 0; i < length; i++) {
        if (r->with[i] == DITTO) {
            for (int k = from; k < to; k++)
                if (put(r->line[k]) < 0)
                    return NO_ROOM;
            continue;
        }
        if (r->with[i] == ESCAPE && i + 1 < length)
            i++;
        if (put(r->with[i]) < 0)
            return NO_ROOM;
    }
    return 0;
}

/* The number of replacements made in the line, whose result is then in `out`; or a fault. */
int replace(const struct request *r)
{
    int length, at = 0, made = 0;

    if (!r)
        return NO_REQUEST;
    if (compile(r->pattern) <= 0)
        return BAD_PATTERN;
    out_length = 0;
    length = length_of(r->line, LINE_ROOM);

    while (at < length) {
        int end = at_start && at > 0 ? -1 : match(r, 0, at, length);
        if (end > at) {
            if (put_replacement(r, at, end) < 0)
                return NO_ROOM;
            made++;
            at = end;
        } else if (put(r->line[at++]) < 0) {
            return NO_ROOM;
        }
    }
    return made;
}
