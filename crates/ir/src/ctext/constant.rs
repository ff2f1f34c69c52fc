//! Constants as C writes them, exactly.

use super::precedence::{Text, level};
use super::shape::Shape;
use super::{UserC, Val};
use crate::program::arith;
use crate::program::ctype::Target;
use crate::program::expr::Type;

/// How an integer constant is written.
#[derive(Clone, Copy)]
pub(super) enum Reading {
    /// Its digits, with a sign.
    Signed,
    /// Without a sign: digits alone where the number is small.
    Unsigned,
    /// In base 16.
    Mask,
    Character,
}

impl UserC<'_> {
    pub(super) fn constant(&self, ty: Type, bits: u128, reading: Reading) -> Val {
        match ty {
            Type::Ptr if bits == 0 => Val { text: Text::primary("0"), shape: Shape::Other },
            Type::Ptr => {
                let number = Text::primary(format!("{bits:#x}"));
                Val { text: Text::prefix("(void *)", &number), shape: Shape::Other }
            }
            Type::Int(width) => self.integer(u32::from(width), bits, reading),
            _ => Val { text: float(ty, bits), shape: Shape::Float(ty) },
        }
    }

    /// An integer constant, with the type that C gives to the text.
    fn integer(&self, width: u32, bits: u128, reading: Reading) -> Val {
        let value = arith::signed(width, bits);
        match reading {
            _ if width == 1 => digits(bits as i128 & 1, Shape::INT),
            Reading::Character => {
                let c = char::from(bits as u8);
                let escape = if matches!(c, '\'' | '\\') { "\\" } else { "" };
                Val { text: Text::primary(format!("'{escape}{c}'")), shape: Shape::INT }
            }
            Reading::Mask if width <= 64 => {
                let wide = Shape::Int { bits: 64, signed: bits >> 63 == 0 };
                let shape = match bits {
                    0..0x8000_0000 => Shape::INT,
                    0x8000_0000..0x1_0000_0000 => Shape::Int { bits: 32, signed: false },
                    _ => wide,
                };
                Val { text: Text::primary(format!("{bits:#x}")), shape }
            }
            Reading::Unsigned if width < 32 => digits(bits as i128, Shape::INT),
            Reading::Unsigned if value < 0 => self.typed_integer(width, bits, false),
            _ if i32::try_from(value).is_ok_and(|value| value != i32::MIN) => {
                digits(value, Shape::INT)
            }
            _ => self.typed_integer(width, bits, true),
        }
    }

    /// An integer constant of exactly this type, of 32 bits or more.
    pub(super) fn typed_integer(&self, width: u32, bits: u128, signed: bool) -> Val {
        let shape = Shape::Int { bits: width, signed };
        let value = arith::signed(width, bits);
        let wide = if self.program.types.target == Target::X86_64 { "l" } else { "ll" };
        match (width, signed) {
            (0..=32, true) if value == i128::from(i32::MIN) => {
                Val { text: Text::at(level::ADD, "-2147483647 - 1".to_owned()), shape }
            }
            (0..=32, true) => digits(value, shape),
            (0..=32, false) => Val { text: Text::primary(format!("{bits}u")), shape },
            (33..=64, true) if value == i128::from(i64::MIN) => {
                let text = format!("-9223372036854775807{wide} - 1");
                Val { text: Text::at(level::ADD, text), shape }
            }
            (33..=64, true) if i32::try_from(value).is_err() => digits(value, shape),
            (33..=64, true) => Val { text: Text::number(format!("{value}{wide}")), shape },
            (33..=64, false) => Val { text: Text::primary(format!("{bits}u{wide}")), shape },
            _ => self.wide_integer(bits, shape),
        }
    }

    /// A constant of 128 bits, which C has no literal for.
    fn wide_integer(&self, bits: u128, shape: Shape) -> Val {
        let name = format!("({})", shape.name(self.program.types.target));
        let value = bits as i128;
        let text = match i64::try_from(value) {
            Ok(value) if shape.is_signed() || value >= 0 => {
                Text::prefix(&name, &self.integer(64, value as u128, Reading::Signed).text)
            }
            _ => {
                let (high, low) = ((bits >> 64) as u64, bits as u64);
                let all = format!("((unsigned __int128){high}ul << 64 | {low}ul)");
                if shape.is_signed() {
                    Text::prefix(&name, &Text::primary(all))
                } else {
                    Text::primary(all)
                }
            }
        };
        Val { text, shape }
    }
}

fn digits(value: i128, shape: Shape) -> Val {
    Val { text: Text::number(value.to_string()), shape }
}

/// A float constant that reads back as the same bits, NaNs aside.
fn float(ty: Type, bits: u128) -> Text {
    let suffix = match ty {
        Type::F64 => "",
        Type::F80 => "L",
        _ => "f",
    };
    let value = arith::to_f64(ty, bits);
    let text = match value {
        _ if value.is_nan() => Text::primary(format!("__builtin_nan{}(\"\")", builtin_suffix(ty))),
        _ if ty == Type::F80 && arith::float_bits(ty, value) != bits => long_double(bits),
        f64::INFINITY => Text::primary(format!("__builtin_inf{}()", builtin_suffix(ty))),
        f64::NEG_INFINITY => Text::number(format!("-__builtin_inf{}()", builtin_suffix(ty))),
        _ if ty == Type::F32 => Text::number(format!("{:?}f", arith::f32_of(bits))),
        _ => Text::number(format!("{value:?}{suffix}")),
    };
    match ty {
        Type::F16 => Text::prefix("(_Float16)", &text),
        Type::BF16 => Text::prefix("(__bf16)", &text),
        _ => text,
    }
}

/// The ending of the names of compilers' functions on floats of a type.
pub(super) const fn builtin_suffix(ty: Type) -> &'static str {
    match ty {
        Type::F64 => "",
        Type::F80 => "l",
        _ => "f",
    }
}

/// A finite `long double` that no `double` is: whole numbers by their digits, others in base 16.
fn long_double(bits: u128) -> Text {
    let (negative, exponent) = (bits >> 79 & 1 == 1, (bits >> 64 & 0x7fff) as i32 - 16383 - 63);
    let (mantissa, sign) = (bits as u64, if negative { "-" } else { "" });
    let whole = u32::try_from(-exponent)
        .ok()
        .filter(|shift| *shift < 64 && mantissa.trailing_zeros() >= *shift);
    Text::number(match (whole, u32::try_from(exponent)) {
        (Some(shift), _) => format!("{sign}{}.0L", mantissa >> shift),
        (_, Ok(shift @ 0..=63)) => format!("{sign}{}.0L", u128::from(mantissa) << shift),
        _ => format!("{sign}{mantissa:#x}p{exponent}L"),
    })
}
