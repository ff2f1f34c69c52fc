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
