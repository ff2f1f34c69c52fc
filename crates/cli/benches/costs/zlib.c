/* Compresses and decompresses text with zlib, at two levels. The argument is the number of rounds. */
#include "zlib.h"
#include "text.h"

enum { SIZE = 1000000 };

int main(int argc, char **argv)
{
    static char from[SIZE], back[SIZE];
    int rounds = argc > 1 ? atoi(argv[1]) : 1;
    uLong most = compressBound(SIZE);
    Bytef *packed = malloc(most);
    if (!packed)
        return 1;
    fill(from, SIZE);
    for (int round = 0; round < rounds; round++)
        for (int level = 1; level < 7; level += 5) {
            uLongf size = most, length = SIZE;
            if (compress2(packed, &size, (Bytef *)from, SIZE, level) != Z_OK)
                return 2;
            if (uncompress((Bytef *)back, &length, packed, size) != Z_OK || length != SIZE)
                return 3;
            if (memcmp(from, back, SIZE) != 0)
                return 4;
        }
    free(packed);
    return 0;
}
