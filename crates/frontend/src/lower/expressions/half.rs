//! `_Float16` and `__bf16`: the target computes them as `float`.
//!
//! Clang keeps the `float` from one arithmetic operator to the next inside an expression and rounds
//! where a value is assigned, passed, compared or cast (`-ffloat16-excess-precision=standard`).

use lydian_ir::{CType, CastOp, ExprId, Stmt, Type};

use crate::ast::{self, BinaryOp, ExprKind, UnaryOp};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::effects::Effects;
use crate::lower::constant::unary_op;
use crate::lower::outcome::Lowering;
use crate::lower::types::{Scalar, scalar_of};

impl FunctionLowering<'_, '_> {
    /// Whether an expression is arithmetic of a 16-bit float type.
    pub(in crate::lower) fn is_half_arithmetic(&self, e: ast::ExprId) -> bool {
        let expr = &self.unit.exprs[e];
        let operates = match &expr.kind {
            ExprKind::Binary { op, .. } => {
                matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
            }
            ExprKind::Unary { op, .. } => matches!(op, UnaryOp::Minus | UnaryOp::Plus),
            _ => false,
        };
        operates
            && scalar_of(self.unit, expr.ty.ty)
                .is_some_and(|scalar| matches!(scalar.ty, Type::F16 | Type::BF16))
    }

    /// The value of such arithmetic in its own type.
    pub(in crate::lower) fn half_arithmetic(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let scalar = self.scalar(expr.ty.ty, expr.span)?;
        let value = self.excess_precision(e)?;
        Ok(self.cast(CastOp::FToF, scalar.ty, value))
    }

    /// The value of an expression of a 16-bit float type as the `float` that it is computed as.
    pub(in crate::lower) fn excess_precision(&mut self, e: ast::ExprId) -> Lowering<ExprId> {
        let e = self.unit.strip_parens(e);
        let expr = &self.unit.exprs[e];
        if !self.is_half_arithmetic(e) {
            let value = self.rvalue(e)?;
            return Ok(match self.body.type_of(value) {
                Type::F32 => value,
                _ => self.cast(CastOp::FToF, Type::F32, value),
            });
        }
        match expr.kind {
            ExprKind::Binary { op, left, right } => {
                let later = self.effects_of(right);
                let a = self.excess_operand(left, &later)?;
                let b = self.excess_precision(right)?;
                self.arithmetic(op, (a, Scalar::SINGLE), (b, Scalar::SINGLE), expr.span)
            }
            ExprKind::Unary { op, operand } => {
                let value = self.excess_precision(operand)?;
                Ok(match unary_op(op, Scalar::SINGLE) {
                    Some(op) => self.unary(op, value),
                    None => value,
                })
            }
            _ => self.rvalue(e),
        }
    }

    /// The same, kept in a `float` where what is evaluated later could change it.
    pub(in crate::lower) fn excess_operand(
        &mut self,
        e: ast::ExprId,
        later: &Effects,
    ) -> Lowering<ExprId> {
        let value = self.excess_precision(e)?;
        if self.is_stable(value, later) {
            return Ok(value);
        }
        let float = self.module.program.types.intern(CType::Float);
        let temp = self.temp_of(float, Type::F32);
        self.emit(Stmt::Assign { dst: temp, value });
        self.captures.opaque = true;
        Ok(self.read(temp))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::expressions::convert;

    #[test]
    fn a_half_becomes_an_integer_over_float() {
        let steps = convert::steps(Scalar::new(Type::F16, false), Scalar::INT, 64).unwrap();
        assert_eq!(steps, [(CastOp::FToF, Type::F32), (CastOp::FToS, Type::Int(32))]);
    }
}
