//! Certificates that a goal is out of reach, and their check.
//!
//! A certificate of depth *k* has formulas for each point, its invariants. It says that
//!
//! 1. the invariants hold at the entry, and each transition preserves them;
//! 2. no run of fewer than *k* transitions reaches the goal;
//! 3. the last of *k* successive states on a run, from any point but the entry, does not reach the goal
//!    where the invariants hold in all of them and the goal was not reached from those before.
//!
//! A run that reaches the goal for the first time has fewer than *k* transitions, or ends with *k*
//! states outside of the entry. So it cannot be. With *k* = 1 this is plain induction; else it is
//! k-induction after Sheeran, Singh and Stålmarck (*Checking Safety Properties Using Induction and a
//! SAT-Solver*, 2000).
//!
//! A certificate by exhaustion says instead of 3 that no run has *k* transitions, but for runs that went
//! where no transitions lead to an approach of the goal. Transitions that the invariants forbid do not
//! count there.
//!
//! Invariants may have parameters: symbols that stand for any value and never change. Such a formula
//! holds for each value of them. So it is preserved if it is for values that are not known, and may be
//! used with any terms in their places ([`Parameters`]).

use std::fmt;
use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Limits, Reason, Solver, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::queries::Queries;
use crate::engines::slicing::leading_to;
use crate::engines::stage::{Inputs, Stage, terms_of};
use crate::engines::unrolling::Unrolling;
use crate::system::{GoalId, PointId, System, Transition};

/// The time of a query where the limits set none.
const MOST_TIME: Duration = Duration::from_secs(600);

/// The last part of a certificate's argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No states of the given number end in the goal.
    Induction,
    /// No run has so many transitions.
    Exhaustion,
}

/// Symbols that stand for any value in invariants.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    /// The symbols. No term of the system has them.
    pub symbols: Vec<Term>,
    /// Terms that the argument needs in place of the symbols of their sort.
    pub instances: Vec<Term>,
}

impl Parameters {
    /// Formulas with each instance in place of the symbols of its sort; without those that have no
    /// symbols.
    pub(crate) fn instances_of(&self, pool: &mut TermPool, formulas: &[Term]) -> Vec<Term> {
        let mut found = Vec::new();
        for instance in &self.instances {
            let sort = pool.sort(*instance);
            let own = self.symbols.iter().copied().filter(|symbol| pool.sort(*symbol) == sort);
            let mut known: FxHashMap<Term, Term> = own.map(|symbol| (symbol, *instance)).collect();
            for formula in formulas {
                let special = pool.substituted(*formula, &mut known);
                if special != *formula {
                    found.push(special);
                }
            }
        }
        found
    }
}

/// An argument for a goal being out of reach.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The number of states, or of transitions, that the argument looks at; at least 1.
    pub depth: u32,
    /// What is said of so many.
    pub argument: Argument,
    /// The invariants by point, over the variables' symbols and the parameters.
    pub invariants: Vec<Vec<Term>>,
    /// The parameters of the invariants. Only arguments of depth 1 by induction have any.
    pub parameters: Parameters,
}

/// The reason for which a certificate was not confirmed.
#[derive(Clone, Debug)]
pub enum Flaw {
    /// A part of its argument is false.
    Refuted(String),
    /// A query had no answer.
    Open(Reason),
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refuted(part) => write!(f, "this is false: {part}"),
            Self::Open(reason) => write!(f, "the check has no answer: {reason}"),
        }
    }
}

impl Certificate {
    /// Confirms each part of the argument by queries of its own. Uses the limits' time for each query.
    pub fn check(
        &self,
        pool: &mut TermPool,
        system: &System,
        goal: GoalId,
        solver: &mut dyn Solver,
        limits: &Limits,
    ) -> Result<(), Flaw> {
        self.check_together(pool, system, &[goal], solver, limits)
    }

    /// The same for goals that have one argument together: none of them is reached. An argument for each
    /// of some goals, by the same depth, is one for all of them with the invariants of all.
    pub fn check_together(
        &self,
        pool: &mut TermPool,
        system: &System,
        goals: &[GoalId],
        solver: &mut dyn Solver,
        limits: &Limits,
    ) -> Result<(), Flaw> {
        let most = limits.time.unwrap_or(MOST_TIME);
        let mut queries = Queries::new(pool, solver, limits, most);
        let mut check = Check { certificate: self, system, goals, queries: &mut queries };
        check.form()?;
        check.initiation()?;
        for transition in &system.transitions {
            check.consecution(transition)?;
        }
        check.base()?;
        match self.argument {
            Argument::Induction => check.step(),
            Argument::Exhaustion => Ok(()),
        }
    }
}

/// The check of one certificate, for goals that are not reached.
struct Check<'c, 'q> {
    certificate: &'c Certificate,
    system: &'c System,
    goals: &'c [GoalId],
    queries: &'c mut Queries<'q>,
}

impl Check<'_, '_> {
    /// The argument is about this system and about some state.
    fn form(&mut self) -> Result<(), Flaw> {
        let (system, invariants) = (self.system, &self.certificate.invariants);
        let refuted = |part: &str| Err(Flaw::Refuted(part.to_owned()));
        if system.transitions.iter().any(|transition| transition.to == system.entry) {
            return refuted("no transition leads to the entry");
        }
        if self.certificate.depth == 0 {
            return refuted("the depth is at least 1");
        }
        if invariants.len() != system.points.len() {
            return refuted("each point has its invariants");
        }
        // Inputs are chosen anew in each step, so nothing that is said of them stays true.
        let mut variables: FxHashSet<Term> = system.symbols().collect();
        let parameters = &self.certificate.parameters.symbols;
        let is_plain =
            self.certificate.depth == 1 && self.certificate.argument == Argument::Induction;
        if !parameters.is_empty() && !is_plain {
            return refuted("only plain induction has parameters");
        }
        for term in terms_of(system) {
            let symbols = self.queries.pool.vars_of(term);
            if symbols.iter().any(|symbol| parameters.contains(symbol)) {
                return refuted("the system knows no parameters");
            }
        }
        if parameters.iter().any(|parameter| variables.contains(parameter)) {
            return refuted("parameters are no variables");
        }
        // What is said of a term is not said of any value in its place.
        if parameters.iter().any(|parameter| self.queries.pool.var_name(*parameter).is_none()) {
            return refuted("parameters are symbols");
        }
        let distinct: FxHashSet<Term> = parameters.iter().copied().collect();
        if distinct.len() < parameters.len() {
            return refuted("each parameter is told once");
        }
        variables.extend(parameters);
        for formula in invariants.iter().flatten() {
            let symbols = self.queries.pool.vars_of(*formula);
            if !symbols.iter().all(|symbol| variables.contains(symbol)) {
                return refuted("the invariants are of variables only");
            }
        }
        Ok(())
    }

    /// Fails unless the assumptions contradict each other.
    fn refuse(&mut self, assumptions: &[Term], part: impl Fn() -> String) -> Result<(), Flaw> {
        match self.queries.check(assumptions) {
            Answer::Unsat { .. } => Ok(()),
            Answer::Sat(_) => Err(Flaw::Refuted(part())),
            Answer::Unknown(reason) => Err(Flaw::Open(reason)),
        }
    }

    /// The invariants hold at the entry.
    fn initiation(&mut self) -> Result<(), Flaw> {
        let mut entry = Stage::with_own_inputs(self.system, &self.system.initial);
        for formula in &self.certificate.invariants[self.system.entry.index()] {
            let holds = entry.of(self.queries.pool, *formula);
            let fails = self.queries.pool.not(holds);
            self.refuse(&[self.system.assumed, fails], || "an invariant at the entry".to_owned())?;
        }
        Ok(())
    }

    /// A transition preserves the invariants.
    fn consecution(&mut self, transition: &Transition) -> Result<(), Flaw> {
        if self.certificate.invariants[transition.to.index()].is_empty() {
            return Ok(());
        }
        let (mut premises, mut from) = self.premises(transition.from);
        let pool = &mut *self.queries.pool;
        premises.push(from.of(pool, transition.guard));
        let next: Vec<Term> = transition.next.iter().map(|term| from.of(pool, *term)).collect();
        let mut to = Stage::with_own_inputs(self.system, &next);
        for formula in &self.certificate.invariants[transition.to.index()] {
            let holds = to.of(self.queries.pool, *formula);
            let fails = self.queries.pool.not(holds);
            let mut query = premises.clone();
            query.push(fails);
            let name = &self.system.points[transition.to].name;
            self.refuse(&query, || format!("a transition to {name} preserves an invariant"))?;
        }
        Ok(())
    }

    /// The invariants of a point, and their instances.
    fn known(&mut self, point: PointId) -> Vec<Term> {
        let Certificate { invariants, parameters, .. } = self.certificate;
        let mut known = invariants[point.index()].clone();
        known.extend(parameters.instances_of(self.queries.pool, &invariants[point.index()]));
        known
    }

    /// The knowledge of the states at a point, and the place there. The states at the entry are known.
    fn premises(&mut self, point: PointId) -> (Vec<Term>, Stage) {
        let system = self.system;
        let symbols: Vec<Term> = system.symbols().collect();
        if point != system.entry {
            let known = self.known(point);
            return (known, Stage::with_own_inputs(system, &symbols));
        }
        let pool = &mut *self.queries.pool;
        // The initial inputs are others than those of the transition, whatever their names.
        let mut inputs = Inputs::new(pool, system);
        let mut start = inputs.stage(pool, system, &symbols, 0);
        let state: Vec<Term> = system.initial.iter().map(|term| start.of(pool, *term)).collect();
        let assumed = start.of(pool, system.assumed);
        (vec![assumed], Stage::with_own_inputs(system, &state))
    }

    /// No run of fewer transitions reaches the goal, and with exhaustion none has so many.
    fn base(&mut self) -> Result<(), Flaw> {
        let narrowed = self.narrowed();
        let mut unrolling = Unrolling::from_entry(self.queries, &narrowed);
        for depth in 0..self.certificate.depth as usize {
            let reached = self.reached(&mut unrolling, depth);
            let mut query = unrolling.assumed().to_vec();
            query.push(reached);
            self.refuse(&query, || format!("no run of {depth} transitions reaches the goal"))?;
            unrolling.extend(self.queries.pool);
        }
        if self.certificate.argument == Argument::Exhaustion {
            let mut query = unrolling.assumed().to_vec();
            query.push(unrolling.arrives(self.queries.pool));
            let depth = self.certificate.depth;
            self.refuse(&query, || format!("no run has {depth} transitions"))?;
        }
        Ok(())
    }

    /// The system without transitions that no run to the goal takes.
    fn narrowed(&mut self) -> System {
        let mut system = self.system.clone();
        if self.certificate.argument == Argument::Induction {
            return system;
        }
        let mut possible = Vec::new();
        for transition in &self.system.transitions {
            let (mut query, mut from) = self.premises(transition.from);
            query.push(from.of(self.queries.pool, transition.guard));
            if !self.queries.contradict(&query) {
                possible.push(transition.clone());
            }
        }
        let approaches = self.goals.iter().flat_map(|goal| &system.goals[*goal].approaches);
        let ends = approaches.map(|approach| approach.from).collect();
        let near = leading_to(&possible, ends);
        possible.retain(|transition| near.contains(&transition.to));
        system.transitions = possible;
        system
    }

    /// Whether one of the goals is reached from a layer.
    fn reached(&mut self, unrolling: &mut Unrolling<'_>, layer: usize) -> Term {
        let goals = self.goals.iter();
        let ways: Vec<Term> =
            goals.map(|goal| unrolling.goal(self.queries.pool, layer, *goal)).collect();
        self.queries.pool.or_all(ways)
    }

    /// The last of so many states does not reach the goal.
    fn step(&mut self) -> Result<(), Flaw> {
        let (system, goals) = (self.system, self.goals);
        if self.certificate.depth == 1 {
            // The same as below, point by point.
            let approaches = goals.iter().flat_map(|goal| &system.goals[*goal].approaches);
            for approach in approaches.filter(|way| way.from != system.entry) {
                let mut query = self.known(approach.from);
                query.push(approach.condition);
                self.refuse(&query, || "the invariants exclude the goal".to_owned())?;
            }
            return Ok(());
        }
        let invariants = &self.certificate.invariants;
        let mut window = Unrolling::from_anywhere(self.queries, self.system, invariants);
        let mut query = Vec::new();
        for depth in 1..self.certificate.depth as usize {
            let reached = self.reached(&mut window, depth - 1);
            query.push(self.queries.pool.not(reached));
            window.extend(self.queries.pool);
        }
        let last = window.depth();
        query.push(self.reached(&mut window, last));
        query.extend(window.assumed());
        self.refuse(&query, || "the induction step".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use lydian_smt::Sort;

    use super::*;
    use crate::engines::testing::{Fixture, solver, system};

    const COUNTER: &str = "vars i
        start i = 0
        p0 -> p1
        p1 -> p1 if i <u 6: i := i + 2
        p1 -> !bad if i == 7
        p1 -> !good if i == 6";

    /// The check of a certificate with an invariant at the second point for a goal of the counter.
    fn checked(depth: u32, argument: Argument, invariant: &str, goal: usize) -> bool {
        stands(COUNTER, depth, argument, invariant, goal)
    }

    /// The same for a system of two points and two goals.
    fn stands(text: &str, depth: u32, argument: Argument, invariant: &str, goal: usize) -> bool {
        let certificate = (depth, argument);
        stands_with(text, certificate, invariant, goal, |_| Vec::new())
    }

    /// The same with symbols of parameters.
    fn stands_with(
        text: &str,
        (depth, argument): (u32, Argument),
        invariant: &str,
        goal: usize,
        parameters: impl Fn(&mut TermPool) -> Vec<Term>,
    ) -> bool {
        let text = format!("{text}\np1 -> !invariant if {invariant}");
        let Fixture { mut pool, system } = system(4, &text);
        let symbols = parameters(&mut pool);
        let goals: Vec<GoalId> = system.goals.ids().collect();
        let formula = system.goals[goals[2]].approaches[0].condition;
        let certificate = Certificate {
            depth,
            argument,
            invariants: vec![vec![], vec![formula]],
            parameters: Parameters { symbols, instances: Vec::new() },
        };
        let mut solver = solver();
        certificate.check(&mut pool, &system, goals[goal], &mut solver, &Limits::none()).is_ok()
    }

    fn symbol(pool: &mut TermPool) -> Term {
        pool.var("k", Sort::BitVec(4))
    }

    #[test]
    fn a_certificate_stands_only_with_all_of_its_parts() {
        let induction = Argument::Induction;
        assert!(checked(1, induction, "i % 2 == 0", 0));
        assert!(!checked(1, induction, "true", 0), "the formula does not exclude the goal");
        assert!(!checked(1, induction, "i % 2 == 0 && i <u 6", 0), "a transition breaks it");
        assert!(!checked(1, induction, "false", 0), "it fails after the entry");
        assert!(!checked(1, induction, "i % 2 == 0", 1), "the goal is reached");
        let with = |parameters: fn(&mut TermPool) -> Vec<Term>| {
            stands_with(COUNTER, (1, induction), "i % 2 == 0", 0, parameters)
        };
        assert!(with(|pool| vec![symbol(pool)]));
        assert!(!with(|pool| vec![pool.bv(4, 3)]), "a number is no symbol");
        assert!(
            !with(|pool| {
                let (k, one) = (symbol(pool), pool.bv(4, 1));
                vec![pool.add(k, one)]
            }),
            "a sum is no symbol"
        );
        assert!(!with(|pool| vec![symbol(pool), symbol(pool)]), "a parameter is told twice");
    }

    #[test]
    fn a_certificate_of_no_states_or_with_invariants_of_inputs_proves_nothing() {
        let text = "vars i
            inputs a
            start i = 0
            p0 -> p1 if a == 0
            p1 -> p1 if a == 0
            p1 -> !later if a == 1
            p0 -> !now if i == 0";
        for depth in 0..3 {
            assert!(!stands(text, depth, Argument::Induction, "true", 1));
            assert!(!stands(text, depth, Argument::Induction, "a == 0", 0), "a is chosen anew");
        }
    }

    #[test]
    fn a_certificate_by_exhaustion_needs_as_many_transitions_as_runs_have() {
        assert!(checked(5, Argument::Exhaustion, "true", 0));
        assert!(checked(6, Argument::Exhaustion, "true", 0));
        assert!(!checked(4, Argument::Exhaustion, "true", 0));
        assert!(!checked(5, Argument::Exhaustion, "true", 1));
    }

    #[test]
    fn the_states_before_the_last_count_in_an_induction_of_some_depth() {
        // 7 has no predecessor but 5, which is 3 two steps before, and so on.
        assert!(!checked(1, Argument::Induction, "true", 0));
        assert!(!checked(2, Argument::Induction, "true", 0));
        assert!(checked(5, Argument::Induction, "true", 0));
    }
}
