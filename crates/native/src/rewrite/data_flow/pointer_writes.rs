//! Writes through pointers that may hit a variable, as the text has them.

use lydian_base::{EntityId, Span};
use lydian_ir::cexact::{Names, ScopedNames};
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Body, CType, CTypeId, Expr, ExprId, FuncId, Program, RecordId, Stmt, StmtId};
use lydian_objective::dataflow::Variable;
use lydian_objective::dataflow::cells::written_by_library;

use crate::rewrite::source::scan;
use crate::rewrite::statement_probes::{ProbeHost, SequenceList, StatementProbes};
use crate::rewrite::uninstrumentable::NO_PLACE;

/// A write through a pointer as the text has it.
pub(crate) struct PointerWrite {
    /// The whole expression.
    pub(crate) around: Span,
    written: WriteAddress,
    /// The variable's address there, and its size.
    pub(crate) name: String,
    pub(crate) size: u64,
    /// The offset in bytes at which the variable is written if it is hit, if its type determines
    /// it.
    further: Option<u64>,
}

impl PointerWrite {
    /// The C expression for whether the variable is hit. `number` is the result of [`Self::keep`].
    pub(crate) fn hits(&self, number: usize) -> String {
        let Self { name, size, .. } = self;
        match self.further {
            Some(0) => format!("lydian_held{number} == (unsigned long){name}"),
            Some(further) => {
                format!("lydian_held{number} - {further}ul == (unsigned long){name}")
            }
            None => format!("lydian_held{number} - (unsigned long){name} < {size}ul"),
        }
    }

    /// Keeps the address that is written to in `lydian_heldN`; N.
    pub(crate) fn keep(&self, units: &mut StatementProbes<'_>, sequences: &SequenceList) -> usize {
        match self.written {
            WriteAddress::Place(place) => units.keep_address(place, sequences).0,
            WriteAddress::Argument(text) => {
                let (number, is_new) = units.keep_value(text);
                let keep = format!("lydian_held{number} = (unsigned long)lydian_k, ");
                units.probe_after_calls(
                    text,
                    false,
                    if is_new { &keep } else { "" },
                    sequences,
                    &[],
                );
                number
            }
        }
    }
}

/// Where a write through a pointer has its address.
#[derive(Clone, Copy)]
enum WriteAddress {
    /// The text of the place.
    Place(Span),
    /// The text of the argument that points to it.
    Argument(Span),
}

/// Finds a write through a pointer that may hit a variable in the text.
pub(crate) fn pointer_write(
    program: &Program,
    function: FuncId,
    body: &Body,
    units: &StatementProbes<'_>,
    stmt: StmtId,
    variable: Variable,
) -> Result<PointerWrite, &'static str> {
    let ProbeHost::Around(around) = units.host(stmt, body.source.stmts[stmt])? else {
        return Err("a declaration may write to it through a pointer");
    };
    let written = match &body.stmts[stmt] {
        call @ Stmt::Call { .. } => {
            let pointer = written_by_library(program, call);
            let text = pointer.map_or(Span::NONE, |pointer| body.source.exprs[pointer]);
            if text.is_none() || text == around {
                return Err(NO_PLACE);
            }
            match units.is_addressed(text) {
                true => WriteAddress::Place(text),
                false => WriteAddress::Argument(text),
            }
        }
        _ => {
            let at = Point::Stmt(stmt);
            let roots = body.source.roots.values();
            let mut places = roots.filter(|root| root.kind == RootKind::Address);
            let place = places.find(|root| root.points().any(|point| point == at));
            WriteAddress::Place(
                place.map(|root| root.span).filter(|s| !s.is_none()).ok_or(NO_PLACE)?,
            )
        }
    };
    let text = match written {
        WriteAddress::Place(text) | WriteAddress::Argument(text) => text,
    };
    if scan::has_compound_literal(units.text_of(text)) {
        return Err("its text has a compound literal, which must not move into a block");
    }
    let names = ScopedNames::new(program, function, body, around.start, &|_| None);
    let (name, ty, size) = match variable {
        Variable::Local(local) => {
            let (name, ty) = (names.local(local), body.locals[local].ty);
            (name.map(|name| format!("&{name}")), ty, program.types.size(ty))
        }
        Variable::Global(global) => {
            let (name, found) =
                (format!("lydian_at_g{}", global.index()), &program.globals[global]);
            (Some(name), found.ty, Some(found.size))
        }
    };
    let further = offset_if_hit(program, body, stmt, ty);
    let name = name.ok_or("it has no name where a pointer may reach it")?;
    let size = size.ok_or("its size is not known")?;
    Ok(PointerWrite { around, written, name, size, further })
}

/// The offset in bytes at which a statement writes a variable of this type if it hits it: 0 for a
/// scalar of the type, and the member's offset for a member of the record. `None` if several
/// offsets are possible.
fn offset_if_hit(program: &Program, body: &Body, stmt: StmtId, ty: CTypeId) -> Option<u64> {
    let Stmt::Store { addr, ty: scalar, .. } = &body.stmts[stmt] else { return None };
    match (member(program, body, *addr), program.types.get(ty)) {
        (Some((record, further)), CType::Record(own)) if record == *own => Some(further),
        _ if is_member(body, *addr) => None,
        _ => (program.types.scalar(ty) == Some(*scalar)).then_some(0),
    }
}

/// The record of which an address is a member, the one nearest to the pointer, and the member's
/// offset, if it is constant.
fn member(program: &Program, body: &Body, addr: ExprId) -> Option<(RecordId, u64)> {
    match &body.exprs[addr] {
        Expr::Field { base, record, field } => {
            let fields = &program.types.records[*record].fields;
            let within = fields.get(*field as usize)?.bit_offset / 8;
            match is_member(body, *base) {
                false => Some((*record, within)),
                true => member(program, body, *base).map(|(of, at)| (of, at + within)),
            }
        }
        Expr::Index { base, index, size, .. } => {
            let Expr::Const(_, number) = body.exprs[*index] else { return None };
            let (of, at) = member(program, body, *base)?;
            Some((of, at.checked_add(size.checked_mul(u64::try_from(number).ok()?)?)?))
        }
        _ => None,
    }
}

/// Whether an address is that of a member, or lies in one.
fn is_member(body: &Body, addr: ExprId) -> bool {
    match &body.exprs[addr] {
        Expr::Field { .. } => true,
        Expr::Index { base, .. } => is_member(body, *base),
        _ => false,
    }
}
