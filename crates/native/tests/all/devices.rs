//! Devices in the interpreter and natively: both run the same script.

use std::sync::Arc;

use lydian_base::Rng;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::device::{DevicePlace, ReadPlace, ScriptedInterrupt};
use lydian_ir::interp::{End, Interpreter, Options, Outcome as Followed, Silent};
use lydian_ir::test::{ExternalResult, Image, Test};
use lydian_native::{Build, BuildRequest, Limits, Optimization, Outcome, Plan, Run, Runner, Wants};

const MEMORY: Wants = Wants { cells: false, memory: true, heap: false, fill: false };

/// Registers of all widths, read, written and both at once, in loops that only a script ends.
const DRIVER: &str = r#"
typedef struct {
    volatile unsigned char data, control;
    volatile unsigned short rate;
    volatile unsigned int status;
    volatile unsigned long long stamp;
    volatile float level;
    volatile double gain;
    volatile unsigned int channel[4];
    volatile _Bool on;
    volatile signed char offset;
} port_t;
#define PORT ((port_t *)0x40013ff0)
#define OTHER ((port_t *)0xe0001000u)
static int kept;
static void tick(port_t *port) { port->control |= 1; port->rate++; port->stamp += 7; port->status ^= 0x55; }
int f(int x) {
    int sum = 0;
    port_t *port = x & 1 ? PORT : OTHER;
    while (!(port->status & 1)) if (--x < -20) return -1;
    port->data = (unsigned char)sum;
    sum += port->data + port->offset;
    tick(port);
    port->channel[x & 3] = port->channel[(x + 1) & 3] - 1;
    port->control &= ~2; port->control <<= 1; port->rate -= 3; port->status |= 0x80000000u;
    port->level = port->level + 1.5f;
    port->gain = (double)x;
    port->on = port->status & 4;
    port->offset--;
    if (port->on) sum -= (int)(port->stamp >> 3);
    switch (port->control) { case 1: kept = 3; break; case 2: for (;;) kept += port->data; }
    return sum * 3 + (port->level > 2.0f) + kept;
}
"#;

fn unit_of(text: &str) -> (tempfile::TempDir, Unit) {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("unit.c");
    std::fs::write(&source, text).unwrap();
    let flags = CompileFlags::new(&[], &source).unwrap();
    let unit = load(&LoadRequest::new(ParseRequest::new(&source, flags)));
    (place, unit.unwrap_or_else(|error| panic!("{error}")))
}

fn runner(unit: &Unit, level: Optimization) -> Runner {
    let entries = [unit.program.function_named("f").unwrap()];
    let build = BuildRequest {
        program: &unit.program,
        text: unit.source.text(),
        own_end: unit.source.text().len() as u32,
        companions: &[],
        plan: &Plan::default(),
        flags: &[],
        entries: &entries,
        modelled: &|_| false,
        level,
        compiler: "clang-19",
    };
    let build = Build::new(&build).unwrap_or_else(|error| panic!("{error}"));
    Runner::new(Arc::new(build), Limits::default()).unwrap()
}

fn interpreted(by: &Interpreter<'_>, test: &Test) -> Followed {
    by.run(test, &Options::default(), &mut Silent).unwrap()
}

/// A test whose script has a random value for each read that the run asks for, up to so many.
fn scripted(by: &Interpreter<'_>, rng: &mut Rng, most: usize) -> Test {
    let int = |value: u64| Image { bytes: value.to_le_bytes()[..4].to_vec(), pointers: vec![] };
    let mut test = Test::calling("f", vec![int(rng.below(8))]);
    for _ in 0..most {
        let Some(wanted) = interpreted(by, &test).outrun else { break };
        // Small numbers are told apart in the program, and all others are like each other.
        let value = if rng.below(3) > 0 { rng.below(8) } else { rng.next_u64() };
        let bytes = match (wanted.bytes, wanted.place.address & 0xfff) {
            // A truth value.
            (1, 0x20 | 0x30) => vec![(value & 1) as u8],
            _ => value.to_le_bytes()[..wanted.bytes as usize].to_vec(),
        };
        test.externals.push(ExternalResult::device_read(&ReadPlace::Device(wanted.place), bytes));
    }
    test
}

fn compare(test: &Test, followed: &Followed, native: &Run) {
    match followed.end {
        End::Returned => {
            let result = followed.result.clone().expect("f gives a number");
            assert_eq!(native.outcome, Outcome::Returned(result), "{test:#?}");
        }
        End::OutrunsScript => assert_eq!(native.outcome, Outcome::OutranScript, "{test:#?}"),
        end => panic!("{end:?}: {test:#?}"),
    }
    assert_eq!(native.device_writes, followed.device_writes, "{test:#?}");
}

#[test]
fn random_scripts_do_the_same_in_the_interpreter_and_natively_at_all_levels_of_optimisation() {
    let (_place, unit) = unit_of(DRIVER);
    let by = Interpreter::new(&unit.program);
    let tests: Vec<Test> = (0..300)
        .map(|seed| {
            let mut rng = Rng::new(seed);
            let most = rng.below(60) as usize;
            scripted(&by, &mut rng, most)
        })
        .collect();
    let followed: Vec<Followed> = tests.iter().map(|test| interpreted(&by, test)).collect();
    let returned = followed.iter().filter(|run| run.end == End::Returned).count();
    assert!((50..250).contains(&returned), "{returned} of 300 return");
    for level in [Optimization::None, Optimization::Some, Optimization::Full] {
        let natively = runner(&unit, level).run(&tests, MEMORY).unwrap();
        for ((test, followed), native) in tests.iter().zip(&followed).zip(&natively) {
            compare(test, followed, native);
        }
    }
}

#[test]
fn a_read_at_another_place_than_the_script_says_ends_the_run() {
    let (_place, unit) = unit_of(
        "int f(int x) { return *(volatile int *)0x40000000 + *(volatile int *)(0x40000004 + 4 * x); }",
    );
    let by = Interpreter::new(&unit.program);
    let test = |x: u8| {
        let mut test =
            Test::calling("f", vec![Image { bytes: vec![x, 0, 0, 0], pointers: vec![] }]);
        let read = |address, value| {
            let place = ReadPlace::Device(DevicePlace { address });
            ExternalResult::device_read(&place, vec![value, 0, 0, 0])
        };
        test.externals = vec![read(0x4000_0000, 1), read(0x4000_0008, 2)];
        test
    };
    let tests = [test(0), test(1), test(0)];
    let natively = runner(&unit, Optimization::Some).run(&tests, MEMORY).unwrap();
    let found: Vec<&Outcome> = natively.iter().map(|run| &run.outcome).collect();
    let three = Outcome::Returned(vec![3, 0, 0, 0]);
    assert_eq!(found, [&Outcome::OutranScript, &three, &Outcome::OutranScript]);
    for (test, native) in tests.iter().zip(&natively) {
        compare(test, &interpreted(&by, test), native);
    }
    let outrun = interpreted(&by, &tests[0]).outrun.expect("the second read is elsewhere");
    assert_eq!((outrun.place.address, outrun.bytes), (0x4000_0004, 4));
}

#[test]
fn a_fault_of_the_programs_own_among_accesses_of_devices_is_a_crash() {
    let (_place, unit) = unit_of(
        "int f(int x) { *(volatile int *)0x40000000 = x; int *p = x ? 0 : &x; return *p; }",
    );
    let mut test = Test::calling("f", vec![Image { bytes: vec![1, 0, 0, 0], pointers: vec![] }]);
    let runner = || runner(&unit, Optimization::None);
    assert!(matches!(
        runner().run(&[test.clone()], MEMORY).unwrap()[0].outcome,
        Outcome::Crashed(_)
    ));
    test.args[0].bytes[0] = 0;
    let run = runner().run(&[test], MEMORY).unwrap().remove(0);
    assert_eq!((run.outcome, run.device_writes.len()), (Outcome::Returned(vec![0; 4]), 1));
}

/// Volatile variables among others on one page, and a device between them.
const VARIABLES: &str = r#"
static int before = 3, table[8];
static volatile int ready;
static volatile short level = 7;
static int after = 5;
int f(int x) {
    int sum = x;
    while (!(ready & 1)) { before++; if (sum++ > 40) return before; table[sum & 7] += level; }
    ready += 2;
    after ^= ready;
    if (ready > 4) ready = table[ready & 7];
    for (int i = 0; i < 8; i++) sum += table[i] * i + level;
    return sum + before * 3 + after + (ready | *(volatile int *)0x40000000);
}
"#;

#[test]
fn scripts_of_volatile_variables_leave_their_neighbours_alone_and_do_the_same_natively() {
    let (_place, unit) = unit_of(VARIABLES);
    let by = Interpreter::new(&unit.program);
    let test = |seed: u64| {
        let mut rng = Rng::new(seed);
        let x = (rng.below(4) as i32).to_le_bytes().to_vec();
        let mut test = Test::calling("f", vec![Image { bytes: x, pointers: vec![] }]);
        let ready = ReadPlace::Variable("ready".to_owned(), 0);
        for _ in 0..rng.below(12) {
            let value = (rng.below(8) as u32).to_le_bytes().to_vec();
            test.externals.push(ExternalResult::device_read(&ready, value));
        }
        let device = ReadPlace::Device(DevicePlace { address: 0x4000_0000 });
        test.externals.push(ExternalResult::device_read(&device, vec![seed as u8, 0, 0, 0]));
        test
    };
    let tests: Vec<Test> = (0..300).map(test).collect();
    let followed: Vec<Followed> = tests.iter().map(|test| interpreted(&by, test)).collect();
    let returned = followed.iter().filter(|run| run.end == End::Returned).count();
    assert!((30..270).contains(&returned), "{returned} of 300 return");
    for level in [Optimization::None, Optimization::Full] {
        let natively = runner(&unit, level).run(&tests, MEMORY).unwrap();
        for ((test, followed), native) in tests.iter().zip(&followed).zip(&natively) {
            compare(test, followed, native);
            // Where the run outruns, the compiler may have variables in registers.
            let returned = followed.end == End::Returned;
            for (name, bytes) in native.globals.iter().filter(|_| returned) {
                let global = unit.program.global_named(name).unwrap();
                assert_eq!(followed.global(global), bytes, "{name}: {test:#?}");
            }
        }
    }
}

/// A handler that accesses a device, and code that polls a device and a variable.
const INTERRUPTED: &str = r#"
#define DATA (*(volatile unsigned *)0x40001004)
#define STATUS (*(volatile unsigned *)0x40001000)
static volatile int ready;
static int neighbour = 3;
static unsigned char buffer[8];
static volatile unsigned head;
void received(void) { buffer[head & 7] = (unsigned char)DATA; head++; ready = (int)head; }
void cleared(void) { ready = 0; STATUS = 7; }
int f(int x) {
    int sum = x;
    double scale = x * 1.5;
    for (int i = 0; i < 6; i++) {
        neighbour += ready;
        if (STATUS & 1) sum += (int)head * i;
        scale += ready;
    }
    for (int i = 0; i < 8; i++) sum = sum * 3 + buffer[i];
    return sum + (int)(scale * 2) + neighbour;
}
"#;

#[test]
fn handlers_of_interrupts_run_natively_at_the_reads_at_which_the_interpreter_runs_them() {
    let (_place, unit) = unit_of(INTERRUPTED);
    let by = Interpreter::new(&unit.program);
    let device = |address| ReadPlace::Device(DevicePlace { address });
    let [status, data] = [0x4000_1000, 0x4000_1004].map(device);
    let variable = |name: &str| ReadPlace::Variable(name.to_owned(), 0);
    let test = |seed: u64| {
        let mut rng = Rng::new(seed);
        let x = (rng.below(9) as i32).to_le_bytes().to_vec();
        let mut test = Test::calling("f", vec![Image { bytes: x, pointers: vec![] }]);
        for _ in 0..rng.below(5) {
            let place = match rng.below(3) {
                0 => status.clone(),
                1 => variable("head"),
                _ => variable("ready"),
            };
            let handler = if rng.below(3) == 0 { "cleared" } else { "received" }.to_owned();
            let read = 1 + rng.below(7) as u32;
            let interrupt = ScriptedInterrupt { handler, place, read };
            test.externals.push(ExternalResult::interrupt(&interrupt));
        }
        // The reads that the run asks for, with any values.
        loop {
            let followed = interpreted(&by, &test);
            let Some(read) = followed.outrun else { return test };
            let place = if read.place.address == 0x4000_1000 { &status } else { &data };
            let value = vec![rng.below(4) as u8, 0, 0, 0];
            let made = followed.scripted_reads as usize;
            let is_read = |entry: &ExternalResult| entry.read_place().is_some();
            let mut reads = test.externals.iter().enumerate().filter(|(_, entry)| is_read(entry));
            let at = reads.nth(made).map_or(test.externals.len(), |(at, _)| at);
            test.externals.insert(at, ExternalResult::device_read(place, value));
        }
    };
    let tests: Vec<Test> = (0..300).map(test).collect();
    let followed: Vec<Followed> = tests.iter().map(|test| interpreted(&by, test)).collect();
    let buffer = unit.program.global_named("buffer").unwrap();
    let filled = followed.iter().filter(|run| run.global(buffer).iter().any(|byte| *byte > 0));
    assert!(filled.count() > 60);
    for level in [Optimization::None, Optimization::Full] {
        let natively = runner(&unit, level).run(&tests, MEMORY).unwrap();
        for ((test, followed), native) in tests.iter().zip(&followed).zip(&natively) {
            compare(test, followed, native);
            for (name, bytes) in &native.globals {
                let global = unit.program.global_named(name).unwrap();
                assert_eq!(followed.global(global), bytes, "{name}: {test:#?}");
            }
        }
    }
}
