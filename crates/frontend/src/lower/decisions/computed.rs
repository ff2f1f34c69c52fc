//! Conditions with operators in them as one expression, for where evaluation does not reach them.
//!
//! Where the program evaluates `(b ? 2 : 3) == a`, the choice is control flow and a temporary. Where
//! it does not, the condition still has a value if evaluating it does nothing but compute: then the
//! same tree is lowered once more, `&&`, `||`, `!` and `?:` as [`Expr::Select`], and nothing is
//! emitted.

use lydian_ir::{BinOp, CmpOp, Expr, ExprId, Type, UnOp};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::decisions::boolean::Node;
use crate::lower::outcome::Lowering;

impl FunctionLowering<'_, '_> {
    /// The truth of an expression that statements were emitted for, as one expression; `None` if
    /// evaluating it does more than compute.
    pub(in crate::lower) fn computed_truth(&mut self, e: ast::ExprId) -> Option<ExprId> {
        if !self.only_computes(e) {
            return None;
        }
        let emitted = (self.current_block(), self.body.stmts.len(), self.body.locals.len());
        let captures = std::mem::take(&mut self.captures);
        let outer = std::mem::replace(&mut self.computes, true);
        let truth = self.truth(e);
        self.computes = outer;
        self.captures = captures;
        let now = (self.current_block(), self.body.stmts.len(), self.body.locals.len());
        debug_assert_eq!(emitted, now, "what only computes emits nothing");
        truth.ok()
    }

    /// The value of a Boolean expression.
    pub(in crate::lower) fn computed_value(
        &mut self,
        e: ast::ExprId,
        node: &Node,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let scalar = self.scalar(expr.ty.ty, expr.span)?;
        let test = self.computed_test(node)?;
        Ok(self.test_value(test, scalar))
    }

    /// `condition ? then : otherwise`.
    pub(in crate::lower) fn computed_choice(
        &mut self,
        condition: ast::ExprId,
        then: ast::ExprId,
        otherwise: ast::ExprId,
    ) -> Lowering<ExprId> {
        let node = self.tested(condition).simplified();
        let test = self.computed_test(&node)?;
        let (then, otherwise) = (self.rvalue(then)?, self.rvalue(otherwise)?);
        Ok(self.select(test, then, otherwise))
    }

    /// `common ?: otherwise`.
    pub(in crate::lower) fn computed_binary_choice(
        &mut self,
        common: ast::ExprId,
        condition: ast::ExprId,
        then: ast::ExprId,
        otherwise: ast::ExprId,
    ) -> Lowering<ExprId> {
        let value = self.rvalue(common)?;
        let before = self.variables.set_once(common, value);
        let test = self.rvalue(condition).map(|value| self.test(value));
        let then = self.rvalue(then);
        self.variables.restore_once(common, before);
        let (test, then, otherwise) = (test?, then?, self.rvalue(otherwise)?);
        Ok(self.select(test, then, otherwise))
    }

    /// The truth of a tree of Boolean operators, which evaluates no more of it than C does.
    fn computed_test(&mut self, node: &Node) -> Lowering<ExprId> {
        Ok(match node {
            Node::Const(value) => self.constant(Type::BOOL, i128::from(*value)),
            Node::Leaf(e) => self.truth(*e)?,
            Node::Not(a) => {
                let a = self.computed_test(a)?;
                self.unary(UnOp::Not, a)
            }
            Node::And(a, b) => {
                let (a, b) = (self.computed_test(a)?, self.computed_test(b)?);
                let no = self.constant(Type::BOOL, 0);
                self.select(a, b, no)
            }
            Node::Or(a, b) => {
                let (a, b) = (self.computed_test(a)?, self.computed_test(b)?);
                let yes = self.constant(Type::BOOL, 1);
                self.select(a, yes, b)
            }
            Node::BitAnd(a, b) => {
                self.computed_pair(a, b, |a, b| Expr::Binary(BinOp::And, a, b))?
            }
            Node::BitOr(a, b) => self.computed_pair(a, b, |a, b| Expr::Binary(BinOp::Or, a, b))?,
            Node::Eq(a, b) => self.computed_pair(a, b, |a, b| Expr::Cmp(CmpOp::Eq, a, b))?,
            Node::Xor(a, b) => self.computed_pair(a, b, |a, b| Expr::Cmp(CmpOp::Ne, a, b))?,
            Node::Ite(test, a, b) => {
                let test = self.computed_test(test)?;
                let (a, b) = (self.computed_test(a)?, self.computed_test(b)?);
                self.select(test, a, b)
            }
        })
    }

    fn computed_pair(
        &mut self,
        a: &Node,
        b: &Node,
        make: impl FnOnce(ExprId, ExprId) -> Expr,
    ) -> Lowering<ExprId> {
        let (a, b) = (self.computed_test(a)?, self.computed_test(b)?);
        Ok(self.expr(make(a, b)))
    }

    fn select(&mut self, test: ExprId, then: ExprId, otherwise: ExprId) -> ExprId {
        self.expr(Expr::Select { test, then, otherwise })
    }
}
