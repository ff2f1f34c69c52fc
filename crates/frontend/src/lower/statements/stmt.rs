//! Statements.

use lydian_ir::source::{Point, RootKind};
use lydian_ir::{Stmt, Terminator};

use crate::ast::{self, ExprId, ExprKind, LocalDecl, StmtId, StmtKind, VarStorage};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::gaps::Part;
use crate::lower::expressions::lvalue::unsupported_name;
use crate::lower::outcome::{Lowering, NESTED, UnsupportedConstruct};
use crate::lower::statements::marks::Slot;
use crate::lower::types::layout_of;

impl<'a> FunctionLowering<'_, 'a> {
    /// Lowers a statement that stands directly in a block.
    pub(in crate::lower) fn stmt(&mut self, id: StmtId) -> Lowering<()> {
        self.stmt_in(id, id, Slot::Block)
    }

    /// Lowers the body of an `if`, a loop or a switch.
    pub(in crate::lower) fn body_stmt(&mut self, id: StmtId) -> Lowering<()> {
        self.stmt_in(id, id, Slot::Body)
    }

    /// Lowers a statement. `whole` is it with its attributes.
    fn stmt_in(&mut self, id: StmtId, whole: StmtId, slot: Slot) -> Lowering<()> {
        let unit = self.unit;
        let stmt = &unit.stmts[id];
        self.span = stmt.span;
        match &stmt.kind {
            StmtKind::Compound(stmts) => {
                // A `;` among statements, as behind a macro that is a block, does nothing and is
                // nowhere chosen: it is none to be reached.
                let does = |stmt: &&StmtId| !matches!(unit.stmts[**stmt].kind, StmtKind::Null);
                self.in_scope(id, |l| stmts.iter().filter(does).try_for_each(|stmt| l.stmt(*stmt)))
            }
            StmtKind::Attributed(inner) => self.attributed(*inner, id, slot),
            StmtKind::Case { low, high, body, .. } => {
                self.case(*low, *high, stmt.span, *body)?;
                self.labels.note_ahead(stmt.span.start);
                self.stmt_in(*body, *body, slot)
            }
            StmtKind::Default(body) => {
                self.default_case(stmt.span)?;
                self.labels.note_ahead(stmt.span.start);
                self.stmt_in(*body, *body, slot)
            }
            StmtKind::Label { label, body } => {
                self.place_label(*label, stmt.span)?;
                self.labels.note_ahead(stmt.span.start);
                self.stmt_in(*body, *body, slot)
            }
            StmtKind::Decl(decls) => self.declarations(whole, slot, decls),
            StmtKind::Expr(e) => match self.user_label_call(*e) {
                Some(args) => self.user_label(whole, slot, *e, args),
                None => {
                    self.mark_statement(whole, slot);
                    self.discard_part(*e)
                }
            },
            StmtKind::Null => {
                self.mark_statement(whole, slot);
                Ok(())
            }
            StmtKind::Asm(asm) => {
                self.mark_statement(whole, slot);
                self.span = stmt.span;
                self.or_outline(
                    Part::Stmt(id),
                    |l| l.assembly(asm),
                    |l| {
                        l.unknown();
                        Ok(())
                    },
                )
            }
            StmtKind::Unsupported(name) => {
                let unsupported = UnsupportedConstruct::new(unsupported_name(name), stmt.span);
                self.or_outline(
                    Part::Stmt(id),
                    |_| Err(unsupported),
                    |l| {
                        l.mark_statement(whole, slot);
                        l.unknown();
                        Ok(())
                    },
                )
            }
            _ => {
                self.mark_statement(whole, slot);
                self.span = stmt.span;
                self.control(id)
            }
        }
    }

    /// An attribute on a null statement (`fallthrough`) must stay where it is: it has no mark.
    fn attributed(&mut self, inner: StmtId, whole: StmtId, slot: Slot) -> Lowering<()> {
        match self.unit.stmts[inner].kind {
            StmtKind::Null => Ok(()),
            _ => self.stmt_in(inner, whole, slot),
        }
    }

    /// The last statement of a statement expression; `last` lowers its value.
    pub(in crate::lower) fn value_stmt(
        &mut self,
        id: StmtId,
        last: &mut dyn FnMut(&mut Self, ExprId) -> Lowering<()>,
    ) -> Lowering<()> {
        let unit = self.unit;
        let stmt = &unit.stmts[id];
        match &stmt.kind {
            StmtKind::Expr(e) if self.user_label_call(*e).is_none() => {
                self.mark_statement(id, Slot::Block);
                self.span = stmt.span;
                last(self, *e)
            }
            StmtKind::Label { label, body } => {
                self.place_label(*label, stmt.span)?;
                self.value_stmt(*body, last)
            }
            StmtKind::Attributed(body) => self.value_stmt(*body, last),
            _ => self.stmt(id),
        }
    }

    fn control(&mut self, id: StmtId) -> Lowering<()> {
        let unit = self.unit;
        let stmt = &unit.stmts[id];
        match &stmt.kind {
            StmtKind::If { condition, then, otherwise } => {
                self.if_stmt(*condition, *then, *otherwise)
            }
            StmtKind::While { condition, body } => self.while_stmt(*condition, *body),
            StmtKind::Do { body, condition } => self.do_stmt(*body, *condition),
            StmtKind::For { init, condition, step, body } => {
                self.in_scope(id, |l| l.for_stmt(id, *init, *condition, *step, *body))
            }
            StmtKind::Switch { value, body } => self.switch(*value, *body),
            StmtKind::Goto(label) => self.goto(*label),
            StmtKind::IndirectGoto(target) => self.computed_goto(*target),
            StmtKind::Break => self.jump(|targets| Some(targets.break_to)),
            StmtKind::Continue => self.jump(|targets| targets.continue_to),
            StmtKind::Return(value) => self.or_outline(
                Part::Stmt(id),
                |l| l.return_stmt(*value),
                |l| {
                    if let Some(value) = value {
                        l.outline(*value)?;
                    }
                    l.clean_up_to(0);
                    l.terminate_user(Terminator::Return(None));
                    Ok(())
                },
            ),
            _ => Err(UnsupportedConstruct::new("this statement", stmt.span)),
        }
    }

    fn declarations(&mut self, whole: StmtId, slot: Slot, decls: &[LocalDecl]) -> Lowering<()> {
        let unit = self.unit;
        let is_initialised = |decl: &LocalDecl| match decl {
            LocalDecl::Var(var) => {
                let var = &unit.vars[*var];
                var.init.is_some() && matches!(var.storage, VarStorage::Local(_))
            }
            LocalDecl::Typedef(_) | LocalDecl::Function(_) | LocalDecl::NoEffect => false,
        };
        if decls.iter().any(is_initialised) {
            self.mark_statement(whole, slot);
        }
        for decl in decls {
            match decl {
                LocalDecl::Var(var) => {
                    let init = unit.vars[*var].init;
                    self.or_outline(
                        Part::Var(*var),
                        |l| l.declare(*var),
                        |l| match init {
                            Some(init) => l.outline(init),
                            None => Ok(()),
                        },
                    )?;
                }
                LocalDecl::Typedef(id) => {
                    let typedef = &unit.typedefs[*id];
                    let owner = ast::BoundOwner::Typedef(*id);
                    self.evaluate_bounds(owner, typedef.ty.ty, typedef.span)?;
                }
                LocalDecl::Function(id) if self.module.is_nested(unit.stmts[whole].span) => {
                    let span = unit.functions[*id].span;
                    self.module.leave_out_nested(*id, span);
                    self.or_outline(
                        Part::Stmt(whole),
                        |_| Err(UnsupportedConstruct::new(NESTED, span)),
                        |_| Ok(()),
                    )?;
                }
                LocalDecl::Function(_) | LocalDecl::NoEffect => {}
            }
        }
        Ok(())
    }

    fn declare(&mut self, var: ast::VarId) -> Lowering<()> {
        let decl = &self.unit.vars[var];
        self.span = decl.span;
        match decl.storage {
            VarStorage::StaticLocal(_) => {
                self.module.global(var);
                return Ok(());
            }
            VarStorage::Global { .. } => return Ok(()),
            VarStorage::Local(_) | VarStorage::Param(_) => {}
        }
        self.evaluate_bounds(ast::BoundOwner::Var(var), decl.ty.ty, decl.span)?;
        self.span = decl.span;
        if self.is_variable_array(decl.ty.ty) {
            return self.declare_array(var);
        }
        if layout_of(self.unit, decl.ty.ty).is_none() {
            return Err(UnsupportedConstruct::new(
                self.module.type_description(decl.ty.ty),
                decl.span,
            ));
        }
        let local = self.local_of(var, decl.span)?;
        if !self.in_register(local) {
            if self.facts.bypassed.contains(&var) {
                self.emit(Stmt::Enter(local));
            } else {
                self.enter(local);
            }
        }
        self.initialise_local(var)?;
        if let Some(function) = decl.cleanup {
            if self.in_register(local) {
                return Err(UnsupportedConstruct::new("a cleanup of this variable", decl.span));
            }
            self.nesting.add_cleanup(local, function);
        }
        Ok(())
    }

    fn if_stmt(
        &mut self,
        condition: ExprId,
        then: StmtId,
        otherwise: Option<StmtId>,
    ) -> Lowering<()> {
        let (then_block, join) = (self.new_block(), self.new_block());
        let else_block = if otherwise.is_some() { self.new_block() } else { join };
        self.reopen();
        self.control_decision(condition, then_block, else_block)?;
        self.start(then_block);
        self.body_stmt(then)?;
        self.terminate(Terminator::Goto(join));
        if let Some(otherwise) = otherwise {
            self.start(else_block);
            self.body_stmt(otherwise)?;
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        Ok(())
    }

    /// Lowers a loop's body with `break` and `continue` leading where they should.
    fn loop_body(
        &mut self,
        body: StmtId,
        break_to: lydian_ir::BlockId,
        continue_to: lydian_ir::BlockId,
    ) -> Lowering<()> {
        self.nesting.open_jumps(break_to, Some(continue_to));
        self.body_stmt(body)?;
        self.nesting.close_jumps();
        Ok(())
    }

    fn while_stmt(&mut self, condition: ExprId, body: StmtId) -> Lowering<()> {
        let span = self.span;
        let (head, inside, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.goto_and_start(head);
        self.control_decision(condition, inside, exit)?;
        self.start(inside);
        self.loop_body(body, exit, head)?;
        self.span = span;
        self.terminate(Terminator::Goto(head));
        self.start(exit);
        Ok(())
    }

    fn do_stmt(&mut self, body: StmtId, condition: ExprId) -> Lowering<()> {
        let span = self.span;
        let (head, test, exit) = (self.new_block(), self.new_block(), self.new_block());
        self.goto_and_start(head);
        self.loop_body(body, exit, test)?;
        self.span = span;
        self.goto_and_start(test);
        self.control_decision(condition, head, exit)?;
        self.start(exit);
        Ok(())
    }

    fn for_stmt(
        &mut self,
        id: StmtId,
        init: Option<StmtId>,
        condition: Option<ExprId>,
        step: Option<ExprId>,
        body: StmtId,
    ) -> Lowering<()> {
        let span = self.span;
        if let Some(init) = init
            && !matches!(self.unit.stmts[init].kind, StmtKind::Null)
        {
            self.stmt_in(init, init, Slot::ForInit(id))?;
        }
        self.span = span;
        let (head, inside, next, exit) =
            (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        self.goto_and_start(head);
        match condition {
            Some(condition) => self.control_decision(condition, inside, exit)?,
            None => self.terminate(Terminator::Goto(inside)),
        }
        self.start(inside);
        self.loop_body(body, exit, next)?;
        self.span = span;
        self.goto_and_start(next);
        if let Some(step) = step {
            let text = self.unit.exprs[step].span;
            self.span = text;
            let style = lydian_ir::source::MarkStyle::Expression;
            self.mark(lydian_ir::MarkKind::Statement, text, style);
            self.discard_part(step)?;
            self.span = span;
        }
        self.terminate(Terminator::Goto(head));
        self.start(exit);
        Ok(())
    }

    fn return_stmt(&mut self, value: Option<ExprId>) -> Lowering<()> {
        let Some(e) = value else {
            self.clean_up_to(0);
            self.terminate_user(Terminator::Return(None));
            return Ok(());
        };
        let ty = self.unit.exprs[e].ty.ty;
        let result = self.unit.ty(self.unit.functions[self.function].ty);
        let is_void = match result {
            crate::ctypes::CType::Function { result, .. } => {
                matches!(self.unit.ty(*result), crate::ctypes::CType::Void)
            }
            _ => false,
        };
        if is_void {
            self.apart(|l| l.discard(e))?;
            self.clean_up_to(0);
            self.terminate_user(Terminator::Return(None));
            return Ok(());
        }
        let span = self.span;
        if self.is_aggregate(ty) {
            let mut addr = self.apart(|l| l.aggregate(e))?;
            if self.has_cleanups() {
                let copy = self.memory_temp(ty, span)?;
                self.copy(copy, addr, ty, span)?;
                addr = copy;
                self.clean_up_to(0);
            }
            self.span = span;
            self.terminate_user(Terminator::Return(Some(addr)));
            return Ok(());
        }
        let (value, captures) = self.with_captures(|l| l.rvalue(e))?;
        self.span = span;
        if self.has_cleanups() {
            // The value is there before the cleanup functions are called.
            let (stmt, kept) = self.keep(value, ty, span)?;
            self.root(Point::Stmt(stmt), value, RootKind::Value, self.text(e), captures);
            self.clean_up_to(0);
            let kept = self.read(kept);
            self.terminate_user(Terminator::Return(Some(kept)));
            return Ok(());
        }
        let block = self.terminate_user(Terminator::Return(Some(value)));
        self.root(Point::Term(block), value, RootKind::Value, self.text(e), captures);
        Ok(())
    }

    /// Control reaches the end of the body.
    pub(in crate::lower) fn fall_off(&mut self) {
        if self.is_closed() {
            return;
        }
        let unit = self.unit;
        let decl = &unit.functions[self.function];
        let is_void = match unit.ty(decl.ty) {
            crate::ctypes::CType::Function { result, .. } => {
                matches!(unit.ty(*result), crate::ctypes::CType::Void)
            }
            _ => true,
        };
        let is_main = &*decl.name == "main" && unit.target.main_returns_zero;
        if !is_void && is_main {
            let zero = self.constant(lydian_ir::Type::Int(32), 0);
            self.terminate(Terminator::Return(Some(zero)));
        } else {
            // Using the result that is missing is the fault, not leaving without one.
            self.terminate(Terminator::Return(None));
        }
    }

    /// Whether an expression statement is a call of a function that the user labels with.
    fn user_label_call(&self, e: ExprId) -> Option<&'a [ExprId]> {
        match &self.unit.exprs[self.unit.strip_parens(e)].kind {
            ExprKind::Call { callee, args } if self.is_user_label(*callee) => Some(args),
            ExprKind::Cast { kind: ast::CastKind::ToVoid, operand, .. } => {
                self.user_label_call(*operand)
            }
            _ => None,
        }
    }
}
