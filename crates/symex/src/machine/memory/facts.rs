//! The facts of a path: Booleans that hold on it.

use std::cell::RefCell;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The most facts that are searched one after the other; those before them are in hash sets.
const FEW: usize = 32;
/// The most parts of a conjunction that are looked at in one call.
const MOST_PARTS: usize = 1 << 10;

/// Booleans that hold, each once, in the order of their discovery. A look-up takes nearly the same
/// time however many there are. A copy has a list of its own, and shares the sets.
#[derive(Clone, Default)]
pub struct Facts {
    all: Vec<Term>,
    /// The sets of the first `in_sets` facts, of one stretch each. Each has more than twice as many as
    /// the next.
    sets: SmallVec<[Arc<FxHashSet<Term>>; 2]>,
    in_sets: usize,
    /// The values found for conjunctions, each with the number of facts at that time. Known values
    /// stay; unknown ones may become known with more facts.
    conjunctions: RefCell<FxHashMap<Term, (usize, Option<bool>)>>,
}

impl Facts {
    /// No facts.
    pub fn new() -> Self {
        Self::default()
    }

    /// A copy with room for a few more.
    pub fn fork(&self) -> Self {
        let mut all = Vec::with_capacity(self.all.len() + 4);
        all.extend_from_slice(&self.all);
        let (sets, in_sets) = (self.sets.clone(), self.in_sets);
        Self { all, sets, in_sets, conjunctions: RefCell::default() }
    }

    /// The first `count` facts.
    pub fn first(&self, count: usize) -> Self {
        let mut first = Self::new();
        self.all[..count].iter().for_each(|fact| first.push(*fact));
        first
    }

    /// Adds a fact that is not among them.
    pub fn push(&mut self, fact: Term) {
        self.all.push(fact);
        if self.all.len() - self.in_sets > FEW {
            self.add_set();
        }
    }

    /// Moves the facts that are in no set into one, together with sets that are not much larger.
    fn add_set(&mut self) {
        let mut set: FxHashSet<Term> = self.all[self.in_sets..].iter().copied().collect();
        while self.sets.last().is_some_and(|last| last.len() <= 2 * set.len()) {
            self.sets.pop().iter().for_each(|last| set.extend(&**last));
        }
        self.sets.push(Arc::new(set));
        self.in_sets = self.all.len();
    }

    /// Whether a term is among them.
    pub fn contains(&self, fact: &Term) -> bool {
        self.all[self.in_sets..].contains(fact) || self.sets.iter().any(|set| set.contains(fact))
    }

    /// The value of a Boolean where it or its negation is a fact. A conjunction is looked up by its
    /// parts, since facts are kept as parts.
    pub fn known(&self, pool: &mut TermPool, condition: Term) -> Option<bool> {
        let Some(parts) = parts(pool, condition) else { return self.known_alone(pool, condition) };
        let mut found = self.conjunctions.borrow_mut();
        let now = self.all.len();
        let still = |found: &(usize, Option<bool>)| found.1.is_some() || found.0 == now;
        if let Some((_, known)) = found.get(&condition).filter(|found| still(found)) {
            return *known;
        }
        let mut waiting = vec![(condition, parts)];
        let mut looked_at = 0;
        while let Some(&(conjunction, parts)) = waiting.last() {
            looked_at += 1;
            let whole = self.known_alone(pool, conjunction);
            // For a part not yet looked at, find out first whether it is a conjunction.
            let of_part = |part: Term| match self::parts(pool, part) {
                None => Ok(self.known_alone(pool, part)),
                Some(parts) => match found.get(&part).filter(|found| still(found)) {
                    Some((_, known)) => Ok(*known),
                    None => Err((part, parts)),
                },
            };
            let known = match parts.map(of_part) {
                _ if whole.is_some() => whole,
                [Ok(Some(false)), _] | [_, Ok(Some(false))] => Some(false),
                [Ok(Some(true)), Ok(Some(true))] => Some(true),
                [Err(inner), _] | [_, Err(inner)] if looked_at < MOST_PARTS => {
                    waiting.push(inner);
                    continue;
                }
                _ => None,
            };
            found.insert(conjunction, (now, known));
            waiting.pop();
        }
        found.get(&condition).and_then(|(_, known)| *known)
    }

    /// The value of a Boolean, looked up as a whole.
    pub fn known_alone(&self, pool: &mut TermPool, condition: Term) -> Option<bool> {
        if let Some(value) = pool.as_bool(condition) {
            return Some(value);
        }
        if self.contains(&condition) {
            return Some(true);
        }
        let negation = pool.not(condition);
        self.contains(&negation).then_some(false)
    }
}

/// The two parts of a conjunction.
fn parts(pool: &TermPool, condition: Term) -> Option<[Term; 2]> {
    match pool.node(condition) {
        Node::Bin(BinOp::And, a, b) => Some([a, b]),
        _ => None,
    }
}

impl fmt::Debug for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.all).finish()
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
    fn only_added_facts_are_among_few_and_many_facts() {
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

    #[test]
    fn a_copy_and_its_original_do_not_see_each_other_s_later_facts() {
        let mut pool = TermPool::new();
        let terms: Vec<Term> = (0..600).map(|n| pool.var(&format!("f{n}"), Sort::Bool)).collect();
        let mut facts = Facts::new();
        terms[..150].iter().for_each(|term| facts.push(*term));
        let mut copy = facts.fork();
        terms[150..300].iter().for_each(|term| facts.push(*term));
        terms[300..].iter().for_each(|term| copy.push(*term));
        for (at, term) in terms.iter().enumerate() {
            assert_eq!(facts.contains(term), at < 300, "{at}");
            assert_eq!(copy.contains(term), !(150..300).contains(&at), "{at}");
        }
    }

    #[test]
    fn a_conjunction_is_known_by_its_parts_also_once_there_are_more_facts() {
        let mut pool = TermPool::new();
        let terms: Vec<Term> = (0..6).map(|n| pool.var(&format!("f{n}"), Sort::Bool)).collect();
        let mut facts = Facts::new();
        // ((f0 and f1) and f2) and f3, asked before and after each of them is a fact.
        let all = pool.and_all(terms[..4].iter().copied());
        for (count, term) in terms[..4].iter().enumerate() {
            assert_eq!(facts.known(&mut pool, all), None, "with {count} facts");
            facts.push(*term);
        }
        assert_eq!(facts.known(&mut pool, all), Some(true));
        let with_other = pool.and(all, terms[4]);
        assert_eq!(facts.known(&mut pool, with_other), None);
        let forked = facts.fork();
        let not = pool.not(terms[4]);
        facts.push(not);
        assert_eq!(facts.known(&mut pool, with_other), Some(false));
        assert_eq!(forked.known(&mut pool, with_other), None, "the fork does not know that fact");
        // A fact that not both hold decides every conjunction with both.
        let both = pool.and(terms[4], terms[5]);
        let mut others = Facts::new();
        let not = pool.not(both);
        others.push(not);
        let more = pool.and(both, terms[0]);
        assert_eq!(others.known(&mut pool, more), Some(false));
    }
}
