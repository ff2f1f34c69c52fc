//! Cells of arrays: the bytes of a variable that an access reads or writes.
//!
//! # What counts ([002] V-D2)
//! - A variable has cells if it is, or has as a part of it, an array of more than one element. All
//!   its scalars are then its cells. A variable that holds vectors or complex numbers, or has members
//!   that are not aligned, has none.
//! - A definition of cells is a write to an element or a member, or of a part that has several; a
//!   write through a pointer defines those that it hits. An initialiser, the initial value, and a
//!   call that gets the variable's address through a parameter that is no pointer to const define
//!   all of them.
//! - A use is a read of an element or a member by its name. A read of several cells at once, as by a
//!   copy of a struct, reads each of them. A call that gets an address uses none.
//!
//! A definition and a use make a pair if they may meet, as far as the text determines their places in
//! the variable. A definition ends the reach of another one if it surely overwrites it.

use lydian_base::Span;
use lydian_ir::libc::{Family, library_function_of};
use lydian_ir::stmt::Callee;
use lydian_ir::{Body, CType, CTypeId, CTypes, Expr, ExprId, GlobalId, LocalId, Program, Stmt};

use super::def_use::Variable;
use super::graph::{self, Extent};

/// The grain of data flow: what counts as a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grain {
    /// Whole variables.
    Whole,
    /// The cells of those that have some.
    Cells,
}

/// The part of a variable with cells that a definition writes or a use reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The address of the first byte, as an expression of the function.
    pub addr: ExprId,
    /// The number of bytes.
    pub bytes: u64,
    /// The lowest and the highest offset in the variable that the first byte may have.
    pub within: (u64, u64),
    /// The text of the place, or none if it is not known.
    pub text: Span,
    /// Whether that is a bit-field, which has no address of its own.
    pub bits: bool,
    /// Whether it reads one scalar, which lies where its first byte does.
    pub scalar: bool,
}

impl Access {
    /// The bytes of the variable that it covers.
    pub const fn extent(&self) -> Extent {
        Extent { within: self.within, bytes: self.bytes }
    }

    /// Its offset in the variable, if that is always the same.
    pub fn fixed(&self) -> Option<u64> {
        self.extent().fixed()
    }
}

/// Whether a definition of these cells (none: all) may reach a use of those.
pub(super) fn may_meet(definition: Option<&Access>, usage: Option<&Access>) -> bool {
    let (definition, usage) = (definition.map(Access::extent), usage.map(Access::extent));
    graph::may_meet(definition.as_ref(), usage.as_ref())
}

/// Whether a definition of cells overwrites all that another one defines.
pub(super) fn overwrites(definition: Option<&Access>, other: Option<&Access>) -> bool {
    let (definition, other) = (definition.map(Access::extent), other.map(Access::extent));
    graph::overwrites(definition.as_ref(), other.as_ref())
}

/// Whether a variable of this type has cells.
pub fn has_cells(types: &CTypes, ty: CTypeId) -> bool {
    types.size(ty).is_some_and(|size| size > 0) && has_array(types, ty) && is_plain(types, ty)
}

/// Whether a local has cells.
pub fn local_has_cells(program: &Program, body: &Body, local: LocalId) -> bool {
    has_cells(&program.types, body.locals[local].ty)
}

/// Whether a global has cells.
pub fn global_has_cells(program: &Program, global: GlobalId) -> bool {
    has_cells(&program.types, program.globals[global].ty)
}

/// Whether a variable has cells.
pub fn variable_has_cells(program: &Program, body: &Body, variable: Variable) -> bool {
    match variable {
        Variable::Local(local) => local_has_cells(program, body, local),
        Variable::Global(global) => global_has_cells(program, global),
    }
}

fn has_array(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Array { element, length } => {
            length.is_some_and(|length| length > 1) || has_array(types, *element)
        }
        CType::Record(record) => {
            types.records[*record].fields.iter().any(|field| has_array(types, field.ty))
        }
        _ => false,
    }
}

fn is_plain(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Vector { .. } | CType::Complex { .. } => false,
        CType::Array { element, .. } => is_plain(types, *element),
        CType::Record(record) => types.records[*record].fields.iter().all(|field| {
            let aligned = field.bit_offset % (8 * types.align(field.ty).max(1)) == 0;
            (aligned || field.bits.is_some()) && is_plain(types, field.ty)
        }),
        _ => true,
    }
}

/// The largest number of which the offsets of all scalars of a variable are multiples.
pub fn unit(types: &CTypes, ty: CTypeId) -> u64 {
    match places(types, ty) {
        0 => types.size(ty).unwrap_or(1).max(1),
        unit => unit,
    }
}

/// The greatest common divisor of the offsets of the scalars, 0 if all are at 0.
fn places(types: &CTypes, ty: CTypeId) -> u64 {
    match types.get(ty) {
        CType::Array { element, length } => {
            let own = places(types, *element);
            match length {
                Some(0 | 1) => own,
                _ => gcd(own, types.size(*element).unwrap_or(1)),
            }
        }
        CType::Record(record) => types.records[*record]
            .fields
            .iter()
            .fold(0, |unit, field| gcd(unit, gcd(field.bit_offset / 8, places(types, field.ty)))),
        _ => 0,
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The access of these bytes at an address that lies in a variable by its form.
pub(super) fn access(
    program: &Program,
    body: &Body,
    (addr, bytes): (ExprId, u64),
    text: Span,
    scalar: bool,
) -> Access {
    let within = within(program, body, addr);
    let text = if text.is_none() { body.source.exprs[addr] } else { text };
    Access { addr, bytes, within, text, bits: false, scalar }
}

/// The lowest and the highest offset that an address may have in its variable.
fn within(program: &Program, body: &Body, addr: ExprId) -> (u64, u64) {
    match &body.exprs[addr] {
        Expr::Field { base, record, field } => {
            let (low, high) = within(program, body, *base);
            let offset = program.types.records[*record].fields[*field as usize].bit_offset / 8;
            (low.saturating_add(offset), high.saturating_add(offset))
        }
        Expr::Index { base, index, size, bound } => {
            let (low, high) = within(program, body, *base);
            match (&body.exprs[*index], bound) {
                (Expr::Const(_, bits), _) if *bits <= u128::from(u32::MAX) => {
                    let offset = size.saturating_mul(*bits as u64);
                    (low.saturating_add(offset), high.saturating_add(offset))
                }
                (_, Some(bound)) => {
                    (low, high.saturating_add(size.saturating_mul(bound.saturating_sub(1))))
                }
                _ => (0, ANYWHERE),
            }
        }
        Expr::Cast(_, _, inner) => within(program, body, *inner),
        Expr::AddrLocal(_) | Expr::AddrGlobal(_) => (0, 0),
        _ => (0, ANYWHERE),
    }
}

/// An offset beyond any variable.
const ANYWHERE: u64 = 1 << 62;

/// An access through a pointer, which may be anywhere.
pub(super) fn through_pointer(addr: ExprId, bytes: u64) -> Access {
    Access { addr, bytes, within: (0, ANYWHERE), text: Span::NONE, bits: false, scalar: false }
}

/// The address that a call of a library function on memory writes to, by the table of library
/// functions. Writes of other functions through pointers are not known.
pub fn written_by_library(program: &Program, call: &Stmt) -> Option<ExprId> {
    let Stmt::Call { callee: Callee::Direct(callee), args, .. } = call else { return None };
    let row = library_function_of(&program.functions[*callee])?;
    let written = row.effects.filter(|_| row.family == Family::Memory)?.writes;
    args.get(written.positions().next()?).copied()
}

/// The address that a statement writes to through a pointer, and the number of bytes. A library
/// function counts as writing one byte.
pub fn destination(program: &Program, stmt: &Stmt) -> Option<(ExprId, u64)> {
    match stmt {
        Stmt::Call { .. } => written_by_library(program, stmt).map(|addr| (addr, 1)),
        other => written(program, other),
    }
}

/// The address that a statement other than a call writes to, and the number of bytes.
pub fn written(program: &Program, stmt: &Stmt) -> Option<(ExprId, u64)> {
    match stmt {
        Stmt::Store { addr, ty, .. } => Some((*addr, program.types.target.stored_bytes(*ty))),
        Stmt::StoreBits { addr, field, .. } => Some((*addr, field.bytes())),
        Stmt::Copy { dst, size, .. } | Stmt::Zero { dst, size } => Some((*dst, *size)),
        _ => None,
    }
}
