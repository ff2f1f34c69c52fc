//! Two solvers that must agree.

use crate::solver::{Answer, Limits, Reason, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::text::smtlib;
use std::path::PathBuf;

/// Asks two solvers every query; a disagreement is an internal error that keeps the query.
pub struct CrossCheck<S, T> {
    first: S,
    second: T,
    keep: PathBuf,
    found: u32,
}

impl<S: Solver, T: Solver> CrossCheck<S, T> {
    /// Compares `second` with `first`; queries on which they disagree are written to the folder
    /// `keep`.
    pub fn new(first: S, second: T, keep: PathBuf) -> CrossCheck<S, T> {
        CrossCheck { first, second, keep, found: 0 }
    }
}

impl<S: Solver, T: Solver> Solver for CrossCheck<S, T> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let first = self.first.check(pool, assumptions, limits);
        let second = self.second.check(pool, assumptions, limits);
        if matches!(&second, Answer::Unknown(r) if r.is_internal_error()) {
            return second;
        }
        if first.is_sat() && second.is_unsat() || first.is_unsat() && second.is_sat() {
            self.found += 1;
            let path = self.keep.join(format!("disagreement-{}.smt2", self.found));
            let text = smtlib::script(pool, assumptions);
            let kept = std::fs::create_dir_all(&self.keep)
                .and_then(|()| std::fs::write(&path, text))
                .is_ok();
            return Answer::Unknown(Reason::Disagreement {
                first: self.first.name(),
                second: self.second.name(),
                query: kept.then_some(path),
            });
        }
        match first {
            Answer::Unknown(_) => second,
            _ => first,
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
        format!("{} checked by {}", self.first.name(), self.second.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::Sort;
    use crate::terms::value::Model;

    struct FixedAnswer(Answer);

    impl Solver for FixedAnswer {
        fn check(&mut self, _: &mut TermPool, _: &[Term], _: &Limits) -> Answer {
            self.0.clone()
        }
        fn name(&self) -> String {
            self.0.to_string()
        }
    }

    #[test]
    fn a_disagreement_is_an_error_that_keeps_the_query() {
        let folder = std::env::temp_dir().join(format!("lydian-cross-{}", std::process::id()));
        let mut p = TermPool::new();
        let b = p.var("b", Sort::Bool);
        let mut s = CrossCheck::new(
            FixedAnswer(Answer::Sat(Model::new())),
            FixedAnswer(Answer::Unsat { core: None }),
            folder.clone(),
        );
        let answer = s.check(&mut p, &[b], &Limits::none());
        let Answer::Unknown(Reason::Disagreement { query: Some(path), .. }) = answer else {
            panic!("{answer}");
        };
        assert!(std::fs::read_to_string(path).expect("kept").contains("(check-sat)"));
        std::fs::remove_dir_all(folder).expect("the folder was made");
    }
}
