//! The compiler's functions on integers.

use crate::interp::machine::{Machine, Step};
use crate::libc::{IntegerFn, OverflowFn, OverflowOp};
use crate::program::arith::{self, Overflow};
use crate::program::ctype::CTypeId;
use crate::program::stmt::TrapKind;

/// Functions of one integer. Those that C leaves open for 0 trap there.
pub(in crate::interp) fn integer_function(
    function: IntegerFn,
    a: u128,
    overflow: Overflow,
) -> Step<u128> {
    use IntegerFn::*;
    let (int, long) = (a as u32, a as u64);
    if a == 0 && matches!(function, Clz | Clzl | Clzll | Ctz | Ctzl | Ctzll) {
        return Err(TrapKind::Unreachable.into());
    }
    let no_absolute = match function {
        Abs => int as i32 == i32::MIN,
        Labs | Llabs => long as i64 == i64::MIN,
        _ => false,
    };
    if no_absolute && overflow == Overflow::Trap {
        return Err(TrapKind::SignedOverflow.into());
    }
    let number = match function {
        Abs => (int as i32).wrapping_abs() as u32,
        Clz => int.leading_zeros(),
        Clzl | Clzll => long.leading_zeros(),
        Ctz => int.trailing_zeros(),
        Ctzl | Ctzll => long.trailing_zeros(),
        Clrsb => (int ^ ((int as i32) >> 31) as u32).leading_zeros() - 1,
        Clrsbl | Clrsbll => (long ^ ((long as i64) >> 63) as u64).leading_zeros() - 1,
        Popcount => int.count_ones(),
        Popcountl | Popcountll => long.count_ones(),
        Parity => int.count_ones() & 1,
        Parityl | Parityll => long.count_ones() & 1,
        Ffs => {
            if int == 0 {
                0
            } else {
                int.trailing_zeros() + 1
            }
        }
        Ffsl | Ffsll => {
            if long == 0 {
                0
            } else {
                long.trailing_zeros() + 1
            }
        }
        Bswap16 => u32::from((a as u16).swap_bytes()),
        Bswap32 => int.swap_bytes(),
        Labs | Llabs => return Ok(u128::from((long as i64).wrapping_abs() as u64)),
        Bswap64 => return Ok(u128::from(long.swap_bytes())),
    };
    Ok(u128::from(number))
}

/// A number with its sign apart, so that all of C's integers have room.
#[derive(Clone, Copy)]
struct Exact {
    negative: bool,
    magnitude: u128,
}

impl Exact {
    const fn new(bits: u32, is_signed: bool, value: u128) -> Self {
        let number = arith::signed(bits, value);
        match is_signed && number < 0 {
            true => Self { negative: true, magnitude: number.unsigned_abs() },
            false => Self { negative: false, magnitude: value },
        }
    }

    const fn negated(self) -> Self {
        Self { negative: !self.negative, magnitude: self.magnitude }
    }

    /// `None` where the sum needs more than 128 bits.
    fn plus(self, other: Self) -> Option<Self> {
        if self.negative == other.negative {
            let magnitude = self.magnitude.checked_add(other.magnitude)?;
            return Some(Self { negative: self.negative, magnitude });
        }
        let larger = if self.magnitude >= other.magnitude { self } else { other };
        let magnitude = self.magnitude.abs_diff(other.magnitude);
        Some(Self { negative: larger.negative, magnitude })
    }

    fn times(self, other: Self) -> Option<Self> {
        let magnitude = self.magnitude.checked_mul(other.magnitude)?;
        Some(Self { negative: self.negative != other.negative, magnitude })
    }

    fn fits(self, bits: u32, is_signed: bool) -> bool {
        let half = 1u128 << (bits - 1);
        match (is_signed, self.negative && self.magnitude != 0) {
            (true, true) => self.magnitude <= half,
            (true, false) => self.magnitude < half,
            (false, negative) => !negative && self.magnitude <= arith::mask(bits),
        }
    }
}

impl Machine<'_, '_> {
    /// `__builtin_add_overflow` and its like: computes exactly, stores the bits that fit, and
    /// returns whether some do not.
    pub(in crate::interp) fn overflow_function(
        &mut self,
        function: OverflowFn,
        args: &[u128],
        arg_types: &[CTypeId],
    ) -> Step<u128> {
        let types = &self.program.types;
        let shape = |ty: CTypeId| {
            let bits = types.scalar(ty).map_or(32, |ty| ty.bits());
            (bits, types.is_signed(ty))
        };
        let (&[a, b, pointer], &[a_ty, b_ty, pointer_ty]) = (args, arg_types) else {
            return Err(TrapKind::BadCall.into());
        };
        let result_ty = types.pointee(pointer_ty).ok_or(TrapKind::BadCall)?;
        let (a_bits, a_signed) = shape(a_ty);
        let (b_bits, b_signed) = shape(b_ty);
        let (bits, is_signed) = shape(result_ty);
        let bytes = types.size(result_ty).unwrap_or(4);
        let (x, y) = (Exact::new(a_bits, a_signed, a), Exact::new(b_bits, b_signed, b));
        let wide = |exact: Exact| match exact.negative {
            true => exact.magnitude.wrapping_neg(),
            false => exact.magnitude,
        };
        let (exact, wrapped) = match function.operation() {
            OverflowOp::Add => (x.plus(y), wide(x).wrapping_add(wide(y))),
            OverflowOp::Sub => (x.plus(y.negated()), wide(x).wrapping_sub(wide(y))),
            OverflowOp::Mul => (x.times(y), wide(x).wrapping_mul(wide(y))),
        };
        let fits = exact.is_some_and(|exact| exact.fits(bits, is_signed));
        self.memory.store(pointer as u64, bytes, wrapped & arith::mask(bits))?;
        Ok(u128::from(!fits))
    }
}
