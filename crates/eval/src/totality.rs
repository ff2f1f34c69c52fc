//! Which expressions surely do not trap, from their shape alone.
//!
//! A mutant of a condition that is not reached has a value only where neither can trap
//! ([`lydian_objective::Pred::Mutant`]), which must not depend on the state.

use lydian_ir::{BinOp, Body, CTypes, CastOp, Expr, ExprArena, ExprId, Storage};

use crate::arith::Overflow;
use crate::expr::field_offset;

/// What is needed to look at an expression's shape.
#[derive(Clone, Copy)]
pub struct Totality<'a> {
    /// The C types.
    pub types: &'a CTypes,
    /// The function's body.
    pub body: &'a Body,
    /// Its expressions, or an arena that extends them.
    pub exprs: &'a ExprArena,
    /// What signed overflow does.
    pub overflow: Overflow,
    /// The size of a global in bytes.
    pub global_size: &'a dyn Fn(lydian_ir::GlobalId) -> u64,
}

impl Totality<'_> {
    /// Whether evaluating the expression traps on no state on which its locals are alive.
    pub fn cannot_trap(&self, expr: ExprId) -> bool {
        let own = match &self.exprs[expr] {
            Expr::Load { ty, addr, .. } => self.is_inside(*addr, ty.bytes()),
            Expr::LoadBits { field, addr } => self.is_inside(*addr, field.bytes()),
            Expr::Binary(op, _, b) => self.operator_is_total(*op, *b),
            Expr::Unary(op, _) => {
                self.overflow == Overflow::Wraps || *op != lydian_ir::UnOp::NegS
            }
            Expr::Cast(op, ..) => !matches!(op, CastOp::FToS | CastOp::FToU),
            _ => true,
        };
        if !own {
            return false;
        }
        let mut total = true;
        self.exprs[expr].for_each_operand(|operand| total = total && self.cannot_trap(operand));
        total
    }

    fn operator_is_total(&self, op: BinOp, right: ExprId) -> bool {
        let constant = match &self.exprs[right] {
            Expr::Const(ty, bits) => Some((*ty, *bits)),
            _ => None,
        };
        match op {
            BinOp::AddS | BinOp::SubS | BinOp::MulS => self.overflow == Overflow::Wraps,
            BinOp::ShlS if self.overflow == Overflow::Traps => false,
            BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS => {
                constant.is_some_and(|(ty, bits)| bits < u128::from(ty.bits()))
            }
            BinOp::DivU | BinOp::RemU => constant.is_some_and(|(_, bits)| bits != 0),
            BinOp::DivS | BinOp::RemS => constant.is_some_and(|(ty, bits)| {
                bits != 0 && bits != u128::MAX >> (128 - ty.bits())
            }),
            _ => true,
        }
    }

    /// Whether so many bytes at an address are surely within a variable.
    fn is_inside(&self, addr: ExprId, bytes: u64) -> bool {
        let mut at = addr;
        let mut offset = 0u64;
        loop {
            let size = match &self.exprs[at] {
                Expr::Field { base, record, field } => {
                    offset = offset.saturating_add(field_offset(self.types, *record, *field));
                    at = *base;
                    continue;
                }
                Expr::Index { base, index, size, .. } => {
                    let Expr::Const(_, index) = self.exprs[*index] else { return false };
                    let Ok(index) = u64::try_from(index) else { return false };
                    let Some(distance) = index.checked_mul(*size) else { return false };
                    offset = offset.saturating_add(distance);
                    at = *base;
                    continue;
                }
                Expr::AddrLocal(local) => match self.body.locals[*local].storage {
                    Storage::Memory { size, .. } => size,
                    Storage::Register(_) => return false,
                },
                Expr::AddrGlobal(global) => (self.global_size)(*global),
                _ => return false,
            };
            return offset.checked_add(bytes).is_some_and(|end| end <= size);
        }
    }
}
