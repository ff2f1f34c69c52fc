//! Conversions between scalar types, and which operator of the IR an operator of C is.

use lydian_base::Span;
use lydian_ir as ir;
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};

use crate::ast::BinaryOp;
use crate::lower::builder::FunctionLowering;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, target_of};

/// The conversions, one after the other, that take a value of one type to another; `None` where
/// the target is `_Bool`, which is a test. `pointer` is the width of an address in bits: numbers
/// become addresses by way of a number of that width.
pub(in crate::lower) fn steps(
    from: Scalar,
    to: Scalar,
    pointer: u8,
) -> Option<Vec<(CastOp, Type)>> {
    if to.is_bool {
        return from.is_bool.then(Vec::new);
    }
    let word = Type::Int(64);
    Some(match (from.ty, to.ty) {
        (a, b) if a == b => Vec::new(),
        (Type::Int(a), Type::Int(b)) => vec![(resize(a, b, from.signed), to.ty)],
        (Type::Ptr, Type::Int(64)) => vec![(CastOp::Bits, to.ty)],
        (Type::Int(bits), Type::Ptr) => {
            let mut steps = Vec::new();
            if bits != pointer {
                steps.push((resize(bits, pointer, from.signed), Type::Int(pointer)));
            }
            if pointer < 64 {
                steps.push((CastOp::ZExt, word));
            }
            steps.push((CastOp::Bits, Type::Ptr));
            steps
        }
        (Type::Ptr, Type::Int(bits)) => {
            vec![(CastOp::Bits, word), (resize(64, bits, false), to.ty)]
        }
        (Type::Int(_), _) => {
            vec![(if from.signed { CastOp::SToF } else { CastOp::UToF }, to.ty)]
        }
        (Type::F16 | Type::BF16, Type::Int(_)) => {
            vec![(CastOp::FToF, Type::F32), (float_to(to), to.ty)]
        }
        (_, Type::Int(_)) => vec![(float_to(to), to.ty)],
        _ => vec![(CastOp::FToF, to.ty)],
    })
}

const fn float_to(to: Scalar) -> CastOp {
    if to.signed { CastOp::FToS } else { CastOp::FToU }
}

const fn resize(from: u8, to: u8, signed: bool) -> CastOp {
    if to < from {
        CastOp::Trunc
    } else if signed {
        CastOp::SExt
    } else {
        CastOp::ZExt
    }
}

/// The IR's operator for an arithmetic or bitwise operator on operands of a type; `None` for
/// comparisons, logical operators and the comma.
pub(in crate::lower) const fn arithmetic(op: BinaryOp, on: Scalar) -> Option<BinOp> {
    let (float, signed) = (on.ty.is_float(), on.signed);
    Some(match (op, float, signed) {
        (BinaryOp::Add, true, _) => BinOp::FAdd,
        (BinaryOp::Sub, true, _) => BinOp::FSub,
        (BinaryOp::Mul, true, _) => BinOp::FMul,
        (BinaryOp::Div, true, _) => BinOp::FDiv,
        (BinaryOp::Add, _, true) => BinOp::AddS,
        (BinaryOp::Add, ..) => BinOp::AddU,
        (BinaryOp::Sub, _, true) => BinOp::SubS,
        (BinaryOp::Sub, ..) => BinOp::SubU,
        (BinaryOp::Mul, _, true) => BinOp::MulS,
        (BinaryOp::Mul, ..) => BinOp::MulU,
        (BinaryOp::Div, _, true) => BinOp::DivS,
        (BinaryOp::Div, ..) => BinOp::DivU,
        (BinaryOp::Rem, _, true) => BinOp::RemS,
        (BinaryOp::Rem, ..) => BinOp::RemU,
        (BinaryOp::Shl, _, true) => BinOp::ShlS,
        (BinaryOp::Shl, ..) => BinOp::ShlU,
        (BinaryOp::Shr, _, true) => BinOp::ShrS,
        (BinaryOp::Shr, ..) => BinOp::ShrU,
        (BinaryOp::BitAnd, ..) => BinOp::And,
        (BinaryOp::BitOr, ..) => BinOp::Or,
        (BinaryOp::BitXor, ..) => BinOp::Xor,
        _ => return None,
    })
}

/// The IR's comparison for an operator on operands of a type; `None` for other operators.
pub(in crate::lower) const fn comparison(op: BinaryOp, on: Scalar) -> Option<CmpOp> {
    Some(match (op, on.ty.is_float(), on.signed) {
        (BinaryOp::Equal, true, _) => CmpOp::FEq,
        (BinaryOp::NotEqual, true, _) => CmpOp::FNe,
        (BinaryOp::Less, true, _) => CmpOp::FLt,
        (BinaryOp::LessEqual, true, _) => CmpOp::FLe,
        (BinaryOp::Greater, true, _) => CmpOp::FGt,
        (BinaryOp::GreaterEqual, true, _) => CmpOp::FGe,
        (BinaryOp::Equal, ..) => CmpOp::Eq,
        (BinaryOp::NotEqual, ..) => CmpOp::Ne,
        (BinaryOp::Less, _, true) => CmpOp::LtS,
        (BinaryOp::LessEqual, _, true) => CmpOp::LeS,
        (BinaryOp::Greater, _, true) => CmpOp::GtS,
        (BinaryOp::GreaterEqual, _, true) => CmpOp::GeS,
        (BinaryOp::Less, ..) => CmpOp::LtU,
        (BinaryOp::LessEqual, ..) => CmpOp::LeU,
        (BinaryOp::Greater, ..) => CmpOp::GtU,
        (BinaryOp::GreaterEqual, ..) => CmpOp::GeU,
        _ => return None,
    })
}

impl FunctionLowering<'_, '_> {
    /// A conversion, done now where the operand is a constant.
    pub(in crate::lower) fn cast(&mut self, op: CastOp, to: Type, value: ExprId) -> ExprId {
        if let Some((from, bits)) = self.as_const(value)
            && let Ok(bits) = ir::arith::cast(op, from, to, bits)
        {
            return self.expr(Expr::Const(to, bits));
        }
        self.expr(Expr::Cast(op, to, value))
    }

    /// An operator with one operand, computed now where that is a constant.
    pub(in crate::lower) fn unary(&mut self, op: UnOp, value: ExprId) -> ExprId {
        if let Some((ty, bits)) = self.as_const(value)
            && let Ok(bits) = ir::arith::unary(op, ty, bits, ir::arith::Overflow::Trap)
        {
            return self.expr(Expr::Const(ty, bits));
        }
        self.expr(Expr::Unary(op, value))
    }

    /// Converts a value between scalar types as C does.
    pub(in crate::lower) fn convert(&mut self, value: ExprId, from: Scalar, to: Scalar) -> ExprId {
        match steps(from, to, self.target().pointer_bits()) {
            Some(steps) => {
                let value =
                    steps.into_iter().fold(value, |value, (op, ty)| self.cast(op, ty, value));
                if matches!(from.ty, Type::Int(_)) && to.holds(from) {
                    return value;
                }
                self.extended(value, to)
            }
            None => {
                let test = self.test(value);
                self.cast(CastOp::ZExt, Scalar::BOOL.ty, test)
            }
        }
    }

    /// A value of the machine type of a scalar type, with the bits beyond its width as they are
    /// kept.
    pub(in crate::lower) fn extended(&mut self, value: ExprId, scalar: Scalar) -> ExprId {
        let Some(width) = scalar.narrow else { return value };
        if let Some((ty, bits)) = self.as_const(value) {
            return self.expr(Expr::Const(ty, scalar.extended(bits)));
        }
        if !scalar.signed {
            let mask = self.constant(scalar.ty, ir::arith::mask(u32::from(width)) as i128);
            return self.expr(Expr::Binary(BinOp::And, value, mask));
        }
        let unused = scalar.ty.bits() - u32::from(width);
        let amount = self.constant(scalar.ty, i128::from(unused));
        let high = self.expr(Expr::Binary(BinOp::ShlU, value, amount));
        self.expr(Expr::Binary(BinOp::ShrS, high, amount))
    }

    /// Refuses a `_BitInt` with fewer bits than its bytes have, where those would matter.
    pub(in crate::lower) fn refuse_narrow(&self, scalar: Scalar, span: Span) -> Lowering<()> {
        match scalar.narrow {
            Some(_) => Err(UnsupportedConstruct::new("this builtin on a `_BitInt`", span)),
            None => Ok(()),
        }
    }

    /// A count of elements as an index. On a 32-bit target it is cut to 32 bits and has a sign from
    /// there on, whatever it was: addresses wrap.
    pub(in crate::lower) fn index(&mut self, value: ExprId, from: Scalar) -> ExprId {
        let pointer = self.target().pointer_bits();
        if pointer == 64 {
            return self.convert(value, from, Scalar::INDEX);
        }
        let narrow = Scalar::new(Type::Int(pointer), true);
        let value = self.convert(value, from, narrow);
        self.convert(value, narrow, Scalar::INDEX)
    }

    /// The target.
    pub(in crate::lower) fn target(&self) -> ir::Target {
        target_of(self.unit)
    }

    /// Whether a value is not zero, of type `i1`.
    pub(in crate::lower) fn test(&mut self, value: ExprId) -> ExprId {
        if let Expr::Cast(CastOp::ZExt, _, inner) = self.body.exprs[value]
            && self.body.type_of(inner) == Type::BOOL
        {
            return inner;
        }
        let ty = self.body.type_of(value);
        if let Some((_, bits)) = self.as_const(value)
            && !ty.is_float()
        {
            return self.constant(Type::BOOL, i128::from(bits != 0));
        }
        let zero = self.constant(ty, 0);
        let op = if ty.is_float() { CmpOp::FNe } else { CmpOp::Ne };
        self.expr(Expr::Cmp(op, value, zero))
    }

    /// An `i1` as a value of a scalar type.
    pub(in crate::lower) fn test_value(&mut self, test: ExprId, to: Scalar) -> ExprId {
        self.cast(CastOp::ZExt, to.ty, test)
    }

    /// Zero of a type.
    pub(in crate::lower) fn zero(&mut self, ty: Type) -> ExprId {
        self.constant(ty, 0)
    }
}
