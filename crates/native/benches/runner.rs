//! How many tests of a small function run in a second: in batches, one at a time, and with what
//! each of them covers.

#[allow(dead_code, reason = "the bench uses a part of it")]
#[path = "../tests/all/common/mod.rs"]
mod common;

use std::io::Write as _;
use std::time::Instant;

use common::{Unit, bytes_object, call, pointer};
use lydian_ir::IntKind;
use lydian_ir::test::{PointerTarget, Test};
use lydian_native::{Confinement, Limits, Optimization, Runner, Wants};

const TEXT: &str = "\
    int digits(const char *s) { int n = 0; \
    while (*s == ' ' || *s == '\\t') s++; \
    while (*s >= '0' && *s <= '9') { n = n * 10 + (*s - '0'); s++; } \
    return *s ? -1 : n; }";

fn main() {
    let mut unit = Unit::new(TEXT);
    let (int, text) = (unit.int(), unit.pointer_to(IntKind::Char));
    let character = unit.program.types.int(IntKind::Char);
    let unit = unit.defines("digits", int, &[text]);
    let tests: Vec<Test> = (0..20_000)
        .map(|n| {
            let mut test = call("digits", &[pointer(PointerTarget::Object(0, 0))]);
            test.objects.push(bytes_object("s", character, 0, format!(" {n:05}\0").as_bytes()));
            test
        })
        .collect();
    let mut runner = unit.runner();
    runner.run(&tests, Wants::default()).expect("the tests fit the program");

    starts("one a runner", &unit, &tests[0], Confinement::On);
    starts("one a runner that is not confined", &unit, &tests[0], Confinement::Off);

    let rounds = 20;
    let started = Instant::now();
    for _ in 0..rounds {
        runner.run(&tests, Wants::default()).expect("the tests fit the program");
    }
    let batched = started.elapsed();
    let inside = runner.time_in_runner();
    report("in batches, as the parent sees it", rounds * tests.len(), batched);
    report("in batches, inside the runner", (rounds + 1) * tests.len(), inside);

    let started = Instant::now();
    for test in &tests {
        let one = std::slice::from_ref(test);
        runner.run(one, Wants::default()).expect("the test fits the program");
    }
    report("one at a time", tests.len(), started.elapsed());

    let wants = Wants { cells: true, memory: true, ..Wants::default() };
    let started = Instant::now();
    runner.run(&tests, wants).expect("the tests fit the program");
    report("in batches, with memory and cells", tests.len(), started.elapsed());
}

/// How long it takes from nothing to the first test's end, the program being built.
fn starts(what: &str, unit: &Unit, test: &Test, confinement: Confinement) {
    let build = unit.build(Optimization::None);
    let rounds = 200;
    let started = Instant::now();
    for _ in 0..rounds {
        let limits = Limits { confinement, ..Limits::default() };
        let mut runner = Runner::new(build.clone(), limits).expect("a runner starts");
        let one = std::slice::from_ref(test);
        runner.run(one, Wants::default()).expect("the test fits the program");
    }
    report(what, rounds, started.elapsed());
}

fn report(what: &str, tests: usize, time: std::time::Duration) {
    let rate = tests as f64 / time.as_secs_f64();
    let _ = writeln!(std::io::stdout(), "{what:40} {rate:12.0} tests/s");
}
