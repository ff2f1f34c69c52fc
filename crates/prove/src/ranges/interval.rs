//! Intervals of integers, and the operators on them.
//!
//! A value of `w` bits is a signed number; a value of a single bit is 0 or 1. Every function here
//! gives an interval with all values that the operator can have on values of its operands' intervals.
//! If the operator wraps or is not followed, that is all of the type.

use lydian_ir::arith::{self, Overflow};
use lydian_ir::{BinOp, CastOp, CmpOp, Type, UnOp};

/// The numbers from `low` to `high`, of which there is at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub low: i128,
    /// The greatest.
    pub high: i128,
}

/// The widest integers that are followed.
const WIDEST: u8 = 64;

impl Interval {
    /// All values of a type; none for types that are not followed.
    pub fn of(ty: Type) -> Option<Self> {
        match ty {
            Type::Int(1) => Some(Self { low: 0, high: 1 }),
            Type::Int(bits) if bits <= WIDEST => {
                Some(Self { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 })
            }
            _ => None,
        }
    }

    /// The one value of a constant.
    pub fn constant(ty: Type, bits: u128) -> Option<Self> {
        let all = Self::of(ty)?;
        let value = match ty {
            Type::Int(1) => (bits & 1) as i128,
            _ => arith::signed(ty.bits(), bits),
        };
        all.contains(value).then_some(Self { low: value, high: value })
    }

    /// Whether it has a number.
    pub fn contains(self, value: i128) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The least interval that has both.
    pub fn join(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers that both have, if any.
    pub fn meet(self, other: Self) -> Option<Self> {
        let both = Self { low: self.low.max(other.low), high: self.high.min(other.high) };
        (both.low <= both.high).then_some(both)
    }

    /// Every number plus an offset.
    pub fn plus(self, offset: i128) -> Self {
        Self { low: self.low + offset, high: self.high + offset }
    }

    /// The bits of its number in a type, if it has only one number.
    fn pattern(self, ty: Type) -> Option<u128> {
        let bits = self.low as u128 & (u128::MAX >> (128 - ty.bits()));
        (self.low == self.high).then_some(bits)
    }

    const fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// The interval itself if all of its numbers are of the type, else all numbers of the type.
    fn within(self, ty: Type) -> Option<Self> {
        let all = Self::of(ty)?;
        Some(if all.contains(self.low) && all.contains(self.high) { self } else { all })
    }
}

/// The least and greatest of some numbers; none where one could not be computed.
fn hull(values: [Option<i128>; 4]) -> Option<Interval> {
    let [first, rest @ ..] = values;
    let mut all = Interval { low: first?, high: first? };
    for value in rest {
        all = all.join(Interval { low: value?, high: value? });
    }
    Some(all)
}

/// `op a`.
pub(super) fn unary(op: UnOp, ty: Type, a: Interval) -> Option<Interval> {
    if ty == Type::BOOL {
        return Interval::of(ty);
    }
    match op {
        UnOp::NegU | UnOp::NegS => Interval { low: -a.high, high: -a.low }.within(ty),
        UnOp::Not => Interval { low: -1 - a.high, high: -1 - a.low }.within(ty),
        UnOp::FNeg => None,
    }
}

/// `a op b`, all of type `ty`.
pub(super) fn binary(op: BinOp, ty: Type, a: Interval, b: Interval) -> Option<Interval> {
    use BinOp::*;
    let all = Interval::of(ty)?;
    if ty == Type::BOOL {
        return Some(all);
    }
    let corners = |f: fn(i128, i128) -> Option<i128>| {
        let found = [f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)];
        hull(found).and_then(|found| found.within(ty)).unwrap_or(all)
    };
    if let (Some(x), Some(y)) = (a.pattern(ty), b.pattern(ty)) {
        let value = arith::binary(op, ty, x, y, Overflow::Wrap).ok();
        return Some(value.and_then(|bits| Interval::constant(ty, bits)).unwrap_or(all));
    }
    let natural = a.is_natural() && b.is_natural();
    Some(match op {
        AddU | AddS => corners(i128::checked_add),
        SubU | SubS => corners(i128::checked_sub),
        MulU | MulS => corners(i128::checked_mul),
        DivS if b.low > 0 => corners(i128::checked_div),
        DivU if b.low > 0 && natural => corners(i128::checked_div),
        RemS if b.low > 0 => {
            let most = b.high - 1;
            Interval {
                low: if a.low >= 0 { 0 } else { a.low.max(-most) },
                high: if a.high <= 0 { 0 } else { a.high.min(most) },
            }
        }
        RemU if b.low > 0 => {
            let most = b.high - 1;
            Interval { low: 0, high: if a.is_natural() { a.high.min(most) } else { most } }
        }
        And => and(a, b, all),
        Or | Xor if natural => Interval { low: 0, high: ones(a.high | b.high) },
        ShlU | ShlS if b.is_natural() && b.high < i128::from(ty.bits()) => {
            corners(|a, b| a.checked_mul(1i128 << b))
        }
        ShrS if b.is_natural() && b.high < i128::from(ty.bits()) => corners(|a, b| Some(a >> b)),
        ShrU if natural && b.high < i128::from(ty.bits()) => corners(|a, b| Some(a >> b)),
        ShrU if b.low > 0 && b.high < i128::from(ty.bits()) => {
            Interval { low: 0, high: (1 << (i128::from(ty.bits()) - b.low)) - 1 }
        }
        _ => all,
    })
}

/// `a & b`: no more than either that is not negative.
fn and(a: Interval, b: Interval, all: Interval) -> Interval {
    match (a.is_natural(), b.is_natural()) {
        (true, true) => Interval { low: 0, high: a.high.min(b.high) },
        (true, false) => Interval { low: 0, high: a.high },
        (false, true) => Interval { low: 0, high: b.high },
        (false, false) => all,
    }
}

/// The number of ones in binary that has as many digits.
fn ones(value: i128) -> i128 {
    (1 << (128 - value.leading_zeros())) - 1
}

/// A cast of a value of type `from`.
pub(super) fn cast(op: CastOp, from: Type, to: Type, a: Option<Interval>) -> Option<Interval> {
    let all = Interval::of(to)?;
    let Some(a) = a else { return Some(all) };
    Some(match op {
        // A negative number's bits, without the sign.
        CastOp::ZExt if !a.is_natural() => match a.high < 0 {
            true => a.plus(1 << from.bits()),
            false => Interval { low: 0, high: (1 << from.bits()) - 1 },
        }
        .meet(all)
        .unwrap_or(all),
        CastOp::ZExt => a,
        CastOp::SExt if from == Type::BOOL => all,
        CastOp::SExt => a,
        CastOp::Trunc if to == Type::BOOL => all,
        CastOp::Trunc => a.within(to)?,
        _ => all,
    })
}

/// Whether `a op b` holds for all values, or for none.
pub(super) fn compare(op: CmpOp, a: Interval, b: Interval) -> Option<bool> {
    match op {
        CmpOp::Eq if a.low == a.high && a == b => Some(true),
        CmpOp::Eq => a.meet(b).is_none().then_some(false),
        CmpOp::Ne => compare(CmpOp::Eq, a, b).map(|equal| !equal),
        CmpOp::LtS if a.high < b.low => Some(true),
        CmpOp::LtS if a.low >= b.high => Some(false),
        CmpOp::LeS if a.high <= b.low => Some(true),
        CmpOp::LeS if a.low > b.high => Some(false),
        CmpOp::GtS => compare(CmpOp::LtS, b, a),
        CmpOp::GeS => compare(CmpOp::LeS, b, a),
        CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU => {
            (a.is_natural() && b.is_natural()).then(|| compare(as_signed(op), a, b)).flatten()
        }
        _ => None,
    }
}

/// The values of `a` for which `a op b` can hold; `Err` if there is none.
pub(super) fn restrict(op: CmpOp, a: Interval, b: Interval) -> Result<Interval, ()> {
    let below = |high| a.meet(Interval { low: i128::MIN, high }).ok_or(());
    let above = |low| a.meet(Interval { low, high: i128::MAX }).ok_or(());
    match op {
        CmpOp::Eq => a.meet(b).ok_or(()),
        CmpOp::Ne if b.low == b.high => {
            let low = a.low + i128::from(a.low == b.low);
            let high = a.high - i128::from(a.high == b.low);
            if low <= high { Ok(Interval { low, high }) } else { Err(()) }
        }
        CmpOp::LtS => below(b.high - 1),
        CmpOp::LeS => below(b.high),
        CmpOp::GtS => above(b.low + 1),
        CmpOp::GeS => above(b.low),
        // A number below a number that is not negative, as unsigned numbers, is not negative either.
        CmpOp::LtU | CmpOp::LeU if b.is_natural() => {
            let high = if op == CmpOp::LtU { b.high - 1 } else { b.high };
            a.meet(Interval { low: 0, high }).ok_or(())
        }
        CmpOp::GtU | CmpOp::GeU if a.is_natural() && b.is_natural() => {
            restrict(as_signed(op), a, b)
        }
        _ => Ok(a),
    }
}

/// The comparison of signed numbers where the numbers of both are the same.
pub(super) const fn as_signed(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::LtU => CmpOp::LtS,
        CmpOp::LeU => CmpOp::LeS,
        CmpOp::GtU => CmpOp::GtS,
        CmpOp::GeU => CmpOp::GeS,
        other => other,
    }
}

/// The comparison that holds where this one does not; none for floats.
pub(super) fn negated(op: CmpOp) -> Option<CmpOp> {
    Some(match op {
        CmpOp::Eq => CmpOp::Ne,
        CmpOp::Ne => CmpOp::Eq,
        CmpOp::LtU => CmpOp::GeU,
        CmpOp::LeU => CmpOp::GtU,
        CmpOp::GtU => CmpOp::LeU,
        CmpOp::GeU => CmpOp::LtU,
        CmpOp::LtS => CmpOp::GeS,
        CmpOp::LeS => CmpOp::GtS,
        CmpOp::GtS => CmpOp::LeS,
        CmpOp::GeS => CmpOp::LtS,
        _ => return None,
    })
}

/// The comparison with its sides exchanged.
pub(super) const fn mirrored(op: CmpOp) -> CmpOp {
    match op {
        CmpOp::LtU => CmpOp::GtU,
        CmpOp::LeU => CmpOp::GeU,
        CmpOp::GtU => CmpOp::LtU,
        CmpOp::GeU => CmpOp::LeU,
        CmpOp::LtS => CmpOp::GtS,
        CmpOp::LeS => CmpOp::GeS,
        CmpOp::GtS => CmpOp::LtS,
        CmpOp::GeS => CmpOp::LeS,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BITS: u32 = 4;
    const TYPE: Type = Type::Int(BITS as u8);

    fn all() -> Vec<Interval> {
        let numbers = -8..8i128;
        numbers
            .clone()
            .flat_map(|low| numbers.clone().map(move |high| Interval { low, high }))
            .filter(|interval| interval.low <= interval.high)
            .collect()
    }

    fn pattern(value: i128) -> u128 {
        value as u128 & ((1 << BITS) - 1)
    }

    /// All integers of four bits, all intervals of them.
    #[test]
    fn operators_have_all_values_that_the_machine_computes() {
        for (op, _) in BinOp::ALL {
            if op.is_float() {
                continue;
            }
            for a in all() {
                for b in all() {
                    let found = binary(op, TYPE, a, b).expect("integers are followed");
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let value =
                                arith::binary(op, TYPE, pattern(x), pattern(y), Overflow::Wrap);
                            let Ok(value) = value else { continue };
                            let value = arith::signed(BITS, value);
                            assert!(found.contains(value), "{op}: {x} {y} {value} {found:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn signs_and_casts_have_all_values() {
        let wide = Type::Int(8);
        for a in all() {
            for x in a.low..=a.high {
                for op in [UnOp::NegU, UnOp::NegS, UnOp::Not] {
                    let value = arith::unary(op, TYPE, pattern(x), Overflow::Wrap);
                    let value = arith::signed(BITS, value.expect("nothing is checked"));
                    assert!(unary(op, TYPE, a).is_some_and(|found| found.contains(value)), "{op}");
                }
                let zero = cast(CastOp::ZExt, TYPE, wide, Some(a)).expect("an integer");
                assert!(zero.contains(pattern(x) as i128), "{a:?} {x} {zero:?}");
                assert!(cast(CastOp::SExt, TYPE, wide, Some(a)).is_some_and(|s| s.contains(x)));
                let narrow = Type::Int(2);
                let value = arith::signed(2, pattern(x) & 3);
                let found = cast(CastOp::Trunc, TYPE, narrow, Some(a)).expect("an integer");
                assert!(found.contains(value), "{a:?} {x} {found:?}");
            }
        }
    }

    #[test]
    fn comparisons_keep_every_value_for_which_they_hold() {
        for (op, _) in CmpOp::ALL {
            if op.is_float() {
                continue;
            }
            let holds = |x: i128, y: i128| match op {
                CmpOp::Eq => x == y,
                CmpOp::Ne => x != y,
                CmpOp::LtS => x < y,
                CmpOp::LeS => x <= y,
                CmpOp::GtS => x > y,
                CmpOp::GeS => x >= y,
                CmpOp::LtU => pattern(x) < pattern(y),
                CmpOp::LeU => pattern(x) <= pattern(y),
                CmpOp::GtU => pattern(x) > pattern(y),
                _ => pattern(x) >= pattern(y),
            };
            let not = negated(op).expect("no float");
            for a in all() {
                for b in all() {
                    for x in a.low..=a.high {
                        for y in b.low..=b.high {
                            let truth = holds(x, y);
                            assert!(compare(op, a, b).is_none_or(|known| known == truth));
                            let op = if truth { op } else { not };
                            assert!(restrict(op, a, b).is_ok_and(|found| found.contains(x)));
                            let op = mirrored(op);
                            assert!(restrict(op, b, a).is_ok_and(|found| found.contains(y)));
                        }
                    }
                }
            }
        }
    }
}
