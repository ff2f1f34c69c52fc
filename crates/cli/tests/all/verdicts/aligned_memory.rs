//! Functions that align the memory that they get, so that what they do depends on the number that an address
//! is.

use crate::common::{Workplace, figures};

const ALIGNED: &str = "\
#include <stdint.h>

struct block {
    long size;
};

int place(void *memory, unsigned long size)
{
    unsigned long skip = (16 - (uintptr_t)memory % 16) % 16;

    if (size < skip + sizeof(struct block))
        return 0;
    size = (size - skip) / 16 * 16;
    ((struct block *)((unsigned char *)memory + skip))->size = (long)size;
    return 1;
}
";

#[test]
fn a_pointer_that_is_followed_does_not_lose_what_its_number_covered() {
    let place = Workplace::with(ALIGNED);
    let ran = place.done("gen unit.c -c stmt,wm --json t.json");
    assert!(!ran.err.contains("contradiction"), "{ran}");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "place", "stmt"), [6, 6, 0, 0, 0], "{ran}");
    assert!(figures(&table, "place", "wm")[1] > 80, "{ran}");
}

const LOW_BITS: &str = "\
#include <stdint.h>
#include <stdlib.h>

struct header {
    uint8_t length;
    uint8_t kind;
    uint16_t total;
    const char *extra;
};

static void copy(const uint8_t *from, const char *fields, uint8_t *to)
{
    for (; *fields; fields++) {
        if (*fields == 'b') {
            *to++ = *from++;
        } else {
            to += (uintptr_t)to & 1;
            *(uint16_t *)to = (uint16_t)(from[0] | from[1] << 8);
            from += 2;
            to += 2;
        }
    }
}

int read_header(struct header *header, const uint8_t *from)
{
    copy(from, \"bbw\", (uint8_t *)header);
    if (header->kind != 2)
        return -1;
    return header->total > 100 ? -2 : header->length;
}

int of_the_inputs(long *number)
{
    if (((uintptr_t)number & 7) == 1)
        return 1;
    return 0;
}

int of_a_block(void)
{
    char *block = malloc(3);
    int odd = ((uintptr_t)(block + 1) & 3) == 2;

    free(block);
    if (odd)
        return 1;
    return 0;
}

int of_a_local(void)
{
    int here = 3;

    if (((uintptr_t)&here & 3) == 1)
        return here;
    return 0;
}

int of_its_place(void)
{
    int here = 3;

    if (((uintptr_t)&here & 31) == 4)
        return here;
    return 0;
}
";

#[test]
fn low_bits_of_an_address_follow_from_the_alignment_of_its_object_and_others_may_be_any() {
    let place = Workplace::with(LOW_BITS);
    let ran = place.done("gen unit.c -c bc --json t.json");
    let table = place.json("t.json");
    let bc = |function: &str| figures(&table, function, "bc");
    assert_eq!(bc("read_header"), [4, 4, 0, 0, 0], "{ran}");
    for function in ["of_the_inputs", "of_a_block", "of_a_local"] {
        assert_eq!(bc(function), [2, 1, 1, 0, 0], "{function}: {ran}");
    }
    // The compiler chooses the place of the variable.
    let [objectives, covered, infeasible, _, _] = bc("of_its_place");
    assert_eq!((objectives, infeasible), (2, 0), "{covered} covered: {ran}");
}
