/* Messages one after the other in a packet, each behind a header with its length. The code reads the
 * headers as structs at places that the data decides. */
#include <stddef.h>
#include <stdint.h>

enum { KIND_END = 0, KIND_NAME = 1, KIND_VALUE = 2 };

struct header {
    uint8_t length;
    uint8_t kind;
} __attribute__((packed));

struct value {
    struct header header;
    uint16_t number;
} __attribute__((packed));

/* The number of bytes up to the end mark; negative if the packet is not well formed. */
int messages_length(const uint8_t *packet, int size)
{
    int used = 0;

    while (size >= (int)sizeof(struct header)) {
        const struct header *header = (const struct header *)packet;

        if (header->length < sizeof(struct header) || header->length > size)
            return -1;
        used += header->length;
        if (header->kind == KIND_END)
            return used;
        packet += header->length;
        size -= header->length;
    }
    return -2;
}

/* The value behind the first message, which is skipped. */
int messages_second_value(const void *packet, size_t size)
{
    const uint8_t *at = packet;
    const struct header *first = packet;
    const struct value *second;

    if (size < sizeof *first || first->kind != KIND_NAME)
        return -1;
    if (first->length < sizeof *first || first->length + sizeof *second > size)
        return -2;
    second = (const struct value *)(at + first->length);
    if (second->header.kind != KIND_VALUE || second->header.length != sizeof *second)
        return -3;
    return second->number;
}
