//! Formulas that hold whenever a run is at a point.
//!
//! They are guessed from states that runs have there, and kept only if every transition preserves
//! them. `equations` has equations, which models of failed checks weaken until they hold. `templates`
//! makes other candidates of fixed forms, and `houdini` removes those that fail. `polynomials` has the
//! equations with products that the system names.
//!
//! Formulas with quantifiers over the elements of arrays have no place here yet. They would be further
//! candidates of `templates`, with checks of their own in [`Consecution`].

pub(crate) mod equations;
pub(crate) mod houdini;
pub(crate) mod kernel;
pub(crate) mod polynomials;
pub(crate) mod templates;

use std::collections::VecDeque;
use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Model, Node, Sort, Term, TermPool, UnOp};

use crate::engines::queries::Queries;
use crate::engines::stage::{Stage, subterms};
use crate::system::{PointId, System, Transition};

/// The time of a query about a single formula, after one about all had no answer.
const SINGLE: Duration = Duration::from_millis(20);

/// Formulas by point. All of them hold at the point on every run.
pub(crate) type Invariants = Vec<Vec<Term>>;

/// The checks that transitions preserve formulas.
pub(crate) struct Consecution<'s> {
    system: &'s System,
    /// By transition: the place where it ends, over the state where it begins.
    ends: Vec<Stage>,
    evaluator: Evaluator,
}

impl<'s> Consecution<'s> {
    /// The checks of a system in which transitions from the entry read no variables.
    pub(crate) fn new(system: &'s System) -> Self {
        let end = |transition: &Transition| Stage::with_own_inputs(system, &transition.next);
        let ends = system.transitions.iter().map(end).collect();
        Self { system, ends, evaluator: Evaluator::new() }
    }

    /// A formula at the end of a transition, over the state where that begins.
    pub(crate) fn after(&mut self, pool: &mut TermPool, index: usize, formula: Term) -> Term {
        self.ends[index].of(pool, formula)
    }

    /// Whether a transition can begin with all premises and end with one of the formulas false.
    pub(crate) fn violate(
        &mut self,
        queries: &mut Queries<'_>,
        index: usize,
        premises: &[Term],
        formulas: &[Term],
    ) -> Answer {
        let pool = &mut *queries.pool;
        let mut failures = Vec::new();
        for formula in formulas {
            let holds = self.ends[index].of(pool, *formula);
            failures.push(pool.not(holds));
        }
        let fails = pool.or_all(failures);
        let query = [self.system.transitions[index].guard, fails];
        queries.check_with(&query, premises)
    }

    /// The formulas that hold at the end of a transition in a model in which some fail there. None if all
    /// hold: then the model is wrong.
    pub(crate) fn kept(
        &mut self,
        pool: &mut TermPool,
        index: usize,
        model: &Model,
        formulas: &[Term],
    ) -> Vec<Term> {
        let mut kept = Vec::new();
        for formula in formulas {
            let after = self.ends[index].of(pool, *formula);
            if self.evaluator.holds(pool, model, after) {
                kept.push(*formula);
            }
        }
        if kept.len() < formulas.len() { kept } else { Vec::new() }
    }

    /// The formulas that short queries about each show to be preserved.
    pub(crate) fn kept_alone(
        &mut self,
        queries: &mut Queries<'_>,
        index: usize,
        premises: &[Term],
        formulas: &[Term],
    ) -> Vec<Term> {
        let mut queries = queries.at_most(SINGLE);
        let all = formulas.iter().copied();
        all.filter(|formula| {
            let is_late = queries.expired();
            !is_late && self.violate(&mut queries, index, premises, &[*formula]).is_unsat()
        })
        .collect()
    }
}

/// Weakens formulas until every transition preserves them. `weaken` weakens the formulas where a
/// transition ends, unless they are preserved, and says whether it did. `again` has the transitions that may
/// no longer preserve formulas after those at a point were weakened. Whether the time was enough.
pub(crate) fn settle(
    queries: &mut Queries<'_>,
    system: &System,
    again: impl Fn(&Transition, PointId) -> bool,
    mut weaken: impl FnMut(&mut Queries<'_>, usize) -> bool,
) -> bool {
    let mut waiting: VecDeque<usize> = (0..system.transitions.len()).collect();
    while let Some(index) = waiting.pop_front() {
        let mut changed = false;
        while weaken(queries, index) {
            changed = true;
        }
        if queries.expired() {
            return false;
        }
        let to = system.transitions[index].to;
        for (next, transition) in system.transitions.iter().enumerate() {
            if changed && again(transition, to) && !waiting.contains(&next) {
                waiting.push_back(next);
            }
        }
    }
    true
}

/// The terms of approaches, and of transitions but those from the entry, with all terms in them.
fn later_terms(pool: &TermPool, system: &System) -> Vec<Term> {
    let later = system.transitions.iter().filter(|transition| transition.from != system.entry);
    let conditions = system.approaches().map(|approach| approach.condition);
    subterms(pool, later.flat_map(Transition::terms).chain(conditions))
}

/// The variables that are words of 2 to 64 bits, and such variables extended to more bits as somewhere
/// in the system.
pub(crate) fn words(pool: &TermPool, system: &System) -> Vec<Term> {
    let is_word = |term: &Term| matches!(pool.sort(*term), Sort::BitVec(2..=64));
    let own: Vec<Term> = system.symbols().filter(is_word).collect();
    let is_extended = |term: &Term| match pool.node(*term) {
        Node::Un(UnOp::ZExt | UnOp::SExt, inner) => own.contains(&inner) && is_word(term),
        _ => false,
    };
    let extended: Vec<Term> = later_terms(pool, system).into_iter().filter(is_extended).collect();
    [own, extended].concat()
}

/// Adds formulas to those known, but for those that are there already.
pub(crate) fn extend(known: &mut Invariants, more: Invariants) {
    for (formulas, more) in known.iter_mut().zip(more) {
        for formula in more {
            if !formulas.contains(&formula) {
                formulas.push(formula);
            }
        }
    }
}

/// The formulas of two lists for one point.
pub(crate) fn both(a: &Invariants, b: &Invariants, point: PointId) -> Vec<Term> {
    [&a[point.index()][..], &b[point.index()][..]].concat()
}

#[cfg(test)]
mod tests {
    use lydian_smt::Limits;

    use super::equations::{columns, equations};
    use super::houdini::preserved;
    use super::templates::{Effort, candidates};
    use super::*;
    use crate::engines::induction::Induction;
    use crate::engines::sampling::Samples;
    use crate::engines::testing::search::{reachable, value};
    use crate::engines::testing::{Fixture, random_slice, solver, system as parsed};

    #[test]
    fn equations_that_follow_from_those_left_out_are_asked_about_again() {
        // After the first transition y = 0, and 8 * x = 0 only in the states that were seen.
        let text = "vars x y
            inputs a
            start y = 0
            p0 -> p1: x := a, y := 0
            p1 -> p1: x := 1, y := 8";
        let mut fixture = parsed(4, text);
        let reached = reachable(&mut fixture);
        let Fixture { pool, system } = &mut fixture;
        let (mut solver, limits) = (solver(), Limits::none());
        let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
        let mut samples = Samples::new(queries.pool, system);
        let point = system.transitions[0].to;
        for x in (0..16).step_by(2) {
            let state = [x, 0].map(|bits| value(Sort::BitVec(4), bits));
            samples.keep(point, &state.to_vec());
        }
        let none = vec![Vec::new(); system.points.len()];
        let columns = columns(queries.pool, system, true).remove(0);
        let found = equations(&mut queries, system, &samples, &none, &columns);
        assert!(!found[point.index()].is_empty());
        reached.assert_hold(&fixture, &found);
    }

    #[test]
    fn invariants_of_random_systems_hold_in_all_states_and_induction_by_them_is_right() {
        let (mut found, mut proved) = (0, 0);
        for seed in 6000..6150 {
            let (mut fixture, reached) = random_slice(seed);
            let goals = fixture.goals();
            let Fixture { pool, system } = &mut fixture;
            let (mut solver, limits) = (solver(), Limits::none());
            let mut queries = Queries::new(pool, &mut solver, &limits, Duration::from_secs(9));
            let mut samples = Samples::new(queries.pool, system);
            samples.run(&queries, 3, &[]);
            let mut invariants = vec![Vec::new(); system.points.len()];
            for terms in columns(queries.pool, system, seed % 2 == 0) {
                let more = equations(&mut queries, system, &samples, &invariants, &terms);
                extend(&mut invariants, more);
            }
            let guesses = candidates(queries.pool, system, &samples, Effort::High);
            let survivors = preserved(&mut queries, system, &invariants, guesses);
            assert!(survivors.hold, "there is no limit of time");
            extend(&mut invariants, survivors.candidates);
            let mut induction = Induction::new(system, &invariants);
            for (goal, depth) in goals.iter().flat_map(|goal| (1..4).map(move |d| (goal, d))) {
                if induction.step(&mut queries, *goal, depth) {
                    let first = reached.goals.get(goal);
                    assert!(first.is_none_or(|first| *first < depth), "seed {seed}");
                    proved += usize::from(first.is_none());
                }
            }
            found += invariants.iter().map(Vec::len).sum::<usize>();
            reached.assert_hold(&fixture, &invariants);
        }
        assert!(found > 300 && proved > 100, "{found} invariants, {proved} proofs");
    }
}
