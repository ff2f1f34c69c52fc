//! What nodes read and write: locals and globals by their names, and memory.
//!
//! A local or global is a place of its own as long as its address is used for nothing but reading and
//! writing in place. All others, and everything behind pointers, are one place: memory.

use std::collections::BTreeSet;

use lydian_ir::arith::Overflow;
use lydian_ir::source::Point;
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::trap::{is_inside, may_trap};
use lydian_ir::{
    Body, CType, CTypeId, Expr, ExprId, FuncId, GlobalId, LocalId, Program, RelocationTarget, Stmt,
    Storage,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// A place that holds values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PlaceOf {
    /// A local of the function at hand.
    Local(LocalId),
    /// A global.
    Global(GlobalId),
    /// Everything else.
    Memory,
}

/// What a node reads and writes itself. Callees are not followed.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The places that it reads.
    pub reads: Vec<PlaceOf>,
    /// The places that it may write.
    pub writes: Vec<PlaceOf>,
    /// The local that it surely gives another value as a whole.
    pub replaces: Option<LocalId>,
    /// Whether it may trap by its operators or accesses. Signed overflow wraps.
    pub may_trap: bool,
}

/// The globals that functions name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedGlobals {
    /// Those that are named at all.
    pub named: BTreeSet<GlobalId>,
    /// Those that may be written: by their names, or because their address is a value somewhere.
    pub written: BTreeSet<GlobalId>,
}

/// The places of a program.
#[derive(Clone, Debug)]
pub struct ProgramPlaces<'a> {
    program: &'a Program,
    exposed_globals: FxHashSet<GlobalId>,
    exposed_locals: FxHashMap<FuncId, FxHashSet<LocalId>>,
}

/// How an expression uses a variable by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NameUse {
    Read,
    Write,
    /// Its address is a value.
    Address,
}

/// A variable that an address lies in by its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Root {
    Local(LocalId),
    Global(GlobalId),
    Elsewhere,
}

impl<'a> ProgramPlaces<'a> {
    /// Reads all bodies of a program. Linear in its size.
    pub fn of(program: &'a Program) -> Self {
        let mut this = Self {
            program,
            exposed_globals: FxHashSet::default(),
            exposed_locals: FxHashMap::default(),
        };
        for relocation in program.relocations() {
            if let RelocationTarget::Global(global) = relocation.target {
                this.exposed_globals.insert(global);
            }
        }
        for (id, function) in program.defined() {
            let Some(body) = &function.body else { continue };
            let mut locals = FxHashSet::default();
            let mut globals = FxHashSet::default();
            let mut uses = NameUses::of(program, body, |root, how| {
                if how == NameUse::Address {
                    match root {
                        Root::Local(local) => _ = locals.insert(local),
                        Root::Global(global) => _ = globals.insert(global),
                        Root::Elsewhere => {}
                    }
                }
            });
            uses.body();
            this.exposed_locals.insert(id, locals);
            this.exposed_globals.extend(globals);
        }
        this
    }

    /// The effects of a statement or terminator of a function with a body.
    pub fn effects(&self, function: FuncId, point: Point) -> Effects {
        let Some(body) = &self.program.functions[function].body else { return Effects::default() };
        let mut found = Effects::default();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        let mut uses = NameUses::of(self.program, body, |root, how| {
            let place = self.place(function, root);
            match how {
                NameUse::Read => reads.push(place),
                NameUse::Write => writes.push(place),
                NameUse::Address => {}
            }
        });
        uses.point(point);
        found.may_trap = uses.may_trap || self.evaluation_may_trap(body, point);
        (found.reads, found.writes) = (reads, writes);
        if let Point::Stmt(stmt) = point {
            found.replaces = replaced(body, &body.stmts[stmt]);
        }
        found
    }

    /// Whether the expressions of a statement or terminator may trap.
    fn evaluation_may_trap(&self, body: &Body, point: Point) -> bool {
        let traps = |expr| may_trap(self.program, body, &body.exprs, expr, Overflow::Wrap);
        match point {
            Point::Stmt(stmt) => {
                let mut found = false;
                body.stmts[stmt].for_each_expr(|expr| found = found || traps(expr));
                found
            }
            Point::Term(block) => body.blocks[block].term.operand().is_some_and(traps),
        }
    }

    /// The places that an expression reads, of a function's arena or one that extends it.
    pub fn read_by(
        &self,
        function: FuncId,
        exprs: &lydian_ir::ExprArena,
        expr: ExprId,
    ) -> Vec<PlaceOf> {
        let Some(body) = &self.program.functions[function].body else { return Vec::new() };
        let mut reads = Vec::new();
        let mut uses = NameUses::of(self.program, body, |root, how| {
            if how == NameUse::Read {
                reads.push(self.place(function, root));
            }
        });
        uses.exprs = exprs;
        uses.value(expr);
        reads
    }

    /// The globals that some functions name.
    pub fn named_by(&self, functions: impl IntoIterator<Item = FuncId>) -> NamedGlobals {
        let mut found = NamedGlobals::default();
        for function in functions {
            let Some(body) = &self.program.functions[function].body else { continue };
            let mut uses = NameUses::of(self.program, body, |root, how| {
                if let Root::Global(global) = root {
                    found.named.insert(global);
                    if how != NameUse::Read {
                        found.written.insert(global);
                    }
                }
            });
            uses.body();
        }
        found
    }

    /// Whether the address of a global is a value somewhere.
    pub fn is_exposed(&self, global: GlobalId) -> bool {
        self.exposed_globals.contains(&global)
    }

    fn place(&self, function: FuncId, root: Root) -> PlaceOf {
        match root {
            Root::Local(local) => {
                let exposed = self.exposed_locals.get(&function);
                match exposed.is_some_and(|exposed| exposed.contains(&local)) {
                    true => PlaceOf::Memory,
                    false => PlaceOf::Local(local),
                }
            }
            Root::Global(global) if !self.exposed_globals.contains(&global) => {
                PlaceOf::Global(global)
            }
            Root::Global(_) | Root::Elsewhere => PlaceOf::Memory,
        }
    }
}

/// The local that a statement gives another value as a whole.
fn replaced(body: &Body, stmt: &Stmt) -> Option<LocalId> {
    match stmt {
        Stmt::Assign { dst, .. } | Stmt::Alloca { dst, .. } => Some(*dst),
        Stmt::Call { dst, .. } => *dst,
        Stmt::Enter(local) | Stmt::Leave(local) => Some(*local),
        Stmt::Store { addr, ty, .. } => match (&body.exprs[*addr], ty) {
            (Expr::AddrLocal(local), ty) => match body.locals[*local].storage {
                Storage::Memory { size, .. } if size * 8 == u64::from(ty.bits()) => Some(*local),
                _ => None,
            },
            _ => None,
        },
        Stmt::Zero { dst, size } | Stmt::Copy { dst, size, .. } => match body.exprs[*dst] {
            Expr::AddrLocal(local) => match body.locals[local].storage {
                Storage::Memory { size: all, .. } if all == *size => Some(local),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Walks over the expressions of statements.
struct NameUses<'a, F> {
    program: &'a Program,
    body: &'a Body,
    exprs: &'a lydian_ir::ExprArena,
    visit: F,
    /// Whether what a statement does with the values of its expressions may trap.
    may_trap: bool,
}

impl<'a, F: FnMut(Root, NameUse)> NameUses<'a, F> {
    const fn of(program: &'a Program, body: &'a Body, visit: F) -> Self {
        Self { program, body, exprs: &body.exprs, visit, may_trap: false }
    }

    fn body(&mut self) {
        for block in self.body.blocks.ids() {
            for stmt in &self.body.blocks[block].stmts {
                self.point(Point::Stmt(*stmt));
            }
            self.point(Point::Term(block));
        }
    }

    fn point(&mut self, point: Point) {
        match point {
            Point::Stmt(stmt) => self.stmt(&self.body.stmts[stmt]),
            Point::Term(block) => match &self.body.blocks[block].term {
                Terminator::Branch { cond: value, .. }
                | Terminator::Switch { value, .. }
                | Terminator::Return(Some(value)) => self.value(*value),
                Terminator::Goto(_) | Terminator::Return(None) | Terminator::Trap(_) => {}
            },
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Mark(_) | Stmt::Leave(_) => {}
            Stmt::Enter(local) => (self.visit)(Root::Local(*local), NameUse::Write),
            Stmt::Assign { dst, value } => {
                self.value(*value);
                (self.visit)(Root::Local(*dst), NameUse::Write);
            }
            Stmt::Store { addr, value, ty, .. } => {
                self.value(*value);
                let bytes = self.program.types.target.stored_bytes(*ty);
                self.access(*addr, NameUse::Write, Some(bytes));
            }
            Stmt::StoreBits { addr, field, value } => {
                self.value(*value);
                self.access(*addr, NameUse::Write, Some(field.bytes()));
            }
            Stmt::Copy { dst, src, size } => {
                self.access(*src, NameUse::Read, Some(*size));
                self.access(*dst, NameUse::Write, Some(*size));
            }
            Stmt::Zero { dst, size } => self.access(*dst, NameUse::Write, Some(*size)),
            Stmt::Call { callee, args, dst, dst_addr, ty, .. } => {
                if let Callee::Indirect(pointer) = callee {
                    self.value(*pointer);
                    self.may_trap = true;
                }
                args.iter().for_each(|arg| self.value(*arg));
                dst.iter().for_each(|dst| (self.visit)(Root::Local(*dst), NameUse::Write));
                let bytes = self.result_bytes(*ty);
                dst_addr.iter().for_each(|addr| self.access(*addr, NameUse::Write, bytes));
            }
            Stmt::Alloca { dst, size, .. } => {
                self.value(*size);
                self.may_trap = true;
                (self.visit)(Root::Local(*dst), NameUse::Write);
            }
            Stmt::Release { pointer } => (self.visit)(Root::Local(*pointer), NameUse::Read),
            // A list's own type says how much of it there is.
            Stmt::VaStart { list } => self.access(*list, NameUse::Write, Some(0)),
            // There may be no further argument.
            Stmt::VaArg { at, .. } => self.access(*at, NameUse::Read, None),
            Stmt::Havoc(havoc) => {
                for local in &havoc.registers {
                    (self.visit)(Root::Local(*local), NameUse::Write);
                }
                for (addr, size) in &havoc.places {
                    self.access(*addr, NameUse::Write, Some(*size));
                }
                if havoc.memory {
                    (self.visit)(Root::Elsewhere, NameUse::Write);
                }
            }
        }
    }

    fn value(&mut self, expr: ExprId) {
        match &self.exprs[expr] {
            Expr::Const(..) | Expr::AddrFunc(_) => {}
            Expr::Local(local) => (self.visit)(Root::Local(*local), NameUse::Read),
            Expr::AddrLocal(local) => (self.visit)(Root::Local(*local), NameUse::Address),
            Expr::AddrGlobal(global) => (self.visit)(Root::Global(*global), NameUse::Address),
            Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => {
                let root = self.root(*addr);
                (self.visit)(root, NameUse::Read);
            }
            _ => self.operands(expr),
        }
    }

    fn operands(&mut self, expr: ExprId) {
        let mut all = Vec::new();
        self.exprs[expr].for_each_operand(|operand| all.push(operand));
        all.into_iter().for_each(|operand| self.value(operand));
    }

    /// What a statement reads or writes at an address, so many bytes of it; none if that is not known.
    fn access(&mut self, addr: ExprId, how: NameUse, bytes: Option<u64>) {
        let Self { program, body, exprs, .. } = *self;
        self.may_trap |= !bytes.is_some_and(|bytes| is_inside(program, body, exprs, addr, bytes));
        let root = self.root(addr);
        self.may_trap |= how == NameUse::Write && self.is_read_only(root);
        (self.visit)(root, how);
    }

    fn is_read_only(&self, root: Root) -> bool {
        matches!(root, Root::Global(global) if self.program.globals[global].read_only)
    }

    /// The size of a struct or union that a function of a type gives.
    fn result_bytes(&self, ty: CTypeId) -> Option<u64> {
        match self.program.types.get(ty) {
            CType::Function { result, .. } => self.program.types.size(*result),
            _ => None,
        }
    }

    /// The variable that an address lies in. What the address is computed from is read.
    fn root(&mut self, addr: ExprId) -> Root {
        match &self.exprs[addr] {
            Expr::AddrLocal(local) => Root::Local(*local),
            Expr::AddrGlobal(global) => Root::Global(*global),
            Expr::Field { base, .. } => self.root(*base),
            Expr::Index { base, index, .. } => {
                self.value(*index);
                self.root(*base)
            }
            _ => {
                self.value(addr);
                Root::Elsewhere
            }
        }
    }
}
