/* Parses a document with libyaml and emits it again. The argument is the number of rounds. */
#include "yaml.h"
#include "text.h"

/* A document of so many items. */
static char *document(int items)
{
    char *text = malloc((size_t)items * 200 + 200), words[40], *to = text;
    if (!text)
        return 0;
    to += sprintf(to, "%%YAML 1.1\n---\nitems:\n");
    for (int item = 0; item < items; item++) {
        fill(words, sizeof words - 1);
        for (char *c = words; c < words + sizeof words - 1; c++)
            if (*c == ',' || *c == '\n' || *c == ' ')
                *c = '_';
        words[1 + any(sizeof words - 2)] = 0;
        to += sprintf(to, "  - name: %s\n    sizes: [%u, 0x%x, ~]\n", words, any(999), any(999));
        to += sprintf(to, any(4) ? "    text: \"a\\tb %s\"\n" : "    text: |\n      %s\n      two\n",
                      words);
        to += sprintf(to, any(8) ? "    flags: {a: yes, b: 'no'}\n" : "    flags: &x%d {a: b} # c\n",
                      item);
    }
    sprintf(to, "...\n");
    return text;
}

static int ignore(void *user, unsigned char *text, size_t size)
{
    (void)text;
    *(size_t *)user += size;
    return 1;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    size_t written = 0;
    char *text = document(400);
    if (!text)
        return 1;
    for (int round = 0; round < rounds; round++) {
        yaml_parser_t parser;
        yaml_emitter_t emitter;
        yaml_document_t read;
        if (!yaml_parser_initialize(&parser) || !yaml_emitter_initialize(&emitter))
            return 2;
        yaml_parser_set_input_string(&parser, (unsigned char *)text, strlen(text));
        yaml_emitter_set_output(&emitter, ignore, &written);
        if (!yaml_parser_load(&parser, &read) || !yaml_emitter_dump(&emitter, &read))
            return 3;
        if (!yaml_emitter_close(&emitter))
            return 4;
        yaml_emitter_delete(&emitter);
        yaml_parser_delete(&parser);
    }
    printf("%zu\n", written);
    free(text);
    return 0;
}
