//! Volatile variables of a program: which of their reads are inputs, and which variables nobody else has.

use std::ops::Range;

use rustc_hash::FxHashSet;

use crate::program::{FuncId, GlobalId, Program, RelocationTarget};
use crate::{Body, CType, Expr, ExprId, IntKind, LocalId, Stmt};

/// What a program's accesses say of its volatile variables.
#[derive(Clone, Debug, Default)]
pub struct VolatileVariables {
    /// Bytes of variables that are read as not volatile somewhere.
    plain: Vec<(GlobalId, Range<u64>)>,
    /// Automatic variables whose address is used for more than accesses by name.
    escaped_locals: FxHashSet<(FuncId, LocalId)>,
    escaped_globals: FxHashSet<GlobalId>,
}

impl VolatileVariables {
    /// Those of a program, which is read once.
    pub fn of(program: &Program) -> Self {
        let mut found = Self::default();
        for relocation in program.relocations() {
            if let RelocationTarget::Global(global) = relocation.target {
                found.escaped_globals.insert(global);
            }
        }
        for (func, function) in program.functions.iter() {
            if let Some(body) = &function.body {
                Reading { program, func, body, found: &mut found }.all();
            }
        }
        found
    }

    /// Whether volatile reads of bytes of a variable are inputs: it is a variable of the file's own, so that
    /// handlers of interrupts and the like may write it, and nothing reads these bytes as not volatile.
    pub fn is_input(&self, program: &Program, variable: GlobalId, bytes: Range<u64>) -> bool {
        let global = &program.globals[variable];
        let meets = |plain: &Range<u64>| plain.start < bytes.end && bytes.start < plain.end;
        !global.read_only
            && !global.name.contains('.')
            && bytes.end <= global.size
            && !self.plain.iter().any(|(of, plain)| *of == variable && meets(plain))
    }

    /// Whether nobody but the function itself can have the address of an automatic variable.
    pub fn keeps_local(&self, func: FuncId, local: LocalId) -> bool {
        !self.escaped_locals.contains(&(func, local))
    }

    /// The same of a static variable of a function.
    pub fn keeps_static(&self, program: &Program, variable: GlobalId) -> bool {
        let name = &program.globals[variable].name;
        name.contains('.') && !self.escaped_globals.contains(&variable)
    }
}

/// Whether a truth value (`_Bool`) is accessed at an address, as far as the expression shows it.
pub fn is_truth_value(program: &Program, body: &Body, addr: ExprId) -> bool {
    let types = &program.types;
    let mut ty = match &body.exprs[addr] {
        Expr::Field { record, field, .. } => types.records[*record].fields[*field as usize].ty,
        Expr::AddrGlobal(global) => program.globals[*global].ty,
        Expr::Index { base, .. } => return is_truth_value(program, body, *base),
        Expr::Local(local) => match types.pointee(body.locals[*local].ty) {
            Some(pointee) => pointee,
            None => return false,
        },
        _ => return false,
    };
    while let CType::Array { element, .. } = types.get(ty) {
        ty = *element;
    }
    matches!(types.get(ty), CType::Int { kind: IntKind::Bool, .. })
}

struct Reading<'a> {
    program: &'a Program,
    func: FuncId,
    body: &'a Body,
    found: &'a mut VolatileVariables,
}

impl Reading<'_> {
    fn all(&mut self) {
        for stmt in self.body.stmts.values() {
            match stmt {
                Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                    self.visit(*addr, true);
                    self.visit(*value, false);
                }
                Stmt::Copy { dst, src, size } => {
                    self.visit(*dst, true);
                    self.visit(*src, true);
                    self.note_plain(*src, *size);
                }
                other => other.for_each_expr(|expr| self.visit(expr, false)),
            }
        }
        for block in self.body.blocks.values() {
            block.term.operand().into_iter().for_each(|expr| self.visit(expr, false));
        }
    }

    /// Looks through an expression, which may be the address of an access.
    fn visit(&mut self, expr: ExprId, is_accessed: bool) {
        match &self.body.exprs[expr] {
            Expr::Load { addr, ty, volatile } => {
                self.visit(*addr, true);
                if !volatile {
                    self.note_plain(*addr, self.program.types.target.stored_bytes(*ty));
                }
            }
            Expr::LoadBits { addr, field } => {
                self.visit(*addr, true);
                self.note_plain(*addr, field.bytes());
            }
            Expr::Field { base, .. } => self.visit(*base, is_accessed),
            Expr::Index { base, index, .. } => {
                self.visit(*base, is_accessed);
                self.visit(*index, false);
            }
            Expr::AddrLocal(local) if !is_accessed => {
                self.found.escaped_locals.insert((self.func, *local));
            }
            Expr::AddrGlobal(global) if !is_accessed => {
                self.found.escaped_globals.insert(*global);
            }
            other => other.for_each_operand(|operand| self.visit(operand, false)),
        }
    }

    /// Bytes at an address are read as not volatile.
    fn note_plain(&mut self, mut addr: ExprId, size: u64) {
        let mut start = Some(0);
        loop {
            match &self.body.exprs[addr] {
                Expr::AddrGlobal(global) => {
                    let whole = 0..self.program.globals[*global].size.max(size);
                    let bytes = start.map_or(whole, |start| start..start + size);
                    return self.found.plain.push((*global, bytes));
                }
                Expr::Field { base, record, field } => {
                    let fields = &self.program.types.records[*record].fields;
                    let offset = fields[*field as usize].bit_offset / 8;
                    start = start.map(|start| start + offset);
                    addr = *base;
                }
                Expr::Index { base, .. } => {
                    start = None;
                    addr = *base;
                }
                _ => return,
            }
        }
    }
}
