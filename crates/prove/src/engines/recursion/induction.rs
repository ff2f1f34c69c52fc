//! The largest set of candidates for contracts, and for invariants, that hold together.
//!
//! Houdini (Flanagan and Leino: *Houdini, an Annotation Assistant for ESC/Java*, 2001), which was made
//! for contracts: candidates are assumed where a transition begins and of each call on its way, and those
//! that can fail where it ends are removed, until none can.

use lydian_smt::{Term, TermPool};
use rustc_hash::FxHashMap;

use crate::engines::invariants::houdini::{Survivors, preserved_with};
use crate::engines::invariants::{Invariants, both};
use crate::engines::queries::Queries;
use crate::engines::recursion::contracts::{Recursive, instance};
use crate::system::{PointId, Transition};

/// The candidates that hold on every run, given what is `known` to hold.
pub(crate) fn inductive(
    queries: &mut Queries<'_>,
    recursive: Recursive<'_>,
    known: &Invariants,
    candidates: Invariants,
) -> Survivors {
    let mut premises = Premises { recursive, known, instances: FxHashMap::default() };
    let again = |transition: &Transition, point: PointId| {
        let mut calls = recursive.calls_from(transition.from);
        transition.from == point || calls.any(|call| call.exit == Some(point))
    };
    preserved_with(queries, recursive.system, candidates, again, |pool, transition, candidates| {
        premises.of(pool, transition, candidates)
    })
}

/// The premises of transitions.
struct Premises<'s> {
    recursive: Recursive<'s>,
    known: &'s Invariants,
    /// By call and formula: the formula about the call.
    instances: FxHashMap<(Term, Term), Option<Term>>,
}

impl Premises<'_> {
    /// The formulas where a transition begins, and those about the calls on its way.
    fn of(
        &mut self,
        pool: &mut TermPool,
        transition: &Transition,
        candidates: &Invariants,
    ) -> Vec<Term> {
        let mut found = both(self.known, candidates, transition.from);
        let symbols = pool.vars_of(transition.guard);
        for call in self.recursive.calls_from(transition.from) {
            if !symbols.contains(&call.returns) {
                continue;
            }
            let Some(exit) = call.exit else {
                found.push(pool.not(call.returns));
                continue;
            };
            for formula in both(self.known, candidates, exit) {
                let known = self.instances.entry((call.returns, formula));
                found.extend(*known.or_insert_with(|| instance(pool, call, formula)));
            }
        }
        found
    }
}
