//! Roots: the whole expressions that statements evaluate, with the text of each.
//!
//! While an expression is lowered, the current [`Captures`] collect the parts of its text that were
//! put into temporaries. A part that is captured becomes an expression of its own, with captures of
//! its own; the outer root sees only the temporary.

use lydian_base::Span;
use lydian_ir::source::{Capture, Point, Root, RootKind};
use lydian_ir::{Expr, ExprId, LocalId, Type};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::builder::effects::Effects;
use crate::lower::outcome::Lowering;

impl FunctionLowering<'_, '_> {
    /// Lowers a part of the text with captures of its own, and gives them.
    pub(in crate::lower) fn with_captures<T>(
        &mut self,
        lower: impl FnOnce(&mut Self) -> Lowering<T>,
    ) -> Lowering<(T, Captures)> {
        let outer = std::mem::take(&mut self.captures);
        let result = lower(self)?;
        let captures = std::mem::replace(&mut self.captures, outer);
        Ok((result, captures))
    }

    /// Lowers a part of the text whose captures do not concern the current root.
    pub(in crate::lower) fn apart<T>(
        &mut self,
        lower: impl FnOnce(&mut Self) -> Lowering<T>,
    ) -> Lowering<T> {
        Ok(self.with_captures(lower)?.0)
    }

    /// Notes that `temp` holds the value of the text at `span`.
    pub(in crate::lower) fn capture(&mut self, span: Span, temp: LocalId) {
        if span.is_none() {
            self.captures.opaque = true;
        } else {
            self.captures.parts.push(Capture { span, temp });
        }
    }

    /// The text of an expression without parentheses around it.
    pub(in crate::lower) fn text(&self, e: ast::ExprId) -> Span {
        self.unit.exprs[self.unit.strip_parens(e)].span
    }

    /// Notes a root, unless nothing in it is worth an objective.
    pub(in crate::lower) fn root(
        &mut self,
        point: Point,
        expr: ExprId,
        kind: RootKind,
        span: Span,
        captures: Captures,
    ) {
        if span.is_none() || !self.is_worth_watching(expr, kind) {
            return;
        }
        if self.journals.replaying() {
            let same = |root: &&mut Root| root.span == span && same_kind(root.kind, kind);
            let mut roots = self.body.source.roots.iter_mut().map(|(_, root)| root);
            if let Some(root) = roots.find(same) {
                root.copies.push(point);
            }
            return;
        }
        self.note_span(expr, span);
        self.body.source.roots.push(Root {
            point,
            copies: Vec::new(),
            expr,
            kind,
            span,
            captures: captures.parts,
            rewritable: !captures.opaque,
        });
    }

    /// Whether some mutant of the expression could differ from it.
    fn is_worth_watching(&self, expr: ExprId, kind: RootKind) -> bool {
        match kind {
            RootKind::Assigned { .. } | RootKind::Update | RootKind::Condition { .. } => true,
            RootKind::Address => !self.is_fixed_address(expr),
            RootKind::Value => !self.is_fixed_address(expr) && !self.is_null(expr),
        }
    }

    fn is_null(&self, expr: ExprId) -> bool {
        matches!(self.body.exprs[expr], Expr::Const(Type::Ptr, _))
    }

    /// Whether it is the address of an object, a function or a member of an object.
    fn is_fixed_address(&self, mut expr: ExprId) -> bool {
        loop {
            match &self.body.exprs[expr] {
                Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::AddrFunc(_) => return true,
                Expr::Field { base, .. } => expr = *base,
                _ => return false,
            }
        }
    }

    /// Lowers an operand that is followed by the effects `later`: its value is kept in a
    /// temporary if they could change it.
    pub(in crate::lower) fn operand(
        &mut self,
        e: ast::ExprId,
        later: &Effects,
    ) -> Lowering<ExprId> {
        if !later.hoists || self.computes {
            return self.rvalue(e);
        }
        let (value, captures) = self.with_captures(|l| l.rvalue(e))?;
        self.settle(value, e, captures, later)
    }

    /// Notes operands that C evaluates in any order, if several may have effects.
    pub(in crate::lower) fn note_unsequenced(&mut self, operands: &[ast::ExprId]) {
        if operands.len() < 2 {
            return;
        }
        let with_effects = operands.iter().filter(|e| self.effects_of(**e).memory);
        let with_effects: Vec<ast::ExprId> = with_effects.copied().collect();
        let texts: Vec<Span> = with_effects.into_iter().map(|e| self.text(e)).collect();
        let known = &mut self.body.source.unsequenced;
        if texts.len() > 1 && !known.contains(&texts) {
            known.push(texts);
        }
    }

    /// Keeps the value of `e` in a temporary if `later` could change it; else its captures join the
    /// current ones.
    pub(in crate::lower) fn settle(
        &mut self,
        value: ExprId,
        e: ast::ExprId,
        captures: Captures,
        later: &Effects,
    ) -> Lowering<ExprId> {
        if self.is_stable(value, later) {
            self.captures.merge(captures);
            return Ok(value);
        }
        self.keep_part(value, e, captures)
    }

    /// Keeps the value of `e` in a temporary, as a root of its own.
    pub(in crate::lower) fn keep_part(
        &mut self,
        value: ExprId,
        e: ast::ExprId,
        captures: Captures,
    ) -> Lowering<ExprId> {
        let span = self.text(e);
        let (stmt, temp) = self.within(span, |l| l.keep(value, l.unit.exprs[e].ty.ty, span))?;
        self.root(Point::Stmt(stmt), value, RootKind::Value, span, captures);
        self.capture(span, temp);
        let kept = self.read(temp);
        self.note_type(kept, e);
        Ok(kept)
    }

    /// Whether no effect of `later` can change the value of a pure expression, nor come before a
    /// trap of it: what objectives ask of an effect holds only in runs that come to it.
    pub(in crate::lower) fn is_stable(&self, expr: ExprId, later: &Effects) -> bool {
        if !later.hoists {
            return true;
        }
        let mut work = vec![expr];
        while let Some(next) = work.pop() {
            match &self.body.exprs[next] {
                Expr::Local(local) if self.may_write(later, *local) => return false,
                Expr::Load { .. } | Expr::LoadBits { .. } if later.memory => return false,
                other => other.for_each_operand(|operand| work.push(operand)),
            }
        }
        !self.may_trap(expr)
    }

    fn may_write(&self, later: &Effects, local: LocalId) -> bool {
        if self.body.locals[local].kind == lydian_ir::LocalKind::Temp {
            return false;
        }
        later.all_vars || later.vars.iter().any(|var| self.variables.local(*var) == Some(local))
    }
}

/// Whether two roots of one text are copies of each other. Addresses differ in their ids only.
fn same_kind(a: RootKind, b: RootKind) -> bool {
    std::mem::discriminant(&a) == std::mem::discriminant(&b)
}
