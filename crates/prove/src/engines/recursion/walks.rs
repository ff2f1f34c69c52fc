//! Runs of a system with chosen values, in which a recursive call gives what its function does.
//!
//! An activation is a walk from the point where its function is entered to the one where it returns. What
//! activations give is remembered, so that a function is evaluated once for each state at its entry.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lydian_base::Rng;
use lydian_smt::{Evaluator, Model, Term, TermPool, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::queries::Queries;
use crate::engines::recursion::contracts::Recursive;
use crate::engines::sampling::{Samples, State, fingerprint};
use crate::engines::trace::{Choice, Course, Step, Trace};
use crate::system::{GoalId, PointId, RecursiveCall};

/// The most calls within one another.
const MOST_DEPTH: usize = 120;
/// The most transitions of a run, those of all its activations.
const MOST_STEPS: usize = 4_000;
/// The most tries of a step with other values.
const TRIES: usize = 4;
/// The most activations of which the results are remembered.
const MOST_RESULTS: usize = 100_000;

/// The time for an opinion about a trace.
const OPINION: Duration = Duration::from_millis(300);

/// What a walk says of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opinion {
    /// Each call gives what its function does.
    Confirmed,
    /// Some call gives something else.
    Refuted,
    /// A call is too deep, or has no end.
    Open,
}

/// Walks, and the states that were seen on them.
pub(crate) struct Walks<'s> {
    recursive: Recursive<'s>,
    pub(crate) samples: Samples<'s>,
    /// The position of each variable.
    positions: FxHashMap<Term, usize>,
    exits: FxHashSet<PointId>,
    enters: FxHashSet<PointId>,
    results: FxHashMap<(PointId, Vec<u64>), State>,
    evaluator: Evaluator,
    rng: Rng,
    kind: u64,
    steps: usize,
    /// When walks end.
    end: Instant,
    /// The steps of the run to where the walk is, without those of calls that returned.
    path: Vec<Step>,
    /// Whether the walk begins at the entry.
    from_entry: bool,
    /// The first run that was seen to each goal.
    reached: BTreeMap<GoalId, Course>,
}

impl<'s> Walks<'s> {
    /// No walks yet.
    pub(crate) fn new(pool: &mut TermPool, recursive: Recursive<'s>) -> Self {
        let symbols = recursive.system.symbols().enumerate();
        Self {
            recursive,
            samples: Samples::new(pool, recursive.system),
            positions: symbols.map(|(at, symbol)| (symbol, at)).collect(),
            exits: recursive.calls.iter().filter_map(|call| call.exit).collect(),
            enters: recursive.calls.iter().filter_map(|call| call.enter).collect(),
            results: FxHashMap::default(),
            evaluator: Evaluator::new(),
            rng: Rng::new(7),
            kind: 0,
            steps: 0,
            end: Instant::now(),
            path: Vec::new(),
            from_entry: false,
            reached: BTreeMap::new(),
        }
    }

    /// A run to a goal that was seen.
    pub(crate) fn run_to(&self, goal: GoalId) -> Option<&Course> {
        self.reached.get(&goal)
    }

    /// The points of return.
    pub(crate) fn exits(&self) -> &FxHashSet<PointId> {
        &self.exits
    }

    /// The points where functions are entered.
    pub(crate) fn enters(&self) -> &FxHashSet<PointId> {
        &self.enters
    }

    /// Walks so many times from the entry, in some time.
    pub(crate) fn run(&mut self, queries: &Queries<'_>, count: usize, time: Duration) {
        self.end = Instant::now() + time;
        for number in 0..count as u64 {
            if queries.expired() || Instant::now() >= self.end {
                return;
            }
            // Small numbers first: with others recursion may be deep.
            self.kind = if number % 3 == 2 { self.rng.below(5) } else { number % 2 };
            self.steps = 0;
            self.path.clear();
            self.from_entry = true;
            self.finish(queries.pool, self.recursive.system.entry, Vec::new(), 0);
        }
    }

    /// Goes on from a state until the activation returns.
    fn finish(
        &mut self,
        pool: &TermPool,
        mut point: PointId,
        mut state: State,
        depth: usize,
    ) -> Option<State> {
        while self.steps < MOST_STEPS && Instant::now() < self.end {
            self.steps += 1;
            let (index, values) =
                (0..TRIES).find_map(|_| self.step(pool, (point, &state), depth))?;
            let transition = &self.recursive.system.transitions[index];
            state = self.all(pool, &values, &transition.next);
            point = transition.to;
            self.path.push(Step { choice: Choice::Transition(index), values });
            self.samples.keep(point, &state);
            if self.exits.contains(&point) {
                return Some(state);
            }
        }
        None
    }

    fn all(&mut self, pool: &TermPool, values: &Model, terms: &[Term]) -> State {
        terms.iter().map(|term| self.evaluator.eval(pool, values, *term)).collect()
    }

    /// A transition from a state that enters no function, with the values of a step; none if these
    /// allow no such transition.
    fn step(
        &mut self,
        pool: &TermPool,
        (point, state): (PointId, &State),
        depth: usize,
    ) -> Option<(usize, Model)> {
        let values = self.samples.values(pool, state, self.kind);
        let mut values = self.before_calls(point, &values);
        for call in self.recursive.calls_from(point) {
            if self.evaluator.holds(pool, &values, call.condition) {
                let result = self.call(pool, &values, call, depth)?;
                values = self.returned(pool, &values, call, &result);
            }
        }
        self.note_goals(pool, point, &values);
        Some((self.taken(pool, point, &values, None)?, values))
    }

    /// Notes the goals that a step with some values reaches.
    fn note_goals(&mut self, pool: &TermPool, point: PointId, values: &Model) {
        for (goal, content) in self.recursive.system.goals.iter() {
            if !self.from_entry || self.reached.contains_key(&goal) {
                continue;
            }
            let mut ways = content.approaches.iter();
            let way = ways.position(|way| {
                way.from == point && self.evaluator.holds(pool, values, way.condition)
            });
            if let Some(way) = way {
                let last = Step { choice: Choice::Approach(way), values: values.clone() };
                let steps = self.path.iter().cloned().chain([last]).collect();
                self.reached.insert(goal, Course { initial: Model::new(), steps });
            }
        }
    }

    /// A transition that holds with some values: one to a given point, or else one that enters no function.
    fn taken(
        &mut self,
        pool: &TermPool,
        from: PointId,
        values: &Model,
        to: Option<PointId>,
    ) -> Option<usize> {
        let system = self.recursive.system;
        system.leaving(from).find(|index| {
            let transition = &system.transitions[*index];
            let is_wanted = match to {
                Some(to) => transition.to == to,
                None => !self.enters.contains(&transition.to),
            };
            is_wanted && self.evaluator.holds(pool, values, transition.guard)
        })
    }

    /// The state where a call returns.
    fn call(
        &mut self,
        pool: &TermPool,
        values: &Model,
        call: &RecursiveCall,
        depth: usize,
    ) -> Option<State> {
        let enter = call.enter?;
        let index = self.taken(pool, call.from, values, Some(enter))?;
        let transition = &self.recursive.system.transitions[index];
        let state = self.all(pool, values, &transition.next);
        self.samples.keep(enter, &state);
        let key = (enter, fingerprint(&state));
        if let Some(known) = self.results.get(&key) {
            return Some(known.clone());
        }
        if depth >= MOST_DEPTH {
            return None;
        }
        let before = self.path.len();
        self.path.push(Step { choice: Choice::Transition(index), values: values.clone() });
        let result = self.finish(pool, enter, state, depth + 1);
        self.path.truncate(before);
        let result = result?;
        if self.results.len() < MOST_RESULTS {
            self.results.insert(key, result.clone());
        }
        Some(result)
    }

    /// The values of a step where no call from its point has returned yet.
    fn before_calls(&self, point: PointId, values: &Model) -> Model {
        let calls = self.recursive.calls_from(point);
        values.with(calls.map(|call| (call.returns, truth(false))))
    }

    /// The values behind a call that gave a state.
    fn returned(
        &self,
        pool: &TermPool,
        values: &Model,
        call: &RecursiveCall,
        result: &State,
    ) -> Model {
        let after = call.values[call.given..].iter();
        let after = after.filter(|(_, term)| pool.var_name(*term).is_some());
        let after =
            after.filter_map(|(symbol, term)| Some((*term, self.of(result, *symbol)?.clone())));
        values.with(after.chain([(call.returns, truth(true))]))
    }

    /// The value of a variable in a state.
    fn of<'v>(&self, state: &'v State, symbol: Term) -> Option<&'v Value> {
        state.get(*self.positions.get(&symbol)?)
    }

    /// Whether the calls in a trace give what their functions do.
    pub(crate) fn opinion(&mut self, pool: &TermPool, goal: GoalId, trace: &Trace) -> Opinion {
        let mut opinion = Opinion::Confirmed;
        self.steps = 0;
        self.end = Instant::now() + OPINION;
        self.from_entry = false;
        for step in &trace.steps {
            match self.opinion_of_step(pool, goal, step) {
                Opinion::Refuted => return Opinion::Refuted,
                Opinion::Open => opinion = Opinion::Open,
                Opinion::Confirmed => {}
            }
        }
        opinion
    }

    fn opinion_of_step(&mut self, pool: &TermPool, goal: GoalId, step: &Step) -> Opinion {
        let system = self.recursive.system;
        let point = match step.choice {
            Choice::Transition(index) => system.transitions[index].from,
            Choice::Approach(index) => system.goals[goal].approaches[index].from,
        };
        let mut values = self.before_calls(point, &step.values);
        for call in self.recursive.calls_from(point) {
            if !self.evaluator.holds(pool, &values, call.condition)
                || !self.evaluator.holds(pool, &step.values, call.returns)
            {
                continue;
            }
            let Some(result) = self.call(pool, &values, call, 0) else { return Opinion::Open };
            for (symbol, term) in &call.values[call.given..] {
                let claimed = self.evaluator.eval(pool, &step.values, *term);
                if self.of(&result, *symbol).is_some_and(|value| *value != claimed) {
                    return Opinion::Refuted;
                }
            }
            values = self.returned(pool, &values, call, &result);
        }
        Opinion::Confirmed
    }
}

fn truth(holds: bool) -> Value {
    Value::from_u64(lydian_smt::Sort::Bool, u64::from(holds))
}
