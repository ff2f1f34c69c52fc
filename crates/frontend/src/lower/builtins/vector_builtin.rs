//! The builtins behind the commonest SSE2 intrinsics: moves of elements and bytes by constants,
//! shifts by one amount, sign masks, and minima and maxima of integers. Most intrinsics are
//! operators of vectors and need none. Every other builtin that has or gives a vector is refused.

use lydian_base::Span;
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, Stmt, Type};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::builtins::sse::{SseBuiltin, sse_builtin};
use crate::lower::expressions::vector::VectorType;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

/// The operations of builtins on vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum VectorBuiltin {
    /// Every element shifted by one amount; one that is too large leaves zeros, or signs.
    Shift(BinOp),
    /// The whole moved by bytes, towards the end or the beginning.
    ByteShift {
        /// Towards the end.
        left: bool,
    },
    /// Elements chosen by a constant: four of the first by two bits each, from this element on.
    Pick {
        /// The first element that is chosen anew; those outside of the four stay.
        from: u64,
    },
    /// As many elements of the first as of the second, each chosen by the bits of a constant.
    PickOfTwo,
    /// The lesser or greater of each two elements.
    Extreme {
        /// The lesser.
        least: bool,
    },
    /// Zeros, where anything may stand.
    Undefined,
    /// One of SSSE3's or SSE4's.
    Sse(SseBuiltin),
}

/// The builtin of a name whose result is a vector.
pub(in crate::lower) fn vector_builtin(name: &str) -> Option<VectorBuiltin> {
    use VectorBuiltin::{ByteShift, Extreme, Pick, PickOfTwo, Shift, Undefined};
    let rest = name.strip_prefix("__builtin_")?;
    Some(match rest {
        "ia32_psllwi128" | "ia32_pslldi128" | "ia32_psllqi128" => Shift(BinOp::ShlU),
        "ia32_psrlwi128" | "ia32_psrldi128" | "ia32_psrlqi128" => Shift(BinOp::ShrU),
        "ia32_psrawi128" | "ia32_psradi128" => Shift(BinOp::ShrS),
        "ia32_pslldqi128_byteshift" => ByteShift { left: true },
        "ia32_psrldqi128_byteshift" => ByteShift { left: false },
        "ia32_pshufd" | "ia32_pshuflw" => Pick { from: 0 },
        "ia32_pshufhw" => Pick { from: 4 },
        "ia32_shufps" | "ia32_shufpd" => PickOfTwo,
        "elementwise_min" => Extreme { least: true },
        "elementwise_max" => Extreme { least: false },
        "ia32_undef128" => Undefined,
        _ => return sse_builtin(rest).map(VectorBuiltin::Sse),
    })
}

/// Whether a builtin gives the sign bits of a vector's elements as a number.
pub(in crate::lower) fn is_sign_mask(name: &str) -> bool {
    matches!(
        name,
        "__builtin_ia32_pmovmskb128" | "__builtin_ia32_movmskps" | "__builtin_ia32_movmskpd"
    )
}

impl FunctionLowering<'_, '_> {
    /// The name of the builtin that is called.
    pub(in crate::lower) fn builtin_name(&self, callee: ast::ExprId) -> Option<&str> {
        let name = &*self.unit.functions[self.unit.direct_callee(callee)?].name;
        name.starts_with("__builtin_").then_some(name)
    }

    /// Computes a call of a builtin into `dst`.
    pub(in crate::lower) fn vector_builtin_into(
        &mut self,
        dst: ExprId,
        e: ast::ExprId,
        builtin: VectorBuiltin,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        let span = self.unit.exprs[e].span;
        let ty = self.vector_of(e)?;
        match (builtin, args) {
            (VectorBuiltin::Sse(builtin), _) => self.sse_into(dst, e, builtin, args),
            (VectorBuiltin::Undefined, []) => {
                self.emit(Stmt::Zero { dst, size: ty.size * ty.length });
                Ok(())
            }
            (VectorBuiltin::Shift(op), [vector, amount]) => {
                self.shift_lanes(dst, ty, op, *vector, *amount)
            }
            (VectorBuiltin::ByteShift { left }, [vector, amount]) => {
                let size = ty.size * ty.length;
                let bytes = self.immediate(*amount, span)?.min(size);
                let src = self.aggregate(*vector)?;
                self.emit(Stmt::Zero { dst, size });
                if bytes < size {
                    let (to, from) = if left { (bytes, 0) } else { (0, bytes) };
                    let (dst, src) = (self.offset_addr(dst, to), self.offset_addr(src, from));
                    self.emit(Stmt::Copy { dst, src, size: size - bytes });
                }
                Ok(())
            }
            (VectorBuiltin::Pick { from }, [vector, choice]) => {
                let choice = self.immediate(*choice, span)?;
                let src = self.aggregate(*vector)?;
                for index in 0..ty.length {
                    let picked = match index.checked_sub(from) {
                        Some(place @ 0..4) => from + (choice >> (2 * place) & 3),
                        _ => index,
                    };
                    self.move_lane(dst, index, src, picked, ty);
                }
                Ok(())
            }
            (VectorBuiltin::PickOfTwo, [first, second, choice]) => {
                let choice = self.immediate(*choice, span)?;
                let later = self.effects_of(*second);
                let a = self.aggregate_argument(*first, &later)?;
                let b = self.aggregate(*second)?;
                let bits = ty.length.ilog2();
                for index in 0..ty.length {
                    let picked = choice >> (u64::from(bits) * index) & (ty.length - 1);
                    let src = if index < ty.length / 2 { a } else { b };
                    self.move_lane(dst, index, src, picked, ty);
                }
                Ok(())
            }
            (VectorBuiltin::Extreme { least }, [first, second]) if !ty.element.ty.is_float() => {
                let later = self.effects_of(*second);
                let a = self.aggregate_argument(*first, &later)?;
                let b = self.aggregate(*second)?;
                for index in 0..ty.length {
                    self.extreme_lane(dst, index, (a, b), ty, least);
                }
                Ok(())
            }
            _ => Err(UnsupportedConstruct::new("this builtin on vectors", span)),
        }
    }

    fn immediate(&self, e: ast::ExprId, span: Span) -> Lowering<u64> {
        let value = self.module.constant_integer(e).map(|value| (value & 0xff) as u64);
        value.ok_or_else(|| {
            UnsupportedConstruct::new("this builtin with an amount that varies", span)
        })
    }

    fn load_lane(&mut self, src: ExprId, index: u64, ty: VectorType) -> ExprId {
        let addr = self.lane_addr(src, index, ty.size);
        self.expr(Expr::Load { ty: ty.element.ty, addr, volatile: false })
    }

    fn move_lane(&mut self, dst: ExprId, index: u64, src: ExprId, from: u64, ty: VectorType) {
        let value = self.load_lane(src, from, ty);
        self.store_lane(dst, ty, index, value);
    }

    /// All ones where a test holds, else zero.
    fn mask_of(&mut self, test: ExprId, ty: Type) -> ExprId {
        self.cast(CastOp::SExt, ty, test)
    }

    fn extreme_lane(
        &mut self,
        dst: ExprId,
        index: u64,
        (a, b): (ExprId, ExprId),
        ty: VectorType,
        least: bool,
    ) {
        let (x, y) = (self.load_lane(a, index, ty), self.load_lane(b, index, ty));
        let op = match (ty.element.signed, least) {
            (true, true) => CmpOp::LtS,
            (true, false) => CmpOp::GtS,
            (false, true) => CmpOp::LtU,
            (false, false) => CmpOp::GtU,
        };
        let test = self.expr(Expr::Cmp(op, x, y));
        // y ^ ((x ^ y) & mask) is x under a mask of ones, and y under zero.
        let mask = self.mask_of(test, ty.element.ty);
        let differ = self.expr(Expr::Binary(BinOp::Xor, x, y));
        let chosen = self.expr(Expr::Binary(BinOp::And, differ, mask));
        let value = self.expr(Expr::Binary(BinOp::Xor, y, chosen));
        self.store_lane(dst, ty, index, value);
    }

    fn shift_lanes(
        &mut self,
        dst: ExprId,
        ty: VectorType,
        op: BinOp,
        vector: ast::ExprId,
        amount: ast::ExprId,
    ) -> Lowering<()> {
        let span = self.unit.exprs[amount].span;
        let later = self.effects_of(amount);
        let src = self.aggregate_argument(vector, &later)?;
        let amount_type = self.unit.exprs[amount].ty.ty;
        let from = Scalar { signed: false, ..self.scalar(amount_type, span)? };
        let amount = self.rvalue(amount)?;
        // In 64 bits, so that what is cut off by the element's type is seen.
        let word = Scalar::new(Type::Int(64), false);
        let amount = self.convert(amount, from, word);
        let bits = i128::from(ty.element.ty.bits());
        let limit = self.constant(word.ty, bits);
        let last = self.constant(word.ty, bits - 1);
        let fits = self.expr(Expr::Cmp(CmpOp::LtU, amount, limit));
        let within = self.expr(Expr::Binary(BinOp::And, amount, last));
        let lane_type = Scalar::new(ty.element.ty, false);
        let ones = self.mask_of(fits, word.ty);
        let amount = match op {
            // Beyond the last bit signs are all that is left, as after the last.
            BinOp::ShrS => {
                let beyond = self.unary(lydian_ir::UnOp::Not, ones);
                let beyond = self.expr(Expr::Binary(BinOp::And, beyond, last));
                self.expr(Expr::Binary(BinOp::Or, within, beyond))
            }
            _ => within,
        };
        let amount = self.convert(amount, word, lane_type);
        let ones = self.convert(ones, word, lane_type);
        for index in 0..ty.length {
            let value = self.load_lane(src, index, ty);
            let mut value = self.expr(Expr::Binary(op, value, amount));
            if op != BinOp::ShrS {
                value = self.expr(Expr::Binary(BinOp::And, value, ones));
            }
            self.store_lane(dst, ty, index, value);
        }
        Ok(())
    }

    /// The sign bits of a vector's elements, the first one's lowest, as an `int`.
    pub(in crate::lower) fn sign_mask(&mut self, vector: ast::ExprId) -> Lowering<ExprId> {
        let ty = self.vector_of(vector)?;
        let bits = ty.element.ty.bits();
        let word = Type::Int(bits as u8);
        let src = self.apart(|l| l.aggregate(vector))?;
        self.captures.opaque = true;
        let mut mask = self.zero(Type::Int(32));
        for index in 0..ty.length {
            let addr = self.lane_addr(src, index, ty.size);
            let value = self.expr(Expr::Load { ty: word, addr, volatile: false });
            let zero = self.zero(word);
            let negative = self.expr(Expr::Cmp(CmpOp::LtS, value, zero));
            let bit = self.cast(CastOp::ZExt, Type::Int(32), negative);
            let amount = self.constant(Type::Int(32), i128::from(index));
            let bit = self.expr(Expr::Binary(BinOp::ShlU, bit, amount));
            mask = self.expr(Expr::Binary(BinOp::Or, mask, bit));
        }
        Ok(mask)
    }
}
