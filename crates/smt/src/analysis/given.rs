//! Simplification of terms under facts that hold.

use crate::analysis::bounds::{Bounds, Reasons};
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::Term;
use rustc_hash::{FxHashMap, FxHashSet};

/// A term simplified under facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimplifiedTerm {
    /// A term that equals it where the facts hold.
    pub term: Term,
    /// A subset of the facts that suffices for this.
    pub facts: Vec<Term>,
}

impl TermPool {
    /// Simplifies terms under facts: replaces the parts that are facts, or whose values follow from the
    /// facts by interval propagation ([`Bounds`]), by constants. None if facts that share symbols with
    /// the terms contradict each other.
    ///
    /// This mostly decides absolute values, signs and comparisons with limits on a path, so that terms
    /// that differ only in these become the same.
    pub fn given(&mut self, facts: &[Term], terms: &[Term]) -> Option<Vec<SimplifiedTerm>> {
        let facts = &*self.connected(facts, terms);
        let bounds = Bounds::with(self, facts, terms).ok()?;
        let positions: FxHashMap<Term, usize> =
            facts.iter().enumerate().map(|(at, fact)| (*fact, at)).collect();
        let mut known: FxHashMap<Term, (Term, Reasons)> = FxHashMap::default();
        for &t in &bounds.order {
            let single = bounds.get(t).and_then(|(interval, why)| Some((interval.single()?, why)));
            let new = match single {
                Some((value, why)) => (self.constant_like(t, value), why),
                None => self.with_known_parts(t, &known, &positions),
            };
            known.insert(t, new);
        }
        let given = |t: &Term| match known.get(t) {
            Some((term, why)) if term != t => SimplifiedTerm { term: *term, facts: why.of(facts) },
            _ => SimplifiedTerm { term: *t, facts: Vec::new() },
        };
        Some(terms.iter().map(given).collect())
    }

    /// Those of some facts that share symbols with some terms, directly or through other facts.
    fn connected(&mut self, facts: &[Term], terms: &[Term]) -> Vec<Term> {
        let mut symbols: FxHashSet<Term> = FxHashSet::default();
        for term in terms {
            symbols.extend(self.vars_of(*term).iter());
        }
        let mut is_connected = vec![false; facts.len()];
        let mut found = true;
        while std::mem::take(&mut found) {
            for (fact, is_connected) in facts.iter().zip(&mut is_connected) {
                if *is_connected {
                    continue;
                }
                let of_fact = self.vars_of(*fact);
                if of_fact.iter().any(|symbol| symbols.contains(symbol)) {
                    symbols.extend(of_fact.iter());
                    (*is_connected, found) = (true, true);
                }
            }
        }
        facts.iter().zip(is_connected).filter(|(_, is)| *is).map(|(fact, _)| *fact).collect()
    }

    /// A term with its known parts replaced, or a constant if it or its negation is a fact.
    fn with_known_parts(
        &mut self,
        t: Term,
        known: &FxHashMap<Term, (Term, Reasons)>,
        facts: &FxHashMap<Term, usize>,
    ) -> (Term, Reasons) {
        let mut why = Reasons::default();
        let mut children = Vec::new();
        for child in self.children(t) {
            let (new, of_child) = known.get(&child).copied().unwrap_or((child, Reasons::default()));
            if new != child {
                why = why.or(of_child);
            }
            children.push(new);
        }
        let new = self.with_children(t, &children);
        if self.sort(new) != Sort::Bool || new == t {
            return (new, why);
        }
        if let Some(at) = facts.get(&new) {
            return (self.tt(), why.or(Reasons::only(*at)));
        }
        let opposite = self.not(new);
        match facts.get(&opposite) {
            Some(at) => (self.ff(), why.or(Reasons::only(*at))),
            None => (new, why),
        }
    }

    /// The constant of a term's sort.
    fn constant_like(&mut self, t: Term, value: u64) -> Term {
        match self.sort(t) {
            Sort::Bool => self.bool(value != 0),
            _ => self.bv(self.width(t), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::eval::Evaluator;
    use crate::terms::value::{Model, Value};
    use lydian_base::Rng;

    #[test]
    fn the_absolute_value_of_what_is_greater_than_a_positive_number_is_the_number_itself() {
        let mut p = TermPool::new();
        let (a, b) = (p.var("a", Sort::BitVec(32)), p.var("b", Sort::BitVec(32)));
        let zero = p.bv(32, 0);
        let facts = [p.slt(b, a), p.slt(zero, b)];
        let sign = p.extract(31, 31, a);
        let sign = p.sext(sign, 32);
        let turned = p.bvxor(a, sign);
        let absolute = p.sub(turned, sign);
        let differs = p.neq(a, absolute);
        let given = p.given(&facts, &[differs, absolute]).expect("they hold somewhere");
        assert_eq!((given[0].term, given[1].term), (p.ff(), a));
        assert_eq!(given[0].facts, facts);
        let given = p.given(&facts[..1], &[differs]);
        assert_eq!(given, Some(vec![SimplifiedTerm { term: differs, facts: vec![] }]));
    }

    #[test]
    fn what_becomes_a_fact_is_true() {
        let mut p = TermPool::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| p.var(name, Sort::BitVec(8)));
        let zero = p.bv(8, 0);
        let (is_zero, less) = (p.eq(c, zero), p.slt(a, b));
        let sum = p.add(b, c);
        let less_than_sum = p.slt(a, sum);
        let given = p.given(&[less, is_zero], &[less_than_sum]);
        assert_eq!(given, Some(vec![SimplifiedTerm { term: p.tt(), facts: vec![less, is_zero] }]));
        let not_less = p.not(less);
        let given = p.given(&[not_less, is_zero], &[less_than_sum]).expect("they hold somewhere");
        assert_eq!(given[0].term, p.ff());
    }

    fn word(random: &mut Rng, p: &mut TermPool, vars: &[Term], depth: u32) -> Term {
        let kind = random.next_u64() % 12;
        if depth == 0 || kind < 3 {
            let constant = random.next_u64() % 16;
            return match kind {
                0 => p.bv(4, constant),
                _ => vars[(random.next_u64() % vars.len() as u64) as usize],
            };
        }
        let (a, b) = (word(random, p, vars, depth - 1), word(random, p, vars, depth - 1));
        match kind {
            3 => p.add(a, b),
            4 => p.sub(a, b),
            5 => p.bvand(a, b),
            6 => p.bvxor(a, b),
            7 => p.udiv(a, b),
            8 => p.srem(a, b),
            9 => {
                let sign = p.extract(3, 3, a);
                p.sext(sign, 4)
            }
            10 => {
                let test = p.slt(a, b);
                p.ite(test, b, a)
            }
            _ => p.neg(a),
        }
    }

    fn boolean(random: &mut Rng, p: &mut TermPool, vars: &[Term]) -> Term {
        let (a, b) = (word(random, p, vars, 2), word(random, p, vars, 1));
        match random.next_u64() % 4 {
            0 => p.eq(a, b),
            1 => p.ult(a, b),
            2 => p.slt(a, b),
            _ => p.slt(b, a),
        }
    }

    #[test]
    fn terms_are_what_they_become_wherever_the_facts_hold() {
        let mut random = Rng::new(71);
        let (mut held, mut changed) = (0, 0);
        for _ in 0..400 {
            let mut p = TermPool::new();
            let vars: Vec<Term> =
                (0..3).map(|i| p.var(&format!("x{i}"), Sort::BitVec(4))).collect();
            let facts: Vec<Term> = (0..3).map(|_| boolean(&mut random, &mut p, &vars)).collect();
            let terms: Vec<Term> = (0..4).map(|_| boolean(&mut random, &mut p, &vars)).collect();
            let given = p.given(&facts, &terms);
            let mut evaluator = Evaluator::new();
            for values in 0..1u64 << 12 {
                let value = |i: usize| Value::from_u64(Sort::BitVec(4), values >> (4 * i) & 15);
                let model = Model::from_values(
                    vars.iter().enumerate().map(|(i, v)| (*v, value(i))).collect(),
                );
                let mut holds = |t: Term| evaluator.holds(&p, &model, t);
                if facts.iter().all(|fact| holds(*fact)) {
                    held += 1;
                    assert!(given.is_some(), "the facts hold somewhere");
                }
                for (t, new) in terms.iter().zip(given.iter().flatten()) {
                    if new.facts.iter().all(|fact| holds(*fact)) {
                        let same = holds(*t) == holds(new.term);
                        assert!(same, "{} became {}", p.show(*t), p.show(new.term));
                    }
                }
            }
            let all = terms.iter().zip(given.into_iter().flatten());
            changed += all.filter(|(t, new)| **t != new.term).count();
        }
        assert!(held > 1_000 && changed > 50, "{held} states, {changed} terms");
    }
}
