//! Assumed equations as rewrites of monomials.

use std::collections::BTreeSet;

use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp, odd_inverse};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::algebra::polynomial::{
    MOST_MONOMIALS, Polynomial, constant, degree, difference, product, scaled, sum, without,
};
use crate::engines::stage::conjuncts;

/// The most operators that are looked through from a side of an equation.
const DEEPEST: usize = 48;
/// The most rewrites of one polynomial.
const MOST_REWRITES: usize = 100;
/// The most rules.
const MOST_RULES: usize = 64;

/// The positions of assumptions that something follows from.
pub(super) type Sources = BTreeSet<usize>;

/// A conjunct of an assumption.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) term: Term,
    /// The assumption; none for the condition of a case.
    pub(super) source: Option<usize>,
}

/// A word as a polynomial, after rewrites.
struct Normal {
    polynomial: Polynomial,
    /// The assumptions of the rules.
    sources: Sources,
}

/// A rewrite of a monomial of words of some width.
struct Rule {
    width: u32,
    monomial: Vec<Term>,
    /// It is for multiples of this power of two of the monomial.
    twos: u32,
    /// The polynomial that so many of the monomial equal.
    equal: Polynomial,
    sources: Sources,
}

/// That a word is a multiple of another one, which is no assumption and follows from some.
pub(super) struct Fact {
    pub(super) word: Term,
    pub(super) factor: u64,
    pub(super) other: Term,
    pub(super) sources: Sources,
}

/// A comparison of two polynomials.
#[derive(PartialEq, Eq, Hash)]
struct Comparison {
    op: BinOp,
    width: u32,
    sides: [Polynomial; 2],
}

impl Rule {
    /// A monomial of a polynomial that it rewrites, with its other factors.
    fn within(&self, polynomial: &Polynomial) -> Option<(Vec<Term>, Vec<Term>, &Self)> {
        let mut all = polynomial.iter();
        all.find_map(|(all, coefficient)| {
            (coefficient.trailing_zeros() >= self.twos).then_some(())?;
            Some((all.clone(), without(all, &self.monomial)?, self))
        })
    }
}

/// Equations as rewrites of monomials.
pub(super) struct Rules {
    rules: Vec<Rule>,
    known: FxHashMap<Term, Polynomial>,
}

impl Rules {
    /// The rules of some equations and comparisons.
    pub(super) fn of(pool: &mut TermPool, parts: &[Part], facts: &[Fact]) -> Self {
        let mut rules = Self { rules: Vec::new(), known: FxHashMap::default() };
        let mut equations = Vec::new();
        for part in parts {
            if let Some((a, b)) = sides(pool, part.term) {
                let sources = part.source.into_iter().collect();
                equations.push((pool.width(a), rules.difference(pool, a, b), sources));
            }
        }
        for Fact { word, factor, other, sources } in facts {
            let width = pool.width(*word);
            let other = rules.polynomial(pool, *other, DEEPEST);
            let multiple = scaled(&other, *factor, width);
            let word = rules.polynomial(pool, *word, DEEPEST);
            equations.push((width, difference(&word, &multiple, width), sources.clone()));
        }
        equations.extend(rules.tight(pool, parts));
        equations.sort_by_key(|(_, polynomial, _)| degree(polynomial));
        for (width, polynomial, sources) in equations {
            if rules.rules.len() < MOST_RULES {
                rules.add(width, polynomial, sources);
            }
        }
        rules
    }

    /// Assumptions that contradict each other by the rules, if some do.
    pub(super) fn contradiction(&mut self, pool: &mut TermPool, parts: &[Part]) -> Option<Sources> {
        let mut compared: FxHashMap<Comparison, (bool, Sources)> = FxHashMap::default();
        let mut failing = Vec::new();
        for part in parts {
            let own: Sources = part.source.into_iter().collect();
            let (atom, is_true) = match pool.node(part.term) {
                Node::Bool(false) => return Some(own),
                Node::Un(UnOp::Not, atom) => (atom, false),
                _ => (part.term, true),
            };
            if let Some((comparison, mut sources)) = self.comparison(pool, atom) {
                sources.extend(own);
                match compared.get(&comparison) {
                    Some((other, others)) if *other != is_true => {
                        return Some(&sources | others);
                    }
                    _ => compared.insert(comparison, (is_true, sources)),
                };
            } else if !is_true {
                failing.push((atom, own));
            } else if let Some((a, b)) = sides(pool, atom) {
                let apart = self.normal_difference(pool, a, b);
                if degree(&apart.polynomial) == 0 && !apart.polynomial.is_empty() {
                    return Some(&apart.sources | &own);
                }
            }
        }
        failing.into_iter().find_map(|(all, own)| Some(&self.imply(pool, all, &compared)? | &own))
    }

    /// The assumptions from which all conjuncts of a formula follow, if they do.
    fn imply(
        &mut self,
        pool: &mut TermPool,
        formula: Term,
        compared: &FxHashMap<Comparison, (bool, Sources)>,
    ) -> Option<Sources> {
        let mut all = Sources::new();
        for conjunct in conjuncts(pool, formula) {
            let (atom, is_true) = match pool.node(conjunct) {
                Node::Un(UnOp::Not, atom) => (atom, false),
                _ => (conjunct, true),
            };
            if let Some((comparison, sources)) = self.comparison(pool, atom) {
                let (other, others) = compared.get(&comparison)?;
                (*other == is_true).then_some(())?;
                all.extend(sources.iter().chain(others));
                continue;
            }
            let (a, b) = sides(pool, atom).filter(|_| is_true)?;
            let apart = self.normal_difference(pool, a, b);
            apart.polynomial.is_empty().then_some(())?;
            all.extend(apart.sources);
        }
        Some(all)
    }

    /// A comparison of words, with the assumptions of the rules that it was rewritten by.
    fn comparison(&mut self, pool: &mut TermPool, atom: Term) -> Option<(Comparison, Sources)> {
        let Node::Bin(op @ (BinOp::Slt | BinOp::Ult), a, b) = pool.node(atom) else { return None };
        let width = pool.width(a);
        (width <= 64).then_some(())?;
        let (a, b) = (self.normal_of(pool, a), self.normal_of(pool, b));
        let sources = &a.sources | &b.sources;
        Some((Comparison { op, width, sides: [a.polynomial, b.polynomial] }, sources))
    }

    fn difference(&mut self, pool: &mut TermPool, a: Term, b: Term) -> Polynomial {
        let width = pool.width(a);
        let (a, b) = (self.polynomial(pool, a, DEEPEST), self.polynomial(pool, b, DEEPEST));
        difference(&a, &b, width)
    }

    fn normal_difference(&mut self, pool: &mut TermPool, a: Term, b: Term) -> Normal {
        let width = pool.width(a);
        let apart = self.difference(pool, a, b);
        self.normal(width, apart)
    }

    /// A word after all rewrites.
    fn normal_of(&mut self, pool: &mut TermPool, term: Term) -> Normal {
        let width = pool.width(term);
        let polynomial = self.polynomial(pool, term, DEEPEST);
        self.normal(width, polynomial)
    }

    /// Adds the rule of a polynomial that is zero: for the monomial of highest degree with the fewest
    /// factors of two, the last of these.
    fn add(&mut self, width: u32, polynomial: Polynomial, sources: Sources) {
        let normal = self.normal(width, polynomial);
        let polynomial = normal.polynomial;
        let highest = degree(&polynomial);
        let leading = polynomial.iter().rev().filter(|(monomial, _)| monomial.len() == highest);
        let leading = leading.min_by_key(|(_, coefficient)| coefficient.trailing_zeros());
        let Some((monomial, coefficient)) = leading.filter(|_| highest > 0) else { return };
        let twos = coefficient.trailing_zeros();
        let factor = odd_inverse(*coefficient >> twos).wrapping_neg();
        let mut rest = polynomial.clone();
        rest.remove(monomial);
        let equal = scaled(&rest, factor, width);
        let (monomial, sources) = (monomial.clone(), &normal.sources | &sources);
        self.rules.push(Rule { width, monomial, twos, equal, sources });
    }

    /// A polynomial after all rewrites, or after as many as are allowed.
    fn normal(&self, width: u32, mut polynomial: Polynomial) -> Normal {
        let mut sources = Sources::new();
        for _ in 0..MOST_REWRITES {
            let mut fitting = self.rules.iter().filter(|rule| rule.width == width);
            let Some((monomial, rest, rule)) = fitting.find_map(|rule| rule.within(&polynomial))
            else {
                break;
            };
            let factor = Polynomial::from([(rest, polynomial[&monomial] >> rule.twos)]);
            let Some(replaced) = product(&factor, &rule.equal, width) else { break };
            polynomial.remove(&monomial);
            polynomial = sum(&polynomial, &replaced, width);
            sources.extend(&rule.sources);
            if polynomial.len() > MOST_MONOMIALS {
                break;
            }
        }
        Normal { polynomial, sources }
    }

    /// The opaque terms of all words that were looked at.
    pub(super) fn opaque(&self) -> Vec<Term> {
        let monomials = self.known.values().flat_map(Polynomial::keys);
        let terms: FxHashSet<Term> = monomials.flatten().copied().collect();
        let mut terms: Vec<Term> = terms.into_iter().collect();
        terms.sort_unstable();
        terms
    }

    /// The assumptions by which a word is a multiple of a power of two, if it surely is.
    pub(super) fn is_multiple(
        &mut self,
        pool: &mut TermPool,
        term: Term,
        twos: u32,
    ) -> Option<Sources> {
        let normal = self.normal_of(pool, term);
        let mut all = normal.polynomial.values();
        all.all(|coefficient| coefficient.trailing_zeros() >= twos).then_some(normal.sources)
    }

    /// A word as a polynomial over opaque terms.
    fn polynomial(&mut self, pool: &mut TermPool, term: Term, depth: usize) -> Polynomial {
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

    fn operator(&mut self, pool: &mut TermPool, term: Term, depth: usize) -> Option<Polynomial> {
        let width = pool.width(term);
        (width <= 64).then_some(())?;
        match pool.node(term) {
            Node::Bits(number) => Some(constant(number, width)),
            Node::Un(UnOp::BvNeg, a) => {
                Some(scaled(&self.polynomial(pool, a, depth), u64::MAX, width))
            }
            Node::Un(UnOp::BvNot, a) => {
                let minus = scaled(&self.polynomial(pool, a, depth), u64::MAX, width);
                Some(sum(&minus, &constant(u64::MAX, width), width))
            }
            Node::Bin(BinOp::Add, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                Some(sum(&a, &b, width))
            }
            Node::Bin(BinOp::Sub, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                Some(difference(&a, &b, width))
            }
            Node::Bin(BinOp::Mul, a, b) => {
                let (a, b) = (self.polynomial(pool, a, depth), self.polynomial(pool, b, depth));
                product(&a, &b, width)
            }
            // High bits count as many times as the low ones have values.
            Node::Bin(BinOp::Concat, high, low) => {
                let whole = widened(pool, high, width);
                let whole = self.polynomial(pool, whole, depth);
                let whole = scaled(&whole, 1 << pool.width(low), width);
                let low = pool.zext(low, width);
                let low = self.polynomial(pool, low, depth);
                Some(sum(&whole, &low, width))
            }
            _ => None,
        }
    }

    /// Equations that follow from two comparisons.
    fn tight(&mut self, pool: &mut TermPool, parts: &[Part]) -> Vec<(u32, Polynomial, Sources)> {
        let mut less: FxHashMap<Comparison, Option<usize>> = FxHashMap::default();
        let mut not_less = Vec::new();
        for part in parts {
            let (atom, is_less) = match pool.node(part.term) {
                Node::Un(UnOp::Not, atom) => (atom, false),
                _ => (part.term, true),
            };
            let Node::Bin(op @ (BinOp::Slt | BinOp::Ult), a, b) = pool.node(atom) else { continue };
            let width = pool.width(a);
            if width > 64 {
                continue;
            }
            let sides = [a, b].map(|side| self.polynomial(pool, side, DEEPEST));
            let comparison = Comparison { op, width, sides };
            if is_less {
                less.insert(comparison, part.source);
            } else {
                not_less.push((comparison, part.source));
            }
        }
        let mut found = Vec::new();
        let mut seen: FxHashMap<Comparison, Option<usize>> = FxHashMap::default();
        for (limit, source) in not_less {
            let Comparison { op, width, .. } = limit;
            let [c, d] = &limit.sides;
            let one = constant(1, width);
            let key = |a: Polynomial, b: Polynomial| Comparison { op, width, sides: [a, b] };
            // Neither is less than the other; or `c - 1 < d` or `c < d + 1`, and not `c < d`.
            let opposite = seen.get(&key(d.clone(), c.clone()));
            let before = less.get(&key(difference(c, &one, width), d.clone()));
            let after = less.get(&key(c.clone(), sum(d, &one, width)));
            for other in [opposite, before, after].into_iter().flatten() {
                let sources = source.iter().chain(other).copied().collect();
                found.push((width, difference(c, d, width), sources));
            }
            seen.insert(limit, source);
        }
        found
    }
}

/// The sides of an equation between words.
fn sides(pool: &TermPool, term: Term) -> Option<(Term, Term)> {
    match pool.node(term) {
        Node::Bin(BinOp::Eq, a, b) if matches!(pool.sort(a), Sort::BitVec(2..=64)) => Some((a, b)),
        _ => None,
    }
}

/// A word of more bits whose low bits are those of another.
fn widened(pool: &mut TermPool, term: Term, width: u32) -> Term {
    match pool.node(term) {
        Node::Extract(whole, low) if low + width <= pool.width(whole) => {
            pool.extract(low + width - 1, low, whole)
        }
        Node::Un(UnOp::SExt, word) => pool.sext(word, width),
        _ => pool.zext(term, width),
    }
}
