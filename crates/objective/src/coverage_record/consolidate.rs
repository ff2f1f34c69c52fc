//! Consolidation: judges which hyperlabels are covered by the records of runs ([002] VII-A).
//!
//! Evaluation is lazy. Parts outside of guards are decided one by one: a disjunction by the first
//! part that is covered, a conjunction by the first that is not. Only a guard needs the normal form
//! of its operand. Of a guarded conjunction the parts are looked up first, and environments are
//! joined only if all are covered. A covered hyperlabel stays covered. Another one is judged again
//! only if its records have grown.

use std::rc::Rc;

use lydian_base::EntityId;
use lydian_ir::{FuncId, Truth};
use rustc_hash::FxHashMap;

use super::join::{Column, Join, TooManySteps};
use super::request::{used_in_sequence, used_values};
use super::{CoverageRecord, LabelValues, Row, SequenceValues, Set, vectors_give};
use crate::hyper::normal::{GuardedConjunction, Part, TooManyConjunctions};
use crate::hyper::{BoundValue, Formula, Hyper, HyperId};
use crate::label::LabelId;
use crate::objectives::FunctionObjectives;

/// The most conjunctions of a normal form below one guard.
const CONJUNCTIONS: usize = 4096;
/// If an environment has at most so many truth values, reading vectors stops once all combinations
/// are seen.
const FEW: usize = 8;

/// Why a hyperlabel is not judged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JudgementError {
    /// Its normal form is too large.
    #[error(transparent)]
    Form(#[from] TooManyConjunctions),
    /// Its guard would take too long.
    #[error("{0} combinations of values were tried without an answer")]
    Steps(u64),
    /// It is about a function that has no objectives.
    #[error("it is about a function that is not measured")]
    Function,
    /// Runs bound more values than could be kept, and those that were kept do not cover it.
    #[error("a table was too small for all the values that it binds")]
    Values,
}

/// The hyperlabels of some functions, with their coverage as far as it was judged.
#[derive(Debug)]
pub struct Consolidation<'a> {
    all: Vec<&'a FunctionObjectives>,
    /// By function and hyperlabel.
    states: Vec<Vec<HyperlabelState>>,
    /// The size of each record when the states were judged.
    sizes: Vec<usize>,
}

#[derive(Debug)]
struct HyperlabelState {
    goal: Result<Goal, JudgementError>,
    covered: bool,
    /// Whether values that it asks for could not be kept.
    short: bool,
}

/// A hyperlabel, ready to be judged.
#[derive(Debug)]
enum Goal {
    /// A label or sequence without values.
    Part(Source),
    All(Vec<Goal>),
    Any(Vec<Goal>),
    /// A disjunction of guarded conjunctions.
    Guarded(Vec<GuardedGoal>),
}

#[derive(Debug)]
struct GuardedGoal {
    /// The labels and sequences that must be covered.
    sources: Vec<Source>,
    join: Join,
}

/// A label or sequence, with the values that guards use.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Source {
    /// The function, by position.
    function: usize,
    values: Values,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Values {
    Label(LabelValues),
    Sequence(SequenceValues),
}

impl<'a> Consolidation<'a> {
    /// Prepares the hyperlabels of these functions.
    pub fn new(all: impl IntoIterator<Item = &'a FunctionObjectives>) -> Self {
        let all: Vec<&FunctionObjectives> = all.into_iter().collect();
        let functions = all.iter().enumerate().map(|(n, one)| (one.function, n)).collect();
        let compiler = Compiler { all: &all, functions };
        let states = all.iter().enumerate().map(|(owner, objectives)| {
            let hypers = objectives.hypers.values();
            let state = |goal| HyperlabelState { goal, covered: false, short: false };
            hypers.map(|hyper| state(compiler.goal(owner, &hyper.hyper))).collect()
        });
        let (states, sizes) = (states.collect(), vec![0; all.len()]);
        Self { all, states, sizes }
    }

    /// Judges with the records so far, one for each function. Records only grow from one call to the
    /// next. Returns the hyperlabels that are covered now and were not before, each with its function
    /// by position.
    ///
    /// # Panics
    /// If there is not one record for each function.
    pub fn update(&mut self, records: &[CoverageRecord]) -> Vec<(usize, HyperId)> {
        assert_eq!(records.len(), self.all.len(), "a record for each function");
        let sizes: Vec<usize> = records.iter().map(CoverageRecord::size).collect();
        let grown: Vec<bool> = sizes.iter().zip(&self.sizes).map(|(new, old)| new != old).collect();
        let mut found = Vec::new();
        for (function, states) in self.states.iter_mut().enumerate() {
            let mut judge = Judge { all: &self.all, records, rows: FxHashMap::default() };
            for (index, state) in states.iter_mut().enumerate().filter(|(_, s)| !s.covered) {
                let Ok(goal) = &state.goal else { continue };
                if !goal.is_about(&|function| grown[function]) {
                    continue;
                }
                state.short = goal.asks_for(&|source| judge.is_incomplete(source));
                match judge.covers(goal) {
                    Ok(true) => {
                        state.covered = true;
                        found.push((function, HyperId::from_index(index)));
                    }
                    Ok(false) => {}
                    Err(TooManySteps(steps)) => state.goal = Err(JudgementError::Steps(steps)),
                }
            }
        }
        self.sizes = sizes;
        found
    }

    /// Whether the records of other runs cover a hyperlabel of a function, given by its position;
    /// `None` if that cannot be judged. There is a record for each function.
    pub fn covers_with(
        &self,
        function: usize,
        hyper: HyperId,
        records: &[CoverageRecord],
    ) -> Option<bool> {
        let goal = self.states[function][hyper.index()].goal.as_ref().ok()?;
        let mut judge = Judge { all: &self.all, records, rows: FxHashMap::default() };
        judge.covers(goal).ok()
    }

    /// Whether a hyperlabel of a function, given by its position, is covered.
    pub fn is_covered(&self, function: usize, hyper: HyperId) -> bool {
        self.states[function][hyper.index()].covered
    }

    /// The reason for which a hyperlabel cannot be judged or be called open; `None` if it can.
    pub fn judgement_error(&self, function: usize, hyper: HyperId) -> Option<&JudgementError> {
        let state = &self.states[function][hyper.index()];
        match &state.goal {
            Err(why) => Some(why),
            Ok(_) => (state.short && !state.covered).then_some(&JudgementError::Values),
        }
    }
}

impl CoverageRecord {
    /// Whether the record of one function covers a hyperlabel of it that is about no other function.
    ///
    /// # Errors
    /// If the hyperlabel cannot be judged.
    pub fn covers(
        &self,
        objectives: &FunctionObjectives,
        hyper: &Hyper,
    ) -> Result<bool, JudgementError> {
        let all = &[objectives];
        let functions = std::iter::once((objectives.function, 0)).collect();
        let goal = Compiler { all, functions }.goal(0, hyper)?;
        let records = std::slice::from_ref(self);
        let mut judge = Judge { all, records, rows: FxHashMap::default() };
        judge.covers(&goal).map_err(|TooManySteps(steps)| JudgementError::Steps(steps))
    }
}

/// Makes goals of hyperlabels.
struct Compiler<'a> {
    all: &'a [&'a FunctionObjectives],
    functions: FxHashMap<FuncId, usize>,
}

impl Compiler<'_> {
    fn goal(&self, owner: usize, hyper: &Hyper) -> Result<Goal, JudgementError> {
        let goals = |parts: &[Hyper]| -> Result<Vec<Goal>, JudgementError> {
            parts.iter().map(|part| self.goal(owner, part)).collect()
        };
        match hyper {
            Hyper::Atom(atom) => self.part(owner, Part::Atom(atom)),
            Hyper::Sequence(id) => self.part(owner, Part::Sequence(*id)),
            Hyper::All(parts) => Ok(Goal::All(goals(parts)?)),
            Hyper::Any(parts) => Ok(Goal::Any(goals(parts)?)),
            Hyper::Guard(..) => {
                let form = hyper.normal_form(CONJUNCTIONS)?;
                let guarded = form.iter().map(|conjunction| self.guarded(owner, conjunction));
                Ok(Goal::Guarded(guarded.collect::<Result<_, _>>()?))
            }
        }
    }

    fn part(&self, owner: usize, part: Part<'_>) -> Result<Goal, JudgementError> {
        let (source, _) = self.source(owner, part, &|_| false)?;
        Ok(Goal::Part(source))
    }

    fn guarded(
        &self,
        owner: usize,
        conjunction: &GuardedConjunction<'_>,
    ) -> Result<GuardedGoal, JudgementError> {
        let mut used = rustc_hash::FxHashSet::default();
        for guard in &conjunction.guards {
            guard.for_each_name(&mut |name| _ = used.insert(name));
        }
        let mut sources = Vec::new();
        let mut columns: FxHashMap<String, Column> = FxHashMap::default();
        for (part, of) in conjunction.parts.iter().enumerate() {
            let (source, names) = self.source(owner, *of, &|name| used.contains(name))?;
            for (at, (name, truth)) in names.into_iter().enumerate() {
                columns.insert(name, Column { part, at, truth });
            }
            sources.push(source);
        }
        let column = |name: &str| columns.get(name).copied();
        let guards: &[&Formula] = &conjunction.guards;
        let join = Join::new(sources.len(), guards, &column);
        Ok(GuardedGoal { sources, join })
    }

    /// A part with the values whose names are used, and for each its name and whether it is a truth
    /// value.
    fn source(
        &self,
        owner: usize,
        part: Part<'_>,
        used: &impl Fn(&str) -> bool,
    ) -> Result<(Source, Vec<(String, bool)>), JudgementError> {
        let is_truth = |bound: &BoundValue| matches!(bound, BoundValue::Truth(_));
        match part {
            Part::Atom(atom) => {
                let function =
                    self.functions.get(&atom.function).ok_or(JudgementError::Function)?;
                let bindings = atom.bindings.iter().filter(|binding| used(&binding.name));
                let names = bindings.map(|b| (b.name.clone(), is_truth(&b.value))).collect();
                let values = Values::Label(used_values(atom, used));
                Ok((Source { function: *function, values }, names))
            }
            Part::Sequence(id) => {
                let sequence = &self.all[owner].sequences[id];
                let values = used_in_sequence(id, sequence, used);
                let binding = |(atom, binding): &(u32, u32)| {
                    let found = &sequence.atoms[*atom as usize].bindings[*binding as usize];
                    (found.name.clone(), is_truth(&found.value))
                };
                let names = values.values.iter().map(binding).collect();
                Ok((Source { function: owner, values: Values::Sequence(values) }, names))
            }
        }
    }
}

impl Goal {
    /// Whether a function that it is about is one of these.
    fn is_about(&self, function: &impl Fn(usize) -> bool) -> bool {
        self.asks_for(&|source| function(source.function))
    }

    /// Whether it asks for one of these labels and sequences.
    fn asks_for(&self, holds: &impl Fn(&Source) -> bool) -> bool {
        match self {
            Self::Part(source) => holds(source),
            Self::All(goals) | Self::Any(goals) => goals.iter().any(|g| g.asks_for(holds)),
            Goal::Guarded(guarded) => guarded.iter().flat_map(|g| &g.sources).any(holds),
        }
    }
}

/// Judges goals by records.
struct Judge<'h> {
    all: &'h [&'h FunctionObjectives],
    records: &'h [CoverageRecord],
    /// Environments that were made already: conditions of one decision share them.
    rows: FxHashMap<Source, Rc<Vec<Row>>>,
}

impl Judge<'_> {
    fn covers(&mut self, goal: &Goal) -> Result<bool, TooManySteps> {
        match goal {
            Goal::Part(source) => Ok(self.is_covered(source)),
            Goal::All(goals) => {
                for goal in goals {
                    if !self.covers(goal)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Goal::Any(goals) => {
                for goal in goals {
                    if self.covers(goal)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Goal::Guarded(guarded) => {
                for conjunction in guarded {
                    if self.covers_guarded(conjunction)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }

    fn covers_guarded(&mut self, guarded: &GuardedGoal) -> Result<bool, TooManySteps> {
        // Parts without values are cheap to look up.
        let plain = guarded.sources.iter().filter(|source| source.width() == 0);
        if !plain.clone().all(|source| self.is_covered(source)) {
            return Ok(false);
        }
        let mut rows = Vec::new();
        for source in &guarded.sources {
            let of_part = self.rows(source);
            if of_part.is_empty() {
                return Ok(false);
            }
            rows.push(of_part);
        }
        let rows: Vec<&[Row]> = rows.iter().map(|rows| rows.as_slice()).collect();
        guarded.join.is_solvable(&rows)
    }

    /// Whether some of the requested values of a part could not be kept. Coverage of a label is
    /// always kept; a sequence may need values that are not asked for in the end.
    fn is_incomplete(&self, source: &Source) -> bool {
        let record = &self.records[source.function];
        match &source.values {
            Values::Label(values) => {
                source.width() > 0 && record.incomplete_labels.contains(&values.label)
            }
            Values::Sequence(values) => record.incomplete_sequences.contains(&values.sequence),
        }
    }

    fn is_covered(&self, source: &Source) -> bool {
        let record = &self.records[source.function];
        match &source.values {
            Values::Label(values) => record.covers_label(self.all[source.function], values.label),
            Values::Sequence(values) => record.covers_sequence(values.sequence),
        }
    }

    /// The distinct environments of a part; for one without values an empty one.
    fn rows(&mut self, source: &Source) -> Rc<Vec<Row>> {
        if source.width() == 0 {
            return Rc::new(vec![Row::new(); usize::from(self.is_covered(source))]);
        }
        if let Some(rows) = self.rows.get(source) {
            return Rc::clone(rows);
        }
        let record = &self.records[source.function];
        let mut rows: Set<Row> = Set::default();
        match &source.values {
            Values::Label(values) => {
                rows.extend(record.label_rows.get(values).into_iter().flatten().cloned());
                let objectives = self.all[source.function];
                rows_of_vectors(record, objectives, values.label, &values.values, &mut rows);
            }
            Values::Sequence(values) => {
                rows.extend(record.sequence_rows.get(values).into_iter().flatten().cloned());
            }
        }
        let rows = Rc::new(rows.into_iter().collect());
        self.rows.insert(source.clone(), Rc::clone(&rows));
        rows
    }
}

/// The environments that a decision's vectors give a label.
fn rows_of_vectors(
    record: &CoverageRecord,
    objectives: &FunctionObjectives,
    label: LabelId,
    values: &[BoundValue],
    rows: &mut Set<Row>,
) {
    let Some(decision) = vectors_give(objectives, label, values) else { return };
    let preds: Vec<_> = values
        .iter()
        .filter_map(|value| match value {
            BoundValue::Truth(pred) => Some(pred),
            BoundValue::Expr(_) => None,
        })
        .collect();
    let all = if preds.len() <= FEW { 1 << preds.len() } else { usize::MAX };
    let pred = &objectives.labels[label].pred;
    for vector in record.vectors(decision) {
        if rows.len() >= all {
            break;
        }
        if !pred.eval(vector).is_true() {
            continue;
        }
        let value = |truth: Truth| truth.known().map(i128::from);
        let row: Option<Row> = preds.iter().map(|pred| value(pred.eval(vector))).collect();
        rows.extend(row);
    }
}

impl Source {
    /// How many values its environments have.
    fn width(&self) -> usize {
        match &self.values {
            Values::Label(values) => values.values.len(),
            Values::Sequence(values) => values.values.len(),
        }
    }
}
