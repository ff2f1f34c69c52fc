/* Parses, prints and compares a document with cJSON. The argument is the number of rounds. */
#include "cJSON.h"
#include "text.h"

/* A document of so many items. */
static char *document(int items)
{
    char *text = malloc((size_t)items * 200 + 200), words[40], *to = text;
    if (!text)
        return 0;
    *to++ = '[';
    for (int item = 0; item < items; item++) {
        fill(words, sizeof words - 1);
        for (char *c = words; c < words + sizeof words - 1; c++)
            if (*c == '\n')
                *c = ' ';
        words[any(sizeof words - 1)] = 0;
        to += sprintf(to, "%s{\"name\": \"%s\\n\", \"size\": %u, \"weight\": %u.%u,\n", item ? ", " : "",
                      words, any(999), any(99), any(99));
        to += sprintf(to, "\"flags\": [true, false, null, \"\\u00e9\"], \"n%u\": {}}", any(9));
    }
    sprintf(to, "]");
    return text;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    char *text = document(500);
    if (!text)
        return 1;
    for (int round = 0; round < rounds; round++) {
        cJSON *one = cJSON_Parse(text);
        char *printed = one ? cJSON_Print(one) : 0;
        cJSON *two = printed ? cJSON_Parse(printed) : 0;
        if (!two || !cJSON_Compare(one, two, 1))
            return 2;
        free(printed);
        cJSON_Delete(one);
        cJSON_Delete(two);
    }
    free(text);
    return 0;
}
