//! Terms as sums of unknown integers.
//!
//! An [`Atom`] is the value of a term as a signed or an unsigned number. A [`Form`] is a sum of
//! multiples of atoms and a constant. The form of a term equals its value for all values of the
//! variables. The result of an operation that may wrap is an atom, and its cases (how often it wraps)
//! are among the definitions. Of each definition one alternative always holds.

use super::{Alternative, Literal};
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The greatest coefficient: sums of products with numbers of 64 bits fit.
const GREATEST_COEFFICIENT: u128 = 1 << 40;
/// The greatest constant.
const GREATEST_CONSTANT: u128 = 1 << 100;
/// The most levels and unknown integers of a sum.
const DEEPEST: u32 = 100;
const MOST_ATOMS: usize = 400;
/// The most cases of an operation that may wrap; with more it is an unknown integer.
const MOST_WRAPS: i128 = 4;

/// An unknown integer, by its position in [`Forms`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Atom(pub(super) u32);

/// A sum of multiples of atoms, in their order and none of them zero, and a constant.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(super) struct Form {
    pub(super) terms: SmallVec<[(Atom, i128); 3]>,
    pub(super) constant: i128,
    /// Whether numbers became too great, so that nothing is known about the value.
    pub(super) is_unknown: bool,
}

impl Form {
    pub(super) fn constant(constant: i128) -> Form {
        Form { constant, ..Form::default() }
    }

    fn atom(atom: Atom) -> Form {
        Form { terms: smallvec![(atom, 1)], ..Form::default() }
    }

    /// The coefficient of an atom.
    pub(super) fn of(&self, atom: Atom) -> i128 {
        self.terms.iter().find(|t| t.0 == atom).map_or(0, |t| t.1)
    }

    /// Its sum with a multiple of another.
    pub(super) fn plus(&self, other: &Form, factor: i128) -> Form {
        let mut sum = Form {
            constant: self.constant.saturating_add(other.constant.saturating_mul(factor)),
            is_unknown: self.is_unknown || other.is_unknown,
            ..Form::default()
        };
        let (mut left, mut right) = (&self.terms[..], &other.terms[..]);
        loop {
            let atom = match (left.first(), right.first()) {
                (None, None) => break,
                (Some(x), None) => x.0,
                (None, Some(y)) => y.0,
                (Some(x), Some(y)) => x.0.min(y.0),
            };
            let mut coefficient = 0i128;
            if let [(x, c), rest @ ..] = left
                && *x == atom
            {
                (coefficient, left) = (*c, rest);
            }
            if let [(y, c), rest @ ..] = right
                && *y == atom
            {
                coefficient = coefficient.saturating_add(c.saturating_mul(factor));
                right = rest;
            }
            if coefficient != 0 {
                sum.terms.push((atom, coefficient));
            }
        }
        sum.is_unknown |= sum.terms.iter().any(|t| t.1.unsigned_abs() > GREATEST_COEFFICIENT)
            || sum.constant.unsigned_abs() > GREATEST_CONSTANT;
        sum
    }

    /// Its product with a number.
    pub(super) fn times(&self, factor: i128) -> Form {
        Form::default().plus(self, factor)
    }

    /// Its sum with a number.
    pub(super) fn and(mut self, constant: i128) -> Form {
        self.constant += constant;
        self
    }
}

/// The least and the greatest value of an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) low: i128,
    pub(super) high: i128,
}

impl Span {
    /// All numbers of `w` bits.
    fn of_width(w: u32, signed: bool) -> Span {
        match signed {
            true => Span { low: -(1 << (w - 1)), high: (1 << (w - 1)) - 1 },
            false => Span { low: 0, high: (1 << w) - 1 },
        }
    }

    fn contains(self, other: Span) -> bool {
        self.low <= other.low && other.high <= self.high
    }
}

/// Forms of the terms of a query.
#[derive(Default)]
pub(super) struct Forms {
    /// The possible values of each atom by the term that it stands for.
    pub(super) spans: Vec<Span>,
    /// Cases of atoms of which one always holds.
    pub(super) definitions: Vec<Vec<Alternative>>,
    known: FxHashMap<(Term, bool), Form>,
    depth: u32,
}

impl Forms {
    /// The cases in which a comparison of numbers has the given truth value; none if the term is no
    /// comparison.
    pub(super) fn comparison(
        &mut self,
        pool: &TermPool,
        op: BinOp,
        a: Term,
        b: Term,
        value: bool,
    ) -> Option<Vec<Alternative>> {
        let signed = match op {
            BinOp::Slt => true,
            BinOp::Ult => false,
            BinOp::Eq => self.is_better_signed(pool, a, b),
            _ => return None,
        };
        let difference = self.of(pool, a, signed)?.plus(&self.of(pool, b, signed)?, -1);
        if difference.is_unknown {
            return None;
        }
        let less = difference.clone().and(1);
        let greater = difference.times(-1).and(1);
        let at_most_zero = |form| Alternative::at_most_zero([form]);
        Some(match (op, value) {
            (BinOp::Eq, true) => {
                vec![Alternative { zero: smallvec![difference], ..Alternative::default() }]
            }
            (BinOp::Eq, false) => vec![at_most_zero(less), at_most_zero(greater)],
            (_, true) => vec![at_most_zero(less)],
            (_, false) => vec![at_most_zero(difference.times(-1))],
        })
    }

    /// Whether an equation should be read as one of signed numbers: neither side occurred as an
    /// unsigned number.
    fn is_better_signed(&self, pool: &TermPool, a: Term, b: Term) -> bool {
        let is_unsigned = |t: Term| {
            let met = |signed| self.known.contains_key(&(t, signed));
            matches!(pool.node(t), Node::Un(UnOp::ZExt, _)) || met(false) && !met(true)
        };
        !is_unsigned(a) && !is_unsigned(b)
    }

    /// Replaces literals by equivalent inequalities, so that bounds apply to them.
    pub(super) fn inline(&mut self, pool: &TermPool, alternative: &mut Alternative) {
        let mut rest = SmallVec::new();
        for (t, value) in std::mem::take(&mut alternative.literals) {
            let comparison = match pool.node(t) {
                Node::Bin(op, a, b) => self.comparison(pool, op, a, b, value),
                _ => None,
            };
            match comparison.as_deref() {
                Some([only]) => {
                    alternative.most_zero.extend(only.most_zero.iter().cloned());
                    alternative.zero.extend(only.zero.iter().cloned());
                }
                _ => rest.push((t, value)),
            }
        }
        alternative.literals = rest;
    }

    /// The form of a term's value as a signed or an unsigned number; none if it is no number of at
    /// most 64 bits.
    fn of(&mut self, pool: &TermPool, t: Term, signed: bool) -> Option<Form> {
        match pool.sort(t) {
            Sort::BitVec(w) if w <= 64 => {}
            _ => return None,
        }
        if let Some(form) = self.known.get(&(t, signed)) {
            return Some(form.clone());
        }
        if self.depth == DEEPEST || self.spans.len() >= MOST_ATOMS {
            return None;
        }
        self.depth += 1;
        let form = self.made(pool, t, signed);
        self.depth -= 1;
        let form = form.filter(|form| !form.is_unknown)?;
        self.known.insert((t, signed), form.clone());
        Some(form)
    }

    fn made(&mut self, pool: &TermPool, t: Term, signed: bool) -> Option<Form> {
        let w = pool.width(t);
        if let Some(bits) = pool.const_bits(t) {
            let bits = i128::from(bits.low_u64());
            let is_negative = signed && bits >> (w - 1) == 1;
            return Some(Form::constant(if is_negative { bits - (1 << w) } else { bits }));
        }
        if let Some((x, negated)) = absolute(pool, t) {
            return self.absolute(pool, t, signed, x, negated);
        }
        let exact = match pool.node(t) {
            Node::Un(UnOp::SExt, a) => self.of(pool, a, true)?,
            Node::Un(UnOp::ZExt, a) => self.of(pool, a, false)?,
            Node::Un(UnOp::BvNot, a) => self.of(pool, a, signed)?.times(-1).and(-1),
            Node::Un(UnOp::BvNeg, a) => self.of(pool, a, signed)?.times(-1),
            Node::Bin(BinOp::Add, a, b) => {
                self.of(pool, a, signed)?.plus(&self.of(pool, b, signed)?, 1)
            }
            Node::Bin(BinOp::Sub, a, b) => {
                self.of(pool, a, signed)?.plus(&self.of(pool, b, signed)?, -1)
            }
            Node::Bin(BinOp::Mul, a, b) => {
                let (a, b) = (self.of(pool, a, signed)?, self.of(pool, b, signed)?);
                match (&a.terms[..], &b.terms[..]) {
                    (_, []) => a.times(b.constant),
                    ([], _) => b.times(a.constant),
                    _ => return Some(self.unknown(pool, t, signed)),
                }
            }
            Node::Ite(c, a, b) => {
                let sides = [(c, true, a), (c, false, b)];
                return self.one_of(pool, signed, sides.map(|(c, v, x)| ((c, v), x)));
            }
            _ => return Some(self.unknown(pool, t, signed)),
        };
        Some(self.wrapped(pool, t, signed, exact))
    }

    /// A term that has the value of an exact form, wrapped to its width.
    fn wrapped(&mut self, pool: &TermPool, t: Term, signed: bool, exact: Form) -> Form {
        if exact.is_unknown {
            return exact;
        }
        let w = pool.width(t);
        let all = Span::of_width(w, signed);
        let span = self.span(&exact);
        if all.contains(span) {
            return exact;
        }
        let turn = 1i128 << w;
        let (first, last) =
            ((span.low - all.low).div_euclid(turn), (span.high - all.low).div_euclid(turn));
        let atom = self.unknown(pool, t, signed);
        if last - first < MOST_WRAPS {
            let ways = (first..=last).map(|turns| {
                let value = exact.clone().and(-turns * turn);
                Alternative {
                    most_zero: smallvec![
                        value.times(-1).and(all.low),
                        value.clone().and(-all.high)
                    ],
                    zero: smallvec![atom.plus(&value, -1)],
                    literals: SmallVec::new(),
                }
            });
            self.definitions.push(ways.collect());
        }
        atom
    }

    /// A term whose value is that of one of several others, each under a literal.
    fn one_of(
        &mut self,
        pool: &TermPool,
        signed: bool,
        sides: [(Literal, Term); 2],
    ) -> Option<Form> {
        let values = [self.of(pool, sides[0].1, signed)?, self.of(pool, sides[1].1, signed)?];
        let [x, y] = [self.span(&values[0]), self.span(&values[1])];
        let atom = self.new_atom(Span { low: x.low.min(y.low), high: x.high.max(y.high) });
        let mut ways = Vec::with_capacity(2);
        for ((literal, _), value) in sides.iter().zip(values) {
            let zero = smallvec![atom.plus(&value, -1)];
            let mut way = Alternative { zero, ..Alternative::of_literals([*literal]) };
            self.inline(pool, &mut way);
            ways.push(way);
        }
        self.definitions.push(ways);
        Some(atom)
    }

    /// The absolute value of a term in two's complement, or the opposite of that.
    fn absolute(
        &mut self,
        pool: &TermPool,
        t: Term,
        signed: bool,
        x: Term,
        negated: bool,
    ) -> Option<Form> {
        if !signed {
            return Some(self.unknown(pool, t, signed));
        }
        let x = self.of(pool, x, true)?;
        let w = pool.width(t);
        let least = Span::of_width(w, true).low;
        let span = self.span(&x);
        let most = span.high.max(-span.low).min(-least - 1);
        let hull = match negated {
            true => Span { low: (-most).min(span.low), high: 0 },
            // The least number is its own absolute value.
            false => Span { low: if span.low == least { least } else { 0 }, high: most },
        };
        let atom = self.new_atom(hull);
        let sign = if negated { -1 } else { 1 };
        let as_is = atom.plus(&x, -sign);
        let turned = atom.plus(&x, sign);
        let mut ways = vec![
            Alternative {
                most_zero: smallvec![x.times(-1)],
                zero: smallvec![as_is],
                ..Alternative::default()
            },
            Alternative {
                most_zero: smallvec![x.clone().and(1), x.times(-1).and(least + 1)],
                zero: smallvec![turned],
                ..Alternative::default()
            },
        ];
        if span.low == least {
            let zero = smallvec![x.clone().and(-least), atom.clone().and(-least)];
            ways.push(Alternative { zero, ..Alternative::default() });
        }
        self.definitions.push(ways);
        Some(atom)
    }

    /// An unknown integer for a term's value.
    fn unknown(&mut self, pool: &TermPool, t: Term, signed: bool) -> Form {
        let w = pool.width(t);
        let most = greatest_unsigned(pool, t).filter(|most| *most <= Span::of_width(w, true).high);
        match most {
            // The signed and the unsigned number are equal: one atom for both.
            Some(high) => match self.known.get(&(t, !signed)) {
                Some(form) => form.clone(),
                None => self.new_atom(Span { low: 0, high }),
            },
            None => self.new_atom(Span::of_width(w, signed)),
        }
    }

    fn new_atom(&mut self, span: Span) -> Form {
        let atom = Atom(u32::try_from(self.spans.len()).expect("fewer atoms than terms"));
        self.spans.push(span);
        Form::atom(atom)
    }

    /// The possible values of a form by the spans of its atoms.
    fn span(&self, form: &Form) -> Span {
        let mut span = Span { low: form.constant, high: form.constant };
        for &(atom, c) in &form.terms {
            let of = self.spans[atom.0 as usize];
            let (x, y) = (of.low * c, of.high * c);
            span.low += x.min(y);
            span.high += x.max(y);
        }
        span
    }
}

/// The greatest unsigned value of a term by its operator, if it is less than the width allows.
fn greatest_unsigned(pool: &TermPool, t: Term) -> Option<i128> {
    let constant = |t: Term| pool.const_bits(t).map(|bits| i128::from(bits.low_u64()));
    let full = (1i128 << pool.width(t)) - 1;
    match pool.node(t) {
        Node::Bin(BinOp::BvAnd, _, b) => constant(b),
        Node::Bin(BinOp::URem, _, b) => constant(b).filter(|b| *b > 0).map(|b| b - 1),
        Node::Bin(BinOp::UDiv, _, b) => constant(b).filter(|b| *b > 0).map(|b| full / b),
        Node::Bin(BinOp::LShr, _, b) => constant(b).map(|b| if b < 64 { full >> b } else { 0 }),
        _ => None,
    }
}

/// The term whose absolute value a term is, `(x ^ s) - s` with the sign `s` of `x` in all bits, and
/// whether it is the opposite of that.
fn absolute(pool: &TermPool, t: Term) -> Option<(Term, bool)> {
    let Node::Bin(BinOp::Sub, a, b) = pool.node(t) else { return None };
    for (xor, sign, negated) in [(a, b, false), (b, a, true)] {
        let Node::Bin(BinOp::BvXor, p, q) = pool.node(xor) else { continue };
        let x = match (p == sign, q == sign) {
            (true, _) => q,
            (_, true) => p,
            _ => continue,
        };
        if is_sign_of(pool, sign, x) {
            return Some((x, negated));
        }
    }
    None
}

/// Whether a term is the sign of another in all bits.
fn is_sign_of(pool: &TermPool, sign: Term, x: Term) -> bool {
    let Node::Un(UnOp::SExt, bit) = pool.node(sign) else { return false };
    let Node::Extract(from, low) = pool.node(bit) else { return false };
    let x = match pool.node(x) {
        _ if from == x => x,
        Node::Un(UnOp::SExt, narrow) if from == narrow => narrow,
        _ => return false,
    };
    pool.width(bit) == 1 && low == pool.width(x) - 1
}
