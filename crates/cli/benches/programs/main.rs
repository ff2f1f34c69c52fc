//! What measuring real programs costs under `lydian cc`, beside gcov and clang's own coverage.
//!
//!     cargo bench -p lydian-cli --bench programs [-- [zlib] [sqlite] [runs=4] [only=NAME,...]]
//!
//! Two programs are built at -O2 in each way: zlib, which compresses 50 MB, and SQLite with a mixed
//! workload ([`programs/`]; `scripts/real-c` fetches the libraries). Printed are
//!
//! - the user time of the workload, the least of so many runs in which all variants take turns, and
//!   its ratio to the same compiler and flags without coverage;
//! - the processor time of compiling the library, with the ratio to clang with MC/DC;
//! - the time that `lydian report` takes for the table, and for its pages.
//!
//! `only` names variants; the plain builds are always among them. All mutants are measured on zlib
//! alone unless they are named: clang takes more than 10 GB and many minutes for those of SQLite.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use comfy_table::{Table, presets};

/// How a library is built.
struct Variant {
    name: &'static str,
    kind: Kind,
    /// The variant that its times are compared with.
    plain: &'static str,
}

#[derive(Clone, Copy)]
enum Kind {
    /// By a compiler with these flags.
    Compiler(&'static str, &'static [&'static str]),
    /// By `lydian cc` with these criteria, and clang.
    Lydian(&'static str),
}

const LOGIC: &str = "bc,dc,cc,dcc,mcc,gacc,gicc,cacc,racc,ricc,mcdc,ic,utpc,cutpnfp";
const EVERYTHING: &str = "fc,fcc,stmt,bbc,bc,dc,cc,dcc,mcc,gacc,gicc,cacc,racc,ricc,mcdc,ic,utpc,\
    cutpnfp,bva,slo,elo,mlo,epc,all-defs,all-uses";

const MUTANTS: &str = "mutants";
const VARIANTS: [Variant; 12] = [
    clang("clang", &[]),
    clang("clang coverage", &["-fprofile-instr-generate", "-fcoverage-mapping"]),
    clang("clang MC/DC", &["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"]),
    Variant { name: "gcc", kind: Kind::Compiler("gcc", &[]), plain: "gcc" },
    Variant { name: "gcov", kind: Kind::Compiler("gcc", &["--coverage"]), plain: "gcc" },
    lydian("branches", "bc,dc"),
    lydian("mcdc", "gacc,cacc,racc,mcdc"),
    lydian("logic", LOGIC),
    lydian("data flow", "all-defs,all-uses"),
    lydian("ten", "stmt,dc,cc,mcc,gacc,cacc,racc,mcdc,all-defs,all-uses"),
    lydian("everything", EVERYTHING),
    lydian(MUTANTS, "wm"),
];

const fn clang(name: &'static str, flags: &'static [&'static str]) -> Variant {
    Variant { name, kind: Kind::Compiler("clang-19", flags), plain: "clang" }
}

const fn lydian(name: &'static str, criteria: &'static str) -> Variant {
    Variant { name, kind: Kind::Lydian(criteria), plain: "clang" }
}

/// A library and what uses it.
struct Subject {
    name: &'static str,
    driver: &'static str,
    flags: &'static [&'static str],
    libraries: &'static [&'static str],
    only: fn(&Path) -> bool,
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        name: "zlib",
        driver: "zlib.c",
        flags: &["-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"],
        libraries: &[],
        only: |_| true,
    },
    Subject {
        name: "sqlite",
        driver: "sqlite.c",
        flags: &["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        libraries: &["-lm"],
        only: |path| path.ends_with("sqlite3.c"),
    },
];

/// What was found for one variant.
struct Outcome<'v> {
    variant: &'v Variant,
    program: PathBuf,
    compile: Duration,
    run: Duration,
    /// What the report says, and how long it takes.
    report: Option<ReportFigures>,
}

struct ReportFigures {
    objectives: u64,
    covered: u64,
    unmeasured: u64,
    table: Duration,
    pages: Duration,
    /// Bytes of all pages.
    size: u64,
}

fn main() {
    let (mut runs, mut only, mut chosen) = (4, Vec::new(), Vec::new());
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("runs", number)) => runs = number.parse().expect("runs is a number"),
            Some(("only", names)) => only = names.split(',').map(str::to_owned).collect(),
            _ => chosen.push(word),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for subject in &SUBJECTS {
        if chosen.is_empty() || chosen.iter().any(|word| word == subject.name) {
            compare(&root, subject, runs, &only);
        }
    }
}

fn compare(root: &Path, subject: &Subject, runs: usize, only: &[String]) {
    let fetched = Command::new(root.join("scripts/real-c")).arg(subject.name).output();
    assert!(fetched.is_ok_and(|output| output.status.success()), "cannot fetch {}", subject.name);
    let source = root.join("target/real-c").join(subject.name);
    let place = tempfile::tempdir().expect("a temporary directory");
    let wanted = |variant: &&Variant| {
        let small_enough = variant.name != MUTANTS || subject.name == "zlib";
        only.is_empty() && small_enough
            || variant.name == variant.plain
            || only.iter().any(|n| n == variant.name)
    };
    let mut outcomes: Vec<Outcome<'_>> = VARIANTS
        .iter()
        .filter(wanted)
        .map(|variant| build(root, subject, &source, place.path(), variant))
        .collect();
    // The variants take turns, so that a busy moment of the machine does not hit one alone.
    for _ in 0..runs {
        for outcome in &mut outcomes {
            outcome.run = outcome.run.min(run(&outcome.program));
        }
    }
    for outcome in &mut outcomes {
        if matches!(outcome.variant.kind, Kind::Lydian(_)) {
            outcome.report = Some(report(outcome.program.parent().expect("a folder")));
        }
    }
    say(&format!("{}\n{}\n", subject.name, table(&outcomes)));
}

/// Compiles the library in one way, and links the program.
fn build<'v>(
    root: &Path,
    subject: &Subject,
    source: &Path,
    place: &Path,
    variant: &'v Variant,
) -> Outcome<'v> {
    let place = place.join(variant.name.replace([' ', '/'], "-"));
    fs::create_dir_all(&place).expect("a folder is made");
    let lydian = env!("CARGO_BIN_EXE_lydian");
    let compiler = match variant.kind {
        Kind::Compiler(compiler, flags) => format!("{compiler} {}", flags.join(" ")),
        Kind::Lydian(criteria) => {
            format!("'{lydian}' cc --dir '{}/.lydian' -c {criteria} -- clang-19", place.display())
        }
    };
    let flags = format!("-O2 -w -I'{}' {}", source.display(), subject.flags.join(" "));
    let mut compile = Duration::ZERO;
    let mut objects = String::new();
    let mut files: Vec<PathBuf> = fs::read_dir(source)
        .expect("the library is there")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "c") && (subject.only)(path))
        .collect();
    files.sort();
    for file in files.iter().filter(|file| !file.ends_with("wasm32-wasi-vfs.c")) {
        let object = format!("{}.o", file.file_stem().unwrap_or_default().to_string_lossy());
        compile +=
            timed(&place, &format!("{compiler} {flags} -c '{}' -o {object}", file.display()));
        objects = format!("{objects} {object}");
    }
    let driver = root.join("crates/cli/benches/programs").join(subject.driver);
    timed(&place, &format!("clang-19 {flags} -c '{}' -o driver.o", driver.display()));
    let libraries = subject.libraries.join(" ");
    timed(&place, &format!("{compiler} -O2 driver.o{objects} {libraries} -o program"));
    say(&format!("{} {}: compiled in {:.1} s", subject.name, variant.name, compile.as_secs_f64()));
    let program = place.join("program");
    Outcome { variant, program, compile, run: Duration::MAX, report: None }
}

/// Runs a command line, and gives the processor time of all that it started.
fn timed(place: &Path, line: &str) -> Duration {
    let script = format!("TIMEFORMAT='%U %S'; time {{ {line} 2>errors; }}");
    let output = Command::new("bash").arg("-c").arg(script).current_dir(place).output();
    let output = output.expect("bash starts");
    let said = fs::read_to_string(place.join("errors")).unwrap_or_default();
    assert!(output.status.success(), "{line}\n{said}");
    let times = String::from_utf8_lossy(&output.stderr);
    times.split_whitespace().filter_map(|word| word.parse().ok()).map(Duration::from_secs_f64).sum()
}

/// The user time of the workload, as the program says it.
fn run(program: &Path) -> Duration {
    let place = program.parent().expect("a folder");
    let output = Command::new(program)
        .current_dir(place)
        .env("LLVM_PROFILE_FILE", place.join("profile"))
        .output()
        .expect("the program starts");
    assert!(output.status.success(), "{}: {}", program.display(), output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    Duration::from_micros(text.trim().parse().expect("the program prints its time"))
}

fn report(place: &Path) -> ReportFigures {
    let lydian = |words: &[&str]| {
        let begun = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_lydian"));
        let ran = command.arg("report").args(words).current_dir(place).output();
        let ran = ran.expect("lydian starts");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        begun.elapsed()
    };
    let table = lydian(&["--json", "coverage.json"]);
    let pages = lydian(&["--html", "pages"]);
    let text = fs::read_to_string(place.join("coverage.json")).expect("the report is written");
    let found: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let count = |what: &str| {
        let rows = found["summary"]["totals"].as_array().into_iter().flatten();
        rows.filter_map(|row| row[what].as_u64()).sum()
    };
    let size = walk(&place.join("pages"));
    let (objectives, covered) = (count("objectives"), count("covered"));
    ReportFigures { objectives, covered, unmeasured: count("unmeasured"), table, pages, size }
}

/// The bytes of all files in a folder.
fn walk(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.path().is_dir() {
        true => walk(&entry.path()),
        false => entry.metadata().map_or(0, |found| found.len()),
    };
    entries.map(size).sum()
}

fn table(outcomes: &[Outcome<'_>]) -> Table {
    let of = |name: &str| outcomes.iter().find(|outcome| outcome.variant.name == name);
    let mcdc = of("clang MC/DC").map(|outcome| outcome.compile);
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "variant",
        "run s",
        "ratio",
        "compile s",
        "to clang MC/DC",
        "objectives",
        "covered",
        "unmeasured",
        "report s",
        "pages s",
        "pages MB",
    ]);
    let ratio = |a: Duration, b: Duration| format!("{:.2}", a.as_secs_f64() / b.as_secs_f64());
    for outcome in outcomes {
        let plain = of(outcome.variant.plain).expect("plain builds are always made");
        let mut row = vec![
            outcome.variant.name.to_owned(),
            format!("{:.2}", outcome.run.as_secs_f64()),
            ratio(outcome.run, plain.run),
            format!("{:.1}", outcome.compile.as_secs_f64()),
            mcdc.map_or(String::new(), |mcdc| ratio(outcome.compile, mcdc)),
        ];
        if let Some(found) = &outcome.report {
            row.extend([
                found.objectives.to_string(),
                found.covered.to_string(),
                found.unmeasured.to_string(),
                format!("{:.1}", found.table.as_secs_f64()),
                format!("{:.1}", found.pages.as_secs_f64()),
                format!("{:.1}", found.size as f64 / 1e6),
            ]);
        }
        table.add_row(row);
    }
    table
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
