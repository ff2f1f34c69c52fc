//! Which variables a write through a pointer may hit.
//!
//! A local may be hit by a pointer that may hold its address: what the function makes of `&v`, and
//! once that has left the function's own variables (stored, or passed to a function that keeps it:
//! [`super::holders`]), whatever is loaded from memory or returned by a call. A global whose address is taken somewhere may be hit by any
//! pointer. The types must fit, too: the record whose member is written lies in the variable, or a
//! scalar of the written type does; a global must be such a scalar itself. So a program that reaches a variable through pointers of other
//! types (but for `memcpy` and its like, on locals) writes unseen.

use lydian_base::Span;
use lydian_ir::{
    Body, CType, CTypeId, Expr, ExprId, GlobalId, GlobalInit, LocalId, Program, RecordId,
    RelocationTarget, Stmt, StmtId, Type,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cells::{Grain, local_has_cells, written_by_library};
use super::events::Globals;
use super::holders::{Holders, Reader, addresses_taken, forgets_addresses};
use super::{Variable, is_variable};

/// The most writes through pointers that one function may make to one global for them to count.
const WRITES: usize = 64;

/// What may be hit in one function.
pub(super) struct Aliases<'a> {
    program: &'a Program,
    body: &'a Body,
    /// The locals whose addresses are values somewhere, with who may hold them.
    locals: Vec<(LocalId, Holders)>,
    /// The globals of which the same is true somewhere.
    globals: Vec<GlobalId>,
    /// Whether cells are told apart.
    cells: bool,
    /// Where the text takes a variable argument.
    variadic: &'a FxHashSet<Span>,
    /// Globals that too many writes may hit.
    given_up: FxHashSet<GlobalId>,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    Scalar(Type),
    Record(RecordId),
    Bytes,
}

impl<'a> Aliases<'a> {
    pub(super) fn of(program: &'a Program, body: &'a Body, globals: &'a Globals) -> Self {
        let mut of: Vec<GlobalId> = globals.exposed.iter().copied().collect();
        of.sort_unstable();
        let taken = addresses_taken(program, body);
        let cells = globals.grain == Grain::Cells;
        let counts = |local: &LocalId| {
            is_variable(body, *local) && (!cells || local_has_cells(program, body, *local))
        };
        let mut all: Vec<LocalId> = taken.iter().copied().filter(counts).collect();
        all.sort_unstable();
        let reader = Reader { program, body, taken: &taken, fates: &globals.fates };
        let locals = all.into_iter().map(|local| (local, reader.of_local(local))).collect();
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
                    Written::Bytes => false,
                    Written::Record(_) => self.fits(ty, written),
                    // Of what has cells those are hit; of other variables the whole must be.
                    Written::Scalar(_) if self.cells => self.fits(ty, written),
                    Written::Scalar(scalar) => self.program.types.scalar(ty) == Some(scalar),
                }
        });
        let locals = locals.map(|(local, _)| Variable::Local(*local));
        locals.chain(globals.map(|global| Variable::Global(*global))).collect()
    }

    /// Where a statement writes and what, if the place is known.
    fn written(&self, stmt: StmtId) -> Option<(ExprId, Written)> {
        match &self.body.stmts[stmt] {
            Stmt::Store { addr, ty, .. } => {
                Some((*addr, self.record_of(*addr).unwrap_or(Written::Scalar(*ty))))
            }
            Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => {
                Some((*dst, self.record_of(*dst).unwrap_or(Written::Bytes)))
            }
            Stmt::Call { .. } => {
                let addr = written_by_library(self.program, &self.body.stmts[stmt])?;
                Some((addr, Written::Bytes))
            }
            _ => None,
        }
    }

    /// The record whose member an address is, the one nearest to the pointer.
    fn record_of(&self, addr: ExprId) -> Option<Written> {
        match &self.body.exprs[addr] {
            Expr::Field { base, record, .. } => {
                Some(self.record_of(*base).unwrap_or(Written::Record(*record)))
            }
            Expr::Index { base, .. } => self.record_of(*base),
            _ => None,
        }
    }

    /// Whether a variable of this type has room for what is written.
    fn fits(&self, ty: CTypeId, written: Written) -> bool {
        if written == Written::Bytes {
            return true;
        }
        let types = &self.program.types;
        let mut rest = vec![ty];
        let mut seen = FxHashSet::default();
        while let Some(ty) = rest.pop() {
            if !seen.insert(ty) {
                continue;
            }
            if let Written::Scalar(scalar) = written
                && types.scalar(ty) == Some(scalar)
            {
                return true;
            }
            match types.get(ty) {
                CType::Array { element, .. } | CType::Complex { element } => rest.push(*element),
                CType::Record(record) => {
                    if written == Written::Record(*record) {
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

/// Calls `visit` with each expression of a body that is a value, and not the address of an access or
/// a part of it that says in which variable that lies. What a function gets that keeps no address is
/// as good as accessed there.
pub(super) fn for_each_value(program: &Program, body: &Body, visit: &mut impl FnMut(ExprId)) {
    let mut seen = FxHashSet::default();
    let mut work: Vec<(ExprId, bool)> = Vec::new();
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                work.extend([(*value, false), (*addr, true)]);
            }
            Stmt::Copy { dst, src, .. } => work.extend([(*dst, true), (*src, true)]),
            Stmt::Zero { dst, .. } => work.push((*dst, true)),
            Stmt::Call { args, .. } if forgets_addresses(program, stmt) => {
                work.extend(args.iter().map(|arg| (*arg, true)));
            }
            Stmt::Call { dst_addr: Some(addr), .. } => {
                work.push((*addr, true));
                stmt.for_each_expr(|expr| work.extend((expr != *addr).then_some((expr, false))));
            }
            other => other.for_each_expr(|expr| work.push((expr, false))),
        }
    }
    work.extend(body.blocks.values().filter_map(|block| Some((block.term.operand()?, false))));
    while let Some((expr, is_place)) = work.pop() {
        if !seen.insert((expr, is_place)) {
            continue;
        }
        match &body.exprs[expr] {
            Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => work.push((*addr, true)),
            Expr::Field { base, .. } => work.push((*base, is_place)),
            Expr::Index { base, index, .. } => work.extend([(*base, is_place), (*index, false)]),
            Expr::Cast(_, _, inner) if is_place => work.push((*inner, true)),
            other => other.for_each_operand(|operand| work.push((operand, false))),
        }
        if !is_place {
            visit(expr);
        }
    }
}

/// The globals that are defined here and whose addresses are values in some body or initial value.
/// Static locals have no name outside of their functions, and are left out.
pub(super) fn exposed(program: &Program) -> FxHashSet<GlobalId> {
    let mut exposed = FxHashSet::default();
    for (_, function) in program.defined() {
        let Some(body) = &function.body else { continue };
        for_each_value(program, body, &mut |expr| {
            if let Expr::AddrGlobal(global) = body.exprs[expr] {
                exposed.insert(global);
            }
        });
    }
    for global in program.globals.values() {
        if let GlobalInit::Data { relocations, .. } = &global.init {
            exposed.extend(relocations.iter().filter_map(|relocation| match relocation.target {
                RelocationTarget::Global(id) => Some(id),
                RelocationTarget::Function(_) => None,
            }));
        }
    }
    exposed.retain(|id| {
        let global = &program.globals[*id];
        global.init != GlobalInit::Extern && !global.name.contains('.')
    });
    exposed
}
