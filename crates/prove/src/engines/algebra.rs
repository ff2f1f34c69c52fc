//! Equations between polynomials, decided by rewriting.
//!
//! To a SAT solver it is hard that `(i + 1) * (i + 1)` is `i * i + 2 * i + 1`. So queries with products
//! are first looked at as equations between polynomials modulo a power of two: those that are assumed
//! become rules, which replace a monomial of highest degree by the rest, and those that are said to
//! fail are normalised by them (Cox, Little and O'Shea: *Ideals, Varieties, and Algorithms*, 2007,
//! section 2.3, division without completion of the rules). An equation whose sides become equal holds, and
//! comparisons whose sides become the same are the same. Choices are split upon.

mod cases;
mod polynomial;
mod rules;

use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::FxHashMap;

use crate::engines::algebra::cases::Cases;
pub(crate) use crate::engines::algebra::cases::Refute;

/// Terms that are known to have a product of two variables in them, or none.
#[derive(Default)]
pub(crate) struct Products(FxHashMap<Term, bool>);

impl Products {
    /// Whether a term has a product without a constant factor in it.
    pub(crate) fn has(&mut self, pool: &TermPool, root: Term) -> bool {
        let mut stack = vec![root];
        while let Some(term) = stack.last().copied() {
            if self.0.contains_key(&term) {
                stack.pop();
                continue;
            }
            let children = pool.children(term);
            let is_product = match pool.node(term) {
                Node::Bin(BinOp::Mul, a, b) => pool.as_u64(a).or(pool.as_u64(b)).is_none(),
                _ => false,
            };
            if is_product || children.iter().any(|child| self.0.get(child) == Some(&true)) {
                self.0.insert(term, true);
            } else if children.iter().all(|child| self.0.contains_key(child)) {
                self.0.insert(term, false);
            } else {
                stack.extend(children);
            }
        }
        self.0[&root]
    }
}

/// Assumptions that contradict each other as equations between polynomials, if it is found that some do.
/// `refute` decides queries without products.
pub(crate) fn contradiction(
    pool: &mut TermPool,
    products: &mut Products,
    assumptions: &[Term],
    refute: &mut Refute<'_>,
) -> Option<Vec<Term>> {
    let mut cases = Cases { products, refute, asked: 0 };
    let sources = cases.contradiction(pool, assumptions)?;
    Some(sources.into_iter().map(|at| assumptions[at]).collect())
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;
    use lydian_smt::{Evaluator, Limits, Model, Sort, Value};

    use super::*;
    use crate::engines::testing::solver;

    /// Whether a contradiction is found, with a solver for queries without products.
    fn is_contradiction(pool: &mut TermPool, query: &[Term]) -> bool {
        core(pool, query).is_some()
    }

    /// The assumptions of the contradiction that is found.
    fn core(pool: &mut TermPool, query: &[Term]) -> Option<Vec<Term>> {
        let mut solver = solver();
        let mut refute = |pool: &mut TermPool, query: &[Term]| {
            let is_unsat = solver.check(pool, query, &Limits::none()).is_unsat();
            is_unsat.then(|| query.to_vec())
        };
        let core = contradiction(pool, &mut Products::default(), query, &mut refute)?;
        assert!(core.iter().all(|term| query.contains(term)));
        Some(core)
    }

    /// Makes random terms of four bits.
    struct Maker<'a> {
        pool: &'a mut TermPool,
        rng: Rng,
        symbols: [Term; 3],
    }

    impl Maker<'_> {
        fn word(&mut self, depth: u32) -> Term {
            let leaf = depth == 0 || self.rng.below(4) == 0;
            if leaf && self.rng.below(3) == 0 {
                return self.pool.bv(4, self.rng.below(16));
            }
            if leaf {
                return self.symbols[self.rng.below(3) as usize];
            }
            let (a, b) = (self.word(depth - 1), self.word(depth - 1));
            match self.rng.below(11) {
                0 => self.pool.add(a, b),
                1 => self.pool.sub(a, b),
                2 | 3 => self.pool.mul(a, b),
                4 => self.pool.neg(a),
                5 => self.pool.bvnot(a),
                6 | 7 => {
                    let condition = self.condition();
                    self.pool.ite(condition, a, b)
                }
                8 => {
                    let two = self.pool.bv(4, 2);
                    self.pool.udiv(a, two)
                }
                9 => {
                    let low = self.pool.extract(2, 0, a);
                    self.pool.sext(low, 4)
                }
                _ => {
                    let two = self.pool.bv(4, 2);
                    self.pool.mul(a, two)
                }
            }
        }

        fn condition(&mut self) -> Term {
            let (a, b) = (self.word(1), self.word(1));
            match self.rng.below(3) {
                0 => self.pool.slt(a, b),
                1 => self.pool.ult(a, b),
                _ => self.pool.eq(a, b),
            }
        }

        fn literal(&mut self) -> Term {
            let condition = self.condition();
            if self.rng.below(2) == 0 { self.pool.not(condition) } else { condition }
        }
    }

    #[test]
    fn assumptions_that_are_said_to_contradict_each_other_have_no_model() {
        let mut pool = TermPool::new();
        let symbols = ["x", "y", "z"].map(|name| pool.var(name, Sort::BitVec(4)));
        let mut make = Maker { pool: &mut pool, rng: Rng::new(11), symbols };
        let mut evaluator = Evaluator::new();
        let (mut found, mut possible) = (0, 0);
        for round in 0..600 {
            let (a, b, c) = (make.word(1), make.word(2), make.word(1));
            let mut query = vec![make.pool.eq(a, b)];
            query.extend((0..round % 3).map(|_| make.literal()));
            // The equation follows in every second query.
            let other = if make.rng.below(2) == 0 { b } else { make.word(2) };
            let (left, right) = (make.pool.mul(a, c), make.pool.mul(c, other));
            let equal = make.pool.eq(left, right);
            query.push(make.pool.not(equal));
            let mut has_model = |pool: &mut TermPool, all: &[Term]| {
                let all = pool.and_all(all.iter().copied());
                (0..4096u64).any(|bits| {
                    let value = |at: usize| Value::from_u64(Sort::BitVec(4), bits >> (4 * at));
                    let values =
                        symbols.iter().enumerate().map(|(at, symbol)| (*symbol, value(at)));
                    let model = Model::from_values(values.collect());
                    evaluator.holds(pool, &model, all)
                })
            };
            possible += usize::from(!has_model(make.pool, &query));
            if let Some(core) = core(make.pool, &query) {
                assert!(!has_model(make.pool, &core), "round {round}");
                found += 1;
            }
        }
        assert!(found * 4 > possible * 3 && found > 120, "{found} of {possible} are found");
    }

    #[test]
    fn the_square_of_a_sum_is_known() {
        let mut pool = TermPool::new();
        let [s, i, n] = ["s", "i", "n"].map(|name| pool.var(name, Sort::BitVec(32)));
        let (square, one) = (pool.mul(i, i), pool.bv(32, 1));
        let assumed = pool.eq(s, square);
        let (next, twice) = (pool.add(i, one), pool.add(i, i));
        let odd = pool.add(twice, one);
        let (left, right) = (pool.add(s, odd), pool.mul(next, next));
        let equal = pool.eq(left, right);
        let fails = pool.not(equal);
        assert!(is_contradiction(&mut pool, &[assumed, fails]));
        let (less, more) = (pool.slt(i, n), pool.slt(n, i));
        let (not_less, not_more) = (pool.not(less), pool.not(more));
        let other = pool.mul(n, n);
        let equal = pool.eq(s, other);
        let fails = pool.not(equal);
        assert!(is_contradiction(&mut pool, &[assumed, not_less, not_more, fails]));
        // The first number that is not less than `n`.
        let before = pool.sub(i, one);
        let not_more = pool.slt(before, n);
        assert!(is_contradiction(&mut pool, &[assumed, not_less, not_more, fails]));
    }

    #[test]
    fn a_choice_is_looked_at_in_both_cases() {
        let mut pool = TermPool::new();
        let [p, q, r, s, a, b] =
            ["p", "q", "r", "s", "a", "b"].map(|name| pool.var(name, Sort::BitVec(64)));
        let less = pool.slt(a, b);
        let determinant = |pool: &mut TermPool, [p, q, r, s]: [Term; 4]| {
            let (left, right) = (pool.mul(p, s), pool.mul(q, r));
            let (difference, one) = (pool.sub(left, right), pool.bv(64, 1));
            pool.eq(difference, one)
        };
        let assumed = determinant(&mut pool, [p, q, r, s]);
        let differences = [pool.sub(p, q), pool.sub(q, p), pool.sub(r, s), pool.sub(s, r)];
        let next = [
            pool.ite(less, p, differences[0]),
            pool.ite(less, differences[1], q),
            pool.ite(less, r, differences[2]),
            pool.ite(less, differences[3], s),
        ];
        let after = determinant(&mut pool, next);
        let fails = pool.not(after);
        assert!(is_contradiction(&mut pool, &[assumed, fails]));
        let wrong = determinant(&mut pool, [next[0], next[1], next[2], s]);
        let fails = pool.not(wrong);
        assert!(!is_contradiction(&mut pool, &[assumed, fails]));
    }

    #[test]
    fn extended_sums_and_halves_are_known_where_they_are_exact() {
        let mut pool = TermPool::new();
        let [z, x, y] = [("z", 32), ("x", 64), ("y", 64)]
            .map(|(name, width)| pool.var(name, Sort::BitVec(width)));
        let (one, zero) = (pool.bv(32, 1), pool.bv(32, 0));
        let less = pool.sub(z, one);
        let (wide, wide_less) = (pool.sext(z, 64), pool.sext(less, 64));
        let (product, by_less) = (pool.mul(x, wide), pool.mul(x, wide_less));
        let assumed = pool.eq(y, product);
        let rest = pool.sub(y, x);
        let equal = pool.eq(by_less, rest);
        let fails = pool.not(equal);
        let positive = pool.slt(zero, z);
        assert!(is_contradiction(&mut pool, &[assumed, positive, fails]));
        assert!(!is_contradiction(&mut pool, &[assumed, fails]), "the difference may wrap around");
        let two = pool.bv(64, 2);
        let (half, twice) = (pool.udiv(x, two), pool.mul(y, two));
        let (left, right) = (pool.mul(half, twice), pool.mul(x, y));
        let equal = pool.eq(left, right);
        let fails = pool.not(equal);
        let is_odd = pool.extract(0, 0, x);
        let is_odd = pool.is_nonzero(is_odd);
        let is_even = pool.not(is_odd);
        assert!(is_contradiction(&mut pool, &[is_even, fails]));
        assert!(!is_contradiction(&mut pool, &[fails]));
        // A quotient towards zero, of an even number with any sign.
        let one = pool.bv(64, 1);
        let (less, rest) = (pool.sub(x, one), pool.srem(x, two));
        let half = pool.sdiv(less, two);
        let (left, right) = (pool.mul(half, twice), pool.mul(less, y));
        let equal = pool.eq(left, right);
        let fails = pool.not(equal);
        let is_odd = pool.eq(rest, one);
        assert!(is_contradiction(&mut pool, &[is_odd, fails]));
        let is_even = pool.not(is_odd);
        assert!(!is_contradiction(&mut pool, &[is_even, fails]));
    }

    #[test]
    fn an_equation_that_becomes_too_large_is_not_said_to_hold() {
        let mut pool = TermPool::new();
        let mut count = 0;
        let mut fresh = |pool: &mut TermPool| {
            count += 1;
            pool.var(&format!("x{count}"), Sort::BitVec(32))
        };
        let mut query = Vec::new();
        let (factor, mut last) = (fresh(&mut pool), fresh(&mut pool));
        // The rule of each equation replaces its last symbol by more terms than the rule before.
        for _ in 0..4 {
            let mut sides = [last, fresh(&mut pool)];
            for side in &mut sides {
                for _ in 0..40 {
                    last = fresh(&mut pool);
                    *side = pool.add(*side, last);
                }
            }
            query.push(pool.eq(sides[0], sides[1]));
        }
        let (product, zero) = (pool.mul(factor, last), pool.bv(32, 0));
        let is_zero = pool.eq(product, zero);
        query.push(pool.not(is_zero));
        assert!(!is_contradiction(&mut pool, &query));
    }
}
