//! The Booleans that hold on a path.

use std::ops::Deref;

use lydian_smt::Term;
use rustc_hash::FxHashSet;

/// So many are looked through one after the other; more are looked up.
const FEW: usize = 32;

/// Booleans that hold, in the order in which they were found, each once. Whether one is among them takes
/// the same time however many there are.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    all: Vec<Term>,
    /// The same, where there are more than a few.
    looked_up: Option<FxHashSet<Term>>,
}

impl Facts {
    /// None yet.
    pub const fn new() -> Self {
        Self { all: Vec::new(), looked_up: None }
    }

    /// A copy with room for a few more.
    pub fn fork(&self) -> Self {
        let mut all = Vec::with_capacity(self.all.len() + 4);
        all.extend_from_slice(&self.all);
        Self { all, looked_up: self.looked_up.clone() }
    }

    /// The first so many of them.
    pub fn first(&self, count: usize) -> Self {
        let mut first = Self::new();
        self.all[..count].iter().for_each(|fact| first.push(*fact));
        first
    }

    /// Adds one that is not among them.
    pub fn push(&mut self, fact: Term) {
        self.all.push(fact);
        match &mut self.looked_up {
            Some(known) => {
                known.insert(fact);
            }
            None if self.all.len() > FEW => {
                self.looked_up = Some(self.all.iter().copied().collect());
            }
            None => {}
        }
    }

    /// Whether this very term is among them.
    pub fn contains(&self, fact: &Term) -> bool {
        match &self.looked_up {
            Some(known) => known.contains(fact),
            None => self.all.contains(fact),
        }
    }
}

impl Deref for Facts {
    type Target = [Term];

    fn deref(&self) -> &[Term] {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use lydian_smt::{Sort, TermPool};

    use super::*;

    #[test]
    fn what_was_added_and_nothing_else_is_among_few_and_many_facts() {
        let mut pool = TermPool::new();
        let mut facts = Facts::new();
        let terms: Vec<Term> = (0..200).map(|n| pool.var(&format!("f{n}"), Sort::Bool)).collect();
        for (count, term) in terms.iter().enumerate() {
            assert!(!facts.contains(term));
            facts.push(*term);
            assert!(terms[..=count].iter().all(|known| facts.contains(known)));
        }
        assert_eq!(*facts, terms[..]);
    }
}
