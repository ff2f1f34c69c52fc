//! How many IR steps a second the concrete interpreter runs, on C programs of five kinds, and how
//! much longer it takes than the same program compiled by `clang -O0`.
//!
//! Times are of the processor, so that other work on the machine matters less. Each program is run
//! as often as half a second allows and the best run counts; its result must be what the native
//! program computes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, load};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::test::Test;

/// What the native program prints: the result, and nanoseconds a run.
const MAIN: &str = r#"
#include <stdio.h>
#include <time.h>
unsigned long bench(void);
int main(void)
{
    unsigned long result = bench(), best = -1ul;
    for (int k = 0; k < 20; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        bench();
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        unsigned long ns = (b.tv_sec - a.tv_sec) * 1000000000ul + b.tv_nsec - a.tv_nsec;
        best = ns < best ? ns : best;
    }
    printf("%lu %lu\n", result, best);
}
"#;

/// Processor time of this process so far.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse().ok());
    Duration::from_nanos(nanoseconds.expect("Linux counts a process's time"))
}

fn native(path: &Path) -> (u64, Duration) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (main, binary) = (folder.path().join("main.c"), folder.path().join("main"));
    std::fs::write(&main, MAIN).expect("the folder is writable");
    let mut command = Command::new("clang-19");
    command.args(["-O0", "-w", "-fwrapv", "-o"]).arg(&binary).arg(&main).arg(path);
    assert!(command.status().expect("clang starts").success(), "{}", path.display());
    let output = Command::new(&binary).output().expect("the program starts");
    let text = String::from_utf8(output.stdout).expect("the program prints numbers");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
    let mut number = || numbers.next().expect("two numbers");
    (number(), Duration::from_nanos(number()))
}

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs");
    let entries = std::fs::read_dir(folder).expect("the programs are there");
    let mut paths: Vec<PathBuf> =
        entries.map(|entry| entry.expect("an entry can be read").path()).collect();
    paths.sort();
    let options = Options { max_steps: u64::MAX, ..Options::default() };
    let mut lines = String::from("program      steps    ms   million steps/s   times clang -O0\n");
    for path in paths {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let request = LoadRequest::new(ParseRequest::new(&path, CompileFlags::default()));
        let unit = load(&request).unwrap_or_else(|error| panic!("{error}"));
        assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
        let function = "bench".to_owned();
        let test = Test::calling(function, vec![]);
        let (expected, native_time) = native(&path);
        let (mut best, mut all, mut steps) = (Duration::MAX, Duration::ZERO, 0);
        while all < Duration::from_millis(500) {
            let start = processor_time();
            let outcome = run(&unit.program, &test, &options, &mut Silent).expect("it can run");
            let time = processor_time() - start;
            assert_eq!(outcome.end, End::Returned, "{name} {:?}", outcome.location);
            let result = outcome.result.expect("it gives a number");
            assert_eq!(result, expected.to_le_bytes(), "{name}");
            (best, all, steps) = (best.min(time), all + time, outcome.steps);
        }
        let speed = steps as f64 / best.as_secs_f64() / 1e6;
        let ratio = best.as_secs_f64() / native_time.as_secs_f64();
        let ms = best.as_secs_f64() * 1e3;
        lines += &format!("{name:8} {steps:9} {ms:6.1} {speed:16.1} {ratio:15.1}\n");
    }
    use std::io::Write;
    std::io::stdout().write_all(lines.as_bytes()).expect("the output is writable");
}
