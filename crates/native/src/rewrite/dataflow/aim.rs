//! Where the text has a write through a pointer that may hit a variable.

use lydian_base::{EntityId, Span};
use lydian_ir::cexact::{Names, ScopedNames};
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Body, FuncId, Program, Stmt, StmtId};
use lydian_objective::dataflow::Variable;

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
    /// Whether it writes a scalar of the variable's own type, and so all of it or nothing.
    is_whole: bool,
}

impl Aim {
    /// Whether the variable is hit, in C, `number` being what [`Self::keep`] gave.
    pub(in crate::rewrite) fn hits(&self, number: usize) -> String {
        let Self { name, size, .. } = self;
        match self.is_whole {
            true => format!("lydian_held{number} == (unsigned long){name}"),
            false => format!("lydian_held{number} - (unsigned long){name} < {size}ul"),
        }
    }

    /// Keeps the address that is written to in `lydian_heldN`; N.
    pub(in crate::rewrite) fn keep(&self, units: &mut Units<'_>, sequences: &Sequences) -> usize {
        match self.written {
            Written::Place(place) => units.keep_address(place, sequences).0,
            Written::Argument(text) => {
                let (number, is_new) = units.keep_value(text);
                let keep = format!("lydian_held{number} = (unsigned long)lydian_k, ");
                units.record_late(text, false, if is_new { &keep } else { "" }, sequences);
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
        Stmt::Call { args, .. } => {
            let text = args.first().map_or(Span::NONE, |arg| body.source.exprs[*arg]);
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
    if crate::rewrite::has_compound_literal(units.text_of(text)) {
        return Err("its text has a compound literal, which must not move into a block");
    }
    let names = ScopedNames::new(program, function, body, around.start, &|_| None);
    let types = &program.types;
    let (name, size, scalar) = match variable {
        Variable::Local(local) => {
            let (name, ty) = (names.local(local), body.locals[local].ty);
            (name.map(|name| format!("&{name}")), types.size(ty), types.scalar(ty))
        }
        Variable::Global(global) => {
            let (name, found) =
                (format!("lydian_at_g{}", global.index()), &program.globals[global]);
            (Some(name), Some(found.size), types.scalar(found.ty))
        }
    };
    let is_whole = matches!(body.stmts[stmt], Stmt::Store { ty, .. } if scalar == Some(ty));
    let name = name.ok_or("it has no name where a pointer may reach it")?;
    let size = size.ok_or("its size is not known")?;
    Ok(Aim { around, written, name, size, is_whole })
}
