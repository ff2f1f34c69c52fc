/* Tagged fields with numbers of variable length, as they are sent between programs. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 6
#endif

enum { TRUNCATED = -1, TOO_LONG = -2, BAD_TYPE = -3, BAD_TAG = -4, TWICE = -5 };
enum { VARINT = 0, FIXED = 1, BYTES = 2 };

struct reader {
    const uint8_t *at, *end;
};

struct message {
    uint32_t id;
    uint16_t port;
    const uint8_t *name;
    uint32_t name_length;
    unsigned seen;
};

static int read_varint(struct reader *r, uint32_t *value)
{
    *value = 0;
    for (int shift = 0; shift < 32; shift += 7) {
        uint8_t byte;

        if (r->at == r->end)
            return TRUNCATED;
        byte = *r->at++;
        if (shift == 28 && byte > 0x0F)
            return TOO_LONG;
        *value |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return 0;
    }
    return TOO_LONG;
}

static int read_field(struct reader *r, struct message *m)
{
    uint32_t key, tag;
    int fault = read_varint(r, &key);

    if (fault)
        return fault;
    tag = key >> 3;
    if (tag == 0 || tag > 3)
        return BAD_TAG;
    if (m->seen & 1u << tag)
        return TWICE;
    m->seen |= 1u << tag;
    switch (key & 7) {
    case VARINT:
        return tag == 1 ? read_varint(r, &m->id) : BAD_TYPE;
    case FIXED:
        if (tag != 2)
            return BAD_TYPE;
        if (r->end - r->at < 2)
            return TRUNCATED;
        m->port = (uint16_t)(r->at[0] | r->at[1] << 8);
        r->at += 2;
        return 0;
    case BYTES:
        if (tag != 3)
            return BAD_TYPE;
        fault = read_varint(r, &m->name_length);
        if (fault)
            return fault;
        if (m->name_length > (uint32_t)(r->end - r->at))
            return TRUNCATED;
        m->name = r->at;
        r->at += m->name_length;
        return 0;
    default:
        return BAD_TYPE;
    }
}

static int read_message(const uint8_t *bytes, int length, struct message *m)
{
    struct reader r = { bytes, bytes + length };

    while (r.at < r.end) {
        int fault = read_field(&r, m);

        if (fault)
            return fault;
    }
    return m->seen & 1u << 1 ? 0 : BAD_TAG;
}

int main(void)
{
    struct message m = { 0 };
    uint8_t bytes[LENGTH];

    INPUT(bytes);
    return read_message(bytes, LENGTH, &m);
}
