//! How machine values are represented as terms.
//!
//! `i1` is a Boolean, other integers and addresses are bit-vectors, floats are IEEE terms. In
//! memory every value is a bit-vector of whole bytes, least significant byte first.

use lydian_ir::Type;
use lydian_smt::{FloatSort, Sort, Term, TermPool};

/// The sort of the terms that stand for values of a machine type.
pub const fn sort_of(ty: Type) -> Sort {
    match ty {
        Type::Int(1) => Sort::Bool,
        Type::Int(bits) => Sort::BitVec(bits as u32),
        Type::Ptr => Sort::BitVec(64),
        Type::F32 => Sort::Float(FloatSort::F32),
        Type::F64 => Sort::Float(FloatSort::F64),
    }
}

/// The float sort of a machine type; `None` for integers and addresses.
pub const fn float_sort(ty: Type) -> Option<FloatSort> {
    match ty {
        Type::F32 => Some(FloatSort::F32),
        Type::F64 => Some(FloatSort::F64),
        Type::Int(_) | Type::Ptr => None,
    }
}

/// The bit-vector that stands in memory for a value of any sort but arrays: its width is eight
/// times the number of bytes. A Boolean takes one byte.
pub fn to_bytes(pool: &mut TermPool, value: Term) -> Term {
    match pool.sort(value) {
        Sort::Bool => pool.bool_to_bv(value, 8),
        Sort::Float(_) => pool.fp_to_bits(value),
        _ => value,
    }
}

/// The value of type `ty` whose image in memory is `bytes`, of exactly as many bits as `ty` has
/// bytes.
pub fn from_bytes(pool: &mut TermPool, ty: Type, bytes: Term) -> Term {
    match ty {
        Type::Int(1) => {
            let bit = pool.extract(0, 0, bytes);
            pool.is_nonzero(bit)
        }
        Type::F32 => pool.fp_from_bits(FloatSort::F32, bytes),
        Type::F64 => pool.fp_from_bits(FloatSort::F64, bytes),
        Type::Int(_) | Type::Ptr => bytes,
    }
}

/// The constant of a type from its bits, zero-extended; floats by their IEEE pattern.
pub fn constant(pool: &mut TermPool, ty: Type, bits: u128) -> Term {
    match ty {
        Type::Int(1) => pool.bool(bits & 1 == 1),
        Type::F32 => pool.fp_const(FloatSort::F32, bits as u64),
        Type::F64 => pool.fp_const(FloatSort::F64, bits as u64),
        Type::Int(width) if width > 64 => {
            let (high, low) = (pool.bv(64, (bits >> 64) as u64), pool.bv(64, bits as u64));
            let whole = pool.concat(high, low);
            if width == 128 { whole } else { pool.extract(u32::from(width) - 1, 0, whole) }
        }
        Type::Int(width) => pool.bv(u32::from(width), bits as u64),
        Type::Ptr => pool.bv(64, bits as u64),
    }
}
