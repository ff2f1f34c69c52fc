/* Small: the kind of one triangle. Follows examples/table1/trityp.c. */
#include "input.h"

int main(void)
{
    int a, b, c;

    INPUT(a);
    INPUT(b);
    INPUT(c);
    return trityp(a, b, c);
}
