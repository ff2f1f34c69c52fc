//! Random programs, random tests, every criterion: measurement against the trace semantics, and
//! against other tools.
//!
//!     cargo bench -p lydian-testkit --bench criteria -- [count=400] [faults=0] [program=0] [tools=0]
//!         [written=0] [files=0] [first=SEED] [batch=20] [tests=6] [jobs=2] [mutants=20] [only=CRITERION] [level=0|1|2]
//!         [semantics=short-circuit|three-valued] [keep=DIR] [lydian=PATH]
//!
//! Programs are generated from the seeds that begin at `first`, `batch` of them in a file, so that a
//! compiler starts once for all of them. Each has up to `tests` tests; each objective of each
//! criterion must be covered by all parties or by none. The parties are, beside the interpreter,
//!
//! - for `count` programs the native measurement of `lydian cover`, by one test alone and by all;
//! - for `faults` programs the same, where programs divide by zero and read through null pointers:
//!   what a run passes before must be recorded;
//! - for `program` programs `lydian cc`;
//! - for `tools` programs `lydian cc`, gcov and clang's coverage, on programs of the kind that can be
//!   compared ([`lydian_testkit::tools`]);
//! - for `written` programs both of Lydian's measurements, of random hyperlabels and paths
//!   ([`lydian_testkit::hyperlabels`]);
//! - for `files` programs of two files both of Lydian's measurements, of pairs of globals.
//!
//! Weak mutation, whose objectives take most of the time, is judged in one of `mutants` files, 0 for
//! none; `only` names the one criterion to judge. The level of optimisation and the semantics of
//! conditions change from file to file unless `level` or `semantics` says which.
//!
//! Each mismatch comes with the arguments of this benchmark that judge its program by itself. `keep`
//! is a folder for the files that have one. `lydian` is the command, by default the one beside the
//! benchmark (`cargo build --release -p lydian-cli`).

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lydian_native::Optimization;
use lydian_testkit::agreement::{self, Batch, Report};
use lydian_testkit::cprogram::Features;
use lydian_testkit::tools::{self, Comparison};

struct Settings {
    counts: Vec<(Kind, u64)>,
    first: u64,
    jobs: usize,
    keep: Option<PathBuf>,
    mutants: u64,
    level: Option<Optimization>,
    short_circuit: Option<bool>,
    lydian: PathBuf,
    batch: agreement::Settings,
}

/// What is compared with the trace semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Native,
    Faults,
    Program,
    Tools,
    Written,
    Files,
}

impl Kind {
    /// The argument that says of how many programs.
    const fn argument(self) -> &'static str {
        match self {
            Self::Native => "count",
            Self::Faults => "faults",
            Self::Program => "program",
            Self::Tools => "tools",
            Self::Written => "written",
            Self::Files => "files",
        }
    }
}

/// One file of programs, and what is to be done with it.
struct Task {
    kind: Kind,
    first: u64,
    short_circuit: bool,
    level: Optimization,
    batch: agreement::Settings,
}

/// What came of the files of one kind.
#[derive(Default)]
struct KindResult {
    report: Report,
    comparison: Comparison,
    broken: Vec<String>,
}

impl KindResult {
    fn merge(&mut self, other: Self) {
        self.report.merge(other.report);
        self.comparison.merge(other.comparison);
        self.broken.extend(other.broken);
    }

    fn mismatches(&self) -> impl Iterator<Item = &String> {
        self.report.mismatches.iter().chain(&self.comparison.mismatches).chain(&self.broken)
    }
}

fn main() {
    let settings = settings();
    let begun = Instant::now();
    let tasks: Vec<Task> = settings.counts.iter().flat_map(|of| tasks(&settings, *of)).collect();
    let next = AtomicUsize::new(0);
    let all: Mutex<BTreeMap<Kind, KindResult>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = run(&settings, task);
                    let mut all = all.lock().expect("no worker panicked");
                    all.entry(task.kind).or_default().merge(found);
                }
            });
        }
    });
    let all = all.into_inner().expect("no worker panicked");
    let mut wrong = 0;
    for (kind, found) in &all {
        show(*kind, found);
        wrong += found.mismatches().count();
    }
    say(&format!("{wrong} mismatches in all, {:.0} s", begun.elapsed().as_secs_f64()));
    assert_eq!(wrong, 0, "measurement and semantics disagree");
}

fn settings() -> Settings {
    let own = std::env::current_exe().expect("the system knows this program");
    let lydian = own.parent().and_then(|deps| deps.parent()).map(|folder| folder.join("lydian"));
    let mut settings = Settings {
        counts: vec![
            (Kind::Native, 400),
            (Kind::Faults, 0),
            (Kind::Program, 0),
            (Kind::Tools, 0),
            (Kind::Written, 0),
            (Kind::Files, 0),
        ],
        first: 1,
        jobs: 2,
        keep: None,
        mutants: 20,
        level: None,
        short_circuit: None,
        lydian: lydian.expect("the benchmark lies in a folder of cargo's"),
        batch: agreement::Settings::default(),
    };
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').expect("arguments are like count=100");
        let number = || value.parse::<u64>().expect("a number");
        if let Some((_, count)) = settings.counts.iter_mut().find(|(k, _)| k.argument() == key) {
            *count = number();
            continue;
        }
        match key {
            "first" => settings.first = number(),
            "batch" => settings.batch.cases = number().max(1),
            "tests" => settings.batch.tests = number(),
            "jobs" => settings.jobs = number() as usize,
            "mutants" => settings.mutants = number(),
            "only" => settings.batch.only = Some(value.parse().expect("a criterion")),
            "level" => settings.level = Some(LEVELS[number() as usize]),
            "semantics" => settings.short_circuit = Some(value == "short-circuit"),
            "lydian" => settings.lydian = value.into(),
            "keep" => settings.keep = Some(value.into()),
            _ => panic!("there is no setting {key}"),
        }
    }
    settings
}

/// By the number after `-O`.
const LEVELS: [Optimization; 3] = [Optimization::None, Optimization::Some, Optimization::Full];

/// The files of so many programs.
fn tasks(settings: &Settings, (kind, count): (Kind, u64)) -> impl Iterator<Item = Task> {
    let size = settings.batch.cases;
    (0..count.div_ceil(size)).map(move |number| {
        let by_turns = match kind {
            Kind::Native | Kind::Written | Kind::Files => [0, 1, 0, 2],
            // Compilers may delay records otherwise.
            Kind::Faults => [0; 4],
            Kind::Program | Kind::Tools => [1, 2, 0, 1],
        };
        let level = LEVELS[by_turns[number as usize % by_turns.len()]];
        let short_circuit = match kind {
            Kind::Native | Kind::Faults | Kind::Program => number % 3 == 2,
            Kind::Tools => number % 2 == 0,
            Kind::Written | Kind::Files => false,
        };
        let events = match kind {
            Kind::Written => 70,
            _ => settings.batch.events,
        };
        let mutants = settings.mutants > 0 && number.is_multiple_of(settings.mutants);
        let cases = size.min(count - number * size);
        Task {
            kind,
            first: settings.first + number * size,
            short_circuit: settings.short_circuit.unwrap_or(short_circuit),
            level: settings.level.unwrap_or(level),
            batch: agreement::Settings { cases, events, mutants, ..settings.batch },
        }
    })
}

/// Judges a file, and says at once what is wrong.
fn run(settings: &Settings, task: &Task) -> KindResult {
    let mut text = None;
    let found = catch_unwind(AssertUnwindSafe(|| judge(settings, task, &mut text)));
    let found = found.unwrap_or_else(|_| KindResult {
        broken: vec![format!("the file from f{} on cannot be judged", task.first)],
        ..KindResult::default()
    });
    for mismatch in found.mismatches().take(8) {
        say(&format!("  {mismatch}\n    again: {}", again(task, mismatch)));
    }
    let folder = settings.keep.as_ref().filter(|_| found.mismatches().next().is_some());
    if let Some((folder, text)) = folder.zip(text) {
        let file = folder.join(format!("{}-{}.c", task.kind.argument(), task.first));
        let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, text));
        kept.expect("the folder takes it");
    }
    found
}

fn judge(settings: &Settings, task: &Task, text: &mut Option<String>) -> KindResult {
    let Task { kind, first, short_circuit, level, batch: of_batch } = task;
    let batch = match kind {
        Kind::Written => Batch::written(*first, of_batch, Features::All),
        Kind::Files => Batch::in_two_files(*first, of_batch, first % 2 == 1),
        Kind::Faults => Batch::new(*first, of_batch, Features::Faults, *short_circuit),
        Kind::Tools => Batch::new(*first, of_batch, Features::Comparable, *short_circuit),
        Kind::Native | Kind::Program => Batch::new(*first, of_batch, Features::All, *short_circuit),
    };
    *text = Some(batch.text.clone());
    let mut found = KindResult::default();
    if matches!(kind, Kind::Native | Kind::Faults | Kind::Written | Kind::Files) {
        found.report = agreement::check_batch(&batch, of_batch, *level);
    }
    found.comparison = match kind {
        Kind::Native | Kind::Faults => Comparison::default(),
        Kind::Files => tools::across::compare(&batch, of_batch, &settings.lydian, *level),
        Kind::Program | Kind::Written => {
            tools::compare_program(&batch, of_batch, &settings.lydian, *level)
        }
        Kind::Tools => tools::compare(&batch, of_batch, &settings.lydian, *level),
    };
    found
}

/// The arguments that judge the program of a mismatch by itself; the whole file where the mismatch
/// names none, or where what is asked of a program depends on the others.
fn again(task: &Task, mismatch: &str) -> String {
    let Task { kind, first, short_circuit, level, batch } = task;
    let names = mismatch.split(|c: char| !c.is_ascii_alphanumeric());
    let mut seeds = names.filter_map(|name| name.strip_prefix('f')?.parse::<u64>().ok());
    let seed = seeds.find(|seed| (*first..first + batch.cases).contains(seed));
    let (first, cases) = match seed.filter(|_| *kind != Kind::Written) {
        Some(seed) if !mismatch.ends_with("cannot be judged") => (seed, 1),
        _ => (*first, batch.cases),
    };
    let count = match kind {
        Kind::Native => format!("count={cases}"),
        _ => format!("count=0 {}={cases}", kind.argument()),
    };
    let level = LEVELS.iter().position(|l| l == level).unwrap_or(0);
    let semantics = if *short_circuit { "short-circuit" } else { "three-valued" };
    let (mutants, tests) = (u8::from(batch.mutants), batch.tests);
    let only = batch.only.map_or(String::new(), |only| format!(" only={}", only.name()));
    format!(
        "first={first} {count} batch={cases} level={level} semantics={semantics} \
         mutants={mutants} tests={tests}{only}"
    )
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn show(kind: Kind, found: &KindResult) {
    let KindResult { report, comparison, .. } = found;
    if !report.tallies.is_empty() {
        say("criterion    judged  covered  unmeasured");
    }
    for (criterion, tally) in &report.tallies {
        let name = criterion.name();
        let (judged, covered, lost) = (tally.judged, tally.covered, tally.unmeasured);
        say(&format!("{name:<10} {judged:>8} {covered:>8} {lost:>11}"));
    }
    for (reason, count) in &report.reasons {
        say(&format!("  not measured: {count} of {reason}"));
    }
    if !comparison.counts.is_empty() {
        say("compared                               agree   differ  only Lydian  only other");
    }
    comparison.counts.iter().for_each(|(what, count)| say(&format!("{what:<34} {count}")));
    if kind == Kind::Tools {
        say(&format!("{} conditions independent by masking alone", comparison.masked_only));
    }
    let cases = report.cases.max(comparison.cases);
    let tests = report.tests.max(comparison.tests);
    let (name, wrong) = (kind.argument(), found.mismatches().count());
    say(&format!("{name}: {cases} programs with {tests} tests, {wrong} mismatches\n"));
}
