//! Polynomials over terms, modulo a power of two.
//!
//! Sums, differences and products are expanded; every other term is an unknown.

use std::collections::BTreeMap;

use super::{Node, Sort, Term, Terms, mask};

/// The most monomials of a polynomial.
const MOST_MONOMIALS: usize = 400;
/// The highest degree.
const MOST_DEGREE: usize = 16;
/// The most steps of a division.
const MOST_STEPS: usize = 2_000;

/// A product of unknowns, in their order, each as often as it occurs.
type Monomial = Vec<Term>;

/// A polynomial: the factor of each monomial, none of which is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Polynomial {
    width: u32,
    factors: BTreeMap<Monomial, u128>,
}

/// An order of monomials: that of degrees, or one in which an unknown counts first.
#[derive(Clone, Copy, Debug)]
enum Order {
    Degree,
    First(Term),
}

impl Polynomial {
    fn constant(width: u32, value: u128) -> Self {
        let mut made = Self { width, factors: BTreeMap::new() };
        made.add(Monomial::new(), value);
        made
    }

    fn unknown(width: u32, term: Term) -> Self {
        let mut made = Self { width, factors: BTreeMap::new() };
        made.add(vec![term], 1);
        made
    }

    fn add(&mut self, monomial: Monomial, factor: u128) {
        let sum = self.factors.get(&monomial).copied().unwrap_or(0).wrapping_add(factor);
        match sum & mask(self.width) {
            0 => _ = self.factors.remove(&monomial),
            sum => _ = self.factors.insert(monomial, sum),
        }
    }

    /// Adds a multiple of another one, by a monomial and a factor.
    fn add_multiple(&mut self, other: &Self, monomial: &Monomial, factor: u128) {
        for (own, of) in &other.factors {
            self.add(product(own, monomial), of.wrapping_mul(factor));
        }
    }

    /// The product; none if it is too large.
    fn times(&self, other: &Self) -> Option<Self> {
        let mut made = Self { width: self.width, factors: BTreeMap::new() };
        for (monomial, factor) in &other.factors {
            made.add_multiple(self, monomial, *factor);
            made.fits().then_some(())?;
        }
        Some(made)
    }

    fn fits(&self) -> bool {
        self.factors.len() <= MOST_MONOMIALS
            && self.factors.keys().all(|monomial| monomial.len() <= MOST_DEGREE)
    }

    /// The difference to another one.
    pub(super) fn minus(mut self, other: &Self) -> Self {
        self.add_multiple(other, &Monomial::new(), u128::MAX);
        self
    }

    fn is_zero(&self) -> bool {
        self.factors.is_empty()
    }

    fn leading(&self, order: Order) -> Option<(&Monomial, u128)> {
        let key = |monomial: &Monomial| match order {
            Order::Degree => (0, monomial.len(), monomial.clone()),
            Order::First(term) => {
                let count = monomial.iter().filter(|own| **own == term).count();
                (count, monomial.len(), monomial.clone())
            }
        };
        let all = self.factors.iter();
        all.max_by_key(|(monomial, _)| key(monomial)).map(|(monomial, factor)| (monomial, *factor))
    }

    fn unknowns(&self) -> impl Iterator<Item = Term> + '_ {
        self.factors.keys().flatten().copied()
    }

    /// Whether it is zero wherever some others are, as division by them shows (Cox, Little and O'Shea,
    /// *Ideals, Varieties, and Algorithms*, section 2.3). An order of monomials is tried for each unknown.
    pub(super) fn vanishes_with(&self, others: &[Self]) -> bool {
        let others: Vec<&Self> = others.iter().filter(|own| own.width == self.width).collect();
        let mut unknowns: Vec<Term> = others.iter().flat_map(|own| own.unknowns()).collect();
        unknowns.sort_unstable();
        unknowns.dedup();
        let orders = unknowns.into_iter().map(Order::First);
        let mut orders = [Order::Degree].into_iter().chain(orders);
        orders.any(|order| self.rest(&others, order).is_some_and(|rest| rest.is_zero()))
    }

    /// What is left of a division; none if that takes too long.
    fn rest(&self, divisors: &[&Self], order: Order) -> Option<Self> {
        // A leading factor that is odd has an inverse.
        let leading: Vec<(&Self, &Monomial, u128)> = divisors
            .iter()
            .filter_map(|own| own.leading(order).map(|(at, factor)| (*own, at, factor)))
            .filter(|(_, at, factor)| factor % 2 == 1 && !at.is_empty())
            .collect();
        let mut rest = self.clone();
        for _ in 0..MOST_STEPS {
            let step = rest.factors.iter().find_map(|(monomial, factor)| {
                let divides = |(own, at, of): &(&'_ Self, &Monomial, u128)| {
                    let quotient = quotient(monomial, at)?;
                    let by = factor.wrapping_mul(inverse(*of)).wrapping_neg();
                    Some(((*own).clone(), quotient, by))
                };
                leading.iter().find_map(divides)
            });
            let Some((divisor, monomial, by)) = step else { return Some(rest) };
            rest.add_multiple(&divisor, &monomial, by);
            rest.fits().then_some(())?;
        }
        None
    }
}

fn product(a: &Monomial, b: &Monomial) -> Monomial {
    let mut all = [&a[..], &b[..]].concat();
    all.sort_unstable();
    all
}

/// A monomial without the unknowns of another; none if it does not have them.
fn quotient(of: &Monomial, by: &Monomial) -> Option<Monomial> {
    let mut left = of.clone();
    for unknown in by {
        let at = left.iter().position(|own| own == unknown)?;
        left.remove(at);
    }
    Some(left)
}

/// The inverse of an odd number modulo a power of two, by Newton's iteration.
const fn inverse(odd: u128) -> u128 {
    let mut inverse = odd;
    let mut correct = 3;
    while correct < 128 {
        inverse = inverse.wrapping_mul(2_u128.wrapping_sub(odd.wrapping_mul(inverse)));
        correct *= 2;
    }
    inverse
}

/// Makes polynomials of bit-vectors, with a limit for the work.
pub(super) struct Expansion<'t, F> {
    pub(super) terms: &'t Terms,
    /// The way that a choice goes, where that is known.
    pub(super) choice: F,
    /// How many terms may still be expanded.
    pub(super) left: u32,
}

impl<F: Fn(Term) -> Option<bool>> Expansion<'_, F> {
    /// The polynomial of a bit-vector; none if it is too large.
    pub(super) fn polynomial(&mut self, term: Term, depth: u32) -> Option<Polynomial> {
        self.left = self.left.checked_sub(1)?;
        let depth = depth.checked_sub(1)?;
        let (node, sort) = &self.terms.nodes[term.0 as usize];
        let Sort::Bits(width @ 1..=128) = *sort else { return None };
        let unknown = || Some(Polynomial::unknown(width, term));
        let (head, args) = match node {
            Node::Number(value) => return Some(Polynomial::constant(width, *value)),
            Node::Application(head, args) => (head.as_str(), &args[..]),
            _ => return unknown(),
        };
        match (head, args) {
            ("bvadd" | "bvsub", [a, b]) => {
                let factor = if head == "bvadd" { 1 } else { u128::MAX };
                let mut sum = self.polynomial(*a, depth)?;
                sum.add_multiple(&self.polynomial(*b, depth)?, &Monomial::new(), factor);
                sum.fits().then_some(sum)
            }
            ("bvmul", [a, b]) => {
                let a = self.polynomial(*a, depth)?;
                a.times(&self.polynomial(*b, depth)?)
            }
            ("ite", [test, a, b]) => match (self.choice)(*test) {
                Some(true) => self.polynomial(*a, depth),
                Some(false) => self.polynomial(*b, depth),
                None => unknown(),
            },
            _ => unknown(),
        }
    }

    /// The difference of the sides of an equation of bit-vectors.
    pub(super) fn difference(&mut self, term: Term, depth: u32) -> Option<Polynomial> {
        let Node::Application(head, args) = &self.terms.nodes[term.0 as usize].0 else {
            return None;
        };
        let ("=", [a, b]) = (head.as_str(), &args[..]) else { return None };
        matches!(self.terms.sort(*a), Sort::Bits(_)).then_some(())?;
        let a = self.polynomial(*a, depth)?;
        Some(a.minus(&self.polynomial(*b, depth)?))
    }
}
