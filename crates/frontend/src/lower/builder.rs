//! The function being built: blocks, statements, expressions, temporaries, scopes.
//!
//! There is always a current block. After a terminator it is closed; what is emitted then opens a
//! new one that nothing leads to, as dead code of the user's has objectives too.

pub(super) mod captures;
pub(super) mod effects;
pub(super) mod facts;
pub(super) mod gaps;
pub(super) mod journal;
pub(super) mod labels;
pub(super) mod nesting;
pub(super) mod variables;

use lydian_base::{EntityId, Span};
use lydian_ir as ir;
use lydian_ir::{
    Block, BlockId, Body, CTypeId, Expr, ExprId, ExprTypes, Local, LocalId, LocalKind, Stmt,
    StmtId, Storage, Terminator, TrapKind, Type,
};

use crate::ast::{self, TranslationUnit};
use crate::ctypes::TypeId;
use crate::lower::builder::captures::Captures;
use crate::lower::builder::effects::EffectsTable;
use crate::lower::builder::facts::Facts;
use crate::lower::builder::gaps::Gaps;
use crate::lower::builder::journal::Journals;
use crate::lower::builder::labels::Labels;
use crate::lower::builder::nesting::Nesting;
use crate::lower::builder::variables::Variables;
use crate::lower::module::Module;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, arithmetic_type_of, layout_of, scalar_of};

/// The state of lowering one function.
pub(super) struct FunctionLowering<'m, 'a> {
    /// The translation unit's state.
    pub module: &'m mut Module<'a>,
    /// The tree.
    pub unit: &'a TranslationUnit,
    /// The function.
    pub function: ast::FunctionId,
    /// The body that is built.
    pub body: Body,
    /// Where statements go.
    current: BlockId,
    /// Whether the current block has its terminator.
    closed: bool,
    /// Facts about the function, found before it is lowered.
    pub facts: Facts,
    /// Effects of expressions.
    pub effects: EffectsTable,
    /// The locals of the function's variables.
    pub variables: Variables,
    /// The function's labels.
    pub labels: Labels,
    /// The scopes, loops and switches around the current statement.
    pub nesting: Nesting,
    /// The captures of the root that is being lowered.
    pub captures: Captures,
    /// The entities that lowering each condition made, for second copies of conditions.
    pub journals: Journals,
    /// The text that statements and terminators being emitted stand for.
    pub span: Span,
    /// Whether expressions are lowered to one expression each, without statements
    /// (as in [`FunctionLowering::computed_truth`]).
    pub computes: bool,
    /// The parts that are not supported, where an outline of the function is asked for; else the first
    /// ends it.
    pub gaps: Option<Gaps>,
}

impl<'m, 'a> FunctionLowering<'m, 'a> {
    /// Starts a function: no locals, an open entry block.
    pub(super) fn new(module: &'m mut Module<'a>, function: ast::FunctionId, facts: Facts) -> Self {
        let mut blocks = lydian_base::Arena::new();
        let entry = blocks.push(empty_block());
        let unit = module.unit;
        let body = Body {
            params: Vec::new(),
            locals: lydian_base::Arena::new(),
            exprs: lydian_base::Arena::new(),
            stmts: lydian_base::Arena::new(),
            blocks,
            entry,
            decisions: lydian_base::Arena::new(),
            marks: lydian_base::Arena::new(),
            source: ir::source::FunctionSource::default(),
        };
        Self {
            module,
            unit,
            function,
            body,
            current: entry,
            closed: false,
            facts,
            effects: EffectsTable::default(),
            variables: Variables::default(),
            labels: Labels::default(),
            nesting: Nesting::default(),
            captures: Captures::default(),
            journals: Journals::default(),
            span: Span::NONE,
            computes: false,
            gaps: None,
        }
    }

    // Blocks.

    /// The block to which statements go.
    pub(super) const fn current_block(&self) -> BlockId {
        self.current
    }

    /// Whether control does not get here.
    pub(super) const fn is_closed(&self) -> bool {
        self.closed
    }

    /// A new block that nothing leads to yet.
    pub(super) fn new_block(&mut self) -> BlockId {
        self.body.blocks.push(empty_block())
    }

    /// Goes on in a block.
    pub(super) fn start(&mut self, block: BlockId) {
        self.current = block;
        self.closed = false;
    }

    /// Ends the current block. Nothing happens if it has ended.
    pub(super) fn terminate(&mut self, term: Terminator) {
        if self.closed {
            return;
        }
        self.body.blocks[self.current].term = term;
        self.body.source.terms.set(self.current, self.span);
        self.closed = true;
    }

    /// Ends the current block with a terminator that belongs to the user's text: in dead code too.
    pub(super) fn terminate_user(&mut self, term: Terminator) -> BlockId {
        self.reopen();
        self.terminate(term);
        self.current
    }

    /// Goes to a block, if control gets here, and goes on there.
    pub(super) fn goto_and_start(&mut self, block: BlockId) {
        self.terminate(Terminator::Goto(block));
        self.start(block);
    }

    /// Opens a block for dead code if the current one is closed.
    pub(super) fn reopen(&mut self) {
        if self.closed {
            let block = self.new_block();
            self.start(block);
        }
    }

    /// Adds a statement.
    pub(super) fn emit(&mut self, stmt: Stmt) -> StmtId {
        self.reopen();
        let id = self.body.stmts.push(stmt);
        self.body.source.stmts.set(id, self.span);
        if let Some(original) = self.journals.stmt(id) {
            self.body.source.copies.insert(id, original);
        }
        self.body.blocks[self.current].stmts.push(id);
        id
    }

    /// Runs `lower` with statements and terminators standing for `span`.
    pub(super) fn within<T>(&mut self, span: Span, lower: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.span, span);
        let result = lower(self);
        self.span = outer;
        result
    }

    // Expressions.

    /// Adds an expression.
    pub(super) fn expr(&mut self, expr: Expr) -> ExprId {
        self.body.exprs.push(expr)
    }

    /// Says which text an expression stands for, the first time.
    pub(super) fn note_span(&mut self, expr: ExprId, span: Span) {
        if !self.computes && !span.is_none() && self.body.source.exprs[expr].is_none() {
            self.body.source.exprs.set(expr, span);
        }
    }

    /// Says which C type an expression has that stands for `e`, conversions included that change
    /// no bits.
    pub(super) fn note_type(&mut self, expr: ExprId, e: ast::ExprId) {
        let unit = self.unit;
        let Some(used) = arithmetic_type_of(unit, unit.exprs[e].ty.ty) else { return };
        let written = arithmetic_type_of(unit, unit.exprs[unit.strip_implicit(e)].ty.ty);
        let written = written.unwrap_or(used);
        let known = self.body.source.c_types[expr];
        let text = known.map_or(written, |known| known.text);
        self.body.source.c_types.set(expr, Some(ExprTypes { text, written, used }));
    }

    /// Says that an expression has a type and that its operator uses it so.
    pub(super) fn note_types(&mut self, expr: ExprId, written: Scalar, used: Scalar) {
        let types = (written.arithmetic_type(false), used.arithmetic_type(false));
        if let (Some(written), Some(used)) = types {
            let types = ExprTypes { text: written, written, used };
            self.body.source.c_types.set(expr, Some(types));
        }
    }

    /// A constant of a type; cut to its width.
    pub(super) fn constant(&mut self, ty: Type, value: i128) -> ExprId {
        self.expr(Expr::Const(ty, ir::arith::truncate(ty, value as u128)))
    }

    /// The constant that an expression is.
    pub(super) fn as_const(&self, expr: ExprId) -> Option<(Type, u128)> {
        match self.body.exprs[expr] {
            Expr::Const(ty, bits) => Some((ty, bits)),
            _ => None,
        }
    }

    /// An address some bytes further.
    pub(super) fn offset_addr(&mut self, base: ExprId, bytes: u64) -> ExprId {
        if bytes == 0 {
            return base;
        }
        let index = self.constant(Type::Int(64), i128::from(bytes));
        self.expr(Expr::Index { base, index, size: 1, bound: None })
    }

    /// An element's address.
    pub(super) fn element_addr(&mut self, base: ExprId, index: u64, size: u64) -> ExprId {
        let index = self.constant(Type::Int(64), i128::from(index));
        self.expr(Expr::Index { base, index, size, bound: None })
    }

    // Locals.

    /// The IR's type for the decoder's.
    pub(super) fn ctype(&mut self, ty: TypeId) -> CTypeId {
        self.module.ctype(ty)
    }

    /// The machine type and sign of a scalar type.
    pub(super) fn scalar(&self, ty: TypeId, span: Span) -> Lowering<Scalar> {
        scalar_of(self.unit, ty)
            .ok_or_else(|| UnsupportedConstruct::new(self.module.type_description(ty), span))
    }

    /// A new register temporary.
    pub(super) fn temp(&mut self, ty: TypeId, span: Span) -> Lowering<LocalId> {
        let scalar = self.scalar(ty, span)?;
        let ctype = self.ctype(ty);
        Ok(self.temp_of(ctype, scalar.ty))
    }

    /// A new register temporary of a C type with a known machine type; the one of the first copy
    /// in the second copy of a condition.
    pub(super) fn temp_of(&mut self, ty: CTypeId, machine: Type) -> LocalId {
        let storage = Storage::Register(machine);
        let new = self.body.locals.next_id();
        let local = self.journals.local(new);
        if local == new {
            let temp = Local {
                name: String::new(),
                ty,
                kind: LocalKind::Temp,
                storage,
                scope: Span::NONE,
            };
            self.body.locals.push(temp);
        }
        local
    }

    /// A new temporary in memory, alive from here to the end of the scope; gives its address.
    pub(super) fn memory_temp(&mut self, ty: TypeId, span: Span) -> Lowering<ExprId> {
        let Some(layout) = layout_of(self.unit, ty) else {
            return Err(UnsupportedConstruct::new(self.module.type_description(ty), span));
        };
        let ctype = self.ctype(ty);
        let new = self.body.locals.next_id();
        let local = self.journals.local(new);
        if local == new {
            self.body.locals.push(Local {
                name: String::new(),
                ty: ctype,
                kind: LocalKind::Temp,
                storage: Storage::Memory { size: layout.size, align: layout.align },
                scope: Span::NONE,
            });
        }
        self.enter(local);
        Ok(self.expr(Expr::AddrLocal(local)))
    }

    /// Keeps a value in a new temporary.
    pub(super) fn keep(
        &mut self,
        value: ExprId,
        ty: TypeId,
        span: Span,
    ) -> Lowering<(StmtId, LocalId)> {
        let dst = self.temp(ty, span)?;
        Ok((self.emit(Stmt::Assign { dst, value }), dst))
    }

    /// The value of a register.
    pub(super) fn read(&mut self, local: LocalId) -> ExprId {
        self.expr(Expr::Local(local))
    }

    // Scopes.

    /// Begins the life of a memory local, which ends with the innermost scope.
    pub(super) fn enter(&mut self, local: LocalId) {
        self.emit(Stmt::Enter(local));
        self.nesting.add_memory(local);
    }

    /// Runs `lower` in a scope of its own.
    pub(super) fn in_scope<T>(
        &mut self,
        stmt: ast::StmtId,
        lower: impl FnOnce(&mut Self) -> Lowering<T>,
    ) -> Lowering<T> {
        self.nesting.open_scope(stmt);
        let result = lower(self)?;
        self.leave_down_to(self.nesting.scopes().len() - 1);
        self.nesting.close_scope();
        Ok(result)
    }

    /// Ends the lives of the locals of all scopes but the outer `depth` ones, if control gets here.
    /// The scopes stay open, as this may be a jump.
    pub(super) fn leave_down_to(&mut self, depth: usize) {
        if self.closed {
            return;
        }
        self.clean_up_to(depth);
        let leaving: Vec<_> = self.nesting.scopes()[depth..]
            .iter()
            .rev()
            .flat_map(|s| s.memory.iter().rev().copied())
            .collect();
        for local in leaving {
            self.emit(Stmt::Leave(local));
        }
        let arrays = self.nesting.scopes()[depth..]
            .iter()
            .rev()
            .flat_map(|s| s.arrays.iter().rev().copied());
        for pointer in arrays.collect::<Vec<_>>() {
            self.emit(Stmt::Release { pointer });
        }
    }

    /// Calls the cleanup functions of the variables of all scopes but the outer `depth` ones.
    pub(super) fn clean_up_to(&mut self, depth: usize) {
        let cleanups =
            self.nesting.scopes()[depth..].iter().rev().flat_map(|s| s.cleanups.iter().rev());
        for (local, function) in cleanups.copied().collect::<Vec<_>>() {
            let callee = self.callee_function(function);
            let ty = self.module.program.functions[callee].ty;
            let ir::CType::Function { params, .. } = self.module.program.types.get(ty) else {
                continue;
            };
            let arg_types = params.clone();
            let args = vec![self.expr(Expr::AddrLocal(local))];
            let callee = ir::Callee::Direct(callee);
            self.emit(Stmt::Call { callee, args, arg_types, dst: None, dst_addr: None, ty });
        }
    }

    /// Whether leaving the function here calls cleanup functions.
    pub(super) fn has_cleanups(&self) -> bool {
        self.nesting.scopes().iter().any(|scope| !scope.cleanups.is_empty())
    }

    // Traps.

    /// Ends the run here.
    pub(super) fn trap(&mut self, kind: TrapKind) {
        self.terminate_user(Terminator::Trap(kind));
    }
}

/// A block whose exit is not known yet.
fn empty_block() -> Block {
    Block { stmts: Vec::new(), term: Terminator::Trap(TrapKind::Unreachable) }
}

/// Whether an id is the first of its kind.
pub(super) fn is_first(id: impl EntityId) -> bool {
    id.index() == 0
}
