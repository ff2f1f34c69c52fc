//! Single runs with chosen values: states that are seen at each point, and goals that are reached by
//! chance.
//!
//! The values of inputs are small numbers, borders of the type, constants of the system and their
//! neighbours, and random ones. A step tries some values until a guard holds.

use lydian_base::{EntityId as _, Rng};
use lydian_smt::{Evaluator, Model, Node, Term, TermPool, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::queries::Queries;
use crate::engines::stage::{Inputs, subterms};
use crate::engines::trace::{Choice, Course, Step};
use crate::samples::value_of;
use crate::system::{GoalId, PointId, System, Transition};

/// The most states that are kept of a point.
const MOST_STATES: usize = 200;
/// The most further states that are kept of a point, from far ahead.
const MOST_DEEP_STATES: usize = 60;
/// The most steps of a run.
const MOST_STEPS: usize = 64;
/// The most tries of a step with other values.
const TRIES: usize = 8;
/// The most constants that inputs may have.
const MOST_CONSTANTS: usize = 64;

/// A state at a point.
pub(crate) type State = Vec<Value>;

/// States that runs have at each point.
pub(crate) struct Samples<'s> {
    system: &'s System,
    inputs: Inputs,
    /// By point: the states, none twice.
    states: Vec<Vec<State>>,
    seen: Vec<FxHashSet<Vec<u64>>>,
    constants: Vec<u64>,
    rng: Rng,
    evaluator: Evaluator,
}

impl<'s> Samples<'s> {
    /// No states yet.
    pub(crate) fn new(pool: &mut TermPool, system: &'s System) -> Self {
        let count = system.points.len();
        Self {
            system,
            inputs: Inputs::new(pool, system),
            states: vec![Vec::new(); count],
            seen: vec![FxHashSet::default(); count],
            constants: constants(pool, system),
            rng: Rng::new(1),
            evaluator: Evaluator::new(),
        }
    }

    /// The states of a point.
    pub(crate) fn of(&self, point: PointId) -> &[State] {
        &self.states[point.index()]
    }

    /// The constants of the system's terms.
    pub(crate) fn constants(&self) -> &[u64] {
        &self.constants
    }

    /// Follows some runs from the entry, and gives runs to goals among those that are not decided.
    pub(crate) fn run(
        &mut self,
        queries: &Queries<'_>,
        count: usize,
        open: &[GoalId],
    ) -> Vec<(GoalId, Course)> {
        let mut found: FxHashMap<GoalId, Course> = FxHashMap::default();
        for _ in 0..count {
            if queries.expired() {
                break;
            }
            let left: Vec<GoalId> =
                open.iter().copied().filter(|goal| !found.contains_key(goal)).collect();
            for (goal, course) in self.run_once(queries.pool, &left) {
                found.entry(goal).or_insert(course);
            }
        }
        let mut found: Vec<(GoalId, Course)> = found.into_iter().collect();
        found.sort_by_key(|(goal, _)| *goal);
        found
    }

    fn run_once(&mut self, pool: &TermPool, open: &[GoalId]) -> Vec<(GoalId, Course)> {
        let mut found = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
        let mut point = self.system.entry;
        let mut state: State = Vec::new();
        let kind = self.rng.below(4);
        for _ in 0..MOST_STEPS {
            let mut taken = None;
            for _ in 0..TRIES {
                let values = self.values(pool, &state, kind);
                self.reach(pool, (point, &values), &steps, open, &mut found);
                taken = self.taken(pool, point, &values).map(|index| (index, values));
                if taken.is_some() {
                    break;
                }
            }
            let Some((index, values)) = taken else { break };
            let transition = &self.system.transitions[index];
            let next = transition.next.iter();
            state = next.map(|term| self.evaluator.eval(pool, &values, *term)).collect();
            steps.push(Step { choice: Choice::Transition(index), values });
            point = transition.to;
            self.keep(point, &state);
        }
        found
    }

    /// Notes the goals that a step with these values reaches.
    fn reach(
        &mut self,
        pool: &TermPool,
        (point, values): (PointId, &Model),
        steps: &[Step],
        open: &[GoalId],
        found: &mut Vec<(GoalId, Course)>,
    ) {
        for goal in open {
            if found.iter().any(|(known, _)| known == goal) {
                continue;
            }
            for (at, approach) in self.system.goals[*goal].approaches.iter().enumerate() {
                if approach.from == point && self.evaluator.holds(pool, values, approach.condition)
                {
                    let last = Step { choice: Choice::Approach(at), values: values.clone() };
                    let steps = steps.iter().cloned().chain([last]).collect();
                    found.push((*goal, Course { initial: Model::new(), steps }));
                    break;
                }
            }
        }
    }

    /// A transition that these values take.
    fn taken(&mut self, pool: &TermPool, point: PointId, values: &Model) -> Option<usize> {
        let own: Vec<usize> = self.system.leaving(point).collect();
        let first = self.rng.below(own.len().max(1) as u64) as usize;
        let mut turned = own.iter().cycle().skip(first).take(own.len());
        let mut holds = |index: &usize| {
            self.evaluator.holds(pool, values, self.system.transitions[*index].guard)
        };
        turned.by_ref().copied().find(|index| holds(index))
    }

    /// A state with values for all inputs.
    pub(crate) fn values(&mut self, pool: &TermPool, state: &State, kind: u64) -> Model {
        let mut values = Vec::new();
        for at in 0..self.inputs.own().len() {
            let input = self.inputs.own()[at];
            let number = self.number(pool.width(input), kind);
            values.push((input, value_of(pool.sort(input), number)));
        }
        let symbols = self.system.symbols();
        values.extend(symbols.zip(state.iter().cloned()));
        Model::from_values(values)
    }

    /// A number for an input. Runs of one kind have numbers of one size.
    fn number(&mut self, width: u32, kind: u64) -> u64 {
        let some = self.rng.next_u64();
        let kind = if self.rng.below(4) == 0 { self.rng.below(6) } else { kind };
        match kind {
            0 => some % 4,
            1 => some % 20,
            2 if !self.constants.is_empty() => {
                let constant = self.constants[(some >> 8) as usize % self.constants.len()];
                constant.wrapping_add(some % 3).wrapping_sub(1)
            }
            3 => (some % 20).wrapping_neg(),
            4 => (1u64 << (width.clamp(1, 64) - 1)).wrapping_sub(some & 1),
            _ => some,
        }
    }

    /// Keeps a state of a point, if it is new.
    pub(crate) fn keep(&mut self, point: PointId, state: &State) {
        self.keep_up_to(point, state, MOST_STATES);
    }

    fn keep_up_to(&mut self, point: PointId, state: &State, most: usize) {
        let at = point.index();
        if self.states[at].len() < most && self.seen[at].insert(fingerprint(state)) {
            self.states[at].push(state.clone());
        }
    }

    /// Keeps the states of a run that another engine found, from the inputs of its steps.
    pub(crate) fn keep_run(&mut self, pool: &TermPool, steps: &[Step]) {
        self.keep_states(pool, (self.system, steps), MOST_STATES);
    }

    /// The same for a run far from the entry, in a system with more transitions.
    pub(crate) fn keep_deep_run(&mut self, pool: &TermPool, run: (&System, &[Step])) {
        self.keep_states(pool, run, MOST_STATES + MOST_DEEP_STATES);
    }

    fn keep_states(&mut self, pool: &TermPool, (system, steps): (&System, &[Step]), most: usize) {
        let symbols: Vec<Term> = system.symbols().collect();
        let mut state: State = Vec::new();
        for step in steps {
            let Choice::Transition(index) = step.choice else { continue };
            let Some(transition) = system.transitions.get(index) else { continue };
            let values = step.values.with(symbols.iter().copied().zip(state.iter().cloned()));
            let next = transition.next.iter();
            state = next.map(|term| self.evaluator.eval(pool, &values, *term)).collect();
            self.keep_up_to(transition.to, &state, most);
        }
    }

    /// The states of a point as values of the system's variables.
    pub(crate) fn models(&self, point: PointId) -> Vec<Model> {
        let symbols: Vec<Term> = self.system.symbols().collect();
        let model = |state: &State| {
            Model::from_values(symbols.iter().copied().zip(state.clone()).collect())
        };
        self.of(point).iter().map(model).collect()
    }
}

/// Numbers that tell most states apart.
pub(crate) fn fingerprint(state: &State) -> Vec<u64> {
    let of = |value: &Value| match value {
        Value::Array(array) => {
            let mix = |sum: u64, (at, value): (&u64, &u64)| {
                (sum ^ at.wrapping_mul(31) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            };
            array.elements.iter().fold(array.default, mix)
        }
        value => value.to_wide().map_or(0, |bits| bits.low_u64()),
    };
    state.iter().map(of).collect()
}

/// The constants in a system's guards, values and approaches, signed, smallest first.
fn constants(pool: &TermPool, system: &System) -> Vec<u64> {
    let transitions = system.transitions.iter().flat_map(Transition::terms);
    let conditions = system.approaches().map(|approach| approach.condition);
    let all = subterms(pool, transitions.chain(conditions)).into_iter();
    let words = all.filter(|term| matches!(pool.node(*term), Node::Bits(_)));
    let found: FxHashSet<i64> = words.filter_map(|term| pool.as_i64(term)).collect();
    let mut found: Vec<i64> = found.into_iter().collect();
    found.sort_by_key(|number| (number.unsigned_abs(), *number));
    found.truncate(MOST_CONSTANTS);
    found.into_iter().map(|number| number as u64).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::testing::search::bits;
    use crate::engines::testing::{Fixture, random_slice, solver};

    #[test]
    fn states_that_are_seen_are_reachable_and_many_reachable_ones_are_seen() {
        let (mut all, mut seen) = (0, 0);
        for seed in 5000..5100 {
            let (mut fixture, reached) = random_slice(seed);
            let goals = fixture.goals();
            let Fixture { pool, system } = &mut fixture;
            let (mut solver, limits) = (solver(), Limits::none());
            let queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
            let mut samples = Samples::new(queries.pool, system);
            for (goal, course) in samples.run(&queries, 40, &goals) {
                assert!(course.replayed(queries.pool, system, goal).is_some());
            }
            all += reached.states.iter().filter(|(point, _)| *point != system.entry).count();
            for point in system.points.ids() {
                for state in samples.of(point) {
                    let state = state.iter().map(bits).collect();
                    assert!(reached.states.contains(&(point, state)), "seed {seed}");
                    seen += 1;
                }
            }
        }
        assert!(seen * 3 > all, "{seen} of {all}");
    }
}
