//! Strong mutation: mutants a second on generated suites, and the cost of a build with all mutants.
//!
//!     cargo bench -p lydian-cli --bench mutation [-- FILE.c ...]
//!
//! Each file [default: the examples] gets a suite by `lydian gen`, and `lydian mutate` runs it on one
//! thread. Printed are mutants, kills, equivalent mutants, runs, and mutants a second of the runs alone.
//! Then the tests of a small project run as copies of one process, and as processes that are started one by
//! one. Printed are mutants a second, processor times of the whole command, and their ratios.
//! At last a program that sorts, hashes and multiplies is compiled with `-O2`, as it is and with all mutants
//! of which none is chosen. Printed are the processor times, the fastest of several runs, and their ratio.

#[path = "shared/processor.rs"]
mod processor;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comfy_table::{Table, presets};
use processor::timed;
use serde_json::Value;

const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");
/// The runs of which the fastest counts.
const RUNS: u32 = 7;

/// Small functions that are called often, and loops that compute.
const BUSY: &str = r#"
enum { SIZE = 4000, SIDE = 120 };
static unsigned numbers[SIZE];
static double a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static unsigned next(unsigned seed) { return seed * 1664525u + 1013904223u; }
static int before(unsigned x, unsigned y) { return x < y; }
static void sort(unsigned *all, int count)
{
    for (int i = 1; i < count; i++) {
        unsigned own = all[i];
        int at = i;
        while (at > 0 && before(own, all[at - 1])) { all[at] = all[at - 1]; at--; }
        all[at] = own;
    }
}
static unsigned hash(const unsigned char *bytes, unsigned long count)
{
    unsigned h = 2166136261u;
    for (unsigned long i = 0; i < count; i++) h = (h ^ bytes[i]) * 16777619u;
    return h;
}
static void multiply(void)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double sum = 0;
            for (int k = 0; k < SIDE; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}
int main(void)
{
    unsigned seed = 1, found = 0;
    for (int turn = 0; turn < 20; turn++) {
        for (int i = 0; i < SIZE; i++) numbers[i] = seed = next(seed);
        sort(numbers, SIZE);
        for (int i = 0; i < SIDE; i++)
            for (int j = 0; j < SIDE; j++) a[i][j] = b[j][i] = (seed = next(seed)) % 7;
        multiply();
        for (int i = 0; i < 200; i++) found ^= hash((unsigned char *)numbers, sizeof numbers);
        found += (unsigned)c[3][5];
    }
    return found == 7;
}
"#;

/// A unit with its test.
const BUSY_TESTED: &str = r#"
int clamp(int n, int low, int high) { return n < low ? low : n > high ? high : n; }
unsigned hash(const char *text)
{
    unsigned h = 2166136261u;
    while (*text) h = (h ^ (unsigned char)*text++) * 16777619u;
    return h;
}
int digits(int n)
{
    int count = 1;
    if (n < 0) n = -n;
    for (; n > 9; n /= 10) count++;
    return count;
}
int main(void)
{
    if (clamp(5, 1, 9) != 5 || clamp(-5, 1, 9) != 1 || clamp(50, 1, 9) != 9) return 1;
    if (hash("") != 2166136261u || hash("a") == hash("b")) return 2;
    return digits(0) != 1 || digits(-10) != 2 || digits(12345) != 5;
}
"#;

fn main() {
    let given = std::env::args().skip(1).filter(|word| word.ends_with(".c"));
    let mut files: Vec<PathBuf> = given.map(PathBuf::from).collect();
    if files.is_empty() {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
        let names = ["median.c", "parse_header.c", "ring.c", "thermostat.c"];
        files = names.iter().map(|name| examples.join(name)).collect();
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["file", "mutants", "killed", "equivalent", "alive", "runs", "mutants/s"]);
    for file in &files {
        match suite(file) {
            Some(row) => _ = table.add_row(row),
            None => say(&format!("{} cannot be done", file.display())),
        }
    }
    say(&table.to_string());
    say(&copies());
    say(&overhead());
}

/// The figures of a file's suite.
fn suite(file: &Path) -> Option<Vec<String>> {
    let place = tempfile::tempdir().ok()?;
    let (tests, json) = (place.path().join("tests"), place.path().join("m.json"));
    let mut generate = Command::new(LYDIAN);
    generate.arg("gen").arg(file).args(["-c", "mcdc,wm", "--time", "10", "-o"]).arg(&tests);
    let mut mutate = Command::new(LYDIAN);
    mutate.arg("mutate").arg(file).arg("--tests").arg(&tests).args(["--jobs", "1", "--json"]);
    for command in [&mut generate, mutate.arg(&json)] {
        if !command.stdout(Stdio::null()).status().ok()?.success() {
            return None;
        }
    }
    let report: Value = serde_json::from_str(&std::fs::read_to_string(json).ok()?).ok()?;
    let score = |name: &str| report["score"][name].as_u64().unwrap_or_default();
    let killed = score("killed") + score("timed_out");
    let alive = score("survived") + score("not_infected") + score("not_reached");
    let seconds = report["microseconds"].as_f64()? / 1e6;
    let name = file.file_name()?.to_string_lossy().into_owned();
    let counts = [score("mutants"), killed, score("equivalent"), alive, report["runs"].as_u64()?];
    let mut row = vec![name];
    row.extend(counts.map(|count| count.to_string()));
    row.push(format!("{:.0}", score("mutants") as f64 / seconds));
    Some(row)
}

/// Tests as copies of one process against tests that are started one by one.
fn copies() -> String {
    let place = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(place.path().join("busy.c"), BUSY_TESTED).expect("a file can be written");
    let measured = |test: &str| {
        let mut mutate = Command::new(LYDIAN);
        mutate.current_dir(place.path()).args(["mutate", "busy.c", "--fresh", "--json", "m.json"]);
        mutate.args(["--build", "$CC -O1 busy.c -o check", "--proof-time", "0", "--test", test]);
        let (status, seconds) = timed(|| mutate.stdout(Stdio::null()).status());
        assert!(status.expect("a program").success(), "{test}");
        let text = std::fs::read_to_string(place.path().join("m.json")).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        let count = report["score"]["mutants"].as_f64().expect("a number");
        (count * 1e6 / report["microseconds"].as_f64().expect("a number"), seconds)
    };
    // `exec` is not the path of a program, so no process is copied.
    let ((copied, less), (started, more)) = (measured("./check"), measured("exec ./check"));
    format!(
        "mutants/s: {copied:.0} as copies, {started:.0} started one by one: {:.1} times; processor time \
         with the build: {less:.3} s and {more:.3} s: {:.2} times",
        copied / started,
        less / more
    )
}

fn overhead() -> String {
    let place = tempfile::tempdir().expect("a temporary folder");
    let source = place.path().join("busy.c");
    std::fs::write(&source, BUSY).expect("a file can be written");
    let program = |name: &str, command: &mut Command| {
        let path = place.path().join(name);
        let done = command.arg("-O2").arg(&source).arg("-o").arg(&path).current_dir(place.path());
        assert!(done.status().expect("a compiler").success(), "{name}");
        path
    };
    let plain = program("plain", &mut Command::new("clang-19"));
    let mut wrapper = Command::new(LYDIAN);
    wrapper.args(["cc", "--mutants", "--dir", ".lydian", "--", "clang-19"]);
    let mutants = program("mutants", &mut wrapper);
    let fastest = |program: &Path| {
        let runs = (0..RUNS).map(|_| timed(|| Command::new(program).status()).1);
        runs.fold(f64::INFINITY, f64::min)
    };
    let (before, after) = (fastest(&plain), fastest(&mutants));
    format!("plain {before:.3} s, with mutants {after:.3} s: {:.2} times", after / before)
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{text}"));
}
