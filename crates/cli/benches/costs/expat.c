/* Parses a document with expat. The argument is the number of rounds. */
#include "expat.h"
#include "text.h"

static unsigned long elements, letters;

static void begins(void *user, const XML_Char *name, const XML_Char **attributes)
{
    (void)user;
    elements += name[0] == 'i';
    for (; *attributes; attributes += 2)
        letters += strlen(attributes[1]);
}

static void ends(void *user, const XML_Char *name)
{
    (void)user, (void)name;
}

static void characters(void *user, const XML_Char *text, int length)
{
    (void)user, (void)text;
    letters += (unsigned long)length;
}

/* A document of so many items. */
static char *document(int items)
{
    char *text = malloc((size_t)items * 200 + 200), words[48], *to = text;
    if (!text)
        return 0;
    to += sprintf(to, "<?xml version=\"1.0\"?>\n<!DOCTYPE d [<!ENTITY e \"an entity\">]>\n<d>\n");
    for (int item = 0; item < items; item++) {
        fill(words, sizeof words - 1);
        words[any(sizeof words - 1)] = 0;
        to += sprintf(to, "<item id=\"n%d\" kind='%u'>%s &amp; &e; &#%u;<b/>", item, any(9), words,
                      33 + any(80) * 100);
        to += sprintf(to, any(4) ? "</item>\n" : "<!-- %s --><![CDATA[a < b]]></item>\n", "words");
    }
    sprintf(to, "</d>\n");
    return text;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    char *text = document(4000);
    if (!text)
        return 1;
    for (int round = 0; round < rounds; round++) {
        XML_Parser parser = XML_ParserCreate(round % 2 ? "UTF-8" : 0);
        if (!parser)
            return 2;
        XML_SetElementHandler(parser, begins, ends);
        XML_SetCharacterDataHandler(parser, characters);
        size_t length = strlen(text), part = 4096;
        for (size_t at = 0; at < length; at += part) {
            size_t size = length - at < part ? length - at : part;
            if (!XML_Parse(parser, text + at, (int)size, at + size == length))
                return 3;
        }
        XML_ParserFree(parser);
    }
    printf("%lu %lu\n", elements, letters);
    free(text);
    return 0;
}
