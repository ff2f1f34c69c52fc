//! The hyperlabels of an exploration ([002] V): those that are left, their parts, and what is known
//! about them.
//!
//! A part that one run covers by itself, a label or a sequence, is a goal of the [`LabelTable`].
//! The rest of a hyperlabel relates runs to each other. It is judged as measurement judges it, by
//! consolidation ([002] VII-A) of coverage records. There are two coverage records:
//! - The coverage record of *given* tests says what is covered. A test is given when its input is final. So
//!   a claim is exact when it is made: this test covers the hyperlabel together with the tests
//!   before it.
//! - The *feasible* coverage record is everything that some input is known to have, whether or not it is a
//!   test. Where it covers a hyperlabel that tests do not, the missing inputs become tests. Where
//!   the exploration is complete and it does not cover a hyperlabel, no tests can: every label and
//!   sequence that is missing was asked for on every path, and so was every row of values
//!   ([`crate::goals::hyper_rows`]).

use std::collections::BTreeSet;

use lydian_ir::{DecisionId, FuncId, Program};
use lydian_objective::coverage_record::{
    Consolidation, used_in_sequence, used_values, vectors_give,
};
use lydian_objective::hyper::Atom;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{
    CoverageRecord, DecisionVector, FunctionObjectives, Hyper, HyperId, SequenceId,
};
use lydian_smt::Model;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Machine;
use crate::State;
use crate::goals::Goals;
use crate::goals::hyper_pairs::{PairTable, Part as Valued, RowKey};
use crate::goals::hyper_rows::DecisionRows;
use crate::goals::hyper_sequences::{SequenceTable, StepId};
use crate::goals::labels::{Aim, GoalId, LabelTable, keys};
use crate::goals::left::LeftHyper;
use crate::goals::refs::HyperRef;
use crate::limits::{Cut, add_reason};
use crate::machine::program::site::SiteKey;
use crate::machine::reports::omissions::Hindrances;

/// The most conditions of a decision with listed vectors: their number doubles with each condition.
const MOST_LISTED: usize = 6;

/// The most conjunctions of a normal form with guards over values that are followed.
const MOST_CONJUNCTIONS: usize = 64;

/// Why a hyperlabel is left although inputs cover it.
pub(crate) const NO_TESTS: &str = "runs that cover it together and do not end as tests";

/// A hyperlabel that criteria count.
pub(crate) struct HyperGoal {
    /// The position of its function among the objectives, and its number in the function.
    pub(crate) at: (usize, HyperId),
    pub(crate) covered: bool,
    /// The labels and sequences that are its parts.
    goals: Vec<GoalId>,
    /// The decisions with vectors that it asks for, each with the position of its function.
    pub(crate) decisions: BTreeSet<(usize, DecisionId)>,
    /// Those of `goals` with values that guards ask for.
    rows: Vec<GoalId>,
    reasons: BTreeSet<Cut>,
}

impl HyperGoal {
    /// Notes a reason why it is undecided.
    pub(crate) fn hinder(&mut self, reason: Cut) {
        add_reason(&mut self.reasons, reason);
    }
}

/// The hyperlabels of an exploration.
pub(crate) struct HyperTable<'a> {
    pub(crate) objectives: &'a [FunctionObjectives],
    pub(crate) consolidation: Consolidation<'a>,
    /// The coverage records of given tests, by function.
    pub(crate) given: Vec<CoverageRecord>,
    /// The coverage records of inputs that are known to exist, by function.
    pub(crate) feasible: Vec<CoverageRecord>,
    pub(crate) goals: Vec<HyperGoal>,
    /// The decisions with vectors that hyperlabels ask for.
    pub(crate) decisions: FxHashMap<(FuncId, DecisionId), DecisionRows>,
    pub(crate) sequences: SequenceTable,
    pub(crate) pairs: PairTable,
    /// The step that completes each sequence.
    last_steps: FxHashMap<GoalId, StepId>,
    /// The sequences that cannot be followed, with the reason.
    not_followed: FxHashMap<GoalId, String>,
    covered: Vec<HyperRef>,
    /// The amount of knowledge about inputs when inputs that cover hyperlabels were last followed.
    followed: usize,
}

/// The results of a worker about hyperlabels, for the worker that talks to the caller.
pub(crate) struct HyperReasons {
    feasible: Vec<CoverageRecord>,
    /// Reasons by goal; all workers number the goals alike.
    reasons: Vec<BTreeSet<Cut>>,
}

impl<'a> HyperTable<'a> {
    /// The table of the hyperlabels that criteria count. `known` has the coverage records of existing
    /// tests; hyperlabels that it covers are not left.
    pub(crate) fn new(
        program: &Program,
        objectives: &'a [FunctionObjectives],
        known: &[CoverageRecord],
        labels: &mut LabelTable<'a>,
    ) -> Self {
        let given = match known.len() == objectives.len() {
            true => known.to_vec(),
            false => vec![CoverageRecord::new(); objectives.len()],
        };
        let mut consolidation = Consolidation::new(objectives);
        consolidation.update(&given);
        let mut table = Self {
            objectives,
            consolidation,
            feasible: given.clone(),
            given,
            goals: Vec::new(),
            decisions: FxHashMap::default(),
            sequences: SequenceTable::default(),
            pairs: PairTable::default(),
            last_steps: FxHashMap::default(),
            not_followed: FxHashMap::default(),
            covered: Vec::new(),
            followed: 0,
        };
        let mut seen = FxHashSet::default();
        for (position, function) in objectives.iter().enumerate() {
            for entry in function.hyper_criteria.values().flatten() {
                let at = (position, entry.hyper);
                if seen.insert(at) && !table.consolidation.is_covered(position, entry.hyper) {
                    let goal = table.goal(program, at, labels);
                    table.goals.push(goal);
                }
            }
        }
        labels.set_hypers_left(table.goals.len());
        table
    }

    /// The step that completes a sequence.
    pub(crate) fn last_step(&self, goal: GoalId) -> Option<StepId> {
        self.last_steps.get(&goal).copied()
    }

    /// Whether there are no hyperlabels to follow.
    pub(crate) fn is_empty(&self) -> bool {
        self.goals.is_empty()
    }

    fn goal(
        &mut self,
        program: &Program,
        at: (usize, HyperId),
        labels: &mut LabelTable<'a>,
    ) -> HyperGoal {
        let hyper = &self.objectives[at.0].hypers[at.1].hyper;
        let mut goal = HyperGoal {
            at,
            covered: false,
            goals: Vec::new(),
            decisions: BTreeSet::new(),
            rows: Vec::new(),
            reasons: BTreeSet::new(),
        };
        if let Some(reason) = self.consolidation.judgement_error(at.0, at.1) {
            goal.reasons.insert(Cut::Unsupported(reason.to_string()));
        }
        let names = names_in_guards(hyper);
        let of_values = self.asks_for_values(program, at.0, hyper, &names);
        let no_names = FxHashSet::default();
        let mut parts = Vec::new();
        hyper.for_each_part(&mut |part| parts.push(part));
        for part in parts {
            let found = match part {
                Part::Atom(atom) => {
                    let names = if of_values { &no_names } else { &names };
                    let aim = self.atom(atom, names, &mut goal);
                    aim.and_then(|aim| labels.part(aim))
                }
                Part::Sequence(id) => self.sequence(program, (at.0, id), &mut goal, labels),
            };
            goal.goals.extend(found);
        }
        goal.goals.iter().for_each(|part| labels.want(*part));
        if of_values {
            self.pair(program, at.0, hyper, &mut goal, labels);
        }
        for (position, decision) in &goal.decisions {
            let func = self.objectives[*position].function;
            let conditions = program.functions[func].body.as_ref();
            let conditions =
                conditions.map_or(0, |body| body.decisions[*decision].conditions.len());
            labels.watch(func, SiteKey::Decision(*decision));
            let rows = self.decisions.entry((func, *decision));
            let rows = rows.or_insert_with(|| DecisionRows::new(*position, conditions));
            rows.hypers.push(self.goals.len());
        }
        goal
    }

    /// Adds a label of a hyperlabel. Returns what an input has to cover for it.
    fn atom(&self, atom: &Atom, names: &FxHashSet<&str>, goal: &mut HyperGoal) -> Option<Aim> {
        let position = self.objectives.iter().position(|of| of.function == atom.function);
        let Some(position) = position else {
            let what = "a label of a function that is not explored".to_owned();
            goal.reasons.insert(Cut::Unsupported(what));
            return None;
        };
        if atom.bindings.iter().any(|binding| names.contains(binding.name.as_str())) {
            let decision = decision_of(&self.objectives[position], atom);
            goal.decisions.extend(decision.map(|decision| (position, decision)));
        }
        Some(Aim::Label(position, atom.label))
    }

    /// Adds a sequence of a hyperlabel.
    fn sequence(
        &mut self,
        program: &Program,
        at: (usize, SequenceId),
        goal: &mut HyperGoal,
        labels: &mut LabelTable<'a>,
    ) -> Option<GoalId> {
        let aim = Aim::Sequence(at.0, at.1);
        let is_new = !labels.knows(aim);
        let part = labels.part(aim)?;
        if is_new {
            match self.sequences.add(program, self.objectives, at, part, labels) {
                Ok(step) => _ = self.last_steps.insert(part, step),
                Err(what) => _ = self.not_followed.insert(part, what),
            }
        }
        if let Some(what) = self.not_followed.get(&part) {
            goal.reasons.insert(Cut::Unsupported(what.clone()));
        }
        Some(part)
    }

    /// Whether guards name values that are not truth values of a decision, or truth values of a
    /// decision with too many conditions to list its vectors.
    fn asks_for_values(
        &self,
        program: &Program,
        owner: usize,
        hyper: &Hyper,
        names: &FxHashSet<&str>,
    ) -> bool {
        let is_named =
            |atom: &Atom| atom.bindings.iter().any(|bound| names.contains(bound.name.as_str()));
        let is_small = |func: FuncId, decision: DecisionId| {
            let body = program.functions[func].body.as_ref();
            body.is_some_and(|body| body.decisions[decision].conditions.len() <= MOST_LISTED)
        };
        let mut asks = false;
        hyper.for_each_part(&mut |part| {
            asks |= match part {
                Part::Atom(atom) => {
                    let of = self.objectives.iter().find(|of| of.function == atom.function);
                    let decision = of.and_then(|of| decision_of(of, atom));
                    let listed = decision.is_some_and(|decision| is_small(atom.function, decision));
                    is_named(atom) && of.is_some() && !listed
                }
                Part::Sequence(id) => {
                    self.objectives[owner].sequences[id].atoms.iter().any(is_named)
                }
            };
        });
        asks
    }

    /// Adds a pairing, which asks for inputs with values that satisfy the guards of a hyperlabel.
    fn pair(
        &mut self,
        program: &Program,
        owner: usize,
        hyper: &Hyper,
        goal: &mut HyperGoal,
        labels: &mut LabelTable<'a>,
    ) {
        let Ok(form) = hyper.normal_form(MOST_CONJUNCTIONS) else {
            let what = format!("a normal form of more than {MOST_CONJUNCTIONS} conjunctions");
            goal.hinder(Cut::Unsupported(what));
            return;
        };
        for conjunction in &form {
            let mut names = FxHashSet::default();
            for guard in &conjunction.guards {
                guard.for_each_name(&mut |name| _ = names.insert(name));
            }
            let mut parts = Vec::new();
            for part in &conjunction.parts {
                parts.extend(self.valued(program, owner, *part, &names, goal, labels));
            }
            if !parts.is_empty() {
                let guards = conjunction.guards.iter().map(|guard| (*guard).clone()).collect();
                self.pairs.add(self.goals.len(), parts, guards);
            }
        }
        goal.rows.iter().for_each(|part| labels.want_rows(*part));
    }

    /// A part of a conjunction with the values that guards name; `None` if it binds none of them.
    fn valued(
        &mut self,
        program: &Program,
        owner: usize,
        part: Part<'_>,
        names: &FxHashSet<&str>,
        goal: &mut HyperGoal,
        labels: &mut LabelTable<'a>,
    ) -> Option<Valued> {
        let atoms = match part {
            Part::Atom(atom) => std::slice::from_ref(atom),
            Part::Sequence(id) => &self.objectives[owner].sequences[id].atoms,
        };
        let bound = atoms.iter().flat_map(|atom| &atom.bindings);
        let bound: Vec<String> = bound.map(|binding| binding.name.clone()).collect();
        let is_used = |name: &str| names.contains(name);
        let used: Vec<usize> = (0..bound.len()).filter(|at| is_used(bound[*at].as_str())).collect();
        if used.is_empty() {
            return None;
        }
        let (step, of, values) = match part {
            Part::Atom(atom) => {
                let position =
                    self.objectives.iter().position(|of| of.function == atom.function)?;
                let of = labels.part(Aim::Label(position, atom.label))?;
                let at = (position, atom);
                let step = self.sequences.add_atom(program, self.objectives, at, of, labels);
                (step, of, RowKey::Label(position, used_values(atom, is_used)))
            }
            Part::Sequence(id) => {
                let of = labels.part(Aim::Sequence(owner, id))?;
                let step = *self.last_steps.get(&of)?;
                let sequence = &self.objectives[owner].sequences[id];
                (step, of, RowKey::Sequence(owner, used_in_sequence(id, sequence, is_used)))
            }
        };
        goal.rows.push(of);
        Some(Valued::new(step, bound, used, values))
    }

    /// Notes a reason why the hyperlabels that ask for a decision's vectors are undecided.
    pub(crate) fn hinder(&mut self, of: (FuncId, DecisionId), reason: &Cut) {
        let Some(rows) = self.decisions.get(&of) else { return };
        for goal in &rows.hypers {
            self.goals[*goal].hinder(reason.clone());
        }
    }

    /// Whether a hyperlabel that asks for a decision's vectors is left.
    pub(crate) fn is_open(&self, of: (FuncId, DecisionId)) -> bool {
        let rows = self.decisions.get(&of);
        rows.is_some_and(|rows| rows.hypers.iter().any(|goal| !self.goals[*goal].covered))
    }

    /// Adds the coverage record of a given test. Returns the hyperlabels that the tests now cover and did
    /// not before; `None` where the coverage record has nothing new.
    pub(crate) fn give(
        &mut self,
        has: &[(usize, CoverageRecord)],
        labels: &mut LabelTable<'_>,
    ) -> Option<Vec<HyperRef>> {
        let mut grown = false;
        for (position, record) in has {
            grown |= self.given[*position].merge(record);
            self.feasible[*position].merge(record);
        }
        if !grown {
            return None;
        }
        let found = self.consolidation.update(&self.given);
        let mut completed = Vec::new();
        for at in found {
            let Some(goal) = self.goals.iter_mut().find(|goal| goal.at == at) else { continue };
            goal.covered = true;
            goal.goals.iter().for_each(|part| labels.unwant(*part));
            goal.rows.iter().for_each(|part| labels.unwant_rows(*part));
            for (position, decision) in &goal.decisions {
                let func = self.objectives[*position].function;
                labels.unwatch(func, SiteKey::Decision(*decision));
            }
            completed.push(HyperRef { func: self.objectives[at.0].function, hyper: at.1 });
        }
        self.covered.extend(&completed);
        labels.set_hypers_left(self.goals.iter().filter(|goal| !goal.covered).count());
        Some(completed)
    }

    /// The vectors of decisions in a coverage record that no given test had before.
    fn not_given(
        &self,
        has: &[(usize, CoverageRecord)],
    ) -> Vec<((FuncId, DecisionId), DecisionVector)> {
        let mut new = Vec::new();
        for (position, record) in has {
            let given = &self.given[*position];
            let of = self.decisions.iter().filter(|(_, rows)| rows.position() == *position);
            for (of, _) in of {
                let is_given = |vector: &DecisionVector| given.vectors(of.1).any(|v| v == vector);
                let vectors = record.vectors(of.1).filter(|vector| !is_given(vector));
                new.extend(vectors.map(|vector| (*of, vector.clone())));
            }
        }
        // A stable sort: the vectors of one decision stay in their order.
        new.sort_by_key(|(of, _)| *of);
        new
    }

    /// The results of this worker, for the worker that talks to the caller.
    pub(crate) fn found(self) -> HyperReasons {
        let reasons = self.goals.into_iter().map(|goal| goal.reasons).collect();
        HyperReasons { feasible: self.feasible, reasons }
    }

    /// Adds the results of another worker.
    pub(crate) fn take_over(&mut self, found: HyperReasons) {
        for (own, other) in self.feasible.iter_mut().zip(&found.feasible) {
            own.merge(other);
        }
        for (own, other) in self.goals.iter_mut().zip(found.reasons) {
            own.reasons.extend(other);
        }
    }

    /// The decisions of hyperlabels that are left though inputs cover them; empty if nothing more
    /// is known of inputs than at the last call.
    pub(crate) fn decisions_to_follow(&mut self) -> Vec<(FuncId, DecisionId)> {
        let known = self.feasible.iter().map(CoverageRecord::size).sum();
        if std::mem::replace(&mut self.followed, known) == known {
            return Vec::new();
        }
        let mut found = FxHashSet::default();
        for goal in self.goals.iter().filter(|goal| !goal.covered && !goal.decisions.is_empty()) {
            let (at, hyper) = goal.at;
            if self.consolidation.covers_with(at, hyper, &self.feasible) == Some(true) {
                let func = |position: usize| self.objectives[position].function;
                found.extend(goal.decisions.iter().map(|(position, of)| (func(*position), *of)));
            }
        }
        found.into_iter().collect()
    }

    /// The sites at which the parts of a hyperlabel are looked at.
    fn sites_of(&self, program: &Program, goal: &HyperGoal) -> Vec<(FuncId, SiteKey)> {
        let (at, hyper) = goal.at;
        let mut atoms: Vec<&Atom> = Vec::new();
        let objectives = &self.objectives[at];
        objectives.hypers[hyper].hyper.for_each_part(&mut |part| match part {
            Part::Atom(atom) => atoms.push(atom),
            Part::Sequence(id) => atoms.extend(&objectives.sequences[id].atoms),
        });
        let mut sites = Vec::new();
        for atom in atoms {
            let function = self.objectives.iter().find(|of| of.function == atom.function);
            let body = program.functions[atom.function].body.as_ref();
            let Some((function, body)) = function.zip(body) else { continue };
            let keys = keys(function.labels[atom.label].site, body);
            sites.extend(keys.into_iter().map(|site| (atom.function, site)));
        }
        let of_decision = |(position, decision): &(usize, DecisionId)| {
            (self.objectives[*position].function, SiteKey::Decision(*decision))
        };
        sites.extend(goal.decisions.iter().map(of_decision));
        sites
    }

    /// Whether the hyperlabel of a pairing is covered.
    pub(crate) fn is_pairing_covered(&self, pairing: usize) -> bool {
        self.goals[self.pairs.goal(pairing)].covered
    }

    /// Notes a reason why the hyperlabel of a pairing is undecided.
    pub(crate) fn hinder_pairing(&mut self, pairing: usize, cut: Cut) {
        let goal = self.pairs.goal(pairing);
        self.goals[goal].hinder(cut);
    }

    /// Stops asking for combinations of values, because the exploration is stopped.
    pub(crate) fn stop_asking(&mut self, reason: &Cut) {
        let waiting = self.goals.iter_mut().filter(|goal| !goal.rows.is_empty());
        waiting.for_each(|goal| goal.hinder(reason.clone()));
    }

    /// The covered hyperlabels in the order of their covering, and those that are left.
    /// `in_the_way` says what was left out at some sites.
    pub(crate) fn result(
        &self,
        program: &Program,
        labels: &LabelTable<'_>,
        in_the_way: &Hindrances<'_>,
    ) -> (Vec<HyperRef>, Vec<LeftHyper>) {
        // Labels that are covered but not given, because a run did not end as a test, are feasible.
        let mut feasible = self.feasible.clone();
        for aim in labels.covered() {
            match aim {
                Aim::Label(at, label) => _ = feasible[at].cover_label(label),
                Aim::Sequence(at, sequence) => _ = feasible[at].cover_sequence(sequence),
            }
        }
        let left = self.goals.iter().filter(|goal| !goal.covered).map(|goal| {
            let of_parts = goal.goals.iter().flat_map(|part| labels.reasons(*part));
            let mut reasons = in_the_way.of(&self.sites_of(program, goal));
            reasons.extend(of_parts.chain(&goal.reasons).cloned());
            let (at, hyper) = goal.at;
            if reasons.is_empty()
                && self.consolidation.covers_with(at, hyper, &feasible) != Some(false)
            {
                reasons.insert(Cut::Unsupported(NO_TESTS.to_owned()));
            }
            let hyper = HyperRef { func: self.objectives[at].function, hyper };
            LeftHyper { hyper, reasons: reasons.into_iter().collect(), bounds: Vec::new() }
        });
        (self.covered.clone(), left.collect())
    }
}

impl Goals<'_> {
    /// The coverage record, for hyperlabels, of a test with this model that covers these goals; by the
    /// position of functions.
    pub(crate) fn record_of(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &State,
        covered: &[GoalId],
        model: &Model,
    ) -> Vec<(usize, CoverageRecord)> {
        if self.hypers.is_empty() {
            return Vec::new();
        }
        let mut has: FxHashMap<usize, CoverageRecord> = FxHashMap::default();
        for goal in covered {
            match self.labels.aim(*goal) {
                Aim::Label(position, label) => {
                    has.entry(position).or_default().cover_label(label);
                }
                Aim::Sequence(position, sequence) => {
                    has.entry(position).or_default().cover_sequence(sequence);
                }
            }
        }
        for FoundVector { position, decision, vector } in vectors_of(machine, state, model) {
            has.entry(position).or_default().add_vector(decision, vector);
        }
        Self::add_rows(self.rows_of(machine, state, model), &mut has);
        let mut has: Vec<(usize, CoverageRecord)> = has.into_iter().collect();
        has.sort_by_key(|(position, _)| *position);
        has
    }

    /// Adds the coverage record of a test of another worker. Returns the hyperlabels that the tests now
    /// cover and did not before; `None` where the coverage record has nothing new. Inputs of this worker
    /// that cover hyperlabels together with the test are followed to their ends.
    pub(crate) fn learn_given(
        &mut self,
        has: &[(usize, CoverageRecord)],
        is_over: bool,
    ) -> Option<Vec<HyperRef>> {
        let vectors = self.hypers.not_given(has);
        let completes = self.hypers.give(has, &mut self.labels)?;
        for (of, vector) in vectors {
            self.learn_vector(of, &vector, is_over);
            if !is_over {
                self.look_for_partners(of, &vector);
            }
        }
        Some(completes)
    }
}

/// The metavariables in the guards of a hyperlabel.
fn names_in_guards(hyper: &Hyper) -> FxHashSet<&str> {
    fn gather<'h>(hyper: &'h Hyper, names: &mut FxHashSet<&'h str>) {
        match hyper {
            Hyper::Atom(_) | Hyper::Sequence(_) => {}
            Hyper::Guard(inner, guard) => {
                guard.for_each_name(&mut |name| _ = names.insert(name));
                gather(inner, names);
            }
            Hyper::All(parts) | Hyper::Any(parts) => {
                parts.iter().for_each(|part| gather(part, names));
            }
        }
    }
    let mut names = FxHashSet::default();
    gather(hyper, &mut names);
    names
}

/// The decision with vectors that determine all that an atom asks for and binds; `None` if there is
/// none.
fn decision_of(objectives: &FunctionObjectives, atom: &Atom) -> Option<DecisionId> {
    vectors_give(objectives, atom.label, atom.bindings.iter().map(|binding| &binding.value))
}

/// A vector of a decision that an input has.
#[derive(PartialEq, Eq, Hash)]
struct FoundVector {
    /// The position of the decision's function among the objectives.
    position: usize,
    decision: DecisionId,
    vector: DecisionVector,
}

/// The vectors that the decisions of hyperlabels have on a path with an input.
fn vectors_of(
    machine: &mut Machine<'_, '_>,
    state: &State,
    model: &Model,
) -> FxHashSet<FoundVector> {
    let mut vectors = FxHashSet::default();
    for evaluation in state.notes.goals.trail.evaluations() {
        let vector = evaluation.vector(&machine.pool, &mut machine.evaluator, model);
        let (position, decision) = (evaluation.position, evaluation.decision);
        vectors.insert(FoundVector { position, decision, vector });
    }
    vectors
}
