//! The builtins behind SSSE3's and SSE4's commonest intrinsics: bytes moved by a vector of places,
//! packing with saturation, products of neighbours, sums of differences, choices by sign, and
//! checksums. Intel's manual is the meaning; each is written out, element by element.

use lydian_base::Span;
use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, IntKind, Stmt, Type, UnOp};

use crate::ast;
use crate::lower::builder::FunctionLowering;
use crate::lower::expressions::vector::VectorType;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

/// The operations of builtins that give a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum SseBuiltin {
    /// Bytes of the first, at the places that the second's bytes name; zero where those are
    /// negative.
    PickBytes,
    /// Both one behind the other, the second first, from a byte on.
    AlignRight,
    /// The elements of both in half their width, cut off to what fits; unsigned or signed.
    Pack {
        /// Whether what fits is an unsigned number.
        unsigned: bool,
    },
    /// Sums of two neighbouring products; of unsigned by signed bytes the sums are cut off.
    MultiplyAdd,
    /// The upper half of products.
    MultiplyHigh {
        /// Of unsigned numbers.
        unsigned: bool,
    },
    /// Whole products of every other element.
    MultiplyEven {
        /// Of unsigned numbers.
        unsigned: bool,
    },
    /// Sums of absolute differences of eight bytes each.
    SumOfDifferences,
    /// Of two vectors the second's element where the third's is negative.
    ChooseBySign,
    /// Sums or differences of neighbouring elements of both.
    Horizontal(BinOp),
    /// The first's elements with the signs of the second's, or zero.
    Sign,
    /// Means, rounded up.
    Average,
    /// Sums or differences, cut off to what the element's type holds.
    Saturate(BinOp),
    /// Absolute values.
    Absolute,
    /// A vector with one element replaced.
    Insert,
}

/// The operations of builtins that take vectors and give a number, or take numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum SseValue {
    /// An element, by a constant.
    Extract,
    /// Whether no bit is set in both, or in the second alone.
    TestBits {
        /// The first is complemented.
        complement: bool,
    },
    /// CRC-32C of one more number.
    Checksum,
}

/// The builtin of this name after `__builtin_` that gives a vector.
pub(in crate::lower) fn sse_builtin(rest: &str) -> Option<SseBuiltin> {
    use SseBuiltin::*;
    Some(match rest {
        "ia32_pshufb128" => PickBytes,
        "ia32_palignr128" => AlignRight,
        "ia32_packsswb128" | "ia32_packssdw128" => Pack { unsigned: false },
        "ia32_packuswb128" | "ia32_packusdw128" => Pack { unsigned: true },
        "ia32_pmaddwd128" | "ia32_pmaddubsw128" => MultiplyAdd,
        "ia32_pmulhw128" => MultiplyHigh { unsigned: false },
        "ia32_pmulhuw128" => MultiplyHigh { unsigned: true },
        "ia32_pmuldq128" => MultiplyEven { unsigned: false },
        "ia32_pmuludq128" => MultiplyEven { unsigned: true },
        "ia32_psadbw128" => SumOfDifferences,
        "ia32_pblendvb128" => ChooseBySign,
        "ia32_phaddw128" | "ia32_phaddd128" => Horizontal(BinOp::AddU),
        "ia32_phsubw128" | "ia32_phsubd128" => Horizontal(BinOp::SubU),
        "ia32_psignb128" | "ia32_psignw128" | "ia32_psignd128" => Sign,
        "ia32_pavgb128" | "ia32_pavgw128" => Average,
        "elementwise_add_sat" => Saturate(BinOp::AddU),
        "elementwise_sub_sat" => Saturate(BinOp::SubU),
        "elementwise_abs" => Absolute,
        "ia32_vec_set_v16qi" | "ia32_vec_set_v8hi" | "ia32_vec_set_v4si" | "ia32_vec_set_v2di" => {
            Insert
        }
        _ => return None,
    })
}

/// The builtin of this name after `__builtin_` that gives a number.
pub(in crate::lower) fn sse_value(rest: &str) -> Option<SseValue> {
    Some(match rest {
        "ia32_vec_ext_v16qi" | "ia32_vec_ext_v8hi" | "ia32_vec_ext_v4si" | "ia32_vec_ext_v2di"
        | "ia32_vec_ext_v4sf" => SseValue::Extract,
        "ia32_ptestz128" => SseValue::TestBits { complement: false },
        "ia32_ptestc128" => SseValue::TestBits { complement: true },
        "ia32_crc32qi" | "ia32_crc32hi" | "ia32_crc32si" | "ia32_crc32di" => SseValue::Checksum,
        _ => return None,
    })
}

/// Castagnoli's polynomial, its bits reversed.
const POLYNOMIAL: i128 = 0x82f6_3b78;

/// A vector in memory.
#[derive(Clone, Copy)]
struct Lanes {
    addr: ExprId,
    ty: VectorType,
}

impl FunctionLowering<'_, '_> {
    /// Computes a call of such a builtin into `dst`, which is none of the operands.
    pub(in crate::lower) fn sse_into(
        &mut self,
        dst: ExprId,
        e: ast::ExprId,
        builtin: SseBuiltin,
        args: &[ast::ExprId],
    ) -> Lowering<()> {
        let span = self.unit.exprs[e].span;
        let to = Lanes { addr: dst, ty: self.vector_of(e)? };
        match (builtin, args) {
            (SseBuiltin::Absolute, [x]) => {
                let x = self.operand_lanes(*x, &[])?;
                self.each(to, |l, index| {
                    let x = l.lane_of(x, index);
                    let sign = l.sign_of(x);
                    l.negated_where(x, sign)
                });
                Ok(())
            }
            (SseBuiltin::Insert, [x, value, index]) => {
                let x = self.operand_lanes(*x, &[*value])?;
                let index = self.constant_place(*index, x.ty.length, span)?;
                let from = self.scalar(self.unit.exprs[*value].ty.ty, span)?;
                let value = self.rvalue(*value)?;
                let value = self.convert(value, from, to.ty.element);
                self.each(to, |l, at| if at == index { value } else { l.lane_of(x, at) });
                Ok(())
            }
            (SseBuiltin::AlignRight, [high, low, count]) => {
                let count = self.module.constant_integer(*count);
                let count =
                    count.ok_or_else(|| UnsupportedConstruct::new("this builtin", span))? as u64;
                let high = self.operand_lanes(*high, &[*low])?;
                let low = self.operand_lanes(*low, &[])?;
                self.each(to, |l, index| match (count & 0xff) + index {
                    at @ 0..16 => l.lane_of(low, at),
                    at @ 16..32 => l.lane_of(high, at - 16),
                    _ => l.zero(to.ty.element.ty),
                });
                Ok(())
            }
            (SseBuiltin::ChooseBySign, [a, b, mask]) => {
                let a = self.operand_lanes(*a, &[*b, *mask])?;
                let b = self.operand_lanes(*b, &[*mask])?;
                let mask = self.operand_lanes(*mask, &[])?;
                self.each(to, |l, index| {
                    let (x, y) = (l.lane_of(a, index), l.lane_of(b, index));
                    let mask = l.lane_of(mask, index);
                    let mask = l.sign_of(mask);
                    l.chosen(mask, y, x)
                });
                Ok(())
            }
            (_, [a, b]) => {
                let a = self.operand_lanes(*a, &[*b])?;
                let b = self.operand_lanes(*b, &[])?;
                self.sse_of_two(to, builtin, a, b, span)
            }
            _ => Err(UnsupportedConstruct::new("this builtin on vectors", span)),
        }
    }

    fn sse_of_two(
        &mut self,
        to: Lanes,
        builtin: SseBuiltin,
        a: Lanes,
        b: Lanes,
        span: Span,
    ) -> Lowering<()> {
        let wide = Scalar::new(Type::Int(32), true);
        let element = to.ty.element;
        match builtin {
            SseBuiltin::PickBytes => self.each(to, |l, index| l.picked_byte(a, b, index)),
            SseBuiltin::Pack { unsigned } => self.each(to, |l, index| {
                let half = to.ty.length / 2;
                let from = if index < half { a } else { b };
                let value = l.lane_as(from, index % half, true, wide);
                let fits = Scalar::new(element.ty, !unsigned);
                l.cut_off(value, wide, fits)
            }),
            SseBuiltin::MultiplyAdd => self.each(to, |l, index| {
                // Of bytes the first ones are unsigned.
                let bytes = a.ty.size == 1;
                let mut product = |at| {
                    let x = l.lane_as(a, at, !bytes, wide);
                    let y = l.lane_as(b, at, true, wide);
                    l.expr(Expr::Binary(BinOp::MulU, x, y))
                };
                let (x, y) = (product(2 * index), product(2 * index + 1));
                let sum = l.expr(Expr::Binary(BinOp::AddU, x, y));
                if bytes { l.cut_off(sum, wide, Scalar::new(element.ty, true)) } else { sum }
            }),
            SseBuiltin::MultiplyHigh { unsigned } => self.each(to, |l, index| {
                let x = l.lane_as(a, index, !unsigned, wide);
                let y = l.lane_as(b, index, !unsigned, wide);
                let product = l.expr(Expr::Binary(BinOp::MulU, x, y));
                let sixteen = l.constant(wide.ty, 16);
                let high = l.expr(Expr::Binary(BinOp::ShrU, product, sixteen));
                l.convert(high, wide, element)
            }),
            SseBuiltin::MultiplyEven { unsigned } => self.each(to, |l, index| {
                let x = l.lane_as(a, 2 * index, !unsigned, element);
                let y = l.lane_as(b, 2 * index, !unsigned, element);
                l.expr(Expr::Binary(BinOp::MulU, x, y))
            }),
            SseBuiltin::SumOfDifferences => self.each(to, |l, index| {
                let mut sum = l.zero(element.ty);
                for at in 8 * index..8 * index + 8 {
                    let x = l.lane_as(a, at, false, element);
                    let y = l.lane_as(b, at, false, element);
                    let difference = l.expr(Expr::Binary(BinOp::SubU, x, y));
                    let sign = l.sign_of(difference);
                    let distance = l.negated_where(difference, sign);
                    sum = l.expr(Expr::Binary(BinOp::AddU, sum, distance));
                }
                sum
            }),
            SseBuiltin::Horizontal(op) => self.each(to, |l, index| {
                let half = to.ty.length / 2;
                let (from, at) = (if index < half { a } else { b }, 2 * (index % half));
                let (x, y) = (l.lane_of(from, at), l.lane_of(from, at + 1));
                l.expr(Expr::Binary(op, x, y))
            }),
            SseBuiltin::Sign => self.each(to, |l, index| {
                let (x, y) = (l.lane_of(a, index), l.lane_of(b, index));
                let sign = l.sign_of(y);
                let signed = l.negated_where(x, sign);
                let there = l.test(y);
                let there = l.cast(CastOp::SExt, element.ty, there);
                l.expr(Expr::Binary(BinOp::And, signed, there))
            }),
            SseBuiltin::Average => self.each(to, |l, index| {
                let x = l.lane_as(a, index, false, wide);
                let y = l.lane_as(b, index, false, wide);
                let sum = l.expr(Expr::Binary(BinOp::AddU, x, y));
                let one = l.constant(wide.ty, 1);
                let sum = l.expr(Expr::Binary(BinOp::AddU, sum, one));
                let mean = l.expr(Expr::Binary(BinOp::ShrU, sum, one));
                l.convert(mean, wide, element)
            }),
            SseBuiltin::Saturate(op) if element.ty.bits() <= 16 => self.each(to, |l, index| {
                let x = l.lane_as(a, index, element.signed, wide);
                let y = l.lane_as(b, index, element.signed, wide);
                let exact = l.expr(Expr::Binary(op, x, y));
                l.cut_off(exact, wide, element)
            }),
            _ => return Err(UnsupportedConstruct::new("this builtin on vectors", span)),
        }
        Ok(())
    }

    /// A number that such a builtin gives.
    pub(in crate::lower) fn sse_number(
        &mut self,
        e: ast::ExprId,
        builtin: SseValue,
        args: &[ast::ExprId],
    ) -> Lowering<ExprId> {
        let span = self.unit.exprs[e].span;
        let result = self.scalar(self.unit.exprs[e].ty.ty, span)?;
        match (builtin, args) {
            (SseValue::Extract, [x, index]) => {
                let x = self.operand_lanes(*x, &[])?;
                let index = self.constant_place(*index, x.ty.length, span)?;
                let value = self.lane_of(x, index);
                Ok(self.convert(value, x.ty.element, result))
            }
            (SseValue::TestBits { complement }, [a, b]) => {
                let a = self.operand_lanes(*a, &[*b])?;
                let b = self.operand_lanes(*b, &[])?;
                let mut any = self.zero(a.ty.element.ty);
                for index in 0..a.ty.length {
                    let (mut x, y) = (self.lane_of(a, index), self.lane_of(b, index));
                    if complement {
                        x = self.unary(UnOp::Not, x);
                    }
                    let both = self.expr(Expr::Binary(BinOp::And, x, y));
                    any = self.expr(Expr::Binary(BinOp::Or, any, both));
                }
                let zero = self.zero(a.ty.element.ty);
                let none = self.expr(Expr::Cmp(CmpOp::Eq, any, zero));
                Ok(self.test_value(none, result))
            }
            (SseValue::Checksum, [start, value]) => {
                let later = self.effects_of(*value);
                let from = self.scalar(self.unit.exprs[*start].ty.ty, span)?;
                let of = self.scalar(self.unit.exprs[*value].ty.ty, span)?;
                let word = Scalar::new(Type::Int(32), false);
                let start = self.operand(*start, &later)?;
                let value = self.rvalue(*value)?;
                let start = self.convert(start, from, word);
                let crc = self.checksum(start, value, of);
                Ok(self.convert(crc, word, result))
            }
            _ => Err(UnsupportedConstruct::new("this builtin on vectors", span)),
        }
    }

    /// One more number of 8 to 64 bits, from its lowest bit.
    fn checksum(&mut self, start: ExprId, value: ExprId, of: Scalar) -> ExprId {
        let word = Scalar::new(Type::Int(32), false);
        let ctype = self.module.program.types.int(IntKind::UInt);
        let mut crc = start;
        let bits = of.ty.bits();
        let unsigned = Scalar { signed: false, ..of };
        let value = if bits <= 32 { self.convert(value, unsigned, word) } else { value };
        for part in 0..bits.div_ceil(32) {
            let mut piece = value;
            if bits > 32 {
                let amount = self.constant(of.ty, i128::from(32 * part));
                let down = self.expr(Expr::Binary(BinOp::ShrU, value, amount));
                piece = self.convert(down, unsigned, word);
            }
            crc = self.expr(Expr::Binary(BinOp::Xor, crc, piece));
            for _ in 0..bits.min(32) {
                let dst = self.temp_of(ctype, word.ty);
                self.emit(Stmt::Assign { dst, value: crc });
                crc = self.read(dst);
                let one = self.constant(word.ty, 1);
                let low = self.expr(Expr::Binary(BinOp::And, crc, one));
                let mask = self.unary(UnOp::NegU, low);
                let polynomial = self.constant(word.ty, POLYNOMIAL);
                let taken = self.expr(Expr::Binary(BinOp::And, mask, polynomial));
                let down = self.expr(Expr::Binary(BinOp::ShrU, crc, one));
                crc = self.expr(Expr::Binary(BinOp::Xor, down, taken));
            }
        }
        let dst = self.temp_of(ctype, word.ty);
        self.emit(Stmt::Assign { dst, value: crc });
        self.read(dst)
    }

    /// Stores every element of a result.
    fn each(&mut self, to: Lanes, mut lane: impl FnMut(&mut Self, u64) -> ExprId) {
        for index in 0..to.ty.length {
            let value = lane(self, index);
            self.store_lane(to.addr, to.ty, index, value);
        }
    }

    fn operand_lanes(&mut self, e: ast::ExprId, later: &[ast::ExprId]) -> Lowering<Lanes> {
        let ty = self.vector_of(e)?;
        let later = self.effects_of_all(later);
        Ok(Lanes { addr: self.aggregate_argument(e, &later)?, ty })
    }

    fn constant_place(&self, e: ast::ExprId, length: u64, span: Span) -> Lowering<u64> {
        let index = self.module.constant_integer(e);
        let index = index.ok_or_else(|| UnsupportedConstruct::new("this builtin", span))?;
        Ok(index as u64 & (length - 1))
    }

    fn lane_of(&mut self, lanes: Lanes, index: u64) -> ExprId {
        let addr = self.lane_addr(lanes.addr, index, lanes.ty.size);
        self.expr(Expr::Load { ty: lanes.ty.element.ty, addr, volatile: false })
    }

    /// An element as a wider number.
    fn lane_as(&mut self, lanes: Lanes, index: u64, signed: bool, to: Scalar) -> ExprId {
        let value = self.lane_of(lanes, index);
        self.convert(value, Scalar::new(lanes.ty.element.ty, signed), to)
    }

    /// All ones for a negative number, else zero.
    fn sign_of(&mut self, x: ExprId) -> ExprId {
        let ty = self.body.type_of(x);
        let zero = self.zero(ty);
        let negative = self.expr(Expr::Cmp(CmpOp::LtS, x, zero));
        self.cast(CastOp::SExt, ty, negative)
    }

    /// `-x` under a mask of ones, `x` under zero.
    fn negated_where(&mut self, x: ExprId, mask: ExprId) -> ExprId {
        let flipped = self.expr(Expr::Binary(BinOp::Xor, x, mask));
        self.expr(Expr::Binary(BinOp::SubU, flipped, mask))
    }

    /// `x` under a mask of ones, `y` under zero.
    fn chosen(&mut self, mask: ExprId, x: ExprId, y: ExprId) -> ExprId {
        let differ = self.expr(Expr::Binary(BinOp::Xor, x, y));
        let taken = self.expr(Expr::Binary(BinOp::And, differ, mask));
        self.expr(Expr::Binary(BinOp::Xor, y, taken))
    }

    /// A signed number as the nearest one that a narrower type holds.
    fn cut_off(&mut self, value: ExprId, from: Scalar, to: Scalar) -> ExprId {
        let bits = to.ty.bits();
        let (least, most) = match to.signed {
            true => (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1),
            false => (0, (1i128 << bits) - 1),
        };
        let mut value = value;
        for (op, limit) in [(CmpOp::LtS, least), (CmpOp::GtS, most)] {
            let limit = self.constant(from.ty, limit);
            let beyond = self.expr(Expr::Cmp(op, value, limit));
            let beyond = self.cast(CastOp::SExt, from.ty, beyond);
            value = self.chosen(beyond, limit, value);
        }
        self.convert(value, from, to)
    }

    /// The byte of `a` at the place that a byte of `b` names.
    fn picked_byte(&mut self, a: Lanes, b: Lanes, index: u64) -> ExprId {
        let place = self.lane_of(b, index);
        let sign = self.sign_of(place);
        let keep = self.unary(UnOp::Not, sign);
        let fifteen = self.constant(Type::Int(8), 15);
        let at = self.expr(Expr::Binary(BinOp::And, place, fifteen));
        let at = self.convert(at, Scalar::new(Type::Int(8), false), Scalar::INDEX);
        let addr = self.expr(Expr::Index { base: a.addr, index: at, size: 1, bound: None });
        let byte = self.expr(Expr::Load { ty: Type::Int(8), addr, volatile: false });
        self.expr(Expr::Binary(BinOp::And, byte, keep))
    }
}
