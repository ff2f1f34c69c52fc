//! All runs of a system at once, one transition after the other.
//!
//! Bounded model checking after Clarke, Biere, Raimi and Zhu (*Bounded Model Checking Using
//! Satisfiability Solving*, 2001). A layer has the states after so many transitions. It keeps one
//! condition and one state for each point, where the states from several transitions are merged, so
//! that its size is linear in the number of transitions.
//!
//! A run is at one point of a layer. So all transitions from a layer share the symbols of their inputs.
//! Where transitions from one point do not exclude one another, symbols of the layer choose one of
//! them. Then each assignment of all symbols is at most one run.
//!
//! A layer that no run reaches ends the unrolling: it has shown all runs.

use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Model, Sort, Term, TermPool};
use rustc_hash::FxHashSet;

use crate::engines::queries::Queries;
use crate::engines::stage::{Inputs, Stage, conjuncts};
use crate::engines::trace::{Choice, Course, Step};
use crate::system::{GoalId, PointId, System};

/// The most transitions from one point that are compared with one another.
const MOST_COMPARED: usize = 12;
/// The time for the comparison of two transitions.
const COMPARISON: Duration = Duration::from_millis(20);

/// The runs that are at a point after so many transitions.
#[derive(Clone)]
struct Arrival {
    /// Whether the run is one of them.
    guard: Term,
    /// The state there, with the inputs of the layer.
    stage: Stage,
}

/// The states after so many transitions, by point.
struct Layer {
    arrivals: Vec<Option<Arrival>>,
}

/// The first layers of a system.
pub(crate) struct Unrolling<'s> {
    system: &'s System,
    inputs: Inputs,
    layers: Vec<Layer>,
    /// By transition and layer: whether it is chosen among those from its point.
    chosen: Vec<Vec<Term>>,
    /// By point: whether at most one of its transitions is possible for given symbols.
    exclusive: Vec<bool>,
    /// Terms that hold on every run.
    assumed: Vec<Term>,
    /// Formulas that hold at each point, if known.
    invariants: Vec<Vec<Term>>,
}

impl<'s> Unrolling<'s> {
    /// Runs from the entry.
    pub(crate) fn from_entry(queries: &mut Queries<'_>, system: &'s System) -> Self {
        let mut unrolling = Self::empty(queries, system);
        let pool = &mut *queries.pool;
        let symbols: Vec<Term> = system.symbols().collect();
        let mut start = unrolling.inputs.stage(pool, system, &symbols, 0);
        let initial: Vec<Term> = system.initial.iter().map(|term| start.of(pool, *term)).collect();
        unrolling.assumed.push(start.of(pool, system.assumed));
        let stage = unrolling.inputs.stage(pool, system, &initial, 1);
        let mut arrivals = vec![None; system.points.len()];
        arrivals[system.entry.index()] = Some(Arrival { guard: pool.tt(), stage });
        unrolling.layers.push(Layer { arrivals });
        unrolling
    }

    /// Runs from any state of any point but the entry in which the point's invariants hold.
    pub(crate) fn from_anywhere(
        queries: &mut Queries<'_>,
        system: &'s System,
        invariants: &[Vec<Term>],
    ) -> Self {
        let mut unrolling = Self::empty(queries, system);
        let pool = &mut *queries.pool;
        let symbols: Vec<Term> = system.symbols().collect();
        let stage = unrolling.inputs.stage(pool, system, &symbols, 1);
        let points: Vec<PointId> = system.points.ids().filter(|p| *p != system.entry).collect();
        let begins = one_of(pool, "begins", points.len());
        let mut arrivals = vec![None; system.points.len()];
        for (point, guard) in points.iter().zip(begins) {
            arrivals[point.index()] = Some(Arrival { guard, stage: stage.clone() });
        }
        unrolling.invariants = invariants.to_vec();
        unrolling.layers.push(Layer { arrivals });
        unrolling.assume_invariants(pool);
        unrolling
    }

    fn empty(queries: &mut Queries<'_>, system: &'s System) -> Self {
        let exclusive = system.points.ids().map(|point| excludes(queries, system, point)).collect();
        Self {
            system,
            inputs: Inputs::new(queries.pool, system),
            layers: Vec::new(),
            chosen: Vec::new(),
            exclusive,
            assumed: Vec::new(),
            invariants: Vec::new(),
        }
    }

    /// The number of transitions to the last layer.
    pub(crate) fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// The terms that hold on every run.
    pub(crate) fn assumed(&self) -> &[Term] {
        &self.assumed
    }

    /// Adds a layer.
    pub(crate) fn extend(&mut self, pool: &mut TermPool) {
        let at = self.depth();
        let chosen = self.choices(pool);
        let system = self.system;
        let mut incoming: Vec<Vec<(Term, Vec<Term>)>> = vec![Vec::new(); system.points.len()];
        for (index, transition) in system.transitions.iter().enumerate() {
            let Some(arrival) = &mut self.layers[at].arrivals[transition.from.index()] else {
                continue;
            };
            let guard = arrival.stage.of(pool, transition.guard);
            let guard = pool.and_all([arrival.guard, chosen[index], guard]);
            if guard == pool.ff() {
                continue;
            }
            let next = transition.next.iter().map(|term| arrival.stage.of(pool, *term)).collect();
            incoming[transition.to.index()].push((guard, next));
        }
        self.chosen.push(chosen);
        let merged = incoming.into_iter().map(|runs| merge(pool, runs)).collect::<Vec<_>>();
        let mut arrivals = Vec::new();
        for arrival in merged {
            arrivals.push(arrival.map(|(guard, state)| {
                let stage = self.inputs.stage(pool, system, &state, at + 2);
                Arrival { guard, stage }
            }));
        }
        self.layers.push(Layer { arrivals });
        self.assume_invariants(pool);
    }

    /// By transition: whether it is chosen in the last layer.
    fn choices(&self, pool: &mut TermPool) -> Vec<Term> {
        let mut chosen = vec![pool.tt(); self.system.transitions.len()];
        for point in self.system.points.ids().filter(|point| !self.exclusive[point.index()]) {
            let own: Vec<usize> = self.system.leaving(point).collect();
            for (index, term) in own.iter().zip(one_of(pool, "chosen", own.len())) {
                chosen[*index] = term;
            }
        }
        chosen
    }

    /// Assumes of the last layer the invariants at its points.
    fn assume_invariants(&mut self, pool: &mut TermPool) {
        let last = self.layers.last_mut().into_iter().flat_map(|layer| &mut layer.arrivals);
        for (arrival, formulas) in last.zip(&self.invariants) {
            let Some(arrival) = arrival else { continue };
            for formula in formulas {
                let holds = arrival.stage.of(pool, *formula);
                self.assumed.push(pool.implies(arrival.guard, holds));
            }
        }
    }

    /// Whether runs reach a goal from a layer without another transition.
    pub(crate) fn goal(&mut self, pool: &mut TermPool, depth: usize, goal: GoalId) -> Term {
        let mut ways = Vec::new();
        for approach in &self.system.goals[goal].approaches {
            if let Some(arrival) = &mut self.layers[depth].arrivals[approach.from.index()] {
                let condition = arrival.stage.of(pool, approach.condition);
                ways.push(pool.and(arrival.guard, condition));
            }
        }
        pool.or_all(ways)
    }

    /// Whether a run is in the last layer.
    pub(crate) fn arrives(&self, pool: &mut TermPool) -> Term {
        let last = self.layers.last().into_iter().flat_map(|layer| &layer.arrivals);
        let guards: Vec<Term> = last.flatten().map(|arrival| arrival.guard).collect();
        pool.or_all(guards)
    }

    /// Asks for each point whether a run is there in the last layer, and forgets the others. Gives
    /// models of runs that are there; no point is left where [`Unrolling::is_over`].
    pub(crate) fn prune(&mut self, queries: &mut Queries<'_>) -> Vec<Model> {
        let last = self.layers.len() - 1;
        let mut evaluator = Evaluator::new();
        let mut models: Vec<Model> = Vec::new();
        for index in 0..self.system.points.len() {
            let Some(arrival) = &self.layers[last].arrivals[index] else { continue };
            let guard = arrival.guard;
            if models.iter().any(|model| evaluator.holds(queries.pool, model, guard)) {
                continue;
            }
            let mut assumptions = self.assumed.clone();
            assumptions.push(guard);
            match queries.check(&assumptions) {
                Answer::Unsat { .. } => self.layers[last].arrivals[index] = None,
                Answer::Sat(model) => models.push(model),
                Answer::Unknown(_) => {}
            }
        }
        models
    }

    /// Whether all runs are at one point of the last layer, and terms without symbols show it.
    pub(crate) fn is_concrete(&self, pool: &TermPool) -> bool {
        let mut last = self.layers.last().into_iter().flat_map(|layer| layer.arrivals.iter());
        last.by_ref().flatten().all(|arrival| arrival.guard == pool.tt())
    }

    /// Whether no run is in the last layer.
    pub(crate) fn is_over(&self) -> bool {
        self.layers.last().is_some_and(|last| last.arrivals.iter().all(Option::is_none))
    }

    /// The run of a model that reaches a goal from a layer.
    pub(crate) fn course(
        &mut self,
        pool: &mut TermPool,
        model: &Model,
        depth: usize,
        goal: GoalId,
    ) -> Option<Course> {
        let mut evaluator = Evaluator::new();
        let initial = self.inputs.values(pool, &mut evaluator, model, 0);
        let (mut steps, point) = self.steps(pool, model, depth)?;
        let approaches = self.system.goals[goal].approaches.iter().enumerate();
        let arrival = self.layers[depth].arrivals[point.index()].as_mut()?;
        let mut holds = |term| {
            let condition = arrival.stage.of(pool, term);
            evaluator.holds(pool, model, condition)
        };
        let mut from_here = approaches.filter(|(_, approach)| approach.from == point);
        let (index, _) = from_here.find(|(_, approach)| holds(approach.condition))?;
        let values = self.inputs.values(pool, &mut evaluator, model, depth + 1);
        steps.push(Step { choice: Choice::Approach(index), values });
        Some(Course { initial, steps })
    }

    /// The transitions of a model's run to a layer, with the inputs of each, and the point there.
    pub(crate) fn steps(
        &mut self,
        pool: &mut TermPool,
        model: &Model,
        depth: usize,
    ) -> Option<(Vec<Step>, PointId)> {
        let mut evaluator = Evaluator::new();
        let mut steps = Vec::new();
        let mut point = self.system.entry;
        for layer in 0..depth {
            let index = self.taken(pool, &mut evaluator, model, (layer, point))?;
            let values = self.inputs.values(pool, &mut evaluator, model, layer + 1);
            steps.push(Step { choice: Choice::Transition(index), values });
            point = self.system.transitions[index].to;
        }
        Some((steps, point))
    }

    /// The transition that a model takes from a point of a layer.
    fn taken(
        &mut self,
        pool: &mut TermPool,
        evaluator: &mut Evaluator,
        model: &Model,
        (layer, point): (usize, PointId),
    ) -> Option<usize> {
        let arrival = self.layers[layer].arrivals[point.index()].as_mut()?;
        let chosen = &self.chosen[layer];
        self.system.leaving(point).find(|index| {
            let guard = arrival.stage.of(pool, self.system.transitions[*index].guard);
            evaluator.holds(pool, model, chosen[*index]) && evaluator.holds(pool, model, guard)
        })
    }
}

/// Terms of which exactly one holds, by new symbols.
fn one_of(pool: &mut TermPool, stem: &str, count: usize) -> Vec<Term> {
    let mut rest = pool.tt();
    let mut terms = Vec::new();
    for at in 0..count {
        if at + 1 == count {
            terms.push(rest);
            break;
        }
        let symbol = pool.fresh_var(stem, Sort::Bool);
        terms.push(pool.and(rest, symbol));
        let not = pool.not(symbol);
        rest = pool.and(rest, not);
    }
    terms
}

/// Runs that come to one point by several transitions, as one.
fn merge(pool: &mut TermPool, mut runs: Vec<(Term, Vec<Term>)>) -> Option<(Term, Vec<Term>)> {
    let (mut guard, mut state) = runs.pop()?;
    while let Some((other, values)) = runs.pop() {
        guard = pool.or(other, guard);
        for (value, before) in values.into_iter().zip(&mut state) {
            *before = pool.ite(other, value, *before);
        }
    }
    Some((guard, state))
}

/// Whether no two transitions from a point are possible for the same symbols.
fn excludes(queries: &mut Queries<'_>, system: &System, point: PointId) -> bool {
    let guards: Vec<Term> = system.from(point).map(|transition| transition.guard).collect();
    if guards.len() > MOST_COMPARED {
        return false;
    }
    let pairs = (0..guards.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let mut queries = queries.at_most(COMPARISON);
    let mut apart = |(a, b): (usize, usize)| {
        opposed(queries.pool, guards[a], guards[b]) || queries.contradict(&[guards[a], guards[b]])
    };
    pairs.into_iter().all(&mut apart)
}

/// Whether a conjunct of one guard is the negation of a conjunct of the other.
fn opposed(pool: &mut TermPool, a: Term, b: Term) -> bool {
    let ours: FxHashSet<Term> = conjuncts(pool, a).into_iter().collect();
    conjuncts(pool, b).into_iter().any(|term| {
        let negation = pool.not(term);
        ours.contains(&negation)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::testing::search::reachable;
    use crate::engines::testing::{Fixture, random, solver};
    use lydian_smt::Limits;

    #[test]
    fn a_goal_is_met_in_the_layer_where_a_search_of_all_states_meets_it_first() {
        for seed in 3000..3200 {
            let mut fixture = random(seed);
            let reached = reachable(&mut fixture).goals;
            let goals = fixture.goals();
            let Fixture { pool, system } = &mut fixture;
            let mut solver = solver();
            let limits = Limits::none();
            let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
            let mut unrolling = Unrolling::from_entry(&mut queries, system);
            let last = reached.values().max().map_or(3, |depth| depth + 1);
            for depth in 0..=last {
                for goal in &goals {
                    let mut query = unrolling.assumed().to_vec();
                    query.push(unrolling.goal(queries.pool, depth, *goal));
                    let first = reached.get(goal);
                    match queries.check(&query) {
                        Answer::Sat(model) => {
                            assert!(first.is_some_and(|first| *first <= depth), "seed {seed}");
                            let course = unrolling.course(queries.pool, &model, depth, *goal);
                            let course = course.expect("a model is a run");
                            assert!(course.replayed(queries.pool, system, *goal).is_some());
                        }
                        Answer::Unsat { .. } => assert_ne!(first, Some(&depth), "seed {seed}"),
                        Answer::Unknown(reason) => panic!("{reason}"),
                    }
                }
                unrolling.extend(queries.pool);
                unrolling.prune(&mut queries);
            }
        }
    }
}
