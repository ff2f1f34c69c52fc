//! The flags that may be set at each point.
//!
//! A system follows sequences of labels by flags ([001] 4.3, Figure 2), of which it has hundreds. Most
//! pairs that no run covers are out of reach for a plain reason: their flag is never set where they are
//! asked for, as a data-flow analysis of the program would say. Here the analysis is one of the
//! transitions. For each combination of the values of variables that have few ([`Values`]) it has the flags
//! that may be set, each for itself: the Cartesian abstraction (Ball, Podelski and Rajamani: *Boolean and
//! Cartesian Abstraction for Model Checking C Programs*, 2001), with states kept apart as by property
//! simulation (Das, Lerner and Seigle: *ESP: Path-Sensitive Program Verification in Polynomial Time*, 2002).
//!
//! The sets begin empty. A query asks for a transition that sets a flag which is not in the set where it
//! ends, until none does. So the sets are the least that all transitions preserve, and all goals share
//! them.
//!
//! **Invariant.** Each state that a transition leads to from a state of some combination with its flags is
//! one of a combination with its flags. A state may have several combinations. Then it counts for the one
//! that says most.

use std::collections::{BTreeMap, VecDeque};

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Sort, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::sampling::Samples;
use crate::engines::values::{Combination, Values, any_of, equal};
use crate::system::{GoalId, PointId, System};

/// How often it is tried to find the combinations of values, with time left, before the analysis begins
/// without.
const TRIES: usize = 4;

/// A combination of values at a point.
struct Flow {
    combination: Combination,
    /// By flag: whether it may be set.
    may: Vec<bool>,
    /// The transitions from there with these values; none before they are needed.
    steps: Option<Vec<FlowStep>>,
}

/// A transition from a combination of values.
#[derive(Clone)]
struct FlowStep {
    to: PointId,
    guard: Term,
    /// The next values of the watched variables.
    words: Vec<Term>,
    /// The next values of the flags.
    flags: Vec<Term>,
}

/// The analysis of one system.
pub(crate) struct Flags<'s> {
    system: &'s System,
    values: Values<'s>,
    /// The symbols of the watched variables.
    words: Vec<Term>,
    /// The symbols of the flags, and their positions among the variables.
    flags: Vec<(Term, usize)>,
    /// By point.
    flows: Vec<Vec<Flow>>,
    waiting: VecDeque<(usize, usize)>,
    tries: usize,
    has_begun: bool,
    evaluator: Evaluator,
}

impl<'s> Flags<'s> {
    /// An analysis that has not begun.
    pub(crate) fn new(pool: &TermPool, system: &'s System) -> Self {
        let symbols = system.symbols().enumerate();
        let flags = symbols.filter(|(_, symbol)| pool.sort(*symbol) == Sort::Bool);
        Self {
            system,
            values: Values::of_words(system),
            words: Vec::new(),
            flags: flags.map(|(at, symbol)| (symbol, at)).collect(),
            flows: Vec::new(),
            waiting: VecDeque::new(),
            tries: 0,
            has_begun: false,
            evaluator: Evaluator::new(),
        }
    }

    /// Whether there is a flag.
    pub(crate) fn are_some(&self) -> bool {
        !self.flags.is_empty()
    }

    /// Goes on with the analysis. Whether it is complete.
    pub(crate) fn work(&mut self, queries: &mut Queries<'_>, samples: &Samples<'_>) -> bool {
        if !self.has_begun {
            let none = vec![Vec::new(); self.system.points.len()];
            self.values.work(queries, samples, &none);
            // Where there was no time, the next round has more.
            self.tries += usize::from(!queries.expired());
            if !self.values.is_over() && self.tries < TRIES {
                return false;
            }
            self.begin();
        }
        while let Some((point, flow)) = self.waiting.front().copied() {
            if !self.look(queries, (point, flow)) {
                return false;
            }
            self.waiting.pop_front();
        }
        true
    }

    /// Begins with all combinations, and no flag set.
    fn begin(&mut self) {
        self.has_begun = true;
        self.words = self.values.symbols();
        let targets: FxHashSet<PointId> = self.system.transitions.iter().map(|t| t.to).collect();
        for point in self.system.points.ids() {
            let combinations = match (point == self.system.entry, self.words.is_empty()) {
                (false, false) => self.values.combinations(point),
                (is_entry, _) if is_entry || targets.contains(&point) => vec![Vec::new()],
                _ => Vec::new(),
            };
            let flow =
                |combination| Flow { combination, may: vec![false; self.flags.len()], steps: None };
            self.waiting.extend((0..combinations.len()).map(|flow| (point.index(), flow)));
            self.flows.push(combinations.into_iter().map(flow).collect());
        }
    }

    /// The watched variables' symbols with their values, and the flags that are not set.
    fn known(&self, pool: &mut TermPool, flow: &Flow) -> FxHashMap<Term, Term> {
        let mut known = self.values.constants(pool, &flow.combination);
        let unset = self.flags.iter().zip(&flow.may).filter(|(_, may)| !**may);
        let no = pool.ff();
        known.extend(unset.map(|((symbol, _), _)| (*symbol, no)));
        known
    }

    /// The transitions from a combination that its values allow.
    fn steps(&self, pool: &mut TermPool, (point, flow): (usize, usize)) -> Vec<FlowStep> {
        let position = |word: &Term| self.system.symbols().position(|symbol| symbol == *word);
        let words: Vec<usize> = self.words.iter().filter_map(position).collect();
        let mut known = self.values.constants(pool, &self.flows[point][flow].combination);
        let mut steps = Vec::new();
        for index in self.system.leaving(PointId::from_index(point)) {
            let transition = &self.system.transitions[index];
            let guard = pool.substituted(transition.guard, &mut known);
            if guard == pool.ff() {
                continue;
            }
            let mut next = |at: usize| pool.substituted(transition.next[at], &mut known);
            let flags = self.flags.iter().map(|(_, at)| next(*at)).collect();
            let words = words.iter().map(|at| next(*at)).collect();
            steps.push(FlowStep { to: transition.to, guard, words, flags });
        }
        steps
    }

    /// Finds the flags that transitions from a combination set. Whether the time was enough.
    fn look(&mut self, queries: &mut Queries<'_>, (point, flow): (usize, usize)) -> bool {
        let steps = match self.flows[point][flow].steps.take() {
            Some(steps) => steps,
            None => self.steps(queries.pool, (point, flow)),
        };
        let mut known = self.known(queries.pool, &self.flows[point][flow]);
        let is_done = steps.iter().all(|step| {
            let pool = &mut *queries.pool;
            let guard = pool.substituted(step.guard, &mut known);
            if guard == pool.ff() {
                return true;
            }
            let mut now = |term: &Term| pool.substituted(*term, &mut known);
            let flags = step.flags.iter().map(&mut now).collect();
            let words = step.words.iter().map(&mut now).collect();
            self.follow(queries, &FlowStep { to: step.to, guard, words, flags })
        });
        self.flows[point][flow].steps = Some(steps);
        is_done
    }

    /// Adds the flags that a transition sets. Whether the time was enough.
    fn follow(&mut self, queries: &mut Queries<'_>, step: &FlowStep) -> bool {
        let to = step.to.index();
        let mut query = vec![step.guard];
        for target in self.by_detail(to) {
            let flow = &self.flows[to][target];
            let (no, pool) = (queries.pool.ff(), &mut *queries.pool);
            let arrives = equal(pool, &step.words, &flow.combination);
            if arrives == no {
                continue;
            }
            let is_open = |flag: &usize| step.flags[*flag] != no && !flow.may[*flag];
            let mut open: Vec<usize> = (0..self.flags.len()).filter(is_open).collect();
            query.push(arrives);
            while !open.is_empty() {
                if queries.expired() {
                    return false;
                }
                let some = queries.pool.or_all(open.iter().map(|flag| step.flags[*flag]));
                query.push(some);
                let answer = queries.check(&query);
                query.pop();
                let set = match answer {
                    Answer::Unsat { .. } => break,
                    Answer::Sat(model) => {
                        let (evaluator, pool) = (&mut self.evaluator, &*queries.pool);
                        let holds =
                            |flag: &&usize| evaluator.holds(pool, &model, step.flags[**flag]);
                        let set: Vec<usize> = open.iter().filter(holds).copied().collect();
                        if set.is_empty() { open.clone() } else { set }
                    }
                    Answer::Unknown(_) if queries.expired() => return false,
                    Answer::Unknown(_) => open.clone(),
                };
                self.set((to, target), &set);
                open.retain(|flag| !set.contains(flag));
            }
            query.pop();
            let pool = &mut *queries.pool;
            query.push(pool.not(arrives));
            if arrives == pool.tt() {
                break;
            }
        }
        true
    }

    /// The combinations of a point, those that say most first.
    fn by_detail(&self, point: usize) -> Vec<usize> {
        let flows = &self.flows[point];
        let mut order: Vec<usize> = (0..flows.len()).collect();
        let open = |flow: &Flow| flow.combination.iter().filter(|value| value.is_none()).count();
        order.sort_by_key(|flow| open(&flows[*flow]));
        order
    }

    /// Notes that flags may be set in a combination.
    fn set(&mut self, (point, flow): (usize, usize), flags: &[usize]) {
        let may = &mut self.flows[point][flow].may;
        flags.iter().for_each(|flag| may[*flag] = true);
        // The first is being looked at.
        if !self.waiting.iter().skip(1).any(|known| *known == (point, flow)) {
            self.waiting.push_back((point, flow));
        }
    }

    /// The goals among some that the sets exclude from the states outside of the entry; none if there was
    /// no time for all.
    pub(crate) fn excluded(
        &self,
        queries: &mut Queries<'_>,
        mut goals: Vec<GoalId>,
    ) -> Option<Vec<GoalId>> {
        let system = self.system;
        for point in system.points.ids().filter(|point| *point != system.entry) {
            for flow in &self.flows[point.index()] {
                // Goals share most of their terms.
                let mut known = self.known(queries.pool, flow);
                goals.retain(|goal| {
                    if queries.expired() {
                        return false;
                    }
                    let approaches = system.goals[*goal].approaches.iter();
                    approaches.filter(|approach| approach.from == point).all(|approach| {
                        let condition = queries.pool.substituted(approach.condition, &mut known);
                        queries.contradict(&[condition])
                    })
                });
                if queries.expired() {
                    return None;
                }
            }
        }
        Some(goals)
    }

    /// The formulas that exclude goals: the combinations, each without the flags that are not set, of those
    /// on which the goals depend.
    pub(crate) fn formulas(&self, pool: &mut TermPool, goals: &[GoalId]) -> Invariants {
        let needed = self.needed_by(pool, goals);
        self.formulas_about(pool, &needed)
    }

    /// The flags on which goals depend.
    fn needed_by(&self, pool: &mut TermPool, goals: &[GoalId]) -> Vec<usize> {
        let approaches = goals.iter().flat_map(|goal| &self.system.goals[*goal].approaches);
        self.needed(pool, approaches.map(|approach| approach.condition).collect())
    }

    /// The formulas about each of the flags on which goals depend.
    pub(crate) fn single_formulas(&self, pool: &mut TermPool, goals: &[GoalId]) -> Vec<Invariants> {
        let all = self.needed_by(pool, goals);
        let mut found = Vec::new();
        for flag in all {
            let needed = self.needed(pool, vec![self.flags[flag].0]);
            found.push(self.formulas_about(pool, &needed));
        }
        found
    }

    fn formulas_about(&self, pool: &mut TermPool, flags: &[usize]) -> Invariants {
        let mut found = vec![Vec::new(); self.system.points.len()];
        for point in self.system.points.ids().filter(|point| *point != self.system.entry) {
            let mut alike: BTreeMap<Vec<usize>, Vec<&[Option<u64>]>> = BTreeMap::new();
            for flow in &self.flows[point.index()] {
                let unset = flags.iter().copied().filter(|flag| !flow.may[*flag]).collect();
                alike.entry(unset).or_default().push(&flow.combination);
            }
            let mut cases = Vec::new();
            for (unset, combinations) in alike {
                let mut all = vec![any_of(pool, &self.words, &combinations)];
                all.extend(unset.into_iter().map(|flag| pool.not(self.flags[flag].0)));
                cases.push(pool.and_all(all));
            }
            let formula = pool.or_all(cases);
            if formula != pool.tt() {
                found[point.index()].push(formula);
            }
        }
        found
    }

    /// The flags on which terms depend, and the transitions.
    fn needed(&self, pool: &mut TermPool, mut waiting: Vec<Term>) -> Vec<usize> {
        let numbers: FxHashMap<Term, usize> =
            self.flags.iter().enumerate().map(|(flag, (symbol, _))| (*symbol, flag)).collect();
        let words: FxHashSet<Term> = self.words.iter().copied().collect();
        let transitions = &self.system.transitions;
        waiting.extend(transitions.iter().map(|transition| transition.guard));
        for (at, symbol) in self.system.symbols().enumerate() {
            if words.contains(&symbol) {
                waiting.extend(transitions.iter().map(|transition| transition.next[at]));
            }
        }
        let mut needed = vec![false; self.flags.len()];
        while let Some(term) = waiting.pop() {
            for symbol in pool.vars_of(term).iter() {
                let Some(flag) = numbers.get(symbol) else { continue };
                if !std::mem::replace(&mut needed[*flag], true) {
                    let at = self.flags[*flag].1;
                    waiting.extend(transitions.iter().map(|transition| transition.next[at]));
                }
            }
        }
        (0..needed.len()).filter(|flag| needed[*flag]).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::certificate::{Argument, Certificate, Parameters};
    use crate::engines::testing::search::Reachable;
    use crate::engines::testing::{Fixture, Reluctant, random_slice, sliced, solver, system};

    /// The goals that a complete analysis excludes, with the formulas about all goals.
    fn found(
        fixture: &mut Fixture,
        solver: &mut dyn lydian_smt::Solver,
    ) -> (Vec<GoalId>, Invariants) {
        let goals = fixture.goals();
        let Fixture { pool, system } = fixture;
        let limits = Limits::none();
        let mut queries = Queries::new(pool, solver, &limits, Duration::from_secs(9));
        let mut samples = Samples::new(queries.pool, system);
        samples.run(&queries, 5, &[]);
        let mut flags = Flags::new(queries.pool, system);
        while !flags.work(&mut queries, &samples) {}
        let excluded = flags.excluded(&mut queries, goals.clone()).expect("there is time");
        (excluded, flags.formulas(queries.pool, &goals))
    }

    /// Asserts that runs are as an analysis says, and that its formulas are an argument for that.
    fn assert_right(
        fixture: &mut Fixture,
        reached: &Reachable,
        (excluded, formulas): &(Vec<GoalId>, Invariants),
    ) -> usize {
        reached.assert_hold(fixture, formulas);
        let Fixture { pool, system } = fixture;
        let certificate = Certificate {
            depth: 1,
            argument: Argument::Induction,
            invariants: formulas.clone(),
            parameters: Parameters::default(),
        };
        let (mut solver, limits, mut proved) = (solver(), Limits::none(), 0);
        for goal in excluded {
            let first = reached.goals.get(goal);
            assert!(first.is_none_or(|first| *first == 0), "{}", system.text(pool));
            if first.is_none() {
                let checked = certificate.check(pool, system, *goal, &mut solver, &limits);
                assert!(checked.is_ok(), "{checked:?}\n{}", system.text(pool));
                proved += 1;
            }
        }
        proved
    }

    #[test]
    fn goals_of_random_systems_that_are_excluded_are_not_reached_and_the_formulas_show_it() {
        let mut proved = 0;
        for seed in 8000..8300 {
            let (mut fixture, reached) = random_slice(seed);
            let result = found(&mut fixture, &mut solver());
            proved += assert_right(&mut fixture, &reached, &result);
        }
        assert!(proved > 60, "{proved}");
    }

    #[test]
    fn flags_count_as_set_where_a_solver_has_no_answer() {
        for seed in 8300..8400 {
            let (mut fixture, reached) = random_slice(seed);
            let result = found(&mut fixture, &mut Reluctant::new(seed));
            reached.assert_hold(&fixture, &result.1);
            for goal in &result.0 {
                assert!(reached.goals.get(goal).is_none_or(|first| *first == 0), "seed {seed}");
            }
        }
    }

    #[test]
    fn a_state_machine_that_begins_anywhere_has_flags_by_its_states() {
        let text = "vars s
            flags f
            inputs a
            p0 -> p1: s := a, f := false
            p1 -> p1 if s == 1: s := 2, f := true
            p1 -> p1 if s == 2: s := 3
            p1 -> p1 if s == 3: s := 4, f := false
            p1 -> !two if s == 2 && f
            p1 -> !four if s == 4 && f
            p1 -> !one if s == 1 && f";
        let (mut fixture, reached) = sliced(system(4, text));
        let result = found(&mut fixture, &mut solver());
        let names: Vec<&str> =
            result.0.iter().map(|goal| fixture.system.goals[*goal].name.as_str()).collect();
        assert_eq!(names, ["four", "one"]);
        assert_eq!(assert_right(&mut fixture, &reached, &result), 2);
    }
}
