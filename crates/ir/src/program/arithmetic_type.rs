//! The types that C's arithmetic knows: numbers by width and sign.
//!
//! The IR's machine types have no signs, since its operators have. What objectives make of an
//! expression (mutants, boundary values) hangs on the type that C gives to it, so lowering keeps it
//! beside the expression ([`crate::program::source::FunctionSource::c_types`]). Ranks of types of one width
//! change no value, so `long` and `long long` are one type here.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::machine_type::Type;

/// A number's type in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum ArithmeticType {
    /// `_Bool`.
    Bool,
    /// Any other integer or enumeration.
    Int {
        /// Width.
        bits: u8,
        /// Whether values are signed.
        signed: bool,
    },
    /// `_BitInt`, which C does not promote.
    BitInt {
        /// Bits of its values.
        width: u8,
        /// Bits of the machine type that holds it, extended.
        bits: u8,
        /// Whether values are signed.
        signed: bool,
    },
    /// A float.
    Float(Type),
}

impl ArithmeticType {
    /// `int`.
    pub const INT: Self = Self::Int { bits: 32, signed: true };

    /// The machine type of its values.
    pub const fn machine(self) -> Type {
        match self {
            Self::Bool => Type::Int(8),
            Self::Int { bits, .. } | Self::BitInt { bits, .. } => Type::Int(bits),
            Self::Float(ty) => ty,
        }
    }

    /// Whether it has negative values.
    pub const fn is_signed(self) -> bool {
        match self {
            Self::Bool => false,
            Self::Int { signed, .. } | Self::BitInt { signed, .. } => signed,
            Self::Float(_) => true,
        }
    }

    /// The type after C's integer promotions.
    pub const fn promoted(self) -> Self {
        match self {
            Self::Bool => Self::INT,
            Self::Int { bits, .. } if bits < 32 => Self::INT,
            other => other,
        }
    }

    /// The type to which C's usual arithmetic conversions bring two operands.
    pub fn common(a: Self, b: Self) -> Self {
        let (a, b) = (a.promoted(), b.promoted());
        match (a, b) {
            (Self::Float(x), Self::Float(y)) => {
                if x.bits() >= y.bits() {
                    a
                } else {
                    b
                }
            }
            (Self::Float(_), _) => a,
            (_, Self::Float(_)) => b,
            _ => match a.width().cmp(&b.width()) {
                std::cmp::Ordering::Greater => a,
                std::cmp::Ordering::Less => b,
                std::cmp::Ordering::Equal if a.is_signed() == b.is_signed() => {
                    if matches!(a, Self::BitInt { .. }) { b } else { a }
                }
                // An unsigned type wins over a signed one of no more bits.
                std::cmp::Ordering::Equal => {
                    if a.is_signed() {
                        b
                    } else {
                        a
                    }
                }
            },
        }
    }

    const fn width(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::Int { bits, .. } => bits as u32,
            Self::BitInt { width, .. } => width as u32,
            Self::Float(ty) => ty.bits(),
        }
    }

    /// The type that a word of the text form stands for.
    pub(crate) fn parse(word: &str) -> Option<Self> {
        match word {
            "bool" => return Some(Self::Bool),
            "f16" => return Some(Self::Float(Type::F16)),
            "bf16" => return Some(Self::Float(Type::BF16)),
            "f32" => return Some(Self::Float(Type::F32)),
            "f64" => return Some(Self::Float(Type::F64)),
            "f80" => return Some(Self::Float(Type::F80)),
            _ => {}
        }
        let signed = word.starts_with('s');
        let rest = word.strip_prefix(['s', 'u'])?;
        match rest.split_once('.') {
            None => Some(Self::Int { bits: rest.parse().ok()?, signed }),
            Some((width, bits)) => {
                Some(Self::BitInt { width: width.parse().ok()?, bits: bits.parse().ok()?, signed })
            }
        }
    }
}

impl fmt::Display for ArithmeticType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = |signed: bool| if signed { 's' } else { 'u' };
        match *self {
            Self::Bool => f.write_str("bool"),
            Self::Int { bits, signed } => write!(f, "{}{bits}", sign(signed)),
            Self::BitInt { width, bits, signed } => write!(f, "{}{width}.{bits}", sign(signed)),
            Self::Float(ty) => write!(f, "{ty}"),
        }
    }
}

/// The C types of one expression. An expression of the IR can stand for several of C's, since a
/// conversion that changes no bits leaves nothing in the IR: `u` and `(int)u` are one expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExprTypes {
    /// Of the text that the expression stands for.
    pub text: ArithmeticType,
    /// After the conversions that the user wrote around the text.
    pub written: ArithmeticType,
    /// After those that C implies around that: what the operator uses that takes it.
    pub used: ArithmeticType,
}

impl ExprTypes {
    /// Those of an expression that nothing converts.
    pub const fn unconverted(ty: ArithmeticType) -> Self {
        Self { text: ty, written: ty, used: ty }
    }

    /// The innermost of the types that are held in a machine type: the C type of the expression
    /// itself, where one of a narrower text is its promotion.
    pub fn held_in(&self, machine: Type) -> Option<ArithmeticType> {
        [self.text, self.written, self.used].into_iter().find(|ty| ty.machine() == machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn int(bits: u8, signed: bool) -> ArithmeticType {
        ArithmeticType::Int { bits, signed }
    }

    #[test]
    fn the_usual_conversions_take_the_wider_type_and_of_equals_the_unsigned_one() {
        let common = ArithmeticType::common;
        assert_eq!(common(int(8, false), int(16, true)), ArithmeticType::INT);
        assert_eq!(common(int(32, true), int(32, false)), int(32, false));
        assert_eq!(common(int(32, false), int(64, true)), int(64, true));
        assert_eq!(common(int(64, true), int(64, false)), int(64, false));
        let float = ArithmeticType::Float(Type::F32);
        assert_eq!(common(int(64, true), float), float);
        assert_eq!(common(ArithmeticType::Bool, ArithmeticType::Bool), ArithmeticType::INT);
    }

    #[test]
    fn a_bit_precise_integer_is_not_promoted_and_gives_way_to_a_standard_type_of_its_width() {
        let narrow = ArithmeticType::BitInt { width: 7, bits: 8, signed: true };
        assert_eq!(ArithmeticType::common(narrow, narrow), narrow);
        let wide = ArithmeticType::BitInt { width: 32, bits: 32, signed: true };
        assert_eq!(ArithmeticType::common(wide, ArithmeticType::INT), ArithmeticType::INT);
    }

    #[test]
    fn what_is_printed_is_read_again() {
        let all = [
            ArithmeticType::Bool,
            int(8, false),
            int(128, true),
            ArithmeticType::BitInt { width: 7, bits: 8, signed: false },
            ArithmeticType::Float(Type::BF16),
        ];
        for ty in all {
            assert_eq!(ArithmeticType::parse(&ty.to_string()), Some(ty));
        }
    }
}
