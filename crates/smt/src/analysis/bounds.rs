//! Unsigned bounds of terms that follow from a query, by interval propagation.
//!
//! Every term of at most 64 bits has an interval. Assumptions narrow the intervals of their terms, and
//! narrowing is propagated up and down the query until nothing changes or [`MAX_ROUNDS`] is reached.
//! Every narrowing follows from the assumptions noted as its reasons, so an empty interval proves that
//! these contradict each other.

use crate::terms::pool::TermPool;
use crate::terms::semantics::ones;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use rustc_hash::FxHashMap;

/// The most rounds: a pair of bounds such as `x < y` and `y < x` would otherwise move by one in each
/// round, without an end.
const MAX_ROUNDS: u32 = 8;

/// A set of assumptions by their positions; those from the 128th on share the last bit.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Reasons(u128);

impl Reasons {
    pub(crate) fn only(i: usize) -> Reasons {
        Reasons(1 << i.min(127))
    }

    pub(crate) fn or(self, other: Reasons) -> Reasons {
        Reasons(self.0 | other.0)
    }

    /// The assumptions in the set.
    pub(crate) fn of(self, assumptions: &[Term]) -> Vec<Term> {
        let is_in = |i: usize| self.0 >> i.min(127) & 1 == 1;
        assumptions.iter().enumerate().filter(|(i, _)| is_in(*i)).map(|(_, &a)| a).collect()
    }
}

/// All values from `low` to `high`, as unsigned numbers; never empty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Interval {
    pub(crate) low: u64,
    pub(crate) high: u64,
}

impl Interval {
    fn all(w: u32) -> Interval {
        Interval { low: 0, high: ones(w) }
    }

    fn only(v: u64) -> Interval {
        Interval { low: v, high: v }
    }

    fn new(low: u64, high: u64) -> Interval {
        Interval { low, high }
    }

    pub(crate) fn single(self) -> Option<u64> {
        (self.low == self.high).then_some(self.low)
    }

    /// Bits that the greatest value needs.
    pub(crate) fn bits(self) -> u32 {
        64 - self.high.leading_zeros()
    }

    /// The least and the greatest value as `w`-bit numbers in two's complement.
    fn signed(self, w: u32) -> (i64, i64) {
        let top = 1u64 << (w - 1);
        let value = |v: u64| ((v << (64 - w)) as i64) >> (64 - w);
        if self.low < top && self.high >= top {
            (value(top), value(top - 1))
        } else {
            (value(self.low), value(self.high))
        }
    }

    /// The unsigned interval of a signed one; everything if that has both signs.
    fn from_signed(low: i64, high: i64, w: u32) -> Interval {
        if (low < 0) != (high < 0) {
            return Interval::all(w);
        }
        Interval::new(low as u64 & ones(w), high as u64 & ones(w))
    }

    /// Whether no value is negative as a `w`-bit number.
    pub(crate) fn is_non_negative(self, w: u32) -> bool {
        self.high >> (w - 1) == 0
    }
}

/// The intervals of the terms of a query.
pub(crate) struct Bounds {
    /// Terms with an interval, children first.
    pub(crate) order: Vec<Term>,
    at: FxHashMap<Term, usize>,
    intervals: Vec<Interval>,
    reasons: Vec<Reasons>,
    changed: bool,
}

/// A contradiction among the assumptions, with those that cause it.
struct Contradiction(Reasons);

impl Bounds {
    /// Propagates; `Err` has assumptions that contradict each other.
    pub(crate) fn of(pool: &TermPool, assumptions: &[Term]) -> Result<Bounds, Vec<Term>> {
        Bounds::with(pool, assumptions, &[])
    }

    /// The same with intervals for some other terms, about which nothing is assumed.
    pub(crate) fn with(
        pool: &TermPool,
        assumptions: &[Term],
        others: &[Term],
    ) -> Result<Bounds, Vec<Term>> {
        let roots: Vec<Term> = assumptions.iter().chain(others).copied().collect();
        let mut b = Bounds {
            order: cone(pool, &roots),
            at: FxHashMap::default(),
            intervals: Vec::new(),
            reasons: Vec::new(),
            changed: true,
        };
        for (i, &t) in b.order.iter().enumerate() {
            b.at.insert(t, i);
            let all = Interval::all(pool.width(t));
            b.intervals.push(constant(pool, t).map_or(all, Interval::only));
            b.reasons.push(Reasons::default());
        }
        b.propagate(pool, assumptions).map_err(|c| c.0.of(assumptions))?;
        Ok(b)
    }

    fn propagate(&mut self, pool: &TermPool, roots: &[Term]) -> Result<(), Contradiction> {
        for (i, &a) in roots.iter().enumerate() {
            self.meet(a, Interval::only(1), Reasons::only(i))?;
        }
        for _ in 0..MAX_ROUNDS {
            self.changed = false;
            for i in 0..self.order.len() {
                let t = self.order[i];
                if let Some((interval, reasons)) = self.forward(pool, t) {
                    self.meet(t, interval, reasons)?;
                }
            }
            for i in (0..self.order.len()).rev() {
                self.backward(pool, self.order[i])?;
            }
            if !self.changed {
                break;
            }
        }
        Ok(())
    }

    /// The interval of a term, if it has one, and the assumptions that it follows from.
    pub(crate) fn get(&self, t: Term) -> Option<(Interval, Reasons)> {
        let i = *self.at.get(&t)?;
        Some((self.intervals[i], self.reasons[i]))
    }

    fn meet(&mut self, t: Term, with: Interval, why: Reasons) -> Result<(), Contradiction> {
        let Some(&i) = self.at.get(&t) else { return Ok(()) };
        let old = self.intervals[i];
        let new = Interval::new(old.low.max(with.low), old.high.min(with.high));
        if new == old {
            return Ok(());
        }
        let why = self.reasons[i].or(why);
        if new.low > new.high {
            return Err(Contradiction(why));
        }
        self.intervals[i] = new;
        self.reasons[i] = why;
        self.changed = true;
        Ok(())
    }

    /// The interval of a term that follows from its operands.
    fn forward(&self, pool: &TermPool, t: Term) -> Option<(Interval, Reasons)> {
        let w = pool.width(t);
        match pool.node(t) {
            Node::Un(op, a) => {
                let (x, why) = self.get(a)?;
                Some((forward_unary(op, x, pool.width(a), w)?, why))
            }
            Node::Extract(a, low) => {
                let (x, why) = self.get(a)?;
                let moved = Interval::new(x.low >> low, x.high >> low);
                (moved.high <= ones(w)).then_some((moved, why))
            }
            Node::Bin(op, a, b) => {
                let ((x, rx), (y, ry)) = (self.get(a)?, self.get(b)?);
                Some((forward_binary(op, x, y, pool.width(a), pool.width(b))?, rx.or(ry)))
            }
            Node::Ite(c, a, b) => {
                let ((c, rc), (x, rx), (y, ry)) = (self.get(c)?, self.get(a)?, self.get(b)?);
                Some(match c.single() {
                    Some(1) => (x, rc.or(rx)),
                    Some(_) => (y, rc.or(ry)),
                    None => (Interval::new(x.low.min(y.low), x.high.max(y.high)), rx.or(ry)),
                })
            }
            _ => None,
        }
    }

    /// Narrows the operands by the interval of the term.
    fn backward(&mut self, pool: &TermPool, t: Term) -> Result<(), Contradiction> {
        let Some((r, why)) = self.get(t) else { return Ok(()) };
        let w = pool.width(t);
        match pool.node(t) {
            Node::Un(op, a) => {
                let Some((x, rx)) = self.get(a) else { return Ok(()) };
                match backward_unary(op, r, x, pool.width(a), w) {
                    Some(with) => self.meet(a, with, why.or(rx)),
                    None => Ok(()),
                }
            }
            Node::Extract(a, low) => match self.get(a) {
                Some((x, rx)) if x.high >> low <= ones(w) => {
                    let with = Interval::new(r.low << low, r.high << low | ones_or_none(low));
                    self.meet(a, with, why.or(rx))
                }
                _ => Ok(()),
            },
            Node::Bin(op, a, b) => {
                let (Some((x, rx)), Some((y, ry))) = (self.get(a), self.get(b)) else {
                    return Ok(());
                };
                let why = why.or(rx).or(ry);
                let Some((for_a, for_b)) =
                    backward_binary(op, r, x, y, pool.width(a), pool.width(b))
                else {
                    return Ok(());
                };
                self.meet(a, for_a, why)?;
                self.meet(b, for_b, why)
            }
            Node::Ite(c, a, b) => self.backward_ite(r, why, c, a, b),
            _ => Ok(()),
        }
    }

    fn backward_ite(
        &mut self,
        r: Interval,
        why: Reasons,
        c: Term,
        a: Term,
        b: Term,
    ) -> Result<(), Contradiction> {
        let (Some((ic, rc)), Some((x, rx)), Some((y, ry))) =
            (self.get(c), self.get(a), self.get(b))
        else {
            return Ok(());
        };
        let apart = |x: Interval| x.high < r.low || r.high < x.low;
        match ic.single() {
            Some(1) => self.meet(a, r, why.or(rc)),
            Some(_) => self.meet(b, r, why.or(rc)),
            None if apart(x) => self.meet(c, Interval::only(0), why.or(rx)),
            None if apart(y) => self.meet(c, Interval::only(1), why.or(ry)),
            None => Ok(()),
        }
    }
}

/// The value of a constant of at most 64 bits.
fn constant(pool: &TermPool, t: Term) -> Option<u64> {
    pool.const_bits(t).map(|k| k.low_u64())
}

/// All ones in that many low bits, which may be none.
fn ones_or_none(w: u32) -> u64 {
    if w == 0 { 0 } else { ones(w) }
}

/// The terms of at most 64 bits in the roots, children first. Parts of wider terms are left out.
fn cone(pool: &TermPool, roots: &[Term]) -> Vec<Term> {
    let is_word = |t: Term| match pool.sort(t) {
        Sort::Bool => true,
        Sort::BitVec(w) => w <= 64,
        _ => false,
    };
    let mut seen = rustc_hash::FxHashSet::default();
    let mut stack: Vec<Term> = roots.to_vec();
    let mut order = Vec::new();
    while let Some(t) = stack.pop() {
        if is_word(t) && seen.insert(t) {
            order.push(t);
            stack.extend(pool.children(t));
        }
    }
    // Children are older than their parents.
    order.sort_unstable();
    order
}

fn forward_unary(op: UnOp, x: Interval, from: u32, w: u32) -> Option<Interval> {
    Some(match op {
        UnOp::Not => Interval::new(1 - x.high, 1 - x.low),
        UnOp::BvNot => Interval::new(!x.high & ones(w), !x.low & ones(w)),
        UnOp::BvNeg if x.low > 0 => {
            let minus = |v: u64| v.wrapping_neg() & ones(w);
            Interval::new(minus(x.high), minus(x.low))
        }
        UnOp::ZExt => x,
        UnOp::SExt => {
            let (low, high) = x.signed(from);
            if (low < 0) != (high < 0) {
                return None;
            }
            Interval::from_signed(low, high, w)
        }
        _ => return None,
    })
}

fn backward_unary(op: UnOp, r: Interval, x: Interval, from: u32, w: u32) -> Option<Interval> {
    Some(match op {
        UnOp::Not => Interval::new(1 - r.high, 1 - r.low),
        UnOp::BvNot => Interval::new(!r.high & ones(w), !r.low & ones(w)),
        UnOp::ZExt => r,
        UnOp::SExt if x.is_non_negative(from) || r.is_non_negative(w) => r,
        _ => return None,
    })
}

/// `w` and `v` are the widths of the operands.
fn forward_binary(op: BinOp, x: Interval, y: Interval, w: u32, v: u32) -> Option<Interval> {
    let max = ones(w);
    let truth = |yes: bool, no: bool| match (yes, no) {
        (true, _) => Some(Interval::only(1)),
        (_, true) => Some(Interval::only(0)),
        _ => None,
    };
    let product = x.high as u128 * y.high as u128;
    match op {
        BinOp::And => Some(Interval::new(x.low & y.low, x.high & y.high)),
        BinOp::Eq => truth(
            x.single().is_some() && x.single() == y.single(),
            x.high < y.low || y.high < x.low,
        ),
        BinOp::Ult => truth(x.high < y.low, x.low >= y.high),
        BinOp::Slt => {
            let ((xl, xh), (yl, yh)) = (x.signed(w), y.signed(w));
            truth(xh < yl, xl >= yh)
        }
        BinOp::Concat => Some(Interval::new(x.low << v | y.low, x.high << v | y.high)),
        BinOp::Add => {
            let (low, high) = (x.low as u128 + y.low as u128, x.high as u128 + y.high as u128);
            // Either no sum overflows or every one does.
            ((low > max as u128) == (high > max as u128))
                .then(|| Interval::new(low as u64 & max, high as u64 & max))
        }
        BinOp::Sub if x.low >= y.high || x.high < y.low => {
            Some(Interval::new(x.low.wrapping_sub(y.high) & max, x.high.wrapping_sub(y.low) & max))
        }
        BinOp::Mul if product <= max as u128 => Some(Interval::new(x.low * y.low, product as u64)),
        BinOp::SDiv if !x.is_non_negative(w) || !y.is_non_negative(w) => None,
        BinOp::SRem if !x.is_non_negative(w) || !y.is_non_negative(w) => None,
        BinOp::UDiv | BinOp::SDiv if y.low > 0 => {
            Some(Interval::new(x.low / y.high, x.high / y.low))
        }
        BinOp::URem | BinOp::SRem if x.high < y.low => Some(x),
        BinOp::URem | BinOp::SRem if y.low > 0 => Some(Interval::new(0, x.high.min(y.high - 1))),
        BinOp::URem | BinOp::SRem => Some(Interval::new(0, x.high)),
        BinOp::BvAnd => Some(Interval::new(0, x.high.min(y.high))),
        BinOp::BvOr => {
            let bits = x.bits().max(y.bits());
            Some(Interval::new(x.low.max(y.low), ones_or_none(bits)))
        }
        BinOp::BvXor => Some(Interval::new(0, ones_or_none(x.bits().max(y.bits())))),
        BinOp::LShr => Some(Interval::new(0, x.high)),
        _ => None,
    }
}

/// The intervals that the operands must lie in if the result lies in `r`.
fn backward_binary(
    op: BinOp,
    r: Interval,
    x: Interval,
    y: Interval,
    w: u32,
    v: u32,
) -> Option<(Interval, Interval)> {
    let max = ones(w);
    let (all, all_y) = (Interval::all(w), Interval::all(v));
    let clamp = |n: u128| n.min(u64::MAX as u128) as u64;
    match op {
        BinOp::And => Some(match (r.single(), x.single(), y.single()) {
            (Some(1), ..) => (Interval::only(1), Interval::only(1)),
            (Some(0), Some(1), _) => (all, Interval::only(0)),
            (Some(0), _, Some(1)) => (Interval::only(0), all),
            _ => return None,
        }),
        BinOp::Eq => match r.single()? {
            1 => Some((y, x)),
            _ => Some((without(x, y.single()), without(y, x.single()))),
        },
        BinOp::Ult => match r.single()? {
            1 if y.high == 0 || x.low == u64::MAX => None,
            1 => Some((Interval::new(0, y.high - 1), Interval::new(x.low + 1, u64::MAX))),
            _ => Some((Interval::new(y.low, u64::MAX), Interval::new(0, x.high))),
        },
        BinOp::Slt => backward_slt(r.single()? == 1, x, y, w),
        BinOp::Concat => {
            let high = Interval::new(r.low >> v, r.high >> v);
            let low = match high.single() {
                Some(_) => Interval::new(r.low & ones(v), r.high & ones(v)),
                None => all_y,
            };
            Some((high, low))
        }
        BinOp::Add if x.high as u128 + y.high as u128 <= max as u128 => {
            let part = |other: Interval| {
                // The other operand cannot exist: an empty interval.
                if r.high < other.low {
                    return Interval::new(u64::MAX, 0);
                }
                Interval::new(r.low.saturating_sub(other.high), r.high - other.low)
            };
            Some((part(y), part(x)))
        }
        BinOp::Sub if x.low >= y.high => {
            let sum = |a: u64, b: u64| clamp(a as u128 + b as u128);
            let for_x = Interval::new(sum(r.low, y.low), sum(r.high, y.high));
            let for_y = if x.high < r.low {
                Interval::new(u64::MAX, 0)
            } else {
                Interval::new(x.low.saturating_sub(r.high), x.high - r.low)
            };
            Some((for_x, for_y))
        }
        BinOp::Mul if x.high as u128 * y.high as u128 <= max as u128 => {
            let part = |other: Interval| {
                let low = if other.high > 0 { r.low.div_ceil(other.high) } else { 0 };
                Interval::new(low, r.high.checked_div(other.low).unwrap_or(u64::MAX))
            };
            Some((part(y), part(x)))
        }
        BinOp::SDiv | BinOp::SRem if !x.is_non_negative(w) || !y.is_non_negative(w) => None,
        BinOp::UDiv | BinOp::SDiv if y.low > 0 => {
            let most = (r.high as u128 + 1) * y.high as u128 - 1;
            let for_x = Interval::new(clamp(r.low as u128 * y.low as u128), clamp(most));
            // y * (r + 1) exceeds x, and y * r does not. No divisor of 64 bits may be great enough.
            let least = clamp(x.low as u128 / (r.high as u128 + 1) + 1);
            Some((for_x, Interval::new(least, x.high.checked_div(r.low).unwrap_or(u64::MAX))))
        }
        BinOp::URem | BinOp::SRem if y.low > 0 && r.low < u64::MAX => {
            Some((Interval::new(r.low, u64::MAX), Interval::new(r.low + 1, u64::MAX)))
        }
        BinOp::BvAnd => Some((Interval::new(r.low, u64::MAX), Interval::new(r.low, u64::MAX))),
        BinOp::BvOr => Some((Interval::new(0, r.high), Interval::new(0, r.high))),
        _ => None,
    }
}

/// The interval without a value at its border.
fn without(x: Interval, v: Option<u64>) -> Interval {
    match v {
        Some(v) if x.single() == Some(v) => Interval::new(u64::MAX, 0),
        Some(v) if x.low == v => Interval::new(v + 1, x.high),
        Some(v) if x.high == v => Interval::new(x.low, v - 1),
        _ => x,
    }
}

fn backward_slt(less: bool, x: Interval, y: Interval, w: u32) -> Option<(Interval, Interval)> {
    let ((xl, xh), (yl, yh)) = (x.signed(w), y.signed(w));
    let ((xl, xh), (yl, yh)) = if less {
        ((xl, xh.min(yh.checked_sub(1)?)), (yl.max(xl.checked_add(1)?), yh))
    } else {
        ((xl.max(yl), xh), (yl, yh.min(xh)))
    };
    if xl > xh || yl > yh {
        let none = Interval::new(u64::MAX, 0);
        return Some((none, none));
    }
    Some((Interval::from_signed(xl, xh, w), Interval::from_signed(yl, yh, w)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPERATORS: [BinOp; 19] = [
        BinOp::And,
        BinOp::Eq,
        BinOp::BvAnd,
        BinOp::BvOr,
        BinOp::BvXor,
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::UDiv,
        BinOp::URem,
        BinOp::SDiv,
        BinOp::SRem,
        BinOp::Shl,
        BinOp::LShr,
        BinOp::AShr,
        BinOp::Ult,
        BinOp::Slt,
        BinOp::Concat,
        BinOp::Select,
    ];

    fn build(p: &mut TermPool, op: BinOp, a: Term, b: Term) -> Option<Term> {
        Some(match op {
            BinOp::And => p.and(a, b),
            BinOp::Eq => p.eq(a, b),
            BinOp::BvAnd => p.bvand(a, b),
            BinOp::BvOr => p.bvor(a, b),
            BinOp::BvXor => p.bvxor(a, b),
            BinOp::Add => p.add(a, b),
            BinOp::Sub => p.sub(a, b),
            BinOp::Mul => p.mul(a, b),
            BinOp::UDiv => p.udiv(a, b),
            BinOp::URem => p.urem(a, b),
            BinOp::SDiv => p.sdiv(a, b),
            BinOp::SRem => p.srem(a, b),
            BinOp::Shl => p.shl(a, b),
            BinOp::LShr => p.lshr(a, b),
            BinOp::AShr => p.ashr(a, b),
            BinOp::Ult => p.ult(a, b),
            BinOp::Slt => p.slt(a, b),
            BinOp::Concat => p.concat(a, b),
            _ => return None,
        })
    }

    fn intervals(w: u32) -> impl Iterator<Item = Interval> {
        (0..=ones(w)).flat_map(move |l| (l..=ones(w)).map(move |h| Interval::new(l, h)))
    }

    /// An operator's result on two operands.
    struct Sample {
        x: u64,
        y: u64,
        result: u64,
    }

    /// An operator's results on all operands by the evaluator's semantics.
    fn graph(op: BinOp, w: u32) -> Option<Vec<Sample>> {
        let mut p = TermPool::new();
        let mut all = Vec::new();
        for x in 0..=ones(w) {
            for y in 0..=ones(w) {
                let (a, b) = if op == BinOp::And {
                    (p.bool(x == 1), p.bool(y == 1))
                } else {
                    (p.bv(w, x), p.bv(w, y))
                };
                let t = build(&mut p, op, a, b)?;
                all.push(Sample { x, y, result: constant(&p, t)? });
            }
        }
        Some(all)
    }

    fn is_in(i: Interval, v: u64) -> bool {
        i.low <= v && v <= i.high
    }

    #[test]
    fn no_value_is_lost_going_up_or_down_by_any_operator() {
        for op in OPERATORS {
            let w = if op == BinOp::And { 1 } else { 3 };
            let Some(graph) = graph(op, w) else { continue };
            let result_bits = match op {
                BinOp::And | BinOp::Eq | BinOp::Ult | BinOp::Slt => 1,
                BinOp::Concat => 2 * w,
                _ => w,
            };
            for x in intervals(w) {
                for y in intervals(w) {
                    let inside: Vec<_> =
                        graph.iter().filter(|s| is_in(x, s.x) && is_in(y, s.y)).collect();
                    if let Some(up) = forward_binary(op, x, y, w, w) {
                        for Sample { x: a, y: b, result: r } in &inside {
                            assert!(is_in(up, *r), "{op:?} {a} {b}: {r} is not in {up:?}");
                        }
                    }
                    for r in intervals(result_bits) {
                        let Some((for_x, for_y)) = backward_binary(op, r, x, y, w, w) else {
                            continue;
                        };
                        for Sample { x: a, y: b, .. } in
                            inside.iter().filter(|s| is_in(r, s.result))
                        {
                            let kept = is_in(for_x, *a) && is_in(for_y, *b);
                            assert!(kept, "{op:?} {a} {b} in {x:?} {y:?} for {r:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn no_value_is_lost_by_operators_with_one_operand() {
        for (op, from, to) in [
            (UnOp::Not, 1, 1),
            (UnOp::BvNot, 3, 3),
            (UnOp::BvNeg, 3, 3),
            (UnOp::ZExt, 3, 5),
            (UnOp::SExt, 3, 5),
        ] {
            let value = |v: u64| match op {
                UnOp::Not => 1 - v,
                UnOp::BvNot => !v & ones(to),
                UnOp::BvNeg => v.wrapping_neg() & ones(to),
                UnOp::ZExt => v,
                _ => (((v << (64 - from)) as i64) >> (64 - from)) as u64 & ones(to),
            };
            for x in intervals(from) {
                let inside: Vec<u64> = (x.low..=x.high).collect();
                if let Some(up) = forward_unary(op, x, from, to) {
                    assert!(inside.iter().all(|&v| is_in(up, value(v))), "{op:?} {x:?}");
                }
                for r in intervals(to) {
                    if let Some(down) = backward_unary(op, r, x, from, to) {
                        let lost = inside.iter().find(|&&v| is_in(r, value(v)) && !is_in(down, v));
                        assert_eq!(lost, None, "{op:?} {x:?} {r:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_greatest_dividend_of_sixty_four_bits_does_not_overflow() {
        let (x, y) = (Interval::only(u64::MAX), Interval::new(1, u64::MAX));
        let down = backward_binary(BinOp::UDiv, Interval::only(0), x, y, 64, 64);
        assert!(down.is_some_and(|(_, for_y)| for_y.low == u64::MAX));
    }

    #[test]
    fn bounds_that_contradict_each_other_name_the_assumptions_at_fault() {
        let mut p = TermPool::new();
        let v: Vec<Term> = (0..3).map(|i| p.var(&format!("v{i}"), Sort::BitVec(32))).collect();
        let (zero, most, k) = (p.bv(32, 0), p.bv(32, 1000), p.bv(32, 2000));
        let quotient = p.sdiv(v[0], v[1]);
        let q = [
            p.slt(zero, v[2]),
            p.slt(v[0], most),
            p.slt(zero, v[0]),
            p.slt(zero, v[1]),
            p.slt(k, quotient),
        ];
        let core = Bounds::of(&p, &q).err().expect("a quotient is no greater than the dividend");
        assert_eq!(core, q[1..].to_vec());
        let b = Bounds::of(&p, &q[..4]).expect("no contradiction");
        assert_eq!(b.get(v[0]).map(|(i, _)| i), Some(Interval::new(1, 999)));
    }
}
