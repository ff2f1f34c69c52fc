//! Handlers of interrupts run before volatile reads of the code under test.

use super::in_all_builds::passes_everywhere;
use crate::common::{Workplace, figures};

/// A tick counter, and seconds that the handler counts.
const TICKS: &str = r#"
#include <stdint.h>
static volatile uint32_t ticks;
static uint32_t seconds;
uint32_t wanted;
void SysTick_Handler(void)
{
    ticks++;
    if (ticks % 1000 == 0) seconds++;
}
int wait_ticks(uint32_t n)
{
    uint32_t start = ticks;
    while (ticks - start < n) { }
    return 1;
}
int rings(void)
{
    if (ticks > 5 && seconds > 3 && wanted == 7) return 1;
    return 0;
}
int second_passes(void)
{
    uint32_t before = seconds;
    if (ticks > 5 && before != seconds) return 1;
    return 0;
}
"#;

#[test]
fn a_test_says_at_which_read_a_handler_runs() {
    let place = Workplace::with(TICKS);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in [("wait_ticks", 2), ("rings", 6), ("second_passes", 4)] {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    let suite = place.read("tests/tests.c");
    let waits = "    RUNS(SysTick_Handler, &ticks, 3);\n    SCRIPTED(int result = wait_ticks(2));";
    assert!(suite.contains(waits), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
    // The suite in JSON has the same tests.
    let again = place.done("cover unit.c --tests tests -c bc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "second_passes", "bc")[1], 4, "{again}");
}

#[test]
fn nothing_is_asserted_where_a_compiler_may_keep_what_a_handler_writes_in_a_register() {
    let place = Workplace::with(TICKS);
    place.done("gen unit.c -c bc -o tests");
    let suite = place.read("tests/tests.c");
    let start = suite.find("static void test_second_passes_ticks_gt_5(void)").unwrap();
    assert!(suite[..start].ends_with("#ifdef LYDIAN_RUN_UNDEFINED\n"), "{suite}");
    let test = &suite[start..start + suite[start..].find("\n}\n").unwrap()];
    assert!(
        test.contains("RUNS(SysTick_Handler, &ticks, 1);") && !test.contains("CHECK"),
        "{test}"
    );
}

#[test]
fn a_suite_fails_where_a_handler_does_not_run_or_does_something_else() {
    let place = Workplace::with(TICKS);
    place.done("gen unit.c -c bc -o tests");
    for (from, to, said) in [
        ("ticks++;", "ticks += 2;", "seconds is 0, expected 1"),
        ("while (ticks - start < n) { }", "start += n;", "handlers of RUNS do not run"),
    ] {
        place.write("unit.c", &TICKS.replace(from, to));
        let compile = "gcc -w tests/tests.c -o suite && ./suite";
        let mut shell = std::process::Command::new("sh");
        let ran = crate::common::Ran::of(shell.args(["-c", compile]).current_dir(place.path(".")));
        assert!(ran.code == Some(1) && ran.to_string().contains(said), "{from}: {ran}");
    }
}

/// A driver whose handler fills a ring buffer.
const UART: &str = r#"
#include <stdint.h>
typedef struct { volatile uint32_t SR, DR, CR1; } uart_t;
#define USART1 ((uart_t *)0x40011000u)
static volatile uint8_t buffer[16];
static volatile uint8_t head;
static uint8_t tail;
static uint8_t errors;
void USART1_IRQHandler(void)
{
    if (USART1->SR & 0xf) errors++;
    if (!(USART1->SR & 0x20)) return;
    buffer[head] = (uint8_t)USART1->DR;
    head = (head + 1) & 15;
}
int get(void)
{
    int c;
    while (head == tail) { }
    c = buffer[tail & 15];
    tail = (tail + 1) & 15;
    if (errors) return -1;
    return c;
}
int fails(void)
{
    USART1->CR1 |= 1;
    if (USART1->SR & 0x80 && errors == 9) return 1;
    return 0;
}
"#;

#[test]
fn handlers_read_devices_and_fill_buffers() {
    let place = Workplace::with(UART);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in [("USART1_IRQHandler", 4), ("get", 4), ("fails", 4)] {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("RUNS(USART1_IRQHandler, &head, "), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
}

/// Handlers that are masked, that `lydian.toml` names, and one before a read of a device.
const MASKED: &str = r#"
#include <stdint.h>
#define STATUS (*(volatile uint32_t *)0x40001000)
void __disable_irq(void);
void __enable_irq(void);
static volatile int flag;
static int count;
void on_timer(void) { flag = 1; count = 77; }
int locked(void)
{
    int seen;
    __asm volatile ("cpsid i" : : : "memory");
    count = 0;
    seen = flag;
    if (count == 77) return 2;
    __asm volatile ("cpsie i" : : : "memory");
    return seen != 0;
}
int locked_by_calls(void)
{
    __disable_irq();
    count = 0;
    (void)flag;
    if (count == 77) return 2;
    __enable_irq();
    return 0;
}
int unlocked(void)
{
    count = 0;
    while (!(STATUS & 1)) { }
    if (count == 77) return 2;
    return 0;
}
"#;

#[test]
fn no_handler_runs_while_interrupts_are_disabled_and_settings_name_others() {
    let place = Workplace::with(MASKED);
    place.write("lydian.toml", "[interrupts]\nhandlers = [\"on_timer\"]\n");
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "unlocked", "bc"), [4, 4, 0, 0, 0], "{ran}");
    for function in ["locked", "locked_by_calls"] {
        assert_eq!(figures(&table, function, "bc")[..3], [2, 1, 0], "{function}: {ran}");
    }
    assert!(place.read("tests/tests.c").contains("RUNS(on_timer, &STATUS, 1);"));
    passes_everywhere(&place, "-std=gnu11");
    // Without the setting it is a function like others.
    place.write("lydian.toml", "[interrupts]\nhandlers = [\"on_timer\"]\nmost = 0\n");
    place.done("gen unit.c -c bc -o tests --fresh --json t.json");
    assert_eq!(figures(&place.json("t.json"), "unlocked", "bc")[..3], [4, 3, 0]);
}

#[test]
fn settings_that_name_no_handler_are_refused_with_their_place() {
    let place = Workplace::with(MASKED);
    for (name, why) in [
        ("on_tick", "`on_tick` is no function of the program"),
        ("locked", "`locked` is no function without parameters and result"),
    ] {
        place.write("lydian.toml", &format!("[interrupts]\nhandlers = [\"{name}\"]\n"));
        let ran = place.run("gen unit.c -c bc -o tests");
        let text = ran.to_string();
        assert!(ran.code == Some(2) && text.contains(why), "{text}");
        assert!(text.contains("lydian.toml:2:"), "{text}");
    }
}
