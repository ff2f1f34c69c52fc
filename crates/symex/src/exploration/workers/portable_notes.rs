//! What a path met for hyperlabels, on its way to another worker with its state.
//!
//! The evaluations of decisions, what it bound for guards, and the sequences that it is in the midst of
//! do not come back when its log is played, since nothing is looked at then. They are terms over the
//! inputs of the path, which are the same in any pool.

use lydian_smt::{PortableTerms, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::State;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::Underway;

/// It, with terms of the pool that it comes from.
pub(crate) struct PortableNotes {
    trail: Trail,
    underway: Underway,
    /// Its terms, each once, the oldest first.
    terms: Vec<Term>,
    portable: PortableTerms,
}

impl PortableNotes {
    /// What a state's path met; none if that is nothing.
    pub(crate) fn take(pool: &TermPool, state: &State) -> Option<Self> {
        let (trail, underway) =
            (state.notes.goals.trail.clone(), state.notes.goals.underway.clone());
        let mut terms = Vec::new();
        let mut note = |term: Term| {
            terms.push(term);
            term
        };
        trail.with_terms(&mut note);
        underway.with_terms(&mut note);
        if trail.is(&Trail::default()) && underway.is(&Underway::default()) {
            return None;
        }
        terms.sort_unstable();
        terms.dedup();
        let portable = PortableTerms::take(pool, terms.iter().copied());
        Some(Self { trail, underway, terms, portable })
    }

    /// The same in another pool.
    pub(crate) fn make(&self, pool: &mut TermPool) -> (Trail, Underway) {
        let made = self.portable.make(pool);
        let made: FxHashMap<Term, Term> = self.terms.iter().copied().zip(made).collect();
        let mut of = |term: Term| made[&term];
        (self.trail.with_terms(&mut of), self.underway.with_terms(&mut of))
    }
}
