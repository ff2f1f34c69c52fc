//! Equations between polynomials, decided by rewriting.
//!
//! To a SAT solver it is hard that `(i + 1) * (i + 1)` is `i * i + 2 * i + 1`. So queries with products
//! are first looked at as equations between polynomials modulo a power of two: those that are assumed
//! become rules, which replace a monomial of highest degree by the rest, and those that are said to
//! fail are normalised by them (Cox, Little and O'Shea: *Ideals, Varieties, and Algorithms*, 2007,
//! section 2.3, division without completion of the rules). An equation whose sides become equal holds.

use std::collections::BTreeMap;

use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp, odd_inverse, ones};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::stage::conjuncts;

/// The most monomials of a polynomial. Larger ones are opaque.
const MOST_MONOMIALS: usize = 64;
/// The most operators that are looked through from a side of an equation.
const DEEPEST: usize = 48;
/// The most rewrites of one polynomial.
const MOST_REWRITES: usize = 100;
/// The most rules.
const MOST_RULES: usize = 32;

/// A polynomial: coefficients by the factors of each monomial, which are in order.
type Polynomial = BTreeMap<Vec<Term>, u64>;

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

/// The assumptions without the failures of equations that hold. They have the same models.
pub(crate) fn simplified(pool: &mut TermPool, assumptions: &[Term]) -> Vec<Term> {
    let mut parts: Vec<Term> = Vec::new();
    for assumption in assumptions {
        parts.extend(conjuncts(pool, *assumption));
    }
    let mut rules = Rules::of(pool, &parts);
    let mut simpler = Vec::new();
    for part in parts {
        let Node::Un(UnOp::Not, inner) = pool.node(part) else {
            simpler.push(part);
            continue;
        };
        let all = conjuncts(pool, inner);
        let mut open = all.clone();
        open.retain(|equation| !rules.imply(pool, *equation));
        if open.len() == all.len() {
            simpler.push(part);
        } else {
            let all = pool.and_all(open);
            simpler.push(pool.not(all));
        }
    }
    simpler
}

/// The sides of an equation between words.
fn sides(pool: &TermPool, term: Term) -> Option<(Term, Term)> {
    match pool.node(term) {
        Node::Bin(BinOp::Eq, a, b) if matches!(pool.sort(a), Sort::BitVec(2..=64)) => Some((a, b)),
        _ => None,
    }
}

/// A rewrite of a monomial of words of some width.
struct Rule {
    width: u32,
    monomial: Vec<Term>,
    /// The polynomial that the monomial equals.
    equal: Polynomial,
}

/// Assumed equations as rewrites of monomials.
struct Rules {
    rules: Vec<Rule>,
    known: FxHashMap<Term, Polynomial>,
}

impl Rules {
    fn of(pool: &TermPool, parts: &[Term]) -> Self {
        let mut equations: Vec<(Term, Term)> =
            parts.iter().filter_map(|part| sides(pool, *part)).collect();
        equations.extend(tight(pool, parts));
        let mut rules = Self { rules: Vec::new(), known: FxHashMap::default() };
        let mut polynomials = Vec::new();
        for (a, b) in equations {
            let width = pool.width(a);
            polynomials.push((width, rules.difference(pool, a, b)));
        }
        polynomials.sort_by_key(|(_, polynomial)| degree(polynomial));
        for (width, polynomial) in polynomials {
            if rules.rules.len() < MOST_RULES {
                rules.add(width, polynomial);
            }
        }
        rules
    }

    /// Whether an equation follows.
    fn imply(&mut self, pool: &TermPool, equation: Term) -> bool {
        let Some((a, b)) = sides(pool, equation) else { return false };
        let difference = self.difference(pool, a, b);
        self.normal(pool.width(a), difference).is_empty()
    }

    fn difference(&mut self, pool: &TermPool, a: Term, b: Term) -> Polynomial {
        let width = pool.width(a);
        let (a, b) = (self.polynomial(pool, a, DEEPEST), self.polynomial(pool, b, DEEPEST));
        sum(&a, &scaled(&b, u64::MAX, width), width)
    }

    /// Adds the rule of a polynomial that is zero.
    fn add(&mut self, width: u32, polynomial: Polynomial) {
        let polynomial = self.normal(width, polynomial);
        let highest = degree(&polynomial);
        let leading = polynomial.iter().rev().find(|(monomial, coefficient)| {
            highest > 0 && monomial.len() == highest && *coefficient & 1 == 1
        });
        let Some((monomial, coefficient)) = leading else { return };
        let factor = odd_inverse(*coefficient).wrapping_neg();
        let mut rest = polynomial.clone();
        rest.remove(monomial);
        let equal = scaled(&rest, factor, width);
        self.rules.push(Rule { width, monomial: monomial.clone(), equal });
    }

    /// A polynomial after all rewrites, or after as many as are allowed.
    fn normal(&self, width: u32, mut polynomial: Polynomial) -> Polynomial {
        for _ in 0..MOST_REWRITES {
            let mut fitting = self.rules.iter().filter(|rule| rule.width == width);
            let found = fitting.find_map(|rule| {
                let mut all = polynomial.keys();
                let within = all.find_map(|all| Some((all, without(all, &rule.monomial)?)));
                within.map(|(all, rest)| (all.clone(), rest, &rule.equal))
            });
            let Some((monomial, rest, equal)) = found else { break };
            let factor = Polynomial::from([(rest, polynomial[&monomial])]);
            let Some(replaced) = product(&factor, equal, width) else { break };
            polynomial.remove(&monomial);
            polynomial = sum(&polynomial, &replaced, width);
            if polynomial.len() > MOST_MONOMIALS {
                break;
            }
        }
        polynomial
    }

    /// A word as a polynomial over opaque terms.
    fn polynomial(&mut self, pool: &TermPool, term: Term, depth: usize) -> Polynomial {
        if let Some(known) = self.known.get(&term) {
            return known.clone();
        }
        let width = pool.width(term);
        let opaque = Polynomial::from([(vec![term], 1)]);
        let found = if depth == 0 { None } else { self.operator(pool, term, depth - 1) };
        let found = found.filter(|polynomial| polynomial.len() <= MOST_MONOMIALS);
        let found = found.unwrap_or(opaque);
        let found = scaled(&found, 1, width);
        self.known.insert(term, found.clone());
        found
    }

    fn operator(&mut self, pool: &TermPool, term: Term, depth: usize) -> Option<Polynomial> {
        let width = pool.width(term);
        let one = |number: u64| Polynomial::from([(Vec::new(), number)]);
        match pool.node(term) {
            Node::Bits(number) => Some(one(number)),
            Node::Un(UnOp::BvNeg, a) => {
                Some(scaled(&self.polynomial(pool, a, depth), u64::MAX, width))
            }
            Node::Un(UnOp::BvNot, a) => {
                let minus = scaled(&self.polynomial(pool, a, depth), u64::MAX, width);
                Some(sum(&minus, &one(u64::MAX), width))
            }
            Node::Bin(BinOp::Add, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                Some(sum(&a, &b, width))
            }
            Node::Bin(BinOp::Sub, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                Some(sum(&a, &scaled(&b, u64::MAX, width), width))
            }
            Node::Bin(BinOp::Mul, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                product(&a, &b, width)
            }
            // A product with a power of two: low bits above zeros.
            Node::Bin(BinOp::Concat, high, low) if pool.as_u64(low) == Some(0) => {
                let Node::Extract(whole, 0) = pool.node(high) else { return None };
                (pool.width(whole) == width).then_some(())?;
                let whole = self.polynomial(pool, whole, depth);
                Some(scaled(&whole, 1 << pool.width(low), width))
            }
            _ => None,
        }
    }
}

/// Equations that follow from two comparisons: of words neither of which is less than the other.
fn tight(pool: &TermPool, parts: &[Term]) -> Vec<(Term, Term)> {
    let mut seen: FxHashSet<(BinOp, Term, Term)> = FxHashSet::default();
    let mut found = Vec::new();
    for part in parts {
        let Node::Un(UnOp::Not, inner) = pool.node(*part) else { continue };
        let Node::Bin(op @ (BinOp::Slt | BinOp::Ult), a, b) = pool.node(inner) else { continue };
        seen.insert((op, a, b));
        if seen.contains(&(op, b, a)) && pool.width(a) <= 64 {
            found.push((a, b));
        }
    }
    found
}

fn degree(polynomial: &Polynomial) -> usize {
    polynomial.keys().map(Vec::len).max().unwrap_or(0)
}

fn sum(a: &Polynomial, b: &Polynomial, width: u32) -> Polynomial {
    let mut all = a.clone();
    for (monomial, coefficient) in b {
        let entry = all.entry(monomial.clone()).or_default();
        *entry = entry.wrapping_add(*coefficient) & ones(width);
    }
    all.retain(|_, coefficient| *coefficient != 0);
    all
}

fn scaled(a: &Polynomial, factor: u64, width: u32) -> Polynomial {
    let scale = |coefficient: u64| coefficient.wrapping_mul(factor) & ones(width);
    let all = a.iter().map(|(monomial, coefficient)| (monomial.clone(), scale(*coefficient)));
    all.filter(|(_, coefficient)| *coefficient != 0).collect()
}

/// The product, unless it is too large.
fn product(a: &Polynomial, b: &Polynomial, width: u32) -> Option<Polynomial> {
    (a.len() * b.len() <= 4 * MOST_MONOMIALS).then_some(())?;
    let mut all = Polynomial::new();
    for ((left, x), (right, y)) in a.iter().flat_map(|x| b.iter().map(move |y| (x, y))) {
        let mut monomial = [&left[..], &right[..]].concat();
        monomial.sort_unstable();
        let entry = all.entry(monomial).or_default();
        *entry = entry.wrapping_add(x.wrapping_mul(*y)) & ones(width);
    }
    all.retain(|_, coefficient| *coefficient != 0);
    Some(all)
}

/// The factors of a monomial that are left without those of another, if it has them all.
fn without(all: &[Term], some: &[Term]) -> Option<Vec<Term>> {
    let mut rest = all.to_vec();
    for factor in some {
        let at = rest.iter().position(|other| other == factor)?;
        rest.remove(at);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;
    use lydian_smt::{Evaluator, Model, Value};

    use super::*;

    /// A random word over some symbols.
    fn word(pool: &mut TermPool, rng: &mut Rng, symbols: &[Term], depth: u32) -> Term {
        let leaf = depth == 0 || rng.below(4) == 0;
        if leaf && rng.below(3) == 0 {
            return pool.bv(4, rng.below(16));
        }
        if leaf {
            return symbols[rng.below(symbols.len() as u64) as usize];
        }
        let a = word(pool, rng, symbols, depth - 1);
        let b = word(pool, rng, symbols, depth - 1);
        match rng.below(6) {
            0 => pool.add(a, b),
            1 => pool.sub(a, b),
            2 | 3 => pool.mul(a, b),
            4 => pool.neg(a),
            _ => pool.bvnot(a),
        }
    }

    #[test]
    fn simplified_queries_have_the_models_of_the_whole_ones() {
        let mut pool = TermPool::new();
        let symbols = ["x", "y", "z"].map(|name| pool.var(name, Sort::BitVec(4)));
        let mut rng = Rng::new(11);
        let mut evaluator = Evaluator::new();
        let mut changed = 0;
        for _ in 0..300 {
            let mut some = |depth| word(&mut pool, &mut rng, &symbols, depth);
            let [a, b, c, d] = [some(0), some(2), some(1), some(2)];
            let assumed = pool.eq(a, b);
            // The equation follows in every second query.
            let (left, right) =
                (pool.mul(a, c), pool.mul(c, if rng.below(2) == 0 { b } else { d }));
            let (left, right) = (pool.add(left, d), pool.add(d, right));
            let equation = pool.eq(left, right);
            let query = [assumed, pool.not(equation)];
            let simpler = simplified(&mut pool, &query);
            let all = pool.and_all(query.iter().copied());
            let simpler = pool.and_all(simpler);
            changed += usize::from(all != simpler);
            for bits in 0..4096u64 {
                let value = |at: usize| Value::from_u64(Sort::BitVec(4), bits >> (4 * at));
                let values = symbols.iter().enumerate().map(|(at, symbol)| (*symbol, value(at)));
                let model = Model::from_values(values.collect());
                let expected = evaluator.holds(&pool, &model, all);
                assert_eq!(evaluator.holds(&pool, &model, simpler), expected);
            }
        }
        assert!(changed > 40, "{changed} queries became simpler");
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
        assert!(simplified(&mut pool, &[assumed, fails]).contains(&pool.ff()));
        let (less, more) = (pool.slt(i, n), pool.slt(n, i));
        let (not_less, not_more) = (pool.not(less), pool.not(more));
        let other = pool.mul(n, n);
        let equal = pool.eq(s, other);
        let fails = pool.not(equal);
        let query = [assumed, not_less, not_more, fails];
        assert!(simplified(&mut pool, &query).contains(&pool.ff()));
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
        assert_eq!(simplified(&mut pool, &query), query);
    }
}
