//! The meaning of the operators on bits: the one definition that the interpreter runs and that the
//! symbolic evaluator is tested against.
//!
//! Values are `u128`s that hold the bits of their type, zero above its width. Every function takes
//! such values and gives such values. Floats are computed by Rust's `f32` and `f64` and, in the x87's
//! extended format, by `rustc_apfloat`; all round to nearest, ties to even. The 16-bit formats
//! compute as `f32` and round once more, which for the four operators gives the same as rounding
//! once (`f32` has more than twice their digits). The result of a float operation that is not a number is always the
//! positive quiet NaN ([`NAN32`], [`NAN64`]): processors differ in sign and payload, and terms have
//! only one NaN. `fneg` flips the sign bit, also of a NaN, as processors do.

use rustc_apfloat::ieee::{BFloat, Double, Half, Single, X87DoubleExtended};
use rustc_apfloat::{Float, FloatConvert, Round, Status};

use super::expr::BitField;
use super::machine_type::Type;
use super::operator::{BinOp, CastOp, CmpOp, UnOp};
use super::trap_kind::TrapKind;

/// The behaviour of signed operators on overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Overflow {
    /// They wrap, as under `-fwrapv`.
    #[default]
    Wrap,
    /// They trap with [`TrapKind::SignedOverflow`].
    Trap,
}

/// The pattern of every NaN that a binary32 operation gives.
pub const NAN32: u32 = 0x7fc0_0000;

/// The pattern of every NaN that a binary64 operation gives.
pub const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// The pattern of every NaN that a binary16 operation gives.
pub const NAN16: u16 = 0x7e00;

/// The pattern of every NaN that a bfloat16 operation gives.
pub const NAN_BF16: u16 = 0x7fc0;

/// The pattern of every NaN that an operation in the x87's extended format gives.
pub const NAN80: u128 = 0x7fff_c000_0000_0000_0000;

/// Ones in the low `bits` bits.
pub const fn mask(bits: u32) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

/// The value cut to the width of a type.
pub const fn truncate(ty: Type, value: u128) -> u128 {
    value & mask(ty.bits())
}

/// The value read as a two's complement number of `bits` bits.
pub const fn signed(bits: u32, value: u128) -> i128 {
    if bits == 0 || bits >= 128 {
        return value as i128;
    }
    let unused = 128 - bits;
    ((value << unused) as i128) >> unused
}

/// Whether a number is one of the signed numbers of `bits` bits.
pub const fn fits_signed(bits: u32, value: i128) -> bool {
    signed(bits, value as u128) == value
}

const fn least(bits: u32) -> i128 {
    if bits >= 128 { i128::MIN } else { -(1 << (bits - 1)) }
}

/// A binary32's pattern as a number.
pub fn f32_of(value: u128) -> f32 {
    f32::from_bits(value as u32)
}

/// A binary64's pattern as a number.
pub fn f64_of(value: u128) -> f64 {
    f64::from_bits(value as u64)
}

/// A result's pattern, with the one NaN.
pub fn f32_bits(value: f32) -> u128 {
    u128::from(if value.is_nan() { NAN32 } else { value.to_bits() })
}

/// A result's pattern, with the one NaN.
pub fn f64_bits(value: f64) -> u128 {
    u128::from(if value.is_nan() { NAN64 } else { value.to_bits() })
}

/// `op a`, both of type `ty`.
///
/// # Errors
/// `NegS` of the least number where overflow is checked.
pub fn unary(op: UnOp, ty: Type, a: u128, overflow: Overflow) -> Result<u128, TrapKind> {
    let bits = ty.bits();
    Ok(match op {
        UnOp::NegS if overflow == Overflow::Trap && signed(bits, a) == least(bits) => {
            return Err(TrapKind::SignedOverflow);
        }
        UnOp::NegU | UnOp::NegS => truncate(ty, a.wrapping_neg()),
        UnOp::Not => truncate(ty, !a),
        UnOp::FNeg => a ^ (1 << (bits - 1)),
    })
}

/// `a op b`, all three of type `ty`.
///
/// # Errors
/// A zero divisor, the least number divided by -1, an amount of a shift that is not less than the
/// width, and signed overflow where it is checked.
pub fn binary(op: BinOp, ty: Type, a: u128, b: u128, overflow: Overflow) -> Result<u128, TrapKind> {
    use BinOp::*;
    Ok(match op {
        AddU => truncate(ty, a.wrapping_add(b)),
        SubU => truncate(ty, a.wrapping_sub(b)),
        MulU => truncate(ty, a.wrapping_mul(b)),
        AddS | SubS | MulS => return add_sub_mul_signed(op, ty, a, b, overflow),
        DivU => a.checked_div(b).ok_or(TrapKind::DivisionByZero)?,
        RemU => a.checked_rem(b).ok_or(TrapKind::DivisionByZero)?,
        DivS | RemS => return divide_signed(op, ty, a, b),
        ShlU | ShlS | ShrU | ShrS => return shift(op, ty, a, b, overflow),
        And => a & b,
        Or => a | b,
        Xor => a ^ b,
        FAdd | FSub | FMul | FDiv => float(op, ty, a, b),
    })
}

fn add_sub_mul_signed(
    op: BinOp,
    ty: Type,
    a: u128,
    b: u128,
    overflow: Overflow,
) -> Result<u128, TrapKind> {
    let bits = ty.bits();
    let (x, y) = (signed(bits, a), signed(bits, b));
    let (exact, wrapped) = match op {
        BinOp::AddS => (x.checked_add(y), x.wrapping_add(y)),
        BinOp::SubS => (x.checked_sub(y), x.wrapping_sub(y)),
        _ => (x.checked_mul(y), x.wrapping_mul(y)),
    };
    if overflow == Overflow::Trap && !exact.is_some_and(|value| fits_signed(bits, value)) {
        return Err(TrapKind::SignedOverflow);
    }
    Ok(truncate(ty, wrapped as u128))
}

fn divide_signed(op: BinOp, ty: Type, a: u128, b: u128) -> Result<u128, TrapKind> {
    let bits = ty.bits();
    let (x, y) = (signed(bits, a), signed(bits, b));
    if y == 0 {
        return Err(TrapKind::DivisionByZero);
    }
    if y == -1 && x == least(bits) {
        return Err(TrapKind::SignedOverflow);
    }
    let result = if op == BinOp::DivS { x / y } else { x % y };
    Ok(truncate(ty, result as u128))
}

fn shift(op: BinOp, ty: Type, a: u128, b: u128, overflow: Overflow) -> Result<u128, TrapKind> {
    let bits = ty.bits();
    if b >= u128::from(bits) {
        return Err(TrapKind::ShiftRange);
    }
    let amount = b as u32;
    let x = signed(bits, a);
    match op {
        BinOp::ShrU => Ok(a >> amount),
        BinOp::ShrS => Ok(truncate(ty, (x >> amount) as u128)),
        _ => {
            let result = truncate(ty, a << amount);
            let loses = x < 0 || signed(bits, result) >> amount != x;
            if op == BinOp::ShlS && overflow == Overflow::Trap && loses {
                return Err(TrapKind::SignedOverflow);
            }
            Ok(result)
        }
    }
}

/// A float of any type in the x87's extended format, which has them all exactly.
pub fn extended(ty: Type, bits: u128) -> X87DoubleExtended {
    let mut loses = false;
    match ty {
        Type::F16 => Half::from_bits(bits).convert(&mut loses).value,
        Type::BF16 => BFloat::from_bits(bits).convert(&mut loses).value,
        Type::F32 => Single::from_bits(bits).convert(&mut loses).value,
        Type::F64 => Double::from_bits(bits).convert(&mut loses).value,
        _ => X87DoubleExtended::from_bits(bits),
    }
}

/// The pattern of a float type that is nearest to a number in the x87's extended format, with the
/// type's one NaN.
pub fn rounded(ty: Type, value: X87DoubleExtended) -> u128 {
    let mut loses = false;
    if value.is_nan() {
        return nan(ty);
    }
    match ty {
        Type::F16 => FloatConvert::<Half>::convert(value, &mut loses).value.to_bits(),
        Type::BF16 => FloatConvert::<BFloat>::convert(value, &mut loses).value.to_bits(),
        Type::F32 => FloatConvert::<Single>::convert(value, &mut loses).value.to_bits(),
        Type::F64 => FloatConvert::<Double>::convert(value, &mut loses).value.to_bits(),
        _ => value.to_bits(),
    }
}

/// The pattern of every NaN that an operation on a float type gives; 0 for other types.
pub const fn nan(ty: Type) -> u128 {
    match ty {
        Type::F16 => NAN16 as u128,
        Type::BF16 => NAN_BF16 as u128,
        Type::F32 => NAN32 as u128,
        Type::F64 => NAN64 as u128,
        Type::F80 => NAN80,
        Type::Int(_) | Type::Ptr => 0,
    }
}

/// A number as a float of a type, rounded to nearest; 0 for other types.
pub fn float_bits(ty: Type, value: f64) -> u128 {
    match ty {
        Type::F32 => f32_bits(value as f32),
        Type::F64 => f64_bits(value),
        Type::Int(_) | Type::Ptr => 0,
        _ => rounded(ty, extended(Type::F64, u128::from(value.to_bits()))),
    }
}

/// The nearest binary64 to a float of a type.
pub fn to_f64(ty: Type, bits: u128) -> f64 {
    match ty {
        Type::F32 => f64::from(f32_of(bits)),
        Type::F64 => f64_of(bits),
        _ => f64_of(rounded(Type::F64, extended(ty, bits))),
    }
}

/// Reads a decimal number as a float of a type, correctly rounded; `None` for a text that is no number.
pub fn parse_float(ty: Type, text: &str) -> Option<u128> {
    match ty {
        Type::F32 => text.parse::<f32>().ok().map(f32_bits),
        Type::F64 => text.parse::<f64>().ok().map(f64_bits),
        Type::F16 => text.parse::<Half>().ok().map(Float::to_bits),
        Type::BF16 => text.parse::<BFloat>().ok().map(Float::to_bits),
        Type::F80 => text.parse::<X87DoubleExtended>().ok().map(Float::to_bits),
        Type::Int(_) | Type::Ptr => None,
    }
}

/// A float of any type as a decimal number that [`parse_float`] reads back to the same bits; `None`
/// for infinities and NaNs.
pub fn print_float(ty: Type, bits: u128) -> Option<String> {
    let short = to_f64(ty, bits);
    let text = format!("{short:?}");
    if short.is_finite() && parse_float(ty, &text) == Some(bits) {
        return Some(text);
    }
    let value = extended(ty, bits);
    let text = value.to_string().replace("E+", "e").replace('E', "e");
    let has_mark = text.contains(['.', 'e']);
    let text = if has_mark { text } else { format!("{text}.0") };
    (value.is_finite() && parse_float(ty, &text) == Some(bits)).then_some(text)
}

/// Whether a float is zero, of either sign.
pub fn is_float_zero(ty: Type, bits: u128) -> bool {
    bits & mask(ty.bits() - 1) == 0
}

fn float(op: BinOp, ty: Type, a: u128, b: u128) -> u128 {
    if ty == Type::F80 {
        let (x, y) = (extended(ty, a), extended(ty, b));
        let result = match op {
            BinOp::FAdd => x + y,
            BinOp::FSub => x - y,
            BinOp::FMul => x * y,
            _ => x / y,
        };
        return rounded(ty, result.value);
    }
    if matches!(ty, Type::F16 | Type::BF16) {
        let wide = |value| rounded(Type::F32, extended(ty, value));
        let result = float(op, Type::F32, wide(a), wide(b));
        return rounded(ty, extended(Type::F32, result));
    }
    if ty == Type::F32 {
        let (x, y) = (f32_of(a), f32_of(b));
        f32_bits(match op {
            BinOp::FAdd => x + y,
            BinOp::FSub => x - y,
            BinOp::FMul => x * y,
            _ => x / y,
        })
    } else {
        let (x, y) = (f64_of(a), f64_of(b));
        f64_bits(match op {
            BinOp::FAdd => x + y,
            BinOp::FSub => x - y,
            BinOp::FMul => x * y,
            _ => x / y,
        })
    }
}

/// `a op b` for operands of type `ty`.
pub fn compare(op: CmpOp, ty: Type, a: u128, b: u128) -> bool {
    if ty == Type::F80 {
        return compare_extended(op, extended(ty, a), extended(ty, b));
    }
    let s = |value| signed(ty.bits(), value);
    // Every narrower float is exactly a binary64.
    let f = |value| to_f64(ty, value);
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::LtU => a < b,
        CmpOp::LeU => a <= b,
        CmpOp::GtU => a > b,
        CmpOp::GeU => a >= b,
        CmpOp::LtS => s(a) < s(b),
        CmpOp::LeS => s(a) <= s(b),
        CmpOp::GtS => s(a) > s(b),
        CmpOp::GeS => s(a) >= s(b),
        CmpOp::FEq => f(a) == f(b),
        CmpOp::FNe => f(a) != f(b),
        CmpOp::FLt => f(a) < f(b),
        CmpOp::FLe => f(a) <= f(b),
        CmpOp::FGt => f(a) > f(b),
        CmpOp::FGe => f(a) >= f(b),
    }
}

fn compare_extended(op: CmpOp, a: X87DoubleExtended, b: X87DoubleExtended) -> bool {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let order = a.partial_cmp(&b);
    match op {
        CmpOp::FEq => order == Some(Equal),
        CmpOp::FNe => order != Some(Equal),
        CmpOp::FLt => order == Some(Less),
        CmpOp::FLe => matches!(order, Some(Less | Equal)),
        CmpOp::FGt => order == Some(Greater),
        CmpOp::FGe => matches!(order, Some(Greater | Equal)),
        CmpOp::Eq => a.to_bits() == b.to_bits(),
        CmpOp::Ne => a.to_bits() != b.to_bits(),
        _ => false,
    }
}

/// `a`, of type `from`, converted to type `to`.
///
/// # Errors
/// [`TrapKind::FloatToInt`] where a float's integer part does not fit the integer type.
pub fn cast(op: CastOp, from: Type, to: Type, a: u128) -> Result<u128, TrapKind> {
    if from.is_soft_float() || to.is_soft_float() {
        return cast_soft(op, from, to, a);
    }
    let number = |value| to_f64(from, value);
    Ok(match op {
        CastOp::Trunc | CastOp::ZExt | CastOp::Bits => truncate(to, a),
        CastOp::SExt => truncate(to, signed(from.bits(), a) as u128),
        CastOp::SToF => {
            let value = signed(from.bits(), a);
            if to == Type::F32 { f32_bits(value as f32) } else { f64_bits(value as f64) }
        }
        CastOp::UToF if to == Type::F32 => f32_bits(a as f32),
        CastOp::UToF => f64_bits(a as f64),
        CastOp::FToS => float_to_int(number(a), to, true)?,
        CastOp::FToU => float_to_int(number(a), to, false)?,
        CastOp::FToF if to == Type::F32 => f32_bits(number(a) as f32),
        CastOp::FToF => f64_bits(number(a)),
    })
}

/// Conversions from and to the formats that Rust has not.
fn cast_soft(op: CastOp, from: Type, to: Type, a: u128) -> Result<u128, TrapKind> {
    Ok(match op {
        CastOp::SToF | CastOp::UToF if to != Type::F80 => {
            // Compilers go over `float` here.
            let single = cast(op, from, Type::F32, a)?;
            rounded(to, extended(Type::F32, single))
        }
        CastOp::SToF => X87DoubleExtended::from_i128(signed(from.bits(), a)).value.to_bits(),
        CastOp::UToF => X87DoubleExtended::from_u128(a).value.to_bits(),
        CastOp::FToS | CastOp::FToU => extended_to_int(extended(from, a), to, op == CastOp::FToS)?,
        CastOp::FToF => rounded(to, extended(from, a)),
        CastOp::Trunc | CastOp::ZExt | CastOp::SExt | CastOp::Bits => truncate(to, a),
    })
}

fn extended_to_int(value: X87DoubleExtended, to: Type, is_signed: bool) -> Result<u128, TrapKind> {
    let (mut exact, width) = (false, to.bits() as usize);
    let (status, bits) = if is_signed {
        let result = value.to_i128_r(width, Round::TowardZero, &mut exact);
        (result.status, result.value as u128)
    } else {
        let result = value.to_u128_r(width, Round::TowardZero, &mut exact);
        (result.status, result.value)
    };
    if status.contains(Status::INVALID_OP) {
        return Err(TrapKind::FloatToInt);
    }
    Ok(truncate(to, bits))
}

fn float_to_int(value: f64, to: Type, is_signed: bool) -> Result<u128, TrapKind> {
    let bits = to.bits() as i32;
    let whole = value.trunc();
    // Powers of two are exact, so these comparisons are; a NaN fails both.
    let (low, high) = match is_signed {
        true => (-(2f64.powi(bits - 1)), 2f64.powi(bits - 1)),
        false => (0.0, 2f64.powi(bits)),
    };
    if !(whole >= low && whole < high) {
        return Err(TrapKind::FloatToInt);
    }
    Ok(if is_signed { truncate(to, whole as i128 as u128) } else { whole as u128 })
}

/// Whether a switch's operand lies in a case. Cases are numbers of the operand's C type, signed or
/// not; only one of the two readings of the bits can lie in a case that was written for it.
pub fn in_case(ty: Type, bits: u128, low: i128, high: i128) -> bool {
    let inside = |value: i128| low <= value && value <= high;
    inside(signed(ty.bits(), bits)) || i128::try_from(bits).is_ok_and(inside)
}

/// The address `base + index * size`, which wraps.
pub const fn element_address(base: u64, index: u64, size: u64) -> u64 {
    base.wrapping_add(index.wrapping_mul(size))
}

/// `(a - b) / size` on addresses, which C defines where nothing is left over: as compilers do it, a shift
/// where the size is a power of two, else rounding towards zero; 0 for a size of 0.
pub const fn address_difference(a: u64, b: u64, size: u64) -> u64 {
    let bytes = a.wrapping_sub(b) as i64;
    match size {
        0 => 0,
        // No address is that far from another, and the quotient would not be signed.
        _ if size > i64::MAX as u64 => 0,
        _ if size.is_power_of_two() => (bytes >> size.trailing_zeros()) as u64,
        _ => bytes.wrapping_div(size as i64) as u64,
    }
}

/// The value of a bit-field inside `raw`, the [`BitField::bytes`] bytes that hold it, little-endian.
pub const fn extract_bits(field: &BitField, raw: u128) -> u128 {
    let value = (raw >> field.bit) & mask(field.bits as u32);
    let value = if field.signed { signed(field.bits as u32, value) as u128 } else { value };
    truncate(field.ty, value)
}

/// `raw` with the bit-field set to the low bits of `value`.
pub const fn insert_bits(field: &BitField, raw: u128, value: u128) -> u128 {
    let place = mask(field.bits as u32) << field.bit;
    (raw & !place) | ((value << field.bit) & place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ctype::RecordId;
    use lydian_base::EntityId;

    const I8: Type = Type::Int(8);
    const I32: Type = Type::Int(32);
    const I128: Type = Type::Int(128);

    fn wrap(op: BinOp, ty: Type, a: u128, b: u128) -> Result<u128, TrapKind> {
        binary(op, ty, a, b, Overflow::Wrap)
    }

    fn checked(op: BinOp, ty: Type, a: u128, b: u128) -> Result<u128, TrapKind> {
        binary(op, ty, a, b, Overflow::Trap)
    }

    #[test]
    fn signed_overflow_wraps_unless_it_is_checked() {
        assert_eq!(wrap(BinOp::AddS, I8, 127, 1), Ok(128));
        assert_eq!(checked(BinOp::AddS, I8, 127, 1), Err(TrapKind::SignedOverflow));
        assert_eq!(checked(BinOp::SubS, I8, 128, 1), Err(TrapKind::SignedOverflow));
        assert_eq!(checked(BinOp::MulS, I128, mask(127), 2), Err(TrapKind::SignedOverflow));
        assert_eq!(checked(BinOp::AddU, I8, 255, 1), Ok(0));
        assert_eq!(unary(UnOp::NegS, I8, 128, Overflow::Trap), Err(TrapKind::SignedOverflow));
        assert_eq!(unary(UnOp::NegS, I8, 128, Overflow::Wrap), Ok(128));
    }

    #[test]
    fn division_traps_on_zero_and_on_the_least_number_by_minus_one() {
        for op in [BinOp::DivU, BinOp::DivS, BinOp::RemU, BinOp::RemS] {
            assert_eq!(wrap(op, I32, 5, 0), Err(TrapKind::DivisionByZero));
        }
        assert_eq!(wrap(BinOp::DivS, I8, 128, 255), Err(TrapKind::SignedOverflow));
        assert_eq!(wrap(BinOp::RemS, I8, 128, 255), Err(TrapKind::SignedOverflow));
        assert_eq!(wrap(BinOp::DivS, I8, 0xf9, 2), Ok(0xfd));
        assert_eq!(wrap(BinOp::RemS, I8, 0xf9, 2), Ok(0xff));
    }

    #[test]
    fn a_shift_traps_where_its_amount_is_not_less_than_the_width() {
        for op in [BinOp::ShlU, BinOp::ShlS, BinOp::ShrU, BinOp::ShrS] {
            assert_eq!(wrap(op, I8, 1, 8), Err(TrapKind::ShiftRange));
            assert_eq!(wrap(op, I8, 1, 255), Err(TrapKind::ShiftRange));
        }
        assert_eq!(wrap(BinOp::ShrS, I8, 0x80, 7), Ok(0xff));
        assert_eq!(wrap(BinOp::ShlS, I8, 0x81, 1), Ok(2));
        assert_eq!(checked(BinOp::ShlS, I8, 0x40, 1), Err(TrapKind::SignedOverflow));
        assert_eq!(checked(BinOp::ShlS, I8, 0xff, 1), Err(TrapKind::SignedOverflow));
        assert_eq!(checked(BinOp::ShlS, I8, 0x20, 1), Ok(0x40));
    }

    #[test]
    fn a_float_that_does_not_fit_the_integer_type_traps() {
        let to = |value: f64, op, ty| cast(op, Type::F64, ty, u128::from(value.to_bits()));
        assert_eq!(to(127.9, CastOp::FToS, I8), Ok(127));
        assert_eq!(to(128.0, CastOp::FToS, I8), Err(TrapKind::FloatToInt));
        assert_eq!(to(-128.9, CastOp::FToS, I8), Ok(128));
        assert_eq!(to(-129.0, CastOp::FToS, I8), Err(TrapKind::FloatToInt));
        assert_eq!(to(-0.9, CastOp::FToU, I8), Ok(0));
        assert_eq!(to(-1.0, CastOp::FToU, I8), Err(TrapKind::FloatToInt));
        assert_eq!(to(f64::NAN, CastOp::FToS, I32), Err(TrapKind::FloatToInt));
        assert_eq!(to(2f64.powi(100), CastOp::FToU, I128), Ok(1 << 100));
    }

    #[test]
    fn a_long_double_has_64_digits_and_rounds_to_even() {
        let of = |text| parse_float(Type::F80, text).unwrap();
        let add = |a, b| wrap(BinOp::FAdd, Type::F80, a, b).unwrap();
        assert_eq!(of("1.0"), 0x3fff_8000_0000_0000_0000);
        let (big, half) = (of("18446744073709551616"), of("0.5"));
        assert_eq!(add(big, half), big);
        assert_eq!(add(of("9223372036854775808"), half), of("9223372036854775808.5"));
        assert_eq!(wrap(BinOp::FDiv, Type::F80, of("1"), of("3")), Ok(0x3ffd_aaaa_aaaa_aaaa_aaab));
        assert_eq!(wrap(BinOp::FDiv, Type::F80, 0, 0), Ok(NAN80));
        assert!(compare(CmpOp::FLt, Type::F80, of("-1"), half));
        assert!(!compare(CmpOp::FEq, Type::F80, NAN80, NAN80));
    }

    #[test]
    fn conversions_of_a_long_double_round_once_and_trap_beyond_the_integer() {
        let of = |text| parse_float(Type::F80, text).unwrap();
        let all = u128::from(u64::MAX);
        assert_eq!(
            cast(CastOp::UToF, Type::Int(64), Type::F80, all),
            Ok(of("18446744073709551615"))
        );
        assert_eq!(
            cast(CastOp::FToU, Type::F80, Type::Int(64), of("18446744073709551615")),
            Ok(all)
        );
        let beyond = cast(CastOp::FToU, Type::F80, Type::Int(64), of("18446744073709551616"));
        assert_eq!(beyond, Err(TrapKind::FloatToInt));
        assert_eq!(cast(CastOp::FToS, Type::F80, I32, of("-2147483648.9")), Ok(1 << 31));
        assert_eq!(cast(CastOp::FToU, Type::F80, I32, of("-0.9")), Ok(0));
        let tenth = cast(CastOp::FToF, Type::F80, Type::F64, of("0.1"));
        assert_eq!(tenth, Ok(u128::from(0.1f64.to_bits())));
    }

    #[test]
    fn half_precision_rounds_and_overflows_where_its_format_does() {
        let of = |text| parse_float(Type::F16, text).unwrap();
        assert_eq!(of("1"), 0x3c00);
        assert_eq!(wrap(BinOp::FAdd, Type::F16, of("2048"), of("1")), Ok(of("2048")));
        assert_eq!(wrap(BinOp::FMul, Type::F16, of("256"), of("256")), Ok(0x7c00));
        assert_eq!(cast(CastOp::FToF, Type::F32, Type::BF16, 0x3f80_8000), Ok(0x3f80));
        assert_eq!(cast(CastOp::FToF, Type::F32, Type::BF16, 0x3f81_8000), Ok(0x3f82));
    }

    #[test]
    fn every_nan_that_an_operation_gives_is_the_same() {
        let infinity = u128::from(f64::INFINITY.to_bits());
        assert_eq!(wrap(BinOp::FSub, Type::F64, infinity, infinity), Ok(u128::from(NAN64)));
        let payload = u128::from(NAN32 | 7);
        assert_eq!(wrap(BinOp::FAdd, Type::F32, payload, 0), Ok(u128::from(NAN32)));
    }

    #[test]
    fn a_bit_field_is_found_again_among_its_neighbours() {
        let field = BitField {
            record: RecordId::from_index(0),
            field: 0,
            byte_offset: 0,
            bit: 3,
            bits: 5,
            signed: true,
            ty: I32,
        };
        let raw = insert_bits(&field, 0xffff, 0b10001);
        assert_eq!(raw, 0b1111_1111_1000_1111);
        assert_eq!(extract_bits(&field, raw), truncate(I32, -15i128 as u128));
    }

    #[test]
    fn a_pointer_difference_rounds_towards_zero() {
        assert_eq!(address_difference(16, 8, 4), 2);
        assert_eq!(address_difference(8, 16, 4), (-2i64) as u64);
        assert_eq!(address_difference(8, 16, 0), 0);
    }
}
