//! Alias analysis: the variables that a write through a pointer may hit.
//!
//! A local may be hit by a pointer that may hold its address. Such pointers are made from `&v` in the
//! function. Once the address has left the function's own variables (it is stored, or passed to a
//! function that keeps it: [`super::escape`]), every pointer that is loaded from memory or returned
//! by a call may hold it, too. A global whose address is taken somewhere may be hit by any pointer.
//!
//! The types must fit, too. A local fits if the record whose member is written lies in it, or a
//! scalar of the written type does. A global must be such a scalar itself. So writes through pointers
//! of other types are missed, except `memcpy` and its like on locals.

use lydian_base::Span;
use lydian_ir::{
    Body, CType, CTypeId, Expr, ExprId, GlobalId, LocalId, Program, RecordId, Stmt, StmtId, Type,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Grain, local_has_cells, written_by_library};
use super::def_use::{Variable, is_variable};
use super::escape::{EscapeAnalysis, EscapeSet, addresses_taken};
use super::globals::TrackedGlobals;

/// The most writes through pointers that one function may make to one global for them to count.
const WRITES: usize = 64;

/// The variables that may be hit in one function.
pub(super) struct Aliases<'a> {
    program: &'a Program,
    body: &'a Body,
    /// The locals whose addresses are values somewhere, with the holders of the addresses.
    locals: Vec<(LocalId, EscapeSet)>,
    /// The globals of which the same is true somewhere.
    globals: Vec<GlobalId>,
    /// Whether cells are told apart.
    cells: bool,
    /// The places where the text takes a variable argument.
    variadic: &'a FxHashSet<Span>,
    /// Globals that too many writes may hit.
    given_up: FxHashSet<GlobalId>,
}

/// The type of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WrittenType {
    Scalar(Type),
    Record(RecordId),
    Bytes,
}

impl<'a> Aliases<'a> {
    pub(super) fn of(program: &'a Program, body: &'a Body, globals: &'a TrackedGlobals) -> Self {
        let mut of: Vec<GlobalId> = globals.exposed.iter().copied().collect();
        of.sort_unstable();
        let taken = addresses_taken(program, body);
        let cells = globals.grain == Grain::Cells;
        let counts = |local: &LocalId| {
            is_variable(body, *local) && (!cells || local_has_cells(program, body, *local))
        };
        let mut all: Vec<LocalId> = taken.iter().copied().filter(counts).collect();
        all.sort_unstable();
        let analysis = EscapeAnalysis { program, body, taken: &taken, escapes: &globals.escapes };
        let locals = all.into_iter().map(|local| (local, analysis.of_local(local))).collect();
        let given_up = FxHashSet::default();
        let variadic = &globals.variadic;
        let mut this = Self { program, body, locals, globals: of, cells, variadic, given_up };
        this.give_up();
        this
    }

    /// Leaves out the globals that too many writes may hit.
    fn give_up(&mut self) {
        let mut counts: FxHashMap<GlobalId, usize> = FxHashMap::default();
        if self.globals.is_empty() {
            return;
        }
        for id in self.body.stmts.ids() {
            for variable in self.hit(id) {
                if let Variable::Global(global) = variable {
                    *counts.entry(global).or_default() += 1;
                }
            }
        }
        let many = counts.into_iter().filter(|(_, count)| *count > WRITES);
        self.given_up = many.map(|(global, _)| global).collect();
    }

    /// The variables that a statement may write to through a pointer, in order.
    pub(super) fn hit(&self, stmt: StmtId) -> Vec<Variable> {
        if self.locals.is_empty() && self.globals.is_empty() {
            return Vec::new();
        }
        let Some((addr, written)) = self.written(stmt) else { return Vec::new() };
        let span = self.body.source.stmts[stmt];
        if plain_variable(self.body, addr) || self.variadic.contains(&span) {
            return Vec::new();
        }
        let in_scope = |local: LocalId| {
            let scope = self.body.locals[local].scope;
            span.is_none() || scope.is_none() || scope.contains(span)
        };
        let locals = self.locals.iter().filter(|(local, holders)| {
            in_scope(*local)
                && holders.may_be(self.body, addr)
                && self.fits(self.body.locals[*local].ty, written)
        });
        let globals = self.globals.iter().filter(|global| {
            let ty = self.program.globals[**global].ty;
            !self.given_up.contains(global)
                && match written {
                    WrittenType::Bytes => false,
                    WrittenType::Record(_) => self.fits(ty, written),
                    // A variable with cells is hit in a cell; another variable must be hit as a
                    // whole.
                    WrittenType::Scalar(_) if self.cells => self.fits(ty, written),
                    WrittenType::Scalar(scalar) => self.program.types.scalar(ty) == Some(scalar),
                }
        });
        let locals = locals.map(|(local, _)| Variable::Local(*local));
        locals.chain(globals.map(|global| Variable::Global(*global))).collect()
    }

    /// The address that a statement writes to and the type of the write, if the place is known.
    fn written(&self, stmt: StmtId) -> Option<(ExprId, WrittenType)> {
        match &self.body.stmts[stmt] {
            Stmt::Store { addr, ty, .. } => {
                Some((*addr, self.record_of(*addr).unwrap_or(WrittenType::Scalar(*ty))))
            }
            Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => {
                Some((*dst, self.record_of(*dst).unwrap_or(WrittenType::Bytes)))
            }
            Stmt::Call { .. } => {
                let addr = written_by_library(self.program, &self.body.stmts[stmt])?;
                Some((addr, WrittenType::Bytes))
            }
            _ => None,
        }
    }

    /// The record whose member an address is, the one nearest to the pointer.
    fn record_of(&self, addr: ExprId) -> Option<WrittenType> {
        match &self.body.exprs[addr] {
            Expr::Field { base, record, .. } => {
                Some(self.record_of(*base).unwrap_or(WrittenType::Record(*record)))
            }
            Expr::Index { base, .. } => self.record_of(*base),
            _ => None,
        }
    }

    /// Whether a variable of this type may hold the write.
    fn fits(&self, ty: CTypeId, written: WrittenType) -> bool {
        if written == WrittenType::Bytes {
            return true;
        }
        let types = &self.program.types;
        let mut rest = vec![ty];
        let mut seen = FxHashSet::default();
        while let Some(ty) = rest.pop() {
            if !seen.insert(ty) {
                continue;
            }
            if let WrittenType::Scalar(scalar) = written
                && types.scalar(ty) == Some(scalar)
            {
                return true;
            }
            match types.get(ty) {
                CType::Array { element, .. } | CType::Complex { element } => rest.push(*element),
                CType::Record(record) => {
                    if written == WrittenType::Record(*record) {
                        return true;
                    }
                    let fields = types.records[*record].fields.iter();
                    rest.extend(fields.filter(|field| field.bits.is_none()).map(|field| field.ty));
                }
                _ => {}
            }
        }
        false
    }
}

/// Whether an address lies in a local or global by its form.
fn plain_variable(body: &Body, addr: ExprId) -> bool {
    match &body.exprs[addr] {
        Expr::AddrLocal(_) | Expr::AddrGlobal(_) => true,
        Expr::Field { base, .. } | Expr::Index { base, .. } => plain_variable(body, *base),
        Expr::Cast(_, _, inner) => plain_variable(body, *inner),
        _ => false,
    }
}
