//! Assignments that are tried before a solver is asked.
//!
//! Most predicates are true on many states. Assignments of small numbers, equal numbers, neighbours and a few
//! extremes show that for most predicates. Evaluating them takes a thousandth of the time of a solver's query.

use lydian_base::random::Rng;
use lydian_smt::{Evaluator, FloatSort, Model, Sort, Term, TermPool, Value};

/// The number of assignments.
const COUNT: usize = 32;

/// Numbers of a small range in the first assignments, so that numbers are often equal: the end of
/// these assignments, and the range.
const SMALL: [(usize, u64); 2] = [(10, 3), (22, 8)];

/// One assignment, with the evaluator of its values and the source of further ones.
struct Sample {
    model: Model,
    evaluator: Evaluator,
    rng: Rng,
}

/// Assignments to variables, the same in each run.
#[derive(Default)]
pub(crate) struct Samples {
    samples: Vec<Sample>,
    /// The number of variables that they have values for.
    known: usize,
}

impl Samples {
    /// Whether some assignment to these variables makes all of the terms true. The variables are those of
    /// earlier calls and then new ones.
    pub(crate) fn satisfy(
        &mut self,
        pool: &TermPool,
        variables: &[(Term, Sort)],
        terms: &[Term],
    ) -> bool {
        if self.samples.is_empty() {
            let fresh = |at| Sample {
                model: Model::new(),
                evaluator: Evaluator::new(),
                rng: Rng::new(at as u64),
            };
            self.samples = (0..COUNT).map(fresh).collect();
        }
        let new = &variables[self.known..];
        self.known = variables.len();
        for (at, Sample { model, rng, .. }) in self.samples.iter_mut().enumerate() {
            if !new.is_empty() {
                *model = model
                    .with(new.iter().map(|(var, sort)| (*var, value_of(*sort, number(at, rng)))));
            }
        }
        // The last term is the likeliest to be false.
        self.samples.iter_mut().any(|Sample { model, evaluator, .. }| {
            terms.iter().rev().all(|term| evaluator.holds(pool, model, *term))
        })
    }
}

/// The value of a sort for a number; floats have the number's value.
pub(crate) fn value_of(sort: Sort, number: u64) -> Value {
    match sort {
        Sort::Float(FloatSort::F32) => {
            Value::from_u64(sort, u64::from((number as i64 as f32).to_bits()))
        }
        Sort::Float(FloatSort::F64) => Value::from_u64(sort, (number as i64 as f64).to_bits()),
        _ => Value::from_u64(sort, number),
    }
}

/// A number for the assignment at a position.
fn number(at: usize, rng: &mut Rng) -> u64 {
    if let Some((_, range)) = SMALL.iter().find(|(end, _)| at < *end) {
        return rng.below(*range).wrapping_sub(u64::from(*range > 4));
    }
    match rng.below(6) {
        0 => rng.below(256),
        1 => rng.below(256).wrapping_neg(),
        2 => 1 << rng.below(64),
        3 => (1 << rng.below(64)) - 1,
        4 => (rng.below(16) + 1) << 12,
        _ => rng.next_u64(),
    }
}
