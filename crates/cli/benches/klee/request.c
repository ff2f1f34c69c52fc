/* A state machine over the first line of a request: method, target, version. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 7
#endif

enum state { START, METHOD, TARGET, QUERY, VERSION, CARRIAGE, DONE, BAD };

struct request {
    enum state state;
    int method_length, target_length, parameters;
    int major, minor, dots;
};

static int is_token(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
}

static enum state in_version(struct request *r, char c)
{
    if (c == '.')
        return r->dots++ ? BAD : VERSION;
    if (c >= '0' && c <= '9') {
        int *number = r->dots ? &r->minor : &r->major;

        *number = *number * 10 + (c - '0');
        return *number > 99 ? BAD : VERSION;
    }
    return c == '\r' ? CARRIAGE : c == '\n' ? DONE : BAD;
}

static enum state next(struct request *r, char c)
{
    switch (r->state) {
    case START:
        if (c == '\r' || c == '\n')
            return START;
        /* fall through */
    case METHOD:
        if (is_token(c)) {
            r->method_length++;
            return METHOD;
        }
        return c == ' ' && r->method_length > 0 ? TARGET : BAD;
    case TARGET:
        if (c == ' ')
            return r->target_length ? VERSION : BAD;
        if (c == '?') {
            r->parameters = 1;
            return QUERY;
        }
        if (c < '!' || c == '#' || (r->target_length == 0 && c != '/'))
            return BAD;
        r->target_length++;
        return TARGET;
    case QUERY:
        if (c == ' ')
            return VERSION;
        if (c == '&')
            r->parameters++;
        return c < '!' ? BAD : QUERY;
    case VERSION:
        return in_version(r, c);
    case CARRIAGE:
        return c == '\n' ? DONE : BAD;
    default:
        return BAD;
    }
}

/* 1 for a whole line, 0 if more is to come, -1 for a fault. */
static int feed(struct request *r, const char *text, int length)
{
    for (int i = 0; i < length && r->state != DONE; i++) {
        r->state = next(r, text[i]);
        if (r->state == BAD)
            return -1;
    }
    return r->state == DONE;
}

int main(void)
{
    struct request r = { .state = START };
    char text[LENGTH];

    INPUT(text);
    return feed(&r, text, LENGTH);
}
