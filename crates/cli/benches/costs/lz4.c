/* Compresses and decompresses text with lz4, at two speeds. The argument is the number of rounds. */
#include "lz4.h"
#include "text.h"

enum { SIZE = 1000000 };

int main(int argc, char **argv)
{
    static char from[SIZE], back[SIZE];
    int rounds = argc > 1 ? atoi(argv[1]) : 1, most = LZ4_compressBound(SIZE);
    char *packed = malloc((size_t)most);
    if (!packed)
        return 1;
    fill(from, SIZE);
    for (int round = 0; round < rounds; round++)
        for (int speed = 1; speed < 9; speed += 7) {
            int size = LZ4_compress_fast(from, packed, SIZE, most, speed);
            if (size <= 0 || LZ4_decompress_safe(packed, back, size, SIZE) != SIZE)
                return 2;
            if (memcmp(from, back, SIZE) != 0)
                return 3;
        }
    free(packed);
    return 0;
}
