//! Rows of truth values: which vectors a decision can have.
//!
//! All that logic criteria bind are truth values at one decision's outcome, so what runs can give them
//! is a finite set, of the decision's vectors. A hyperlabel with a guard over two evaluations needs
//! two rows of it that fit each other. Where an input is found with a row that makes a hyperlabel
//! coverable, the input and its partner are followed to their ends and become tests.
//!
//! Rows come for nothing with the models of paths. Where a path leaves a condition open, because
//! short-circuit evaluation did not reach it, the solver is asked for an input of the path with a row
//! that is not known. Such questions wait as those about labels do ([`crate::goals::deferred`]), and longer,
//! as labels lead to most rows that matter; and nothing is asked for once no hyperlabel of the
//! decision is left.
//!
//! Invariants: on every path each passage of a decision with a hyperlabel left has its rows known, or
//! waits, or has a reason noted why they are not; so at the end of an exploration without cuts the
//! rows that are not known are infeasible.

use std::collections::VecDeque;
use std::sync::Arc;

use indexmap::IndexMap;
use lydian_base::EntityId;
use lydian_eval::{EventReader, Kleene};
use lydian_ir::{ConditionId, DecisionId, FuncId};
use lydian_objective::{CoverageRecord, DecisionVector};
use lydian_smt::{Evaluator, Model, Term, TermPool};
use rustc_hash::FxBuildHasher;

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::goals::hyper_pairs::BoundPart;
use crate::limits::Cut;
use crate::machine::memory::definedness;
use crate::machine::questions::Feasible;
use crate::machine::state::ConditionValue;

/// More rows of one decision are not looked for.
pub(crate) const MOST_ROWS: usize = 1024;
/// So many states are kept for questions; the oldest is looked at when there are more.
const MOST_WAITING: usize = 4096;
/// How many of the last evaluations of a path are compared with a new one.
const COMPARED: usize = 16;

/// What is known of a decision's vectors.
pub(crate) struct Rows {
    /// The position of its function's objectives.
    position: usize,
    conditions: usize,
    /// The hyperlabels that ask for it.
    pub(crate) hypers: Vec<usize>,
    /// The vectors that some input gives.
    known: IndexMap<DecisionVector, KnownVector, FxBuildHasher>,
}

/// Who knows of an input that gives a vector.
enum KnownVector {
    /// This worker: a state at the decision whose model gives it, until that is followed to its end.
    Here(Option<Box<State>>),
    /// Another one, which has the state.
    Elsewhere,
}

impl KnownVector {
    /// The state, to be followed.
    fn take(&mut self) -> Option<Box<State>> {
        match self {
            Self::Here(run) => run.take(),
            Self::Elsewhere => None,
        }
    }
}

impl Rows {
    /// Nothing, of a decision with so many conditions.
    pub(crate) fn new(position: usize, conditions: usize) -> Self {
        Self { position, conditions, hypers: Vec::new(), known: IndexMap::default() }
    }

    /// The vectors that some input gives, in the order in which they became known.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &DecisionVector> {
        self.known.keys()
    }

    /// The position of the objectives of the decision's function.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }
}

/// One evaluation of a decision on a path, as terms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// The position of its function's objectives.
    pub(crate) position: usize,
    pub(crate) decision: DecisionId,
    func: FuncId,
    /// For each condition whether it was reached, and its value.
    conditions: Vec<(bool, Kleene)>,
}

impl Evaluation {
    /// The decision, with its function.
    pub(crate) const fn of(&self) -> (FuncId, DecisionId) {
        (self.func, self.decision)
    }

    /// The vector on an input of the path.
    pub(crate) fn vector(
        &self,
        pool: &TermPool,
        evaluator: &mut Evaluator,
        model: &Model,
    ) -> DecisionVector {
        let mut vector = DecisionVector::default();
        for (index, (reached, value)) in self.conditions.iter().enumerate() {
            let id = ConditionId::from_index(index);
            if *reached {
                vector.reached.insert(id);
            }
            let is_true = evaluator.holds(pool, model, value.surely_true);
            if is_true || evaluator.holds(pool, model, value.surely_false) {
                vector.known.insert(id);
            }
            if is_true {
                vector.value.insert(id);
            }
        }
        vector
    }

    /// The same of terms of another pool.
    fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        let mut value = |value: &Kleene| Kleene {
            surely_true: of(value.surely_true),
            surely_false: of(value.surely_false),
        };
        let conditions = self.conditions.iter();
        let conditions = conditions.map(|(reached, here)| (*reached, value(here))).collect();
        Self { position: self.position, decision: self.decision, func: self.func, conditions }
    }

    /// Whether its vector is the same on all inputs of the path.
    fn is_constant(&self, pool: &TermPool) -> bool {
        let constant = |term: Term| pool.as_bool(term).is_some();
        self.conditions
            .iter()
            .all(|(_, value)| constant(value.surely_true) && constant(value.surely_false))
    }

    /// Where it is a certain vector.
    fn is(&self, pool: &mut TermPool, vector: &DecisionVector) -> Term {
        let mut all = pool.tt();
        for (index, (reached, value)) in self.conditions.iter().enumerate() {
            let id = ConditionId::from_index(index);
            if *reached != vector.reached.contains(id) {
                return pool.ff();
            }
            let here = match (vector.known.contains(id), vector.value.contains(id)) {
                (true, true) => value.surely_true,
                (true, false) => value.surely_false,
                (false, _) => {
                    let known = pool.or(value.surely_true, value.surely_false);
                    pool.not(known)
                }
            };
            all = pool.and(all, here);
        }
        all
    }
}

/// What a path met that hyperlabels ask for, the last first. Copies share all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Option<Arc<Link>>);

#[derive(Debug)]
struct Link {
    entry: Entry,
    before: Trail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    /// An evaluation of a decision.
    Evaluation(Arc<Evaluation>),
    /// A part of a guarded conjunction.
    BoundPart(Arc<BoundPart>),
}

impl Trail {
    /// Adds an entry, unless it is one of the last.
    fn push(&mut self, entry: Entry) {
        if !self.iter().take(COMPARED).any(|known| *known == entry) {
            let before = std::mem::take(self);
            self.0 = Some(Arc::new(Link { entry, before }));
        }
    }

    /// Whether this is the very same.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The same of terms of another pool, which are told for those of this one.
    pub(crate) fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        let entries: Vec<&Entry> = self.iter().collect();
        let mut made = Self::default();
        for entry in entries.into_iter().rev() {
            let entry = match entry {
                Entry::Evaluation(evaluation) => {
                    Entry::Evaluation(Arc::new(evaluation.with_terms(of)))
                }
                Entry::BoundPart(met) => Entry::BoundPart(Arc::new(met.with_terms(of))),
            };
            made = Self(Some(Arc::new(Link { entry, before: made })));
        }
        made
    }

    /// Adds a part of a guarded conjunction.
    pub(crate) fn push_met(&mut self, met: Arc<BoundPart>) {
        self.push(Entry::BoundPart(met));
    }

    fn iter(&self) -> impl Iterator<Item = &Entry> {
        let mut next = self.0.as_deref();
        std::iter::from_fn(move || {
            let link = next?;
            next = link.before.0.as_deref();
            Some(&link.entry)
        })
    }

    /// The evaluations of decisions.
    pub(crate) fn evaluations(&self) -> impl Iterator<Item = &Evaluation> {
        self.iter().filter_map(|entry| match entry {
            Entry::Evaluation(evaluation) => Some(&**evaluation),
            Entry::BoundPart(_) => None,
        })
    }

    /// The parts of guarded conjunctions.
    pub(crate) fn met(&self) -> impl Iterator<Item = &BoundPart> {
        self.iter().filter_map(|entry| match entry {
            Entry::BoundPart(met) => Some(&**met),
            Entry::Evaluation(_) => None,
        })
    }
}

impl Drop for Link {
    /// One after the other: paths are long.
    fn drop(&mut self) {
        let mut rest = self.before.0.take();
        while let Some(link) = rest {
            rest = Arc::into_inner(link).and_then(|mut link| link.before.0.take());
        }
    }
}

/// A state at a decision whose rows are to be asked for.
pub(crate) struct DeferredRow {
    pub(crate) state: Box<State>,
    pub(crate) evaluation: Arc<Evaluation>,
    since: u64,
}

/// What waits, oldest first.
#[derive(Default)]
pub(crate) struct DeferredRows {
    waiting: VecDeque<DeferredRow>,
}

impl DeferredRows {
    /// The oldest, if it waited for more than `patience` states of those that were run, or too many wait.
    pub(crate) fn due(&mut self, patience: u64, run: u64) -> Option<DeferredRow> {
        let due = self.waiting.front().is_some_and(|front| front.since + patience <= run);
        if due || self.waiting.len() > MOST_WAITING { self.waiting.pop_front() } else { None }
    }

    /// The one that waits longest.
    pub(crate) fn next(&mut self) -> Option<DeferredRow> {
        self.waiting.pop_front()
    }
}

impl Goals<'_> {
    /// A decision that hyperlabels ask for has its outcome.
    pub(crate) fn meet_decision(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        decision: DecisionId,
    ) {
        let of = (state.frame().func, decision);
        if !self.hypers.is_open(of) {
            return;
        }
        if state.depends.are_some() {
            state.depends.cuts().iter().for_each(|cut| self.hypers.hinder(of, cut));
            return;
        }
        let event = state.frame().event(decision);
        if event.is_some_and(|event| event.values.iter().any(ConditionValue::is_merged)) {
            // Decisions that are asked for are not merged; it was not asked for then.
            let what = "a decision whose ways were followed as one".to_owned();
            self.hypers.hinder(of, &Cut::Unsupported(what));
            return;
        }
        let Some(evaluation) = self.evaluation(machine, state, of) else { return };
        let evaluation = Arc::new(evaluation);
        state.notes.goals.trail.push(Entry::Evaluation(Arc::clone(&evaluation)));
        let vector = evaluation.vector(&machine.pool, &mut machine.evaluator, &state.model);
        self.meet_row(machine, of, &evaluation, vector, state);
        if !state.course.replay && !evaluation.is_constant(&machine.pool) && self.hypers.is_open(of)
        {
            let since = self.deferred.states_run();
            let waiting = DeferredRow { state: state.fork(), evaluation, since };
            self.deferred_rows.waiting.push_back(waiting);
        }
    }

    /// The values of a decision's conditions; notes what could not be evaluated.
    fn evaluation(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        of: (FuncId, DecisionId),
    ) -> Option<Evaluation> {
        let rows = self.hypers.decisions.get(&of)?;
        let (position, count) = (rows.position, rows.conditions);
        let (mut env, pool) = self.cache.site_scope(
            machine,
            state,
            &self.hypers.objectives[position].exprs,
            Some(of.1),
        );
        let mut conditions = Vec::with_capacity(count);
        let mut hindrances = Vec::new();
        let mut undefined = Vec::new();
        for index in 0..count {
            let id = ConditionId::from_index(index);
            let value = env.condition(pool, id);
            let reached = matches!(env.value(id), ConditionValue::Is(_));
            if let Some(what) = env.hindrance.take() {
                hindrances.push(Cut::Unsupported(what));
            }
            let defined = definedness(pool, value.surely_true);
            undefined.push((value.surely_true, defined));
            let surely_true = pool.and(value.surely_true, defined);
            let surely_false = pool.and(value.surely_false, defined);
            conditions.push((reached, Kleene { surely_true, surely_false }));
        }
        machine.settle_suspicions(state);
        for (value, defined) in undefined {
            hindrances.extend(machine.undetermined_of(state, value, defined));
        }
        hindrances.iter().for_each(|reason| self.hypers.hinder(of, reason));
        Some(Evaluation { position, decision: of.1, func: of.0, conditions })
    }

    /// An input gives a decision a vector: the model of a state at the decision's outcome.
    pub(crate) fn meet_row(
        &mut self,
        machine: &mut Machine<'_, '_>,
        of: (FuncId, DecisionId),
        evaluation: &Evaluation,
        vector: DecisionVector,
        state: &State,
    ) {
        let Some(rows) = self.hypers.decisions.get_mut(&of) else { return };
        if rows.known.contains_key(&vector) {
            return;
        }
        let mut run = state.fork();
        (run.course.replay, run.claims.keep) = (true, true);
        run.claims.promises.push(evaluation.is(&mut machine.pool, &vector));
        rows.known.insert(vector.clone(), KnownVector::Here(Some(run)));
        self.hypers.feasible[rows.position].add_vector(of.1, vector.clone());
        self.shared.note_vector(of, &vector);
        self.look_for_partners(of, &vector);
    }

    /// Another worker knows of an input that gives a decision a vector.
    pub(crate) fn learn_vector(
        &mut self,
        of: (FuncId, DecisionId),
        vector: &DecisionVector,
        is_over: bool,
    ) {
        let Some(rows) = self.hypers.decisions.get_mut(&of) else { return };
        if rows.known.contains_key(vector) {
            return;
        }
        rows.known.insert(vector.clone(), KnownVector::Elsewhere);
        self.hypers.feasible[rows.position].add_vector(of.1, vector.clone());
        if !is_over {
            self.look_for_partners(of, vector);
        }
    }

    /// A decision has a vector that it was not known to have, or that no test gave: follows the inputs
    /// to their ends that cover hyperlabels together with it.
    pub(crate) fn look_for_partners(&mut self, of: (FuncId, DecisionId), vector: &DecisionVector) {
        let Some(rows) = self.hypers.decisions.get(&of) else { return };
        for goal in rows.hypers.clone() {
            self.make_coverable(of, goal, vector);
        }
    }

    /// Follows the inputs to their ends that cover a hyperlabel, now that there is one with this
    /// vector, if there are such.
    fn make_coverable(&mut self, of: (FuncId, DecisionId), goal: usize, new: &DecisionVector) {
        let hypers = &mut self.hypers;
        let goal = &hypers.goals[goal];
        let (at, hyper) = goal.at;
        if goal.covered
            || hypers.consolidation.covers_with(at, hyper, &hypers.feasible) != Some(true)
        {
            return;
        }
        let Some(rows) = hypers.decisions.get(&of) else { return };
        // Mostly one partner does, which may be a test's. With others than this decision's vectors it
        // takes more.
        let mut records = vec![CoverageRecord::new(); hypers.given.len()];
        let mut covers = |chosen: &[&DecisionVector]| {
            let mut own = CoverageRecord::new();
            for vector in chosen {
                own.add_vector(of.1, (*vector).clone());
            }
            records[rows.position] = own;
            hypers.consolidation.covers_with(at, hyper, &records) == Some(true)
        };
        let given = hypers.given[rows.position].vectors(of.1);
        // Those of other workers come last: of two workers of which each has one of a pair, each
        // follows its own, whatever else they know.
        let known_by = |elsewhere: bool| {
            let known = rows.known.iter();
            let known =
                known.filter(move |(_, by)| matches!(by, KnownVector::Elsewhere) == elsewhere);
            known.map(|(vector, _)| vector)
        };
        let mut partners = given.chain(known_by(false)).chain(known_by(true));
        let chosen: Vec<DecisionVector> = match covers(&[new]) {
            true => vec![new.clone()],
            false => match partners.find(|partner| covers(&[new, partner])) {
                Some(partner) => vec![partner.clone(), new.clone()],
                None => rows.known.keys().cloned().collect(),
            },
        };
        drop(partners);
        let Some(rows) = hypers.decisions.get_mut(&of) else { return };
        for vector in chosen {
            let given: &CoverageRecord = &hypers.given[rows.position];
            let is_given = given.vectors(of.1).any(|known| *known == vector);
            let run = rows.known.get_mut(&vector).filter(|_| !is_given).and_then(KnownVector::take);
            if let Some(run) = run {
                self.label_paths += 1;
                self.runs.push(run);
            }
        }
    }

    /// Asks for an input of a path that gives a decision a vector which is not known, and makes it the
    /// state's model; false where there is none or it was not found.
    pub(crate) fn ask_for_row(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        evaluation: &Evaluation,
    ) -> bool {
        let of = evaluation.of();
        let Some(rows) = self.hypers.decisions.get(&of) else { return false };
        if rows.known.len() >= MOST_ROWS {
            let what = format!("more than {MOST_ROWS} combinations of a decision's conditions");
            self.hypers.hinder(of, &Cut::Unsupported(what));
            return false;
        }
        let mut known = machine.pool.ff();
        for vector in rows.known.keys() {
            let here = evaluation.is(&mut machine.pool, vector);
            known = machine.pool.or(known, here);
        }
        let new = machine.pool.not(known);
        if state.knowledge().known(&mut machine.pool, new) == Some(false) {
            return false;
        }
        machine.statistics.label_queries += 1;
        match machine.ask(state, Some(new)) {
            Feasible::Yes(model) => {
                state.model = model;
                let vector = evaluation.vector(&machine.pool, &mut machine.evaluator, &state.model);
                self.meet_row(machine, of, evaluation, vector, state);
                true
            }
            Feasible::No => false,
            Feasible::Unknown(cut) => {
                self.hypers.hinder(of, &cut);
                false
            }
        }
    }

    /// Has all inputs followed to their ends that have vectors which no test gave, of decisions of
    /// hyperlabels that are left though inputs cover them: the partners that were chosen first may not
    /// have ended as tests. False where there is none.
    pub(crate) fn follow_all_that_cover(&mut self) -> bool {
        let mut decisions = self.hypers.decisions_to_follow();
        decisions.sort_unstable();
        let before = self.runs.len();
        for of in decisions {
            let Some(rows) = self.hypers.decisions.get_mut(&of) else { continue };
            let given = &self.hypers.given[rows.position];
            for (vector, known) in &mut rows.known {
                if !given.vectors(of.1).any(|given| given == vector) {
                    self.runs.extend(known.take());
                }
            }
        }
        let followed = self.runs.len() - before;
        self.label_paths += followed as u64;
        followed > 0
    }
}
