//! Polynomials over opaque terms, modulo a power of two.

use std::collections::BTreeMap;

use lydian_smt::{Term, ones};

/// The most monomials of a polynomial. Larger ones are opaque.
pub(super) const MOST_MONOMIALS: usize = 64;

/// A polynomial: coefficients by the factors of each monomial, which are in order.
pub(super) type Polynomial = BTreeMap<Vec<Term>, u64>;

/// The polynomial of a constant.
pub(super) fn constant(number: u64, width: u32) -> Polynomial {
    scaled(&Polynomial::from([(Vec::new(), 1)]), number, width)
}

/// The difference of two polynomials.
pub(super) fn difference(a: &Polynomial, b: &Polynomial, width: u32) -> Polynomial {
    sum(a, &scaled(b, u64::MAX, width), width)
}

pub(super) fn degree(polynomial: &Polynomial) -> usize {
    polynomial.keys().map(Vec::len).max().unwrap_or(0)
}

pub(super) fn sum(a: &Polynomial, b: &Polynomial, width: u32) -> Polynomial {
    let mut all = a.clone();
    for (monomial, coefficient) in b {
        let entry = all.entry(monomial.clone()).or_default();
        *entry = entry.wrapping_add(*coefficient) & ones(width);
    }
    all.retain(|_, coefficient| *coefficient != 0);
    all
}

pub(super) fn scaled(a: &Polynomial, factor: u64, width: u32) -> Polynomial {
    let scale = |coefficient: u64| coefficient.wrapping_mul(factor) & ones(width);
    let all = a.iter().map(|(monomial, coefficient)| (monomial.clone(), scale(*coefficient)));
    all.filter(|(_, coefficient)| *coefficient != 0).collect()
}

/// The product, unless it is too large.
pub(super) fn product(a: &Polynomial, b: &Polynomial, width: u32) -> Option<Polynomial> {
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
pub(super) fn without(all: &[Term], some: &[Term]) -> Option<Vec<Term>> {
    let mut rest = all.to_vec();
    for factor in some {
        let at = rest.iter().position(|other| other == factor)?;
        rest.remove(at);
    }
    Some(rest)
}
