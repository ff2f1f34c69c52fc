//! IEEE 754 arithmetic on bit patterns, by the host's own float unit.
//!
//! Rust's float operations are IEEE, round to nearest even and do not depend on the environment, which
//! is SMT-LIB's meaning except for NaN. SMT-LIB has a single NaN, so every result here goes through
//! [`canonical`].

use crate::terms::sort::{FloatSort, RoundingMode};
use crate::terms::wide::Wide;
use FloatSort::{F32, F64};

fn s(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

fn d(x: u64) -> f64 {
    f64::from_bits(x)
}

fn from_f32(x: f32) -> u64 {
    if x.is_nan() { F32.nan_bits() } else { x.to_bits() as u64 }
}

fn from_f64(x: f64) -> u64 {
    if x.is_nan() { F64.nan_bits() } else { x.to_bits() }
}

/// The pattern itself, or the canonical NaN for any NaN.
pub(crate) fn canonical(f: FloatSort, x: u64) -> u64 {
    if is_nan(f, x) { f.nan_bits() } else { x }
}

pub(crate) fn is_nan(f: FloatSort, x: u64) -> bool {
    x & !f.sign_mask() > f.infinity_bits()
}

pub(crate) fn is_inf(f: FloatSort, x: u64) -> bool {
    x & !f.sign_mask() == f.infinity_bits()
}

pub(crate) fn neg(f: FloatSort, x: u64) -> u64 {
    canonical(f, x ^ f.sign_mask())
}

pub(crate) fn abs(f: FloatSort, x: u64) -> u64 {
    canonical(f, x & !f.sign_mask())
}

macro_rules! arithmetic {
    ($($name:ident $op:tt),*) => { $(
        pub(crate) fn $name(f: FloatSort, x: u64, y: u64) -> u64 {
            match f {
                F32 => from_f32(s(x) $op s(y)),
                F64 => from_f64(d(x) $op d(y)),
            }
        }
    )* };
}
arithmetic!(add +, sub -, mul *, div /);

macro_rules! comparison {
    ($($name:ident $op:tt),*) => { $(
        pub(crate) fn $name(f: FloatSort, x: u64, y: u64) -> bool {
            match f {
                F32 => s(x) $op s(y),
                F64 => d(x) $op d(y),
            }
        }
    )* };
}
comparison!(eq ==, lt <, le <=);

pub(crate) fn sqrt(f: FloatSort, x: u64) -> u64 {
    match f {
        F32 => from_f32(s(x).sqrt()),
        F64 => from_f64(d(x).sqrt()),
    }
}

pub(crate) fn fma(f: FloatSort, x: u64, y: u64, z: u64) -> u64 {
    match f {
        F32 => from_f32(s(x).mul_add(s(y), s(z))),
        F64 => from_f64(d(x).mul_add(d(y), d(z))),
    }
}

/// IEEE remainder: `x - y * n` with `n` the integer nearest to `x / y`, ties to even. Exact.
pub(crate) fn rem(f: FloatSort, x: u64, y: u64) -> u64 {
    match f {
        // A remainder of binary32 values is a binary32 value, and binary64 finds it exactly.
        F32 => from_f32(remainder(s(x) as f64, s(y) as f64) as f32),
        F64 => from_f64(remainder(d(x), d(y))),
    }
}

fn remainder(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
        return f64::NAN;
    }
    if y.is_infinite() {
        return x;
    }
    let p = y.abs();
    // Reducing by 2p keeps the parity of the quotient, which decides ties.
    let mut r = if p <= f64::MAX / 2.0 { (x % (p + p)).abs() } else { x.abs() };
    // Halves are exact unless p is tiny, and doubles are exact unless p is huge.
    let over_half = |r: f64| if p < f64::MIN_POSITIVE * 2.0 { r + r > p } else { r > 0.5 * p };
    let from_half = |r: f64| if p < f64::MIN_POSITIVE * 2.0 { r + r >= p } else { r >= 0.5 * p };
    if over_half(r) {
        r -= p;
        if from_half(r) {
            r -= p;
        }
    }
    if x.is_sign_negative() { -r } else { r }
}

pub(crate) fn round_to_integral(f: FloatSort, mode: RoundingMode, x: u64) -> u64 {
    let round = |v: f64| match mode {
        RoundingMode::NearestEven => v.round_ties_even(),
        RoundingMode::NearestAway => v.round(),
        RoundingMode::TowardZero => v.trunc(),
        RoundingMode::TowardPositive => v.ceil(),
        RoundingMode::TowardNegative => v.floor(),
    };
    match f {
        // Rounding to an integer is exact in the smaller format when it is in the larger.
        F32 => from_f32(round(s(x) as f64) as f32),
        F64 => from_f64(round(d(x))),
    }
}

pub(crate) fn convert(from: FloatSort, to: FloatSort, x: u64) -> u64 {
    match (from, to) {
        (F32, F64) => from_f64(s(x) as f64),
        (F64, F32) => from_f32(d(x) as f32),
        _ => x,
    }
}

pub(crate) fn from_signed(f: FloatSort, x: i128) -> u64 {
    match f {
        F32 => from_f32(x as f32),
        F64 => from_f64(x as f64),
    }
}

pub(crate) fn from_unsigned(f: FloatSort, x: u128) -> u64 {
    match f {
        F32 => from_f32(x as f32),
        F64 => from_f64(x as f64),
    }
}

/// An integer of any width to the nearest float.
pub(crate) fn from_wide(f: FloatSort, x: Wide, width: u32, signed: bool) -> u64 {
    let negative = signed && x.bit(width - 1);
    let magnitude = if negative { x.neg(width) } else { x };
    let length = magnitude.bit_length();
    let positive = if length <= 126 {
        from_unsigned(f, magnitude.low_u128())
    } else {
        // Keep 126 bits and a sticky bit: that decides every rounding; then scale back exactly.
        let cut = length - 126;
        let lost = !magnitude.mask(cut).is_zero();
        let kept = magnitude.lshr(cut).low_u128() << 1 | lost as u128;
        match f {
            F64 => from_f64(kept as f64 * 2f64.powi(cut as i32 - 1)),
            // binary32 overflows from 2^128 on: rounding first in binary64 would round twice.
            F32 => from_f32(kept as f32 * 2f32.powi(cut.min(100) as i32 - 1)),
        }
    };
    if negative { neg(f, positive) } else { positive }
}

/// The value truncated to an integer: sign and magnitude; `None` for NaN, infinities and anything
/// of 2^width or more.
fn truncated(f: FloatSort, width: u32, x: u64) -> Option<(bool, Wide)> {
    let x = convert(f, F64, x);
    if is_nan(F64, x) || is_inf(F64, x) {
        return None;
    }
    let exponent = (x >> 52 & 0x7ff) as i32 - 1023;
    let significand = Wide::from_u64(x & ((1 << 52) - 1) | 1 << 52);
    let magnitude = match exponent {
        i32::MIN..=-1 => Wide::ZERO,
        0..=51 => significand.lshr(52 - exponent as u32),
        e if e as u32 >= width.max(52) => return None,
        e => significand.shl(e as u32 - 52, crate::terms::sort::MAX_WIDTH),
    };
    Some((d(x).is_sign_negative(), magnitude))
}

pub(crate) fn to_signed(f: FloatSort, width: u32, x: u64) -> Wide {
    let limit = Wide::from_u64(1).shl(width - 1, width);
    match truncated(f, width, x) {
        Some((true, m)) if m <= limit => m.neg(width),
        Some((false, m)) if m < limit => m,
        _ => limit,
    }
}

pub(crate) fn to_unsigned(f: FloatSort, width: u32, x: u64) -> Wide {
    match truncated(f, width, x) {
        Some((negative, m)) if m.bit_length() <= width && (!negative || m.is_zero()) => m,
        _ => Wide::from_u64(1).shl(width - 1, width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn remainder_takes_the_nearest_multiple_with_ties_to_even() {
        for (x, y, r) in [(5.0, 3.0, -1.0), (6.0, 4.0, -2.0), (2.0, 4.0, 2.0), (-5.0, 3.0, 1.0)] {
            assert_eq!(d(rem(F64, from_f64(x), from_f64(y))), r, "{x} rem {y}");
        }
        assert!(is_nan(F64, rem(F64, from_f64(1.0), 0)));
    }

    #[test]
    fn a_float_that_does_not_fit_an_integer_gives_the_top_bit() {
        assert_eq!(to_signed(F64, 32, from_f64(2147483648.0)).low_u64(), 0x8000_0000);
        assert_eq!(to_signed(F64, 32, from_f64(-2147483648.9)).low_u64(), 0x8000_0000);
        assert_eq!(to_signed(F64, 32, from_f64(-1.9)).low_u64(), 0xffff_ffff);
        assert_eq!(to_signed(F32, 32, F32.nan_bits()).low_u64(), 0x8000_0000);
        assert_eq!(to_unsigned(F64, 32, from_f64(-0.9)).low_u64(), 0);
        assert_eq!(to_unsigned(F64, 8, from_f64(256.0)).low_u64(), 0x80);
    }

    proptest! {
        #[test]
        fn conversions_agree_with_rust(x: i64, y: u64) {
            prop_assert_eq!(from_wide(F64, Wide::from_u64(x as u64), 64, true), (x as f64).to_bits());
            prop_assert_eq!(from_wide(F32, Wide::from_u64(y), 64, false), (y as f32).to_bits() as u64);
            let v = f64::from_bits(y);
            if v.trunc().abs() < 9e18 {
                prop_assert_eq!(to_signed(F64, 64, y).low_u64() as i64, v as i64);
            }
        }
    }
}
