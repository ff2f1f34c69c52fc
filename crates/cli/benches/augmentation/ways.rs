//! The ways to a suite that are compared, and what one of them gives for one function or file.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");

/// A way to a suite.
pub(crate) struct Way {
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// The options of `lydian gen`.
    pub(crate) options: &'static [&'static str],
    /// Whether mutants run on its suite.
    pub(crate) mutants: bool,
}

/// Plain exploration for branches, then augmentation, then the same conditions and those of other
/// criteria as objectives of their own.
pub(crate) const WAYS: [Way; 9] = [
    way("plain", &["-c", "bc"]),
    way("boundary", &["-c", "bc", "--augment", "boundary"]),
    way("mutation", &["-c", "bc", "--augment", "mutation"]),
    Way { mutants: false, ..way("logic", &["-c", "bc", "--augment", "logic"]) },
    way("boundary, strict", &["-c", "bc", "--augment", "boundary", "--augmentation", "strict"]),
    way("mutation, strict", &["-c", "bc", "--augment", "mutation", "--augmentation", "strict"]),
    way("labels bc,bva", &["-c", "bc,bva"]),
    way("labels bc,wm", &["-c", "bc,wm"]),
    Way { mutants: false, ..way("labels bc,gacc", &["-c", "bc,gacc"]) },
];

const fn way(name: &'static str, options: &'static [&'static str]) -> Way {
    Way { name, options, mutants: true }
}

/// Positions of ways in [`WAYS`].
pub(crate) const PLAIN: usize = 0;
pub(crate) const BOUNDARY: usize = 1;
pub(crate) const MUTATION: usize = 2;
pub(crate) const BOUNDARY_STRICT: usize = 4;
pub(crate) const MUTATION_STRICT: usize = 5;
pub(crate) const BY_BVA: usize = 6;
pub(crate) const BY_WM: usize = 7;

/// What a way gives for one function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    pub(crate) tests: u64,
    /// Tests that the paper's heuristic keeps, where paths are augmented.
    pub(crate) by_heuristic: Option<u64>,
    /// Questions about transformed conditions.
    pub(crate) questions: Option<u64>,
    /// The wall-clock time of the command.
    pub(crate) time: Duration,
}

fn run(command: &mut Command) -> Option<()> {
    let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    done.success().then_some(())
}

fn json(path: &Path) -> Option<Value> {
    serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()
}

/// Tests for one function of a file.
pub(crate) fn cost(way: &Way, file: &Path, function: &str) -> Option<Cost> {
    let place = tempfile::tempdir().ok()?;
    let summary = place.path().join("summary.json");
    let mut command = Command::new(LYDIAN);
    command.arg("gen").arg(file).args(["-f", function, "--jobs", "1"]).args(way.options);
    command.arg("-o").arg(place.path().join("tests")).arg("--json").arg(&summary);
    let begun = Instant::now();
    run(&mut command)?;
    let time = begun.elapsed();
    let summary = json(&summary)?;
    let of_function = &summary["functions"][0];
    let augmentation = &of_function["exploration"]["augmentation"];
    Some(Cost {
        tests: of_function["tests"].as_u64()?,
        by_heuristic: augmentation["by_heuristic"].as_u64(),
        questions: augmentation["questions"].as_u64(),
        time,
    })
}

/// The adequacy of the suite of a file, function by function, in percent.
#[derive(Clone, Debug)]
pub(crate) struct Adequacy {
    pub(crate) function: String,
    /// Mutants of the text that its tests kill, of those that are not known to be equivalent; not a
    /// number where none ran.
    pub(crate) mutation: f64,
    /// Transformed comparisons that its tests satisfy, of those that are not known to be infeasible.
    pub(crate) boundary: f64,
    /// The same for clauses.
    pub(crate) logic: f64,
}

/// The criteria by which adequacy is measured.
const MEASURED: &str = "aug-boundary,aug-logic";

/// The suite of a file, and how adequate it is. `feasible` has for each function the numbers of
/// feasible objectives.
pub(crate) fn adequacy(way: &Way, file: &Path, feasible: &[Feasible]) -> Option<Vec<Adequacy>> {
    let place = tempfile::tempdir().ok()?;
    let tests = place.path().join("tests");
    let (killed, covered) = (place.path().join("killed.json"), place.path().join("covered.json"));
    let options = way.options;
    run(Command::new(LYDIAN).arg("gen").arg(file).args(options).arg("-o").arg(&tests))?;
    let mut mutate = Command::new(LYDIAN);
    mutate.arg("mutate").arg(file).arg("--tests").arg(&tests).args(["--proof-time", "5"]);
    if way.mutants {
        run(mutate.arg("--json").arg(&killed))?;
    }
    let mut cover = Command::new(LYDIAN);
    cover.arg("cover").arg(file).args(["-c", MEASURED]).arg("--tests").arg(&tests);
    run(cover.arg("--json").arg(&covered))?;
    let (killed, covered) = (json(&killed), json(&covered)?);
    let of_function = |known: &Feasible| {
        let rows = covered["functions"].as_array()?;
        let row = rows.iter().find(|row| row["name"] == known.function.as_str())?;
        let share = |criterion: usize, feasible: u64| {
            let count = row["criteria"][criterion]["covered"].as_u64().unwrap_or_default();
            if feasible == 0 { 100.0 } else { 100.0 * count as f64 / feasible as f64 }
        };
        Some(Adequacy {
            function: known.function.clone(),
            mutation: match &killed {
                Some(killed) => killed["functions"][&known.function]["percent"].as_f64()?,
                None => f64::NAN,
            },
            boundary: share(0, known.boundary),
            logic: share(1, known.logic),
        })
    };
    feasible.iter().map(of_function).collect()
}

/// The numbers of objectives of a function that are not known to be infeasible.
pub(crate) struct Feasible {
    pub(crate) function: String,
    boundary: u64,
    logic: u64,
}

/// The functions of a file, with their feasible objectives, as an exploration of these objectives says.
pub(crate) fn feasible(file: &Path) -> Option<Vec<Feasible>> {
    let place = tempfile::tempdir().ok()?;
    let summary = place.path().join("summary.json");
    let mut command = Command::new(LYDIAN);
    command.arg("gen").arg(file).args(["-c", MEASURED]).arg("-o").arg(place.path().join("tests"));
    run(command.arg("--json").arg(&summary))?;
    let summary = json(&summary)?;
    let of_function = |row: &Value| {
        let count = |criterion: usize| {
            let row = &row["criteria"][criterion];
            Some(row["objectives"].as_u64()? - row["infeasible"].as_u64()?)
        };
        let function = row["name"].as_str()?.to_owned();
        Some(Feasible { function, boundary: count(0)?, logic: count(1)? })
    };
    summary["functions"].as_array()?.iter().map(of_function).collect()
}
