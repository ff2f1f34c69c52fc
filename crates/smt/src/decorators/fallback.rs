//! A second solver for what the first gives up on.

use crate::pool::TermPool;
use crate::solver::{Answer, Limits, Reason, Solver};
use crate::term::Term;

/// Asks a second solver where the first has no answer.
pub struct Fallback<S, T> {
    first: S,
    second: T,
}

impl<S: Solver, T: Solver> Fallback<S, T> {
    /// A solver that asks `first`, then `second`.
    pub fn new(first: S, second: T) -> Fallback<S, T> {
        Fallback { first, second }
    }
}

impl<S: Solver, T: Solver> Solver for Fallback<S, T> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let deadline = limits.deadline();
        match self.first.check(pool, assumptions, limits) {
            Answer::Unknown(reason)
                if reason != Reason::Interrupted && !reason.is_internal_error() =>
            {
                let mut rest = limits.clone();
                // A first solver that used up the time leaves the second as much again: the
                // caller gets an answer within twice its limit.
                if let Some(d) = deadline {
                    let left = d.saturating_duration_since(std::time::Instant::now());
                    rest.time = limits.time.map(|t| if left.is_zero() { t } else { left });
                }
                match self.second.check(pool, assumptions, &rest) {
                    // The first solver's reason says more than that another is missing.
                    Answer::Unknown(Reason::BackendMissing(_)) => Answer::Unknown(reason),
                    answer => answer,
                }
            }
            answer => answer,
        }
    }

    fn name(&self) -> String {
        format!("{}, else {}", self.first.name(), self.second.name())
    }
}
