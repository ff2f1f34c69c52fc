//! The meaning of every operator on concrete values.
//!
//! The meaning of an operator is defined in one place: constant folding and the evaluator both call it,
//! so that they cannot differ. Values that fit a machine word are a `u64` below 2^width (Booleans 0 or
//! 1, floats their bit pattern with the canonical NaN); others are [`Wide`].

use crate::terms::float_ops as fp;
use crate::terms::sort::{FloatSort, Sort};
use crate::terms::term::{BinOp, UnOp};
use crate::terms::wide::Wide;

/// The low `w` bits set, for `w` from 1 to 64.
#[inline]
pub const fn ones(w: u32) -> u64 {
    u64::MAX >> (64 - w)
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration.
pub fn odd_inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x))))
}

/// `x`, a `w`-bit number, as a signed machine word.
#[inline]
pub(crate) const fn signed(x: u64, w: u32) -> i64 {
    ((x << (64 - w)) as i64) >> (64 - w)
}

fn float_sort(s: Sort) -> FloatSort {
    match s {
        Sort::Float(f) => f,
        _ => unreachable!("a float operator over {s}: the constructors check sorts"),
    }
}

/// A unary operator on words. `from` is the operand's sort and `to` the result's, both small.
#[inline]
pub(crate) fn unary(op: UnOp, from: Sort, to: Sort, x: u64) -> u64 {
    match op {
        UnOp::Not => x ^ 1,
        UnOp::BvNot => !x & ones(to.width()),
        UnOp::BvNeg => x.wrapping_neg() & ones(to.width()),
        UnOp::ZExt => x,
        UnOp::SExt => signed(x, from.width()) as u64 & ones(to.width()),
        UnOp::FpNeg => fp::neg(float_sort(from), x),
        UnOp::FpAbs => fp::abs(float_sort(from), x),
        UnOp::FpSqrt => fp::sqrt(float_sort(from), x),
        UnOp::FpRound(mode) => fp::round_to_integral(float_sort(from), mode, x),
        UnOp::FpIsNan => fp::is_nan(float_sort(from), x) as u64,
        UnOp::FpIsInf => fp::is_inf(float_sort(from), x) as u64,
        UnOp::FpFromBits => fp::canonical(float_sort(to), x),
        UnOp::FpToBits => x,
        UnOp::FpToFp => fp::convert(float_sort(from), float_sort(to), x),
        UnOp::FpFromSigned => fp::from_signed(float_sort(to), signed(x, from.width()) as i128),
        UnOp::FpFromUnsigned => fp::from_unsigned(float_sort(to), x as u128),
        UnOp::FpToSigned => fp::to_signed(float_sort(from), to.width(), x).low_u64(),
        UnOp::FpToUnsigned => fp::to_unsigned(float_sort(from), to.width(), x).low_u64(),
        UnOp::ConstArray => unreachable!("arrays are not words"),
    }
}

/// A unary operator of which operand or result is wide.
pub(crate) fn unary_wide(op: UnOp, from: Sort, to: Sort, x: Wide) -> Wide {
    let w = to.width();
    match op {
        UnOp::BvNot => x.not(w),
        UnOp::BvNeg => x.neg(w),
        UnOp::ZExt => x,
        UnOp::SExt => x.sext(from.width(), w),
        UnOp::FpFromSigned => Wide::from_u64(fp::from_wide(float_sort(to), x, from.width(), true)),
        UnOp::FpFromUnsigned => {
            Wide::from_u64(fp::from_wide(float_sort(to), x, from.width(), false))
        }
        UnOp::FpToSigned => fp::to_signed(float_sort(from), w, x.low_u64()),
        UnOp::FpToUnsigned => fp::to_unsigned(float_sort(from), w, x.low_u64()),
        _ => Wide::from_u64(unary(op, from, to, x.low_u64())),
    }
}

/// A binary operator on words. `a` and `b` are the operands' sorts; the result must be small.
#[inline]
pub(crate) fn binary(op: BinOp, a: Sort, b: Sort, x: u64, y: u64) -> u64 {
    let w = a.width();
    match op {
        BinOp::And => x & y,
        BinOp::Eq => (x == y) as u64,
        BinOp::BvAnd => x & y,
        BinOp::BvOr => x | y,
        BinOp::BvXor => x ^ y,
        BinOp::Add => x.wrapping_add(y) & ones(w),
        BinOp::Sub => x.wrapping_sub(y) & ones(w),
        BinOp::Mul => x.wrapping_mul(y) & ones(w),
        BinOp::UDiv => x.checked_div(y).unwrap_or(ones(w)),
        BinOp::URem => x.checked_rem(y).unwrap_or(x),
        BinOp::SDiv => {
            let (x, y) = (signed(x, w), signed(y, w));
            let q = match y {
                0 if x < 0 => 1,
                0 => -1,
                _ => x.wrapping_div(y),
            };
            q as u64 & ones(w)
        }
        BinOp::SRem => {
            let (x, y) = (signed(x, w), signed(y, w));
            let r = if y == 0 { x } else { x.wrapping_rem(y) };
            r as u64 & ones(w)
        }
        BinOp::Shl if y >= w as u64 => 0,
        BinOp::Shl => (x << y) & ones(w),
        BinOp::LShr if y >= w as u64 => 0,
        BinOp::LShr => x >> y,
        BinOp::AShr => (signed(x, w) >> y.min(63)) as u64 & ones(w),
        BinOp::Ult => (x < y) as u64,
        BinOp::Slt => (signed(x, w) < signed(y, w)) as u64,
        BinOp::Concat => x << b.width() | y,
        BinOp::FpAdd => fp::add(float_sort(a), x, y),
        BinOp::FpSub => fp::sub(float_sort(a), x, y),
        BinOp::FpMul => fp::mul(float_sort(a), x, y),
        BinOp::FpDiv => fp::div(float_sort(a), x, y),
        BinOp::FpRem => fp::rem(float_sort(a), x, y),
        BinOp::FpEq => fp::eq(float_sort(a), x, y) as u64,
        BinOp::FpLt => fp::lt(float_sort(a), x, y) as u64,
        BinOp::FpLe => fp::le(float_sort(a), x, y) as u64,
        BinOp::Select => unreachable!("arrays are not words"),
    }
}

/// A binary operator of which an operand or the result is wide; predicates give 0 or 1.
pub(crate) fn binary_wide(op: BinOp, a: Sort, b: Sort, x: Wide, y: Wide) -> Wide {
    let w = a.width();
    let truth = |c: bool| Wide::from_u64(c as u64);
    // A shift amount that does not fit 32 bits is certainly not below the width.
    let amount = if y.bit_length() > 31 { u32::MAX } else { y.low_u64() as u32 };
    match op {
        BinOp::Eq => truth(x == y),
        BinOp::BvAnd => x.zip(y, |a, b| a & b),
        BinOp::BvOr => x.zip(y, |a, b| a | b),
        BinOp::BvXor => x.zip(y, |a, b| a ^ b),
        BinOp::Add => x.add(y, w),
        BinOp::Sub => x.sub(y, w),
        BinOp::Mul => x.mul(y, w),
        BinOp::UDiv => x.udivrem(y, w).0,
        BinOp::URem => x.udivrem(y, w).1,
        BinOp::SDiv | BinOp::SRem => {
            let (nx, ny) = (x.bit(w - 1), y.bit(w - 1));
            let abs = |v: Wide, n: bool| if n { v.neg(w) } else { v };
            let (q, r) = abs(x, nx).udivrem(abs(y, ny), w);
            if op == BinOp::SDiv { abs(q, nx != ny) } else { abs(r, nx) }
        }
        BinOp::Shl => x.shl(amount, w),
        BinOp::LShr if amount >= w => Wide::ZERO,
        BinOp::LShr => x.lshr(amount),
        BinOp::AShr if amount >= w => {
            if x.bit(w - 1) {
                Wide::ones(w)
            } else {
                Wide::ZERO
            }
        }
        BinOp::AShr => x.lshr(amount).sext(w - amount, w),
        BinOp::Ult => truth(x < y),
        BinOp::Slt => truth((!x.bit(w - 1), x) < (!y.bit(w - 1), y)),
        BinOp::Concat => x.shl(b.width(), w + b.width()).zip(y, |a, b| a | b),
        _ => Wide::from_u64(binary(op, a, b, x.low_u64(), y.low_u64())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPS: [BinOp; 16] = [
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
    ];

    proptest! {
        #[test]
        fn wide_and_word_semantics_agree_where_both_apply(
            op in 0..OPS.len(), w in 1u32..=64, x: u64, y: u64, small: bool,
        ) {
            let s = Sort::BitVec(w);
            let (x, y) = (x & ones(w), (if small { y % 70 } else { y }) & ones(w));
            let wide = binary_wide(OPS[op], s, s, Wide::from_u64(x), Wide::from_u64(y));
            prop_assert_eq!(wide.low_u64(), binary(OPS[op], s, s, x, y), "{:?} at {}", OPS[op], w);
        }
    }

    #[test]
    fn division_by_zero_follows_smt_lib() {
        let s = Sort::BitVec(8);
        assert_eq!(binary(BinOp::UDiv, s, s, 7, 0), 255);
        assert_eq!(binary(BinOp::URem, s, s, 7, 0), 7);
        assert_eq!(binary(BinOp::SDiv, s, s, 7, 0), 255);
        assert_eq!(binary(BinOp::SDiv, s, s, 0xf9, 0), 1);
        assert_eq!(binary(BinOp::SRem, s, s, 0xf9, 0), 0xf9);
        assert_eq!(binary(BinOp::SDiv, s, s, 0x80, 0xff), 0x80);
    }
}
