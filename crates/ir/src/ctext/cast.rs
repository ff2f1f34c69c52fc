//! Conversions: those that C makes by itself are left out.

use super::constant::builtin_suffix;
use super::precedence::{Text, level};
use super::shape::Shape;
use super::{Reading, UserC, Val};
use crate::program::expr::{BinOp, CastOp, Expr, ExprId, Type};

impl UserC<'_> {
    pub(super) fn cast(&self, op: CastOp, to: Type, a: ExprId, depth: u32) -> Val {
        let from = self.types[a];
        if let Some(of) = self.without_sign(op, to, a) {
            let value = self.exactly(self.value(of, depth), Shape::Float(to));
            let text = format!("__builtin_fabs{}({})", builtin_suffix(to), value.text.text);
            return self.exactly_float(Text::primary(text), to);
        }
        let value = self.value(a, depth);
        match op {
            _ if from == Type::BOOL => self.truth_as_number(op, to, &value),
            CastOp::ZExt | CastOp::SExt => self.widened(value, from, op == CastOp::SExt),
            CastOp::SToF | CastOp::UToF => {
                let shape = Shape::int(from, op == CastOp::SToF);
                let suits = value.shape.promoted() == shape || value.shape.is_narrower(shape);
                if suits { value } else { self.cast_to(shape, value) }
            }
            CastOp::FToF => {
                let value = self.exactly(value, Shape::Float(from));
                let widens = to.bits() > from.bits();
                if widens { value } else { self.cast_to(Shape::Float(to), value) }
            }
            CastOp::FToS | CastOp::FToU => {
                let value = self.exactly(value, Shape::Float(from));
                self.cast_to(Shape::int(to, op == CastOp::FToS), value)
            }
            CastOp::Trunc if to == Type::BOOL => {
                let one = self.constant(from, 1, Reading::Signed).text;
                let mut text = Text::infix(&value.text, "&", &one, level::AND);
                text.is_truth = true;
                Val { text, shape: Shape::INT }
            }
            CastOp::Trunc => self.cast_to(Shape::int(to, value.shape.is_signed()), value),
            CastOp::Bits if from == to => value,
            CastOp::Bits if to == Type::Ptr && !from.is_float() => {
                Val { text: Text::prefix("(void *)", &value.text), shape: Shape::Other }
            }
            CastOp::Bits if from == Type::Ptr && !to.is_float() => {
                self.cast_to(Shape::int(to, false), value)
            }
            CastOp::Bits => self.same_bits(from, to, value),
        }
    }

    /// A test's value as a number. It has the type `int` in C.
    fn truth_as_number(&self, op: CastOp, to: Type, value: &Val) -> Val {
        let text = value.text.as_truth();
        let text = match op {
            CastOp::SExt | CastOp::SToF => Text::prefix("-", &text),
            _ if to == Type::Ptr => Text::prefix("(void *)", &text),
            _ => text,
        };
        Val { text, shape: if to == Type::Ptr { Shape::Other } else { Shape::INT } }
    }

    /// A value that C brings to a wider type by itself, if its own type says how.
    fn widened(&self, a: Val, from: Type, signed: bool) -> Val {
        let from = Shape::int(from, signed);
        let keeps = a.shape.same_width(from) && a.shape.is_signed() == signed;
        if keeps || a.shape.is_narrower(from) { a } else { self.cast_to(from, a) }
    }

    /// The float whose sign bit a conversion to bits, a mask and a conversion back take away.
    fn without_sign(&self, op: CastOp, to: Type, a: ExprId) -> Option<ExprId> {
        if op != CastOp::Bits || !to.is_float() {
            return None;
        }
        let &Expr::Binary(BinOp::And, bits, mask) = self.arena.get(a)? else { return None };
        let &Expr::Const(ty, mask) = self.arena.get(mask)? else { return None };
        let &Expr::Cast(CastOp::Bits, _, of) = self.arena.get(bits)? else { return None };
        let is_sign = mask == (1u128 << (ty.bits() - 1)) - 1 && self.types[of] == to;
        is_sign.then_some(of)
    }

    fn exactly_float(&self, text: Text, ty: Type) -> Val {
        match ty {
            Type::F16 | Type::BF16 => {
                self.cast_to(Shape::Float(ty), Val { text, shape: Shape::Float(Type::F32) })
            }
            _ => Val { text, shape: Shape::Float(ty) },
        }
    }

    /// The same bits as another type, one of the two being a float.
    fn same_bits(&self, from: Type, to: Type, value: Val) -> Val {
        let shape = |ty: Type| match ty {
            Type::Ptr => Shape::Other,
            Type::Int(_) => Shape::int(ty, false),
            _ => Shape::Float(ty),
        };
        let name = |ty: Type| shape(ty).name(self.program.types.target);
        let value = match from {
            Type::Ptr => value,
            _ => self.exactly(value, shape(from)),
        };
        let text = format!(
            "((union {{ {} from; {} to; }}){{ {} }}).to",
            name(from),
            name(to),
            value.text.within(level::ASSIGN)
        );
        Val { text: Text::primary(text), shape: shape(to) }
    }
}
