//! Guards over values of the program: the search for inputs of several runs that fit each other.
//!
//! A label or sequence may bind any number, so the possible bindings cannot be listed as truth
//! values can ([`crate::goals::hyper_rows`]). Where a path covers a part of a guarded conjunction,
//! an *occurrence* is kept: the state, the condition under which it covers the part, and the terms
//! that it binds. Two questions are asked about occurrences:
//! - Where tests gave rows of the other parts: whether an input of this path has values that
//!   satisfy the guard with one of these rows.
//! - Otherwise: whether there are inputs, one for an occurrence of each part, that satisfy the
//!   guard together. The question consists of the facts of all these paths over copies of the
//!   inputs, and of the guard over the bound terms.
//!
//! The same is done with the truth values of decisions with too many conditions to list their
//! vectors.
//!
//! The inputs of an answer are followed to their ends and become tests.
//!
//! Several workers share occurrences. Each tells the others of its own. Exactly one worker asks for
//! each combination, which is determined by the occurrences in it ([`Pairing::ask_of`]).
//!
//! Invariant: at the end of an exploration without cuts, each combination of occurrences of an open
//! hyperlabel was asked for, or the reason why not is noted. So an uncovered hyperlabel without a
//! reason is infeasible.

use std::collections::VecDeque;
use std::sync::Arc;

use lydian_objective::CoverageRecord;
use lydian_objective::coverage_record::{LabelValues, Row, SequenceValues};
use lydian_objective::hyper::Formula;
use lydian_smt::{Model, Term, TermPool};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::goals::hyper_formula::{Leaves, Number, truth};
use crate::goals::hyper_sequences::StepId;
use crate::goals::shared::Asker;
use crate::goals::shared::OccurrencePlace;
use crate::limits::Cut;
use crate::machine::questions::Feasible;

/// The most occurrences of one part that are kept.
const MOST_OCCURRENCES: usize = 256;
/// The most combinations of occurrences of one hyperlabel that are asked for.
const MOST_COMBINATIONS: usize = 4096;
/// The most rows of tests that one question is about.
const MOST_ROWS: usize = 32;
/// How many combinations are asked for at a time while states wait.
pub(crate) const AT_A_TIME: usize = 8;

/// A guarded conjunction of a hyperlabel with parts that bind values which guards name.
pub(crate) struct Pairing {
    /// The position of the hyperlabel.
    goal: usize,
    parts: Vec<Part>,
    guards: Vec<Formula>,
    /// The questions that wait.
    waiting: VecDeque<Question>,
    combinations: usize,
}

/// A part that binds values which guards name.
pub(crate) struct Part {
    /// The step with the label that completes the part.
    pub(crate) step: StepId,
    /// All names that the part binds, in order.
    pub(crate) names: Vec<String>,
    /// The positions in `names` of the names that guards use, in the order of rows.
    pub(crate) used: Vec<usize>,
    /// The place of its rows in a coverage record.
    pub(crate) values: RowKey,
    occurrences: Vec<Occurrence>,
}

/// The key of a part's values in a coverage record: the position of a function, and a label or sequence of
/// it.
#[derive(Clone)]
pub(crate) enum RowKey {
    Label(usize, LabelValues),
    Sequence(usize, SequenceValues),
}

/// A row that a path binds for a part.
pub(crate) struct BoundRow {
    values: RowKey,
    row: Row,
}

/// A path that covers a part.
pub(crate) struct Occurrence {
    /// The path: its facts and a model. The rest of the state is there only if this worker found
    /// the path.
    pub(crate) state: Box<State>,
    pub(crate) holds: Term,
    pub(crate) bound: SmallVec<[Number; 2]>,
    /// A number that decides which worker asks for combinations with this occurrence. It is the
    /// same for all workers.
    pub(crate) number: usize,
    /// Whether another worker found the path. Inputs are then followed from the start of the path.
    pub(crate) elsewhere: bool,
}

pub(crate) enum Question {
    /// About one occurrence of a part, with rows that tests gave of the other parts.
    WithTests(usize, usize),
    /// About one occurrence of each part.
    Together(SmallVec<[usize; 4]>),
}

/// A part that a path covers under a condition.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct BoundPart {
    step: StepId,
    holds: Term,
    bound: SmallVec<[Number; 2]>,
}

impl BoundPart {
    /// The part with terms of another pool.
    pub(crate) fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        let bound = self.bound.iter().map(|number| number.with_terms(of)).collect();
        Self { step: self.step, holds: of(self.holds), bound }
    }
}

/// The pairings of an exploration.
#[derive(Default)]
pub(crate) struct PairTable {
    pairings: Vec<Pairing>,
    /// The parts that a step completes.
    by_step: FxHashMap<StepId, Vec<(usize, usize)>>,
}

impl Part {
    pub(crate) fn new(step: StepId, names: Vec<String>, used: Vec<usize>, values: RowKey) -> Self {
        Self { step, names, used, values, occurrences: Vec::new() }
    }
}

impl RowKey {
    fn position(&self) -> usize {
        match self {
            Self::Label(position, _) | Self::Sequence(position, _) => *position,
        }
    }

    fn add(&self, row: Row, record: &mut CoverageRecord) {
        match self {
            Self::Label(_, values) => _ = record.add_label_values(values.clone(), row),
            Self::Sequence(_, values) => _ = record.add_sequence_values(values.clone(), row),
        }
    }

    fn rows<'h>(&'h self, record: &'h CoverageRecord) -> Box<dyn Iterator<Item = &'h Row> + 'h> {
        match self {
            Self::Label(_, values) => Box::new(record.rows_of_label(values)),
            Self::Sequence(_, values) => Box::new(record.rows_of_sequence(values)),
        }
    }
}

impl PairTable {
    /// Adds a guarded conjunction of a hyperlabel.
    pub(crate) fn add(&mut self, goal: usize, parts: Vec<Part>, guards: Vec<Formula>) {
        let pairing = self.pairings.len();
        for (position, part) in parts.iter().enumerate() {
            self.by_step.entry(part.step).or_default().push((pairing, position));
        }
        let waiting = VecDeque::new();
        self.pairings.push(Pairing { goal, parts, guards, waiting, combinations: 0 });
    }

    /// The occurrence at a place.
    pub(crate) fn occurrence(&self, place: OccurrencePlace) -> &Occurrence {
        &self.pairings[place.pairing].parts[place.part].occurrences[place.index]
    }

    /// The number of pairings.
    pub(crate) fn len(&self) -> usize {
        self.pairings.len()
    }

    /// Takes the next question about a pairing.
    pub(crate) fn next_question(&mut self, pairing: usize) -> Option<Question> {
        self.pairings[pairing].waiting.pop_front()
    }

    /// The position of the hyperlabel of a pairing.
    pub(crate) fn goal(&self, pairing: usize) -> usize {
        self.pairings[pairing].goal
    }

    /// The places of all occurrences.
    pub(crate) fn all_occurrences(&self) -> impl Iterator<Item = OccurrencePlace> + '_ {
        self.pairings.iter().enumerate().flat_map(|(pairing, of)| {
            of.parts.iter().enumerate().flat_map(move |(part, of)| {
                (0..of.occurrences.len()).map(move |index| OccurrencePlace { pairing, part, index })
            })
        })
    }

    /// Whether a question is asked about the values that a step binds.
    pub(crate) fn asks_for(&self, step: StepId) -> bool {
        self.by_step.contains_key(&step)
    }
}

/// The numbers of the names of several parts, taken together.
struct JointNames<'j> {
    parts: Vec<(&'j [String], &'j [Number])>,
}

impl Leaves for JointNames<'_> {
    fn name(&mut self, _: &mut TermPool, name: &str) -> Option<Number> {
        self.parts.iter().find_map(|(names, numbers)| {
            let at = names.iter().position(|known| known == name)?;
            numbers.get(at).copied()
        })
    }

    fn state(&mut self, _: &mut TermPool, _: lydian_ir::ExprId) -> Option<Number> {
        None
    }
}

impl Pairing {
    /// The condition under which all guards hold, given the numbers of each part.
    fn guard(&self, pool: &mut TermPool, numbers: &[SmallVec<[Number; 2]>]) -> Term {
        let names = self.parts.iter().map(|part| part.names.as_slice());
        let parts = names.zip(numbers.iter().map(SmallVec::as_slice)).collect();
        let mut leaves = JointNames { parts };
        let mut all = pool.tt();
        for guard in &self.guards {
            let holds = truth(pool, guard, &mut leaves).surely_true;
            all = pool.and(all, holds);
        }
        all
    }

    /// Adds an occurrence of a part.
    fn add(&mut self, part: usize, occurrence: Occurrence) -> usize {
        let occurrences = &mut self.parts[part].occurrences;
        occurrences.push(occurrence);
        occurrences.len() - 1
    }

    /// Adds the questions about a further occurrence of a part, as far as this worker is to ask
    /// them.
    ///
    /// Each combination is asked for once, by one worker: the one that the numbers of its
    /// occurrences select, when it knows the last of them. All workers come to know all
    /// occurrences, except those equal to one that all of them know. So it does not matter in which
    /// order each worker learns of them.
    fn ask_of(&mut self, part: usize, occurrence: usize, asker: Asker) -> Result<(), Cut> {
        if !self.parts[part].occurrences[occurrence].elsewhere {
            self.waiting.push_back(Question::WithTests(part, occurrence));
        }
        let mut combinations: Vec<SmallVec<[usize; 4]>> = vec![SmallVec::new()];
        for (position, other) in self.parts.iter().enumerate() {
            let choices = match position == part {
                true => occurrence..occurrence + 1,
                false => 0..other.occurrences.len(),
            };
            let longer = combinations.iter().flat_map(|begun| {
                choices.clone().map(move |choice| {
                    let mut longer = begun.clone();
                    longer.push(choice);
                    longer
                })
            });
            combinations = longer.take(MOST_COMBINATIONS + 1).collect();
        }
        let is_cut_short = combinations.len() > MOST_COMBINATIONS;
        let parts = &self.parts;
        combinations.retain(|chosen| {
            let chosen = parts.iter().zip(chosen);
            asker.asks(chosen.map(|(part, at)| part.occurrences[*at].number))
        });
        self.combinations += combinations.len();
        if is_cut_short || self.combinations > MOST_COMBINATIONS {
            let what = format!("more than {MOST_COMBINATIONS} combinations of paths for a guard");
            return Err(Cut::Unsupported(what));
        }
        self.waiting.extend(combinations.into_iter().map(Question::Together));
        Ok(())
    }
}

impl Goals<'_> {
    /// Notes that a path covers a part that guards ask about, and keeps the state.
    pub(crate) fn meet_part(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        step: StepId,
        holds: Term,
        bound: &SmallVec<[Number; 2]>,
    ) {
        let Some(parts) = self.hypers.pairs.by_step.get(&step) else { return };
        let parts = parts.clone();
        state.notes.goals.trail.push_met(Arc::new(BoundPart { step, holds, bound: bound.clone() }));
        if state.course.replay {
            return;
        }
        let asker = self.shared.asker;
        for (pairing, position) in parts {
            let of = &mut self.hypers.pairs.pairings[pairing];
            let goal = &mut self.hypers.goals[of.goal];
            if goal.covered {
                continue;
            }
            let occurrences = &mut of.parts[position].occurrences;
            // A part that binds the same constants on all paths needs only one question.
            let is_known = |known: &Occurrence| known.holds == holds && known.bound == *bound;
            let constant = machine.pool.as_bool(holds) == Some(true)
                && bound.iter().all(|number| machine.pool.is_const(number.value).is_some());
            if constant && occurrences.iter().any(is_known) {
                continue;
            }
            if occurrences.len() >= MOST_OCCURRENCES {
                let what = format!("more than {MOST_OCCURRENCES} ways to cover a part of it");
                goal.hinder(Cut::Unsupported(what));
                continue;
            }
            let own = occurrences.iter().filter(|known| !known.elsewhere).count();
            let (state, bound) = (state.fork(), bound.clone());
            let number = asker.index + own;
            let occurrence = Occurrence { state, holds, bound, number, elsewhere: false };
            let index = of.add(position, occurrence);
            self.shared.note_occurrence(OccurrencePlace { pairing, part: position, index });
            if let Err(cut) = of.ask_of(position, index, asker) {
                goal.hinder(cut);
            }
        }
    }

    /// Notes an occurrence that another worker found. Questions about it together with known
    /// occurrences are added, unless all of these were added before there were several workers.
    pub(crate) fn learn_occurrence(
        &mut self,
        (pairing, part): (usize, usize),
        occurrence: Occurrence,
        asks: bool,
    ) {
        let asker = self.shared.asker;
        let of = &mut self.hypers.pairs.pairings[pairing];
        let goal = &mut self.hypers.goals[of.goal];
        if goal.covered {
            return;
        }
        let at = of.add(part, occurrence);
        if asks && let Err(cut) = of.ask_of(part, at, asker) {
            goal.hinder(cut);
        }
    }

    /// The rows that a path with an input binds for guards.
    pub(crate) fn rows_of(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        model: &Model,
    ) -> Vec<BoundRow> {
        let mut rows = Vec::new();
        for met in state.notes.goals.trail.met() {
            if !machine.evaluator.holds(&machine.pool, model, met.holds) {
                continue;
            }
            let values: Option<Row> =
                met.bound.iter().map(|number| value(machine, *number, model)).collect();
            let Some(values) = values else { continue };
            for (pairing, position) in
                self.hypers.pairs.by_step.get(&met.step).into_iter().flatten()
            {
                let part = &self.hypers.pairs.pairings[*pairing].parts[*position];
                let row = part.used.iter().map(|at| values[*at]).collect();
                rows.push(BoundRow { values: part.values.clone(), row });
            }
        }
        rows
    }

    /// Adds rows to coverage records, by the position of their functions.
    pub(crate) fn add_rows(rows: Vec<BoundRow>, has: &mut FxHashMap<usize, CoverageRecord>) {
        for BoundRow { values, row } in rows {
            values.add(row, has.entry(values.position()).or_default());
        }
    }

    /// Asks a question about a guard over values. The inputs found are followed. Returns whether
    /// there are inputs that satisfy the guard together.
    pub(crate) fn ask_about_pairs(
        &mut self,
        machine: &mut Machine<'_, '_>,
        pairing: usize,
        question: Question,
    ) -> bool {
        match question {
            Question::WithTests(part, occurrence) => {
                self.ask_with_tests(machine, pairing, part, occurrence);
                false
            }
            Question::Together(chosen) => self.ask_together(machine, pairing, &chosen),
        }
    }

    /// Asks for an input of an occurrence's path with values that fit rows of tests.
    fn ask_with_tests(
        &mut self,
        machine: &mut Machine<'_, '_>,
        pairing: usize,
        part: usize,
        occurrence: usize,
    ) {
        let of = &self.hypers.pairs.pairings[pairing];
        let own = &of.parts[part].occurrences[occurrence];
        let mut numbers: Vec<Vec<SmallVec<[Number; 2]>>> = vec![Vec::new()];
        for (position, other) in of.parts.iter().enumerate() {
            let choices: Vec<SmallVec<[Number; 2]>> = match position == part {
                true => vec![own.bound.clone()],
                false => {
                    let given = &self.hypers.given[other.values.position()];
                    let rows = other.values.rows(given).take(MOST_ROWS);
                    rows.map(|row| row_numbers(&mut machine.pool, other, row)).collect()
                }
            };
            let longer = numbers.iter().flat_map(|begun| {
                choices.iter().map(move |choice| {
                    let mut longer = begun.clone();
                    longer.push(choice.clone());
                    longer
                })
            });
            numbers = longer.take(MOST_ROWS).collect();
        }
        let mut any = machine.pool.ff();
        for numbers in &numbers {
            let guard = of.guard(&mut machine.pool, numbers);
            any = machine.pool.or(any, guard);
        }
        let wish = machine.pool.and(own.holds, any);
        if machine.pool.as_bool(wish) == Some(false) {
            return;
        }
        let state = own.state.fork();
        machine.statistics.label_queries += 1;
        // A negative answer decides nothing, since the occurrences are also asked for together.
        if let Feasible::Yes(model) = machine.ask(&state, Some(wish)) {
            self.follow_part(machine, pairing, part, occurrence, model);
        }
    }

    /// Asks for inputs, one for an occurrence of each part, that satisfy the guard together. The
    /// inputs found are followed. Returns whether there are some.
    fn ask_together(
        &mut self,
        machine: &mut Machine<'_, '_>,
        pairing: usize,
        chosen: &[usize],
    ) -> bool {
        let of = &self.hypers.pairs.pairings[pairing];
        let occurrences = of.parts.iter().zip(chosen);
        let occurrences: Vec<&Occurrence> =
            occurrences.map(|(part, at)| &part.occurrences[*at]).collect();
        let mut copies: Vec<FxHashMap<Term, Term>> = Vec::new();
        let mut numbers = Vec::new();
        let mut more = vec![occurrences[0].holds];
        for (position, occurrence) in occurrences.iter().enumerate() {
            let mut renamed = FxHashMap::default();
            if position == 0 {
                numbers.push(occurrence.bound.clone());
            } else {
                let suffix = format!("'{position}");
                let mut copy = |term: Term| machine.pool.renamed(term, &suffix, &mut renamed);
                more.extend(occurrence.state.path.facts.iter().map(|fact| copy(*fact)));
                more.push(copy(occurrence.holds));
                let bound = occurrence.bound.iter();
                let bound = bound.map(|n| Number { known: copy(n.known), value: copy(n.value) });
                numbers.push(bound.collect());
            }
            copies.push(renamed);
        }
        let guard = of.guard(&mut machine.pool, &numbers);
        if machine.pool.as_bool(guard) == Some(false) {
            return false;
        }
        let goal = of.goal;
        let first = occurrences[0].state.fork();
        machine.statistics.label_queries += 1;
        match machine.ask_more(&first, &more, guard) {
            Feasible::Yes(model) => {
                for (part, (occurrence, renamed)) in chosen.iter().zip(&copies).enumerate() {
                    let own = match part {
                        0 => model.clone(),
                        _ => self.own_model(machine, pairing, part, *occurrence, renamed, &model),
                    };
                    self.follow_part(machine, pairing, part, *occurrence, own);
                }
                true
            }
            Feasible::No => false,
            Feasible::Unknown(cut) => {
                self.hypers.goals[goal].hinder(cut);
                false
            }
        }
    }

    /// The part of a model over copies of the inputs that belongs to one copy.
    fn own_model(
        &self,
        machine: &Machine<'_, '_>,
        pairing: usize,
        part: usize,
        occurrence: usize,
        renamed: &FxHashMap<Term, Term>,
        model: &Model,
    ) -> Model {
        let of = &self.hypers.pairs.pairings[pairing].parts[part].occurrences[occurrence];
        let vars = renamed.iter().filter(|(own, _)| machine.pool.var_name(**own).is_some());
        let values = vars.filter_map(|(own, copy)| Some((*own, model.get(*copy)?.clone())));
        let mut values: Vec<_> = values.collect();
        values.sort_by_key(|(var, _)| *var);
        of.state.model.with(values)
    }

    /// Follows an input of an occurrence's path to its end, and keeps the test for its bindings.
    fn follow_part(
        &mut self,
        machine: &mut Machine<'_, '_>,
        pairing: usize,
        part: usize,
        occurrence: usize,
        model: Model,
    ) {
        let of = &self.hypers.pairs.pairings[pairing].parts[part];
        let own = &of.occurrences[occurrence];
        let start = machine.start().filter(|_| own.elsewhere);
        // Of an occurrence of another worker only the path is known; the input takes that path from
        // its start.
        let mut run = start.unwrap_or(&own.state).fork();
        let (holds, bound, used) = (own.holds, own.bound.clone(), of.used.clone());
        (run.course.replay, run.claims.keep) = (true, true);
        run.claims.promises.push(holds);
        for at in used {
            let number = bound[at];
            let sort = machine.pool.sort(number.value);
            let value = machine.evaluator.eval(&machine.pool, &model, number.value);
            let value = machine.pool.constant(sort, &value);
            let same = machine.pool.eq(number.value, value);
            run.claims.promises.push(same);
        }
        run.model = model;
        self.label_paths += 1;
        self.runs.push(run);
    }
}

/// A row of a part as numbers, for all names that the part binds.
fn row_numbers(pool: &mut TermPool, part: &Part, row: &Row) -> SmallVec<[Number; 2]> {
    let mut numbers: SmallVec<[Number; 2]> = SmallVec::new();
    for at in 0..part.names.len() {
        let value = part.used.iter().position(|used| *used == at).map(|column| row[column]);
        numbers.push(match value {
            Some(value) => Number::constant(pool, value),
            None => Number::unknown(pool),
        });
    }
    numbers
}

fn value(machine: &mut Machine<'_, '_>, number: Number, model: &Model) -> Option<i128> {
    if !machine.evaluator.holds(&machine.pool, model, number.known) {
        return None;
    }
    let value = machine.evaluator.eval(&machine.pool, model, number.value);
    Some(value.to_wide()?.low_u128() as i128)
}
