//! Rows of truth values: the vectors that a decision can have.
//!
//! Logic criteria bind nothing but truth values at the outcome of one decision, so the possible
//! bindings are a finite set: the decision's vectors. A hyperlabel with a guard over two
//! evaluations needs two of these rows that fit each other. Where an input is found with a row that
//! makes a hyperlabel coverable, the input and its partner are followed to their ends and become
//! tests.
//!
//! The models of paths give rows without a question. Where a path leaves a condition open because
//! short-circuit evaluation did not reach it, the solver is asked for an input of the path with a
//! new row. Such questions wait as those about labels do ([`crate::goals::deferred`]), and longer,
//! since labels lead to most rows that matter. Nothing is asked for once no hyperlabel of the
//! decision is left.
//!
//! Invariant: for each passage of a decision with a hyperlabel left, on every path, the rows are
//! known, or a question waits, or a reason is noted. So at the end of an exploration without cuts
//! the unknown rows are infeasible.

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

/// The most rows of one decision that are looked for.
pub(crate) const MOST_ROWS: usize = 1024;
/// The most states kept for questions. When there are more, the oldest question is asked.
const MOST_WAITING: usize = 4096;
/// How many of the last evaluations of a path are compared with a new one.
const COMPARED: usize = 16;

/// The knowledge about a decision's vectors.
pub(crate) struct DecisionRows {
    /// The position of its function among the objectives.
    position: usize,
    conditions: usize,
    /// The hyperlabels that ask for it.
    pub(crate) hypers: Vec<usize>,
    /// The vectors that some input gives.
    known: IndexMap<DecisionVector, KnownVector, FxBuildHasher>,
}

/// The owner of an input that gives a vector.
enum KnownVector {
    /// This worker: the state at the decision with a model that gives the vector, until it was
    /// followed to its end.
    Here(Option<Box<State>>),
    /// Another worker, which has the state.
    Elsewhere,
}

impl KnownVector {
    /// Takes the state, to be followed.
    fn take(&mut self) -> Option<Box<State>> {
        match self {
            Self::Here(run) => run.take(),
            Self::Elsewhere => None,
        }
    }
}

impl DecisionRows {
    /// A decision with so many conditions, without known vectors.
    pub(crate) fn new(position: usize, conditions: usize) -> Self {
        Self { position, conditions, hypers: Vec::new(), known: IndexMap::default() }
    }

    /// The vectors that some input gives, in the order of discovery.
    pub(crate) fn vectors(&self) -> impl Iterator<Item = &DecisionVector> {
        self.known.keys()
    }

    /// The position of the decision's function among the objectives.
    pub(crate) const fn position(&self) -> usize {
        self.position
    }
}

/// One evaluation of a decision on a path, as terms.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// The position of its function among the objectives.
    pub(crate) position: usize,
    pub(crate) decision: DecisionId,
    func: FuncId,
    /// For each condition, whether it was reached, and its value.
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

    /// The evaluation with terms of another pool.
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

    /// The condition under which the evaluation has a certain vector.
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

/// The evaluations and parts that a path met and hyperlabels ask for, the last first. Copies share
/// all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail(Option<Arc<TrailLink>>);

#[derive(Debug)]
struct TrailLink {
    entry: TrailEntry,
    before: Trail,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TrailEntry {
    /// An evaluation of a decision.
    Evaluation(Arc<Evaluation>),
    /// A part of a guarded conjunction.
    BoundPart(Arc<BoundPart>),
}

impl Trail {
    /// Adds an entry, unless it equals one of the last.
    fn push(&mut self, entry: TrailEntry) {
        if !self.iter().take(COMPARED).any(|known| *known == entry) {
            let before = std::mem::take(self);
            self.0 = Some(Arc::new(TrailLink { entry, before }));
        }
    }

    /// Whether both are the same object.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// The trail with terms of another pool. `of` translates a term.
    pub(crate) fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        let entries: Vec<&TrailEntry> = self.iter().collect();
        let mut made = Self::default();
        for entry in entries.into_iter().rev() {
            let entry = match entry {
                TrailEntry::Evaluation(evaluation) => {
                    TrailEntry::Evaluation(Arc::new(evaluation.with_terms(of)))
                }
                TrailEntry::BoundPart(met) => TrailEntry::BoundPart(Arc::new(met.with_terms(of))),
            };
            made = Self(Some(Arc::new(TrailLink { entry, before: made })));
        }
        made
    }

    /// Adds a part of a guarded conjunction.
    pub(crate) fn push_met(&mut self, met: Arc<BoundPart>) {
        self.push(TrailEntry::BoundPart(met));
    }

    fn iter(&self) -> impl Iterator<Item = &TrailEntry> {
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
            TrailEntry::Evaluation(evaluation) => Some(&**evaluation),
            TrailEntry::BoundPart(_) => None,
        })
    }

    /// The parts of guarded conjunctions.
    pub(crate) fn met(&self) -> impl Iterator<Item = &BoundPart> {
        self.iter().filter_map(|entry| match entry {
            TrailEntry::BoundPart(met) => Some(&**met),
            TrailEntry::Evaluation(_) => None,
        })
    }
}

impl Drop for TrailLink {
    /// Frees the links one after the other, without recursion: paths are long.
    fn drop(&mut self) {
        let mut rest = self.before.0.take();
        while let Some(link) = rest {
            rest = Arc::into_inner(link).and_then(|mut link| link.before.0.take());
        }
    }
}

/// A state at a decision with rows that are to be asked for.
pub(crate) struct DeferredRow {
    pub(crate) state: Box<State>,
    pub(crate) evaluation: Arc<Evaluation>,
    since: u64,
}

/// The deferred questions, oldest first.
#[derive(Default)]
pub(crate) struct DeferredRows {
    waiting: VecDeque<DeferredRow>,
}

impl DeferredRows {
    /// Takes the oldest question, if more than `patience` states were run since it came, or too
    /// many wait.
    pub(crate) fn due(&mut self, patience: u64, run: u64) -> Option<DeferredRow> {
        let due = self.waiting.front().is_some_and(|front| front.since + patience <= run);
        if due || self.waiting.len() > MOST_WAITING { self.waiting.pop_front() } else { None }
    }

    /// Takes the question that has waited longest.
    pub(crate) fn next(&mut self) -> Option<DeferredRow> {
        self.waiting.pop_front()
    }
}

impl Goals<'_> {
    /// Handles the outcome of a decision that hyperlabels ask for.
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
            // Decisions that are asked for are not merged, so this one was not asked for at that
            // time.
            let what = "a decision whose ways were followed as one".to_owned();
            self.hypers.hinder(of, &Cut::Unsupported(what));
            return;
        }
        let Some(evaluation) = self.evaluation(machine, state, of) else { return };
        let evaluation = Arc::new(evaluation);
        state.notes.goals.trail.push(TrailEntry::Evaluation(Arc::clone(&evaluation)));
        let vector = evaluation.vector(&machine.pool, &mut machine.evaluator, &state.model);
        self.meet_row(machine, of, &evaluation, vector, state);
        if !state.course.replay && !evaluation.is_constant(&machine.pool) && self.hypers.is_open(of)
        {
            let since = self.deferred.states_run();
            let waiting = DeferredRow { state: state.fork(), evaluation, since };
            self.deferred_rows.waiting.push_back(waiting);
        }
    }

    /// The values of a decision's conditions. Notes conditions that could not be evaluated.
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

    /// Notes that an input gives a decision a vector; the input is the model of a state at the
    /// decision's outcome.
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

    /// Notes that another worker knows an input that gives a decision a vector.
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

    /// Follows the inputs that cover hyperlabels together with a vector to their ends. The vector
    /// is new, or no test gave it.
    pub(crate) fn look_for_partners(&mut self, of: (FuncId, DecisionId), vector: &DecisionVector) {
        let Some(rows) = self.hypers.decisions.get(&of) else { return };
        for goal in rows.hypers.clone() {
            self.make_coverable(of, goal, vector);
        }
    }

    /// Follows the inputs that cover a hyperlabel together with this vector to their ends, if there
    /// are such inputs.
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
        // Mostly one partner is enough, which may be a test's. More are needed together with
        // vectors of other decisions.
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
        // Vectors of other workers come last. So where each of two workers has one vector of a
        // pair, each follows its own, whatever else they know.
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

    /// Asks for an input of a path that gives a decision a new vector, and makes it the state's
    /// model. Returns false where there is none or it was not found.
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

    /// Follows all inputs with vectors that no test gave to their ends, for the decisions of
    /// hyperlabels that are left though inputs cover them: the partners that were chosen first may
    /// not have ended as tests. Returns false where there are no such inputs.
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
