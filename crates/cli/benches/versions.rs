//! Tests for a change alone: what exploration costs with and without the old version, after Table III of
//! [003].
//!
//!     cargo bench -p lydian-cli --bench versions [-- OLD.c NEW.c]
//!
//! Each version is the program of `examples/versions` with one local change. All functions are tested
//! for MC/DC, in an empty folder each time, by one thread. Printed are the objectives that the change
//! affects, and for three explorations the statements that were executed (states), paths, objectives that
//! were decided, and the time: with the old version, without it, and without it where all paths are
//! followed to their ends, as the symbolic execution of the paper does. The last lines have the medians
//! of the ratios.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use comfy_table::{Table, presets};
use lydian::exploration::Config;
use lydian::{
    CancelToken, Criterion, Event, Generator, GeneratorOptions, ObjectiveRequest, Project,
    ProjectRequest, VerdictKind,
};

/// The time for each function.
const TIME: Duration = Duration::from_secs(60);

/// A version: the text that is replaced, and what takes its place.
const VERSIONS: [(&str, &str); 7] = [
    (
        "own_is_above(e) && e->separation_up >= threshold",
        "own_is_above(e) && e->separation_up > threshold",
    ),
    (
        "found == DESCEND && e->own.altitude < HORIZON + 400",
        "found == DESCEND && e->own.altitude < HORIZON + 500",
    ),
    ("if (layer == 2)\n        return 640;", "if (layer == 2)\n        return 650;"),
    ("return e->other.altitude < e->own.altitude;", "return e->other.altitude <= e->own.altitude;"),
    (
        "if (found == CLIMB && e->own.rate < 0 - MOST_RATE)",
        "if (found == CLIMB && (e->own.rate < 0 - MOST_RATE || e->layer > 3))",
    ),
    (
        "wants_down = descent_without_crossing(e) && own_is_above(e);",
        "wants_down = descent_without_crossing(e);",
    ),
    (
        "e->separation_up + CLIMB_BONUS : e->separation_up",
        "e->separation_up + 120 : e->separation_up",
    ),
];

/// The cost of one run, over all functions.
#[derive(Clone, Copy, Default)]
struct Cost {
    steps: u64,
    paths: u64,
    decided: usize,
    seconds: f64,
}

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| word.ends_with(".c")).map(PathBuf::from).collect();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let pairs = match &given[..] {
        [old, new] => vec![(old.clone(), new.clone())],
        _ => versions(folder.path()),
    };
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "version",
        "objectives",
        "exploration",
        "states",
        "paths",
        "decided",
        "time",
    ]);
    let (mut needed, mut complete) = (Vec::new(), Vec::new());
    for (number, (old, new)) in pairs.iter().enumerate() {
        let (some, impacted, all) = cost(new, Some(old), folder.path(), false);
        let (whole, ..) = cost(new, None, folder.path(), false);
        let (every, ..) = cost(new, None, folder.path(), true);
        let version = format!("v{}", number + 1);
        let counted = format!("{impacted} of {all} impacted");
        table.add_row(row(&version, &counted, "with the old version", some));
        table.add_row(row("", "", "without", whole));
        table.add_row(row("", "", "of all paths", every));
        needed.push(some.relative_to(whole));
        complete.push(some.relative_to(every));
    }
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{table}");
    for (what, ratios) in [("what is needed without it", needed), ("all paths", complete)] {
        let (states, seconds) = (median(&ratios, |it| it.0), median(&ratios, |it| it.1));
        let _ = writeln!(
            out,
            "median, relative to {what}: {states:.2} of the states, {seconds:.2} of the time"
        );
    }
}

fn row(version: &str, counted: &str, what: &str, cost: Cost) -> [String; 7] {
    let Cost { steps, paths, decided, seconds } = cost;
    [
        version.to_owned(),
        counted.to_owned(),
        what.to_owned(),
        steps.to_string(),
        paths.to_string(),
        decided.to_string(),
        format!("{seconds:.2} s"),
    ]
}

fn median(ratios: &[(f64, f64)], of: impl Fn(&(f64, f64)) -> f64) -> f64 {
    let mut all: Vec<f64> = ratios.iter().map(of).collect();
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

impl Cost {
    /// The parts of the states and of the time of another run.
    fn relative_to(self, other: Self) -> (f64, f64) {
        (self.steps as f64 / other.steps.max(1) as f64, self.seconds / other.seconds)
    }
}

/// The files of the old version and of each new one.
fn versions(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let base = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/versions/advisory.c");
    let text = std::fs::read_to_string(&base).expect("the example is there");
    let changed = VERSIONS.iter().enumerate().map(|(number, (from, to))| {
        assert_eq!(text.matches(from).count(), 1, "`{from}` stands there once");
        let file = folder.join(format!("v{}.c", number + 1));
        std::fs::write(&file, text.replace(from, to)).expect("a file can be written");
        (base.clone(), file)
    });
    changed.collect()
}

/// The cost of tests for a file, the objectives that are asked for, and all.
fn cost(
    file: &Path,
    old: Option<&PathBuf>,
    folder: &Path,
    every_path: bool,
) -> (Cost, usize, usize) {
    let silent = |_: Event<'_>| {};
    let tests = tempfile::tempdir_in(folder).expect("a temporary folder can be made");
    let begun = Instant::now();
    let project = Project::load(&ProjectRequest::new(file), &silent).expect("it is C");
    let objectives = project
        .objectives(&ObjectiveRequest::new([Criterion::Mcdc]), &silent)
        .expect("it has objectives");
    let old = old.map(|old| Project::load(&ProjectRequest::new(old), &silent).expect("it is C"));
    let impact = old.map(|old| project.impact(&objectives, &old));
    let counts = impact.as_ref().map(|impact| impact.counts.clone()).unwrap_or_default();
    let options = GeneratorOptions {
        time: TIME,
        jobs: std::num::NonZeroUsize::new(1),
        exploration: Config {
            nice_values: true,
            seed: 1,
            look_ahead: !every_path,
            stop_when_covered: !every_path,
            ..Config::default()
        },
        impact,
        ..GeneratorOptions::new(tests.path())
    };
    let generator = Generator::new(&project, &objectives, options);
    let generation = generator.run(&CancelToken::new(), &silent).expect("tests can be generated");
    let mut cost = Cost { seconds: begun.elapsed().as_secs_f64(), ..Cost::default() };
    let mut all = 0;
    for function in &generation.summary.functions {
        if let Some(exploration) = &function.exploration {
            cost.steps += exploration.steps;
            cost.paths += exploration.paths;
        }
        let is_decided = |kind: VerdictKind| kind != VerdictKind::Unknown;
        cost.decided += function.objectives.iter().filter(|one| is_decided(one.verdict)).count();
        all += function.objectives.len();
    }
    (cost, counts.iter().map(|count| count.impacted).sum(), all)
}
