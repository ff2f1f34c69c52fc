//! The inverse of evaluation: values of variables that would give a term a wanted value.
//!
//! Given a model and a term, [`changes`] searches the term for variables whose change alone (or with a
//! few others) would make the term evaluate to the wanted value, while everything else stays as it is
//! in the model. `x + y < 10` is made true by `x = 9 - y`, by `y = 9 - x` and so on. Proposals are
//! guesses, and callers evaluate them before use, so no error here can make an answer wrong. For
//! operators without a useful inverse nothing is proposed.

use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::semantics::{odd_inverse, ones};
use crate::terms::sort::{FloatSort, Sort};
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::value::{ArrayValue, Model, Value};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// The new value of one variable, or of one element of an array variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// A variable of at most 64 bits gets a bit pattern.
    Word(Term, u64),
    /// The element of an array variable at an index gets a value.
    Element(Term, u64, u64),
}

impl Change {
    /// The variable, and the index of its element if it is an array.
    pub(crate) fn place(self) -> (Term, Option<u64>) {
        match self {
            Change::Word(v, _) => (v, None),
            Change::Element(a, i, _) => (a, Some(i)),
        }
    }
}

/// Changes to be made together.
pub(crate) type Changes = SmallVec<[Change; 2]>;

/// The most proposals for one term.
const MAX_PROPOSALS: usize = 8;
/// The depth to which a term is searched for variables.
const MAX_DEPTH: u32 = 24;
/// The most aims of one search: if an operator has several inverses and none of them leads to a
/// variable, the number of aims multiplies with each level.
const MAX_AIMS: u32 = 1_000;

/// The model after some changes.
pub(crate) fn apply(pool: &TermPool, model: &Model, changes: &[Change]) -> Model {
    let mut arrays: SmallVec<[(Term, ArrayValue); 1]> = smallvec![];
    let mut values: Vec<(Term, Value)> = Vec::with_capacity(changes.len());
    for &c in changes {
        match c {
            Change::Word(v, bits) => values.push((v, Value::from_u64(pool.sort(v), bits))),
            Change::Element(a, i, bits) => {
                if !arrays.iter().any(|(b, _)| *b == a) {
                    let now = match model.get(a) {
                        Some(Value::Array(v)) => (**v).clone(),
                        _ => ArrayValue::default(),
                    };
                    arrays.push((a, now));
                }
                let entry = arrays.iter_mut().find(|(b, _)| *b == a);
                entry.expect("just added").1.elements.insert(i, bits);
            }
        }
    }
    values.extend(arrays.into_iter().map(|(a, v)| (a, Value::Array(Arc::new(v)))));
    model.with(values)
}

/// Proposals that would give `t`, of at most 64 bits and no array, the bit pattern `wanted`.
pub(crate) fn changes(
    pool: &TermPool,
    evaluator: &mut Evaluator,
    model: &Model,
    t: Term,
    wanted: u64,
) -> Vec<Changes> {
    search(pool, evaluator, model, t, wanted).proposals
}

fn search<'a>(
    pool: &'a TermPool,
    evaluator: &'a mut Evaluator,
    model: &'a Model,
    t: Term,
    wanted: u64,
) -> Search<'a> {
    let mut search = Search { pool, evaluator, model, proposals: Vec::new(), depth: 0, aims: 0 };
    search.aim(t, wanted);
    search
}

struct Search<'a> {
    pool: &'a TermPool,
    evaluator: &'a mut Evaluator,
    model: &'a Model,
    proposals: Vec<Changes>,
    depth: u32,
    aims: u32,
}

fn signed(v: u64, width: u32) -> i64 {
    let unused = 64 - width;
    ((v << unused) as i64) >> unused
}

impl Search<'_> {
    fn value(&mut self, t: Term) -> u64 {
        self.evaluator.eval_u64(self.pool, self.model, t)
    }

    fn propose(&mut self, c: Change) {
        let proposal: Changes = smallvec![c];
        if self.proposals.len() < MAX_PROPOSALS && !self.proposals.contains(&proposal) {
            self.proposals.push(proposal);
        }
    }

    /// Collects proposals that make `t` evaluate to `wanted`.
    fn aim(&mut self, t: Term, wanted: u64) {
        let sort = self.pool.sort(t);
        if !sort.is_small()
            || self.depth >= MAX_DEPTH
            || self.aims >= MAX_AIMS
            || self.proposals.len() >= MAX_PROPOSALS
            || self.value(t) == wanted
        {
            return;
        }
        self.depth += 1;
        self.aims += 1;
        match self.pool.node(t) {
            Node::Var(_) => self.propose(Change::Word(t, wanted)),
            Node::Un(op, a) => self.unary(op, a, sort, wanted),
            Node::Extract(a, low) if self.pool.sort(a).is_small() => {
                let mask = ones(sort.width()) << low;
                let now = self.value(a);
                self.aim(a, now & !mask | wanted << low);
            }
            Node::Ite(c, x, y) => self.ite(c, x, y, wanted),
            Node::Bin(op, a, b) => self.binary(op, a, b, sort, wanted),
            _ => {}
        }
        self.depth -= 1;
    }

    fn ite(&mut self, c: Term, x: Term, y: Term, wanted: u64) {
        let holds = self.value(c);
        let (taken, other) = if holds == 1 { (x, y) } else { (y, x) };
        if self.value(other) == wanted {
            self.aim(c, 1 - holds);
        }
        self.aim(taken, wanted);
    }

    fn unary(&mut self, op: UnOp, a: Term, sort: Sort, wanted: u64) {
        let from = self.pool.sort(a);
        if !from.is_small() {
            return;
        }
        let (w, n) = (sort.width(), from.width());
        match op {
            UnOp::Not => self.aim(a, 1 - wanted),
            UnOp::BvNot => self.aim(a, !wanted & ones(w)),
            UnOp::BvNeg => self.aim(a, wanted.wrapping_neg() & ones(w)),
            UnOp::ZExt if wanted & !ones(n) == 0 => self.aim(a, wanted),
            UnOp::SExt if signed(wanted & ones(n), n) == signed(wanted, w) => {
                self.aim(a, wanted & ones(n));
            }
            UnOp::FpNeg => self.aim(a, wanted ^ 1 << (w - 1)),
            UnOp::FpAbs if wanted >> (w - 1) == 0 => self.aim(a, wanted),
            UnOp::FpToBits | UnOp::FpFromBits => self.aim(a, wanted),
            UnOp::FpToFp => {
                if let Some(v) = number(sort, wanted) {
                    self.aim(a, bits_of(from, v));
                }
            }
            UnOp::FpFromSigned | UnOp::FpFromUnsigned => {
                let whole = number(sort, wanted).filter(|v| v.abs() < 2f64.powi(62));
                if let Some(v) = whole {
                    self.aim(a, v as i64 as u64 & ones(n));
                }
            }
            UnOp::FpToSigned => self.aim(a, bits_of(from, signed(wanted, w) as f64)),
            UnOp::FpToUnsigned => self.aim(a, bits_of(from, wanted as f64)),
            _ => {}
        }
    }

    fn binary(&mut self, op: BinOp, a: Term, b: Term, sort: Sort, wanted: u64) {
        if op == BinOp::Select {
            return self.element(a, b, wanted);
        }
        if !self.pool.sort(a).is_small() || !self.pool.sort(b).is_small() {
            return;
        }
        let (x, y) = (self.value(a), self.value(b));
        let from = self.pool.sort(a);
        match op {
            BinOp::And => self.conjunction(a, b, wanted),
            BinOp::Eq => self.equality(a, b, wanted),
            BinOp::Ult | BinOp::Slt => self.less(op == BinOp::Slt, a, b, wanted),
            BinOp::FpLt | BinOp::FpLe | BinOp::FpEq => self.float_order(op, a, b, wanted),
            BinOp::Concat => {
                let low = self.pool.width(b);
                self.together((a, wanted >> low), (b, wanted & ones(low)));
            }
            BinOp::FpAdd | BinOp::FpSub | BinOp::FpMul | BinOp::FpDiv => {
                self.float_arithmetic(op, a, b, wanted);
            }
            _ => self.arithmetic(op, (a, x), (b, y), sort.width(), wanted),
        }
        debug_assert!(from.is_small(), "checked above");
    }

    fn conjunction(&mut self, a: Term, b: Term, wanted: u64) {
        if wanted == 1 {
            self.together((a, 1), (b, 1));
        } else {
            self.aim(b, 0);
            self.aim(a, 0);
        }
    }

    /// Aims at two values at once.
    fn together(&mut self, first: (Term, u64), second: (Term, u64)) {
        if self.value(first.0) == first.1 {
            return self.aim(second.0, second.1);
        }
        if self.value(second.0) == second.1 {
            return self.aim(first.0, first.1);
        }
        let kept = std::mem::take(&mut self.proposals);
        self.aim(first.0, first.1);
        let ones = std::mem::take(&mut self.proposals);
        self.aim(second.0, second.1);
        let others = std::mem::replace(&mut self.proposals, kept);
        for (one, other) in ones.iter().zip(others.iter().cycle()).take(2) {
            let clash = one.iter().any(|c| other.iter().any(|d| d.place() == c.place()));
            if !clash && self.proposals.len() < MAX_PROPOSALS {
                self.proposals.push(one.iter().chain(other).copied().collect());
            }
        }
    }

    /// Aims at one value or another, with room for proposals for each.
    fn either(&mut self, t: Term, first: u64, second: u64) {
        let before = self.proposals.len();
        let kept = std::mem::take(&mut self.proposals);
        self.aim(t, first);
        let firsts = std::mem::replace(&mut self.proposals, kept);
        let room = (MAX_PROPOSALS - before).div_ceil(2);
        let (now, later) = firsts.split_at(firsts.len().min(room));
        self.proposals.extend_from_slice(now);
        self.aim(t, second);
        let left = MAX_PROPOSALS.saturating_sub(self.proposals.len());
        self.proposals.extend(later.iter().take(left).cloned());
    }

    fn equality(&mut self, a: Term, b: Term, wanted: u64) {
        let (x, y) = (self.value(a), self.value(b));
        let w = self.pool.width(a);
        if wanted == 1 {
            self.aim(a, y);
            self.aim(b, x);
            return;
        }
        if let Sort::Float(_) = self.pool.sort(a) {
            let v = number(self.pool.sort(a), y).unwrap_or(0.0);
            self.aim(a, bits_of(self.pool.sort(a), v + 1.0));
            return;
        }
        for (t, v) in [(a, y), (b, x)] {
            self.aim(t, v.wrapping_add(1) & ones(w));
            self.aim(t, v.wrapping_sub(1) & ones(w));
        }
    }

    /// An order between integers: the nearest value first, then the farthest.
    fn less(&mut self, is_signed: bool, a: Term, b: Term, wanted: u64) {
        let w = self.pool.width(a);
        let (x, y) = (self.value(a), self.value(b));
        if wanted == 0 {
            self.aim(a, y);
            self.aim(b, x);
        }
        let top = 1u64 << (w - 1);
        let (least, most) = if is_signed { (top, top - 1) } else { (0, ones(w)) };
        if wanted == 0 {
            self.aim(a, most);
            self.aim(b, least);
            return;
        }
        if y != least {
            self.aim(a, y.wrapping_sub(1) & ones(w));
        }
        if x != most {
            self.aim(b, x.wrapping_add(1) & ones(w));
        }
        self.aim(a, least);
        self.aim(b, most);
    }

    fn arithmetic(&mut self, op: BinOp, a: (Term, u64), b: (Term, u64), w: u32, wanted: u64) {
        let mask = ones(w);
        let ((a, x), (b, y)) = (a, b);
        match op {
            BinOp::Add => {
                self.aim(a, wanted.wrapping_sub(y) & mask);
                self.aim(b, wanted.wrapping_sub(x) & mask);
            }
            BinOp::Sub => {
                self.aim(a, wanted.wrapping_add(y) & mask);
                self.aim(b, x.wrapping_sub(wanted) & mask);
            }
            BinOp::BvXor => {
                self.aim(a, wanted ^ y);
                self.aim(b, wanted ^ x);
            }
            BinOp::BvAnd => {
                for (t, now, other) in [(a, x, y), (b, y, x)] {
                    if wanted & !other == 0 {
                        self.aim(t, wanted | now & !other);
                    }
                }
            }
            BinOp::BvOr => {
                for (t, now, other) in [(a, x, y), (b, y, x)] {
                    if other & !wanted == 0 {
                        self.aim(t, wanted & !other | now & other);
                    }
                }
            }
            BinOp::Mul => self.product((a, x), (b, y), mask, wanted),
            BinOp::UDiv | BinOp::SDiv => {
                self.aim(a, wanted.wrapping_mul(y) & mask);
                // The least and the greatest divisor with this quotient.
                if let Some(most) = x.checked_div(wanted) {
                    self.aim(b, most);
                    self.aim(b, x / wanted.saturating_add(1) + 1);
                }
            }
            BinOp::URem | BinOp::SRem => {
                if let Some(rest) = x.checked_rem(y) {
                    // The nearest numbers with this remainder. A sum of small numbers has many
                    // variables, each of which may not become less, so both directions get their share
                    // of the proposals.
                    let near = (x - rest).wrapping_add(wanted);
                    let far =
                        if wanted < rest { near.wrapping_add(y) } else { near.wrapping_sub(y) };
                    self.either(a, near & mask, far & mask);
                }
                self.aim(a, wanted);
                if y <= wanted && wanted < mask {
                    self.together((a, wanted), (b, wanted + 1));
                }
            }
            BinOp::Shl if y < w as u64 => self.aim(a, wanted >> y),
            BinOp::LShr if y < w as u64 => self.aim(a, wanted << y & mask),
            BinOp::AShr if y < w as u64 => self.aim(a, wanted << y & mask),
            _ => {}
        }
    }

    /// A product: one factor changes if the other divides the wanted value (modulo the width), or both
    /// become divisors of it. For orders, one factor becomes the nearest sufficient one.
    fn product(&mut self, a: (Term, u64), b: (Term, u64), mask: u64, wanted: u64) {
        let ((a, x), (b, y)) = (a, b);
        for (t, other) in [(a, y), (b, x)] {
            if other != 0 && wanted.is_multiple_of(other) {
                self.aim(t, wanted / other);
            }
        }
        if a == b {
            let root = wanted.isqrt();
            self.aim(a, root);
            self.aim(a, (root + 1) & mask);
            return;
        }
        for d in nearest_divisors(wanted, x).into_iter().flatten() {
            self.together((a, d), (b, wanted / d));
        }
        for (t, other) in [(a, y), (b, x)] {
            let zeros = other.trailing_zeros();
            if other == 0 {
                continue;
            }
            if wanted.trailing_zeros() >= zeros {
                let v = (wanted >> zeros).wrapping_mul(odd_inverse(other >> zeros));
                self.aim(t, v & (mask >> zeros));
            }
            self.aim(t, wanted / other);
            self.aim(t, (wanted / other).saturating_add(1) & mask);
        }
    }

    fn float_order(&mut self, op: BinOp, a: Term, b: Term, wanted: u64) {
        let sort = self.pool.sort(a);
        let (x, y) = (self.value(a), self.value(b));
        let numbers = (number(sort, x).unwrap_or(0.0), number(sort, y).unwrap_or(0.0));
        let (up, down) =
            (|v: f64| v + (1.0 + v.abs() / 1024.0), |v: f64| v - (1.0 + v.abs() / 1024.0));
        let (x, y) = numbers;
        let (for_a, for_b) = match (op, wanted) {
            (BinOp::FpEq, 0) | (BinOp::FpLe, 0) => (up(y), down(x)),
            (BinOp::FpLt, 1) => (down(y), up(x)),
            _ => (y, x),
        };
        self.aim(a, bits_of(sort, for_a));
        self.aim(b, bits_of(sort, for_b));
    }

    fn float_arithmetic(&mut self, op: BinOp, a: Term, b: Term, wanted: u64) {
        let sort = self.pool.sort(a);
        let (x, y) = (self.value(a), self.value(b));
        let (Some(x), Some(y), Some(v)) = (number(sort, x), number(sort, y), number(sort, wanted))
        else {
            return;
        };
        let (for_a, for_b) = match op {
            BinOp::FpAdd => (v - y, v - x),
            BinOp::FpSub => (v + y, x - v),
            BinOp::FpMul => (v / y, v / x),
            _ => (v * y, x / v),
        };
        self.aim(a, bits_of(sort, for_a));
        self.aim(b, bits_of(sort, for_b));
    }

    /// The element that a read gives: the last one stored at the index, or the variable's own.
    fn element(&mut self, array: Term, index: Term, wanted: u64) {
        if !self.pool.sort(index).is_small() {
            return;
        }
        let i = self.value(index);
        let mut base = array;
        loop {
            match self.pool.node(base) {
                Node::Store(a, j, v) => {
                    if self.value(j) == i {
                        return self.aim(v, wanted);
                    }
                    base = a;
                }
                Node::Ite(c, x, y) => base = if self.value(c) == 1 { x } else { y },
                Node::Un(UnOp::ConstArray, v) => return self.aim(v, wanted),
                Node::Table(id) => {
                    let at = self.pool.table(id).iter().position(|&e| e == wanted);
                    if let Some(at) = at {
                        self.aim(index, at as u64);
                    }
                    return;
                }
                _ => return self.propose(Change::Element(base, i, wanted)),
            }
        }
    }
}

/// The greatest divisor of a number that is at most `near`, the least that is greater, and the one
/// nearest to the root; none for numbers that take too long to divide.
fn nearest_divisors(n: u64, near: u64) -> [Option<u64>; 3] {
    if n == 0 || n >= 1 << 24 {
        return [None; 3];
    }
    let (mut below, mut above, mut middle) = (None, None, None);
    for small in (1..=n.isqrt()).filter(|d| n.is_multiple_of(*d)) {
        for d in [small, n / small] {
            if d <= near {
                below = below.max(Some(d));
            } else if above.is_none_or(|a| d < a) {
                above = Some(d);
            }
        }
        middle = Some(small);
    }
    [below, above, middle]
}

/// The number that a float's bit pattern stands for; `None` for NaN.
fn number(sort: Sort, bits: u64) -> Option<f64> {
    let v = match sort {
        Sort::Float(FloatSort::F32) => f32::from_bits(bits as u32) as f64,
        _ => f64::from_bits(bits),
    };
    (!v.is_nan()).then_some(v)
}

fn bits_of(sort: Sort, v: f64) -> u64 {
    match sort {
        Sort::Float(f @ FloatSort::F32) => {
            crate::terms::float_ops::canonical(f, (v as f32).to_bits() as u64)
        }
        _ => crate::terms::float_ops::canonical(FloatSort::F64, v.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_soon_where_no_inverse_leads_to_a_variable() {
        let mut p = TermPool::new();
        let byte = p.var("n", Sort::BitVec(8));
        let (one, two, three) = (p.bv(32, 1), p.bv(32, 2), p.bv(32, 3));
        let mut n = p.zext(byte, 32);
        for _ in 0..12 {
            let rest = p.urem(n, two);
            let odd = p.eq(rest, one);
            let product = p.mul(n, three);
            let (up, down) = (p.add(product, one), p.udiv(n, two));
            n = p.ite(odd, up, down);
        }
        let start = (byte, Value::from_u64(Sort::BitVec(8), 27));
        let model = Model::from_values(vec![start]);
        let mut evaluator = Evaluator::new();
        let search = search(&p, &mut evaluator, &model, n, 1000);
        assert_eq!((search.aims, search.proposals.len()), (MAX_AIMS, 0));
    }
}
