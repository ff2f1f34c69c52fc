//! Coverage reports from the store that builds and runs of `lydian cc` left.
//!
//! The counters of all runs are added up for each unit, and each unit is judged by its own notes. Then
//! functions that several units have are merged by their place. Damaged, missing and outdated data is
//! reported and has no other effect.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lydian_native::add_redundant;
use lydian_native::cc::{
    NotedFile, NotedUnmeasured, Notes, Store, UnitCells, UnitId, UnitState, read_cells,
};
use lydian_report::coverage::{Coverage, FileCoverage, FunctionCoverage, PlainFile};

use crate::wrapper::absolute;

mod across_units;
mod marked_tests;
mod unit_coverage;

/// The records of all runs of one unit.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// The cells that any run set.
    pub(crate) set: BTreeSet<u32>,
    /// The words of the tables of each run.
    pub(crate) tables: Vec<Vec<u64>>,
    /// Whether a table was too small.
    pub(crate) full: bool,
    /// Whether the table of definitions in other units was too small.
    pub(crate) foreign_full: bool,
    /// The sums of its counters.
    pub(crate) counts: Vec<u64>,
}

/// The coverage in a store that builds and runs of `lydian cc` filled. It never fails: unreadable data
/// becomes a warning of the coverage.
pub fn collect(store: &Store) -> Coverage {
    let mut warnings = Vec::new();
    let CompiledUnits { units, superseded, plain } = compiled_units(store);
    for path in store.damaged_records() {
        let path = path.display();
        warnings.push(format!(
            "a record of the build cannot be read: {path}; remove it and build again"
        ));
    }
    let mut counters = counters(store, &units, &superseded, &mut warnings);
    let mut parts = Vec::new();
    let mut sharing = Vec::new();
    let mut written = WrittenObjectives::default();
    let mut tests = marked_tests::MarkedTests::of(store.tests());
    for (id, name) in &units {
        let Some(packed) = store.notes(*id) else {
            warnings.push(format!("the notes of {name} are missing; build it again"));
            continue;
        };
        let mut notes = match Notes::unpack(*id, &packed) {
            Ok(notes) => notes,
            Err(error) => {
                warnings.push(format!("{name} is left out: {error}"));
                continue;
            }
        };
        let mut found = counters.remove(id).unwrap_or_default();
        add_redundant(&mut found.set, &notes.plan.redundant);
        if found.full {
            warnings.push(format!("{name}: a table of evaluations was too small for all of them"));
        }
        parts.push(unit(&notes, &found));
        tests.add(*id, &notes);
        written.add(&notes);
        if let Some(shared) = notes.shared.take() {
            sharing.push(across_units::Unit::new((*id, parts.len() - 1), shared, &notes, &found));
        }
    }
    across_units::add(&mut parts, sharing, &store.images());
    warnings.extend(written.warnings());
    let mut coverage = merged(parts);
    coverage.plain = plain;
    coverage.tests = tests.coverage();
    for file in coverage.files.iter().filter(|file| file.changed) {
        let path = file.path.display();
        warnings.push(format!("{path} has changed since it was compiled; build it again"));
    }
    coverage.warnings.extend(warnings);
    coverage.warnings.sort();
    coverage.warnings.dedup();
    coverage
}

/// The files of hyperlabels that units were compiled with, and their use.
#[derive(Debug, Default)]
struct WrittenObjectives {
    /// The functions that each file is about.
    asked: BTreeMap<String, BTreeSet<String>>,
    defined: BTreeSet<String>,
    wrong: BTreeSet<String>,
}

impl WrittenObjectives {
    fn add(&mut self, notes: &Notes) {
        self.defined.extend(notes.functions.iter().map(|function| function.name.clone()));
        for file in &notes.written {
            self.wrong.extend(file.wrong.iter().cloned());
            let asked = self.asked.entry(file.path.clone()).or_default();
            asked.extend(file.functions.iter().cloned());
        }
    }

    /// Errors in the files, and functions that no unit has.
    fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self.wrong.iter().cloned().collect();
        for (path, functions) in &self.asked {
            for function in functions.difference(&self.defined) {
                all.push(format!(
                    "{path}: no file that is measured has a function `{function}`; its objectives are \
                     left out"
                ));
            }
        }
        all
    }
}

/// Merges pairs of parts, then pairs of pairs, so that each part is merged few times.
fn merged(mut parts: Vec<Coverage>) -> Coverage {
    while parts.len() > 1 {
        let mut rest = parts.into_iter();
        parts = Vec::new();
        while let Some(mut first) = rest.next() {
            if let Some(second) = rest.next() {
                first.merge(second);
            }
            parts.push(first);
        }
    }
    parts.pop().unwrap_or_default()
}

/// The files that `lydian cc` compiled.
struct CompiledUnits {
    /// The instrumented units that count, each with a name for the user.
    units: BTreeMap<UnitId, String>,
    /// The units that were compiled anew since.
    superseded: BTreeSet<UnitId>,
    /// The files that were compiled without instrumentation.
    plain: Vec<PlainFile>,
}

fn compiled_units(store: &Store) -> CompiledUnits {
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
    for (id, linked) in store.image_units() {
        if !superseded.contains(&id) {
            units.entry(id).or_insert_with(|| format!("a unit of {}", linked.display()));
        }
    }
    superseded.retain(|id| !units.contains_key(id));
    CompiledUnits { units, superseded, plain: plain.into_iter().collect() }
}

/// The records of all runs, by unit.
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
                let what = format!("the counter file {name} cannot be read: {error}");
                warnings.push(format!("{what}; remove it and run the program again"));
                continue;
            }
        };
        let (found, damage) = read_cells(&bytes);
        for damage in damage {
            let rest =
                "what is sound in it counts; remove it and run the program again for the rest";
            warnings.push(format!("{damage}: {name}; {rest}"));
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
    let cells = store.path().join("cells");
    let cells = cells.display();
    let earlier = format!(
        "they are of an earlier build of it; run the program again (removing {cells} forgets all runs)"
    );
    warnings.extend(say(old.len(), &earlier));
    warnings.extend(say(unknown.len(), "nothing is known of its build; build it again"));
    if store.lost() > 0 {
        warnings.push(format!(
            "some runs could not be counted: their counter files could not be made in {cells}; see \
             that it has room and can be written, and run them again (LYDIAN_VERBOSE=1 says why)"
        ));
    } else if !units.is_empty() && store.cell_files().is_empty() {
        let why = match store.images().is_empty() {
            true => {
                "no program was linked with `lydian cc`: link with it, too (in CMake by \
                 CMAKE_C_LINKER_LAUNCHER), and run the program"
            }
            false => "run the program first",
        };
        warnings.push(format!("no run was counted: {cells} is empty; {why}"));
    }
    all
}

fn add(counters: &mut Counters, unit: UnitCells) {
    counters.set.extend(unit.set);
    counters.full |= unit.full;
    counters.foreign_full |= unit.foreign_full;
    if counters.counts.len() < unit.counts.len() {
        counters.counts.resize(unit.counts.len(), 0);
    }
    for (sum, count) in counters.counts.iter_mut().zip(unit.counts) {
        *sum = sum.saturating_add(count);
    }
    if !unit.tables.is_empty() {
        counters.tables.push(unit.tables);
    }
}

/// The coverage of one unit.
fn unit(notes: &Notes, counters: &Counters) -> Coverage {
    let directory = Path::new(&notes.directory);
    let mut files: BTreeMap<String, FileCoverage> =
        notes.files.iter().map(|file| (file.path.clone(), located(directory, file))).collect();
    let functions = unit_coverage::functions(notes, counters);
    let mut add = |file: &str, function: FunctionCoverage| {
        let unknown = || FileCoverage { path: file.into(), ..FileCoverage::default() };
        files.entry(file.to_owned()).or_insert_with(unknown).functions.push(function);
    };
    let mut left = notes.unmeasured.iter().collect::<Vec<_>>();
    for (noted, parts) in notes.functions.iter().zip(functions) {
        let is_it = |one: &&NotedUnmeasured| one.place == noted.place && one.name == noted.name;
        for (file, mut function) in parts {
            if !function.part {
                let of_it = left.extract_if(.., |one| is_it(one));
                function.objectives.extend(of_it.flat_map(unit_coverage::not_asked));
            }
            add(&file, function);
        }
    }
    for noted in left {
        add(&noted.place.file, unit_coverage::left_out(noted, unit_coverage::not_asked(noted)));
    }
    let mut coverage = Coverage { criteria: notes.criteria.clone(), ..Coverage::default() };
    // Two names may lead to one file.
    for mut file in files.into_values() {
        file.functions.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
        coverage.merge(Coverage { files: vec![file], ..Coverage::default() });
    }
    coverage
}

/// A file without functions yet, with its path and whether it changed since it was compiled.
fn located(directory: &Path, file: &NotedFile) -> FileCoverage {
    let digest = file.hash.map(|hash| blake3::Hash::from_bytes(hash).to_hex().to_string());
    let given = absolute(directory, &file.path);
    let (path, changed) = match given.canonicalize() {
        Ok(path) => {
            let now = std::fs::read(&path).ok().map(|bytes| *blake3::hash(&bytes).as_bytes());
            (path, file.hash.is_some() && file.hash != now)
        }
        Err(_) if file.hash.is_some() => (given, true),
        // A name that no file ever had, as generators of C make them.
        Err(_) => (file.path.clone().into(), false),
    };
    FileCoverage { path, digest, changed, ..FileCoverage::default() }
}
