//! Formulas that hold whenever a run is at a point.
//!
//! They are guessed from states that runs have there, and kept only if every transition preserves
//! them. `equations` has equations, which models of failed checks weaken until they hold. `templates`
//! makes other candidates of fixed forms, and `houdini` removes those that fail.
//!
//! Formulas with quantifiers over the elements of arrays have no place here yet. They would be further
//! candidates of `templates`, with checks of their own in [`Consecution`].

pub(crate) mod equations;
pub(crate) mod houdini;
mod kernel;
pub(crate) mod templates;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Node, Sort, Term, TermPool, UnOp};
use rustc_hash::FxHashSet;

use crate::engines::queries::Queries;
use crate::engines::stage::Stage;
use crate::system::{PointId, System};

/// Formulas by point. All of them hold at the point on every run.
pub(crate) type Invariants = Vec<Vec<Term>>;

/// The checks that transitions preserve formulas.
pub(crate) struct Consecution<'s> {
    system: &'s System,
    /// By transition: the place where it ends, over the state where it begins.
    ends: Vec<Stage>,
}

impl<'s> Consecution<'s> {
    /// The checks of a system in which transitions from the entry read no variables.
    pub(crate) fn new(system: &'s System) -> Self {
        let end = |transition: &crate::system::Transition| {
            Stage::with_own_inputs(system, &transition.next)
        };
        Self { system, ends: system.transitions.iter().map(end).collect() }
    }

    /// The transitions that begin at a point.
    pub(crate) fn leaving(&self, point: PointId) -> impl Iterator<Item = usize> + use<'s> {
        let all = self.system.transitions.iter().enumerate();
        all.filter(move |(_, transition)| transition.from == point).map(|(index, _)| index)
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
        let mut query = vec![self.system.transitions[index].guard, fails];
        query.extend(premises);
        queries.check(&query)
    }
}

/// The variables that are words of 2 to 64 bits, and such variables extended to more bits as somewhere
/// in the system.
pub(crate) fn words(pool: &TermPool, system: &System) -> Vec<Term> {
    let is_word = |term: &Term| matches!(pool.sort(*term), Sort::BitVec(2..=64));
    let symbols = system.variables.values().map(|variable| variable.symbol);
    let mut words: Vec<Term> = symbols.filter(is_word).collect();
    let later = system.transitions.iter().filter(|transition| transition.from != system.entry);
    let terms = later.flat_map(|t| t.next.iter().copied().chain([t.guard]));
    let approaches = system.goals.values().flat_map(|goal| &goal.approaches);
    let mut waiting: Vec<Term> = terms.chain(approaches.map(|way| way.condition)).collect();
    let mut seen: FxHashSet<Term> = waiting.iter().copied().collect();
    let count = words.len();
    while let Some(term) = waiting.pop() {
        if let Node::Un(UnOp::ZExt | UnOp::SExt, inner) = pool.node(term)
            && words[..count].contains(&inner)
            && is_word(&term)
        {
            words.push(term);
        }
        waiting.extend(pool.children(term).into_iter().filter(|child| seen.insert(*child)));
    }
    words
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
fn both(a: &Invariants, b: &Invariants, point: PointId) -> Vec<Term> {
    [&a[point.index()][..], &b[point.index()][..]].concat()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lydian_smt::{Evaluator, Limits, Model};

    use super::equations::{columns, equations};
    use super::houdini::preserved;
    use super::templates::{Effort, candidates};
    use super::*;
    use crate::engines::induction::Induction;
    use crate::engines::sampling::Samples;
    use crate::engines::slicing::Slice;
    use crate::engines::testing::search::{Reachable, reachable, value};
    use crate::engines::testing::{Fixture, random, solver};

    fn assert_hold(fixture: &Fixture, reached: &Reachable, invariants: &Invariants) {
        let mut evaluator = Evaluator::new();
        let symbols: Vec<Term> = fixture.system.variables.values().map(|v| v.symbol).collect();
        for (point, state) in &reached.states {
            let values = symbols.iter().zip(state);
            let of =
                |(symbol, bits): (&Term, &u64)| (*symbol, value(fixture.pool.sort(*symbol), *bits));
            let model = Model::from_values(values.map(of).collect());
            for formula in &invariants[point.index()] {
                let text = fixture.pool.show(*formula);
                assert!(evaluator.holds(&fixture.pool, &model, *formula), "{text}");
            }
        }
    }

    #[test]
    fn invariants_of_random_systems_hold_in_all_states_and_induction_by_them_is_right() {
        let (mut found, mut proved) = (0, 0);
        for seed in 6000..6150 {
            let mut fixture = random(seed);
            let goals = fixture.goals();
            let slice = Slice::new(&mut fixture.pool, &fixture.system, &goals);
            let mut fixture = Fixture { pool: fixture.pool, system: slice.system };
            let reached = reachable(&mut fixture);
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
            assert_hold(&fixture, &reached, &invariants);
        }
        assert!(found > 300 && proved > 100, "{found} invariants, {proved} proofs");
    }
}
