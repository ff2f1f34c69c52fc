//! A second solver for queries that the first gives up on.

use crate::solver::{Answer, Limits, Reason, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;

/// Asks a second solver if the first has no answer. A limit of conflicts means that little effort is
/// wanted: if it is used up, the second solver is not asked.
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
                if reason != Reason::Interrupted
                    && !matches!(reason, Reason::Conflicts(_))
                    && !reason.is_internal_error() =>
            {
                let mut rest = limits.clone();
                // A first solver that used up the time leaves the second as much again: the
                // caller gets an answer within twice its limit, but never after the run's end.
                if let (Some(d), Some(t)) = (deadline, limits.time) {
                    let now = std::time::Instant::now();
                    if limits.end.is_some_and(|end| now >= end) {
                        return Answer::Unknown(reason);
                    }
                    let left = d.saturating_duration_since(now);
                    rest.time = Some(if left.is_zero() { t } else { left });
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

    fn forget(&mut self) {
        self.first.forget();
        self.second.forget();
    }

    fn effort(&self) -> u64 {
        self.first.effort() + self.second.effort()
    }

    fn name(&self) -> String {
        format!("{}, else {}", self.first.name(), self.second.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::Sort;
    use std::time::{Duration, Instant};

    /// Gives up at once, and counts how often it was asked.
    struct UnknownSolver<'a>(&'a std::cell::Cell<u32>);

    impl Solver for UnknownSolver<'_> {
        fn check(&mut self, _: &mut TermPool, _: &[Term], _: &Limits) -> Answer {
            self.0.set(self.0.get() + 1);
            Answer::Unknown(Reason::Time(Duration::ZERO))
        }
        fn name(&self) -> String {
            "nobody".into()
        }
    }

    #[test]
    fn the_second_solver_is_not_asked_after_the_end_of_the_run() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::Bool);
        let (first, second) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        let mut both = Fallback::new(UnknownSolver(&first), UnknownSolver(&second));
        let now = Instant::now();
        let over = Limits { end: Some(now), ..Limits::time(Duration::from_secs(9)) };
        assert!(matches!(both.check(&mut pool, &[x], &over), Answer::Unknown(_)));
        assert_eq!((first.get(), second.get()), (1, 0));
        let more = Limits { end: Some(now + Duration::from_secs(3600)), ..over };
        both.check(&mut pool, &[x], &more);
        assert_eq!((first.get(), second.get()), (2, 1));
    }

    #[test]
    fn no_deadline_lies_after_the_end_of_the_run() {
        let now = Instant::now();
        let limits = Limits { end: Some(now), ..Limits::time(Duration::from_secs(9)) };
        assert_eq!(limits.deadline(), Some(now));
        assert_eq!(Limits { end: Some(now), ..Limits::none() }.deadline(), Some(now));
    }
}
