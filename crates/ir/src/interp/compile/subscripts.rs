//! Checks that an access by a subscript stays in the object whose declaration is in sight.
//!
//! Memory in the interpreter is as in a machine: an element behind the end of one array may lie in
//! another, and the access finds it there. C does not define such a run. So a load or store by a
//! subscript of a variable's array is preceded by a check of the subscript against the whole variable:
//! `struct { int n; char text[1]; }` in a larger block is no fault, and neither is a row behind the
//! first one of a matrix.

use lydian_base::EntityId;

use crate::program::Program;
use crate::program::expr::{Expr, ExprId};
use crate::program::function::{Body, Storage};
use crate::program::stmt::Stmt;

use super::super::code::Op;
use super::Builder;
use super::values::Val;

/// By expression, whether it is the address of an access.
pub(super) fn accessed(body: &Body) -> Vec<bool> {
    let mut accessed = vec![false; body.exprs.len()];
    for (_, expr) in body.exprs.iter() {
        if let Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } = expr {
            accessed[addr.index()] = true;
        }
    }
    for (_, stmt) in body.stmts.iter() {
        if let Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } = stmt {
            accessed[addr.index()] = true;
        }
    }
    accessed
}

/// An object, and a place in it.
struct Place {
    /// Bytes from the object's start.
    offset: u64,
    /// The object's bytes.
    size: u64,
}

/// The place that an address without variable subscripts is of; none if it is not one in a variable.
fn place(program: &Program, body: &Body, address: ExprId) -> Option<Place> {
    match &body.exprs[address] {
        Expr::AddrGlobal(global) => Some(Place { offset: 0, size: program.globals[*global].size }),
        Expr::AddrLocal(local) => match body.locals[*local].storage {
            Storage::Memory { size, .. } => Some(Place { offset: 0, size }),
            Storage::Register(_) => None,
        },
        Expr::Field { base, record, field } => {
            let of = place(program, body, *base)?;
            let bits = program.types.records[*record].fields[*field as usize].bit_offset;
            Some(Place { offset: of.offset + bits / 8, ..of })
        }
        Expr::Index { base, index, size, .. } => {
            let Expr::Const(_, index) = body.exprs[*index] else { return None };
            let of = place(program, body, *base)?;
            let offset = of.offset.checked_add((index as u64).checked_mul(*size)?)?;
            Some(Place { offset, ..of })
        }
        _ => None,
    }
}

impl Builder<'_, '_> {
    /// Checks a subscript of an access.
    pub(super) fn check_subscript(&mut self, address: ExprId, base: ExprId, index: Val, size: u64) {
        if !self.nodes.is_accessed(address) || size == 0 {
            return;
        }
        let Some(Place { offset, size: whole }) = place(self.program, self.body, base) else {
            return;
        };
        // Elements of the variable in front of this one, and from it on.
        let before = offset / size;
        let (Ok(first), Ok(count)) =
            (u32::try_from(before), u32::try_from(before + whole.saturating_sub(offset) / size))
        else {
            return;
        };
        match index {
            _ if whole <= offset => {}
            Val::Extended(index) => self.emit(Op::InsideS(index.slot, first, count)),
            Val::Slot(index) => self.emit(Op::InsideX(index.slot, first, count)),
            Val::Const(_) | Val::Address { .. } => {}
        }
    }
}
