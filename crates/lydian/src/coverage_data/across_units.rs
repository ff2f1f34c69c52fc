//! Pairs of definitions and uses in two units of a program.
//!
//! Units are compiled separately, so pairs across units are found here, for each program: a linked file
//! that no other one needs, with all libraries that it needs. A library that nothing needs may be
//! loaded by any program with which it shares a symbol. Objects in no linked file have no pairs, nor do
//! objects of two different programs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use lydian_native::cc::{
    Image, NotedDefinition, NotedShared, NotedUse, NotedVariable, Notes, UnitId,
};
use lydian_objective::Criterion;
use lydian_objective::criterion::{Flow, FlowDemand};
use lydian_objective::dataflow::{ForeignPair, LinkedImage, SharedFlow, foreign_pairs};
use lydian_report::coverage::{
    Coverage, DefUseCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus, Position,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Counters;
use super::unit_coverage::{position, rows};
use crate::wrapper::absolute;

/// A unit that shares variables with others.
pub(super) struct Unit {
    id: UnitId,
    /// The position of its coverage.
    part: usize,
    shared: NotedShared,
    source: PathBuf,
    directory: PathBuf,
    criteria: Vec<Criterion>,
    /// The names of its watched functions, and where they begin.
    functions: Vec<(String, Position)>,
    /// For each function, the positions of its file and of itself in the unit's coverage.
    places: Vec<Option<(usize, usize)>>,
    /// The definitions of other units that reached uses, with the cells of the uses.
    reached: FxHashSet<(u64, u64)>,
    /// Whether there may be more of them.
    is_short: bool,
}

impl Unit {
    /// A unit with the position of its coverage.
    pub(super) fn new(
        (id, part): (UnitId, usize),
        shared: NotedShared,
        notes: &Notes,
        counters: &Counters,
    ) -> Self {
        let functions = notes.functions.iter();
        let functions = functions.map(|of| (of.name.clone(), position(&of.place))).collect();
        let mut reached = FxHashSet::default();
        if let Some(table) = shared.table {
            let all = counters.tables.iter();
            let all = all.flat_map(|words| rows(words, table.at, table.capacity, 2));
            reached.extend(all.map(|row| (row[0], row[1])));
        }
        Self {
            id,
            part,
            shared,
            source: absolute(Path::new(&notes.directory), &notes.source),
            directory: PathBuf::from(&notes.directory),
            criteria: notes.criteria.clone(),
            functions,
            places: Vec::new(),
            reached,
            is_short: counters.foreign_full,
        }
    }

    fn definition(&self, pair: &ForeignPair) -> &NotedDefinition {
        &self.shared.variables[pair.variable as usize].definitions[pair.number as usize - 1]
    }

    fn usage(&self, pair: &ForeignPair) -> &NotedUse {
        &self.shared.uses[pair.usage as usize]
    }

    /// The file of a definition.
    fn file(&self, definition: &NotedDefinition) -> PathBuf {
        let path = absolute(&self.directory, &*definition.place.file);
        path.canonicalize().unwrap_or(path)
    }

    /// A definition in words, with its function and file.
    fn said(&self, definition: &NotedDefinition) -> String {
        let file = Path::new(&*definition.place.file);
        let file = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let function = definition.function.and_then(|at| self.functions.get(at as usize));
        match function {
            Some((name, _)) => format!("{} of {name} in {file}", definition.text),
            None => format!("{} in {file}", definition.text),
        }
    }

    /// The coverage of one of its functions, if it is watched.
    fn function<'p>(
        &self,
        position: Option<u32>,
        parts: &'p mut [Coverage],
    ) -> Option<&'p mut FunctionCoverage> {
        let (file, function) = (*self.places.get(position? as usize)?)?;
        Some(&mut parts[self.part].files[file].functions[function])
    }

    /// Finds the functions in the coverage of the unit.
    fn find_functions(&mut self, coverage: &Coverage) {
        let mut places = FxHashMap::default();
        for (file, of_file) in coverage.files.iter().enumerate() {
            for (at, function) in of_file.functions.iter().enumerate() {
                places.insert((function.name.as_str(), function.start), (file, at));
            }
        }
        let functions = self.functions.iter();
        let found = functions.map(|(name, start)| places.get(&(name.as_str(), *start)).copied());
        self.places = found.collect();
    }
}

/// Adds the pairs between units to the units' coverage.
pub(super) fn add(parts: &mut [Coverage], mut units: Vec<Unit>, images: &[Image]) {
    units.iter_mut().for_each(|unit| unit.find_functions(&parts[unit.part]));
    units.sort_by(|a, b| (&a.source, a.id).cmp(&(&b.source, b.id)));
    let pairs = Pairs { all: all_pairs(&units, images), units: &units };
    pairs.uses(parts);
    pairs.definitions(parts);
}

/// The pairs of all programs.
fn all_pairs(units: &[Unit], images: &[Image]) -> BTreeSet<ForeignPair> {
    let positions: FxHashMap<UnitId, usize> =
        units.iter().enumerate().map(|(at, unit)| (unit.id, at)).collect();
    let flows: Vec<&SharedFlow> = units.iter().map(|unit| &unit.shared.flow).collect();
    let mut known = BTreeSet::new();
    let mut pairs = BTreeSet::new();
    for program in programs(images) {
        let linked: Vec<LinkedImage<'_>> = program
            .iter()
            .map(|image| {
                let here = image.units.iter().filter_map(|id| positions.get(id).copied());
                let here: Vec<usize> = here.collect();
                let is_closed = is_closed(image, here.iter().map(|at| flows[*at]));
                LinkedImage { units: here, dynamic: &image.dynamic, is_closed }
            })
            .filter(|image| !image.units.is_empty())
            .collect();
        let key: Vec<(Vec<usize>, bool)> =
            linked.iter().map(|image| (image.units.clone(), image.is_closed)).collect();
        // Two programs of the same objects and libraries have the same pairs.
        if linked.len() > 1 || known.insert(key) {
            pairs.extend(foreign_pairs(&flows, &linked));
        }
    }
    pairs
}

/// The linked files of each program.
fn programs(images: &[Image]) -> Vec<Vec<&Image>> {
    let images: Vec<&Image> = images.iter().filter(|image| !image.is_object).collect();
    let is_needed = |one: &&Image| images.iter().any(|other| needs(other, one));
    let (needed, roots): (Vec<&Image>, Vec<&Image>) = images.iter().copied().partition(is_needed);
    let mut programs = Vec::new();
    for root in &roots {
        let mut all = with_needed(root, &needed);
        let plugins = roots.iter().filter(|plugin| plugin.is_library && !root.is_library);
        for plugin in plugins {
            if all.iter().any(|image| !image.dynamic.is_disjoint(&plugin.dynamic)) {
                let more = with_needed(plugin, &needed).into_iter();
                let more: Vec<&Image> = more.filter(|one| !all.contains(one)).collect();
                all.extend(more);
            }
        }
        programs.push(all);
    }
    programs
}

fn needs(image: &Image, other: &Image) -> bool {
    image.needed.iter().any(|name| other.is_called(name))
}

/// A linked file with all files that it needs, directly or through others.
fn with_needed<'a>(root: &'a Image, needed: &[&'a Image]) -> Vec<&'a Image> {
    let mut found = vec![root];
    let mut at = 0;
    while at < found.len() {
        let more = needed.iter().copied().filter(|other| needs(found[at], other));
        let more: Vec<&Image> = more.filter(|one| !found.contains(one)).collect();
        found.extend(more);
        at += 1;
    }
    found
}

/// The functions that linkers and compilers add to programs. The only user function that they call is
/// `main`.
const STARTING: [&str; 6] =
    ["_start", "_init", "_fini", "__libc_csu_init", "__libc_csu_fini", "_dl_relocate_static_pie"];

/// Whether all functions of a linked file are those of its units, as far as its symbols tell.
fn is_closed<'a>(image: &Image, flows: impl Iterator<Item = &'a SharedFlow>) -> bool {
    let Some(functions) = &image.functions else { return false };
    let all = flows.flat_map(|flow| &flow.graph.functions);
    let own: FxHashSet<&str> = all.map(|function| function.name.as_str()).collect();
    let is_own = |name: &str| own.contains(name) || STARTING.contains(&name);
    functions.iter().all(|name| is_own(name))
}

/// The pairs between units.
struct Pairs<'a> {
    units: &'a [Unit],
    all: BTreeSet<ForeignPair>,
}

impl Pairs<'_> {
    /// Whether the use's unit contains the definition itself, as one of an inline function.
    fn is_own(&self, pair: &ForeignPair) -> bool {
        let (using, defining) = (&self.units[pair.using], &self.units[pair.defining]);
        let definition = defining.definition(pair);
        let name = &defining.shared.variables[pair.variable as usize].name;
        let there = using.shared.variables.iter().filter(|variable| variable.name == *name);
        let mut own = there.flat_map(|variable| &variable.definitions);
        own.any(|other| other.place == definition.place)
    }

    /// The status of a pair on one side of its use. `unknown` is the reason for which the definitions
    /// that reached the use are not known, if they are not.
    fn status(&self, pair: &ForeignPair, way: u32, unknown: Option<&str>) -> ObjectiveStatus {
        let (using, defining) = (&self.units[pair.using], &self.units[pair.defining]);
        let usage = using.usage(pair);
        let cell = u64::from(usage.cells.0 + way * usage.cells.1);
        let last = defining.shared.base + u64::from(pair.number);
        if let Some(reason) = unknown {
            return ObjectiveStatus::Unmeasured(reason.to_owned());
        }
        match using.reached.contains(&(last, cell)) {
            true => ObjectiveStatus::Covered,
            false if using.is_short => ObjectiveStatus::Unmeasured(SHORT.to_owned()),
            false => ObjectiveStatus::Missing,
        }
    }

    /// The uses for which the definitions of other units that reached them are not known, with the
    /// reason: the use is not recorded itself, or a definition that may reach it is not.
    fn unknown(&self) -> BTreeMap<(usize, u32), &str> {
        let mut unknown = BTreeMap::new();
        for pair in &self.all {
            let (using, defining) = (&self.units[pair.using], &self.units[pair.defining]);
            let own = &using.shared.flow.graph.uses[pair.usage as usize];
            let reasons = [
                &using.usage(pair).uninstrumentable,
                &using.shared.variables[own.variable as usize].uninstrumentable,
                &defining.shared.variables[pair.variable as usize].uninstrumentable,
                &defining.definition(pair).uninstrumentable,
            ];
            if let Some(reason) = reasons.into_iter().flatten().next() {
                unknown.entry((pair.using, pair.usage)).or_insert(reason.as_str());
            }
        }
        unknown
    }

    /// Adds each pair to the function of its use.
    fn uses(&self, parts: &mut [Coverage]) {
        let unknown = self.unknown();
        for pair in self.all.iter().filter(|pair| !self.is_own(pair)) {
            let (using, defining) = (&self.units[pair.using], &self.units[pair.defining]);
            let variable = &defining.shared.variables[pair.variable as usize];
            let (definition, usage) = (defining.definition(pair), using.usage(pair));
            let Some(function) = using.function(usage.function, parts) else { continue };
            let unknown = unknown.get(&(pair.using, pair.usage)).copied();
            let said = defining.said(definition);
            let file = defining.file(definition);
            let of = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
            for (way, (name, text)) in (0..).zip(&usage.ways) {
                let status = self.status(pair, way, unknown);
                let whole =
                    format!("{} {} of {of} to {} {name}", variable.name, pair.number, usage.name);
                let is_asked =
                    |criterion: &&Criterion| asks_for(**criterion, FlowDemand::Uses, variable);
                for criterion in using.criteria.iter().filter(is_asked) {
                    function.objectives.push(ObjectiveCoverage {
                        decision: None,
                        criterion: *criterion,
                        name: whole.trim_end().to_owned(),
                        start: position(&usage.place),
                        text: format!("{said} reaches {text}"),
                        status: status.clone(),
                    });
                }
                let shown = DefUseCoverage {
                    variable: variable.name.clone(),
                    definition: position(&definition.place),
                    definition_file: Some(file.clone()),
                    usage: position(&usage.place),
                    branch: usage.is_condition.then_some(way == 1),
                    covered: status == ObjectiveStatus::Covered,
                };
                add_pair(&mut function.def_uses, shown);
            }
        }
    }

    /// Adds the uses in other units to the objectives of definitions.
    fn definitions(&self, parts: &mut [Coverage]) {
        let unknown = self.unknown();
        let mut by_definition: BTreeMap<DefinitionKey, Vec<&ForeignPair>> = BTreeMap::new();
        for pair in self.all.iter().filter(|pair| !self.is_own(pair)) {
            let ForeignPair { defining: unit, variable, number, .. } = *pair;
            by_definition.entry(DefinitionKey { unit, variable, number }).or_default().push(pair);
        }
        for (DefinitionKey { unit, variable, number }, pairs) in by_definition {
            let unit = &self.units[unit];
            let variable = &unit.shared.variables[variable as usize];
            let definition = &variable.definitions[number as usize - 1];
            let Some(function) = unit.function(definition.function, parts) else { continue };
            let all = pairs.iter().flat_map(|pair| {
                let unknown = unknown.get(&(pair.using, pair.usage)).copied();
                let ways = self.units[pair.using].usage(pair).ways.len() as u32;
                (0..ways).map(move |way| self.status(pair, way, unknown))
            });
            let status = any(all.collect());
            let is_asked =
                |criterion: &&Criterion| asks_for(**criterion, FlowDemand::Definitions, variable);
            for criterion in unit.criteria.iter().filter(is_asked) {
                let objective = ObjectiveCoverage {
                    decision: None,
                    criterion: *criterion,
                    name: format!("{} {number}", variable.name),
                    start: position(&definition.place),
                    text: format!("{} reaches a use", definition.text),
                    status: status.clone(),
                };
                add_alternative(&mut function.objectives, objective);
            }
        }
    }
}

/// A definition of a variable that several units share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct DefinitionKey {
    /// The position of the unit that defines it.
    unit: usize,
    /// The variable's position among the shared ones of the unit.
    variable: u32,
    /// The number of the definition, from 1.
    number: u32,
}

/// Whether a criterion has this demand on a variable. If it distinguishes cells, an array has
/// objectives for its cells instead.
fn asks_for(criterion: Criterion, demand: FlowDemand, variable: &NotedVariable) -> bool {
    let whole = |flow: Flow| flow.asks == demand && !(flow.cells && variable.has_cells);
    criterion.flow().is_some_and(whole)
}

const SHORT: &str = "a table was too small for all definitions of other files";

/// Adds a pair to those of a function. The sides of a switch are shown as one.
fn add_pair(pairs: &mut Vec<DefUseCoverage>, pair: DefUseCoverage) {
    let is_it = |other: &&mut DefUseCoverage| {
        let covered = other.covered;
        **other == DefUseCoverage { covered, ..pair.clone() }
    };
    match pairs.iter_mut().find(is_it) {
        Some(known) => known.covered |= pair.covered,
        None => pairs.push(pair),
    }
}

/// Adds alternatives for covering an objective that the function may already have.
fn add_alternative(objectives: &mut Vec<ObjectiveCoverage>, more: ObjectiveCoverage) {
    let is_it = |other: &&mut ObjectiveCoverage| {
        other.criterion == more.criterion && other.name == more.name && other.start == more.start
    };
    match objectives.iter_mut().find(is_it) {
        Some(known) if known.status == ObjectiveStatus::Duplicate => {}
        Some(known) => {
            known.status = any(vec![known.status.clone(), more.status]);
            known.text = more.text;
        }
        None => objectives.push(more),
    }
}

/// The status of an objective that any of several alternatives covers.
fn any(all: Vec<ObjectiveStatus>) -> ObjectiveStatus {
    let rank = |status: &ObjectiveStatus| match status {
        ObjectiveStatus::Covered => 2,
        ObjectiveStatus::Unmeasured(_) => 1,
        _ => 0,
    };
    let most = |best: ObjectiveStatus, next| if rank(&next) > rank(&best) { next } else { best };
    all.into_iter().reduce(most).unwrap_or(ObjectiveStatus::Missing)
}
