/* long double to text and back. */
#include <stdio.h>
#include <stdlib.h>
#include "random.h"

int main(void) {
    for (int i = 0; i < 500; i++) {
        char format[64];
        int at = sprintf(format, "[%%");
        for (unsigned flags = below(4); flags; flags--) format[at++] = "-+ #0"[below(5)];
        if (below(2)) at += sprintf(format + at, "%u", below(40));
        if (below(2)) at += sprintf(format + at, ".%u", below(30));
        sprintf(format + at, "L%c]\n", "fFeEgGaA"[below(8)]);
        long double x = any_double();
        if (below(2)) x = x * 1.0000000000000001L / 3;
        if (below(16) == 0) x *= 1e300L;
        printf(format, x);
        char text[100], *end;
        sprintf(text, "%.*Lg tail", (int)below(25) + 1, x);
        long double back = strtold(text, &end);
        unsigned char bytes[16] = {0};
        memcpy(bytes, &back, 10);
        for (int k = 9; k >= 0; k--) printf("%02x", bytes[k]);
        printf(" %s\n", end);
    }
    return 0;
}
