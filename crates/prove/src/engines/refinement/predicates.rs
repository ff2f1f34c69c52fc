//! The predicates of cubes.

use lydian_smt::{Evaluator, Model, Sort, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::invariants::templates::{Found, atoms};
use crate::engines::refinement::frames::Cube;
use crate::engines::trace::Choice;
use crate::system::{GoalId, System};

/// The most predicates.
const MOST_PREDICATES: usize = 160;
/// The most formulas that are followed back along one counterexample.
const MOST_FORMULAS: usize = 400;

/// Formulas over variables.
pub(super) struct Predicates {
    found: Found,
    evaluator: Evaluator,
}

impl Predicates {
    /// The atoms of guards and approaches, and constants that variables have at first.
    pub(super) fn new(pool: &mut TermPool, system: &System) -> Self {
        let mut found = Found::new(system);
        for atom in atoms(pool, system) {
            found.add(pool, atom);
        }
        for transition in system.transitions.iter().filter(|t| t.from == system.entry) {
            for (variable, value) in system.variables.values().zip(&transition.next) {
                let is_array = matches!(pool.sort(*value), Sort::Array { .. });
                if !is_array && pool.is_const(*value).is_some() {
                    let equation = pool.eq(variable.symbol, *value);
                    found.add(pool, equation);
                }
            }
        }
        Self { found, evaluator: Evaluator::new() }
    }

    /// The cube of the state in a model.
    pub(super) fn cube(&mut self, pool: &mut TermPool, model: &Model) -> Cube {
        let mut cube = Vec::new();
        for predicate in self.found.formulas() {
            let holds = self.evaluator.holds(pool, model, *predicate);
            cube.push(if holds { *predicate } else { pool.not(*predicate) });
        }
        cube.sort_unstable();
        cube
    }

    /// Adds predicates that exclude ways which no run takes, by weakest preconditions of those conditions
    /// along the ways that contradict each other. Whether any was new.
    pub(super) fn refine(
        &mut self,
        pool: &mut TermPool,
        system: &System,
        goal: GoalId,
        ways: &[Choice],
        contradicting: &[bool],
    ) -> bool {
        let before = self.found.formulas().len();
        let mut followed: Vec<Term> = Vec::new();
        let mut seen: FxHashSet<Term> = FxHashSet::default();
        for (way, contradicts) in ways.iter().zip(contradicting).rev() {
            let condition = match *way {
                Choice::Transition(index) => {
                    let transition = &system.transitions[index];
                    let mut known: FxHashMap<Term, Term> = system.at(&transition.next);
                    for formula in &mut followed {
                        *formula = pool.substituted(*formula, &mut known);
                    }
                    transition.guard
                }
                Choice::Approach(index) => system.goals[goal].approaches[index].condition,
            };
            if *contradicts && followed.len() < MOST_FORMULAS {
                followed.push(condition);
            }
            for formula in followed.clone() {
                if seen.insert(formula) && self.found.formulas().len() < MOST_PREDICATES {
                    self.found.add_parts(pool, formula);
                }
            }
        }
        self.found.formulas().len() > before
    }
}
