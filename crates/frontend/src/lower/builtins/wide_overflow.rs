//! Checked arithmetic where 128 bits take part, so that no type of the IR holds the exact result.
//!
//! The exact result is held as its lowest 128 bits and a sign word of 8 bits above them, which is
//! -1, 0 or 1: 2 bits more than any operand needs. It fits the destination if what is stored there,
//! extended again, has the same two parts.

use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, IntKind, Stmt, Type, UnOp};

use crate::ast::{self, BinaryOp};
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

const WIDE: Type = Type::Int(128);
const HIGH: Type = Type::Int(8);

/// A number of more than 128 bits.
#[derive(Clone, Copy)]
struct Exact {
    low: ExprId,
    high: ExprId,
}

/// The types of the operands and of the destination of checked arithmetic.
#[derive(Clone, Copy)]
pub(in crate::lower) struct OverflowTypes {
    pub(in crate::lower) left: Scalar,
    pub(in crate::lower) right: Scalar,
    pub(in crate::lower) result: Scalar,
}

impl FunctionLowering<'_, '_> {
    /// Checked arithmetic on operands and a destination of these types, one of which has 128 bits.
    pub(in crate::lower) fn wide_overflow(
        &mut self,
        e: ast::ExprId,
        op: BinaryOp,
        args: &[ast::ExprId],
        types: OverflowTypes,
    ) -> Lowering<ExprId> {
        let OverflowTypes { left: a_type, right: b_type, result: to } = types;
        let span = self.unit.exprs[e].span;
        let [left, right, pointer] = args else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        let later = self.effects_of_all(&[*right, *pointer]);
        let a = self.operand(*left, &later)?;
        let later = self.effects_of(*pointer);
        let b = self.operand(*right, &later)?;
        let addr = self.rvalue(*pointer)?;
        let (a, b) = (self.exact(a, a_type), self.exact(b, b_type));
        let (exact, lost) = match op {
            BinaryOp::Add => (self.exact_sum(a, b), None),
            BinaryOp::Sub => (self.exact_difference(a, b), None),
            _ => self.exact_product(a, b),
        };
        let value = self.convert(exact.low, Scalar::new(WIDE, false), to);
        let back = self.exact(value, to);
        let low = self.expr(Expr::Cmp(CmpOp::Ne, back.low, exact.low));
        let high = self.expr(Expr::Cmp(CmpOp::Ne, back.high, exact.high));
        let mut overflows = self.expr(Expr::Binary(BinOp::Or, low, high));
        if let Some(lost) = lost {
            overflows = self.expr(Expr::Binary(BinOp::Or, overflows, lost));
        }
        let result = self.scalar(self.unit.exprs[e].ty.ty, span)?;
        let result = self.test_value(overflows, result);
        self.emit(Stmt::Store { addr, value, ty: to.ty, volatile: false });
        Ok(result)
    }

    fn keep_in(&mut self, value: ExprId, kind: IntKind, ty: Type) -> ExprId {
        let ctype = self.module.program.types.int(kind);
        let dst = self.temp_of(ctype, ty);
        self.emit(Stmt::Assign { dst, value });
        self.read(dst)
    }

    fn keep_low(&mut self, value: ExprId) -> ExprId {
        self.keep_in(value, IntKind::UInt128, WIDE)
    }

    fn keep_high(&mut self, value: ExprId) -> ExprId {
        self.keep_in(value, IntKind::SChar, HIGH)
    }

    fn exact(&mut self, value: ExprId, from: Scalar) -> Exact {
        let low = self.convert(value, from, Scalar::new(WIDE, from.signed));
        let low = self.keep_low(low);
        let high = match from.signed {
            true => self.sign_word(low),
            false => self.zero(HIGH),
        };
        Exact { low, high: self.keep_high(high) }
    }

    /// -1 for a number below zero, else 0.
    fn sign_word(&mut self, value: ExprId) -> ExprId {
        let zero = self.zero(WIDE);
        let negative = self.expr(Expr::Cmp(CmpOp::LtS, value, zero));
        self.cast(CastOp::SExt, HIGH, negative)
    }

    fn exact_sum(&mut self, a: Exact, b: Exact) -> Exact {
        let low = self.expr(Expr::Binary(BinOp::AddU, a.low, b.low));
        let low = self.keep_low(low);
        let carry = self.expr(Expr::Cmp(CmpOp::LtU, low, a.low));
        let carry = self.cast(CastOp::ZExt, HIGH, carry);
        let high = self.expr(Expr::Binary(BinOp::AddU, a.high, b.high));
        let high = self.expr(Expr::Binary(BinOp::AddU, high, carry));
        Exact { low, high: self.keep_high(high) }
    }

    fn exact_difference(&mut self, a: Exact, b: Exact) -> Exact {
        let low = self.expr(Expr::Binary(BinOp::SubU, a.low, b.low));
        let low = self.keep_low(low);
        let borrow = self.expr(Expr::Cmp(CmpOp::LtU, a.low, b.low));
        let borrow = self.cast(CastOp::ZExt, HIGH, borrow);
        let high = self.expr(Expr::Binary(BinOp::SubU, a.high, b.high));
        let high = self.expr(Expr::Binary(BinOp::SubU, high, borrow));
        Exact { low, high: self.keep_high(high) }
    }

    /// The product of the magnitudes, with its sign; and whether the magnitude has more than 128
    /// bits, so that it fits nowhere.
    fn exact_product(&mut self, a: Exact, b: Exact) -> (Exact, Option<ExprId>) {
        let (x, y) = (self.magnitude(a), self.magnitude(b));
        let product = self.expr(Expr::Binary(BinOp::MulU, x, y));
        let product = self.keep_low(product);
        // x * y / y is x again, unless bits were lost; a divisor of zero is made one.
        let there = self.test(y);
        let none = self.unary(UnOp::Not, there);
        let none = self.cast(CastOp::ZExt, WIDE, none);
        let divisor = self.expr(Expr::Binary(BinOp::Or, y, none));
        let back = self.expr(Expr::Binary(BinOp::DivU, product, divisor));
        let differs = self.expr(Expr::Cmp(CmpOp::Ne, back, x));
        let lost = self.expr(Expr::Binary(BinOp::And, there, differs));
        let sign = self.expr(Expr::Binary(BinOp::Xor, a.high, b.high));
        let sign = self.keep_high(sign);
        let mask = self.cast(CastOp::SExt, WIDE, sign);
        let low = self.negated_under(product, mask);
        let low = self.keep_low(low);
        let there = self.test(product);
        let there = self.cast(CastOp::SExt, HIGH, there);
        let high = self.expr(Expr::Binary(BinOp::And, sign, there));
        (Exact { low, high: self.keep_high(high) }, Some(lost))
    }

    fn magnitude(&mut self, a: Exact) -> ExprId {
        let mask = self.cast(CastOp::SExt, WIDE, a.high);
        let value = self.negated_under(a.low, mask);
        self.keep_low(value)
    }

    /// `-value` under a mask of ones, `value` under zero.
    fn negated_under(&mut self, value: ExprId, mask: ExprId) -> ExprId {
        let flipped = self.expr(Expr::Binary(BinOp::Xor, value, mask));
        self.expr(Expr::Binary(BinOp::SubU, flipped, mask))
    }
}
