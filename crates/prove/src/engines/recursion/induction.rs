//! The largest set of candidates for contracts, and for invariants, that hold together.
//!
//! Houdini (Flanagan and Leino: *Houdini, an Annotation Assistant for ESC/Java*, 2001), which was made
//! for contracts: candidates are assumed where a transition begins and of each call on its way, and those
//! that can fail where it ends are removed, until none can.

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Term};
use rustc_hash::FxHashMap;

use crate::engines::invariants::houdini::Survivors;
use crate::engines::invariants::{Consecution, Invariants, both, settle};
use crate::engines::queries::Queries;
use crate::engines::recursion::contracts::{Recursive, premises};
use crate::system::{PointId, Transition};

/// The candidates that hold on every run, given what is `known` to hold.
pub(crate) fn inductive(
    queries: &mut Queries<'_>,
    recursive: Recursive<'_>,
    known: &Invariants,
    candidates: Invariants,
) -> Survivors {
    let system = recursive.system;
    let consecution = Consecution::new(system);
    let mut search =
        Search { recursive, known, candidates, consecution, instances: FxHashMap::default() };
    search.candidates[system.entry.index()].clear();
    let again = |transition: &Transition, point: PointId| {
        let mut calls = recursive.calls_from(transition.from);
        transition.from == point || calls.any(|call| call.exit == Some(point))
    };
    let hold =
        settle(queries, system, again, |queries, index| search.remove_failing(queries, index));
    Survivors { candidates: search.candidates, hold }
}

struct Search<'s> {
    recursive: Recursive<'s>,
    known: &'s Invariants,
    candidates: Invariants,
    consecution: Consecution<'s>,
    /// By call and formula: the formula about the call.
    instances: FxHashMap<(Term, Term), Option<Term>>,
}

impl Search<'_> {
    /// Removes candidates that fail, or are not shown to hold, where a transition ends. Whether some did.
    fn remove_failing(&mut self, queries: &mut Queries<'_>, index: usize) -> bool {
        let transition = &self.recursive.system.transitions[index];
        let to = transition.to.index();
        let claims = self.candidates[to].clone();
        if claims.is_empty() || queries.expired() {
            return false;
        }
        let premises = self.premises(queries, transition);
        let kept = match self.consecution.violate(queries, index, &premises, &claims) {
            Answer::Unsat { .. } => return false,
            Answer::Sat(model) => self.consecution.kept(queries.pool, index, &model, &claims),
            Answer::Unknown(_) => self.consecution.kept_alone(queries, index, &premises, &claims),
        };
        self.candidates[to] = kept;
        self.candidates[to].len() < claims.len()
    }

    fn premises(&mut self, queries: &mut Queries<'_>, transition: &Transition) -> Vec<Term> {
        let mut found = both(self.known, &self.candidates, transition.from);
        let symbols = queries.pool.vars_of(transition.guard);
        for call in self.recursive.calls_from(transition.from) {
            if !symbols.contains(&call.returns) {
                continue;
            }
            let Some(exit) = call.exit else {
                found.push(queries.pool.not(call.returns));
                continue;
            };
            for formula in both(self.known, &self.candidates, exit) {
                let instance =
                    *self.instances.entry((call.returns, formula)).or_insert_with(|| {
                        let mut contracts = vec![Vec::new(); self.known.len()];
                        contracts[exit.index()].push(formula);
                        premises(queries.pool, call, &contracts).pop()
                    });
                found.extend(instance);
            }
        }
        found
    }
}
