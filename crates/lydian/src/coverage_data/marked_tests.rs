//! The lines that each marked test executed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lydian_base::Place;
use lydian_native::add_redundant;
use lydian_native::cc::{NotedFunction, NotedLabels, Notes, TestRuns, UnitId, read_cells};
use lydian_objective::{Criterion, LabelId};
use lydian_report::coverage::{LineRanges, TestCoverage};

use crate::wrapper::absolute;

/// The lines that cells stand for, by unit.
#[derive(Default)]
pub(super) struct MarkedTests {
    runs: Vec<TestRuns>,
    units: BTreeMap<UnitId, Unit>,
}

struct Unit {
    /// The file and line of the statement or function that a cell records.
    lines: BTreeMap<u32, Vec<(PathBuf, u32)>>,
    redundant: Vec<lydian_native::RedundantCell>,
}

impl MarkedTests {
    pub(super) fn of(runs: Vec<TestRuns>) -> Self {
        Self { runs, units: BTreeMap::new() }
    }

    /// Adds the cells of a unit from its notes.
    pub(super) fn add(&mut self, id: UnitId, notes: &Notes) {
        if self.runs.is_empty() {
            return;
        }
        let directory = Path::new(&notes.directory);
        let mut lines: BTreeMap<u32, Vec<(PathBuf, u32)>> = BTreeMap::new();
        let places: Vec<BTreeMap<LabelId, Vec<&Place>>> =
            notes.functions.iter().map(places).collect();
        // The system is asked once for each file.
        let mut files: BTreeMap<&str, PathBuf> = BTreeMap::new();
        for NotedLabels { cell, function, labels } in &notes.plan.labels {
            let Some(places) = places.get(*function as usize) else { continue };
            for place in labels.iter().filter_map(|label| places.get(label)).flatten() {
                let file = files.entry(&place.file).or_insert_with(|| {
                    let file = absolute(directory, &*place.file);
                    file.canonicalize().unwrap_or(file)
                });
                lines.entry(*cell).or_default().push((file.clone(), place.line));
            }
        }
        self.units.insert(id, Unit { lines, redundant: notes.plan.redundant.clone() });
    }

    /// The lines that each test executed. Damaged and outdated counters are left out; they are reported
    /// where all runs are read.
    pub(super) fn coverage(self) -> Vec<TestCoverage> {
        let Self { runs, units } = self;
        runs.into_iter().map(|test| of_test(test, &units)).collect()
    }
}

/// The places of a function's lines, and its own, by their labels.
fn places(function: &NotedFunction) -> BTreeMap<LabelId, Vec<&Place>> {
    let entries = function.criteria.get(&Criterion::Fc).into_iter().flatten();
    let entries = entries.map(|entry| (entry.label, &function.place));
    let mut places: BTreeMap<LabelId, Vec<&Place>> = BTreeMap::new();
    for (label, place) in function.lines().chain(entries) {
        places.entry(label).or_default().push(place);
    }
    places
}

fn of_test(test: TestRuns, units: &BTreeMap<UnitId, Unit>) -> TestCoverage {
    let mut set: BTreeMap<UnitId, BTreeSet<u32>> = BTreeMap::new();
    for bytes in test.cell_files.iter().filter_map(|path| std::fs::read(path).ok()) {
        for unit in read_cells(&bytes).0 {
            set.entry(unit.id).or_default().extend(unit.set);
        }
    }
    let mut passed: BTreeMap<PathBuf, BTreeSet<u32>> = BTreeMap::new();
    for (id, mut cells) in set {
        let Some(unit) = units.get(&id) else { continue };
        add_redundant(&mut cells, &unit.redundant);
        for (file, line) in cells.iter().filter_map(|cell| unit.lines.get(cell)).flatten() {
            passed.entry(file.clone()).or_default().insert(*line);
        }
    }
    let files = passed.into_iter().map(|(file, lines)| (file, LineRanges::of(lines)));
    TestCoverage { name: test.name, files: files.collect() }
}
