/* A checker of JSON texts. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 6
#endif

enum { DEEPEST = 4 };

struct reader {
    const char *at;
    int depth;
};

static int value(struct reader *r);

static void skip_space(struct reader *r)
{
    while (*r->at == ' ' || *r->at == '\n' || *r->at == '\t' || *r->at == '\r')
        r->at++;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int digits(struct reader *r)
{
    const char *first = r->at;

    while (is_digit(*r->at))
        r->at++;
    return r->at > first;
}

static int number(struct reader *r)
{
    if (*r->at == '-')
        r->at++;
    if (*r->at == '0')
        r->at++;
    else if (!digits(r))
        return 0;
    if (*r->at == '.') {
        r->at++;
        if (!digits(r))
            return 0;
    }
    if (*r->at == 'e' || *r->at == 'E') {
        r->at++;
        if (*r->at == '+' || *r->at == '-')
            r->at++;
        return digits(r);
    }
    return 1;
}

static int string(struct reader *r)
{
    for (r->at++; *r->at != '"'; r->at++) {
        if ((unsigned char)*r->at < ' ')
            return 0;
        if (*r->at != '\\')
            continue;
        switch (*++r->at) {
        case '"':
        case '\\':
        case '/':
        case 'b':
        case 'f':
        case 'n':
        case 'r':
        case 't':
            break;
        default:
            return 0;
        }
    }
    r->at++;
    return 1;
}

static int word(struct reader *r, const char *word)
{
    while (*word)
        if (*r->at++ != *word++)
            return 0;
    return 1;
}

/* What stands between brackets; an object's values have names. */
static int collection(struct reader *r, char close)
{
    r->at++;
    skip_space(r);
    if (*r->at == close) {
        r->at++;
        return 1;
    }
    for (;;) {
        if (close == '}') {
            skip_space(r);
            if (*r->at != '"' || !string(r))
                return 0;
            skip_space(r);
            if (*r->at++ != ':')
                return 0;
        }
        if (!value(r))
            return 0;
        if (*r->at == close) {
            r->at++;
            return 1;
        }
        if (*r->at++ != ',')
            return 0;
    }
}

static int value(struct reader *r)
{
    int good;

    if (++r->depth > DEEPEST)
        return 0;
    skip_space(r);
    switch (*r->at) {
    case '{':
        good = collection(r, '}');
        break;
    case '[':
        good = collection(r, ']');
        break;
    case '"':
        good = string(r);
        break;
    case 't':
        good = word(r, "true");
        break;
    case 'f':
        good = word(r, "false");
        break;
    case 'n':
        good = word(r, "null");
        break;
    default:
        good = number(r);
    }
    r->depth--;
    skip_space(r);
    return good;
}

static int is_json(const char *text)
{
    struct reader r = { text, 0 };

    return value(&r) && !*r.at;
}

int main(void)
{
    char text[LENGTH + 1];

    INPUT(text);
    text[LENGTH] = '\0';
    return is_json(text);
}
