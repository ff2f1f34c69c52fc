//! A smaller system that decides the same goals.
//!
//! - The states at the entry are known, so transitions from there are made over the initial values.
//!   Nothing of the smaller system reads a variable at the entry.
//! - Variables that always have one constant, or the value of another variable, go. They are found as
//!   the coarsest partition that all transitions preserve, which begins with the values after the
//!   entry (Alpern, Wegman and Zadeck: *Detecting Equality of Variables in Programs*, 1988).
//! - Transitions and approaches whose guard is false then go.
//! - Transitions to points from which no goal can be reached go, and variables that influence neither
//!   guards nor approaches (the cone of influence).
//!
//! Points keep their ids.

use lydian_base::{Arena, EntityId as _};
use lydian_smt::{Evaluator, Model, Sort, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::certificate::{Argument, Certificate, Parameters};
use crate::engines::stage::{Inputs, Stage};
use crate::engines::trace::{Choice, Course, Step};
use crate::system::{Approach, GoalId, PointId, System, Transition};

/// A smaller system, and the way back to the whole one.
pub(crate) struct Slice {
    /// The smaller system. Its goals are those that were asked for, in their order.
    pub(crate) system: System,
    /// By transition: its position in the whole system.
    transitions: Vec<usize>,
    /// By goal and approach: its position in the whole system.
    approaches: Vec<Vec<usize>>,
    /// By point: formulas of the whole system that the smaller one takes for granted.
    granted: Vec<Vec<Term>>,
    /// The initial inputs of the whole system with the inputs that stand for them.
    start: Vec<(Term, Term)>,
}

impl Slice {
    /// The smaller system for some goals.
    pub(crate) fn new(pool: &mut TermPool, whole: &System, goals: &[GoalId]) -> Self {
        let (mut system, start) = begun(pool, whole, goals);
        let mut transitions: Vec<usize> = (0..system.transitions.len()).collect();
        let mut approaches: Vec<Vec<usize>> =
            system.goals.values().map(|goal| (0..goal.approaches.len()).collect()).collect();
        remove_impossible(pool, &mut system, &mut transitions, &mut approaches);
        loop {
            let classes = Classes::of(pool, &system);
            let mut simpler = classes.applied(pool, &system);
            let (mut kept, mut ways) = (transitions.clone(), approaches.clone());
            remove_impossible(pool, &mut simpler, &mut kept, &mut ways);
            if kept.len() < transitions.len() {
                keep_transitions(&mut system, &mut transitions, &kept);
                continue;
            }
            let granted = granted(pool, &system, &classes);
            remove_astray(&mut simpler, &mut transitions);
            keep_influential(pool, &mut simpler);
            return Self { system: simpler, transitions, approaches: ways, granted, start };
        }
    }

    /// The course of a run of the smaller system, as one of the whole system.
    pub(crate) fn course_of_whole(
        &self,
        pool: &TermPool,
        course: &Course,
        goal: GoalId,
    ) -> Option<Course> {
        let first = course.steps.first()?;
        let mut evaluator = Evaluator::new();
        let start = self.start.iter();
        let value =
            |(own, stands): &(Term, Term)| (*own, evaluator.eval(pool, &first.values, *stands));
        let initial = Model::from_values(start.map(value).collect());
        let mut steps = Vec::new();
        for step in &course.steps {
            let choice = match step.choice {
                Choice::Transition(at) => Choice::Transition(*self.transitions.get(at)?),
                Choice::Approach(at) => Choice::Approach(*self.approaches[goal.index()].get(at)?),
            };
            steps.push(Step { choice, values: step.values.clone() });
        }
        Some(Course { initial, steps })
    }

    /// The certificate for the whole system that one of the smaller system is.
    pub(crate) fn certificate(
        &self,
        depth: u32,
        argument: Argument,
        own: &[Vec<Term>],
    ) -> Certificate {
        let mut invariants = self.granted.clone();
        // Of other points the engines have seen only a part of the transitions that lead there.
        let targets: FxHashSet<PointId> = self.system.transitions.iter().map(|t| t.to).collect();
        for target in targets {
            if let Some(formulas) = own.get(target.index()) {
                invariants[target.index()].extend(formulas);
            }
        }
        Certificate { depth, argument, invariants, parameters: Parameters::default() }
    }
}

/// The system with transitions from the entry over the initial values, and with the goals that are asked
/// for; and inputs for the initial ones.
fn begun(pool: &mut TermPool, whole: &System, goals: &[GoalId]) -> (System, Vec<(Term, Term)>) {
    let mut system = whole.clone();
    let symbols: Vec<Term> = system.symbols().collect();
    let (own, stands) = initial_inputs(pool, whole);
    let mut start = Stage::with_own_inputs(whole, &symbols);
    start.extend(own.iter().copied().zip(stands.iter().copied()));
    let assumed = start.of(pool, whole.assumed);
    let initial: Vec<Term> = whole.initial.iter().map(|term| start.of(pool, *term)).collect();
    let mut entry = Stage::with_own_inputs(whole, &initial);
    for transition in system.transitions.iter_mut().filter(|t| t.from == whole.entry) {
        let guard = entry.of(pool, transition.guard);
        transition.guard = pool.and(assumed, guard);
        transition.next.iter_mut().for_each(|term| *term = entry.of(pool, *term));
    }
    system.goals = goals.iter().map(|goal| whole.goals[*goal].clone()).collect();
    for (_, goal) in system.goals.iter_mut() {
        for approach in goal.approaches.iter_mut().filter(|a| a.from == whole.entry) {
            let condition = entry.of(pool, approach.condition);
            approach.condition = pool.and(assumed, condition);
        }
    }
    system.assumed = pool.tt();
    system.initial = symbols.iter().map(|symbol| some_value(pool, *symbol)).collect();
    (system, own.into_iter().zip(stands).collect())
}

/// The inputs of the initial values, and new symbols for them.
fn initial_inputs(pool: &mut TermPool, whole: &System) -> (Vec<Term>, Vec<Term>) {
    let mut only_initial = whole.clone();
    only_initial.transitions.clear();
    only_initial.goals = Arena::new();
    let mut inputs = Inputs::new(pool, &only_initial);
    let stands = inputs.of_use(pool, 0).to_vec();
    (inputs.own().to_vec(), stands)
}

/// Some value of a variable's sort: nothing reads it.
fn some_value(pool: &mut TermPool, symbol: Term) -> Term {
    match pool.sort(symbol) {
        Sort::Array { .. } => symbol,
        sort => pool.constant(sort, &lydian_smt::Value::zero(sort)),
    }
}

/// Keeps the transitions with some positions in the whole system.
fn keep_transitions(system: &mut System, positions: &mut Vec<usize>, kept: &[usize]) {
    let kept: FxHashSet<usize> = kept.iter().copied().collect();
    let mut at = positions.iter();
    system.transitions.retain(|_| at.next().is_some_and(|position| kept.contains(position)));
    positions.retain(|position| kept.contains(position));
}

/// Removes transitions and approaches with a false guard, or from points that no run reaches.
fn remove_impossible(
    pool: &TermPool,
    system: &mut System,
    positions: &mut Vec<usize>,
    approaches: &mut [Vec<usize>],
) {
    let impossible = pool.ff();
    let possible = system.transitions.iter().filter(|t| t.guard != impossible);
    let edges: Vec<(PointId, PointId)> = possible.map(|t| (t.from, t.to)).collect();
    let reached = closure([system.entry].into_iter().collect(), &edges);
    let all = system.transitions.iter().zip(positions.iter());
    let possible = all.filter(|(t, _)| t.guard != impossible && reached.contains(&t.from));
    let kept: Vec<usize> = possible.map(|(_, position)| *position).collect();
    keep_transitions(system, positions, &kept);
    for ((_, goal), positions) in system.goals.iter_mut().zip(approaches) {
        let ways = std::mem::take(&mut goal.approaches).into_iter().zip(std::mem::take(positions));
        let possible: Vec<(Approach, usize)> = ways
            .filter(|(way, _)| way.condition != impossible && reached.contains(&way.from))
            .collect();
        (goal.approaches, *positions) = possible.into_iter().unzip();
    }
}

/// Removes transitions to points from which no goal can be reached.
fn remove_astray(system: &mut System, positions: &mut Vec<usize>) {
    let ends = system.approaches().map(|approach| approach.from).collect();
    let near = leading_to(&system.transitions, ends);
    let all = system.transitions.iter().zip(positions.iter());
    let kept: Vec<usize> =
        all.filter(|(t, _)| near.contains(&t.to)).map(|(_, position)| *position).collect();
    keep_transitions(system, positions, &kept);
}

/// The points from which transitions lead to some points, and these.
pub(crate) fn leading_to(
    transitions: &[Transition],
    ends: FxHashSet<PointId>,
) -> FxHashSet<PointId> {
    let edges: Vec<(PointId, PointId)> = transitions.iter().map(|t| (t.to, t.from)).collect();
    closure(ends, &edges)
}

/// Some points, and all to which edges lead from them.
fn closure(mut points: FxHashSet<PointId>, edges: &[(PointId, PointId)]) -> FxHashSet<PointId> {
    loop {
        let before = points.len();
        for (from, to) in edges {
            if points.contains(from) {
                points.insert(*to);
            }
        }
        if points.len() == before {
            return points;
        }
    }
}

/// Removes variables that influence no guard and no approach.
fn keep_influential(pool: &mut TermPool, system: &mut System) {
    let guards = system.transitions.iter().map(|transition| transition.guard);
    let conditions = system.approaches().map(|approach| approach.condition);
    let mut waiting: Vec<Term> = guards.chain(conditions).collect();
    let symbols: FxHashMap<Term, usize> =
        system.variables.values().enumerate().map(|(at, v)| (v.symbol, at)).collect();
    let mut kept = vec![false; symbols.len()];
    while let Some(term) = waiting.pop() {
        for symbol in pool.vars_of(term).iter() {
            if let Some(at) = symbols.get(symbol)
                && !std::mem::replace(&mut kept[*at], true)
            {
                waiting.extend(system.transitions.iter().map(|transition| transition.next[*at]));
            }
        }
    }
    let retain = |terms: &[Term]| {
        terms.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(term, _)| *term).collect()
    };
    for transition in &mut system.transitions {
        transition.next = retain(&transition.next);
    }
    system.initial = retain(&system.initial);
    let variables = std::mem::take(&mut system.variables).into_values();
    system.variables = variables.zip(&kept).filter(|(_, kept)| **kept).map(|(v, _)| v).collect();
}

/// The classes of variables that are always equal at all points but the entry.
struct Classes {
    /// By variable: the constant or the variable that it equals; itself for the first of a class.
    equals: Vec<Term>,
    symbols: Vec<Term>,
}

impl Classes {
    /// The coarsest classes that the transitions preserve.
    fn of(pool: &mut TermPool, system: &System) -> Self {
        let symbols: Vec<Term> = system.symbols().collect();
        let (first, later): (Vec<&Transition>, Vec<&Transition>) =
            system.transitions.iter().partition(|transition| transition.from == system.entry);
        let mut groups = vec![(0, None); symbols.len()];
        let mut numbers: FxHashMap<(Term, Vec<Term>), usize> = FxHashMap::default();
        for (at, symbol) in symbols.iter().enumerate() {
            let values: Vec<Term> = first.iter().map(|transition| transition.next[at]).collect();
            let sort = pool.sort(*symbol);
            let apart = matches!(sort, Sort::Array { .. }) || values.is_empty();
            let key = if apart { *symbol } else { pool.tt() };
            let constant = values.first().copied().filter(|value| {
                !apart && pool.is_const(*value).is_some() && values.iter().all(|v| v == value)
            });
            let next = numbers.len();
            groups[at] = (*numbers.entry((key, values)).or_insert(next), constant);
        }
        let mut classes = Self { equals: Vec::new(), symbols };
        loop {
            classes.choose(&groups);
            let refined = classes.refined(pool, &groups, &later);
            if refined == groups {
                return classes;
            }
            groups = refined;
        }
    }

    /// Sets the constant or the first variable of each group.
    fn choose(&mut self, groups: &[(usize, Option<Term>)]) {
        let mut first: FxHashMap<(usize, Option<Term>), Term> = FxHashMap::default();
        let choice = groups.iter().zip(&self.symbols).map(|(group, symbol)| {
            group.1.unwrap_or_else(|| *first.entry(*group).or_insert(*symbol))
        });
        self.equals = choice.collect();
    }

    /// The groups after one more step: members that a transition takes apart are in different ones.
    fn refined(
        &self,
        pool: &mut TermPool,
        groups: &[(usize, Option<Term>)],
        later: &[&Transition],
    ) -> Vec<(usize, Option<Term>)> {
        let mut known = self.map();
        let mut numbers: FxHashMap<(usize, Vec<Term>), usize> = FxHashMap::default();
        let mut refined = Vec::new();
        for (at, (group, constant)) in groups.iter().enumerate() {
            let mut values = Vec::new();
            for transition in later {
                values.push(pool.substituted(transition.next[at], &mut known));
            }
            let constant = constant.filter(|constant| values.iter().all(|v| v == constant));
            let next = numbers.len();
            refined.push((*numbers.entry((*group, values)).or_insert(next), constant));
        }
        refined
    }

    /// The terms in place of the variables.
    fn map(&self) -> FxHashMap<Term, Term> {
        self.symbols.iter().copied().zip(self.equals.iter().copied()).collect()
    }

    /// The system with these terms in place of its variables, but for transitions from the entry.
    fn applied(&self, pool: &mut TermPool, system: &System) -> System {
        let mut known = self.map();
        let mut simpler = system.clone();
        for transition in simpler.transitions.iter_mut().filter(|t| t.from != system.entry) {
            transition.guard = pool.substituted(transition.guard, &mut known);
            for term in &mut transition.next {
                *term = pool.substituted(*term, &mut known);
            }
        }
        for (_, goal) in simpler.goals.iter_mut() {
            for approach in goal.approaches.iter_mut().filter(|way| way.from != system.entry) {
                approach.condition = pool.substituted(approach.condition, &mut known);
            }
        }
        simpler
    }
}

/// By point: that the variables have the values of their classes; for points that no run reaches, false.
fn granted(pool: &mut TermPool, system: &System, classes: &Classes) -> Vec<Vec<Term>> {
    let mut equations = Vec::new();
    for (symbol, equal) in classes.symbols.iter().zip(&classes.equals) {
        if symbol != equal {
            equations.push(pool.eq(*symbol, *equal));
        }
    }
    let mut granted = vec![vec![pool.ff()]; system.points.len()];
    granted[system.entry.index()].clear();
    for transition in &system.transitions {
        granted[transition.to.index()].clone_from(&equations);
    }
    granted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::testing::search::reachable;
    use crate::engines::testing::{Fixture, random, system};

    #[test]
    fn a_slice_reaches_the_goals_of_the_whole_after_as_many_transitions() {
        for seed in 4000..4400 {
            let mut fixture = random(seed);
            let reached = reachable(&mut fixture).goals;
            let goals = fixture.goals();
            let slice = Slice::new(&mut fixture.pool, &fixture.system, &goals);
            let mut smaller = Fixture { pool: fixture.pool, system: slice.system };
            assert_eq!(reachable(&mut smaller).goals, reached, "seed {seed}");
        }
    }

    #[test]
    fn constants_copies_and_variables_without_influence_go() {
        let mut fixture = system(
            8,
            "vars i j k c n w
             start i = 0, j = 0, k = 7, c = 3
             p0 -> p1
             p1 -> p1 if i < n && c == 3: i := i + 1, j := j + 1, k := k + w, w := w + 1
             p1 -> p2 if c == 4
             p2 -> !far if i == 2
             p1 -> !bad if i != j
             p1 -> !end if i == n",
        );
        let goals = fixture.goals();
        let slice = Slice::new(&mut fixture.pool, &fixture.system, &goals);
        let names: Vec<&str> = slice.system.variables.values().map(|v| v.name.as_str()).collect();
        assert_eq!(names, ["i", "n"]);
        assert_eq!(slice.system.transitions.len(), 2);
        let ways: Vec<usize> = slice.system.goals.values().map(|g| g.approaches.len()).collect();
        assert_eq!(ways, [0, 0, 1]);
    }
}
