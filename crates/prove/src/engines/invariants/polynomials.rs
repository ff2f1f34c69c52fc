//! Equations with products that the system itself names.
//!
//! A program that computes with products often states the equation by which it is right: its goals are
//! reached where that fails. And a variable that is set once, at the entry, is what it was set to. Such
//! equations are candidates as they are, and each is checked by itself, mostly by algebra alone (as in
//! Houdini; `algebra` has the rewriting). So they are known before the solver has to look for the models of
//! products.

use lydian_base::EntityId as _;
use lydian_smt::{BinOp, Evaluator, Model, Node, Sort, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::engines::invariants::templates::{Found, atoms};
use crate::engines::invariants::{Consecution, Invariants, both, settle};
use crate::engines::queries::Queries;
use crate::engines::sampling::Samples;
use crate::system::{System, Transition};

/// The most candidates of a point.
const MOST_CANDIDATES: usize = 40;
/// The time of the query about one candidate and one transition.
const SINGLE: std::time::Duration = std::time::Duration::from_millis(10);

/// The named equations that hold at each point, unless the time was over before that was known.
pub(crate) fn polynomials(
    queries: &mut Queries<'_>,
    system: &System,
    samples: &Samples<'_>,
    known: &Invariants,
) -> Option<Invariants> {
    let named = named(queries, system);
    let mut candidates = vec![Vec::new(); system.points.len()];
    for point in system.points.ids().filter(|point| *point != system.entry) {
        let at = point.index();
        let new = named.iter().copied().filter(|formula| !known[at].contains(formula));
        candidates[at] = satisfied(queries.pool, &samples.models(point), new.collect());
        candidates[at].truncate(MOST_CANDIDATES);
    }
    if candidates.iter().all(Vec::is_empty) {
        return Some(candidates);
    }
    let mut consecution = Consecution::new(system);
    let again = |transition: &Transition, point| transition.from == point;
    let hold = settle(queries, system, again, |queries, index| {
        let transition = &system.transitions[index];
        let claims = candidates[transition.to.index()].clone();
        let premises = both(known, &candidates, transition.from);
        let mut queries = queries.at_most(SINGLE);
        let kept = consecution.kept_alone(&mut queries, index, &premises, &claims);
        let is_less = kept.len() < claims.len();
        candidates[transition.to.index()] = kept;
        is_less
    });
    hold.then_some(candidates)
}

/// The equations with products in guards and approaches, and the definitions of variables at the entry.
fn named(queries: &mut Queries<'_>, system: &System) -> Vec<Term> {
    let mut named = atoms(queries.pool, system);
    named.retain(|atom| {
        matches!(queries.pool.node(*atom), Node::Bin(BinOp::Eq, a, _)
            if matches!(queries.pool.sort(a), Sort::BitVec(2..=64)))
            && queries.multiplies(*atom)
    });
    let mut found = Found::new(system);
    for transition in system.transitions.iter().filter(|t| t.from == system.entry) {
        for definition in definitions(queries.pool, system, transition) {
            found.add(queries.pool, definition);
        }
    }
    let definitions = found.formulas().iter().copied().filter(|term| !named.contains(term));
    let definitions: Vec<Term> = definitions.filter(|term| queries.multiplies(*term)).collect();
    [named, definitions].concat()
}

/// That variables are what a transition from the entry sets them to, where variables have the inputs.
fn definitions(pool: &mut TermPool, system: &System, transition: &Transition) -> Vec<Term> {
    let mut holders: FxHashMap<Term, Term> = FxHashMap::default();
    for (symbol, value) in system.symbols().zip(&transition.next) {
        if pool.var_name(*value).is_some() {
            holders.entry(*value).or_insert(symbol);
        }
    }
    let mut found = Vec::new();
    for (symbol, value) in system.symbols().zip(&transition.next) {
        let value = pool.substituted(*value, &mut holders);
        if matches!(pool.sort(symbol), Sort::BitVec(2..=64)) && value != symbol {
            found.push(pool.eq(symbol, value));
        }
    }
    found
}

/// The formulas that all of some states satisfy.
fn satisfied(pool: &TermPool, states: &[Model], mut formulas: Vec<Term>) -> Vec<Term> {
    let mut evaluator = Evaluator::new();
    for state in states {
        formulas.retain(|formula| evaluator.holds(pool, state, *formula));
    }
    formulas
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::Limits;

    use super::*;
    use crate::engines::slicing::Slice;
    use crate::engines::testing::{Fixture, solver, system};

    #[test]
    fn an_equation_that_a_goal_denies_is_found_to_hold() {
        let text = "vars x y a b p q r s
            start p = 1, q = 0, r = 0, s = 1
            assume a_0 == x_0 && b_0 == y_0 && x_0 > 0 && y_0 > 0
            p0 -> p1
            p1 -> p1 if a > b: a := a - b, p := p - q, r := r - s
            p1 -> p1 if a < b: b := b - a, q := q - p, s := s - r
            p1 -> !determinant if p * s - r * q != 1
            p1 -> !first if a != y * r + x * p
            p1 -> !second if b != x * q + y * s";
        let fixture = system(32, text);
        let goals = fixture.goals();
        let Fixture { mut pool, system } = fixture;
        let Slice { system, .. } = Slice::new(&mut pool, &system, &goals);
        let (mut solver, limits) = (solver(), Limits::none());
        let mut queries = Queries::new(&mut pool, &mut solver, &limits, Duration::from_secs(9));
        let mut samples = Samples::new(queries.pool, &system);
        samples.run(&queries, 3, &[]);
        let none = vec![Vec::new(); system.points.len()];
        let found = polynomials(&mut queries, &system, &samples, &none).expect("there is time");
        assert!(found[1].len() >= 3, "{:?}", found[1]);
    }
}
