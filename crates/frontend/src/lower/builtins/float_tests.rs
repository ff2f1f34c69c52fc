//! Builtin functions that ask something of floats: `__builtin_isnan` and its like.

use lydian_ir::arith::{self, Overflow};
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};

/// The tests of one or two floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum FloatTest {
    IsNan,
    IsInf,
    /// 1 for infinity, -1 for the negative one.
    InfinitySign,
    IsFinite,
    IsNormal,
    IsSubnormal,
    IsZero,
    SignBit,
    Compare(CmpOp),
    LessGreater,
    Unordered,
}

impl FunctionLowering<'_, '_> {
    /// A call of such a builtin.
    pub(in crate::lower) fn float_builtin(
        &mut self,
        e: ast::ExprId,
        test: FloatTest,
        args: &[ast::ExprId],
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let result = self.scalar(expr.ty.ty, expr.span)?;
        let [first, rest @ ..] = args else {
            return Err(UnsupportedConstruct::new("this builtin", expr.span));
        };
        let later = self.effects_of_all(rest);
        let x = self.operand(*first, &later)?;
        let y = match rest.first() {
            Some(second) => self.rvalue(*second)?,
            None => x,
        };
        if test == FloatTest::InfinitySign {
            let inf = f64::INFINITY;
            if !self.body.type_of(x).is_float() {
                return Err(UnsupportedConstruct::new("this builtin on this type", expr.span));
            }
            let (plus, minus) = self.compare_both_signs(CmpOp::FEq, CmpOp::FEq, x, [inf; 2]);
            let (plus, minus) = (self.test_value(plus, result), self.test_value(minus, result));
            return Ok(self.expr(Expr::Binary(BinOp::SubU, plus, minus)));
        }
        let truth = self.float_test(test, x, y)?;
        Ok(self.test_value(truth, result))
    }

    /// A question about one float, or two, as a test.
    pub(in crate::lower) fn float_test(
        &mut self,
        test: FloatTest,
        x: ExprId,
        y: ExprId,
    ) -> Lowering<ExprId> {
        let ty = self.body.type_of(x);
        if !ty.is_float() {
            return Err(UnsupportedConstruct::new("this builtin on this type", self.span));
        }
        let inf = f64::INFINITY;
        Ok(match test {
            FloatTest::IsNan => self.expr(Expr::Cmp(CmpOp::FNe, x, x)),
            FloatTest::Compare(op) => self.expr(Expr::Cmp(op, x, y)),
            FloatTest::IsInf => {
                let (plus, minus) = self.compare_both_signs(CmpOp::FEq, CmpOp::FEq, x, [inf; 2]);
                self.expr(Expr::Binary(BinOp::Or, plus, minus))
            }
            FloatTest::InfinitySign => {
                return Err(UnsupportedConstruct::new("this builtin", self.span));
            }
            FloatTest::IsZero => {
                let zero = self.zero(ty);
                self.expr(Expr::Cmp(CmpOp::FEq, x, zero))
            }
            FloatTest::IsSubnormal => {
                let normal = self.float_test(FloatTest::IsNormal, x, x)?;
                let zero = self.float_test(FloatTest::IsZero, x, x)?;
                let either = self.expr(Expr::Binary(BinOp::Or, normal, zero));
                let neither = self.unary(lydian_ir::UnOp::Not, either);
                let finite = self.is_finite(x);
                self.expr(Expr::Binary(BinOp::And, neither, finite))
            }
            FloatTest::IsFinite => self.is_finite(x),
            FloatTest::IsNormal => {
                let least = [f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE];
                let (plus, minus) = self.compare_both_signs(CmpOp::FGe, CmpOp::FLe, x, least);
                let large = self.expr(Expr::Binary(BinOp::Or, plus, minus));
                let finite = self.is_finite(x);
                self.expr(Expr::Binary(BinOp::And, large, finite))
            }
            FloatTest::LessGreater => {
                let less = self.expr(Expr::Cmp(CmpOp::FLt, x, y));
                let greater = self.expr(Expr::Cmp(CmpOp::FGt, x, y));
                self.expr(Expr::Binary(BinOp::Or, less, greater))
            }
            FloatTest::Unordered => {
                let a = self.expr(Expr::Cmp(CmpOp::FNe, x, x));
                let b = self.expr(Expr::Cmp(CmpOp::FNe, y, y));
                self.expr(Expr::Binary(BinOp::Or, a, b))
            }
            FloatTest::SignBit => {
                // No integer is as wide as the x87's format; conversions keep the sign.
                let (ty, x) = match ty {
                    Type::F80 => (Type::F64, self.cast(CastOp::FToF, Type::F64, x)),
                    _ => (ty, x),
                };
                let word = Type::Int(ty.bits() as u8);
                let bits = self.cast(CastOp::Bits, word, x);
                let zero = self.zero(word);
                self.expr(Expr::Cmp(CmpOp::LtS, bits, zero))
            }
        })
    }

    /// Whether a float is of one of the classes whose bits are set, as LLVM numbers them: signalling
    /// and quiet NaN, then infinities, normal and subnormal numbers and zeros, from the least up.
    pub(in crate::lower) fn float_class(&mut self, x: ExprId, classes: u32) -> Lowering<ExprId> {
        let mut found = self.expr(Expr::Const(Type::Int(1), 0));
        match classes & 3 {
            0 => {}
            3 => found = self.float_test(FloatTest::IsNan, x, x)?,
            quiet => {
                let test = self.nan_of_kind(x, quiet == 2)?;
                found = self.expr(Expr::Binary(BinOp::Or, found, test));
            }
        }
        let minus = self.float_test(FloatTest::SignBit, x, x)?;
        let plus = self.unary(UnOp::Not, minus);
        let kinds = [
            (FloatTest::IsInf, 2, 9),
            (FloatTest::IsNormal, 3, 8),
            (FloatTest::IsSubnormal, 4, 7),
            (FloatTest::IsZero, 5, 6),
        ];
        for (test, negative, positive) in kinds {
            for (bit, sign) in [(negative, minus), (positive, plus)] {
                if classes >> bit & 1 != 0 {
                    let kind = self.float_test(test, x, x)?;
                    let both = self.expr(Expr::Binary(BinOp::And, kind, sign));
                    found = self.expr(Expr::Binary(BinOp::Or, found, both));
                }
            }
        }
        Ok(found)
    }

    /// Whether a float is a NaN whose highest bit of the fraction is set, or is not.
    fn nan_of_kind(&mut self, x: ExprId, quiet: bool) -> Lowering<ExprId> {
        let bit = match self.body.type_of(x) {
            Type::F16 => 9,
            Type::BF16 => 6,
            Type::F32 => 22,
            Type::F64 => 51,
            _ => return Err(UnsupportedConstruct::new("this builtin on this type", self.span)),
        };
        let word = Type::Int(self.body.type_of(x).bits() as u8);
        let bits = self.cast(CastOp::Bits, word, x);
        let mask = self.constant(word, 1 << bit);
        let set = self.expr(Expr::Binary(BinOp::And, bits, mask));
        let zero = self.zero(word);
        let op = if quiet { CmpOp::Ne } else { CmpOp::Eq };
        let kind = self.expr(Expr::Cmp(op, set, zero));
        let nan = self.float_test(FloatTest::IsNan, x, x)?;
        Ok(self.expr(Expr::Binary(BinOp::And, nan, kind)))
    }

    fn is_finite(&mut self, x: ExprId) -> ExprId {
        let limits = [f64::INFINITY; 2];
        let (below, above) = self.compare_both_signs(CmpOp::FLt, CmpOp::FGt, x, limits);
        self.expr(Expr::Binary(BinOp::And, below, above))
    }

    /// `x op1 limit` and `x op2 -limit`; the limits for `float` and for `double`.
    fn compare_both_signs(
        &mut self,
        with_plus: CmpOp,
        with_minus: CmpOp,
        x: ExprId,
        [single, double]: [f64; 2],
    ) -> (ExprId, ExprId) {
        let ty = self.body.type_of(x);
        // Infinity is that of every type; the least normal number is the type's own.
        let limit = match ty {
            _ if single.is_infinite() => arith::float_bits(ty, single),
            Type::F16 => 0x0400,
            Type::BF16 => 0x0080,
            Type::F80 => 0x0001_8000_0000_0000_0000,
            Type::F32 => arith::float_bits(ty, single),
            _ => arith::float_bits(ty, double),
        };
        let negative = |value| arith::unary(UnOp::FNeg, ty, value, Overflow::Wrap).unwrap_or(value);
        let pattern = |sign: f64| if sign < 0.0 { negative(limit) } else { limit };
        let plus = self.expr(Expr::Const(ty, pattern(1.0)));
        let minus = self.expr(Expr::Const(ty, pattern(-1.0)));
        let a = self.expr(Expr::Cmp(with_plus, x, plus));
        let b = self.expr(Expr::Cmp(with_minus, x, minus));
        (a, b)
    }
}
