//! Floats that terms do not model: `f16`, `bf16` and the x87's `f80`.
//!
//! Their terms are their bits. Operations on constants are computed exactly, by the IR's own
//! arithmetic. `None` means that an operand is no constant, so that the engine stops there with a
//! reason. Moving, loading, storing and negating them needs no constants.

use lydian_ir::arith;
use lydian_ir::arith::Overflow;
use lydian_ir::{BinOp, CastOp, CmpOp, Type};
use lydian_smt::{Term, TermPool};

use crate::sort::{bits_of, constant};
use crate::traps::Traps;

/// The operation and its C type, for the reason to stop.
pub(crate) const fn name(ty: Type) -> &'static str {
    match ty {
        Type::F16 => "arithmetic of `_Float16` on inputs",
        Type::BF16 => "arithmetic of `__bf16` on inputs",
        _ => "arithmetic of `long double` on inputs",
    }
}

/// The number with its sign changed.
pub(crate) fn negated(pool: &mut TermPool, a: Term) -> Term {
    let width = pool.width(a);
    let one = pool.bv(width, 1);
    let amount = pool.bv(width, u64::from(width - 1));
    let sign = pool.shl(one, amount);
    pool.bvxor(a, sign)
}

/// `a op b` of constants.
pub(crate) fn binary(pool: &mut TermPool, op: BinOp, ty: Type, a: Term, b: Term) -> Option<Term> {
    let (a, b) = (bits_of(pool, a)?, bits_of(pool, b)?);
    let result = arith::binary(op, ty, a, b, Overflow::Wrap).ok()?;
    Some(constant(pool, ty, result))
}

/// A comparison of constants.
pub(crate) fn compare(pool: &mut TermPool, op: CmpOp, ty: Type, a: Term, b: Term) -> Option<Term> {
    let (a, b) = (bits_of(pool, a)?, bits_of(pool, b)?);
    Some(pool.bool(arith::compare(op, ty, a, b)))
}

/// A conversion of a constant. If it traps, it always does.
pub(crate) fn cast(
    pool: &mut TermPool,
    op: CastOp,
    from: Type,
    to: Type,
    a: Term,
    traps: &mut Traps,
) -> Option<Term> {
    let a = bits_of(pool, a)?;
    let result = arith::cast(op, from, to, a).unwrap_or_else(|kind| {
        let surely = pool.tt();
        traps.add(pool, kind, surely);
        0
    });
    Some(constant(pool, to, result))
}
