//! Sorts of terms: what kind of value a term denotes.
//!
//! The language is closed (Booleans, bit-vectors, IEEE floats, arrays from bit-vectors to
//! bit-vectors), so sorts are a plain enum and two sorts are equal exactly when they are `==`.

use std::fmt;

/// The widest bit-vector that a term may have, in bits.
///
/// 512 leaves room for the intermediate results of a double-precision fused multiply-add.
pub const MAX_WIDTH: u32 = 512;

/// An IEEE 754 binary interchange format.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum FloatSort {
    /// binary32, C's `float` on every target that Lydian knows.
    F32,
    /// binary64, C's `double` on every target that Lydian knows.
    F64,
}

impl FloatSort {
    /// Width of the interchange format in bits.
    pub const fn width(self) -> u32 {
        match self {
            FloatSort::F32 => 32,
            FloatSort::F64 => 64,
        }
    }

    /// Bits of the biased exponent field.
    pub const fn exponent_bits(self) -> u32 {
        match self {
            FloatSort::F32 => 8,
            FloatSort::F64 => 11,
        }
    }

    /// Bits of the significand including the hidden one (SMT-LIB's `sb`).
    pub const fn significand_bits(self) -> u32 {
        match self {
            FloatSort::F32 => 24,
            FloatSort::F64 => 53,
        }
    }

    /// The one bit pattern by which Lydian represents NaN (quiet, positive, no payload).
    pub const fn nan_bits(self) -> u64 {
        match self {
            FloatSort::F32 => 0x7fc0_0000,
            FloatSort::F64 => 0x7ff8_0000_0000_0000,
        }
    }

    /// The bit pattern of positive infinity.
    pub const fn infinity_bits(self) -> u64 {
        match self {
            FloatSort::F32 => 0x7f80_0000,
            FloatSort::F64 => 0x7ff0_0000_0000_0000,
        }
    }

    /// The mask of the sign bit.
    pub const fn sign_mask(self) -> u64 {
        1 << (self.width() - 1)
    }
}

/// The sort of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Bit-vectors of the given width, 1 to [`MAX_WIDTH`] bits.
    BitVec(u32),
    /// IEEE floats, with a single NaN.
    Float(FloatSort),
    /// Total functions from `index`-bit to `element`-bit vectors, both at most 64 bits.
    Array {
        /// Width of an index in bits.
        index: u32,
        /// Width of an element in bits.
        element: u32,
    },
}

impl Sort {
    /// `double`.
    pub const F64: Sort = Sort::Float(FloatSort::F64);
    /// `float`.
    pub const F32: Sort = Sort::Float(FloatSort::F32);

    /// Width in bits of a value of this sort when it is stored: 1 for `Bool`, 0 for arrays.
    pub const fn width(self) -> u32 {
        match self {
            Sort::Bool => 1,
            Sort::BitVec(w) => w,
            Sort::Float(f) => f.width(),
            Sort::Array { .. } => 0,
        }
    }

    /// Whether values of this sort fit one machine word.
    pub const fn is_small(self) -> bool {
        self.width() <= 64 && !matches!(self, Sort::Array { .. })
    }
}

impl fmt::Display for Sort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sort::Bool => write!(f, "bool"),
            Sort::BitVec(w) => write!(f, "bv{w}"),
            Sort::Float(FloatSort::F32) => write!(f, "f32"),
            Sort::Float(FloatSort::F64) => write!(f, "f64"),
            Sort::Array { index, element } => write!(f, "[bv{index}]bv{element}"),
        }
    }
}

/// The rounding of a result that is not representable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RoundingMode {
    /// To nearest, ties to even: C's arithmetic, `rint` and `nearbyint` by default.
    NearestEven,
    /// To nearest, ties away from zero: C's `round`.
    NearestAway,
    /// Towards zero: C's `trunc`.
    TowardZero,
    /// Towards plus infinity: C's `ceil`.
    TowardPositive,
    /// Towards minus infinity: C's `floor`.
    TowardNegative,
}

impl RoundingMode {
    /// SMT-LIB's name.
    pub const fn smt_name(self) -> &'static str {
        match self {
            RoundingMode::NearestEven => "RNE",
            RoundingMode::NearestAway => "RNA",
            RoundingMode::TowardZero => "RTZ",
            RoundingMode::TowardPositive => "RTP",
            RoundingMode::TowardNegative => "RTN",
        }
    }
}
