//! Terms over other operands.

use rustc_hash::FxHashMap;

use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    /// The term over other symbols: each has its name with `suffix` at the end. `known` keeps
    /// renamed terms and symbols from one call to the next with the same suffix.
    pub fn renamed(&mut self, t: Term, suffix: &str, known: &mut FxHashMap<Term, Term>) -> Term {
        self.rebuilt(t, known, |pool, symbol| {
            let name = pool.var_name(symbol).expect("a symbol has a name");
            let name = format!("{name}{suffix}");
            pool.var(&name, pool.sort(symbol))
        })
    }

    /// The term with other terms of the same sorts in place of symbols. At first `known` has the
    /// symbols that are replaced; later it also keeps other terms with their results. Symbols that it
    /// does not have stay.
    pub fn substituted(&mut self, t: Term, known: &mut FxHashMap<Term, Term>) -> Term {
        self.rebuilt(t, known, |_, symbol| symbol)
    }

    /// The term made anew from its leaves. `known` has terms that are made already, and `of_symbol`
    /// makes all other symbols.
    fn rebuilt(
        &mut self,
        t: Term,
        known: &mut FxHashMap<Term, Term>,
        mut of_symbol: impl FnMut(&mut Self, Term) -> Term,
    ) -> Term {
        let mut waiting = vec![t];
        while let Some(&next) = waiting.last() {
            if known.contains_key(&next) {
                waiting.pop();
                continue;
            }
            let children = self.children(next);
            let before = waiting.len();
            waiting.extend(children.iter().filter(|child| !known.contains_key(child)));
            if waiting.len() > before {
                continue;
            }
            waiting.pop();
            let copy = if self.var_name(next).is_some() {
                of_symbol(self, next)
            } else {
                let children: Vec<Term> = children.iter().map(|child| known[child]).collect();
                self.with_children(next, &children)
            };
            known.insert(next, copy);
        }
        known[&t]
    }

    /// The term's operator over other operands of the same sorts, by its smart constructor.
    pub(crate) fn with_children(&mut self, t: Term, children: &[Term]) -> Term {
        if self.children(t).as_slice() == children {
            return t;
        }
        self.remade(self.node(t), self.sort(t), children)
    }

    /// The term of a sort that a node's operator makes of other operands than the node's.
    pub(crate) fn remade(&mut self, node: Node, sort: Sort, children: &[Term]) -> Term {
        match (node, children) {
            (Node::Un(op, _), &[a]) => self.remade_unary(sort, op, a),
            (Node::Extract(_, low), &[a]) => self.extract(low + sort.width() - 1, low, a),
            (Node::Bin(op, ..), &[a, b]) => self.remade_binary(op, a, b),
            (Node::Ite(..), &[c, x, y]) => self.ite(c, x, y),
            (Node::Store(..), &[a, i, v]) => self.store(a, i, v),
            (Node::Fma(..), &[a, b, c]) => self.fp_fma(a, b, c),
            (node, _) => unreachable!("{node:?} has other operands than {children:?}"),
        }
    }

    fn remade_unary(&mut self, sort: Sort, op: UnOp, a: Term) -> Term {
        let float = || match sort {
            Sort::Float(float) => float,
            _ => unreachable!("{op:?} makes a float, not a {sort}"),
        };
        match op {
            UnOp::Not => self.not(a),
            UnOp::BvNot => self.bvnot(a),
            UnOp::BvNeg => self.neg(a),
            UnOp::ZExt => self.zext(a, sort.width()),
            UnOp::SExt => self.sext(a, sort.width()),
            UnOp::FpNeg => self.fp_neg(a),
            UnOp::FpAbs => self.fp_abs(a),
            UnOp::FpSqrt => self.fp_sqrt(a),
            UnOp::FpRound(mode) => self.fp_round(mode, a),
            UnOp::FpIsNan => self.fp_is_nan(a),
            UnOp::FpIsInf => self.fp_is_inf(a),
            UnOp::FpFromBits => self.fp_from_bits(float(), a),
            UnOp::FpToBits => self.fp_to_bits(a),
            UnOp::FpToFp => self.fp_to_fp(float(), a),
            UnOp::FpFromSigned => self.fp_from_signed(float(), a),
            UnOp::FpFromUnsigned => self.fp_from_unsigned(float(), a),
            UnOp::FpToSigned => self.fp_to_signed(sort.width(), a),
            UnOp::FpToUnsigned => self.fp_to_unsigned(sort.width(), a),
            // The same constructor whatever the element, with the sort that the term has.
            UnOp::ConstArray => self.make_un(op, a, sort),
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

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use crate::{Evaluator, Model, Sort, TermPool, Value};

    #[test]
    fn a_renamed_term_has_the_value_that_the_first_has_on_the_other_symbols() {
        let mut pool = TermPool::new();
        let (x, y) = (pool.var("x", Sort::BitVec(8)), pool.var("y", Sort::BitVec(8)));
        let sum = pool.add(x, y);
        let seven = pool.bv(8, 7);
        let less = pool.ult(sum, seven);
        let term = pool.ite(less, sum, x);
        let mut known = FxHashMap::default();
        let copy = pool.renamed(term, "'1", &mut known);
        assert_eq!(pool.renamed(seven, "'1", &mut known), seven);
        let (other_x, other_y) = (known[&x], known[&y]);
        assert_eq!(pool.var_name(other_x), Some("x'1"));
        let mut evaluator = Evaluator::new();
        let value = |number: u64| Value::from_u64(Sort::BitVec(8), number);
        for (a, b) in [(1, 2), (200, 60), (9, 250), (255, 255)] {
            let first = Model::from_values(vec![(x, value(a)), (y, value(b))]);
            let second = Model::from_values(vec![(other_x, value(a)), (other_y, value(b))]);
            let expected = evaluator.eval_u64(&pool, &first, term);
            assert_eq!(evaluator.eval_u64(&pool, &second, copy), expected);
        }
    }
}
