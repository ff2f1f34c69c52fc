//! Random programs, random tests, every criterion: native measurement against the trace semantics.
//!
//!     cargo bench -p lydian-testkit --bench criteria -- [count=400] [first=SEED] [batch=20]
//!         [tests=6] [jobs=2] [keep=DIR] [mutants=1] [only=CRITERION] [faults=0] [tools=0] [lydian=PATH]
//!
//! `count` programs are generated from the seeds that begin at `first`, `batch` of them in a file.
//! Each has up to `tests` tests, which run natively and in the interpreter; each objective of each
//! criterion must be covered by both or by none. `keep` is a folder for the files that have a
//! disagreement.
//!
//! Weak mutation is judged in one of `mutants` files: its objectives take most of the time.
//!
//! `only` names the one criterion to judge. With `faults=1` programs divide by zero and read through
//! null pointers; what a run passes before must be recorded.
//!
//! `tools` is how many programs of those are also run under `lydian cc`, gcov and clang's coverage,
//! of the kind that can be compared ([`lydian_testkit::tools`]). `written` is for how many there are
//! random hyperlabels and paths ([`lydian_testkit::hyperlabels`]), by `lydian cover`'s measurement and
//! under `lydian cc`. `lydian` is
//! the command, by default the one beside the benchmark (`cargo build --release -p lydian-cli`).

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use lydian_native::Optimization;
use lydian_testkit::agreement::{self, Batch, Report};
use lydian_testkit::cprogram::Features;
use lydian_testkit::tools::{self, Comparison};

struct Settings {
    count: u64,
    first: u64,
    jobs: usize,
    keep: Option<PathBuf>,
    mutants: u64,
    tools: u64,
    written: u64,
    lydian: PathBuf,
    faults: bool,
    batch: agreement::Settings,
}

fn main() {
    let settings = settings();
    compare(&settings);
    written(&settings);
    let begun = Instant::now();
    let next = AtomicU64::new(0);
    let all = Mutex::new(Report::default());
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number * settings.batch.cases >= settings.count {
                        break;
                    }
                    let report = batch(&settings, number);
                    all.lock().expect("no worker panicked").merge(report);
                }
            });
        }
    });
    let report = all.into_inner().expect("no worker panicked");
    show(&report);
    let seconds = begun.elapsed().as_secs_f64();
    let (cases, tests, wrong) = (report.cases, report.tests, report.mismatches.len());
    say(&format!("{cases} cases, {tests} tests, {wrong} mismatches, {seconds:.0} s"));
    assert!(report.mismatches.is_empty(), "native measurement and semantics disagree");
}

fn settings() -> Settings {
    let batch = agreement::Settings::default();
    let own = std::env::current_exe().expect("the system knows this program");
    let lydian = own.parent().and_then(|deps| deps.parent()).map(|folder| folder.join("lydian"));
    let lydian = lydian.expect("the benchmark lies in a folder of cargo's");
    let keep = None;
    let mut settings = Settings {
        count: 400,
        first: 1,
        jobs: 2,
        keep,
        mutants: 1,
        tools: 0,
        written: 0,
        lydian,
        faults: false,
        batch,
    };
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').expect("arguments are like count=100");
        let number = || value.parse::<u64>().expect("a number");
        match key {
            "count" => settings.count = number(),
            "first" => settings.first = number(),
            "batch" => settings.batch.cases = number().max(1),
            "tests" => settings.batch.tests = number(),
            "jobs" => settings.jobs = number() as usize,
            "mutants" => settings.mutants = number().max(1),
            "only" => settings.batch.only = Some(value.parse().expect("a criterion")),
            "tools" => settings.tools = number(),
            "faults" => settings.faults = number() > 0,
            "written" => settings.written = number(),
            "lydian" => settings.lydian = value.into(),
            "keep" => settings.keep = Some(value.into()),
            _ => panic!("there is no setting {key}"),
        }
    }
    settings
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn batch(settings: &Settings, number: u64) -> Report {
    let first = settings.first + number * settings.batch.cases;
    let level = match number % 4 {
        3 => Optimization::Some,
        _ => Optimization::None,
    };
    let mutants = number.is_multiple_of(settings.mutants);
    let of_batch = agreement::Settings { mutants, ..settings.batch };
    let features = if settings.faults { Features::Faults } else { Features::All };
    let level = if settings.faults { Optimization::None } else { level };
    let batch =
        std::panic::catch_unwind(|| Batch::new(first, &of_batch, features, number % 3 == 2));
    let Ok(batch) = batch else {
        let mismatches = vec![format!("the batch from seed {first} on cannot be read")];
        return Report { mismatches, ..Report::default() };
    };
    let report = agreement::check_batch(&batch, &of_batch, level);
    for mismatch in report.mismatches.iter().take(8) {
        say(&format!("  {mismatch}"));
    }
    keep(settings, &first.to_string(), &batch, report.mismatches.is_empty());
    report
}

/// Compares with other tools, every other batch under short-circuit semantics.
fn compare(settings: &Settings) {
    let mut all = Comparison::default();
    let cases = settings.batch.cases;
    for number in 0..settings.tools.div_ceil(cases) {
        let first = settings.first + number * cases;
        let batch = Batch::new(first, &settings.batch, Features::Comparable, number % 2 == 0);
        let found = tools::compare(&batch, &settings.batch, &settings.lydian);
        for mismatch in found.mismatches.iter().take(8) {
            say(&format!("  {first}: {mismatch}"));
        }
        keep(settings, &format!("tools-{first}"), &batch, found.mismatches.is_empty());
        all.merge(found);
    }
    if settings.tools > 0 {
        say("compared                               agree   differ  only Lydian  only other");
        for (what, count) in &all.counts {
            say(&format!("{what:<34} {count}"));
        }
        let (masked, wrong) = (all.masked_only, all.mismatches.len());
        say(&format!("{masked} conditions independent by masking alone, {wrong} mismatches"));
    }
}

/// Random hyperlabels and paths.
fn written(settings: &Settings) {
    let (mut report, mut all) = (Report::default(), Comparison::default());
    let (cases, of_batch) =
        (settings.batch.cases, agreement::Settings { events: 70, ..settings.batch });
    for number in 0..settings.written.div_ceil(cases) {
        let first = settings.first + number * cases;
        let batch = Batch::written(first, &of_batch, Features::All);
        let level = if number % 2 == 0 { Optimization::Some } else { Optimization::None };
        let found = agreement::check_batch(&batch, &of_batch, level);
        let compared = tools::compare_written(&batch, &of_batch, &settings.lydian);
        for mismatch in found.mismatches.iter().chain(&compared.mismatches).take(8) {
            say(&format!("  {first}: {mismatch}"));
        }
        let agrees = found.mismatches.is_empty() && compared.mismatches.is_empty();
        keep(settings, &format!("written-{first}"), &batch, agrees);
        report.merge(found);
        all.merge(compared);
    }
    if settings.written > 0 {
        show(&report);
        let counts = all.counts.iter();
        counts.for_each(|(what, count)| say(&format!("{what:<34} {count}")));
        let wrong = report.mismatches.len() + all.mismatches.len();
        say(&format!("{} cases, {} tests, {wrong} mismatches", report.cases, report.tests));
        assert_eq!(wrong, 0, "measurement of hyperlabels and semantics disagree");
    }
}

/// Keeps a batch's text if it has a disagreement.
fn keep(settings: &Settings, name: &str, batch: &Batch, agrees: bool) {
    if let Some(folder) = settings.keep.as_ref().filter(|_| !agrees) {
        let file = folder.join(format!("{name}.c"));
        let kept = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(file, &batch.text));
        kept.expect("the folder takes it");
    }
}

fn show(report: &Report) {
    say("criterion    judged  covered  unmeasured");
    for (criterion, tally) in &report.tallies {
        let name = criterion.name();
        let (judged, covered, lost) = (tally.judged, tally.covered, tally.unmeasured);
        say(&format!("{name:<10} {judged:>8} {covered:>8} {lost:>11}"));
    }
    for (reason, count) in &report.reasons {
        say(&format!("  not measured: {count} of {reason}"));
    }
}
