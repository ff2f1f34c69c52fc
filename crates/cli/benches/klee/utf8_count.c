/* Characters of LENGTH bytes of UTF-8, as in the paper, but longer. Follows examples/table1/utf8.c. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 8
#endif

int main(void)
{
    uint8_t text[LENGTH];

    INPUT(text);
    return utf8_count(text, LENGTH);
}
