//! What is attacked: a function, and its labels that `lydian gen` calls infeasible.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_base::SourceMap;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_ir::{FuncId, Program};
use lydian_native::{Plan, Purpose, RewriteRequest, rewrite, with_cells};
use lydian_objective::{Annotators, Criterion, FunctionObjectives, LabelId, Request};

/// A file, read.
pub(crate) struct Unit {
    pub(crate) program: Program,
    pub(crate) map: SourceMap,
}

impl Unit {
    /// Reads a file as `lydian gen` does.
    pub(crate) fn read(place: &Path, file: &str, flags: &[String]) -> Result<Self, String> {
        let path = place.join(file);
        let flags = CompileFlags::new(flags, Path::new(file)).map_err(|e| e.to_string())?;
        let parse = ParseRequest::new(path, flags.in_directory(place));
        let unit = lydian_frontend::load(&LoadRequest::new(parse)).map_err(|e| e.to_string())?;
        Ok(Self { program: unit.program, map: unit.source })
    }
}

/// A function with its infeasible labels placed as checks in the text.
pub(crate) struct Subject {
    pub(crate) function: FuncId,
    /// The text with the checks.
    pub(crate) text: String,
    /// The labels, each with the cells that a run sets when it covers the label.
    pub(crate) targets: Vec<InfeasibleLabel>,
    /// Infeasible labels that have no check, as they are judged by more than one place.
    pub(crate) unplaced: usize,
}

/// A label that is called infeasible.
pub(crate) struct InfeasibleLabel {
    /// What it is, with its place.
    pub(crate) name: String,
    pub(crate) cells: Vec<usize>,
}

/// The keys of the labels that `lydian gen` calls infeasible without assumptions.
pub(crate) fn infeasible_keys(
    place: &Path,
    file: &str,
    flags: &[String],
    function: &str,
    criteria: &str,
    time: f64,
) -> Result<BTreeSet<String>, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
    lydian.current_dir(place).args(["gen", file, "-f", function, "-c", criteria]);
    lydian.args(["--jobs", "1", "--time", &time.to_string(), "-o"]).arg(folder.path());
    let out = lydian.arg("--").args(flags).output().expect("lydian can be started");
    let ledger = folder.path().join("ledger.sqlite");
    if !ledger.is_file() {
        let errors = String::from_utf8_lossy(&out.stderr);
        return Err(errors.lines().next().unwrap_or("no ledger").to_owned());
    }
    read_keys(&ledger).map_err(|error| error.to_string())
}

/// The labels with an argument that no test can cover them which takes nothing for granted, and no
/// measured test.
fn read_keys(ledger: &PathBuf) -> rusqlite::Result<BTreeSet<String>> {
    let connection = rusqlite::Connection::open(ledger)?;
    let mut query = connection.prepare(
        "SELECT DISTINCT label, detail FROM evidence WHERE kind IN ('complete', 'local-proof')
         AND label NOT IN (SELECT label FROM evidence WHERE kind LIKE 'measured%'
                           OR kind = 'withdrawn')",
    )?;
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
    let assumed = |detail: &str| {
        let detail: serde_json::Value = serde_json::from_str(detail).unwrap_or_default();
        detail["assumptions"].as_array().is_some_and(|list| !list.is_empty())
    };
    let sound = rows.filter(|row| row.as_ref().map_or(true, |(_, detail)| !assumed(detail)));
    sound.map(|row| row.map(|(label, _)| label)).collect()
}

/// Places the labels of these keys in the text.
pub(crate) fn place(
    unit: &Unit,
    name: &str,
    criteria: &[Criterion],
    keys: &BTreeSet<String>,
) -> Option<Subject> {
    let Unit { program, map } = unit;
    let function = program.function_named(name)?;
    let request = Request::new(criteria);
    let annotators = Annotators::new(program, map, &request);
    let objectives = annotators.function(function).ok()?.objectives;
    let watched = [objectives];
    let (text, plan) = rewrite(&RewriteRequest {
        map,
        starts: &[],
        program,
        watched: &watched,
        short_circuit: false,
        overflow_traps: false,
        purpose: Purpose::Tests,
        leaves_out: false,
        counts: false,
        any_order: false,
        flows: None,
    });
    let text = with_cells(&text, &plan, false);
    let (mut targets, mut unplaced) = (Vec::new(), 0);
    for (id, label) in watched[0].labels.iter() {
        if keys.contains(&label.key.0) {
            match target(&watched[0], &plan, id) {
                Some(target) => targets.push(target),
                None => unplaced += 1,
            }
        }
    }
    Some(Subject { function, text, targets, unplaced })
}

fn target(objectives: &FunctionObjectives, plan: &Plan, id: LabelId) -> Option<InfeasibleLabel> {
    let cells = plan.cells.iter().enumerate();
    let cells: Vec<usize> =
        cells.filter(|(_, cell)| cell.labels.contains(&id)).map(|(at, _)| at).collect();
    let label = &objectives.labels[id];
    let name = format!("{}: {} ({:?})", label.place, label.text, label.site);
    (!cells.is_empty()).then_some(InfeasibleLabel { name, cells })
}
