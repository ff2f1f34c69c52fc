//! From C source to the end of exploration, in KLEE and in Lydian.
//!
//!     cargo bench -p lydian-cli --bench klee [-- [WORD...] [time=SECONDS] [cpu=N] [rounds=N] [json=FILE]]
//!
//! Words choose programs by their names (`small` and `large` choose those). `time` is what a tool has
//! for one program (default 60 s), `cpu` binds both to one core, `rounds` is how often what takes less
//! than a second is run at most (default 5); the least time counts.
//!
//! The programs in `benches/klee` are Lydian's own. Each is a whole program, the same for both tools,
//! whose inputs come from `klee_make_symbolic`. Three ways of exploring all of its paths:
//!
//! - `klee`: KLEE as it comes, at its best: no solver processes, no limit for one question; tests only
//!   for what covers new code, unless tests of all paths cover more branches. Its CFG simplification
//!   folds pure `&&` and `||` into one branch.
//! - `klee -fold`: the same with that folding off, so that each condition is a branch, as in the source.
//! - `lydian`: `lydian gen --explore all -c bc`.
//!
//! Time is from the C source on: KLEE's is that of clang, which makes its bitcode, and its own; Lydian's
//! is that of the whole command, which runs clang, builds the program, and runs every test. Memory is
//! the peak of one process: the tool's own, and the greatest of its own and of what it starts, clang
//! for both. Coverage is measured in one way: `lydian cover -c bc` of the tests that the tool left.
//!
//! Where neither comes to an end in its time, Lydian's time is that until its tests cover as much as
//! KLEE's: of fresh runs with doubling limits, the whole time of the first that does. Where KLEE alone
//! does not, the ratio is a lower bound.
//!
//! `$KLEE` is KLEE's command (default `klee`), `$KLEE_CLANG` the clang of the LLVM that it was built
//! with (default `clang-16`). The figures in `docs/benchmarks.md` are KLEE 3.2's with STP 2.3.4, MiniSat
//! and LLVM 16, without assertions.

#[path = "klee/subjects.rs"]
mod subjects;
#[path = "klee/tools.rs"]
mod tools;
#[path = "klee/watched.rs"]
mod watched;

use std::io::Write as _;
use std::path::Path;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use subjects::{SUBJECTS, Subject};
use tools::{Folding, ToolRun, Tools};

/// What the command line asks for.
struct Options {
    words: Vec<String>,
    /// Seconds for one tool on one program.
    time: f64,
    rounds: u32,
    json: Option<String>,
}

/// What was found for one program.
#[derive(Serialize)]
struct Row {
    name: &'static str,
    bounds: &'static str,
    small: bool,
    klee: ToolRun,
    unfolded: ToolRun,
    lydian: ToolRun,
    /// Lydian until it covers what KLEE covers, beside each way of KLEE, where neither ended.
    until_klee: [Option<ToolRun>; 2],
}

fn main() {
    let mut options = Options { words: Vec::new(), time: 60.0, rounds: 5, json: None };
    let mut cpu = None;
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("time", value)) => options.time = value.parse().expect("time is in seconds"),
            Some(("rounds", value)) => options.rounds = value.parse().expect("rounds is a number"),
            Some(("cpu", value)) => cpu = Some(value.parse().expect("cpu is a number")),
            Some(("json", value)) => options.json = Some(value.to_owned()),
            _ => options.words.push(word),
        }
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/klee");
    let tools = Tools::new(programs, folder.path().to_owned(), options.time, cpu);
    let mut rows = Vec::new();
    for subject in SUBJECTS.iter().filter(|subject| subject.is_chosen(&options.words)) {
        let row = compare(&tools, subject, &options);
        note(&in_short(&row));
        rows.push(row);
    }
    say(&table(&rows));
    conclude(&rows);
    if let Some(path) = &options.json {
        let text = serde_json::to_string_pretty(&rows).expect("figures are valid JSON");
        std::fs::write(path, text).expect("the file is written");
    }
}

fn compare(tools: &Tools, subject: &'static Subject, options: &Options) -> Row {
    let least = |run: &dyn Fn() -> ToolRun| {
        let mut best = run();
        let mut rounds = 1;
        while rounds < options.rounds && best.seconds < 1.0 {
            let next = run();
            rounds += 1;
            if next.seconds < best.seconds {
                best = next;
            }
        }
        best
    };
    let klee = least(&|| tools.klee(subject, Folding::AsItComes));
    let unfolded = least(&|| tools.klee(subject, Folding::Off));
    let lydian = least(&|| tools.lydian(subject));
    let until = |klee: &ToolRun| match klee.complete || lydian.complete {
        true => None,
        false => tools.until(subject, klee.covered),
    };
    let until_klee = [until(&klee), until(&unfolded)];
    let Subject { name, bounds, small, .. } = subject;
    Row { name, bounds, small: *small, klee, unfolded, lydian, until_klee }
}

impl Row {
    /// How many times less of some time Lydian takes than each way of running KLEE. None where neither
    /// ended and Lydian never covered as much.
    fn ratios_of(&self, time: impl Fn(&ToolRun) -> f64) -> [Option<f64>; 2] {
        let of = |klee: &ToolRun, until: &Option<ToolRun>| {
            let ended = klee.complete || self.lydian.complete;
            let lydian = if ended { Some(&self.lydian) } else { until.as_ref() };
            lydian.map(|lydian| time(klee) / time(lydian))
        };
        [of(&self.klee, &self.until_klee[0]), of(&self.unfolded, &self.until_klee[1])]
    }

    /// The same of wall-clock time.
    fn ratios(&self) -> [Option<f64>; 2] {
        self.ratios_of(|found| found.seconds)
    }

    /// What part of KLEE's memory Lydian takes: its own, and with what it starts.
    fn memory(&self, klee: &ToolRun) -> [f64; 2] {
        [self.lydian.own_mb / klee.own_mb, self.lydian.peak_mb / klee.peak_mb]
    }
}

fn in_short(row: &Row) -> String {
    let of = |name: &str, found: &ToolRun| {
        let ToolRun {
            seconds,
            cpu_seconds,
            own_mb,
            peak_mb,
            paths,
            tests,
            covered,
            objectives,
            ..
        } = found;
        let end = if found.complete { " " } else { ">" };
        format!(
            "  {name:12} {end}{seconds:8.3} s (processor {cpu_seconds:8.3} s) {own_mb:7.1} MB (with clang {peak_mb:7.1}) {paths:8} paths \
             {tests:5} tests {covered}/{objectives}"
        )
    };
    let ratios = row.ratios().map(|ratio| ratio.map_or("-".to_owned(), |r| format!("{r:.1}")));
    [
        format!("{} {}: {} and {} times", row.name, row.bounds, ratios[0], ratios[1]),
        of("klee", &row.klee),
        of("klee -fold", &row.unfolded),
        of("lydian", &row.lydian),
    ]
    .join("\n")
}

fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "program", "tool", "time, s", "ratio", "cpu, s", "own MB", "peak MB", "paths", "tests",
        "branches", "%",
    ]);
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    for row in rows {
        let [folded, unfolded] = row.ratios();
        let mut add = |tool: &str, found: &ToolRun, ratio: Option<f64>| {
            let share = 100.0 * f64::from(found.covered) / f64::from(found.objectives.max(1));
            table.add_row([
                format!("{} {}", row.name, row.bounds).trim().to_owned(),
                tool.to_owned(),
                format!("{}{:.2}", if found.complete { "" } else { ">" }, found.seconds),
                ratio.map_or("".to_owned(), |ratio| format!("{ratio:.1}")),
                format!("{:.2}", found.cpu_seconds),
                format!("{:.0}", found.own_mb),
                format!("{:.0}", found.peak_mb),
                found.paths.to_string(),
                found.tests.to_string(),
                format!("{} of {}", found.covered, found.objectives),
                format!("{share:.1}"),
            ]);
        };
        add("klee", &row.klee, folded);
        add("klee -fold", &row.unfolded, unfolded);
        add("lydian", &row.lydian, None);
        for (found, name) in row.until_klee.iter().zip(["klee", "klee -fold"]) {
            if let Some(found) = found {
                add(&format!("lydian, to cover what {name} does"), found, None);
            }
        }
    }
    table.to_string()
}

/// Geometric means over the programs on which KLEE takes a second or more, and the small ones.
fn conclude(rows: &[Row]) {
    for (at, name) in ["klee", "klee -fold"].into_iter().enumerate() {
        let klee = |row: &Row| if at == 0 { row.klee.clone() } else { row.unfolded.clone() };
        let large: Vec<&Row> =
            rows.iter().filter(|row| !row.small && klee(row).seconds >= 1.0).collect();
        let ratios: Vec<f64> = large.iter().filter_map(|row| row.ratios()[at]).collect();
        let below: Vec<&str> = large
            .iter()
            .filter(|row| row.ratios()[at].is_none_or(|ratio| ratio < 3.0))
            .map(|row| row.name)
            .collect();
        let memory = |which: usize| large.iter().map(move |row| row.memory(&klee(row))[which]);
        if !large.is_empty() {
            say(&format!(
                "against {name}: {:.1} times less time ({:.1} times less processor time) in the geometric mean \
                 of {} programs on which it takes a second or more; of its memory {:.2}, with clang {:.2}; below 3 times: {}",
                mean(ratios.iter().copied()),
                mean(large.iter().filter_map(|row| row.ratios_of(|found| found.cpu_seconds)[at])),
                ratios.len(),
                mean(memory(0)),
                mean(memory(1)),
                if below.is_empty() { "none".to_owned() } else { below.join(", ") },
            ));
        }
        let small = rows.iter().filter(|row| row.small);
        let small = small.map(|row| format!("{} {:.2}", row.name, row.ratios()[at].unwrap_or(0.0)));
        say(&format!("small, against {name}: {}", small.collect::<Vec<_>>().join(", ")));
    }
}

/// The geometric mean.
fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = numbers.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
