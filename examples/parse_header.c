/* Reads the header of a record from bytes that came off a wire. */
#include <stddef.h>
#include <stdint.h>

enum header_error {
    HEADER_OK = 0,
    HEADER_TOO_SHORT = -1,
    HEADER_BAD_MAGIC = -2,
    HEADER_BAD_VERSION = -3,
    HEADER_BAD_FLAGS = -4,
    HEADER_BAD_LENGTH = -5,
    HEADER_BAD_CHECKSUM = -6
};

enum { HEADER_BYTES = 8, PAYLOAD_LIMIT = 4096 };
enum { FLAG_COMPRESSED = 0x01, FLAG_ENCRYPTED = 0x02, FLAG_LAST = 0x04, KNOWN_FLAGS = 0x07 };

struct header {
    uint8_t version;
    uint8_t flags;
    uint16_t payload;
};

static uint16_t read_u16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

/* The sum of the bytes before it, modulo 256, stands in the header's last byte. */
static int sum_fits(const uint8_t *buf)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < HEADER_BYTES - 1; i++)
        sum = (uint8_t)(sum + buf[i]);
    return sum == buf[HEADER_BYTES - 1];
}

/*
 * Layout: 'L' 'y', version, flags, two bytes of payload length, a reserved byte, a checksum.
 * `out` is written only if the header is good.
 */
int parse_header(const uint8_t *buf, size_t len, struct header *out)
{
    struct header h;

    if (buf == NULL || out == NULL || len < HEADER_BYTES)
        return HEADER_TOO_SHORT;
    if (buf[0] != 'L' || buf[1] != 'y')
        return HEADER_BAD_MAGIC;

    h.version = buf[2];
    h.flags = buf[3];
    h.payload = read_u16(buf + 4);

    if (h.version < 1 || h.version > 2)
        return HEADER_BAD_VERSION;
    if (h.flags & ~KNOWN_FLAGS)
        return HEADER_BAD_FLAGS;
    if (h.version == 1 && (h.flags & FLAG_ENCRYPTED)) /* came with version 2 */
        return HEADER_BAD_FLAGS;
    if (h.payload > PAYLOAD_LIMIT || (h.payload == 0 && !(h.flags & FLAG_LAST)))
        return HEADER_BAD_LENGTH;
    if (!sum_fits(buf))
        return HEADER_BAD_CHECKSUM;

    *out = h;
    return HEADER_OK;
}
