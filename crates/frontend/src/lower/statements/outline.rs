//! Outlines: bodies of functions without the parts that cannot be lowered.
//!
//! Measuring asks about statements, decisions and conditions. For these the text is
//! enough: an outline has all control flow of its function, and each part that is not supported is a
//! call of something unknown in it. No engine runs an outline.
//!
//! An attempt goes on behind each part that fails, and what it has made is thrown away; the next one
//! knows these parts and makes outlines of them. Parts of parts may fail then, so that there are as
//! many attempts as such parts are nested.

use lydian_ir::{CType, Callee, Stmt, Type};

use crate::ast::{ExprId, ExprKind, UnaryOp, for_each_child};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::captures::Captures;
use crate::lower::builder::gaps::Part;
use crate::lower::outcome::Lowering;

impl FunctionLowering<'_, '_> {
    /// Lowers a part, or makes an outline of it where it is known not to be supported.
    pub(in crate::lower) fn or_outline<T>(
        &mut self,
        part: Part,
        lower: impl FnOnce(&mut Self) -> Lowering<T>,
        outline: impl FnOnce(&mut Self) -> Lowering<T>,
    ) -> Lowering<T> {
        let Some(gaps) = &self.gaps else { return lower(self) };
        if gaps.is_known(part) {
            return outline(self);
        }
        let depth = self.nesting.depth();
        let journals = self.journals.depth();
        let outer = std::mem::take(&mut self.captures);
        let (computes, span) = (self.computes, self.span);
        let result = lower(self);
        let captures = std::mem::replace(&mut self.captures, outer);
        let unsupported = match result {
            Ok(value) => {
                self.captures.merge(captures);
                return Ok(value);
            }
            Err(unsupported) => unsupported,
        };
        self.nesting.cut(depth);
        self.journals.cut(journals);
        (self.computes, self.span) = (computes, span);
        if let Some(gaps) = &mut self.gaps {
            gaps.add(part, unsupported);
        }
        outline(self)
    }

    /// Lowers an expression for its effects, or makes an outline of it.
    pub(in crate::lower) fn discard_part(&mut self, e: ExprId) -> Lowering<()> {
        self.or_outline(Part::Expr(e), |l| l.apart(|l| l.discard(e)), |l| l.outline(e))
    }

    /// The control flow in an expression, and something unknown.
    pub(in crate::lower) fn outline(&mut self, e: ExprId) -> Lowering<()> {
        let unit = self.unit;
        self.unknown();
        if !self.has_control(e) {
            return Ok(());
        }
        match &unit.exprs[e].kind {
            ExprKind::Conditional { condition, then, otherwise } => {
                if let Some(truth) = self.module.constant_truth(*condition) {
                    return self.discard_part(if truth { *then } else { *otherwise });
                }
                let (then_block, else_block, join) =
                    (self.new_block(), self.new_block(), self.new_block());
                self.control_decision(*condition, then_block, else_block)?;
                for (block, arm) in [(then_block, *then), (else_block, *otherwise)] {
                    self.start(block);
                    self.discard_part(arm)?;
                    self.terminate(lydian_ir::Terminator::Goto(join));
                }
                self.start(join);
                Ok(())
            }
            ExprKind::BinaryConditional { common, otherwise, .. } => {
                let (other, join) = (self.new_block(), self.new_block());
                self.control_decision(*common, join, other)?;
                self.start(other);
                self.discard_part(*otherwise)?;
                self.goto_and_start(join);
                Ok(())
            }
            ExprKind::Binary { op, .. } if op.is_logical() => self.discard_boolean(e),
            ExprKind::Unary { op: UnaryOp::LogicalNot, .. } => self.discard_boolean(e),
            ExprKind::StmtExpr(body) => self.apart(|l| l.stmt_expr_for_effect(*body)),
            kind => {
                let mut children = Vec::new();
                for_each_child(kind, &mut |child| children.push(child));
                children.into_iter().try_for_each(|child| self.discard_part(child))
            }
        }
    }

    /// The truth of a condition of which nothing is known.
    pub(in crate::lower) fn outline_truth(
        &mut self,
        e: ExprId,
    ) -> Lowering<(lydian_ir::ExprId, Captures)> {
        self.apart(|l| l.outline(e))?;
        let value = self.unknown_value();
        Ok((self.test(value), Captures::default()))
    }

    /// A number of which nothing is known.
    pub(in crate::lower) fn unknown_value(&mut self) -> lydian_ir::ExprId {
        let int = self.module.program.types.int(lydian_ir::IntKind::Int);
        let local = self.temp_of(int, Type::Int(32));
        self.read(local)
    }

    /// Something that may do whatever a call may.
    pub(in crate::lower) fn unknown(&mut self) {
        let types = &mut self.module.program.types;
        let result = types.void();
        let ty = types.intern(CType::Function { result, params: Vec::new(), variadic: false });
        let callee = Callee::Indirect(self.constant(Type::Ptr, 0));
        let (args, arg_types) = (Vec::new(), Vec::new());
        self.emit(Stmt::Call { callee, args, arg_types, dst: None, dst_addr: None, ty });
    }

    /// Whether the evaluation of an expression can take several ways.
    fn has_control(&self, e: ExprId) -> bool {
        match &self.unit.exprs[e].kind {
            ExprKind::Conditional { .. }
            | ExprKind::BinaryConditional { .. }
            | ExprKind::StmtExpr(_)
            | ExprKind::Unary { op: UnaryOp::LogicalNot, .. } => true,
            ExprKind::Binary { op, .. } if op.is_logical() => true,
            kind => {
                let mut found = false;
                for_each_child(kind, &mut |child| found = found || self.has_control(child));
                found
            }
        }
    }
}
