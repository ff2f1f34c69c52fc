//! Proofs by formulas over predicates that are found backwards from the goals.
//!
//! IC3 (Bradley: *SAT-Based Model Checking without Unrolling*, 2011) with implicit predicate abstraction
//! (Cimatti, Griggio, Mover and Tonetta: *IC3 Modulo Theories via Implicit Predicate Abstraction*,
//! 2014), with frames for each point of the graph (Lange, Neuhäußer and Noll: *IC3 Software Model
//! Checking on Control Flow Automata*, 2015).
//!
//! A cube says of each predicate whether it holds. It stands for all states of which it is true. From a
//! state that reaches the goal its cube becomes an obligation: no run of so many transitions may come
//! there. A cube that no cube before it leads to gives a lemma. Cubes all the way from the entry are a
//! counterexample, which the program may have or not. If it has not, the conditions along it are
//! followed back by weakest preconditions, and their atoms are the next predicates.
//!
//! The entry has no frames. Its states are known, so a transition from there either leads into a cube or
//! does not.

mod frames;
mod predicates;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Model, Term, TermPool};

use crate::engines::invariants::Invariants;
use crate::engines::queries::Queries;
use crate::engines::refinement::frames::{Block, Cube, Frames};
use crate::engines::refinement::predicates::Predicates;
use crate::engines::stage::Inputs;
use crate::engines::trace::{Choice, Course, Step};
use crate::system::{GoalId, PointId, System};

/// The most obligations of one level of one goal.
const MOST_OBLIGATIONS: usize = 20_000;

/// The result of some work on a goal.
pub(crate) enum Outcome {
    /// This run reaches it.
    Reached(Course),
    /// These formulas are inductive with the invariants, and exclude it.
    Unreachable(Invariants),
    /// Neither yet.
    Open,
}

/// A cube that no run may come to within so many transitions.
struct Obligation {
    point: PointId,
    cube: Cube,
    level: usize,
    /// The way on from its states: a transition to those of another obligation, or an approach.
    way: Choice,
    /// The obligation where the transition leads.
    after: Option<usize>,
}

/// The end of the work on one level.
enum LevelEnd {
    /// The goal is out of reach within the level.
    Blocked,
    /// Ways from the entry to the goal through cubes.
    Counterexample(Vec<Choice>),
    /// Out of time, or a query had no answer.
    Stopped,
}

/// Frames and predicates, which all goals share.
pub(crate) struct Refinement<'s> {
    system: &'s System,
    frames: Frames<'s>,
    predicates: Predicates,
    inputs: Inputs,
    /// By goal: the level that is worked on.
    levels: Vec<usize>,
    /// By goal: whether no further predicate was found.
    stuck: Vec<bool>,
}

impl<'s> Refinement<'s> {
    /// No lemmas yet, and the predicates of guards and approaches.
    pub(crate) fn new(pool: &mut TermPool, system: &'s System) -> Self {
        Self {
            system,
            frames: Frames::new(system),
            predicates: Predicates::new(pool, system),
            inputs: Inputs::new(pool, system),
            levels: vec![1; system.goals.len()],
            stuck: vec![false; system.goals.len()],
        }
    }

    /// Whether more time may help with a goal.
    pub(crate) fn is_stuck(&self, goal: GoalId) -> bool {
        self.stuck[goal.index()]
    }

    /// Works on a goal until it is decided or the time is over. All runs satisfy the invariants.
    pub(crate) fn work(
        &mut self,
        queries: &mut Queries<'_>,
        goal: GoalId,
        invariants: &Invariants,
    ) -> Outcome {
        self.frames.assume(invariants);
        while !queries.expired() && !self.stuck[goal.index()] {
            let level = self.levels[goal.index()];
            match self.block_level(queries, goal, level) {
                LevelEnd::Blocked => {
                    if let Some(lemmas) = self.frames.propagate(queries, level) {
                        return Outcome::Unreachable(lemmas);
                    }
                    self.levels[goal.index()] += 1;
                }
                LevelEnd::Counterexample(ways) => match self.concrete(queries, goal, &ways) {
                    Some(course) => return Outcome::Reached(course),
                    None if queries.expired() => return Outcome::Open,
                    None => {}
                },
                LevelEnd::Stopped => return Outcome::Open,
            }
        }
        Outcome::Open
    }

    /// Excludes the goal within a number of transitions.
    fn block_level(&mut self, queries: &mut Queries<'_>, goal: GoalId, level: usize) -> LevelEnd {
        for (index, approach) in self.system.goals[goal].approaches.iter().enumerate() {
            loop {
                if queries.expired() {
                    return LevelEnd::Stopped;
                }
                let mut query = self.frames.premises(queries.pool, approach.from, level);
                query.push(approach.condition);
                let model = match queries.check(&query) {
                    Answer::Unsat { .. } => break,
                    Answer::Sat(model) => model,
                    Answer::Unknown(_) => return LevelEnd::Stopped,
                };
                if approach.from == self.system.entry {
                    return LevelEnd::Counterexample(vec![Choice::Approach(index)]);
                }
                let cube = self.predicates.cube(queries.pool, &model);
                let way = Choice::Approach(index);
                let first = Obligation { point: approach.from, cube, level, way, after: None };
                match self.discharge(queries, first, level) {
                    LevelEnd::Blocked => {}
                    end => return end,
                }
            }
        }
        LevelEnd::Blocked
    }

    /// Blocks an obligation, and those that it depends on.
    fn discharge(
        &mut self,
        queries: &mut Queries<'_>,
        first: Obligation,
        frontier: usize,
    ) -> LevelEnd {
        let mut all = vec![first];
        let mut open = vec![0];
        while let Some(position) = lowest(&all, &open) {
            if queries.expired() || all.len() > MOST_OBLIGATIONS {
                return LevelEnd::Stopped;
            }
            let at = open[position];
            let (point, cube, level) = (all[at].point, all[at].cube.clone(), all[at].level);
            if self.frames.is_blocked(point, &cube, level) {
                open.swap_remove(position);
                continue;
            }
            match self.frames.block(queries, point, &cube, level) {
                Block::Blocked(cube) => {
                    self.frames.learn(queries, point, cube, (level, frontier));
                    open.swap_remove(position);
                }
                Block::From(transition, model) => {
                    let from = self.system.transitions[transition].from;
                    let way = Choice::Transition(transition);
                    if from == self.system.entry {
                        return LevelEnd::Counterexample(ways(&all, at, way));
                    }
                    let cube = self.predicates.cube(queries.pool, &model);
                    let (level, after) = (level - 1, Some(at));
                    open.push(all.len());
                    all.push(Obligation { point: from, cube, level, way, after });
                }
                Block::Unknown => return LevelEnd::Stopped,
            }
        }
        LevelEnd::Blocked
    }

    /// The run along some ways, if there is one; else takes new predicates from them.
    fn concrete(
        &mut self,
        queries: &mut Queries<'_>,
        goal: GoalId,
        ways: &[Choice],
    ) -> Option<Course> {
        let pool = &mut *queries.pool;
        let mut state: Vec<Term> = self.system.symbols().collect();
        let mut conditions = Vec::new();
        for (number, way) in ways.iter().enumerate() {
            let mut stage = self.inputs.stage(pool, self.system, &state, number);
            match *way {
                Choice::Transition(index) => {
                    let transition = &self.system.transitions[index];
                    conditions.push(stage.of(pool, transition.guard));
                    state = transition.next.iter().map(|term| stage.of(pool, *term)).collect();
                }
                Choice::Approach(index) => {
                    let approach = &self.system.goals[goal].approaches[index];
                    conditions.push(stage.of(pool, approach.condition));
                }
            }
        }
        match queries.check(&conditions) {
            Answer::Sat(model) => Some(self.course(queries.pool, ways, &model)),
            Answer::Unsat { core } => {
                let is_in =
                    |condition: &Term| core.as_ref().is_none_or(|core| core.contains(condition));
                let contradicting: Vec<bool> = conditions.iter().map(is_in).collect();
                let found =
                    self.predicates.refine(queries.pool, self.system, goal, ways, &contradicting);
                self.stuck[goal.index()] |= !found;
                None
            }
            Answer::Unknown(_) => {
                self.stuck[goal.index()] = true;
                None
            }
        }
    }

    fn course(&mut self, pool: &mut TermPool, ways: &[Choice], model: &Model) -> Course {
        let mut evaluator = Evaluator::new();
        let mut steps = Vec::new();
        for (number, choice) in ways.iter().enumerate() {
            let values = self.inputs.values(pool, &mut evaluator, model, number);
            steps.push(Step { choice: *choice, values });
        }
        Course { initial: Model::new(), steps }
    }
}

/// The position of an open obligation of the lowest level, the newest of these.
fn lowest(all: &[Obligation], open: &[usize]) -> Option<usize> {
    let by_level = |position: &usize| (all[open[*position]].level, usize::MAX - open[*position]);
    (0..open.len()).min_by_key(by_level)
}

/// The ways from the entry to the goal, through an obligation that the first way leads to.
fn ways(all: &[Obligation], at: usize, first: Choice) -> Vec<Choice> {
    let mut ways = vec![first];
    let mut next = Some(at);
    while let Some(at) = next {
        ways.push(all[at].way);
        next = all[at].after;
    }
    ways
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::certificate::Argument;
    use crate::engines::slicing::Slice;
    use crate::engines::testing::search::reachable;
    use crate::engines::testing::{Fixture, random, solver, system};

    /// Whether refinement alone reaches each goal, where it finds out. Its result is confirmed.
    fn decided(fixture: &mut Fixture) -> Vec<Option<bool>> {
        let goals = fixture.goals();
        let Fixture { pool, system } = fixture;
        let mut solver = solver();
        let slice = Slice::new(pool, system, &goals);
        let limits = Limits::none();
        let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(5));
        let mut refinement = Refinement::new(queries.pool, &slice.system);
        let none = vec![Vec::new(); system.points.len()];
        let mut outcomes = Vec::new();
        for (ours, theirs) in slice.system.goals.ids().zip(&goals) {
            let mut queries = queries.within(Duration::from_secs(2));
            let outcome = refinement.work(&mut queries, ours, &none);
            outcomes.push((*theirs, ours, outcome));
        }
        let mut found = Vec::new();
        for (goal, ours, outcome) in outcomes {
            found.push(match outcome {
                Outcome::Reached(course) => {
                    let course = slice.course_of_whole(pool, &course, ours).unwrap();
                    assert!(course.replayed(pool, system, goal).is_some());
                    Some(true)
                }
                Outcome::Unreachable(lemmas) => {
                    let certificate = slice.certificate(1, Argument::Induction, &lemmas);
                    let checked = certificate.check(pool, system, goal, &mut solver, &limits);
                    assert!(checked.is_ok(), "{checked:?}");
                    Some(false)
                }
                Outcome::Open => None,
            });
        }
        found
    }

    #[test]
    fn refinement_alone_agrees_with_a_search_of_all_states_on_random_systems() {
        let mut open = 0;
        for seed in 1000..1300 {
            let mut fixture = random(seed);
            let reached = reachable(&mut fixture).goals;
            for (goal, found) in fixture.goals().into_iter().zip(decided(&mut fixture)) {
                match found {
                    Some(found) => assert_eq!(found, reached.contains_key(&goal), "seed {seed}"),
                    None => open += 1,
                }
            }
        }
        assert!(open < 60, "{open} of 600 are open");
    }

    #[test]
    fn a_loop_with_two_phases_is_refuted_by_predicates() {
        let mut fixture = system(
            32,
            "vars l o m
             inputs a
             start l = 0, o = 0, m = 0
             p0 -> p1
             p1 -> p1 if l == 0 && a == 1: l := 1, o := m
             p1 -> p1 if l == 1 && a == 2: l := 0, m := m + 1
             p1 -> !bad if l == 1 && o != m",
        );
        assert_eq!(decided(&mut fixture), [Some(false)]);
    }
}
