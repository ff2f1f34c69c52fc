//! Shapes: the properties of a C type that matter for conversions between numbers.

use crate::program::arithmetic_type::ArithmeticType;
use crate::program::ctype::{CType, CTypeId, CTypes, IntKind, Target};
use crate::program::expr::Type;

/// A type as arithmetic sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// An integer.
    Int {
        /// Width.
        bits: u32,
        /// Whether it has a sign.
        signed: bool,
    },
    /// A character type: an integer of 8 bits whose constants are written as characters.
    Char {
        /// Whether it has a sign.
        signed: bool,
    },
    /// A float of a machine type.
    Float(Type),
    /// A pointer, or another type that is no number.
    Other,
}

impl Shape {
    pub(super) const INT: Self = Self::Int { bits: 32, signed: true };

    pub(super) fn of(types: &CTypes, ty: CTypeId) -> Self {
        match types.get(ty) {
            CType::Int {
                kind: IntKind::Char | IntKind::SChar | IntKind::UChar, signed, ..
            } => Self::Char { signed: *signed },
            CType::Int { bits, signed, .. } => {
                Self::Int { bits: u32::from(*bits), signed: *signed }
            }
            CType::Enum { underlying, .. } => Self::of(types, *underlying),
            CType::Float16 => Self::Float(Type::F16),
            CType::BFloat16 => Self::Float(Type::BF16),
            CType::Float => Self::Float(Type::F32),
            CType::Double => Self::Float(Type::F64),
            CType::LongDouble => Self::Float(Type::F80),
            _ => Self::Other,
        }
    }

    /// A number's type in C.
    pub(super) const fn of_number(ty: ArithmeticType) -> Self {
        match ty {
            ArithmeticType::Bool => Self::Int { bits: 8, signed: false },
            ArithmeticType::Int { bits, signed } | ArithmeticType::BitInt { bits, signed, .. } => {
                Self::Int { bits: bits as u32, signed }
            }
            ArithmeticType::Float(ty) => Self::Float(ty),
        }
    }

    /// The integer as wide as a machine type.
    pub(super) const fn int(ty: Type, signed: bool) -> Self {
        Self::Int { bits: ty.bits(), signed }
    }

    pub(super) const fn bits(self) -> u32 {
        match self {
            Self::Int { bits, .. } => bits,
            Self::Float(ty) => ty.bits(),
            Self::Char { .. } => 8,
            Self::Other => 64,
        }
    }

    pub(super) const fn is_signed(self) -> bool {
        match self {
            Self::Int { signed, .. } | Self::Char { signed } => signed,
            Self::Float(_) => true,
            Self::Other => false,
        }
    }

    pub(super) const fn is_integer(self) -> bool {
        matches!(self, Self::Int { .. } | Self::Char { .. })
    }

    pub(super) const fn same_width(self, other: Self) -> bool {
        self.bits() == other.bits() && self.is_integer() == other.is_integer()
    }

    /// Whether all its numbers are numbers of `other`, which is a wider integer.
    pub(super) const fn is_narrower(self, other: Self) -> bool {
        self.is_integer()
            && other.is_integer()
            && self.bits() < other.bits()
            && (!self.is_signed() || other.is_signed())
    }

    /// The type after C's integer promotions.
    pub(super) const fn promoted(self) -> Self {
        match self {
            Self::Char { .. } => Self::INT,
            Self::Int { bits, .. } if bits < 32 => Self::INT,
            other => other,
        }
    }

    /// The type after C's usual arithmetic conversions.
    pub(super) fn common(a: Self, b: Self) -> Self {
        let (a, b) = (a.promoted(), b.promoted());
        match (a, b) {
            (Self::Float(x), Self::Float(y)) => {
                Self::Float(if x.bits() >= y.bits() { x } else { y })
            }
            (float @ Self::Float(_), _) | (_, float @ Self::Float(_)) => float,
            (Self::Int { bits: x, signed: s }, Self::Int { bits: y, signed: t }) => {
                let signed = match x.cmp(&y) {
                    std::cmp::Ordering::Less => t,
                    std::cmp::Ordering::Equal => s && t,
                    std::cmp::Ordering::Greater => s,
                };
                Self::Int { bits: x.max(y), signed }
            }
            _ => Self::Other,
        }
    }

    /// As C spells it for a target.
    pub(super) const fn name(self, target: Target) -> &'static str {
        let (wide, wide_unsigned) = match target {
            Target::X86_64 => ("long", "unsigned long"),
            Target::I386 => ("long long", "unsigned long long"),
        };
        match self {
            Self::Float(Type::F32) => "float",
            Self::Float(Type::F16) => "_Float16",
            Self::Float(Type::BF16) => "__bf16",
            Self::Float(Type::F80) => "long double",
            Self::Float(_) => "double",
            Self::Other => "void *",
            Self::Char { signed: true } => "signed char",
            Self::Char { signed: false } => "unsigned char",
            Self::Int { bits, signed } => match (bits, signed) {
                (0..=8, true) => "signed char",
                (0..=8, false) => "unsigned char",
                (9..=16, true) => "short",
                (9..=16, false) => "unsigned short",
                (17..=32, true) => "int",
                (17..=32, false) => "unsigned int",
                (33..=64, true) => wide,
                (33..=64, false) => wide_unsigned,
                (_, true) => "__int128",
                (_, false) => "unsigned __int128",
            },
        }
    }
}
