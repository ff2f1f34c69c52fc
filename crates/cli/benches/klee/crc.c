/* A cyclic redundancy check, bit by bit, and a count of the bits that are set. */
#include "input.h"

#ifndef BYTES
#define BYTES 2
#endif

static uint16_t crc16(const uint8_t *at, int count)
{
    uint16_t crc = 0xFFFF;

    while (count-- > 0) {
        crc ^= *at++;
        for (int bit = 0; bit < 8; bit++) {
            if (crc & 1)
                crc = crc >> 1 ^ 0xA001;
            else
                crc >>= 1;
        }
    }
    return crc;
}

static int bits_of(uint16_t word)
{
    int count = 0;

    while (word) {
        word &= word - 1;
        count++;
    }
    return count;
}

/* Frames hold their check last; those of one bit too many are told apart from others. */
static int check(const uint8_t *frame, int count)
{
    uint16_t kept = (uint16_t)(frame[count - 1] << 8 | frame[count - 2]);
    uint16_t wrong = crc16(frame, count - 2) ^ kept;

    if (!wrong)
        return 0;
    return bits_of(wrong) == 1 ? 1 : -1;
}

int main(void)
{
    uint8_t frame[BYTES + 2];

    INPUT(frame);
    return check(frame, BYTES + 2);
}
