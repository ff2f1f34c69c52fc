//! The coverage of the functions of one unit, from its counters.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_base::{EntityId as _, Place};
use lydian_ir::stmt::Edge;
use lydian_ir::{ConditionId, DecisionId, Truth, UnreachedValue};
use lydian_native::cc::{
    NotedDecision, NotedFunction, NotedLabels, NotedOutcome, NotedSequence, NotedSwitch,
    NotedUnmeasured, Notes,
};
use lydian_native::{Column, Count, CountOf, UnmeasuredLabel, UnmeasuredSequence};
use lydian_objective::coverage_record::{Consolidation, CoverageRecord};
use lydian_objective::decision::clause_pairs::ClausePairObjective;
use lydian_objective::decision::vector::DecisionVector;
use lydian_objective::{Criterion, FunctionObjectives, Hyper, LabelId, SequenceId, Site};
use lydian_report::coverage::{
    ConditionCoverage, DecisionCoverage, DecisionRow, DefUseCoverage, ExecutionCount as Times,
    FunctionCoverage, LineCoverage, ObjectiveCoverage, ObjectiveStatus, Position, SwitchCoverage,
    SwitchWay,
};

use super::Counters;

/// The records of one function.
#[derive(Debug, Default)]
struct FunctionRecords {
    record: CoverageRecord,
    covered: BTreeSet<LabelId>,
    /// The recorded evaluations of decisions, with a bit set of the conditions whose value is known
    /// even where they are not reached.
    vectors: BTreeMap<DecisionId, (BTreeSet<DecisionVector>, u64)>,
    /// The outcomes of decisions for which nothing else is recorded.
    outcomes: BTreeMap<DecisionId, [bool; 2]>,
    /// The labels whose cells are set.
    recorded: BTreeSet<LabelId>,
    unmeasured: BTreeMap<LabelId, String>,
    /// The labels whose bound values are not recorded, with the reason.
    unbound: BTreeMap<LabelId, String>,
    /// The sequences whose cells are set.
    sequences: BTreeSet<SequenceId>,
    unmeasured_sequences: BTreeMap<SequenceId, String>,
    /// The number of executions of labels' places, if they were counted.
    counts: BTreeMap<LabelId, u64>,
    /// The numbers of evaluations in which conditions were false and true.
    ways: BTreeMap<(DecisionId, ConditionId), [u64; 2]>,
    /// The status of each hyperlabel.
    hypers: Vec<ObjectiveStatus>,
}

impl FunctionRecords {
    fn times(&self, label: LabelId) -> Times {
        Times(self.counts.get(&label).copied())
    }
}

/// The functions of a unit, in the order of its notes, each for the files that its text comes from, its
/// own first.
pub(super) fn functions(
    notes: &Notes,
    counters: &Counters,
) -> Vec<Vec<(Arc<str>, FunctionCoverage)>> {
    let mut all: Vec<FunctionRecords> =
        notes.functions.iter().map(|_| FunctionRecords::default()).collect();
    read_plan(notes, counters, &mut all);
    for (function, records) in notes.functions.iter().zip(&mut all) {
        labels_of_vectors(function, records);
    }
    if notes.functions.iter().any(|function| !function.hypers.is_empty()) {
        judge_hypers(notes, &mut all);
    }
    let functions = notes.functions.iter().zip(&all);
    let functions = functions.map(|(function, records)| {
        let mut parts = by_file(function, records, notes.short_circuit);
        for (_, found) in &mut parts {
            // Lines and entries are recorded for all criteria.
            found.objectives.retain(|objective| notes.criteria.contains(&objective.criterion));
        }
        parts
    });
    functions.collect()
}

/// Reads the cells and tables as the plan says.
fn read_plan(notes: &Notes, counters: &Counters, all: &mut [FunctionRecords]) {
    let plan = &notes.plan;
    for NotedLabels { cell, function, labels } in &plan.labels {
        let Some(records) = all.get_mut(*function as usize) else { continue };
        records.recorded.extend(labels);
        if counters.set.contains(cell) {
            records.covered.extend(labels);
        }
    }
    for NotedSequence { cell, function, sequence } in &plan.sequences {
        if let Some(records) = all.get_mut(*function as usize)
            && counters.set.contains(cell)
        {
            records.record.cover_sequence(*sequence);
            records.sequences.insert(*sequence);
        }
    }
    for NotedOutcome { function, decision, first } in &plan.outcomes {
        let Some(records) = all.get_mut(*function as usize) else { continue };
        let seen = [0, 1].map(|outcome| counters.set.contains(&(first + outcome)));
        records.outcomes.insert(*decision, seen);
    }
    read_counts(notes, counters, all);
    read_vectors(notes, counters, all);
    read_bound(notes, counters, all);
    for UnmeasuredLabel { function, label, reason } in &plan.unbound_labels {
        if let Some(records) = all.get_mut(*function as usize) {
            records.unbound.insert(*label, reason.clone());
        }
    }
    for UnmeasuredLabel { function, label, reason } in &plan.unmeasured_labels {
        if let Some(records) = all.get_mut(*function as usize) {
            records.unmeasured.insert(*label, reason.clone());
        }
    }
    for UnmeasuredSequence { function, sequence, reason } in &plan.unmeasured_sequences {
        if let Some(records) = all.get_mut(*function as usize) {
            records.unmeasured_sequences.insert(*sequence, reason.clone());
        }
    }
}

/// Reads the counters. Without any, nothing ran.
fn read_counts(notes: &Notes, counters: &Counters, all: &mut [FunctionRecords]) {
    let count = |at: u32| counters.counts.get(at as usize).copied().unwrap_or(0);
    for Count { function, of, terms } in &notes.plan.counts {
        let Some(records) = all.get_mut(*function as usize) else { continue };
        let sum = |subtracts: bool| {
            let terms = terms.iter().filter(|term| term.1 == subtracts);
            terms.fold(0u64, |sum, term| sum.saturating_add(count(term.0)))
        };
        // Threads may lose counts, so that more is subtracted than was added.
        let times = sum(false).saturating_sub(sum(true));
        match of {
            CountOf::Labels(labels) => {
                records.counts.extend(labels.iter().map(|label| (*label, times)));
            }
            CountOf::Condition { decision, condition, value } => {
                let ways = records.ways.entry((*decision, *condition)).or_default();
                ways[usize::from(*value)] = times;
            }
        }
    }
}

/// Reads the evaluations of decisions.
fn read_vectors(notes: &Notes, counters: &Counters, all: &mut [FunctionRecords]) {
    let noted = |function: u32, decision: DecisionId| {
        notes.functions.get(function as usize)?.decisions.get(decision.index())
    };
    for vectors in &notes.plan.vectors {
        let (Some(records), Some(noted)) =
            (all.get_mut(vectors.function as usize), noted(vectors.function, vectors.decision))
        else {
            continue;
        };
        let end = vectors.first + (1 << vectors.bits);
        let cells = counters.set.range(vectors.first..end);
        let seen = cells
            .map(|cell| vector(noted, notes.short_circuit, &[u64::from(cell - vectors.first)]));
        records.vectors.insert(vectors.decision, (seen.collect(), vectors.settled));
    }
    for table in &notes.plan.tables {
        let (Some(records), Some(noted)) =
            (all.get_mut(table.function as usize), noted(table.function, table.decision))
        else {
            continue;
        };
        let mut seen = BTreeSet::new();
        for words in &counters.tables {
            let there = rows(words, table.at, table.capacity, table.words);
            seen.extend(there.map(|entry| vector(noted, notes.short_circuit, entry)));
        }
        records.vectors.insert(table.decision, (seen, u64::MAX));
    }
}

/// Reads the values that labels and sequences bound.
fn read_bound(notes: &Notes, counters: &Counters, all: &mut [FunctionRecords]) {
    for table in &notes.plan.bound {
        let Some(records) = all.get_mut(table.function as usize) else { continue };
        for words in &counters.tables {
            for row in rows(words, table.at, table.capacity, table.words) {
                if let Some(row) = Column::row(&table.columns, row) {
                    table.of.add(row, &mut records.record);
                }
            }
        }
    }
    for short in notes.plan.short.iter().filter(|short| counters.set.contains(&short.cell)) {
        if let Some(records) = all.get_mut(short.function as usize) {
            short.of.add(&mut records.record);
        }
    }
}

/// The entries of a table that are filled.
pub(super) fn rows(
    tables: &[u64],
    at: u32,
    capacity: u32,
    words: u32,
) -> impl Iterator<Item = &[u64]> {
    let entries = tables.get(at as usize..).unwrap_or(&[]).chunks_exact(1 + words as usize);
    entries.take(capacity as usize).filter(|entry| entry[0] == 2).map(|entry| &entry[1..])
}

/// The evaluation that the bits stand for.
fn vector(noted: &NotedDecision, short_circuit: bool, words: &[u64]) -> DecisionVector {
    DecisionVector::from_bits(&noted.decision, short_circuit, |bit| {
        let word = words.get(bit / 64).copied().unwrap_or(0);
        word >> (bit % 64) & 1 == 1
    })
}

/// The labels that recorded evaluations cover.
fn labels_of_vectors(function: &NotedFunction, records: &mut FunctionRecords) {
    for (id, label) in function.labels.iter() {
        let Site::Decision(decision) = label.site else { continue };
        let mut of_state = false;
        label.pred.for_each_expr(&mut |_| of_state = true);
        if of_state {
            continue;
        }
        if records.outcomes.contains_key(&decision) {
            records.recorded.insert(id);
        }
        let Some((seen, _)) = records.vectors.get(&decision) else { continue };
        records.recorded.insert(id);
        if seen.iter().any(|vector| label.pred.eval(vector).is_true()) {
            records.covered.insert(id);
        }
    }
}

/// Consolidates the hyperlabels of a unit ([002] VII-A).
fn judge_hypers(notes: &Notes, all: &mut [FunctionRecords]) {
    let objectives: Vec<FunctionObjectives> =
        notes.functions.iter().map(NotedFunction::objectives).collect();
    let record = |records: &mut FunctionRecords| {
        let mut record = std::mem::take(&mut records.record);
        for label in &records.covered {
            record.cover_label(*label);
        }
        for (decision, (vectors, _)) in &records.vectors {
            for vector in vectors {
                record.add_vector(*decision, vector.clone());
            }
        }
        record
    };
    let records: Vec<CoverageRecord> = all.iter_mut().map(record).collect();
    let mut consolidation = Consolidation::new(&objectives);
    consolidation.update(&records);
    for (number, of) in objectives.iter().enumerate() {
        let status = |(id, hyper): (_, &lydian_objective::Hyperlabel)| {
            if consolidation.is_covered(number, id) {
                return ObjectiveStatus::Covered;
            }
            let reason = match consolidation.judgement_error(number, id) {
                Some(why) => Some(why.to_string()),
                None => unmeasured(&hyper.hyper, number, &objectives, all),
            };
            reason.map_or(ObjectiveStatus::Missing, ObjectiveStatus::Unmeasured)
        };
        let hypers = of.hypers.iter().map(status).collect();
        all[number].hypers = hypers;
    }
}

/// The reason for which a hyperlabel of a function may be covered without a record of it, if there is
/// one.
fn unmeasured(
    hyper: &Hyper,
    owner: usize,
    objectives: &[FunctionObjectives],
    all: &[FunctionRecords],
) -> Option<String> {
    match hyper {
        Hyper::Atom(atom) => {
            let is_it = |of: &FunctionObjectives| of.function == atom.function;
            let records = match is_it(&objectives[owner]) {
                true => &all[owner],
                false => &all[objectives.iter().position(is_it)?],
            };
            let reason = records.unmeasured.get(&atom.label);
            match reason.or_else(|| records.unbound.get(&atom.label)) {
                Some(reason) => Some(reason.clone()),
                None if !records.recorded.contains(&atom.label) => Some(NOT_RECORDED.to_owned()),
                None => None,
            }
        }
        Hyper::Sequence(id) => all[owner].unmeasured_sequences.get(id).cloned(),
        Hyper::Guard(inner, _) => unmeasured(inner, owner, objectives, all),
        Hyper::All(parts) | Hyper::Any(parts) => {
            parts.iter().find_map(|part| unmeasured(part, owner, objectives, all))
        }
    }
}

const NOT_RECORDED: &str = "nothing in the instrumented text records it";

/// The coverage of a function, for each file that its text comes from: its own, and those that it
/// includes or that `#line` names.
fn by_file(
    function: &NotedFunction,
    records: &FunctionRecords,
    short_circuit: bool,
) -> Vec<(Arc<str>, FunctionCoverage)> {
    let mut files: Vec<Arc<str>> = vec![Arc::clone(&function.place.file)];
    let statements = function.criteria.get(&Criterion::Stmt).into_iter().flatten();
    let statements = statements.map(|entry| &function.labels[entry.label].place);
    let decisions = function.decisions.iter().map(|decision| &decision.place);
    let switches = function.switches.iter().map(|switch| &switch.place);
    for place in statements.chain(decisions).chain(switches) {
        if !files.contains(&place.file) {
            files.push(Arc::clone(&place.file));
        }
    }
    let part = |file: &Arc<str>| {
        let part = Part { function, records, file, files: &files };
        (Arc::clone(file), part.coverage(short_circuit))
    };
    files.iter().map(part).collect()
}

/// The part of a function that comes from one file.
struct Part<'a> {
    function: &'a NotedFunction,
    records: &'a FunctionRecords,
    file: &'a Arc<str>,
    /// The files that have text of the function, its own first.
    files: &'a [Arc<str>],
}

impl Part<'_> {
    fn has(&self, place: &Place) -> bool {
        place.file == *self.file
    }

    /// The position of an objective, if it is shown in this file. An objective may be about text
    /// outside of the function, such as a variable that a header declares; then it is shown at the
    /// function.
    fn shown(&self, place: &Place) -> Option<Position> {
        if self.files.contains(&place.file) {
            return self.has(place).then(|| position(place));
        }
        let own = &self.function.place;
        self.has(own).then(|| position(own))
    }

    fn coverage(&self, short_circuit: bool) -> FunctionCoverage {
        let Self { function, records, .. } = *self;
        let is_own = self.has(&function.place);
        let decisions = function.decisions.iter().enumerate();
        let decisions = decisions.filter(|(_, noted)| self.has(&noted.place));
        let switches = function.switches.iter().filter(|noted| self.has(&noted.place));
        let mut found = FunctionCoverage {
            name: function.name.clone(),
            start: position(&function.place),
            end_line: function.end_line,
            part: !is_own,
            entered: entered(function, records),
            entries: entries(function, records),
            lines: self.lines(),
            decisions: decisions
                .map(|(index, noted)| {
                    decision((DecisionId::from_index(index), noted), records, short_circuit)
                })
                .collect(),
            switches: switches.filter_map(|noted| switch(function, noted, records)).collect(),
            objectives: self.objectives(),
            def_uses: if is_own { def_uses(function, records) } else { Vec::new() },
        };
        if !is_own {
            let starts = found.objectives.iter().map(|objective| objective.start);
            let starts = starts.chain(found.decisions.iter().map(|decision| decision.start));
            let starts: Vec<Position> = starts.collect();
            found.start = starts.iter().min().copied().unwrap_or_default();
            let ends = starts.iter().map(|start| start.line);
            let ends = ends.chain(found.lines.iter().map(|line| line.line));
            found.end_line = ends.max().unwrap_or(found.start.line);
        }
        found
    }

    fn lines(&self) -> Vec<LineCoverage> {
        let Self { function, records, .. } = *self;
        let mut lines: BTreeMap<u32, (bool, Times)> = BTreeMap::new();
        for (label, place) in function.lines() {
            if self.has(place) {
                let (covered, count) = lines.entry(place.line).or_default();
                *covered |= records.covered.contains(&label);
                *count = count.max(records.times(label));
            }
        }
        let line = |(line, (covered, count))| LineCoverage { line, covered, count };
        lines.into_iter().map(line).collect()
    }

    fn objectives(&self) -> Vec<ObjectiveCoverage> {
        let Self { function, records, .. } = *self;
        let mut all = Vec::new();
        let mut add = |criterion: Criterion, name: &str, place, text: &str, status| {
            let Some(start) = self.shown(place) else { return };
            let decision = ClausePairObjective::named(criterion, name);
            all.push(ObjectiveCoverage {
                criterion,
                name: name.to_owned(),
                start,
                text: text.to_owned(),
                status,
                decision: decision.and_then(|(at, _)| self.position_of(at)),
            });
        };
        for (criterion, entries) in &function.criteria {
            for entry in entries {
                let label = &function.labels[entry.label];
                let status = match entry.duplicate_of {
                    Some(_) => ObjectiveStatus::Duplicate,
                    None => label_status(entry.label, records),
                };
                add(*criterion, &entry.name, &label.place, &label.text, status);
            }
        }
        for (criterion, entries) in &function.hyper_criteria {
            for entry in entries {
                let hyper = &function.hypers[entry.hyper];
                let status = match entry.duplicate_of {
                    Some(_) => ObjectiveStatus::Duplicate,
                    None => records.hypers[entry.hyper.index()].clone(),
                };
                add(*criterion, &entry.name, &hyper.place, &hyper.text, status);
            }
        }
        all
    }

    /// The position of a decision among the function's decisions in this file.
    fn position_of(&self, decision: usize) -> Option<u32> {
        let (before, rest) = self.function.decisions.split_at_checked(decision)?;
        let is_here = rest.first().is_some_and(|noted| self.has(&noted.place));
        is_here.then(|| before.iter().filter(|noted| self.has(&noted.place)).count() as u32)
    }
}

/// A pair of a definition and a use as reports show it.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct PairKey {
    definition: Position,
    usage: Position,
    variable: String,
    /// The side of the condition that the use is; none if it is no condition.
    branch: Option<bool>,
}

/// The pairs that sequences ask for. The sides of a switch are shown as one pair.
fn def_uses(function: &NotedFunction, records: &FunctionRecords) -> Vec<DefUseCoverage> {
    let mut pairs: BTreeMap<PairKey, bool> = BTreeMap::new();
    for (id, sequence) in function.sequences.iter() {
        let (pair, flow, suffix) = match (sequence.flow, sequence.cell_pair()) {
            (Some(pair), _) => (pair, &function.flow, ""),
            // A cell of the array.
            (None, Some(pair)) => (pair, &function.cells, "[]"),
            (None, None) => continue,
        };
        let definition = flow.definitions.get(pair.definition.index());
        let usage = flow.uses.get(pair.usage.index());
        let (Some((variable, definition)), Some((usage, is_condition))) = (definition, usage)
        else {
            continue;
        };
        let variable = format!("{variable}{suffix}");
        // Reports show lines of one file.
        if definition.file != function.place.file || usage.file != function.place.file {
            continue;
        }
        let branch = is_condition.then_some(pair.way == 1);
        let (definition, usage) = (position(definition), position(usage));
        let key = PairKey { definition, usage, variable, branch };
        *pairs.entry(key).or_default() |= records.sequences.contains(&id);
    }
    let pair = |(PairKey { definition, usage, variable, branch }, covered)| DefUseCoverage {
        variable,
        definition,
        definition_file: None,
        usage,
        branch,
        covered,
    };
    pairs.into_iter().map(pair).collect()
}

pub(super) fn position(place: &Place) -> Position {
    Position { line: place.line, column: place.column }
}

/// Whether the function was entered, if any record tells.
fn entered(function: &NotedFunction, records: &FunctionRecords) -> Option<bool> {
    let telling = Criterion::OF_EVERY_REPORT.iter();
    let entries = telling.filter_map(|criterion| function.criteria.get(criterion));
    let mut labels = entries.flatten().map(|entry| entry.label).peekable();
    labels.peek()?;
    Some(labels.any(|label| records.covered.contains(&label)))
}

/// The number of entries, if they were counted.
fn entries(function: &NotedFunction, records: &FunctionRecords) -> Times {
    let labels = function.criteria.get(&Criterion::Fc).into_iter().flatten();
    labels.map(|entry| records.times(entry.label)).fold(Times::default(), Times::max)
}

fn decision(
    (id, noted): (DecisionId, &NotedDecision),
    records: &FunctionRecords,
    short_circuit: bool,
) -> DecisionCoverage {
    let recorded = records.vectors.get(&id);
    let mut rows: Vec<DecisionRow> = match recorded {
        Some((vectors, settled)) => {
            vectors.iter().map(|vector| row(noted, vector, *settled)).collect()
        }
        None => Vec::new(),
    };
    rows.sort();
    rows.dedup();
    let seen = |outcome: bool| rows.iter().any(|row| row.outcome == outcome);
    let outcomes = match records.outcomes.get(&id) {
        Some(outcomes) if recorded.is_none() => *outcomes,
        _ => [seen(false), seen(true)],
    };
    let conditions = noted.conditions.iter().zip(noted.decision.conditions.iter());
    DecisionCoverage {
        start: position(&noted.place),
        text: noted.text.clone(),
        from_macro: noted.from_macro,
        conditions: conditions
            .map(|(noted, (condition, of))| ConditionCoverage {
                start: position(&noted.place),
                text: noted.text.clone(),
                pure: of.unreached != UnreachedValue::Never,
                counts: records
                    .ways
                    .get(&(id, condition))
                    .map_or_else(Default::default, |ways| ways.map(|count| Times(Some(count)))),
            })
            .collect(),
        tree: noted.asked.clone(),
        recorded: recorded.is_some(),
        rows,
        outcomes,
        short_circuit,
    }
}

/// A row of the decision's table. The value of a condition that was not reached is not shown, unless it
/// is one of the `settled` ones.
fn row(noted: &NotedDecision, vector: &DecisionVector, settled: u64) -> DecisionRow {
    let is_settled =
        |id: ConditionId| settled.checked_shr(id.index() as u32).is_none_or(|bits| bits & 1 == 1);
    let is_known =
        |id| vector.known.contains(id) && (is_settled(id) || vector.reached.contains(id));
    let outcome = noted.decision.tree.eval(&|condition| {
        Truth::from(vector.known.contains(condition) && vector.value.contains(condition))
    });
    let ids = || noted.decision.conditions.ids();
    DecisionRow {
        values: ids().map(|id| is_known(id).then(|| vector.value.contains(id))).collect(),
        reached: ids().map(|id| vector.reached.contains(id)).collect(),
        outcome: outcome.is_true(),
    }
}

/// A switch, if its sides are recorded.
fn switch(
    function: &NotedFunction,
    noted: &NotedSwitch,
    records: &FunctionRecords,
) -> Option<SwitchCoverage> {
    let label_of = |way: u32| {
        let site = Site::Edge(Edge { from: noted.block, way });
        function.labels.iter().find(|(_, label)| label.site == site).map(|(id, _)| id)
    };
    let ways = (0..).zip(&noted.ways).map(|(way, noted)| {
        let label = label_of(way)?;
        Some(SwitchWay {
            name: noted.name.clone(),
            start: position(&noted.place),
            covered: records.covered.contains(&label),
            count: records.times(label),
        })
    });
    Some(SwitchCoverage { start: position(&noted.place), ways: ways.collect::<Option<_>>()? })
}

/// The objectives that stand for criteria not measured in a function.
pub(super) fn not_asked(noted: &NotedUnmeasured) -> Vec<ObjectiveCoverage> {
    let start = position(&noted.place);
    let one = |criterion: &Criterion| {
        ObjectiveCoverage::whole_function(*criterion, &noted.name, start, noted.reason.clone())
    };
    noted.criteria.iter().map(one).collect()
}

/// A function without any measurement.
pub(super) fn left_out(
    noted: &NotedUnmeasured,
    objectives: Vec<ObjectiveCoverage>,
) -> FunctionCoverage {
    FunctionCoverage {
        name: noted.name.clone(),
        start: position(&noted.place),
        end_line: noted.end_line,
        objectives,
        ..FunctionCoverage::default()
    }
}

fn label_status(label: LabelId, records: &FunctionRecords) -> ObjectiveStatus {
    if records.covered.contains(&label) {
        ObjectiveStatus::Covered
    } else if let Some(reason) = records.unmeasured.get(&label) {
        ObjectiveStatus::Unmeasured(reason.clone())
    } else if records.recorded.contains(&label) {
        ObjectiveStatus::Missing
    } else {
        ObjectiveStatus::Unmeasured(NOT_RECORDED.to_owned())
    }
}
