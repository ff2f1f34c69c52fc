/* A queue of bytes in a ring: a struct with an invariant, which lydian.toml can state. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RING_ROOM = 8 };

struct ring {
    uint8_t bytes[RING_ROOM];
    size_t first; /* below RING_ROOM */
    size_t count; /* at most RING_ROOM */
};

bool ring_put(struct ring *ring, uint8_t byte)
{
    if (ring->count == RING_ROOM)
        return false;
    ring->bytes[(ring->first + ring->count) % RING_ROOM] = byte;
    ring->count++;
    return true;
}

bool ring_take(struct ring *ring, uint8_t *byte)
{
    if (ring->count == 0)
        return false;
    if (byte != NULL)
        *byte = ring->bytes[ring->first];
    ring->first = ring->first + 1 == RING_ROOM ? 0 : ring->first + 1;
    ring->count--;
    return true;
}
