//! From what builds and runs left in the store to what reports show.
//!
//! Counters of all runs are united, unit by unit; each unit is judged by its own notes; then the
//! functions that several units hold are merged by their place. What is damaged, missing or out of
//! date is said and costs nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lydian_native::cc::{NotedFile, Notes, Store, UnitCells, UnitId, UnitState, read_cells};
use lydian_report::coverage::{Coverage, FileCoverage, FunctionCoverage, PlainFile};

use crate::wrapper::unit::absolute;

mod judge;
mod merge;

/// What runs left behind of one unit.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The cells that any run set.
    pub(crate) set: BTreeSet<u32>,
    /// The words of the tables of each run.
    pub(crate) tables: Vec<Vec<u64>>,
    /// Whether a table was too small.
    pub(crate) full: bool,
}

/// Everything that the store's builds and runs say. Never fails: what cannot be read is a warning.
pub(crate) fn harvest(store: &Store) -> Coverage {
    let mut warnings = Vec::new();
    let (units, superseded, plain) = compiled(store);
    let mut counters = counters(store, &units, &superseded, &mut warnings);
    let mut coverage = Coverage { plain, ..Coverage::default() };
    let mut files: BTreeMap<std::path::PathBuf, FileCoverage> = BTreeMap::new();
    for (id, name) in &units {
        let Some(packed) = store.notes(*id) else {
            warnings.push(format!("the notes of {name} are missing; build it again"));
            continue;
        };
        let notes = match Notes::unpack(*id, &packed) {
            Ok(notes) => notes,
            Err(error) => {
                warnings.push(format!("{name} is left out: {error}"));
                continue;
            }
        };
        let found = counters.remove(id).unwrap_or_default();
        if found.full {
            warnings.push(format!("{name}: a table of evaluations was too small for all of them"));
        }
        for criterion in &notes.criteria {
            if !coverage.criteria.contains(criterion) {
                coverage.criteria.push(*criterion);
            }
        }
        for (path, changed, function) in functions(&notes, &found) {
            let empty = FileCoverage { path: path.clone(), changed: false, functions: Vec::new() };
            let file = files.entry(path).or_insert(empty);
            file.changed |= changed;
            merge::add(&mut file.functions, function);
        }
    }
    for file in files.values_mut() {
        file.functions.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        if file.changed {
            let path = file.path.display();
            warnings.push(format!("{path} has changed since it was compiled; build it again"));
        }
    }
    coverage.files = files.into_values().collect();
    warnings.sort();
    warnings.dedup();
    coverage.warnings = warnings;
    coverage
}

/// The units that count, each with a name for the user; those that no longer do; the files that
/// are not instrumented.
fn compiled(store: &Store) -> (BTreeMap<UnitId, String>, BTreeSet<UnitId>, Vec<PlainFile>) {
    let mut units = BTreeMap::new();
    let mut superseded = BTreeSet::new();
    let mut plain = BTreeSet::new();
    for record in store.units() {
        superseded.extend(record.superseded);
        match record.state {
            UnitState::Instrumented(id) => {
                units.insert(id, record.source.display().to_string());
            }
            UnitState::Plain(reason) => {
                plain.insert(PlainFile { path: record.source, reason });
            }
        }
    }
    // Objects that a cache gave back have no record of their own.
    for id in store.image_units() {
        if !superseded.contains(&id) {
            units.entry(id).or_insert_with(|| format!("unit {id}"));
        }
    }
    superseded.retain(|id| !units.contains_key(id));
    (units, superseded, plain.into_iter().collect())
}

/// What all runs left behind, by unit.
fn counters(
    store: &Store,
    units: &BTreeMap<UnitId, String>,
    superseded: &BTreeSet<UnitId>,
    warnings: &mut Vec<String>,
) -> BTreeMap<UnitId, Counters> {
    let mut all: BTreeMap<UnitId, Counters> = BTreeMap::new();
    let (mut old, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    for path in store.cell_files() {
        let name = path.display();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) => {
                warnings.push(format!("the counter file {name} cannot be read: {error}"));
                continue;
            }
        };
        let (found, damage) = read_cells(&bytes);
        for damage in damage {
            warnings.push(format!("{damage}: {name}; what is sound in it counts"));
        }
        for unit in found {
            if units.contains_key(&unit.id) {
                add(all.entry(unit.id).or_default(), unit);
            } else if superseded.contains(&unit.id) {
                old.insert(unit.id);
            } else {
                unknown.insert(unit.id);
            }
        }
    }
    let say = |count: usize, what: &str| match count {
        0 => None,
        1 => Some(format!("the counters of one unit are left out: {what}")),
        _ => Some(format!("the counters of {count} units are left out: {what}")),
    };
    warnings.extend(say(old.len(), "they are of an earlier build of it"));
    warnings.extend(say(unknown.len(), "nothing is known of its build"));
    if store.lost() > 0 {
        warnings.push(
            "some runs could not be counted: their counter files could not be made".to_owned(),
        );
    }
    all
}

fn add(counters: &mut Counters, unit: UnitCells) {
    counters.set.extend(unit.set);
    counters.full |= unit.full;
    if !unit.tables.is_empty() {
        counters.tables.push(unit.tables);
    }
}

/// The functions of a unit, each with its file and whether that has changed.
fn functions(
    notes: &Notes,
    counters: &Counters,
) -> Vec<(std::path::PathBuf, bool, FunctionCoverage)> {
    let directory = Path::new(&notes.directory);
    let mut files: BTreeMap<&str, (std::path::PathBuf, bool)> = BTreeMap::new();
    for file in &notes.files {
        files.insert(&file.path, located(directory, file));
    }
    let judged = judge::functions(notes, counters);
    let with_file = |(function, coverage): (&lydian_native::cc::NotedFunction, _)| {
        let name = &*function.place.file;
        let known = files.get(name).cloned();
        let (path, changed) = known.unwrap_or_else(|| (name.into(), false));
        (path, changed, coverage)
    };
    notes.functions.iter().zip(judged).map(with_file).collect()
}

/// Where a file is, and whether it is another one than was compiled.
fn located(directory: &Path, file: &NotedFile) -> (std::path::PathBuf, bool) {
    let path = absolute(directory, &file.path);
    let Ok(path) = path.canonicalize() else {
        // A name that no file ever had, as generators of C make them.
        return match file.hash {
            Some(_) => (path, true),
            None => (file.path.clone().into(), false),
        };
    };
    let now = std::fs::read(&path).ok().map(|bytes| *blake3::hash(&bytes).as_bytes());
    let changed = file.hash.is_some() && file.hash != now;
    (path, changed)
}
