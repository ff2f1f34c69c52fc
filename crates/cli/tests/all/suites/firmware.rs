//! Firmware with assembly for another machine is tested, and its suites pass in all builds.

use super::in_all_builds::passes_everywhere;
use crate::common::{Ran, Workplace, figures};

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

/// A UART as CMSIS describes one, with drivers that wait for it, one with a limit.
const UART: &str = r#"
#include <stdint.h>
typedef struct { volatile uint32_t SR, DR, BRR, CR1; volatile uint8_t pins[8]; } uart_t;
#define USART1 ((uart_t *)0x40011000u)
#define USART2 ((uart_t *)0x40004400u)
#define WATCHDOG (*(volatile uint16_t *)0x40003000)
static uart_t *const ports[] = { USART1, USART2 };
static void put(uart_t *port, int c) { while (!(port->SR & 0x80)) { } port->DR = (uint32_t)c; }
int send(int n)
{
    int i;
    USART1->CR1 |= 8;
    for (i = 0; i < n; i++) put(USART1, 'a' + i);
    return i;
}
int receive(int timeout)
{
    while (!(USART1->SR & 0x20))
        if (timeout-- <= 0) return -1;
    if (USART1->SR & 0xf) { (void)USART1->DR; return -2; }
    return (int)(USART1->DR & 0x1ff);
}
int differs(void) { uint32_t a = USART1->SR, b = USART1->SR; if (a != b) return 1; return 0; }
int pin(unsigned port, unsigned at)
{
    if (port > 1) return -1;
    if (ports[port]->pins[at & 7] == 9) return 1;
    return 0;
}
void watch(void)
{
    for (;;) {
        uint32_t load = USART2->SR;
        if (load == 77) WATCHDOG = 0xaaaa;
    }
}
"#;

#[test]
fn drivers_that_wait_for_devices_are_covered_and_their_suite_passes_everywhere() {
    let place = Workplace::with(UART);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in [("send", 2), ("receive", 6), ("differs", 2), ("pin", 4), ("watch", 2)]
    {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("READS(&USART1->SR, 4, 0x20);"), "{suite}");
    assert!(suite.contains("CHECK_WRITE(&WATCHDOG, 2, 0xaaaa);"), "{suite}");
    assert!(suite.contains("OUTRUNS(watch());"), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
}

#[test]
fn a_suite_fails_where_a_driver_accesses_devices_in_another_way() {
    let place = Workplace::with(UART);
    place.done("gen unit.c -c bc -o tests");
    let outcome = |change: [&str; 2]| {
        place.write("unit.c", &UART.replace(change[0], change[1]));
        let compile = "gcc -w tests/tests.c -o suite && ./suite";
        let ran = Ran::of(
            std::process::Command::new("sh").args(["-c", compile]).current_dir(place.path(".")),
        );
        (ran.code, ran.to_string())
    };
    assert_eq!(outcome(["", ""]).0, Some(0));
    for (change, said) in [
        (["= 0xaaaa", "= 0xaaab"], "0xaaab is written"),
        (["int i;", "int i; USART1->BRR = 9;"], "0x9 is written to 4 bytes at 0x40011008"),
        (["(void)USART1->DR; return -2", "return -2"], "1 reads of READS are not made"),
        (["a != b", "a != (uint32_t)USART1->DR + b"], "that is not the next in READS"),
    ] {
        let (code, text) = outcome(change);
        assert!(code == Some(1) && text.contains(said), "{change:?}: {text}");
    }
}

#[test]
fn no_verdict_rests_on_what_a_device_gives_or_on_addresses_that_cannot_be_mapped() {
    let place = Workplace::with(
        r#"
#include <stdint.h>
#define STATUS (*(volatile uint32_t *)0x40001000)
#define PORTB (*(volatile uint8_t *)0x25)
int twice(int a) {
    uint32_t first = STATUS;
    STATUS = 5;
    if (STATUS == 5 && a) return 1;
    if (STATUS != first) return 2;
    if ((STATUS & 0xff) > 0xff) return 3;
    return 0;
}
int low(int a) { PORTB |= 1; if (PORTB & 2) return a; return 0; }
int plain(int a) { return a > 3 ? *(uint32_t *)0x40001000 > 7 : 2; }
"#,
    );
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "twice", "bc"), [8, 7, 1, 0, 0], "{ran}");
    assert_eq!(figures(&table, "low", "bc"), [2, 0, 0, 0, 2], "{ran}");
    assert!(figures(&table, "plain", "bc")[2] == 0, "{ran}");
    assert!(ran.to_string().contains("0x25, which the program names as a number and this machine"));
}

/// Variables that handlers of interrupts write, and some that nobody else has.
const FLAGS: &str = r#"
#include <stdint.h>
static volatile int ready;
static int neighbour = 3;
static volatile struct { uint16_t head, tail; uint8_t data[8]; } ring;
extern volatile unsigned ticks;
int wait_ready(int most) { int i = 0; while (!ready) { if (++i > most) return -1; neighbour++; } return i; }
int get(void)
{
    uint8_t c;
    if (ring.head == ring.tail) return -1;
    c = ring.data[ring.tail & 7];
    ring.tail = (uint16_t)((ring.tail + 1) & 7);
    return c;
}
int wait_for(unsigned ms) { unsigned start = ticks; while (ticks - start < ms) { } return 1; }
int changes(void) { ready = 1; if (ready == 1) return 1; return 0; }
int delay(int n) { volatile int i = 4; if (n > 3) i = 5; if (i != 4 && i != 5) return 1; return i; }
int counts(int x) { static volatile int n; n++; if (n == 2 && x) return 7; return 0; }
"#;

#[test]
fn each_read_of_a_volatile_variable_is_an_input_and_suites_pass_everywhere() {
    let place = Workplace::with(FLAGS);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in
        [("wait_ready", 4), ("get", 2), ("wait_for", 2), ("changes", 2), ("counts", 4)]
    {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    // Nobody else has the local variable.
    assert_eq!(figures(&table, "delay", "bc")[1..3], [5, 1], "{ran}");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("READS(&ready, 4, 0x"), "{suite}");
    assert!(suite.contains("SCRIPTED(int result = "), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
}

/// Drivers that are given their device.
const HANDLES: &str = r#"
#include <stdint.h>
typedef struct { volatile uint32_t SR, DR, CR1; } uart_t;
typedef struct { uart_t *uart; uint16_t count; volatile uint8_t state; int errors; } handle_t;
int put(uart_t *u, int c, int most)
{
    while (!(u->SR & 0x80)) if (most-- <= 0) return -1;
    u->DR = (uint32_t)c;
    return 0;
}
int transmit(handle_t *h, const uint8_t *data, uint16_t n)
{
    if (h->state != 0) return 2;
    h->state = 1;
    for (h->count = 0; h->count < n; h->count++) {
        while (!(h->uart->SR & 0x80)) if (h->uart->SR & 8) { h->errors++; return 1; }
        h->uart->DR = data[h->count];
    }
    h->state = 0;
    return 0;
}
int differs(uart_t *u) { if (u->SR != u->SR) return 1; return 0; }
"#;

#[test]
fn devices_behind_pointers_of_the_inputs_are_covered_and_their_suite_passes_everywhere() {
    let place = Workplace::with(HANDLES);
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in [("put", 4), ("transmit", 8), ("differs", 2)] {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("static uart_t u __attribute__((__aligned__(4096)))"), "{suite}");
    passes_everywhere(&place, "-std=gnu11");
    // The suite in JSON has the same tests.
    let again = place.done("cover unit.c --tests tests -c bc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "transmit", "bc")[1], 8, "{again}");
}

#[test]
fn a_number_of_the_inputs_is_the_address_of_a_device() {
    let place = Workplace::with(
        r#"
#include <stdint.h>
#define MMIO32(addr) (*(volatile uint32_t *)(addr))
#define ENABLE(irq) MMIO32(0xE000E100U + 4 * ((irq) / 32))
void wait(uint32_t usart) { while ((MMIO32(usart) & 0x80) == 0) { } MMIO32(usart + 4) = 7; }
int is_enabled(uint8_t irq) { if (ENABLE(irq) & 1u << irq % 32) return 1; return 0; }
int known(uint32_t usart) { if (MMIO32(usart) == 3 && usart == 0x40011000) return 1; return 0; }
int low(uint32_t address) { if (MMIO32(address) == 1 && address < 8) return 1; return 0; }
"#,
    );
    let ran = place.done("gen unit.c -c bc -o tests --json t.json");
    let table = place.json("t.json");
    for (function, edges) in [("wait", 2), ("is_enabled", 2), ("known", 4)] {
        assert_eq!(figures(&table, function, "bc"), [edges, edges, 0, 0, 0], "{function}: {ran}");
    }
    // Elsewhere there may be a device at such an address.
    assert_eq!(figures(&table, "low", "bc"), [4, 3, 0, 0, 1], "{ran}");
    passes_everywhere(&place, "-std=gnu11");
}

/// Handlers of interrupts, by an attribute, by their name and by a table of vectors.
const HANDLERS: &str = "\
static int ticks, state;
static unsigned char buffer[8];
static unsigned head;
static int apart;
__attribute__((interrupt)) void SysTick_Handler(void)
{
    ticks++;
}
__attribute__((__interrupt__(\"IRQ\"))) static void received(void)
{
    buffer[head++ & 7] = 1;
}
void (*const vector_table[])(void) = { 0, received };
int differs(void)
{
    int before = ticks;
    if (state > 3 && before != ticks)
        return 1;
    return 0;
}
int moves(void)
{
    unsigned before = head;
    if (before != head)
        return 2;
    return 0;
}
int stays(void)
{
    int before = apart;
    if (before != apart)
        return 3;
    return 0;
}
";

#[test]
fn handlers_of_interrupts_stand_beside_assembly_for_another_machine() {
    let place = Workplace::with(
        "static volatile int ready;\n__attribute__((interrupt(\"IRQ\"))) void SysTick_Handler(void)\n{\n    ready = \
         1;\n}\n__attribute__((interrupt, naked)) void PendSV_Handler(void)\n{\n    __asm volatile (\"bx \
         lr\");\n}\nint f(int x)\n{\n    __asm volatile (\"cpsid i\" : : : \"memory\");\n    if (x > \
         3)\n        return ready;\n    __asm volatile (\"cpsie i\" : : : \"memory\");\n    return 0;\n}\n",
    );
    passes_everywhere(&place, "");
    place.done("gen unit.c -c stmt --time 2 --json out.json");
    let table = place.json("out.json");
    assert_eq!(figures(&table, "f", "stmt"), [5, 5, 0, 0, 0], "{table:#}");
}

#[test]
fn handlers_of_interrupts_are_tested_and_assumed_not_to_run_meanwhile() {
    let place = Workplace::with(HANDLERS);
    passes_everywhere(&place, "");
    place.done("gen unit.c -c stmt --time 2 --json out.json");
    let table = place.json("out.json");
    assert_eq!(figures(&table, "SysTick_Handler", "stmt"), [1, 1, 0, 0, 0], "{table:#}");
    // As assumed: these are shown apart from what is infeasible.
    assert_eq!(figures(&table, "differs", "stmt")[2], 0, "{table:#}");
    assert_eq!(figures(&table, "moves", "stmt")[2], 0, "{table:#}");
    assert_eq!(figures(&table, "stays", "stmt")[2], 1, "{table:#}");
    let objectives = place.read("tests/objectives.json");
    for sentence in [
        "`SysTick_Handler`, which writes `ticks`, does not run meanwhile",
        "`received`, which writes `head`, does not run meanwhile",
    ] {
        assert!(objectives.contains(sentence), "{sentence}: {objectives}");
    }
}

#[test]
fn mutants_read_no_variable_that_another_function_accesses_as_volatile() {
    let place = Workplace::with(
        "static volatile unsigned now;\nstatic unsigned gate;\nstatic void open(void)\n{\n    gate = \
         1;\n}\nunsigned f(void)\n{\n    open();\n    return now;\n}\n",
    );
    // A contradiction would be another exit code.
    let ran = place.done("gen unit.c -c wm -o tests --json t.json");
    let [all, covered, ..] = figures(&place.json("t.json"), "f", "wm");
    assert_eq!(all, covered, "{ran}");
}
