//! `<math.h>`, by Rust's own functions, which call the C library where IEEE 754 does not say.

use std::num::FpCategory;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::X87DoubleExtended;

use crate::arith::{extended, f32_bits, f32_of, f64_bits, f64_of};
use crate::expr::Type;
use crate::libc::LibFn;

/// The value of a function of [`Family::ExactMath`](crate::libc::Family) or `InexactMath` on the
/// bits of its arguments, as bits; `None` for other functions. `ty` is the type of the first
/// argument, for the tests that take either float type.
pub fn math_function(function: LibFn, ty: Type, a: u128, b: u128) -> Option<u128> {
    let by_bits = by_bits(function, a, b);
    let constant = || constant(function);
    let double = || double(function, f64_of(a), f64_of(b)).map(f64_bits);
    let single = || single(function, f32_of(a), f32_of(b)).map(f32_bits);
    let test = || {
        if ty.is_soft_float() {
            let (x, y) = (extended(ty, a), extended(ty, b));
            let (like_a, like_b) = stand_ins(x, y);
            let exponent = if ty == Type::F16 { 0x7c00 } else { 0x7f80 };
            let is_normal = match ty {
                Type::F80 => x.is_normal(),
                _ => ![0, exponent].contains(&(a & exponent)),
            };
            return test(function, like_a, like_b, is_normal).map(|value| u128::from(value as u32));
        }
        let number = |bits| if ty == Type::F32 { f64::from(f32_of(bits)) } else { f64_of(bits) };
        let is_normal = match ty {
            Type::F32 => f32_of(a).classify() == FpCategory::Normal,
            _ => f64_of(a).classify() == FpCategory::Normal,
        };
        test(function, number(a), number(b), is_normal).map(|value| u128::from(value as u32))
    };
    by_bits.or_else(constant).or_else(double).or_else(single).or_else(test)
}

/// Numbers of `f64` of the same class and sign as the first, and in the same order as both.
fn stand_ins(x: X87DoubleExtended, y: X87DoubleExtended) -> (f64, f64) {
    let sign = if x.is_negative() { -1.0 } else { 1.0 };
    let b = if y.is_nan() { f64::NAN } else { 0.0 };
    match x.partial_cmp(&y) {
        _ if x.is_nan() => (f64::NAN, b),
        Some(std::cmp::Ordering::Equal) if x.is_infinite() => {
            (sign * f64::INFINITY, sign * f64::INFINITY)
        }
        _ if x.is_infinite() => (sign * f64::INFINITY, b),
        Some(std::cmp::Ordering::Less) => (-1.0, b),
        Some(std::cmp::Ordering::Greater) => (1.0, b),
        Some(std::cmp::Ordering::Equal) => (sign * 0.0, b),
        None => (sign, b),
    }
}

/// Functions that only move bits, also those of a NaN.
fn by_bits(function: LibFn, a: u128, b: u128) -> Option<u128> {
    let (sign32, sign64) = (1u128 << 31, 1u128 << 63);
    Some(match function {
        LibFn::Fabs => a & !sign64,
        LibFn::Fabsf => a & !sign32,
        LibFn::Copysign => (a & !sign64) | (b & sign64),
        LibFn::Copysignf => (a & !sign32) | (b & sign32),
        _ => return None,
    })
}

fn constant(function: LibFn) -> Option<u128> {
    Some(match function {
        LibFn::Inf | LibFn::HugeVal => f64_bits(f64::INFINITY),
        LibFn::Inff | LibFn::HugeValf => f32_bits(f32::INFINITY),
        LibFn::Nan => f64_bits(f64::NAN),
        LibFn::Nanf => f32_bits(f32::NAN),
        _ => return None,
    })
}

fn double(function: LibFn, a: f64, b: f64) -> Option<f64> {
    Some(match function {
        LibFn::Floor => a.floor(),
        LibFn::Ceil => a.ceil(),
        LibFn::Trunc => a.trunc(),
        LibFn::Round => a.round(),
        LibFn::Rint | LibFn::Nearbyint => a.round_ties_even(),
        LibFn::Sqrt => a.sqrt(),
        LibFn::Fmod => a % b,
        LibFn::Fmin => least(a, b),
        LibFn::Fmax => -least(-a, -b),
        LibFn::Pow => a.powf(b),
        LibFn::Exp => a.exp(),
        LibFn::Exp2 => a.exp2(),
        LibFn::Log => a.ln(),
        LibFn::Log2 => a.log2(),
        LibFn::Log10 => a.log10(),
        LibFn::Sin => a.sin(),
        LibFn::Cos => a.cos(),
        LibFn::Tan => a.tan(),
        LibFn::Asin => a.asin(),
        LibFn::Acos => a.acos(),
        LibFn::Atan => a.atan(),
        LibFn::Sinh => a.sinh(),
        LibFn::Cosh => a.cosh(),
        LibFn::Tanh => a.tanh(),
        LibFn::Cbrt => a.cbrt(),
        LibFn::Atan2 => a.atan2(b),
        LibFn::Hypot => a.hypot(b),
        _ => return None,
    })
}

fn single(function: LibFn, a: f32, b: f32) -> Option<f32> {
    Some(match function {
        LibFn::Floorf => a.floor(),
        LibFn::Ceilf => a.ceil(),
        LibFn::Truncf => a.trunc(),
        LibFn::Roundf => a.round(),
        LibFn::Rintf | LibFn::Nearbyintf => a.round_ties_even(),
        LibFn::Sqrtf => a.sqrt(),
        LibFn::Fmodf => a % b,
        LibFn::Fminf => least(f64::from(a), f64::from(b)) as f32,
        LibFn::Fmaxf => -least(-f64::from(a), -f64::from(b)) as f32,
        LibFn::Powf => a.powf(b),
        LibFn::Expf => a.exp(),
        LibFn::Exp2f => a.exp2(),
        LibFn::Logf => a.ln(),
        LibFn::Log2f => a.log2(),
        LibFn::Log10f => a.log10(),
        LibFn::Sinf => a.sin(),
        LibFn::Cosf => a.cos(),
        LibFn::Tanf => a.tan(),
        LibFn::Asinf => a.asin(),
        LibFn::Acosf => a.acos(),
        LibFn::Atanf => a.atan(),
        LibFn::Sinhf => a.sinh(),
        LibFn::Coshf => a.cosh(),
        LibFn::Tanhf => a.tanh(),
        LibFn::Cbrtf => a.cbrt(),
        LibFn::Atan2f => a.atan2(b),
        LibFn::Hypotf => a.hypot(b),
        _ => return None,
    })
}

/// The lesser number; a NaN only if both are.
fn least(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a <= b => a,
        _ => b,
    }
}

/// Tests of one or two numbers, as C's `int`s.
fn test(function: LibFn, a: f64, b: f64, is_normal: bool) -> Option<i32> {
    let ordered = !a.is_nan() && !b.is_nan();
    Some(match function {
        LibFn::Isnan => i32::from(a.is_nan()),
        LibFn::Isinf => i32::from(a.is_infinite()),
        LibFn::IsinfSign if a.is_infinite() => {
            if a > 0.0 {
                1
            } else {
                -1
            }
        }
        LibFn::IsinfSign => 0,
        LibFn::Isfinite => i32::from(a.is_finite()),
        LibFn::Isnormal => i32::from(is_normal),
        LibFn::Signbit => i32::from(a.is_sign_negative()),
        LibFn::Isgreater => i32::from(a > b),
        LibFn::Isgreaterequal => i32::from(a >= b),
        LibFn::Isless => i32::from(a < b),
        LibFn::Islessequal => i32::from(a <= b),
        LibFn::Islessgreater => i32::from(ordered && a != b),
        LibFn::Isunordered => i32::from(!ordered),
        _ => return None,
    })
}
