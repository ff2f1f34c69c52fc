//! Machine types: the types of registers and values, as opposed to the types of C.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A machine type. Pointers are 64 bits wherever they are computed with; how many bytes of memory
/// they take is the target's ([`crate::Target::stored_bytes`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Type {
    /// An integer of 1, 8, 16, 32, 64 or 128 bits. The result of a comparison has one bit.
    Int(u8),
    /// IEEE binary16, C's `_Float16`.
    F16,
    /// The upper half of a binary32, C's `__bf16`.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// The x87's extended format of 80 bits, C's `long double` on x86.
    F80,
    /// An address. On a 32-bit target the upper half is zero, and in memory it takes 4 bytes.
    Ptr,
}

impl Type {
    /// The type of a comparison.
    pub const BOOL: Self = Self::Int(1);

    /// Width in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Int(bits) => bits as u32,
            Self::F16 | Self::BF16 => 16,
            Self::F32 => 32,
            Self::F64 | Self::Ptr => 64,
            Self::F80 => 80,
        }
    }

    /// How many bytes hold the value: 10 for an [`Type::F80`], whose C type takes more. In memory a
    /// pointer may take less: [`crate::Target::stored_bytes`].
    pub const fn bytes(self) -> u64 {
        self.bits().div_ceil(8) as u64
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F32 | Self::F64 | Self::F80)
    }

    /// Whether it is a float that solvers' terms do not model: they have it as its bits.
    pub const fn is_soft_float(self) -> bool {
        matches!(self, Self::F16 | Self::BF16 | Self::F80)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(bits) => write!(f, "i{bits}"),
            Self::F16 => f.write_str("f16"),
            Self::BF16 => f.write_str("bf16"),
            Self::F32 => f.write_str("f32"),
            Self::F64 => f.write_str("f64"),
            Self::F80 => f.write_str("f80"),
            Self::Ptr => f.write_str("ptr"),
        }
    }
}
