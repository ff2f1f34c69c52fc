/* A recursive-descent parser that computes: + - * / % ( ) and numbers. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 6
#endif

struct parser {
    const char *at;
    int depth;
    int error;
};

static long expression(struct parser *p);

static void skip_blanks(struct parser *p)
{
    while (*p->at == ' ')
        p->at++;
}

static long number(struct parser *p)
{
    long value = 0;

    if (*p->at < '0' || *p->at > '9') {
        p->error = 1;
        return 0;
    }
    while (*p->at >= '0' && *p->at <= '9')
        value = value * 10 + (*p->at++ - '0');
    return value;
}

static long factor(struct parser *p)
{
    long value;

    skip_blanks(p);
    if (*p->at == '-') {
        p->at++;
        return -factor(p);
    }
    if (*p->at != '(')
        return number(p);
    p->at++;
    value = expression(p);
    if (*p->at == ')')
        p->at++;
    else
        p->error = 1;
    return value;
}

static long term(struct parser *p)
{
    long value = factor(p);

    for (;;) {
        char operator;
        long right;

        skip_blanks(p);
        operator = *p->at;
        if (p->error || (operator != '*' && operator != '/' && operator != '%'))
            return value;
        p->at++;
        right = factor(p);
        if (operator == '*') {
            value *= right;
        } else if (right == 0) {
            p->error = 1;
        } else if (operator == '/') {
            value /= right;
        } else {
            value %= right;
        }
    }
}

static long expression(struct parser *p)
{
    long value = term(p);

    for (;;) {
        skip_blanks(p);
        if (*p->at == '+') {
            p->at++;
            value += term(p);
        } else if (*p->at == '-') {
            p->at++;
            value -= term(p);
        } else {
            return value;
        }
        if (p->error)
            return 0;
    }
}

static int compute(const char *text, long *result)
{
    struct parser p = { text, 0, 0 };

    *result = expression(&p);
    return p.error || *p.at ? -1 : 0;
}

int main(void)
{
    char text[LENGTH + 1];
    long result;

    INPUT(text);
    text[LENGTH] = '\0';
    return compute(text, &result);
}
