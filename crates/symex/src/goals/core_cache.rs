//! The core cache: sets of facts that exclude labels.
//!
//! Where no input of a path covers a label, the solver names facts of the path that exclude it (an
//! unsatisfiable core). No input of another path with these facts covers the label either, so no
//! question is asked there.

use std::sync::Arc;

use lydian_smt::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::goals::labels::GoalId;
use crate::machine::memory::Facts;

/// The most sets of facts that are kept for a label's condition; the newest are kept.
const MOST_SETS: usize = 16;
/// With more conditions than this the cache is cleared.
const MOST_CONDITIONS: usize = 1 << 16;

/// A label that may hold on a path.
#[derive(Clone, Debug)]
pub(crate) struct OpenLabel {
    pub(crate) goal: GoalId,
    /// The condition under which the label holds on the path; simplified by the path's facts.
    pub(crate) holds: Term,
    /// The condition under which the label holds at its site.
    pub(crate) predicate: Term,
    /// The facts under which the two conditions are equal.
    pub(crate) facts: Vec<Term>,
}

impl OpenLabel {
    /// A label with a condition that was not simplified.
    pub(crate) const fn new(goal: GoalId, holds: Term) -> Self {
        Self { goal, holds, predicate: holds, facts: Vec::new() }
    }
}

/// For the condition of a label, sets of facts that each exclude it.
#[derive(Default)]
pub(crate) struct CoreCache {
    by: FxHashMap<Term, SmallVec<[Arc<[Term]>; 2]>>,
}

impl CoreCache {
    /// Whether the facts of a path are known to exclude a label.
    pub(crate) fn excludes(&self, facts: &Facts, holds: Term) -> bool {
        let Some(sets) = self.by.get(&holds) else { return false };
        sets.iter().rev().any(|set| set.iter().all(|fact| facts.contains(fact)))
    }

    /// Notes that some facts exclude a label.
    pub(crate) fn note(&mut self, holds: Term, facts: &[Term]) {
        self.put(holds, facts.into());
    }

    /// Notes an unsatisfiable core. The core consists of `any`, which says that one of some labels
    /// holds, and of facts of the path. A core with other members is not kept for these labels.
    pub(crate) fn note_core(
        &mut self,
        facts: &Facts,
        any: Term,
        labels: &[OpenLabel],
        core: &[Term],
    ) {
        let set: Arc<[Term]> = core.iter().copied().filter(|term| *term != any).collect();
        if !set.iter().all(|fact| facts.contains(fact)) {
            return;
        }
        for label in labels {
            if label.holds != label.predicate {
                self.put(label.predicate, set.iter().chain(&label.facts).copied().collect());
            }
            self.put(label.holds, set.clone());
        }
    }

    fn put(&mut self, holds: Term, set: Arc<[Term]>) {
        if self.by.len() >= MOST_CONDITIONS {
            self.by.clear();
        }
        let sets = self.by.entry(holds).or_default();
        if sets.len() == MOST_SETS {
            sets.remove(0);
        }
        sets.push(set);
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId as _;
    use lydian_smt::{Sort, TermPool};

    use super::*;

    #[test]
    fn a_label_is_excluded_on_paths_that_have_all_facts_that_did() {
        let mut pool = TermPool::new();
        let [a, b, c, label] = ["a", "b", "c", "label"].map(|name| pool.var(name, Sort::Bool));
        let facts = |all: &[Term]| {
            let mut facts = Facts::new();
            all.iter().for_each(|fact| facts.push(*fact));
            facts
        };
        let labels = [OpenLabel::new(GoalId::from_index(0), label)];
        let mut excluded = CoreCache::default();
        excluded.note_core(&facts(&[a, b, c]), label, &labels, &[a, label, b]);
        assert!(excluded.excludes(&facts(&[b, a]), label));
        assert!(!excluded.excludes(&facts(&[a, c]), label));
        assert!(!excluded.excludes(&facts(&[a, b]), c));
        // A promise of the path's input is not a fact.
        let mut excluded = CoreCache::default();
        excluded.note_core(&facts(&[a]), label, &labels, &[a, label, b]);
        assert!(!excluded.excludes(&facts(&[a, b]), label));
    }

    #[test]
    fn a_predicate_is_excluded_where_its_form_simplified_by_valid_facts_is() {
        let mut pool = TermPool::new();
        let [a, b, predicate, holds] =
            ["a", "b", "predicate", "holds"].map(|name| pool.var(name, Sort::Bool));
        let facts = |all: &[Term]| {
            let mut facts = Facts::new();
            all.iter().for_each(|fact| facts.push(*fact));
            facts
        };
        let goal = GoalId::from_index(0);
        let labels = [OpenLabel { goal, holds, predicate, facts: vec![b] }];
        let mut excluded = CoreCache::default();
        excluded.note_core(&facts(&[a, b]), holds, &labels, &[holds, a]);
        assert!(excluded.excludes(&facts(&[a]), holds));
        assert!(!excluded.excludes(&facts(&[a]), predicate));
        assert!(excluded.excludes(&facts(&[a, b]), predicate));
    }
}
