//! Builtin functions that classify, align, carry, or say where the program is.

use lydian_ir::{BinOp, CastOp, CmpOp, Expr, ExprId, IntKind, Stmt, Type, UnOp};

use crate::ast::{self, BinaryOp, CastKind, DeclRef, ExprKind, UnaryOp};
use crate::ctypes::{CType, TypeId};
use crate::lower::builder::FunctionLowering;
use crate::lower::builder::effects::Effects;
use crate::lower::builtins::float_tests::FloatTest;
use crate::lower::builtins::sse::{SseValue, sse_value};
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::{Scalar, layout_of};

/// The builtins whose value is computed here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum ValueOp {
    /// `__builtin_addc` and its like: adds with a carry; true to subtract.
    Carry(bool),
    /// `__builtin_fpclassify`.
    ClassifyFloat,
    /// `__builtin_isfpclass`.
    IsFloatClass,
    /// `__builtin_is_aligned`.
    IsAligned,
    /// `__builtin_align_up` (true) and `__builtin_align_down`.
    Align(bool),
    /// `__builtin_frame_address`.
    FrameAddress,
    /// `__builtin_return_address`.
    ReturnAddress,
    /// `__builtin_object_size`.
    ObjectSize,
    /// One of SSE4's.
    Sse(SseValue),
}

impl ValueOp {
    /// The operation of `__builtin_` and this.
    pub(in crate::lower) fn of_name(rest: &str) -> Option<Self> {
        let carry = |rest: &str, name| {
            let width = rest.strip_prefix(name)?;
            matches!(width, "b" | "s" | "" | "l" | "ll").then_some(())
        };
        Some(match rest {
            "fpclassify" => Self::ClassifyFloat,
            "isfpclass" => Self::IsFloatClass,
            "is_aligned" => Self::IsAligned,
            "align_up" => Self::Align(true),
            "align_down" => Self::Align(false),
            "frame_address" => Self::FrameAddress,
            "return_address" => Self::ReturnAddress,
            "object_size" | "dynamic_object_size" => Self::ObjectSize,
            _ if carry(rest, "addc").is_some() => Self::Carry(false),
            _ if carry(rest, "subc").is_some() => Self::Carry(true),
            _ => return sse_value(rest).map(Self::Sse),
        })
    }
}

/// A part of an object, in bytes.
#[derive(Clone, Copy)]
struct Extent {
    size: u64,
    offset: u64,
}

impl<'a> FunctionLowering<'_, 'a> {
    /// The value of such a builtin.
    pub(in crate::lower) fn value_builtin(
        &mut self,
        e: ast::ExprId,
        op: ValueOp,
        args: &'a [ast::ExprId],
    ) -> Lowering<ExprId> {
        let span = self.unit.exprs[e].span;
        match (op, args) {
            (ValueOp::Sse(builtin), _) => self.sse_number(e, builtin, args),
            (ValueOp::Carry(subtract), [a, b, carry, out]) => {
                self.carry(e, subtract, [*a, *b, *carry], *out)
            }
            (ValueOp::ClassifyFloat, [classes @ .., x]) if classes.len() == 5 => {
                self.classify_float(e, classes, *x)
            }
            (ValueOp::IsFloatClass, [x, classes]) => {
                let classes = self.module.constant_integer(*classes);
                let classes =
                    classes.ok_or_else(|| UnsupportedConstruct::new("this builtin", span))?;
                let x = self.rvalue(*x)?;
                let truth = self.float_class(x, classes as u32)?;
                let result = self.scalar(self.unit.exprs[e].ty.ty, span)?;
                Ok(self.test_value(truth, result))
            }
            (ValueOp::IsAligned, [value, align]) => {
                let (word, number, mask) = self.alignment_parts(*value, *align)?;
                let low = self.expr(Expr::Binary(BinOp::And, number, mask));
                let zero = self.zero(word);
                let truth = self.expr(Expr::Cmp(CmpOp::Eq, low, zero));
                let result = self.scalar(self.unit.exprs[e].ty.ty, span)?;
                Ok(self.test_value(truth, result))
            }
            (ValueOp::Align(up), [value, align]) => {
                let (_, number, mask) = self.alignment_parts(*value, *align)?;
                let number = match up {
                    true => self.expr(Expr::Binary(BinOp::AddU, number, mask)),
                    false => number,
                };
                let keep = self.unary(UnOp::Not, mask);
                let cut = self.expr(Expr::Binary(BinOp::And, number, keep));
                let to = self.scalar(self.unit.exprs[e].ty.ty, span)?;
                Ok(if to.ty == Type::Ptr { self.cast(CastOp::Bits, Type::Ptr, cut) } else { cut })
            }
            (ValueOp::FrameAddress, [level]) => {
                if self.module.constant_integer(*level) != Some(0) {
                    return Ok(self.zero(Type::Ptr));
                }
                // An address in the frame that is no variable's.
                let char_type = CType::Int(crate::ctypes::IntKind::Char);
                match self.unit.types.find(&char_type) {
                    Some(ty) => self.memory_temp(ty, span),
                    None => Err(UnsupportedConstruct::new("`__builtin_frame_address`", span)),
                }
            }
            (ValueOp::ReturnAddress, [_]) => {
                let function = self.module.function(self.function);
                Ok(self.expr(Expr::AddrFunc(function)))
            }
            (ValueOp::ObjectSize, [pointer, mode]) => {
                let mode = self.module.constant_integer(*mode).unwrap_or(0);
                let scalar = self.scalar(self.unit.exprs[e].ty.ty, span)?;
                let known = self.extent_at(*pointer, mode & 1 != 0);
                let size = match known {
                    Some(extent) => i128::from(extent.size.saturating_sub(extent.offset)),
                    None if mode & 2 != 0 => 0,
                    None => -1,
                };
                Ok(self.constant(scalar.ty, size))
            }
            _ => Err(UnsupportedConstruct::new("this builtin", span)),
        }
    }

    /// Exact arithmetic in a wider type: the low half is the result, the bit above it the carry.
    fn carry(
        &mut self,
        e: ast::ExprId,
        subtract: bool,
        operands: [ast::ExprId; 3],
        out: ast::ExprId,
    ) -> Lowering<ExprId> {
        let span = self.unit.exprs[e].span;
        let narrow = self.scalar(self.unit.exprs[e].ty.ty, span)?;
        let (wide, kind) = match narrow.ty.bits() {
            64 => (Type::Int(128), IntKind::UInt128),
            _ => (Type::Int(64), self.target().word64(false)),
        };
        let op = if subtract { BinOp::SubU } else { BinOp::AddU };
        let mut total = None;
        for (index, operand) in operands.into_iter().enumerate() {
            let mut later = self.effects_of_all(&operands[index + 1..]);
            later = Effects { hoists: true, ..later };
            let value = self.operand(operand, &later)?;
            let value = self.cast(CastOp::ZExt, wide, value);
            total = Some(match total {
                None => value,
                Some(sum) => self.expr(Expr::Binary(op, sum, value)),
            });
        }
        let addr = self.rvalue(out)?;
        let total = total.ok_or_else(|| UnsupportedConstruct::new("this builtin", span))?;
        let ctype = self.module.program.types.int(kind);
        let dst = self.temp_of(ctype, wide);
        self.emit(Stmt::Assign { dst, value: total });
        let total = self.read(dst);
        let width = self.constant(wide, i128::from(narrow.ty.bits()));
        let above = self.expr(Expr::Binary(BinOp::ShrU, total, width));
        let one = self.constant(wide, 1);
        let carry = self.expr(Expr::Binary(BinOp::And, above, one));
        let carry = self.cast(CastOp::Trunc, narrow.ty, carry);
        self.emit(Stmt::Store { addr, value: carry, ty: narrow.ty, volatile: false });
        Ok(self.cast(CastOp::Trunc, narrow.ty, total))
    }

    /// The five classes exclude each other, so that the value is a sum.
    fn classify_float(
        &mut self,
        e: ast::ExprId,
        classes: &[ast::ExprId],
        x: ast::ExprId,
    ) -> Lowering<ExprId> {
        let int = self.scalar(self.unit.exprs[e].ty.ty, self.unit.exprs[e].span)?;
        let mut values = Vec::new();
        for class in classes {
            let later = Effects { hoists: true, ..Default::default() };
            values.push(self.operand(*class, &later)?);
        }
        let x = self.rvalue(x)?;
        let zero = self.zero(self.body.type_of(x));
        let mut tests = Vec::new();
        for test in [FloatTest::IsNan, FloatTest::IsInf, FloatTest::IsNormal] {
            tests.push(self.float_test(test, x, x)?);
        }
        let is_zero = self.expr(Expr::Cmp(CmpOp::FEq, x, zero));
        let mut other = is_zero;
        for test in &tests {
            other = self.expr(Expr::Binary(BinOp::Or, other, *test));
        }
        let subnormal = self.unary(UnOp::Not, other);
        tests.extend([subnormal, is_zero]);
        let mut sum = None;
        for (test, value) in tests.into_iter().zip(values) {
            let holds = self.cast(CastOp::ZExt, int.ty, test);
            let part = self.expr(Expr::Binary(BinOp::MulU, holds, value));
            sum = Some(match sum {
                None => part,
                Some(sum) => self.expr(Expr::Binary(BinOp::AddU, sum, part)),
            });
        }
        sum.ok_or_else(|| UnsupportedConstruct::new("this builtin", self.unit.exprs[e].span))
    }

    /// A number or address as a number of its width, and the alignment less one.
    fn alignment_parts(
        &mut self,
        value: ast::ExprId,
        align: ast::ExprId,
    ) -> Lowering<(Type, ExprId, ExprId)> {
        let span = self.unit.exprs[value].span;
        let from = self.scalar(self.unit.exprs[value].ty.ty, span)?;
        let align_type = self.scalar(self.unit.exprs[align].ty.ty, span)?;
        let later = self.effects_of(align);
        let value = self.operand(value, &later)?;
        let align = self.rvalue(align)?;
        let word = if from.ty == Type::Ptr { Type::Int(64) } else { from.ty };
        let number = match from.ty {
            Type::Ptr => self.cast(CastOp::Bits, word, value),
            _ => value,
        };
        let align = self.convert(align, align_type, Scalar::new(word, false));
        let one = self.constant(word, 1);
        let mask = self.expr(Expr::Binary(BinOp::SubU, align, one));
        Ok((word, number, mask))
    }

    /// What a pointer with a fixed place points into; with `closest` the member, else the variable.
    fn extent_at(&self, e: ast::ExprId, closest: bool) -> Option<Extent> {
        match &self.unit.exprs[e].kind {
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.extent_at(*inner, closest),
            ExprKind::Cast { kind: CastKind::ArrayToPointerDecay, operand, .. }
            | ExprKind::Unary { op: UnaryOp::AddressOf, operand } => {
                self.extent_of(*operand, closest)
            }
            ExprKind::Cast { kind: CastKind::BitCast | CastKind::NoOp, operand, .. } => {
                self.extent_at(*operand, closest)
            }
            ExprKind::Binary { op: BinaryOp::Add, left, right } => {
                let extent = self.extent_at(*left, closest)?;
                let size = self.pointee_bytes(*left)?;
                let steps = u64::try_from(self.module.constant_integer(*right)?).ok()?;
                let offset = extent.offset.checked_add(steps.checked_mul(size)?)?;
                Some(Extent { offset, ..extent })
            }
            _ => None,
        }
    }

    fn extent_of(&self, e: ast::ExprId, closest: bool) -> Option<Extent> {
        let expr = &self.unit.exprs[e];
        let size_of = |ty: TypeId| layout_of(self.unit, ty).map(|layout| layout.size);
        match &expr.kind {
            ExprKind::Paren(inner) | ExprKind::Chosen(inner) => self.extent_of(*inner, closest),
            ExprKind::DeclRef(DeclRef::Var(_)) | ExprKind::String(_) => {
                Some(Extent { size: size_of(expr.ty.ty)?, offset: 0 })
            }
            ExprKind::Member { base, arrow: false, field } => {
                let whole = self.extent_of(*base, closest)?;
                if closest {
                    return Some(Extent { size: size_of(expr.ty.ty)?, offset: 0 });
                }
                let offset = whole.offset + self.unit.field(*field).byte_offset();
                Some(Extent { offset, ..whole })
            }
            ExprKind::Subscript { pointer, index } => {
                let whole = self.extent_at(*pointer, closest)?;
                let index = u64::try_from(self.module.constant_integer(*index)?).ok()?;
                let offset = whole.offset.checked_add(index.checked_mul(size_of(expr.ty.ty)?)?)?;
                Some(Extent { offset, ..whole })
            }
            _ => None,
        }
    }

    fn pointee_bytes(&self, pointer: ast::ExprId) -> Option<u64> {
        let CType::Pointer(pointee) = *self.unit.ty(self.unit.exprs[pointer].ty) else {
            return None;
        };
        layout_of(self.unit, pointee.ty).map(|layout| layout.size)
    }
}
