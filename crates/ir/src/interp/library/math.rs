//! `<math.h>`, by Rust's own functions, which call the C library where IEEE 754 does not say.

use std::num::FpCategory;

use rustc_apfloat::Float;
use rustc_apfloat::ieee::X87DoubleExtended;

use crate::libc::{ExactMathFn, FloatTestFn, InexactMathFn, LibFn};
use crate::program::arith::{extended, f32_bits, f32_of, f64_bits, f64_of};
use crate::program::expr::Type;

/// The value of a mathematical function on the bits of its arguments, as bits; `None` for other
/// functions, among them those that take numbers apart, which write to memory. `ty` is the type of the
/// first argument, for the tests that take either float type.
pub fn math_function(function: LibFn, ty: Type, a: u128, b: u128) -> Option<u128> {
    match function {
        LibFn::ExactMath(function) => Some(exact(function).value(a, b)),
        LibFn::InexactMath(function) => Some(inexact(function).value(a, b)),
        LibFn::FloatTest(function) => Some(u128::from(float_test(function, ty, a, b) as u32)),
        LibFn::FloatParts(_)
        | LibFn::Memory(_)
        | LibFn::CharacterClass(_)
        | LibFn::Character(_)
        | LibFn::Allocation(_)
        | LibFn::Integer(_)
        | LibFn::End(_)
        | LibFn::Jump(_)
        | LibFn::Verification(_)
        | LibFn::Environment(_)
        | LibFn::Hint(_)
        | LibFn::Overflow(_) => None,
    }
}

/// The computation of a function on its arguments.
enum Calculation {
    /// It only moves bits, also those of a NaN.
    Bits(fn(u128, u128) -> u128),
    Double(fn(f64, f64) -> f64),
    Single(fn(f32, f32) -> f32),
}

impl Calculation {
    fn value(self, a: u128, b: u128) -> u128 {
        match self {
            Self::Bits(compute) => compute(a, b),
            Self::Double(compute) => f64_bits(compute(f64_of(a), f64_of(b))),
            Self::Single(compute) => f32_bits(compute(f32_of(a), f32_of(b))),
        }
    }
}

const SIGN_32: u128 = 1 << 31;
const SIGN_64: u128 = 1 << 63;

const fn exact(function: ExactMathFn) -> Calculation {
    match function {
        ExactMathFn::Fabs => Calculation::Bits(|a, _| a & !SIGN_64),
        ExactMathFn::Fabsf => Calculation::Bits(|a, _| a & !SIGN_32),
        ExactMathFn::Floor => Calculation::Double(|a, _| a.floor()),
        ExactMathFn::Floorf => Calculation::Single(|a, _| a.floor()),
        ExactMathFn::Ceil => Calculation::Double(|a, _| a.ceil()),
        ExactMathFn::Ceilf => Calculation::Single(|a, _| a.ceil()),
        ExactMathFn::Trunc => Calculation::Double(|a, _| a.trunc()),
        ExactMathFn::Truncf => Calculation::Single(|a, _| a.trunc()),
        ExactMathFn::Round => Calculation::Double(|a, _| a.round()),
        ExactMathFn::Roundf => Calculation::Single(|a, _| a.round()),
        ExactMathFn::Rint | ExactMathFn::Nearbyint => {
            Calculation::Double(|a, _| a.round_ties_even())
        }
        ExactMathFn::Rintf | ExactMathFn::Nearbyintf => {
            Calculation::Single(|a, _| a.round_ties_even())
        }
        ExactMathFn::Sqrt => Calculation::Double(|a, _| a.sqrt()),
        ExactMathFn::Sqrtf => Calculation::Single(|a, _| a.sqrt()),
        ExactMathFn::Fmod => Calculation::Double(|a, b| a % b),
        ExactMathFn::Fmodf => Calculation::Single(|a, b| a % b),
        ExactMathFn::Fmin => Calculation::Double(least),
        ExactMathFn::Fminf => Calculation::Single(|a, b| least(f64::from(a), f64::from(b)) as f32),
        ExactMathFn::Fmax => Calculation::Double(|a, b| -least(-a, -b)),
        ExactMathFn::Fmaxf => {
            Calculation::Single(|a, b| -least(-f64::from(a), -f64::from(b)) as f32)
        }
        ExactMathFn::Copysign => Calculation::Bits(|a, b| (a & !SIGN_64) | (b & SIGN_64)),
        ExactMathFn::Copysignf => Calculation::Bits(|a, b| (a & !SIGN_32) | (b & SIGN_32)),
        ExactMathFn::Inf | ExactMathFn::HugeVal => Calculation::Double(|_, _| f64::INFINITY),
        ExactMathFn::Inff | ExactMathFn::HugeValf => Calculation::Single(|_, _| f32::INFINITY),
        ExactMathFn::Nan => Calculation::Double(|_, _| f64::NAN),
        ExactMathFn::Nanf => Calculation::Single(|_, _| f32::NAN),
    }
}

const fn inexact(function: InexactMathFn) -> Calculation {
    match function {
        InexactMathFn::Pow => Calculation::Double(|a, b| a.powf(b)),
        InexactMathFn::Powf => Calculation::Single(|a, b| a.powf(b)),
        InexactMathFn::Exp => Calculation::Double(|a, _| a.exp()),
        InexactMathFn::Expf => Calculation::Single(|a, _| a.exp()),
        InexactMathFn::Exp2 => Calculation::Double(|a, _| a.exp2()),
        InexactMathFn::Exp2f => Calculation::Single(|a, _| a.exp2()),
        InexactMathFn::Log => Calculation::Double(|a, _| a.ln()),
        InexactMathFn::Logf => Calculation::Single(|a, _| a.ln()),
        InexactMathFn::Log2 => Calculation::Double(|a, _| a.log2()),
        InexactMathFn::Log2f => Calculation::Single(|a, _| a.log2()),
        InexactMathFn::Log10 => Calculation::Double(|a, _| a.log10()),
        InexactMathFn::Log10f => Calculation::Single(|a, _| a.log10()),
        InexactMathFn::Sin => Calculation::Double(|a, _| a.sin()),
        InexactMathFn::Sinf => Calculation::Single(|a, _| a.sin()),
        InexactMathFn::Cos => Calculation::Double(|a, _| a.cos()),
        InexactMathFn::Cosf => Calculation::Single(|a, _| a.cos()),
        InexactMathFn::Tan => Calculation::Double(|a, _| a.tan()),
        InexactMathFn::Tanf => Calculation::Single(|a, _| a.tan()),
        InexactMathFn::Asin => Calculation::Double(|a, _| a.asin()),
        InexactMathFn::Asinf => Calculation::Single(|a, _| a.asin()),
        InexactMathFn::Acos => Calculation::Double(|a, _| a.acos()),
        InexactMathFn::Acosf => Calculation::Single(|a, _| a.acos()),
        InexactMathFn::Atan => Calculation::Double(|a, _| a.atan()),
        InexactMathFn::Atanf => Calculation::Single(|a, _| a.atan()),
        InexactMathFn::Sinh => Calculation::Double(|a, _| a.sinh()),
        InexactMathFn::Sinhf => Calculation::Single(|a, _| a.sinh()),
        InexactMathFn::Cosh => Calculation::Double(|a, _| a.cosh()),
        InexactMathFn::Coshf => Calculation::Single(|a, _| a.cosh()),
        InexactMathFn::Tanh => Calculation::Double(|a, _| a.tanh()),
        InexactMathFn::Tanhf => Calculation::Single(|a, _| a.tanh()),
        InexactMathFn::Cbrt => Calculation::Double(|a, _| a.cbrt()),
        InexactMathFn::Cbrtf => Calculation::Single(|a, _| a.cbrt()),
        InexactMathFn::Atan2 => Calculation::Double(|a, b| a.atan2(b)),
        InexactMathFn::Atan2f => Calculation::Single(|a, b| a.atan2(b)),
        InexactMathFn::Hypot => Calculation::Double(|a, b| a.hypot(b)),
        InexactMathFn::Hypotf => Calculation::Single(|a, b| a.hypot(b)),
    }
}

/// A test of one or two numbers of any float type.
fn float_test(function: FloatTestFn, ty: Type, a: u128, b: u128) -> i32 {
    if ty.is_soft_float() {
        let (x, y) = (extended(ty, a), extended(ty, b));
        let (like_a, like_b) = stand_ins(x, y);
        let exponent = if ty == Type::F16 { 0x7c00 } else { 0x7f80 };
        let is_normal = match ty {
            Type::F80 => x.is_normal(),
            _ => ![0, exponent].contains(&(a & exponent)),
        };
        return test(function, like_a, like_b, is_normal);
    }
    let number = |bits| if ty == Type::F32 { f64::from(f32_of(bits)) } else { f64_of(bits) };
    let is_normal = match ty {
        Type::F32 => f32_of(a).classify() == FpCategory::Normal,
        _ => f64_of(a).classify() == FpCategory::Normal,
    };
    test(function, number(a), number(b), is_normal)
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
fn test(function: FloatTestFn, a: f64, b: f64, is_normal: bool) -> i32 {
    let ordered = !a.is_nan() && !b.is_nan();
    match function {
        FloatTestFn::Isnan => i32::from(a.is_nan()),
        FloatTestFn::Isinf => i32::from(a.is_infinite()),
        FloatTestFn::IsinfSign if a.is_infinite() => {
            if a > 0.0 {
                1
            } else {
                -1
            }
        }
        FloatTestFn::IsinfSign => 0,
        FloatTestFn::Isfinite => i32::from(a.is_finite()),
        FloatTestFn::Isnormal => i32::from(is_normal),
        FloatTestFn::Signbit => i32::from(a.is_sign_negative()),
        FloatTestFn::Isgreater => i32::from(a > b),
        FloatTestFn::Isgreaterequal => i32::from(a >= b),
        FloatTestFn::Isless => i32::from(a < b),
        FloatTestFn::Islessequal => i32::from(a <= b),
        FloatTestFn::Islessgreater => i32::from(ordered && a != b),
        FloatTestFn::Isunordered => i32::from(!ordered),
    }
}
