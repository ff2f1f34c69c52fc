//! Which expressions cannot trap on any state.
//!
//! The answer errs on the side of "may". It depends only on the expression: no flow is looked at.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use crate::program::Program;
use crate::program::arith::{self, Overflow};
use crate::program::expr::{BinOp, CastOp, Expr, ExprArena, ExprId, Type, UnOp};
use crate::program::function::{Body, Storage};

/// The place of an address that is a constant offset into a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct VariableOffset {
    /// Bytes of the variable.
    size: u64,
    /// Offset into it.
    offset: i128,
}

/// Whether evaluating an expression of `arena`, which is the body's or extends it, traps on some
/// state. Loads of variables in scope do not, if they stay inside at a constant offset; nor do
/// division and shifts by suitable constants. Linear in the expression, and in the arena only where it has
/// such operators.
pub fn may_trap(
    program: &Program,
    body: &Body,
    arena: &ExprArena,
    expr: ExprId,
    overflow: Overflow,
) -> bool {
    let types = OnceCell::new();
    let types = || types.get_or_init(|| body.types_in(arena));
    let mut waiting = BTreeSet::from([expr]);
    // Operands have smaller ids than their users, so each is looked at once.
    while let Some(id) = waiting.pop_last() {
        if node_traps(program, body, arena, &|| types()[id], id, overflow) {
            return true;
        }
        arena[id].for_each_operand(|operand| _ = waiting.insert(operand));
    }
    false
}

/// Whether the node itself may trap, its operands having values.
fn node_traps(
    program: &Program,
    body: &Body,
    arena: &ExprArena,
    ty: &dyn Fn() -> Type,
    id: ExprId,
    overflow: Overflow,
) -> bool {
    let checked = overflow == Overflow::Trap;
    match &arena[id] {
        Expr::Load { ty, addr, .. } => {
            let bytes = program.types.target.stored_bytes(*ty);
            !is_inside(program, body, arena, *addr, bytes)
        }
        Expr::LoadBits { field, addr } => !is_inside(program, body, arena, *addr, field.bytes()),
        Expr::Unary(UnOp::NegS, _) => checked,
        Expr::Binary(op, _, b) if op.may_trap() => {
            let bits = ty().bits();
            let suits = match (&arena[*b], op) {
                (Expr::Const(_, amount), BinOp::ShlU | BinOp::ShrU | BinOp::ShrS) => {
                    *amount < u128::from(bits)
                }
                (Expr::Const(_, amount), BinOp::ShlS) => !checked && *amount < u128::from(bits),
                (Expr::Const(_, divisor), BinOp::DivU | BinOp::RemU) => *divisor != 0,
                (Expr::Const(_, divisor), _) => {
                    *divisor != 0 && arith::signed(bits, *divisor) != -1
                }
                _ => false,
            };
            !suits
        }
        Expr::Binary(BinOp::AddS | BinOp::SubS | BinOp::MulS, ..) => checked,
        Expr::Cast(CastOp::FToS | CastOp::FToU, ..) => true,
        _ => false,
    }
}

/// Whether `bytes` bytes at an address of `arena`, which is the body's or extends it, lie in a
/// variable, whatever the state.
pub fn is_inside(
    program: &Program,
    body: &Body,
    arena: &ExprArena,
    addr: ExprId,
    bytes: u64,
) -> bool {
    variable_offset(program, body, arena, addr)
        .is_some_and(|at| at.offset >= 0 && at.offset + i128::from(bytes) <= i128::from(at.size))
}

fn variable_offset(
    program: &Program,
    body: &Body,
    arena: &ExprArena,
    addr: ExprId,
) -> Option<VariableOffset> {
    let mut offset = 0i128;
    let mut at = addr;
    loop {
        match arena.get(at)? {
            Expr::AddrLocal(local) => {
                let Storage::Memory { size, .. } = body.locals.get(*local)?.storage else {
                    return None;
                };
                return Some(VariableOffset { size, offset });
            }
            Expr::AddrGlobal(global) => {
                let size = program.globals.get(*global)?.size;
                return Some(VariableOffset { size, offset });
            }
            Expr::Field { base, record, field } => {
                let record = program.types.records.get(*record)?;
                offset += i128::from(record.fields.get(*field as usize)?.bit_offset / 8);
                at = *base;
            }
            Expr::Index { base, index, size, .. } => {
                let Expr::Const(ty, index) = arena.get(*index)? else { return None };
                let index = arith::signed(ty.bits(), *index);
                offset = offset.checked_add(index.checked_mul(i128::from(*size))?)?;
                at = *base;
            }
            _ => return None,
        }
    }
}
