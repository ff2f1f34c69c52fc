//! Refutes queries by linear arithmetic over the integers before they are solved as circuits.

use crate::linear;
use crate::pool::TermPool;
use crate::solver::{Answer, Limits, Solver};
use crate::term::Term;
use crate::value::Model;

/// What one query may take, in splits and rows that are looked at (some tenths of a millisecond).
const MOST_WORK: usize = 4_000;
/// What there is to spend at the beginning.
const FIRST_WORK: usize = 20_000;
/// What a refuted query earns: about what a SAT solver takes for it.
const EARNED: usize = 2_000;
/// What each other query earns, so that programs whose later parts are linear are tried again.
const GRANTED: usize = 20;

/// Answers queries whose comparisons of sums contradict each other. Where few do, few are looked at:
/// what refutations save is spent on the next.
pub struct LinearRefutation<S> {
    inner: S,
    /// Work that may be done.
    left: usize,
    /// Queries answered without the inner solver.
    pub refuted: u64,
}

impl<S: Solver> LinearRefutation<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> LinearRefutation<S> {
        LinearRefutation { inner, left: FIRST_WORK, refuted: 0 }
    }

    /// Assumptions that contradict each other, if that is found with the work that may be done.
    fn refute(&mut self, pool: &TermPool, query: &[Term], haste: bool) -> Option<Vec<Term>> {
        self.left = (self.left + GRANTED).min(FIRST_WORK);
        if self.left < MOST_WORK {
            return None;
        }
        let mut work = MOST_WORK;
        let core = linear::refute(pool, query, haste, &mut work);
        self.left -= MOST_WORK - work;
        if core.is_some() {
            self.left += EARNED;
            self.refuted += 1;
        }
        core
    }
}

impl<S: Solver> Solver for LinearRefutation<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        match self.refute(pool, assumptions, limits.conflicts == Some(0)) {
            Some(core) => Answer::Unsat { core: Some(core) },
            None => self.inner.check(pool, assumptions, limits),
        }
    }

    fn offer(&mut self, pool: &TermPool, model: &Model) {
        self.inner.offer(pool, model);
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    fn effort(&self) -> u64 {
        self.inner.effort()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
