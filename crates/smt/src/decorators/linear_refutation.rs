//! Refutes queries by linear arithmetic over the integers before they are solved as circuits.

use crate::linear;
use crate::pool::TermPool;
use crate::solver::{Answer, Limits, Solver};
use crate::term::Term;
use crate::value::Model;

/// Answers queries whose comparisons of sums contradict each other.
pub struct LinearRefutation<S> {
    inner: S,
    /// Queries answered without the inner solver.
    pub refuted: u64,
}

impl<S: Solver> LinearRefutation<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> LinearRefutation<S> {
        LinearRefutation { inner, refuted: 0 }
    }
}

impl<S: Solver> Solver for LinearRefutation<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if let Some(core) = linear::refute(pool, assumptions, limits.conflicts == Some(0)) {
            self.refuted += 1;
            return Answer::Unsat { core: Some(core) };
        }
        self.inner.check(pool, assumptions, limits)
    }

    fn offer(&mut self, pool: &TermPool, model: &Model) {
        self.inner.offer(pool, model);
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
