//! Targets, which fix the sizes of types and the ranges of addresses, and the kinds of C's integers.

use serde::{Deserialize, Serialize};

use super::arith::address_difference;
use super::machine_type::Type;

/// First address of the region that holds input objects, in every engine and in the runner.
pub const INPUT_REGION: u64 = 0x20_0000_0000;

/// Bytes of that region.
pub const INPUT_REGION_SIZE: u64 = 0x4000_0000;

/// The integer types of C that differ in C's eyes though they may have one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "each is the C type of that name")]
pub enum IntKind {
    Bool,
    Char,
    SChar,
    UChar,
    Short,
    UShort,
    Int,
    UInt,
    Long,
    ULong,
    LongLong,
    ULongLong,
    Int128,
    UInt128,
}

impl IntKind {
    /// Width in bits and signedness on a 64-bit Unix target.
    pub const fn on_lp64(self) -> (u8, bool) {
        match self {
            Self::Bool | Self::UChar => (8, false),
            Self::Char | Self::SChar => (8, true),
            Self::Short => (16, true),
            Self::UShort => (16, false),
            Self::Int => (32, true),
            Self::UInt => (32, false),
            Self::Long | Self::LongLong => (64, true),
            Self::ULong | Self::ULongLong => (64, false),
            Self::Int128 => (128, true),
            Self::UInt128 => (128, false),
        }
    }

    /// As C spells it.
    pub const fn spelling(self) -> &'static str {
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

/// The targets that programs are lowered for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Target {
    /// x86-64.
    #[default]
    X86_64,
    /// 32-bit x86 (`-m32`): a pointer takes 4 bytes, and no scalar is aligned to more.
    I386,
}

impl Target {
    /// Bytes of a pointer in memory.
    pub const fn pointer_bytes(self) -> u64 {
        match self {
            Self::X86_64 => 8,
            Self::I386 => 4,
        }
    }

    /// Bits of a pointer, and of the integers that C indexes and measures with.
    pub const fn pointer_bits(self) -> u8 {
        match self {
            Self::X86_64 => 64,
            Self::I386 => 32,
        }
    }

    /// Bytes that a value of a machine type takes where it is loaded and stored.
    pub const fn stored_bytes(self, ty: Type) -> u64 {
        match ty {
            Type::Ptr => self.pointer_bytes(),
            _ => ty.bytes(),
        }
    }

    /// An address brought into the target's range, as its arithmetic on addresses wraps.
    pub const fn wrap_address(self, address: u64) -> u64 {
        match self {
            Self::X86_64 => address,
            Self::I386 => address & 0xffff_ffff,
        }
    }

    /// `(a - b) / size` on addresses ([`crate::program::arith::address_difference`]), where the difference wraps at
    /// the width of a pointer.
    pub const fn address_difference(self, a: u64, b: u64, size: u64) -> u64 {
        match self {
            Self::X86_64 => address_difference(a, b, size),
            Self::I386 => {
                let bytes = (a as u32).wrapping_sub(b as u32) as i32;
                address_difference(bytes as i64 as u64, 0, size)
            }
        }
    }

    /// The number of bits by which the target's addresses are shifted to tell the eight areas of
    /// an engine's memory apart ([`crate::interp::Memory`]).
    pub const fn area_shift(self) -> u32 {
        match self {
            Self::X86_64 => 36,
            Self::I386 => 29,
        }
    }

    /// First address of the region that holds input objects, in every engine and in the runner.
    pub const fn input_region(self) -> u64 {
        match self {
            Self::X86_64 => INPUT_REGION,
            Self::I386 => 0x4000_0000,
        }
    }

    /// Bytes of that region.
    pub const fn input_region_size(self) -> u64 {
        match self {
            Self::X86_64 => INPUT_REGION_SIZE,
            Self::I386 => 0x1000_0000,
        }
    }

    /// An integer type that is surely 64 bits wide.
    pub const fn word64(self, signed: bool) -> IntKind {
        match (self, signed) {
            (Self::X86_64, true) => IntKind::Long,
            (Self::X86_64, false) => IntKind::ULong,
            (Self::I386, true) => IntKind::LongLong,
            (Self::I386, false) => IntKind::ULongLong,
        }
    }
}
