//! What terms are where some facts hold.

use crate::bounds::Bounds;
use crate::pool::TermPool;
use crate::term::Term;
use rustc_hash::FxHashMap;

impl TermPool {
    /// The terms, with those of their parts replaced by constants whose values follow from the facts
    /// by interval propagation ([`Bounds`]): wherever all facts hold, each is equal to its term. None
    /// where the facts contradict each other.
    ///
    /// What an absolute value, a sign or a comparison with a limit is on a path is mostly decided so,
    /// and what differs from another term in that alone becomes the same.
    pub fn given(&mut self, facts: &[Term], terms: &[Term]) -> Option<Vec<Term>> {
        let bounds = Bounds::with(self, facts, terms).ok()?;
        let mut known: FxHashMap<Term, Term> = FxHashMap::default();
        for &t in &bounds.order {
            let single = bounds.get(t).and_then(|(interval, _)| interval.single());
            let new = match single {
                Some(value) => self.constant_like(t, value),
                None => {
                    let children: Vec<Term> = self
                        .children(t)
                        .iter()
                        .map(|child| known.get(child).copied().unwrap_or(*child))
                        .collect();
                    self.with_children(t, &children)
                }
            };
            known.insert(t, new);
        }
        Some(terms.iter().map(|t| known.get(t).copied().unwrap_or(*t)).collect())
    }

    /// The constant of a term's sort.
    fn constant_like(&mut self, t: Term, value: u64) -> Term {
        match self.sort(t) {
            crate::sort::Sort::Bool => self.bool(value != 0),
            _ => self.bv(self.width(t), value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Evaluator;
    use crate::sort::Sort;
    use crate::testing::Random;
    use crate::value::{Model, Value};

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
        assert_eq!(p.given(&facts, &[differs, absolute]), Some(vec![p.ff(), a]));
        assert_eq!(p.given(&facts[..1], &[differs]), Some(vec![differs]));
    }

    fn word(random: &mut Random, p: &mut TermPool, vars: &[Term], depth: u32) -> Term {
        let kind = random.next() % 12;
        if depth == 0 || kind < 3 {
            let constant = random.next() % 16;
            return match kind {
                0 => p.bv(4, constant),
                _ => vars[(random.next() % vars.len() as u64) as usize],
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

    fn boolean(random: &mut Random, p: &mut TermPool, vars: &[Term]) -> Term {
        let (a, b) = (word(random, p, vars, 2), word(random, p, vars, 1));
        match random.next() % 4 {
            0 => p.eq(a, b),
            1 => p.ult(a, b),
            2 => p.slt(a, b),
            _ => p.slt(b, a),
        }
    }

    #[test]
    fn terms_are_what_they_become_wherever_the_facts_hold() {
        let mut random = Random(71);
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
                if !facts.iter().all(|fact| evaluator.holds(&p, &model, *fact)) {
                    continue;
                }
                held += 1;
                let given = given.as_ref().expect("the facts hold somewhere");
                for (t, new) in terms.iter().zip(given) {
                    let same = evaluator.holds(&p, &model, *t) == evaluator.holds(&p, &model, *new);
                    assert!(same, "{} became {}", p.show(*t), p.show(*new));
                }
            }
            changed +=
                given.map_or(0, |given| terms.iter().zip(given).filter(|(a, b)| *a != b).count());
        }
        assert!(held > 1_000 && changed > 50, "{held} states, {changed} terms");
    }
}
