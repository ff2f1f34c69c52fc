//! The text form of canonical types, written from the outside in: `pointer(const char)`.

use super::{ArrayLength, CType, CTypes, FloatKind, IntKind, QualType, TypeId};
use std::fmt;

/// A type that prints itself; made by [`CTypes::display`].
#[derive(Clone, Copy, Debug)]
pub struct DisplayType<'a> {
    types: &'a CTypes,
    ty: QualType,
}

impl CTypes {
    /// The text form of a type. Records and enumerations are shown by their ids.
    pub const fn display(&self, ty: QualType) -> DisplayType<'_> {
        DisplayType { types: self, ty }
    }

    /// The text form of an unqualified type.
    pub const fn display_id(&self, ty: TypeId) -> DisplayType<'_> {
        self.display(QualType::plain(ty))
    }
}

impl fmt::Display for DisplayType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nested = |ty: QualType| self.types.display(ty);
        write!(f, "{}", self.ty.quals)?;
        match self.types.get(self.ty.ty) {
            CType::Void => f.write_str("void"),
            CType::Int(kind) => f.write_str(kind.name()),
            CType::BitInt { bits, signed: true } => write!(f, "_BitInt({bits})"),
            CType::BitInt { bits, signed: false } => write!(f, "unsigned _BitInt({bits})"),
            CType::Float(kind) => f.write_str(kind.name()),
            CType::Pointer(pointee) => write!(f, "pointer({})", nested(*pointee)),
            CType::Array { element, length } => {
                match length {
                    ArrayLength::Constant(length) => write!(f, "array[{length}]")?,
                    ArrayLength::Incomplete => f.write_str("array[]")?,
                    ArrayLength::Variable => f.write_str("array[*]")?,
                }
                write!(f, "({})", nested(*element))
            }
            CType::Function { result, params, variadic, prototype } => {
                f.write_str("function(")?;
                let mut parts: Vec<String> =
                    params.iter().map(|param| nested(*param).to_string()).collect();
                if *variadic {
                    parts.push("...".into());
                }
                if !*prototype {
                    parts.push("?".into());
                }
                write!(f, "{})({})", parts.join(", "), nested(*result))
            }
            CType::Complex(part) => write!(f, "complex({})", self.types.display_id(*part)),
            CType::Vector { element, length } => {
                write!(f, "vector[{length}]({})", self.types.display_id(*element))
            }
            CType::Record(id) => write!(f, "{id}"),
            CType::Enum(id) => write!(f, "{id}"),
            CType::Unsupported(text) => write!(f, "unsupported `{text}`"),
        }
    }
}

impl IntKind {
    /// The type as C writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bool => "_Bool",
            Self::Char => "char",
            Self::SChar => "signed char",
            Self::UChar => "unsigned char",
            Self::Short => "short",
            Self::UShort => "unsigned short",
            Self::Int => "int",
            Self::UInt => "unsigned int",
            Self::Long => "long",
            Self::ULong => "unsigned long",
            Self::LongLong => "long long",
            Self::ULongLong => "unsigned long long",
            Self::Int128 => "__int128",
            Self::UInt128 => "unsigned __int128",
        }
    }
}

impl FloatKind {
    /// The type as C writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Half => "_Float16",
            Self::BFloat => "__bf16",
            Self::Float => "float",
            Self::Double => "double",
            Self::LongDouble => "long double",
            Self::Float128 => "__float128",
        }
    }
}
