//! Tests for a change alone: what exploration costs with and without the old version, after Table III of
//! [003].
//!
//!     cargo bench -p lydian-cli --bench versions [-- OLD.c NEW.c]
//!
//! Each version is the program of `examples/versions` with one local change. All functions are tested
//! for MC/DC, in an empty folder each time, by one thread. Printed are the objectives that the change
//! affects, and with the old version and without it the statements that explorations executed, their
//! paths, the objectives that were decided, and the time. The last line has the medians of the ratios.

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
        "impacted",
        "states",
        "states without",
        "paths",
        "paths without",
        "decided",
        "decided without",
        "time",
        "time without",
    ]);
    let mut ratios = Vec::new();
    for (number, (old, new)) in pairs.iter().enumerate() {
        let (some, impacted, all) = cost(new, Some(old), folder.path());
        let (whole, ..) = cost(new, None, folder.path());
        table.add_row([
            format!("v{}", number + 1),
            all.to_string(),
            impacted.to_string(),
            some.steps.to_string(),
            whole.steps.to_string(),
            some.paths.to_string(),
            whole.paths.to_string(),
            some.decided.to_string(),
            whole.decided.to_string(),
            format!("{:.2} s", some.seconds),
            format!("{:.2} s", whole.seconds),
        ]);
        ratios.push((some.steps as f64 / whole.steps.max(1) as f64, some.seconds / whole.seconds));
    }
    println!("{table}");
    let median = |mut all: Vec<f64>| {
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    println!(
        "median of the ratios: {:.2} of the states, {:.2} of the time",
        median(ratios.iter().map(|ratio| ratio.0).collect()),
        median(ratios.iter().map(|ratio| ratio.1).collect()),
    );
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
fn cost(file: &Path, old: Option<&PathBuf>, folder: &Path) -> (Cost, usize, usize) {
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
        exploration: Config { nice_values: true, seed: 1, ..Config::default() },
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
