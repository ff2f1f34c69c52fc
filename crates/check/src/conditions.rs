//! The verification conditions of a certificate.
//!
//! A certificate of depth *k* stands if
//!
//! 1. its invariants hold where runs begin, and every path from a point to the next preserves them;
//! 2. no run of fewer than *k* paths between points comes to the goal;
//! 3. by induction: the last of *k* successive states at points other than the entry does not lead to the
//!    goal if the invariants hold in all of them and those before did not lead there (Sheeran, Singh and
//!    Stålmarck, *Checking Safety Properties Using Induction and a SAT-Solver*, 2000);
//!    or by exhaustion: no run has *k* paths that the invariants allow and that lead on towards the goal.
//!
//! Conditions are formulas that have to be unsatisfiable.

use std::collections::{BTreeMap, BTreeSet};

use crate::checking::invariants::Invariants;
use crate::document::{ArgumentKind, Certificate, PointKind};
use crate::fault::Fault;
use crate::machine::{Machine, Scene};
use crate::solver::Answer;
use crate::state::State;
use crate::terms::Term;

/// The deepest argument that is checked.
const DEEPEST: u32 = 10_000;

/// What a condition's failure means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The certificate says something that it must not.
    Fault(Fault),
    /// A condition is false, as values show.
    Refuted(String, String),
    /// A condition has no answer.
    Open(String, String),
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The time for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Little: there is another way to ask.
    Low,
    /// All that there is.
    Full,
}

/// Asks a solver.
pub(crate) trait Asker {
    /// The answer for a script, for which there is all time or little. An error ends the check.
    fn ask(&mut self, script: &str, effort: Effort) -> Result<Answer, Failure>;
}

/// Makes and asks the conditions of a certificate.
pub(crate) struct Conditions<'s, 'a, 'q> {
    scene: &'s Scene<'a>,
    invariants: &'s Invariants,
    certificate: &'s Certificate,
    asker: &'q mut dyn Asker,
}

/// The states at points after some paths; what is known of them.
struct Front {
    states: BTreeMap<usize, State>,
    premises: Vec<Term>,
}

/// An end of runs that must not be reached.
struct RunEnd {
    reached: Term,
    /// How many of the premises are about states before it.
    premises: usize,
    condition: String,
}

impl<'s, 'a, 'q> Conditions<'s, 'a, 'q> {
    pub(crate) fn new(
        scene: &'s Scene<'a>,
        invariants: &'s Invariants,
        certificate: &'s Certificate,
        asker: &'q mut dyn Asker,
    ) -> Self {
        Self { scene, invariants, certificate, asker }
    }

    /// Asks all conditions.
    pub(crate) fn check(&mut self) -> Result<(), Failure> {
        let argument = &self.certificate.argument;
        if argument.depth == 0 || argument.depth > DEEPEST {
            return Err(Fault::form("an argument of no or of too many states").into());
        }
        self.initiation()?;
        let mut edges = BTreeSet::new();
        let mut ends = BTreeSet::new();
        for point in 0..self.invariants.formulas.len() {
            let found = self.leave_point(point)?;
            edges.extend(found.0.into_iter().map(|to| (point, to)));
            if found.1 {
                ends.insert(point);
            }
        }
        let near = match argument.kind {
            ArgumentKind::Induction => None,
            ArgumentKind::Exhaustion => Some(leading_to(&edges, ends)),
        };
        if argument.depth > 1 || near.is_some() {
            self.base(near.as_ref())?;
        }
        if argument.kind == ArgumentKind::Induction && argument.depth > 1 {
            self.step()?;
        }
        Ok(())
    }

    /// Whether some terms hold together. The solver is not asked where one of them is false, nor where
    /// ranges or equations show that they contradict each other.
    fn ask(
        &mut self,
        machine: &Machine<'_, '_>,
        asserted: &[Term],
        effort: Effort,
    ) -> Result<Answer, Failure> {
        if asserted.iter().any(|term| machine.terms.truth_of(*term) == Some(false)) {
            return Ok(Answer::Unsatisfiable);
        }
        let terms = &machine.terms;
        if terms.contradict_by_ranges(asserted) || terms.contradict_by_equations(asserted) {
            return Ok(Answer::Unsatisfiable);
        }
        self.asker.ask(&machine.terms.script(asserted), effort)
    }

    /// Fails unless some terms contradict one another.
    fn refuse(
        &mut self,
        machine: &Machine<'_, '_>,
        asserted: &[Term],
        condition: &str,
    ) -> Result<(), Failure> {
        self.refuse_with(machine, (asserted, condition), Effort::Full)
    }

    fn refuse_with(
        &mut self,
        machine: &Machine<'_, '_>,
        (asserted, condition): (&[Term], &str),
        effort: Effort,
    ) -> Result<(), Failure> {
        match self.ask(machine, asserted, effort)? {
            Answer::Unsatisfiable => Ok(()),
            Answer::Satisfiable(model) => Err(Failure::Refuted(condition.to_owned(), model)),
            Answer::Unknown(why) => Err(Failure::Open(condition.to_owned(), why)),
        }
    }

    fn name(&self, point: usize) -> String {
        let content = &self.certificate.points[point];
        let function = self.scene.unfolding.instances[content.instance].function;
        let function = &self.scene.program().functions[function].name;
        match &content.place {
            _ if point == 0 => "the entry".to_owned(),
            _ if content.kind == PointKind::Enter => format!("the entry of {function}"),
            _ if content.kind == PointKind::Return => format!("the return of {function}"),
            Some(place) => format!("{place} in {function}"),
            None => format!("bb{} of {function}", content.block),
        }
    }

    /// The invariants of the entry hold where runs begin.
    fn initiation(&mut self) -> Result<(), Failure> {
        let mut machine = Machine::new(self.scene, self.invariants);
        let mut state = machine.initial_state();
        let holds = self.invariants.on(&mut machine, &mut state, 0);
        self.preserves(&mut machine, &[], &holds, "the invariants hold at the entry")
    }

    /// Premises imply some terms: all at once, or one by one where that has no answer.
    fn preserves(
        &mut self,
        machine: &mut Machine<'_, '_>,
        premises: &[Term],
        holds: &[Term],
        condition: &str,
    ) -> Result<(), Failure> {
        let all = machine.terms.all(holds);
        let mut query = premises.to_vec();
        query.push(machine.terms.not(all));
        let effort = if holds.len() > 1 { Effort::Low } else { Effort::Full };
        match self.refuse_with(machine, (&query, condition), effort) {
            Err(Failure::Open(..)) if holds.len() > 1 => {}
            answer => return answer,
        }
        for holds in holds {
            let mut query = premises.to_vec();
            query.push(machine.terms.not(*holds));
            self.refuse(machine, &query, condition)?;
        }
        Ok(())
    }

    /// A state at a point with what is known of it. That at the entry is known.
    fn start(&self, machine: &mut Machine<'_, '_>, point: usize) -> (State, Vec<Term>) {
        if point == 0 {
            return (machine.initial_state(), Vec::new());
        }
        let guard = machine.terms.truth(true);
        let mut state = self.invariants.state_at(machine, point, guard);
        let premises = self.invariants.known(machine, &mut state, point);
        (state, premises)
    }

    /// The paths from a point preserve the invariants, and where that is all of the argument they do not
    /// lead to the goal. Returns the points that come next, and whether the goal may.
    fn leave_point(&mut self, point: usize) -> Result<(Vec<usize>, bool), Failure> {
        let mut machine = Machine::new(self.scene, self.invariants);
        let (mut state, premises) = self.start(&mut machine, point);
        let ends = machine.follow(point, state.clone())?;
        let mut next = Vec::new();
        for (to, mut arrival) in ends.arrivals {
            self.invariants.arrive(&mut machine, (&mut state, &mut arrival), to);
            let mut known = premises.clone();
            known.push(arrival.guard);
            let holds = self.invariants.on(&mut machine, &mut arrival, to);
            let names = (self.name(point), self.name(to));
            let condition =
                format!("the way from {} to {} preserves the invariants", names.0, names.1);
            if !holds.is_empty() {
                self.preserves(&mut machine, &known, &holds, &condition)?;
            }
            if self.is_possible(&machine, &known)? {
                next.push(to);
            }
        }
        let argument = &self.certificate.argument;
        if argument.kind == ArgumentKind::Induction && (argument.depth == 1 || point == 0) {
            let condition = format!("no way from {} leads to the goal", self.name(point));
            self.refuse_goals(&mut machine, (&premises, &ends.goals), &condition)?;
            return Ok((next, false));
        }
        let mut query = premises;
        query.push(machine.terms.any(&ends.goals));
        let may_reach = self.is_possible(&machine, &query)?;
        Ok((next, may_reach))
    }

    /// No goal is reached: they are asked for together, and one by one where that has no answer.
    fn refuse_goals(
        &mut self,
        machine: &mut Machine<'_, '_>,
        (premises, goals): (&[Term], &[Term]),
        condition: &str,
    ) -> Result<(), Failure> {
        let mut query = premises.to_vec();
        query.push(machine.terms.any(goals));
        let effort = if goals.len() > 1 { Effort::Low } else { Effort::Full };
        match self.refuse_with(machine, (&query, condition), effort) {
            Err(Failure::Open(..)) if goals.len() > 1 => {}
            answer => return answer,
        }
        let names = self.scene.monitor.goal_names();
        for (goal, name) in goals.iter().zip(names) {
            let mut query = premises.to_vec();
            query.push(*goal);
            self.refuse(machine, &query, &format!("{condition} ({name})"))?;
        }
        Ok(())
    }

    /// Whether some terms may hold together. Only arguments by exhaustion need to know.
    fn is_possible(
        &mut self,
        machine: &Machine<'_, '_>,
        asserted: &[Term],
    ) -> Result<bool, Failure> {
        if self.certificate.argument.kind == ArgumentKind::Induction {
            return Ok(true);
        }
        Ok(self.ask(machine, asserted, Effort::Full)? != Answer::Unsatisfiable)
    }

    /// The states after one more path, and whether one of the paths comes to the goal.
    fn advance(
        &self,
        machine: &mut Machine<'_, '_>,
        front: &mut Front,
        near: Option<&BTreeSet<usize>>,
    ) -> Result<Term, Failure> {
        let mut goal = machine.terms.truth(false);
        let mut arrived: BTreeMap<usize, Vec<State>> = BTreeMap::new();
        for (point, mut state) in std::mem::take(&mut front.states) {
            let ends = machine.follow(point, state.clone())?;
            let reached = machine.terms.any(&ends.goals);
            goal = machine.terms.or(goal, reached);
            for (to, mut arrival) in ends.arrivals {
                if near.is_none_or(|near| near.contains(&to)) {
                    self.invariants.arrive(machine, (&mut state, &mut arrival), to);
                    arrived.entry(to).or_default().push(arrival);
                }
            }
        }
        for (point, states) in arrived {
            if let Some(state) = machine.merge(states) {
                self.enter(machine, front, (point, state));
            }
        }
        Ok(goal)
    }

    /// Adds a state at a point, where the invariants hold if it is taken.
    fn enter(
        &self,
        machine: &mut Machine<'_, '_>,
        front: &mut Front,
        (point, mut state): (usize, State),
    ) {
        let holds = self.invariants.known(machine, &mut state, point);
        let holds = machine.terms.all(&holds);
        let absent = machine.terms.not(state.guard);
        front.premises.push(machine.terms.or(absent, holds));
        front.states.insert(point, state);
    }

    /// No run of fewer paths comes to the goal, and by exhaustion none has so many.
    fn base(&mut self, near: Option<&BTreeSet<usize>>) -> Result<(), Failure> {
        let mut machine = Machine::new(self.scene, self.invariants);
        let state = machine.initial_state();
        let mut front = Front { states: BTreeMap::from([(0, state)]), premises: Vec::new() };
        let mut ends = Vec::new();
        for depth in 0..self.certificate.argument.depth {
            let reached = self.advance(&mut machine, &mut front, near)?;
            let condition = format!("no run of {depth} ways comes to the goal");
            ends.push(RunEnd { reached, premises: front.premises.len(), condition });
            if front.states.is_empty() {
                break;
            }
        }
        if near.is_some() {
            let guards: Vec<Term> = front.states.values().map(|state| state.guard).collect();
            let condition = format!("no run has {} ways", self.certificate.argument.depth);
            let (reached, premises) = (machine.terms.any(&guards), front.premises.len());
            ends.push(RunEnd { reached, premises, condition });
        }
        self.refuse_ends(&mut machine, &front.premises, &ends)
    }

    /// No run comes to some ends. They are asked for together, and one by one if that has no answer: the
    /// invariants hold in all states, also in those behind an end.
    fn refuse_ends(
        &mut self,
        machine: &mut Machine<'_, '_>,
        premises: &[Term],
        ends: &[RunEnd],
    ) -> Result<(), Failure> {
        if ends.len() > 1 {
            let reached: Vec<Term> = ends.iter().map(|end| end.reached).collect();
            let mut query = premises.to_vec();
            query.push(machine.terms.any(&reached));
            if self.ask(machine, &query, Effort::Full)? == Answer::Unsatisfiable {
                return Ok(());
            }
        }
        // The last is the hardest. Where it has no answer, the others are asked only whether one is false.
        let Some((last, others)) = ends.split_last() else { return Ok(()) };
        let last = self.refuse_end(machine, premises, last, Effort::Full);
        let effort = match &last {
            Ok(()) => Effort::Full,
            Err(Failure::Open(..)) => Effort::Low,
            Err(_) => return last,
        };
        for end in others {
            match self.refuse_end(machine, premises, end, effort) {
                Err(Failure::Open(..)) if last.is_err() => break,
                answer => answer?,
            }
        }
        last
    }

    fn refuse_end(
        &mut self,
        machine: &Machine<'_, '_>,
        premises: &[Term],
        end: &RunEnd,
        effort: Effort,
    ) -> Result<(), Failure> {
        let mut query = premises[..end.premises].to_vec();
        query.push(end.reached);
        self.refuse_with(machine, (&query, &end.condition), effort)
    }

    /// The last of so many states does not lead to the goal.
    fn step(&mut self) -> Result<(), Failure> {
        let mut machine = Machine::new(self.scene, self.invariants);
        let mut front = Front { states: BTreeMap::new(), premises: Vec::new() };
        let mut guards: Vec<Term> = Vec::new();
        for point in 1..self.invariants.formulas.len() {
            let guard = machine.terms.fresh("at", crate::terms::Sort::Bool);
            // A run is at one point.
            for other in &guards {
                let both = machine.terms.and(guard, *other);
                front.premises.push(machine.terms.not(both));
            }
            guards.push(guard);
            let state = self.invariants.state_at(&mut machine, point, guard);
            self.enter(&mut machine, &mut front, (point, state));
        }
        let depth = self.certificate.argument.depth;
        for _ in 1..depth {
            let goal = self.advance(&mut machine, &mut front, None)?;
            front.premises.push(machine.terms.not(goal));
        }
        let goal = self.advance(&mut machine, &mut front, None)?;
        let mut query = front.premises;
        query.push(goal);
        self.refuse(&machine, &query, &format!("{depth} successive states do not lead to the goal"))
    }
}

/// The points from which edges lead to some points, those included.
fn leading_to(edges: &BTreeSet<(usize, usize)>, ends: BTreeSet<usize>) -> BTreeSet<usize> {
    let mut near = ends;
    loop {
        let before = near.len();
        let more: Vec<usize> =
            edges.iter().filter(|(_, to)| near.contains(to)).map(|(from, _)| *from).collect();
        near.extend(more);
        if near.len() == before {
            return near;
        }
    }
}
