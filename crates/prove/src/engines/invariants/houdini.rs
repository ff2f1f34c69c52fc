//! The largest set of candidates that all transitions preserve together.
//!
//! Houdini (Flanagan and Leino: *Houdini, an Annotation Assistant for ESC/Java*, 2001): all candidates
//! are assumed where a transition begins. Those that can fail where it ends are removed, until none can.
//! A model of a failure removes every candidate that is false in it.

use std::collections::VecDeque;
use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Term};

use crate::engines::invariants::{Consecution, Invariants, both};
use crate::engines::queries::Queries;
use crate::system::System;

/// The time of a query about a single candidate, after one about all had no answer.
const SINGLE: Duration = Duration::from_millis(20);

/// The candidates that are left.
pub(crate) struct Survivors {
    /// The candidates by point.
    pub(crate) candidates: Invariants,
    /// Whether they hold on every run; else the time was over before that was known.
    pub(crate) hold: bool,
}

/// The candidates that hold at their points on every run. `known` are other formulas that do.
pub(crate) fn preserved(
    queries: &mut Queries<'_>,
    system: &System,
    known: &Invariants,
    candidates: Invariants,
) -> Survivors {
    let mut houdini = Houdini {
        system,
        known,
        candidates,
        consecution: Consecution::new(system),
        evaluator: Evaluator::new(),
    };
    houdini.candidates[system.entry.index()].clear();
    let mut waiting: VecDeque<usize> = (0..system.transitions.len()).collect();
    while let Some(index) = waiting.pop_front() {
        let mut changed = false;
        while houdini.remove_failing(queries, index) {
            changed = true;
        }
        if queries.expired() {
            return Survivors { candidates: houdini.candidates, hold: false };
        }
        if changed {
            let to = system.transitions[index].to;
            let again = houdini.consecution.leaving(to).filter(|next| !waiting.contains(next));
            let again: Vec<usize> = again.collect();
            waiting.extend(again);
        }
    }
    Survivors { candidates: houdini.candidates, hold: true }
}

struct Houdini<'s> {
    system: &'s System,
    known: &'s Invariants,
    candidates: Invariants,
    consecution: Consecution<'s>,
    evaluator: Evaluator,
}

impl Houdini<'_> {
    /// Removes candidates that fail where a transition ends, as long as some do.
    fn remove_failing(&mut self, queries: &mut Queries<'_>, index: usize) -> bool {
        let (from, to) = {
            let transition = &self.system.transitions[index];
            (transition.from, transition.to)
        };
        let claims = self.candidates[to.index()].clone();
        if claims.is_empty() || queries.expired() {
            return false;
        }
        let premises = both(self.known, &self.candidates, from);
        match self.consecution.violate(queries, index, &premises, &claims) {
            Answer::Unsat { .. } => false,
            Answer::Sat(model) => {
                let mut kept = Vec::new();
                for claim in claims.iter().copied() {
                    let after = self.consecution.after(queries.pool, index, claim);
                    if self.evaluator.holds(queries.pool, &model, after) {
                        kept.push(claim);
                    }
                }
                // A model that satisfies all claims is no model of the query.
                let some = kept.len() < claims.len();
                self.candidates[to.index()] = if some { kept } else { Vec::new() };
                true
            }
            Answer::Unknown(_) => self.remove_one_by_one(queries, index, &premises, &claims),
        }
    }

    /// Removes the candidates that are not shown to be preserved by queries about each.
    fn remove_one_by_one(
        &mut self,
        queries: &mut Queries<'_>,
        index: usize,
        premises: &[Term],
        claims: &[Term],
    ) -> bool {
        let mut queries = queries.at_most(SINGLE);
        let mut kept = Vec::new();
        for claim in claims {
            if self.consecution.violate(&mut queries, index, premises, &[*claim]).is_unsat() {
                kept.push(*claim);
            }
        }
        let to = self.system.transitions[index].to;
        let removed = kept.len() < claims.len();
        self.candidates[to.index()] = kept;
        removed
    }
}
