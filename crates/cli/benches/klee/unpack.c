/* Packed bytes: runs, literal bytes, and copies of what came before. */
#include "input.h"

#ifndef LENGTH
#define LENGTH 5
#endif

enum { ROOM = 12, NO_ROOM = -1, NO_INPUT = -2, TOO_FAR = -3 };

/* The two upper bits of a code say what it is, the others how many bytes, less one. */
static int unpack(const uint8_t *in, int length, uint8_t *out)
{
    int written = 0;

    for (int at = 0; at < length;) {
        uint8_t code = in[at++];
        int count = (code & 0x3F) + 1;

        if (count > ROOM - written)
            return NO_ROOM;
        switch (code >> 6) {
        case 0:
            if (count > length - at)
                return NO_INPUT;
            while (count-- > 0)
                out[written++] = in[at++];
            break;
        case 1:
            if (at == length)
                return NO_INPUT;
            while (count-- > 0)
                out[written++] = in[at];
            at++;
            break;
        case 2:
            while (count-- > 0)
                out[written++] = 0;
            break;
        default: {
            int back;

            if (at == length)
                return NO_INPUT;
            back = in[at++] + 1;
            if (back > written)
                return TOO_FAR;
            for (; count-- > 0; written++)
                out[written] = out[written - back];
        }
        }
    }
    return written;
}

int main(void)
{
    uint8_t in[LENGTH], out[ROOM];

    INPUT(in);
    return unpack(in, LENGTH, out);
}
