//! Sorts: the representation of machine values as terms.
//!
//! `i1` is a Boolean, other integers and addresses are bit-vectors, floats are IEEE terms. Floats
//! that the terms do not model (`f16`, `bf16`, `f80`) are their bits. In
//! memory every value is a bit-vector of whole bytes, least significant byte first.

use lydian_ir::Type;
use lydian_smt::{FloatSort, Sort, Term, TermPool, Value, Wide};

use crate::nan::{float_bits, float_from_bits};

/// The sort of the terms that represent values of a machine type.
pub const fn sort_of(ty: Type) -> Sort {
    match ty {
        Type::Int(1) => Sort::Bool,
        Type::Int(bits) => Sort::BitVec(bits as u32),
        Type::Ptr => Sort::BitVec(64),
        Type::F16 | Type::BF16 | Type::F80 => Sort::BitVec(ty.bits()),
        Type::F32 => Sort::Float(FloatSort::F32),
        Type::F64 => Sort::Float(FloatSort::F64),
    }
}

/// The float sort of a machine type; `None` for integers, addresses and floats that are their bits.
pub const fn float_sort(ty: Type) -> Option<FloatSort> {
    match ty {
        Type::F32 => Some(FloatSort::F32),
        Type::F64 => Some(FloatSort::F64),
        _ => None,
    }
}

/// The bit-vector in memory of a value of any sort but arrays. Its width is eight times the number of
/// bytes. A Boolean takes one byte.
pub fn to_bytes(pool: &mut TermPool, value: Term) -> Term {
    match pool.sort(value) {
        Sort::Bool => pool.bool_to_bv(value, 8),
        Sort::Float(_) => float_bits(pool, value),
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
        Type::F32 => float_from_bits(pool, FloatSort::F32, bytes),
        Type::F64 => float_from_bits(pool, FloatSort::F64, bytes),
        _ => bytes,
    }
}

/// The bits of a constant of any sort but arrays; `None` for other terms.
pub(crate) fn bits_of(pool: &TermPool, value: Term) -> Option<u128> {
    if let Some(bits) = pool.as_float_bits(value) {
        return Some(u128::from(bits));
    }
    match pool.is_const(value)? {
        Value::Bool(truth) => Some(u128::from(truth)),
        Value::Bits { value, .. } => Some(u128::from(value)),
        Value::Wide { value, .. } => Some(value.low_u128()),
        _ => None,
    }
}

/// The constant of a type from its bits, zero-extended; floats by their IEEE pattern.
pub fn constant(pool: &mut TermPool, ty: Type, bits: u128) -> Term {
    match ty {
        Type::Int(1) => pool.bool(bits & 1 == 1),
        Type::F32 => pool.fp_const(FloatSort::F32, bits as u64),
        Type::F64 => pool.fp_const(FloatSort::F64, bits as u64),
        _ => pool.bv_wide(ty.bits(), Wide::from_u128(bits)),
    }
}
