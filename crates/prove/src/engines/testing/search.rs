//! A search of all states, one by one, by the evaluator alone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use lydian_base::EntityId as _;
use lydian_smt::{ArrayValue, Evaluator, Model, Sort, Term, Value};

use super::Fixture;
use crate::engines::invariants::Invariants;
use crate::system::{GoalId, PointId};

/// The elements of an array.
const ELEMENTS: u64 = 2;

/// Everything that runs reach.
pub(crate) struct Reachable {
    /// The goals, with the fewest transitions before their approach.
    pub(crate) goals: BTreeMap<GoalId, usize>,
    /// The states at each point, as bits of the variables.
    pub(crate) states: BTreeSet<(PointId, Vec<u64>)>,
}

impl Reachable {
    /// Fails unless formulas hold in all states at their points. Gives how many were looked at.
    pub(crate) fn assert_hold(&self, fixture: &Fixture, formulas: &Invariants) -> usize {
        let (mut evaluator, mut count) = (Evaluator::new(), 0);
        let Fixture { pool, system } = fixture;
        for (point, state) in &self.states {
            let values = system.symbols().zip(state);
            let values = values.map(|(symbol, bits)| (symbol, value(pool.sort(symbol), *bits)));
            let model = Model::from_values(values.collect());
            for formula in &formulas[point.index()] {
                assert!(evaluator.holds(pool, &model, *formula), "{}", pool.show(*formula));
                count += 1;
            }
        }
        count
    }
}

/// Searches a system of few states and few inputs.
pub(crate) fn reachable(fixture: &mut Fixture) -> Reachable {
    let inputs = inputs(fixture);
    let symbols: Vec<Term> = fixture.system.symbols().collect();
    let (pool, system) = (&fixture.pool, &fixture.system);
    let mut evaluator = Evaluator::new();
    let mut found = Reachable { goals: BTreeMap::new(), states: BTreeSet::new() };
    let mut waiting = VecDeque::new();
    for values in &inputs {
        let model = Model::from_values(values.clone());
        if evaluator.holds(pool, &model, system.assumed) {
            let state =
                system.initial.iter().map(|term| bits(&evaluator.eval(pool, &model, *term)));
            waiting.push_back((system.entry, state.collect::<Vec<u64>>(), 0));
        }
    }
    while let Some((point, state, depth)) = waiting.pop_front() {
        if !found.states.insert((point, state.clone())) {
            continue;
        }
        for values in &inputs {
            let own = symbols.iter().zip(&state);
            let own = own.map(|(s, bits)| (*s, value(pool.sort(*s), *bits)));
            let model = Model::from_values(own.chain(values.iter().cloned()).collect());
            for transition in system.from(point) {
                if evaluator.holds(pool, &model, transition.guard) {
                    let next = transition.next.iter();
                    let next =
                        next.map(|term| bits(&evaluator.eval(pool, &model, *term))).collect();
                    waiting.push_back((transition.to, next, depth + 1));
                }
            }
            for (id, goal) in system.goals.iter() {
                let mut ways = goal.approaches.iter().filter(|way| way.from == point);
                if ways.any(|way| evaluator.holds(pool, &model, way.condition)) {
                    found.goals.entry(id).or_insert(depth);
                }
            }
        }
    }
    found
}

/// The bits of a value; of an array those of its first elements, a byte for each.
pub(crate) fn bits(value: &Value) -> u64 {
    match value {
        Value::Array(array) => (0..ELEMENTS).fold(0, |all, at| all | array.get(at) << (8 * at)),
        value => value.to_u64().expect("a word"),
    }
}

/// The value of a sort with these bits.
pub(crate) fn value(sort: Sort, bits: u64) -> Value {
    match sort {
        Sort::Array { .. } => {
            let elements = (0..ELEMENTS).map(|at| (at, bits >> (8 * at) & 255));
            Value::Array(Arc::new(ArrayValue { default: 0, elements: elements.collect() }))
        }
        sort => Value::from_u64(sort, bits),
    }
}

/// All values of all inputs.
fn inputs(fixture: &mut Fixture) -> Vec<Vec<(Term, Value)>> {
    let inputs = crate::engines::stage::Inputs::new(&mut fixture.pool, &fixture.system);
    let mut all = vec![Vec::new()];
    for input in inputs.own() {
        let sort = fixture.pool.sort(*input);
        let count = 1u64 << if sort == Sort::Bool { 1 } else { sort.width() };
        let extended = all.iter().flat_map(|values: &Vec<(Term, Value)>| {
            (0..count).map(move |bits| {
                let mut values = values.clone();
                values.push((*input, Value::from_u64(sort, bits)));
                values
            })
        });
        all = extended.collect();
    }
    all
}
