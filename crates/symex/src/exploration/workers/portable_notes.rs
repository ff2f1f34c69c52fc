//! The notes of a path about hyperlabels, in a form that can go to another worker with its state.
//!
//! The evaluations of decisions, the bindings for guards, and the sequences under way are not
//! recovered by a replay of the log, since a replay looks at no objective. They are terms over the
//! inputs of the path, which are the same in any pool.

use lydian_smt::{PortableTerms, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::State;
use crate::goals::hyper_rows::Trail;
use crate::goals::hyper_sequences::SequencesUnderWay;

/// The notes, with terms of the pool that they come from.
pub(crate) struct PortableNotes {
    trail: Trail,
    underway: SequencesUnderWay,
    /// Their terms, each once, the oldest first.
    terms: Vec<Term>,
    portable: PortableTerms,
}

impl PortableNotes {
    /// The notes of a state's path; `None` if there are none.
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
        if trail.is(&Trail::default()) && underway.is(&SequencesUnderWay::default()) {
            return None;
        }
        terms.sort_unstable();
        terms.dedup();
        let portable = PortableTerms::take(pool, terms.iter().copied());
        Some(Self { trail, underway, terms, portable })
    }

    /// The notes with terms of another pool.
    pub(crate) fn make(&self, pool: &mut TermPool) -> (Trail, SequencesUnderWay) {
        let made = self.portable.make(pool);
        let made: FxHashMap<Term, Term> = self.terms.iter().copied().zip(made).collect();
        let mut of = |term: Term| made[&term];
        (self.trail.with_terms(&mut of), self.underway.with_terms(&mut of))
    }
}
