//! Finds the effects of an expression before it is lowered, so that operands left of it can be kept.
//!
//! The answer may say too much, never too little.

use std::rc::Rc;

use crate::ast::{CastKind, DeclRef, ExprId, ExprKind, UnaryOp, ValueCategory, for_each_child};
use crate::ctypes::Quals;
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::effects::Effects;
use crate::lower::options::ValueDecisions;

impl FunctionLowering<'_, '_> {
    /// The effects of an expression.
    pub(in crate::lower) fn effects_of(&mut self, e: ExprId) -> Rc<Effects> {
        if let Some(known) = self.effects.get(e) {
            return known;
        }
        let mut effects = self.own_effects(e);
        effects.hoists |= self.is_kept_in_parts(e);
        if !effects.all_vars {
            let mut children = Vec::new();
            for_each_child(&self.unit.exprs[e].kind, &mut |child| children.push(child));
            for child in children {
                let child = self.effects_of(child);
                effects.join(&child);
            }
        }
        let effects = Rc::new(effects);
        self.effects.insert(e, effects.clone());
        effects
    }

    /// The effects of several expressions together.
    pub(in crate::lower) fn effects_of_all(&mut self, list: &[ExprId]) -> Effects {
        let mut effects = Effects::default();
        for e in list {
            let one = self.effects_of(*e);
            effects.join(&one);
        }
        effects
    }

    /// Whether evaluating an expression does nothing but compute, once what it hoists are `&&`, `||`,
    /// `!` and `?:` alone.
    pub(in crate::lower) fn only_computes(&self, e: ExprId) -> bool {
        let mut work = vec![e];
        while let Some(next) = work.pop() {
            if !self.operator_only_computes(next) {
                return false;
            }
            for_each_child(&self.unit.exprs[next].kind, &mut |child| work.push(child));
        }
        true
    }

    fn operator_only_computes(&self, e: ExprId) -> bool {
        let expr = &self.unit.exprs[e];
        let is_value = expr.category == ValueCategory::PrValue;
        if self.is_kept_in_parts(e)
            || self.is_half_arithmetic(e)
            || (is_value && self.is_aggregate(expr.ty.ty))
        {
            return false;
        }
        let is_operator = match &expr.kind {
            ExprKind::Unary { op, .. } => *op == UnaryOp::LogicalNot,
            ExprKind::Binary { op, .. } => op.is_logical() || op.is_comparison(),
            ExprKind::Conditional { .. } | ExprKind::BinaryConditional { .. } => true,
            ExprKind::Member { .. } => return !is_value,
            ExprKind::InitList(_)
            | ExprKind::DesignatedInitUpdate { .. }
            | ExprKind::Shuffle(_)
            | ExprKind::ConvertVector(_)
            | ExprKind::Unsupported(_) => return false,
            _ => false,
        };
        is_operator || self.own_effects(e) == Effects::default()
    }

    /// Whether it computes a complex number or a vector, or with one: that takes temporaries.
    fn is_kept_in_parts(&self, e: ExprId) -> bool {
        let kind = &self.unit.exprs[e].kind;
        let of_parts = |id: ExprId| self.is_complex(id) || self.is_vector(id);
        match kind {
            ExprKind::Unary { operand, .. } | ExprKind::Cast { operand, .. } => of_parts(*operand),
            ExprKind::Binary { left, right, .. } => of_parts(*left) || of_parts(*right),
            ExprKind::VectorElement { .. } | ExprKind::Swizzle { .. } => true,
            _ => self.is_computed(e),
        }
    }

    /// The effects of the outermost operator.
    fn own_effects(&self, e: ExprId) -> Effects {
        use crate::ast::BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
        let all_decisions = self.module.options.value_decisions == ValueDecisions::All;
        match &self.unit.exprs[e].kind {
            ExprKind::Assign { target, .. } | ExprKind::CompoundAssign { target, .. } => {
                self.write_effects(*target)
            }
            ExprKind::Unary { op, operand } => match op {
                UnaryOp::PreInc | UnaryOp::PreDec | UnaryOp::PostInc | UnaryOp::PostDec => {
                    self.write_effects(*operand)
                }
                UnaryOp::LogicalNot => Effects::HOISTS,
                _ => Effects::default(),
            },
            ExprKind::Binary { op, .. } if op.is_logical() => Effects::HOISTS,
            ExprKind::Binary {
                op: Equal | NotEqual | Less | LessEqual | Greater | GreaterEqual,
                ..
            } if all_decisions => Effects::HOISTS,
            ExprKind::Conditional { .. } | ExprKind::BinaryConditional { .. } => Effects::HOISTS,
            ExprKind::Call { callee, .. } => match self.builtin_of(*callee) {
                Some(builtin) if builtin.is_transparent() => Effects::default(),
                Some(builtin) if !builtin.writes_memory() => Effects::HOISTS,
                _ => Effects::MEMORY,
            },
            ExprKind::Cast { kind: CastKind::LValueToRValue, operand, .. }
                if self.unit.exprs[*operand].ty.quals.has(Quals::VOLATILE) =>
            {
                Effects::MEMORY
            }
            ExprKind::StmtExpr(_) => Effects::ALL,
            // The bounds of its type are evaluated.
            ExprKind::Cast { explicit: true, .. }
                if self.unit.bounds.contains_key(&crate::ast::BoundOwner::Cast(e)) =>
            {
                Effects::ALL
            }
            // Bounds are evaluated, and so is an operand whose type has some.
            ExprKind::TypeTrait { value: None, .. } => Effects::ALL,
            ExprKind::CompoundLiteral { .. } | ExprKind::Atomic { .. } | ExprKind::VaArg { .. } => {
                Effects::MEMORY
            }
            _ => Effects::default(),
        }
    }

    fn write_effects(&self, target: ExprId) -> Effects {
        match self.unit.exprs[self.unit.strip_parens(target)].kind {
            ExprKind::DeclRef(DeclRef::Var(var)) if self.is_register(var) => {
                Effects { vars: vec![var], ..Effects::HOISTS }
            }
            _ => Effects::MEMORY,
        }
    }
}
