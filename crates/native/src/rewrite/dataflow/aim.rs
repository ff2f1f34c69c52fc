//! Where the text has a write through a pointer that may hit a variable.

use lydian_base::{EntityId, Span};
use lydian_ir::cexact::{Names, ScopedNames};
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Body, CType, CTypeId, Expr, ExprId, FuncId, Program, RecordId, Stmt, StmtId};
use lydian_objective::dataflow::Variable;
use lydian_objective::dataflow::cells::written_by_library;

use crate::rewrite::NO_PLACE;
use crate::rewrite::units::{Host, Sequences, Units};

/// A write through a pointer as the text has it.
pub(in crate::rewrite) struct Aim {
    /// The whole expression.
    pub(in crate::rewrite) around: Span,
    written: Written,
    /// The variable's address there, and its size.
    pub(in crate::rewrite) name: String,
    pub(in crate::rewrite) size: u64,
    /// How many bytes from its start the variable is written to if it is hit, where its type says so.
    further: Option<u64>,
}

impl Aim {
    /// Whether the variable is hit, in C, `number` being what [`Self::keep`] gave.
    pub(in crate::rewrite) fn hits(&self, number: usize) -> String {
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
    pub(in crate::rewrite) fn keep(&self, units: &mut Units<'_>, sequences: &Sequences) -> usize {
        match self.written {
            Written::Place(place) => units.keep_address(place, sequences).0,
            Written::Argument(text) => {
                let (number, is_new) = units.keep_value(text);
                let keep = format!("lydian_held{number} = (unsigned long)lydian_k, ");
                units.record_late(text, false, if is_new { &keep } else { "" }, sequences, &[]);
                number
            }
        }
    }
}

/// Where a write through a pointer has its address.
#[derive(Clone, Copy)]
enum Written {
    /// The text of the place.
    Place(Span),
    /// The text of the argument that points to it.
    Argument(Span),
}

/// How the text has a write through a pointer that may hit a variable.
pub(in crate::rewrite) fn aim(
    program: &Program,
    function: FuncId,
    body: &Body,
    units: &Units<'_>,
    stmt: StmtId,
    variable: Variable,
) -> Result<Aim, &'static str> {
    let Host::Around(around) = units.host(stmt, body.source.stmts[stmt])? else {
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
                true => Written::Place(text),
                false => Written::Argument(text),
            }
        }
        _ => {
            let at = Point::Stmt(stmt);
            let roots = body.source.roots.values();
            let mut places = roots.filter(|root| root.kind == RootKind::Address);
            let place = places.find(|root| root.points().any(|point| point == at));
            Written::Place(place.map(|root| root.span).filter(|s| !s.is_none()).ok_or(NO_PLACE)?)
        }
    };
    let text = match written {
        Written::Place(text) | Written::Argument(text) => text,
    };
    if crate::rewrite::scan::has_compound_literal(units.text_of(text)) {
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
    let further = further(program, body, stmt, ty);
    let name = name.ok_or("it has no name where a pointer may reach it")?;
    let size = size.ok_or("its size is not known")?;
    Ok(Aim { around, written, name, size, further })
}

/// How many bytes from the start of a variable of this type a statement writes if it hits it: a scalar
/// of the type is written as a whole, and a member of a record lies where the record has it. None
/// where there may be several such places.
fn further(program: &Program, body: &Body, stmt: StmtId, ty: CTypeId) -> Option<u64> {
    let Stmt::Store { addr, ty: scalar, .. } = &body.stmts[stmt] else { return None };
    match (member(program, body, *addr), program.types.get(ty)) {
        (Some((record, further)), CType::Record(own)) if record == *own => Some(further),
        _ if is_member(body, *addr) => None,
        _ => (program.types.scalar(ty) == Some(*scalar)).then_some(0),
    }
}

/// The record of which an address is a member, the one nearest to the pointer, and where in it that
/// lies, if that is one place.
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
