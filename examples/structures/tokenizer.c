/* A tokenizer for a small language: names, numbers, strings with escapes, operators. */
#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_KEYWORD, TOKEN_NUMBER, TOKEN_STRING, TOKEN_OPERATOR, TOKEN_ERROR };

enum { TEXT_ROOM = 64 };

struct token {
    enum token_kind kind;
    int line;
    long number;          /* of a number */
    size_t length;        /* of the text */
    char text[TEXT_ROOM]; /* ends with a NUL; a string has its escapes replaced */
};

struct tokenizer {
    const char *source; /* ends with a NUL */
    size_t pos;
    int line;
    const char *error; /* null as long as there was none */
};

static const char *const keywords[] = { "if", "else", "while", "return" };

void tokenizer_init(struct tokenizer *t, const char *source)
{
    t->source = source;
    t->pos = 0;
    t->line = 1;
    t->error = NULL;
}

static char peek(const struct tokenizer *t)
{
    return t->source[t->pos];
}

static bool fail(struct tokenizer *t, struct token *token, const char *message)
{
    t->error = message;
    token->kind = TOKEN_ERROR;
    return false;
}

/* Adds a character to the text. Room for the NUL is kept. */
static bool add(struct token *token, char c)
{
    if (token->length + 1 >= TEXT_ROOM)
        return false;
    token->text[token->length++] = c;
    token->text[token->length] = '\0';
    return true;
}

/* Skips white space and comments, which go from a # to the end of the line. */
static void skip_space(struct tokenizer *t)
{
    for (;;) {
        char c = peek(t);
        if (c == '#') {
            while (peek(t) != '\0' && peek(t) != '\n')
                t->pos++;
        } else if (c == '\n') {
            t->line++;
            t->pos++;
        } else if (c == ' ' || c == '\t' || c == '\r') {
            t->pos++;
        } else {
            return;
        }
    }
}

static bool read_name(struct tokenizer *t, struct token *token)
{
    token->kind = TOKEN_NAME;
    while (isalnum((unsigned char)peek(t)) || peek(t) == '_') {
        if (!add(token, peek(t)))
            return fail(t, token, "name too long");
        t->pos++;
    }
    for (size_t i = 0; i < sizeof keywords / sizeof keywords[0]; i++) {
        if (strcmp(token->text, keywords[i]) == 0)
            token->kind = TOKEN_KEYWORD;
    }
    return true;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* Decimal, or hexadecimal after 0x. */
static bool read_number(struct tokenizer *t, struct token *token)
{
    int base = 10, digits = 0;

    token->kind = TOKEN_NUMBER;
    if (peek(t) == '0' && (t->source[t->pos + 1] == 'x' || t->source[t->pos + 1] == 'X')) {
        base = 16;
        t->pos += 2;
    }
    for (;; t->pos++) {
        int digit = digit_value(peek(t));
        if (digit < 0 || digit >= base)
            break;
        if (token->number > (LONG_MAX - digit) / base)
            return fail(t, token, "number too large");
        token->number = token->number * base + digit;
        digits++;
    }
    if (digits == 0)
        return fail(t, token, "no digits after 0x");
    if (isalpha((unsigned char)peek(t)) || peek(t) == '_')
        return fail(t, token, "letter after a number");
    return true;
}

static bool read_string(struct tokenizer *t, struct token *token)
{
    token->kind = TOKEN_STRING;
    for (t->pos++; peek(t) != '"'; t->pos++) {
        char c = peek(t);
        if (c == '\0' || c == '\n')
            return fail(t, token, "string does not end");
        if (c == '\\') {
            t->pos++;
            switch (peek(t)) {
            case 'n': c = '\n'; break;
            case 't': c = '\t'; break;
            case '\\':
            case '"': c = peek(t); break;
            default: return fail(t, token, "unknown escape");
            }
        }
        if (!add(token, c))
            return fail(t, token, "string too long");
    }
    t->pos++;
    return true;
}

/* Operators of two characters go before those of one. */
static bool read_operator(struct tokenizer *t, struct token *token)
{
    static const char pairs[][3] = { "==", "!=", "<=", ">=", "&&", "||" };
    char c = peek(t);

    token->kind = TOKEN_OPERATOR;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        if (strncmp(t->source + t->pos, pairs[i], 2) == 0) {
            t->pos += 2;
            return add(token, pairs[i][0]) && add(token, pairs[i][1]);
        }
    }
    if (strchr("+-*/%<>=!(){};,", c) == NULL)
        return fail(t, token, "unknown character");
    t->pos++;
    return add(token, c);
}

/* Reads the next token. Returns false after an error; then all further calls fail, too. */
bool next_token(struct tokenizer *t, struct token *token)
{
    char c;

    if (t == NULL || token == NULL || t->source == NULL)
        return false;
    memset(token, 0, sizeof *token);
    if (t->error != NULL)
        return fail(t, token, t->error);
    skip_space(t);
    token->line = t->line;
    c = peek(t);
    if (c == '\0')
        return true; /* TOKEN_END */
    if (isalpha((unsigned char)c) || c == '_')
        return read_name(t, token);
    if (isdigit((unsigned char)c))
        return read_number(t, token);
    if (c == '"')
        return read_string(t, token);
    return read_operator(t, token);
}
