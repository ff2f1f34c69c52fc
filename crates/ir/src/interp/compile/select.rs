//! Which operation computes an operator at a width, where there is one.

use crate::interp::code::Op;
use crate::interp::slots::Slot;
use crate::program::arith::{mask, signed};
use crate::program::expr::{BinOp, CastOp, CmpOp, Type};

/// An operation on two slots.
pub(super) type Two = fn(Slot, Slot, Slot) -> Op;
/// An operation on a slot and a constant.
pub(super) type WithConstant = fn(Slot, Slot, u64) -> Op;
/// A jump on two slots.
pub(super) type JumpTwo = fn(Slot, Slot, u32) -> Op;
/// A jump on a slot and a constant.
pub(super) type JumpConstant = fn(Slot, u32, u64) -> Op;

/// Whether the operands may change places. Where overflow is checked they may too: the operation
/// is the same.
pub(super) const fn commutes(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, AddU | AddS | MulU | MulS | And | Or | Xor)
}

/// The operation for an operator, if signed overflow is checked or not.
pub(super) fn binary(op: BinOp, ty: Type, checked: bool) -> Option<Two> {
    use BinOp::*;
    let bits = ty.bits();
    let pick = |narrow: Two, wide: Two| match bits {
        32 => Some(narrow),
        64 => Some(wide),
        _ => None,
    };
    let any = |make: Two| (bits <= 64).then_some(make);
    let make = match op {
        AddS if checked => pick(Op::CheckedAdd32, Op::CheckedAdd64),
        SubS if checked => pick(Op::CheckedSub32, Op::CheckedSub64),
        MulS if checked => pick(Op::CheckedMul32, Op::CheckedMul64),
        ShlS if checked => pick(Op::CheckedShl32, Op::CheckedShl64),
        AddU | AddS => pick(Op::Add32, Op::Add64),
        SubU | SubS => pick(Op::Sub32, Op::Sub64),
        MulU | MulS => pick(Op::Mul32, Op::Mul64),
        DivU => any(Op::DivU),
        RemU => any(Op::RemU),
        DivS => pick(Op::DivS32, Op::DivS64),
        RemS => pick(Op::RemS32, Op::RemS64),
        ShlU | ShlS => pick(Op::Shl32, Op::Shl64),
        ShrU => pick(Op::ShrU32, Op::ShrU64),
        ShrS => pick(Op::ShrS32, Op::ShrS64),
        And => any(Op::And),
        Or => any(Op::Or),
        Xor => any(Op::Xor),
        FAdd => pick(Op::FAdd32, Op::FAdd64),
        FSub => pick(Op::FSub32, Op::FSub64),
        FMul => pick(Op::FMul32, Op::FMul64),
        FDiv => pick(Op::FDiv32, Op::FDiv64),
    };
    make.filter(|_| is_native(op, ty))
}

/// Whether a float operator's type is one of the processor's.
fn is_native(op: BinOp, ty: Type) -> bool {
    use BinOp::*;
    !matches!(op, FAdd | FSub | FMul | FDiv) || matches!(ty, Type::F32 | Type::F64)
}

/// The operation with a constant as the right operand, and the constant as it wants it. Never one
/// that traps.
pub(super) fn constant(
    op: BinOp,
    ty: Type,
    constant: u128,
    checked: bool,
) -> Option<(WithConstant, u64)> {
    use BinOp::*;
    let bits = ty.bits();
    if bits > 64 || (checked && matches!(op, MulS | ShlS)) {
        return None;
    }
    let pick = |narrow: WithConstant, wide: WithConstant| match bits {
        32 => Some(narrow),
        64 => Some(wide),
        _ => None,
    };
    let k = constant as u64;
    if checked && matches!(op, AddS | SubS) {
        let make = pick(Op::CheckedAddI32, Op::CheckedAddI64)?;
        let negative = (constant.wrapping_neg() & mask(bits)) as u64;
        return match op {
            AddS => Some((make, k)),
            // The least number has no negative.
            _ => (negative != k || k == 0).then_some((make, negative)),
        };
    }
    let make: Option<WithConstant> = match op {
        AddU | AddS => pick(Op::AddI32, Op::AddI64),
        SubU | SubS => {
            let negative = (constant.wrapping_neg() & mask(bits)) as u64;
            return pick(Op::AddI32, Op::AddI64).map(|make| (make, negative));
        }
        MulU | MulS => pick(Op::MulI32, Op::MulI64),
        And => Some(Op::AndI),
        Or => Some(Op::OrI),
        Xor => Some(Op::XorI),
        ShlU | ShlS if k < u64::from(bits) => pick(Op::ShlI32, Op::ShlI64),
        ShrU if k < u64::from(bits) => Some(Op::ShrUI),
        ShrS if k < u64::from(bits) => pick(Op::ShrSI32, Op::ShrSI64),
        DivU if k != 0 => Some(Op::DivUI),
        RemU if k != 0 => Some(Op::RemUI),
        DivS if k != 0 && signed(bits, constant) != -1 => pick(Op::DivSI32, Op::DivSI64),
        RemS if k != 0 && signed(bits, constant) != -1 => pick(Op::RemSI32, Op::RemSI64),
        _ => None,
    };
    make.map(|make| (make, k))
}

/// The test for equality with a constant.
pub(super) fn equality(op: CmpOp, ty: Type) -> Option<WithConstant> {
    match op {
        CmpOp::Eq if ty.bits() <= 64 => Some(Op::EqI),
        CmpOp::Ne if ty.bits() <= 64 => Some(Op::NeI),
        _ => None,
    }
}

/// The operation for a comparison, and whether its operands change places.
pub(super) fn compare(op: CmpOp, ty: Type) -> Option<(Two, bool)> {
    use CmpOp::*;
    let pick = |narrow: Two, wide: Two| match ty.bits() {
        32 => Some(narrow),
        64 => Some(wide),
        _ => None,
    };
    let float = |narrow: Two, wide: Two| match ty {
        Type::F32 => Some(narrow),
        Type::F64 => Some(wide),
        _ => None,
    };
    let any = |make: Two| (ty.bits() <= 64).then_some(make);
    let make = match op {
        Eq => any(Op::Eq),
        Ne => any(Op::Ne),
        LtU | GtU => any(Op::LtU),
        LeU | GeU => any(Op::LeU),
        LtS | GtS => pick(Op::LtS32, Op::LtS64),
        LeS | GeS => pick(Op::LeS32, Op::LeS64),
        FEq => float(Op::FEq32, Op::FEq64),
        FNe => float(Op::FNe32, Op::FNe64),
        FLt | FGt => float(Op::FLt32, Op::FLt64),
        FLe | FGe => float(Op::FLe32, Op::FLe64),
    };
    let swapped = matches!(op, GtU | GeU | GtS | GeS | FGt | FGe);
    make.map(|make| (make, swapped))
}

/// The jump that is taken where a comparison has this outcome, and whether its operands change
/// places.
pub(super) fn jump(op: CmpOp, ty: Type, outcome: bool) -> Option<(JumpTwo, bool)> {
    use CmpOp::*;
    if ty.bits() > 64 {
        return None;
    }
    let pick = |narrow: JumpTwo, wide: JumpTwo| match ty.bits() {
        32 => Some(narrow),
        64 => Some(wide),
        _ => None,
    };
    // `a < b` fails where `b <= a`.
    let (less, or_equal) = match op {
        Eq | Ne => {
            let make: JumpTwo = if (op == Eq) == outcome { Op::JEq } else { Op::JNe };
            return Some((make, false));
        }
        LtU | LtS => (true, false),
        GtU | GtS => (true, true),
        LeU | LeS => (false, false),
        GeU | GeS => (false, true),
        _ => return None,
    };
    let (less, swapped) = if outcome { (less, or_equal) } else { (!less, !or_equal) };
    let make = match (op, less) {
        (LtU | GtU | LeU | GeU, true) => Some(Op::JLtU as JumpTwo),
        (LtU | GtU | LeU | GeU, false) => Some(Op::JLeU as JumpTwo),
        (_, true) => pick(Op::JLtS32, Op::JLtS64),
        (_, false) => pick(Op::JLeS32, Op::JLeS64),
    };
    make.map(|make| (make, swapped))
}

/// The same for a comparison with a constant on the right.
pub(super) fn jump_constant(
    op: CmpOp,
    ty: Type,
    constant: u128,
    outcome: bool,
) -> Option<(JumpConstant, u64)> {
    use CmpOp::*;
    let bits = ty.bits();
    if bits > 64 {
        return None;
    }
    let is_signed = matches!(op, LtS | LeS | GtS | GeS);
    // `a <= k` is `a < k + 1`, unless that is too large.
    let (below, bound) = match op {
        Eq | Ne => {
            let make: JumpConstant = if (op == Eq) == outcome { Op::JEqI } else { Op::JNeI };
            return Some((make, constant as u64));
        }
        LtU | LtS => (true, constant),
        GeU | GeS => (false, constant),
        LeU | LeS => (true, next(bits, constant, is_signed)?),
        GtU | GtS => (false, next(bits, constant, is_signed)?),
        _ => return None,
    };
    let make: JumpConstant = match (is_signed, bits, below == outcome) {
        (false, _, true) => Op::JLtUI,
        (false, _, false) => Op::JGeUI,
        (true, 32, true) => Op::JLtS32I,
        (true, 32, false) => Op::JGeS32I,
        (true, 64, true) => Op::JLtS64I,
        (true, 64, false) => Op::JGeS64I,
        _ => return None,
    };
    Some((make, bound as u64))
}

/// The number after one, if the type has it.
fn next(bits: u32, constant: u128, is_signed: bool) -> Option<u128> {
    let greatest = if is_signed { mask(bits) >> 1 } else { mask(bits) };
    (constant != greatest).then(|| (constant + 1) & mask(bits))
}

/// The comparison with its operands in the other order.
pub(super) const fn mirrored(op: CmpOp) -> CmpOp {
    use CmpOp::*;
    match op {
        LtU => GtU,
        LeU => GeU,
        GtU => LtU,
        GeU => LeU,
        LtS => GtS,
        LeS => GeS,
        GtS => LtS,
        GeS => LeS,
        FLt => FGt,
        FLe => FGe,
        FGt => FLt,
        FGe => FLe,
        Eq | Ne | FEq | FNe => op,
    }
}

/// The operation for a conversion between types of one slot each.
pub(super) fn cast(op: CastOp, from: Type, to: Type) -> Option<fn(Slot, Slot) -> Op> {
    use CastOp::*;
    Some(match (op, from, to) {
        (SExt, Type::Int(8), Type::Int(32)) => Op::SExt8To32,
        (SExt, Type::Int(16), Type::Int(32)) => Op::SExt16To32,
        (SExt, Type::Int(8), Type::Int(64)) => Op::SExt8To64,
        (SExt, Type::Int(16), Type::Int(64)) => Op::SExt16To64,
        (SToF, Type::Int(32), Type::F64) => Op::S32ToF64,
        (SToF, Type::Int(64), Type::F64) => Op::S64ToF64,
        (UToF, Type::Int(1..=64), Type::F64) => Op::U64ToF64,
        (FToF, Type::F32, Type::F64) => Op::F32ToF64,
        (FToF, Type::F64, Type::F32) => Op::F64ToF32,
        (FToS, Type::F64, Type::Int(32)) => Op::F64ToS32,
        (FToS, Type::F64, Type::Int(64)) => Op::F64ToS64,
        _ => return None,
    })
}
