//! Refutes queries by linear arithmetic over the integers before they are solved as circuits.

use crate::analysis::linear;
use crate::solver::{Answer, Limits, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;

/// The most work for one query, in splits and rows (some tenths of a millisecond).
const MOST_WORK: usize = 4_000;
/// The work that may be spent at the beginning.
const FIRST_WORK: usize = 20_000;
/// The work earned by a refuted query: about the effort of a SAT solver for it.
const EARNED: usize = 2_000;
/// The work earned by any other query, so that linear parts later in a program are tried again.
const GRANTED: usize = 20;

/// Refutes queries whose comparisons of sums contradict each other. If few queries are refuted, few are
/// tried: the work saved by refutations is spent on later queries.
pub struct LinearRefutation<S> {
    inner: S,
    /// The work that may still be spent.
    left: usize,
    /// Queries answered without the inner solver.
    pub refuted: u64,
}

impl<S: Solver> LinearRefutation<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> LinearRefutation<S> {
        LinearRefutation { inner, left: FIRST_WORK, refuted: 0 }
    }

    /// Assumptions that contradict each other, if a contradiction is found within the remaining work.
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

    forward_to_inner!(offer, forget, effort, name);
}
