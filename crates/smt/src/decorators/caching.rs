//! A cache of answers, which also decides other queries by them.
//!
//! A query is unsatisfiable if it contains a core seen before, and satisfiable if it is part of a
//! query that was.

use crate::solver::{Answer, Limits, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A query's terms in order, shared by the tables of the cache.
type Query = Arc<[Term]>;

/// The most candidates that are compared for one term of a query.
const MAX_CANDIDATES: usize = 32;
/// The most answers before the cache starts anew.
const MAX_ENTRIES: usize = 200_000;

#[derive(Clone)]
enum CachedAnswer {
    Sat(Model),
    Unsat(Option<Vec<Term>>),
}

/// Answers queries from earlier answers that decide them. Unknown is never remembered.
pub struct Caching<S> {
    inner: S,
    pool: u64,
    exact: FxHashMap<Query, CachedAnswer>,
    /// Cores by their newest term.
    cores: FxHashMap<Term, Vec<Query>>,
    /// Satisfiable queries by each of their terms.
    satisfiable: FxHashMap<Term, Vec<Query>>,
    /// Queries answered without the inner solver.
    pub hits: u64,
}

/// Whether the sorted `small` is a subset of the sorted `big`.
fn subset(small: &[Term], big: &[Term]) -> bool {
    let mut rest = big.iter();
    small.len() <= big.len() && small.iter().all(|t| rest.any(|u| u == t))
}

/// Adds a query to a list of which only the newest are used.
fn keep(list: &mut Vec<Query>, query: &Query) {
    if list.len() >= 2 * MAX_CANDIDATES {
        list.drain(..MAX_CANDIDATES);
    }
    list.push(query.clone());
}

impl<S: Solver> Caching<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> Caching<S> {
        Caching {
            inner,
            pool: 0,
            exact: FxHashMap::default(),
            cores: FxHashMap::default(),
            satisfiable: FxHashMap::default(),
            hits: 0,
        }
    }

    fn look_up(&self, query: &[Term]) -> Option<CachedAnswer> {
        if let Some(k) = self.exact.get(query) {
            return Some(k.clone());
        }
        for t in query {
            if let Some(cores) = self.cores.get(t)
                && let Some(core) =
                    cores.iter().rev().take(MAX_CANDIDATES).find(|c| subset(c, query))
            {
                return Some(CachedAnswer::Unsat(Some(core.to_vec())));
            }
        }
        let newest = query.last()?;
        let superset = self
            .satisfiable
            .get(newest)?
            .iter()
            .rev()
            .take(MAX_CANDIDATES)
            .find(|s| subset(query, s))?;
        self.exact.get(superset).cloned()
    }

    fn remember(&mut self, query: Query, answer: &Answer) {
        if self.exact.len() >= MAX_ENTRIES {
            self.forget_answers();
        }
        let known = match answer {
            Answer::Sat(m) => {
                for &t in query.iter() {
                    keep(self.satisfiable.entry(t).or_default(), &query);
                }
                CachedAnswer::Sat(m.clone())
            }
            Answer::Unsat { core } => {
                let mut terms = core.as_ref().map_or_else(|| query.to_vec(), Clone::clone);
                terms.sort_unstable();
                terms.dedup();
                if let Some(&newest) = terms.last() {
                    keep(self.cores.entry(newest).or_default(), &terms.into());
                }
                CachedAnswer::Unsat(core.clone())
            }
            Answer::Unknown(_) => return,
        };
        self.exact.insert(query, known);
    }

    fn forget_answers(&mut self) {
        self.exact = FxHashMap::default();
        self.cores = FxHashMap::default();
        self.satisfiable = FxHashMap::default();
    }
}

impl<S: Solver> Solver for Caching<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        if self.pool != pool.id() {
            self.pool = pool.id();
            self.forget_answers();
        }
        let mut query: SmallVec<[Term; 32]> = assumptions.iter().copied().collect();
        query.sort_unstable();
        query.dedup();
        if let Some(known) = self.look_up(&query) {
            self.hits += 1;
            return match known {
                CachedAnswer::Sat(m) => Answer::Sat(m),
                CachedAnswer::Unsat(core) => Answer::Unsat { core },
            };
        }
        let answer = self.inner.check(pool, assumptions, limits);
        self.remember(query[..].into(), &answer);
        answer
    }

    fn forget(&mut self) {
        self.forget_answers();
        self.inner.forget();
    }

    forward_to_inner!(offer, effort, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitblast::BitBlastSolver;
    use crate::bitblast::SatBackend;
    use crate::terms::sort::Sort;

    #[test]
    fn the_newest_queries_of_a_term_are_kept() {
        let mut p = TermPool::new();
        let terms: Vec<Term> = (0..200).map(|i| p.var(&format!("b{i}"), Sort::Bool)).collect();
        let mut list = Vec::new();
        for pair in terms.windows(2) {
            keep(&mut list, &pair.into());
        }
        assert!(list.len() >= MAX_CANDIDATES && list.len() <= 2 * MAX_CANDIDATES);
        assert_eq!(list.last().map(|query| &query[..]), Some(&terms[198..]));
        let newest = list.iter().rev().take(MAX_CANDIDATES).map(|query| query[1]);
        assert!(newest.eq(terms.iter().rev().take(MAX_CANDIDATES).copied()));
    }

    #[test]
    fn supersets_of_cores_and_subsets_of_satisfiable_queries_need_no_solver() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(8)), p.var("y", Sort::BitVec(8)));
        let (a, b) = (p.ult(x, y), p.ult(y, x));
        let k = p.bv(8, 9);
        let c = p.ult(x, k);
        let mut s = Caching::new(BitBlastSolver::new(SatBackend::Batsat));
        let none = Limits::none();
        assert!(s.check(&mut p, &[a, c], &none).is_sat());
        assert!(s.check(&mut p, &[a, b], &none).is_unsat());
        assert_eq!(s.hits, 0);
        assert!(s.check(&mut p, &[c], &none).is_sat());
        assert!(s.check(&mut p, &[c, b, a], &none).is_unsat());
        assert_eq!(s.hits, 2);
    }
}
