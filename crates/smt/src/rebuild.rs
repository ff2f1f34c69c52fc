//! Terms over other operands.

use crate::pool::TermPool;
use crate::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    /// The term's operator over other operands of the same sorts, by its smart constructor.
    pub(crate) fn with_children(&mut self, t: Term, children: &[Term]) -> Term {
        if self.children(t).as_slice() == children {
            return t;
        }
        match (self.node(t), children) {
            (Node::Un(op, _), &[a]) => self.remade_unary(t, op, a),
            (Node::Extract(_, low), &[a]) => self.extract(low + self.width(t) - 1, low, a),
            (Node::Bin(op, ..), &[a, b]) => self.remade_binary(op, a, b),
            (Node::Ite(..), &[c, x, y]) => self.ite(c, x, y),
            (Node::Store(..), &[a, i, v]) => self.store(a, i, v),
            (Node::Fma(..), &[a, b, c]) => self.fp_fma(a, b, c),
            (node, _) => unreachable!("{node:?} has other operands than {children:?}"),
        }
    }

    fn remade_unary(&mut self, t: Term, op: UnOp, a: Term) -> Term {
        match op {
            UnOp::Not => self.not(a),
            UnOp::BvNot => self.bvnot(a),
            UnOp::BvNeg => self.neg(a),
            UnOp::ZExt => self.zext(a, self.width(t)),
            UnOp::SExt => self.sext(a, self.width(t)),
            UnOp::FpNeg => self.fp_neg(a),
            UnOp::FpAbs => self.fp_abs(a),
            UnOp::FpSqrt => self.fp_sqrt(a),
            UnOp::FpRound(mode) => self.fp_round(mode, a),
            UnOp::FpIsNan => self.fp_is_nan(a),
            UnOp::FpIsInf => self.fp_is_inf(a),
            UnOp::FpFromBits => self.fp_from_bits(self.float_sort(t), a),
            UnOp::FpToBits => self.fp_to_bits(a),
            UnOp::FpToFp => self.fp_to_fp(self.float_sort(t), a),
            UnOp::FpFromSigned => self.fp_from_signed(self.float_sort(t), a),
            UnOp::FpFromUnsigned => self.fp_from_unsigned(self.float_sort(t), a),
            UnOp::FpToSigned => self.fp_to_signed(self.width(t), a),
            UnOp::FpToUnsigned => self.fp_to_unsigned(self.width(t), a),
            // The same constructor whatever the element, with the sort that the term has.
            UnOp::ConstArray => self.make_un(op, a, self.sort(t)),
        }
    }

    fn remade_binary(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        match op {
            BinOp::And => self.and(a, b),
            BinOp::Eq => self.eq(a, b),
            BinOp::BvAnd => self.bvand(a, b),
            BinOp::BvOr => self.bvor(a, b),
            BinOp::BvXor => self.bvxor(a, b),
            BinOp::Add => self.add(a, b),
            BinOp::Sub => self.sub(a, b),
            BinOp::Mul => self.mul(a, b),
            BinOp::UDiv => self.udiv(a, b),
            BinOp::URem => self.urem(a, b),
            BinOp::SDiv => self.sdiv(a, b),
            BinOp::SRem => self.srem(a, b),
            BinOp::Shl => self.shl(a, b),
            BinOp::LShr => self.lshr(a, b),
            BinOp::AShr => self.ashr(a, b),
            BinOp::Ult => self.ult(a, b),
            BinOp::Slt => self.slt(a, b),
            BinOp::Concat => self.concat(a, b),
            BinOp::Select => self.select(a, b),
            BinOp::FpAdd => self.fp_add(a, b),
            BinOp::FpSub => self.fp_sub(a, b),
            BinOp::FpMul => self.fp_mul(a, b),
            BinOp::FpDiv => self.fp_div(a, b),
            BinOp::FpRem => self.fp_rem(a, b),
            BinOp::FpEq => self.fp_eq(a, b),
            BinOp::FpLt => self.fp_lt(a, b),
            BinOp::FpLe => self.fp_le(a, b),
        }
    }
}
