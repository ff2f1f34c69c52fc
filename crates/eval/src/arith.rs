//! The IR's operators over terms, with the conditions under which they trap.

use lydian_ir::arith::Overflow;
use lydian_ir::{BinOp, CastOp, CmpOp, TrapKind, Type, UnOp};
use lydian_smt::{Node, Sort, Term, TermPool, UnOp as UnaryTerm};

use crate::nan::{computed, float_bits, float_from_bits};
use crate::sort::{float_sort, sort_of};
use crate::traps::Traps;

/// A Boolean as a one-bit vector; other terms as they are.
fn as_vector(pool: &mut TermPool, a: Term) -> Term {
    if pool.sort(a) == Sort::Bool { pool.bool_to_bv(a, 1) } else { a }
}

/// `op a`.
pub fn unary(
    pool: &mut TermPool,
    op: UnOp,
    a: Term,
    overflow: Overflow,
    traps: &mut Traps,
) -> Term {
    if pool.sort(a) == Sort::Bool {
        if op == UnOp::NegS && overflow == Overflow::Trap {
            traps.add(pool, TrapKind::SignedOverflow, a);
        }
        // Modulo 2, negation changes nothing.
        return if op == UnOp::Not { pool.not(a) } else { a };
    }
    match op {
        UnOp::NegS => {
            if overflow == Overflow::Trap {
                let overflows = pool.sneg_overflows(a);
                traps.add(pool, TrapKind::SignedOverflow, overflows);
            }
            pool.neg(a)
        }
        UnOp::NegU => pool.neg(a),
        UnOp::Not => pool.bvnot(a),
        UnOp::FNeg => pool.fp_neg(a),
    }
}

/// `a op b`, both of one sort.
pub fn binary(
    pool: &mut TermPool,
    op: BinOp,
    a: Term,
    b: Term,
    overflow: Overflow,
    traps: &mut Traps,
) -> Term {
    if pool.sort(a) == Sort::Bool {
        return binary_on_bits(pool, op, a, b, overflow, traps);
    }
    if overflow == Overflow::Trap
        && let Some(overflows) = overflow_condition(pool, op, a, b)
    {
        traps.add(pool, TrapKind::SignedOverflow, overflows);
    }
    if matches!(op, BinOp::DivU | BinOp::DivS | BinOp::RemU | BinOp::RemS) {
        division_traps(pool, op, a, b, traps);
    }
    if matches!(op, BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS) {
        shift_traps(pool, op, a, b, overflow, traps);
    }
    match op {
        BinOp::AddU | BinOp::AddS => pool.add(a, b),
        BinOp::SubU | BinOp::SubS => pool.sub(a, b),
        BinOp::MulU | BinOp::MulS => pool.mul(a, b),
        BinOp::DivU => pool.udiv(a, b),
        BinOp::DivS => pool.sdiv(a, b),
        BinOp::RemU => pool.urem(a, b),
        BinOp::RemS => pool.srem(a, b),
        BinOp::ShlU | BinOp::ShlS => pool.shl(a, b),
        BinOp::ShrU => pool.lshr(a, b),
        BinOp::ShrS => pool.ashr(a, b),
        BinOp::And => pool.bvand(a, b),
        BinOp::Or => pool.bvor(a, b),
        BinOp::Xor => pool.bvxor(a, b),
        BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv => {
            let result = match op {
                BinOp::FAdd => pool.fp_add(a, b),
                BinOp::FSub => pool.fp_sub(a, b),
                BinOp::FMul => pool.fp_mul(a, b),
                _ => pool.fp_div(a, b),
            };
            computed(pool, result, &[a, b])
        }
    }
}

/// Operators on `i1`: the three that C needs directly, all others on vectors of one bit.
fn binary_on_bits(
    pool: &mut TermPool,
    op: BinOp,
    a: Term,
    b: Term,
    overflow: Overflow,
    traps: &mut Traps,
) -> Term {
    match op {
        BinOp::And => pool.and(a, b),
        BinOp::Or => pool.or(a, b),
        BinOp::Xor => pool.xor(a, b),
        _ => {
            let (a, b) = (as_vector(pool, a), as_vector(pool, b));
            let result = binary(pool, op, a, b, overflow, traps);
            pool.is_nonzero(result)
        }
    }
}

/// The condition under which a checked signed operator overflows; `None` for operators that cannot
/// overflow, and for division and shifts, which have conditions of their own.
fn overflow_condition(pool: &mut TermPool, op: BinOp, a: Term, b: Term) -> Option<Term> {
    match op {
        BinOp::AddS => Some(pool.sadd_overflows(a, b)),
        BinOp::SubS => Some(pool.ssub_overflows(a, b)),
        BinOp::MulS => Some(pool.smul_overflows(a, b)),
        _ => None,
    }
}

fn division_traps(pool: &mut TermPool, op: BinOp, a: Term, b: Term, traps: &mut Traps) {
    let zero = pool.bv(pool.width(b), 0);
    let by_zero = pool.eq(b, zero);
    traps.add(pool, TrapKind::DivisionByZero, by_zero);
    if matches!(op, BinOp::DivS | BinOp::RemS) {
        let overflows = pool.sdiv_overflows(a, b);
        traps.add(pool, TrapKind::SignedOverflow, overflows);
    }
}

fn shift_traps(
    pool: &mut TermPool,
    op: BinOp,
    a: Term,
    b: Term,
    overflow: Overflow,
    traps: &mut Traps,
) {
    let width = pool.width(a);
    // A width that the amount's own type cannot hold is never reached.
    if width < 64 && u64::from(width) >> width != 0 {
        return;
    }
    let limit = pool.bv(width, u64::from(width));
    let out_of_range = pool.uge(b, limit);
    traps.add(pool, TrapKind::ShiftRange, out_of_range);
    if op == BinOp::ShlS && overflow == Overflow::Trap {
        // Shifting back shows whether a bit was lost. A negative operand is undefined anyhow.
        let shifted = pool.shl(a, b);
        let back = pool.ashr(shifted, b);
        let lost = pool.neq(back, a);
        let negative = pool.sign_bit(a);
        let overflows = pool.or(lost, negative);
        traps.add(pool, TrapKind::SignedOverflow, overflows);
    }
}

/// A comparison, as a Boolean.
pub fn compare(pool: &mut TermPool, op: CmpOp, a: Term, b: Term) -> Term {
    if pool.sort(a) == Sort::Bool {
        match op {
            CmpOp::Eq => return pool.eq(a, b),
            CmpOp::Ne => return pool.neq(a, b),
            _ => {
                let (a, b) = (as_vector(pool, a), as_vector(pool, b));
                return compare(pool, op, a, b);
            }
        }
    }
    match op {
        CmpOp::Eq => pool.eq(a, b),
        CmpOp::Ne => pool.neq(a, b),
        CmpOp::LtU => pool.ult(a, b),
        CmpOp::LeU => pool.ule(a, b),
        CmpOp::GtU => pool.ugt(a, b),
        CmpOp::GeU => pool.uge(a, b),
        CmpOp::LtS => pool.slt(a, b),
        CmpOp::LeS => pool.sle(a, b),
        CmpOp::GtS => pool.sgt(a, b),
        CmpOp::GeS => pool.sge(a, b),
        CmpOp::FEq => pool.fp_eq(a, b),
        CmpOp::FNe => {
            let equal = pool.fp_eq(a, b);
            pool.not(equal)
        }
        CmpOp::FLt => pool.fp_lt(a, b),
        CmpOp::FLe => pool.fp_le(a, b),
        CmpOp::FGt => pool.fp_lt(b, a),
        CmpOp::FGe => pool.fp_le(b, a),
    }
}

/// The conversion of `a` to type `to`.
pub fn cast(pool: &mut TermPool, op: CastOp, to: Type, a: Term, traps: &mut Traps) -> Term {
    let target = sort_of(to);
    let result = match op {
        CastOp::Trunc => {
            let a = as_vector(pool, a);
            pool.extract(to.bits() - 1, 0, a)
        }
        CastOp::ZExt => {
            let a = as_vector(pool, a);
            pool.zext(a, to.bits())
        }
        CastOp::SExt => {
            let a = as_vector(pool, a);
            pool.sext(a, to.bits())
        }
        CastOp::SToF | CastOp::UToF => {
            let a = as_vector(pool, a);
            match float_sort(to) {
                Some(float) if op == CastOp::SToF => pool.fp_from_signed(float, a),
                Some(float) => pool.fp_from_unsigned(float, a),
                None => a,
            }
        }
        CastOp::FToS => {
            let fits = pool.fp_fits_signed(to.bits(), a);
            let overflows = pool.not(fits);
            traps.add(pool, TrapKind::FloatToInt, overflows);
            pool.fp_to_signed(to.bits(), a)
        }
        CastOp::FToU => {
            let fits = pool.fp_fits_unsigned(to.bits(), a);
            let overflows = pool.not(fits);
            traps.add(pool, TrapKind::FloatToInt, overflows);
            pool.fp_to_unsigned(to.bits(), a)
        }
        CastOp::FToF => match float_sort(to) {
            Some(float) => {
                let result = pool.fp_to_fp(float, a);
                // A NaN that was widened and narrowed again is a quiet one.
                match pool.node(a) {
                    Node::Un(UnaryTerm::FpToFp, original) => computed(pool, result, &[original]),
                    _ => result,
                }
            }
            None => a,
        },
        CastOp::Bits => same_bits(pool, to, a),
    };
    if target == Sort::Bool { as_bool(pool, result) } else { result }
}

fn same_bits(pool: &mut TermPool, to: Type, a: Term) -> Term {
    if pool.sort(a) == sort_of(to) {
        return a;
    }
    let bits = match pool.sort(a) {
        Sort::Float(_) => float_bits(pool, a),
        _ => as_vector(pool, a),
    };
    match float_sort(to) {
        Some(float) => float_from_bits(pool, float, bits),
        None => bits,
    }
}

/// A one-bit vector as a Boolean; a Boolean as it is.
fn as_bool(pool: &mut TermPool, a: Term) -> Term {
    if pool.sort(a) == Sort::Bool { a } else { pool.is_nonzero(a) }
}
