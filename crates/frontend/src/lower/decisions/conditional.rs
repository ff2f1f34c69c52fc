//! `?:` in its forms, and statement expressions: values that need control flow.

use lydian_base::Span;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::{BlockId, ExprId, LocalId, Terminator};

use crate::ast::{self, ExprKind, StmtId, StmtKind};
use crate::ctypes::QualType;
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};

impl FunctionLowering<'_, '_> {
    /// `a ? b : c` of scalar type, as a value.
    pub(in crate::lower) fn conditional(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let ExprKind::Conditional { condition, then, otherwise } = expr.kind else {
            return Err(UnsupportedConstruct::new("this conditional", expr.span));
        };
        if let Some(truth) = self.module.constant_truth(condition) {
            return self.rvalue(if truth { then } else { otherwise });
        }
        if self.computes {
            return self.computed_choice(condition, then, otherwise);
        }
        // A type that cannot be computed with is an error before branches are made.
        self.scalar(expr.ty.ty, expr.span)?;
        let temp = self.temp(expr.ty.ty, expr.span)?;
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.control_decision(condition, then_block, else_block)?;
        for (block, arm) in [(then_block, then), (else_block, otherwise)] {
            self.start(block);
            self.assign_arm(temp, arm)?;
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        self.capture(self.text(e), temp);
        Ok(self.read(temp))
    }

    fn assign_arm(&mut self, temp: LocalId, arm: ast::ExprId) -> Lowering<()> {
        let (value, captures) = self.with_captures(|l| l.rvalue(arm))?;
        let text = self.text(arm);
        let stmt = self.within(text, |l| l.emit(lydian_ir::Stmt::Assign { dst: temp, value }));
        self.root(Point::Stmt(stmt), value, RootKind::Value, text, captures);
        Ok(())
    }

    /// `a ? b : c` for its effects.
    pub(in crate::lower) fn discard_conditional(
        &mut self,
        e: ast::ExprId,
        condition: ast::ExprId,
        then: ast::ExprId,
        otherwise: ast::ExprId,
    ) -> Lowering<()> {
        if self.discard_boolean_choice(e)? {
            return Ok(());
        }
        if let Some(truth) = self.module.constant_truth(condition) {
            return self.discard(if truth { then } else { otherwise });
        }
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        self.control_decision(condition, then_block, else_block)?;
        for (block, arm) in [(then_block, then), (else_block, otherwise)] {
            self.start(block);
            self.apart(|l| l.discard(arm))?;
            self.terminate(Terminator::Goto(join));
        }
        self.start(join);
        Ok(())
    }

    /// GNU's `a ?: b`. Its test is a decision as that of `a ? a : b` would be.
    pub(in crate::lower) fn binary_conditional(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        let ExprKind::BinaryConditional { common, condition, then, otherwise } = expr.kind else {
            return Err(UnsupportedConstruct::new("this conditional", expr.span));
        };
        if self.computes {
            return self.computed_binary_choice(common, condition, then, otherwise);
        }
        let temp = self.temp(expr.ty.ty, expr.span)?;
        let (then_block, else_block, join) = (self.new_block(), self.new_block(), self.new_block());
        let is_constant = self.module.constant_truth(common).is_some();
        if !is_constant && self.kept_boolean(common, then_block, else_block)? {
            let scalar = self.scalar(unit.exprs[common].ty.ty, unit.exprs[common].span)?;
            let one = self.constant(scalar.ty, 1);
            self.variables.set_once(common, one);
        } else {
            self.kept_value(common, condition, then_block, else_block)?;
        }
        self.start(then_block);
        let value = self.apart(|l| l.rvalue(then))?;
        self.emit(lydian_ir::Stmt::Assign { dst: temp, value });
        self.terminate(Terminator::Goto(join));
        self.start(else_block);
        self.assign_arm(temp, otherwise)?;
        self.terminate(Terminator::Goto(join));
        self.start(join);
        self.capture(self.text(e), temp);
        Ok(self.read(temp))
    }

    /// Evaluates `a` of `a ?: b`, which is not Boolean, once, and branches on whether it is zero.
    fn kept_value(
        &mut self,
        common: ast::ExprId,
        condition: ast::ExprId,
        then_to: BlockId,
        else_to: BlockId,
    ) -> Lowering<()> {
        let text = self.text(common);
        let (value, captures) = self.with_captures(|l| l.rvalue(common))?;
        let (stmt, first) = self.keep(value, self.unit.exprs[common].ty.ty, text)?;
        self.root(Point::Stmt(stmt), value, RootKind::Value, text, captures);
        let first = self.read(first);
        self.variables.set_once(common, first);
        let cond = self.apart(|l| l.rvalue(condition))?;
        let cond = self.test(cond);
        match self.module.constant_truth(common) {
            Some(_) => {
                let term = Terminator::Branch { cond, then_to, else_to, origin: None };
                self.terminate_user(term);
            }
            None => self.kept_decision(common, cond, then_to, else_to),
        }
        Ok(())
    }

    /// The value of `a` in `a ?: b`.
    pub(in crate::lower) fn opaque_value(
        &mut self,
        source: ast::ExprId,
        span: Span,
    ) -> Lowering<ExprId> {
        let same = |operand| self.unit.strip_implicit(operand) == self.unit.strip_implicit(source);
        let like = || self.variables.all_once().find(|(operand, _)| same(*operand));
        let value = self.variables.once(source).or_else(|| like().map(|(_, value)| value));
        value.ok_or_else(|| UnsupportedConstruct::new("this operand of `?:`", span))
    }

    /// `({ … })` of scalar type, as a value.
    pub(in crate::lower) fn statement_expression(
        &mut self,
        e: ast::ExprId,
        body: StmtId,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let temp = self.temp(expr.ty.ty, expr.span)?;
        self.apart(|l| l.stmt_expr(body, &mut |l, value| l.assign_arm(temp, value)))?;
        self.capture(self.text(e), temp);
        Ok(self.read(temp))
    }

    /// `({ … })` for its effects.
    pub(in crate::lower) fn stmt_expr_for_effect(&mut self, body: StmtId) -> Lowering<()> {
        self.stmt_expr(body, &mut |l, value| l.apart(|l| l.discard(value)))
    }

    /// `({ … })` of struct type.
    pub(in crate::lower) fn stmt_expr_into(
        &mut self,
        dst: ExprId,
        ty: QualType,
        body: StmtId,
    ) -> Lowering<()> {
        self.apart(|l| l.stmt_expr(body, &mut |l, value| l.initialise(dst, ty, value)))
    }

    /// Lowers the statements, and the value of the last one with `last`.
    fn stmt_expr(
        &mut self,
        body: StmtId,
        last: &mut dyn FnMut(&mut Self, ast::ExprId) -> Lowering<()>,
    ) -> Lowering<()> {
        let unit = self.unit;
        let StmtKind::Compound(stmts) = &unit.stmts[body].kind else {
            return self.stmt(body);
        };
        let outer = self.span;
        self.in_scope(body, |l| {
            let Some((value, before)) = stmts.split_last() else { return Ok(()) };
            before.iter().try_for_each(|stmt| l.stmt(*stmt))?;
            l.value_stmt(*value, last)
        })?;
        self.span = outer;
        Ok(())
    }
}
