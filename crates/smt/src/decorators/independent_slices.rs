//! Splits a query into parts that share no variable and solves each alone.
//!
//! A path condition is mostly made of conditions on different inputs. Slices are small, and a
//! cache below this decorator finds most of them solved before.

use crate::solver::{Answer, Limits, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;
use rustc_hash::FxHashMap;

/// Solves slices of assumptions with shared variables one after the other.
pub struct IndependentSlices<S> {
    inner: S,
}

impl<S: Solver> IndependentSlices<S> {
    /// Wraps a solver.
    pub fn new(inner: S) -> IndependentSlices<S> {
        IndependentSlices { inner }
    }
}

/// The assumptions in groups, such that no variable is in two groups; groups and their members are
/// in order of first appearance. Assumptions without variables form a group each.
fn slices(pool: &mut TermPool, assumptions: &[Term]) -> Vec<Vec<Term>> {
    let mut parent: Vec<usize> = (0..assumptions.len()).collect();
    fn root(parent: &mut [usize], mut i: usize) -> usize {
        while parent[i] != i {
            parent[i] = parent[parent[i]];
            i = parent[i];
        }
        i
    }
    let mut owner: FxHashMap<Term, usize> = FxHashMap::default();
    for (i, &a) in assumptions.iter().enumerate() {
        for &v in pool.vars_of(a).iter() {
            let j = *owner.entry(v).or_insert(i);
            let (x, y) = (root(&mut parent, i), root(&mut parent, j));
            parent[x.max(y)] = x.min(y);
        }
    }
    let mut groups: Vec<Vec<Term>> = Vec::new();
    let mut group_of: FxHashMap<usize, usize> = FxHashMap::default();
    for (i, &a) in assumptions.iter().enumerate() {
        let r = root(&mut parent, i);
        let g = *group_of.entry(r).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[g].push(a);
    }
    groups
}

impl<S: Solver> Solver for IndependentSlices<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let mut groups = slices(pool, assumptions);
        if groups.len() <= 1 {
            return self.inner.check(pool, assumptions, limits);
        }
        // The slice of the newest assumption first: the others were mostly asked before.
        let newest = assumptions.last().copied();
        groups.sort_by_key(|g| g.last().copied() != newest);
        let deadline = limits.deadline();
        let mut unknown = None;
        let mut values = Vec::new();
        for group in groups {
            let mut limits = limits.clone();
            if let Some(d) = deadline {
                limits.time = Some(d.saturating_duration_since(std::time::Instant::now()));
            }
            match self.inner.check(pool, &group, &limits) {
                Answer::Sat(model) => {
                    // A cached model may name variables of other slices: only its own count.
                    for a in group {
                        for &v in pool.vars_of(a).iter() {
                            values.extend(model.get(v).map(|x| (v, x.clone())));
                        }
                    }
                }
                Answer::Unsat { core } => return Answer::Unsat { core: core.or(Some(group)) },
                // A later slice may still be unsatisfiable.
                Answer::Unknown(r) => unknown = unknown.or(Some(r)),
            }
        }
        match unknown {
            Some(r) => Answer::Unknown(r),
            None => Answer::Sat(Model::from_values(values)),
        }
    }

    forward_to_inner!(offer, forget, effort, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::sort::Sort;

    #[test]
    fn assumptions_that_share_variables_through_others_are_one_slice() {
        let mut p = TermPool::new();
        let v: Vec<Term> = (0..4).map(|i| p.var(&format!("v{i}"), Sort::BitVec(8))).collect();
        let a = p.ult(v[0], v[1]);
        let b = p.ult(v[2], v[3]);
        let c = p.ult(v[1], v[2]);
        assert_eq!(slices(&mut p, &[a, b]), vec![vec![a], vec![b]]);
        assert_eq!(slices(&mut p, &[a, b, c]), vec![vec![a, b, c]]);
    }
}
