//! Which expressions are Boolean, and the trees of their conditions.
//!
//! A *Boolean expression* is a comparison, a `_Bool` value, `&&`, `||`, `!`, or any scalar where C
//! tests for zero. *Boolean operators* are `&&`, `||`, `!`, and, between Boolean expressions, `==`,
//! `!=`, `^`, `&`, `|` and `?:`. Operands that are no such operators are the
//! conditions. Constants are folded: they are no conditions. `__builtin_expect` is transparent, and so
//! are conversions that keep a truth value.

use lydian_ir::BoolTree;

use crate::ast::{self, BinaryOp, CastKind, ExprKind, UnaryOp};
use crate::ctypes::{CType, IntKind};
use crate::lower::builder::FunctionLowering;
use crate::lower::types::scalar_of;

/// Both sides of `==`, `!=`, `^`, `&`, `|` are evaluated, and the right one is lowered for each
/// value of the left. A tree with more copies of a condition than this is lowered as arithmetic.
const MOST_COPIES: usize = 64;

/// A Boolean expression over conditions that are expressions of the tree.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::lower) enum Node {
    Const(bool),
    /// A condition: its truth is whether the expression is not zero.
    Leaf(ast::ExprId),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    BitAnd(Box<Node>, Box<Node>),
    BitOr(Box<Node>, Box<Node>),
    Eq(Box<Node>, Box<Node>),
    Xor(Box<Node>, Box<Node>),
    Ite(Box<Node>, Box<Node>, Box<Node>),
}

impl Node {
    /// Whether there is a `&&`, `||` or `!` in it.
    pub(in crate::lower) fn has_operator(&self) -> bool {
        match self {
            Self::Const(_) | Self::Leaf(_) => false,
            Self::Not(_) | Self::And(..) | Self::Or(..) => true,
            Self::BitAnd(a, b) | Self::BitOr(a, b) | Self::Eq(a, b) | Self::Xor(a, b) => {
                a.has_operator() || b.has_operator()
            }
            Self::Ite(c, a, b) => c.has_operator() || a.has_operator() || b.has_operator(),
        }
    }

    /// The greatest number of copies that one condition is lowered to.
    fn copies(&self) -> usize {
        match self {
            Self::Const(_) | Self::Leaf(_) => 1,
            Self::Not(a) => a.copies(),
            Self::And(a, b) | Self::Or(a, b) => a.copies().max(b.copies()),
            Self::BitAnd(a, b) | Self::BitOr(a, b) | Self::Eq(a, b) | Self::Xor(a, b) => {
                a.copies().max(b.copies().saturating_mul(2))
            }
            Self::Ite(c, a, b) => c.copies().max(a.copies()).max(b.copies()),
        }
    }

    /// The same function without constants, as far as what is evaluated allows: `x && 0` still
    /// evaluates `x`.
    pub(in crate::lower) fn simplified(self) -> Self {
        let two = |a: Box<Self>, b: Box<Self>| (a.simplified(), b.simplified());
        match self {
            Self::Const(_) | Self::Leaf(_) => self,
            Self::Not(a) => match a.simplified() {
                Self::Const(value) => Self::Const(!value),
                a => Self::Not(a.into()),
            },
            Self::And(a, b) => match two(a, b) {
                (Self::Const(false), _) => Self::Const(false),
                (Self::Const(true), b) => b,
                (a, Self::Const(true)) => a,
                (a, _) if a.always() == Some(false) => a,
                (a, b) => Self::And(a.into(), b.into()),
            },
            Self::Or(a, b) => match two(a, b) {
                (Self::Const(true), _) => Self::Const(true),
                (Self::Const(false), b) => b,
                (a, Self::Const(false)) => a,
                (a, _) if a.always() == Some(true) => a,
                (a, b) => Self::Or(a.into(), b.into()),
            },
            Self::BitAnd(a, b) => match two(a, b) {
                (Self::Const(a), Self::Const(b)) => Self::Const(a & b),
                (Self::Const(true), x) | (x, Self::Const(true)) => x,
                (a, b) => Self::BitAnd(a.into(), b.into()),
            },
            Self::BitOr(a, b) => match two(a, b) {
                (Self::Const(a), Self::Const(b)) => Self::Const(a | b),
                (Self::Const(false), x) | (x, Self::Const(false)) => x,
                (a, b) => Self::BitOr(a.into(), b.into()),
            },
            Self::Eq(a, b) => match two(a, b) {
                (Self::Const(a), Self::Const(b)) => Self::Const(a == b),
                (Self::Const(true), x) | (x, Self::Const(true)) => x,
                (Self::Const(false), x) | (x, Self::Const(false)) => Self::Not(x.into()),
                (a, b) => Self::Eq(a.into(), b.into()),
            },
            Self::Xor(a, b) => match two(a, b) {
                (Self::Const(a), Self::Const(b)) => Self::Const(a != b),
                (Self::Const(false), x) | (x, Self::Const(false)) => x,
                (Self::Const(true), x) | (x, Self::Const(true)) => Self::Not(x.into()),
                (a, b) => Self::Xor(a.into(), b.into()),
            },
            Self::Ite(c, a, b) => match c.simplified() {
                Self::Const(true) => a.simplified(),
                Self::Const(false) => b.simplified(),
                c => match two(a, b) {
                    (Self::Const(true), Self::Const(false)) => c,
                    (Self::Const(false), Self::Const(true)) => Self::Not(c.into()),
                    // The test is evaluated, and one arm never.
                    (a, b) => match c.always() {
                        Some(true) => Self::BitAnd(c.into(), a.into()).simplified(),
                        Some(false) => Self::BitOr(c.into(), b.into()).simplified(),
                        None => Self::Ite(c.into(), a.into(), b.into()),
                    },
                },
            },
        }
    }

    /// The value that its constants give it, whatever its conditions are.
    fn always(&self) -> Option<bool> {
        match self {
            Self::Const(value) => Some(*value),
            Self::Leaf(_) => None,
            Self::Not(a) => a.always().map(|value| !value),
            Self::And(a, b) | Self::BitAnd(a, b) => match (a.always(), b.always()) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => a.and(b),
            },
            Self::Or(a, b) | Self::BitOr(a, b) => match (a.always(), b.always()) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (a, b) => a.and(b),
            },
            Self::Eq(a, b) => Some(a.always()? == b.always()?),
            Self::Xor(a, b) => Some(a.always()? != b.always()?),
            Self::Ite(c, a, b) => match c.always() {
                Some(true) => a.always(),
                Some(false) => b.always(),
                None => a.always().filter(|value| b.always() == Some(*value)),
            },
        }
    }

    /// The tree with conditions numbered from left to right, and the conditions.
    pub(in crate::lower) fn numbered(&self) -> (BoolTree, Vec<ast::ExprId>) {
        let mut leaves = Vec::new();
        let tree = self.number(&mut leaves);
        (tree, leaves)
    }

    fn number(&self, leaves: &mut Vec<ast::ExprId>) -> BoolTree {
        use lydian_base::EntityId;
        match self {
            Self::Const(value) => BoolTree::Const(*value),
            Self::Leaf(e) => {
                leaves.push(*e);
                BoolTree::Cond(lydian_ir::ConditionId::from_index(leaves.len() - 1))
            }
            Self::Not(a) => BoolTree::Not(a.number(leaves).into()),
            Self::And(a, b) => BoolTree::And(a.number(leaves).into(), b.number(leaves).into()),
            Self::Or(a, b) => BoolTree::Or(a.number(leaves).into(), b.number(leaves).into()),
            Self::BitAnd(a, b) => {
                BoolTree::BitAnd(a.number(leaves).into(), b.number(leaves).into())
            }
            Self::BitOr(a, b) => BoolTree::BitOr(a.number(leaves).into(), b.number(leaves).into()),
            Self::Eq(a, b) => BoolTree::Eq(a.number(leaves).into(), b.number(leaves).into()),
            Self::Xor(a, b) => BoolTree::Xor(a.number(leaves).into(), b.number(leaves).into()),
            Self::Ite(c, a, b) => BoolTree::Ite(
                c.number(leaves).into(),
                a.number(leaves).into(),
                b.number(leaves).into(),
            ),
        }
    }
}

impl FunctionLowering<'_, '_> {
    /// The tree of an expression that C tests for zero.
    pub(in crate::lower) fn tested(&self, e: ast::ExprId) -> Node {
        if let Some(truth) = self.module.constant_truth(e) {
            return Node::Const(truth);
        }
        if let Some(node) = self.boolean_operator(e) {
            return node;
        }
        let unit = self.unit;
        match &unit.exprs[e].kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => self.tested(*inner),
            ExprKind::Cast { kind, operand, explicit } => match kind {
                CastKind::IntegralToBoolean
                | CastKind::PointerToBoolean
                | CastKind::FloatingToBoolean => self.tested(*operand),
                CastKind::IntegralCast if self.keeps_zero(e, *operand, *explicit) => {
                    self.tested(*operand)
                }
                _ => Node::Leaf(e),
            },
            ExprKind::Conditional { condition, then, otherwise } => {
                // An arm that is recorded becomes an `int`, which would not fit a pointer beside it.
                if matches!(unit.ty(unit.exprs[e].ty), CType::Pointer(_)) {
                    return Node::Leaf(e);
                }
                Node::Ite(
                    self.tested(*condition).into(),
                    self.tested(*then).into(),
                    self.tested(*otherwise).into(),
                )
            }
            ExprKind::Call { callee, args } => match self.expected(*callee, args) {
                Some(inner) => self.tested(inner),
                None => Node::Leaf(e),
            },
            _ => Node::Leaf(e),
        }
    }

    /// The truth of an expression that evaluates something and has a constant value, as `(x++, 1)`.
    pub(in crate::lower) fn constant_behind(&self, e: ast::ExprId) -> Option<bool> {
        match &self.unit.exprs[e].kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.constant_behind(*inner)
            }
            ExprKind::Binary { op: BinaryOp::Comma, right, .. } => {
                self.module.constant_truth(*right).or_else(|| self.constant_behind(*right))
            }
            _ => None,
        }
    }

    /// The tree of an expression whose value is 0 or 1 because it is Boolean; `None` for others.
    pub(in crate::lower) fn boolean_value(&self, e: ast::ExprId) -> Option<Node> {
        let unit = self.unit;
        let expr = &unit.exprs[e];
        if let Some(node) = self.boolean_operator(e) {
            return Some(node);
        }
        match &expr.kind {
            ExprKind::Paren(inner)
            | ExprKind::Chosen(inner)
            | ExprKind::Unary { op: UnaryOp::Extension, operand: inner } => {
                self.boolean_value(*inner)
            }
            ExprKind::Binary { op, .. } if op.is_comparison() => Some(Node::Leaf(e)),
            ExprKind::Cast { kind, operand, .. } => match kind {
                CastKind::IntegralToBoolean
                | CastKind::PointerToBoolean
                | CastKind::FloatingToBoolean => Some(self.tested(*operand)),
                CastKind::IntegralCast => self.boolean_value(*operand),
                _ => self.is_bool(e).then_some(Node::Leaf(e)),
            },
            ExprKind::Conditional { condition, then, otherwise } => {
                let (a, b) = self.boolean_pair(*then, *otherwise)?;
                Some(Node::Ite(self.tested(*condition).into(), a, b))
            }
            ExprKind::Call { callee, args } => match self.expected(*callee, args) {
                Some(inner) => self.boolean_value(inner),
                None => self.is_bool(e).then_some(Node::Leaf(e)),
            },
            _ => None,
        }
    }

    /// The node of a Boolean operator with its operands.
    fn boolean_operator(&self, e: ast::ExprId) -> Option<Node> {
        match &self.unit.exprs[e].kind {
            ExprKind::Unary { op: UnaryOp::LogicalNot, operand } => {
                Some(Node::Not(self.tested(*operand).into()))
            }
            ExprKind::Binary { op, left, right } => match op {
                BinaryOp::LogicalAnd => {
                    Some(Node::And(self.tested(*left).into(), self.tested(*right).into()))
                }
                BinaryOp::LogicalOr => {
                    Some(Node::Or(self.tested(*left).into(), self.tested(*right).into()))
                }
                BinaryOp::Equal
                | BinaryOp::NotEqual
                | BinaryOp::BitXor
                | BinaryOp::BitAnd
                | BinaryOp::BitOr => {
                    let (a, b) = self.boolean_pair(*left, *right)?;
                    let node = match op {
                        BinaryOp::Equal => Node::Eq(a, b),
                        BinaryOp::BitAnd => Node::BitAnd(a, b),
                        BinaryOp::BitOr => Node::BitOr(a, b),
                        _ => Node::Xor(a, b),
                    };
                    (node.copies() <= MOST_COPIES).then_some(node)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Two operands, at least one of them Boolean, the other too or the constant 0 or 1.
    fn boolean_pair(
        &self,
        left: ast::ExprId,
        right: ast::ExprId,
    ) -> Option<(Box<Node>, Box<Node>)> {
        let constant = |e| match self.module.constant_integer(e) {
            Some(0) => Some(Node::Const(false)),
            Some(1) => Some(Node::Const(true)),
            _ => None,
        };
        match (constant(left), constant(right)) {
            (None, None) => {
                Some((self.boolean_value(left)?.into(), self.boolean_value(right)?.into()))
            }
            (Some(a), None) => Some((a.into(), self.boolean_value(right)?.into())),
            (None, Some(b)) => Some((self.boolean_value(left)?.into(), b.into())),
            (Some(_), Some(_)) => None,
        }
    }

    /// Whether an integer conversion is zero exactly where its operand is.
    fn keeps_zero(&self, e: ast::ExprId, operand: ast::ExprId, explicit: bool) -> bool {
        if self.boolean_value(operand).is_some() {
            return true;
        }
        let bits =
            |e: ast::ExprId| scalar_of(self.unit, self.unit.exprs[e].ty.ty).map(|s| s.ty.bits());
        match (bits(operand), bits(e)) {
            (Some(from), Some(to)) => from <= to && !explicit,
            _ => false,
        }
    }

    fn is_bool(&self, e: ast::ExprId) -> bool {
        matches!(self.unit.ty(self.unit.exprs[e].ty), CType::Int(IntKind::Bool))
    }

    /// The operand of `__builtin_expect`, if nothing else is evaluated with it.
    pub(in crate::lower) fn expected(
        &self,
        callee: ast::ExprId,
        args: &[ast::ExprId],
    ) -> Option<ast::ExprId> {
        let function = self.unit.direct_callee(callee)?;
        let (value, others) = args.split_first()?;
        let constant = |arg: &ast::ExprId| {
            let inner = self.unit.strip_implicit(*arg);
            let is_float = matches!(self.unit.exprs[inner].kind, ExprKind::Floating(_));
            is_float || self.unit.const_eval(*arg).is_some()
        };
        match &*self.unit.functions[function].name {
            "__builtin_expect" | "__builtin_expect_with_probability" => {
                others.iter().all(constant).then_some(*value)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;

    fn leaf(index: usize) -> Box<Node> {
        Node::Leaf(ast::ExprId::from_index(index)).into()
    }

    #[test]
    fn a_constant_that_decides_drops_only_what_is_not_evaluated() {
        let zero = || Box::new(Node::Const(false));
        assert_eq!(Node::And(zero(), leaf(0)).simplified(), Node::Const(false));
        assert_eq!(Node::And(leaf(0), zero()).simplified(), Node::And(leaf(0), zero()));
        assert_eq!(Node::Eq(leaf(0), zero()).simplified(), Node::Not(leaf(0)));
    }

    #[test]
    fn what_a_part_that_is_constantly_so_never_lets_be_evaluated_is_dropped() {
        let never = || Box::new(Node::BitAnd(Node::Const(false).into(), leaf(0)));
        assert_eq!(Node::And(never(), leaf(1)).simplified(), *never());
        let kept = Node::BitOr(never(), leaf(2));
        assert_eq!(Node::Ite(never(), leaf(1), leaf(2)).simplified(), kept);
        assert_eq!(Node::Or(leaf(1), never()).simplified(), Node::Or(leaf(1), never()));
    }

    #[test]
    fn a_chain_that_nests_to_the_right_doubles_its_copies_at_each_step() {
        let two = Node::Xor(leaf(0), Node::Xor(leaf(1), leaf(2)).into());
        let left = Node::Xor(Node::Xor(leaf(0), leaf(1)).into(), leaf(2));
        assert_eq!((two.copies(), left.copies()), (4, 2));
    }
}
