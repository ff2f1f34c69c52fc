//! Firmware with assembly for another machine is tested, and its suites pass in all builds.

use super::in_all_builds::passes_everywhere;
use crate::common::{Workplace, figures};

/// Intrinsics as CMSIS has them, assembly of the user's own, and code that needs both.
const QUEUE: &str = r#"
#include <stdint.h>
#define INTRINSIC __attribute__((always_inline)) static inline
INTRINSIC void disable_irq(void) { __asm volatile ("cpsid i" : : : "memory"); }
INTRINSIC uint32_t get_primask(void)
{
    uint32_t result;
    __asm volatile ("MRS %0, primask" : "=r" (result));
    return result;
}
INTRINSIC void set_primask(uint32_t mask) { __asm volatile ("MSR primask, %0" : : "r" (mask) : "memory"); }
INTRINSIC uint32_t reverse(uint32_t x) { uint32_t y; __asm ("rev %0, %1" : "=r" (y) : "r" (x)); return y; }
#define SSAT(x, bits) __extension__ ({ int32_t to, from = (x); \
    __asm ("ssat %0, %1, %2" : "=r" (to) : "I" (bits), "r" (from) : "cc"); to; })
__attribute__((naked)) void reset(void);
void reset(void) { __asm volatile ("ldr r0, =main\n bx r0"); }
__asm (".thumb_func");
register uint32_t stack_top __asm ("sp");

static int queue[4], count;
int push(int value)
{
    uint32_t mask = get_primask();
    disable_irq();
    if (count >= 4) {
        set_primask(mask);
        return -1;
    }
    queue[count++ & 3] = SSAT(value, 8);
    set_primask(mask);
    return 0;
}
int saturates(int value) { if (SSAT(value, 8) != value) return 1; return 0; }
int is_magic(uint32_t word) { if (reverse(word) == 0x12345678u) return 1; return 0; }
int is_masked(void) { if (get_primask()) return 1; return 0; }
int call(int number)
{
    register int r0 __asm ("r0") = number;
    __asm volatile ("svc 0" : "+r" (r0) : : "memory", "r1");
    if (r0 < 0) __asm volatile ("wfi"); else __asm volatile ("nop");
    return r0;
}
int plain(int x) { if (x > 3) return 1; return 0; }
"#;

#[test]
fn code_around_assembly_for_another_machine_is_covered_and_its_suite_passes_everywhere() {
    let place = Workplace::with(QUEUE);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for function in ["push", "saturates", "is_magic", "is_masked", "plain"] {
        assert_eq!(figures(&table, function, "bc")[..2], [2, 2], "{function}: {ran}");
    }
    assert_eq!(figures(&table, "call", "bc")[..2], [2, 2], "{ran}");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("GIVES(assembly_in_call, "), "{suite}");
    assert!(suite.contains("lydian_primask = 1;"), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
}

#[test]
fn each_place_of_such_assembly_is_listed_once() {
    let place = Workplace::with(QUEUE);
    let said = place.done("gen unit.c -c bc -o tests").to_string();
    for listed in ["`cpsid i`", "`rev %0, %1`", "`assembly_in_reset`", "`assembly_in_call`"] {
        assert_eq!(said.matches(listed).count(), 1, "{listed}: {said}");
    }
    assert!(!said.contains("nothing is known of what inline assembly"), "{said}");
}
