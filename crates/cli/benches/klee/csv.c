/* Fields of a line with commas and quotes, copied out without their quotes. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 7
#endif

enum { FIELDS = 4, BAD_QUOTE = -1, TOO_MANY = -2 };

struct field {
    char text[LENGTH + 1];
    int length;
    int quoted;
};

static int split(const char *line, struct field *field)
{
    int count = 0;

    for (;;) {
        struct field *f;

        if (count == FIELDS)
            return TOO_MANY;
        f = &field[count++];
        f->length = 0;
        f->quoted = *line == '"';
        if (f->quoted) {
            for (line++;; line++) {
                if (!*line)
                    return BAD_QUOTE;
                if (*line == '"' && *++line != '"')
                    break;
                f->text[f->length++] = *line;
            }
            if (*line && *line != ',' && *line != '\n')
                return BAD_QUOTE;
        } else {
            while (*line && *line != ',' && *line != '\n') {
                if (*line == '"')
                    return BAD_QUOTE;
                f->text[f->length++] = *line++;
            }
        }
        f->text[f->length] = '\0';
        if (*line != ',')
            return count;
        line++;
    }
}

int main(void)
{
    static struct field field[FIELDS];
    char line[LENGTH + 1];

    INPUT(line);
    line[LENGTH] = '\0';
    return split(line, field);
}
