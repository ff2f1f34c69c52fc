//! Smart constructors of bit-vector arithmetic, comparisons and overflow predicates.

use crate::terms::pool::TermPool;
use crate::terms::rules::Rule;
use crate::terms::semantics::{ones, signed};
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::wide::Wide;

impl TermPool {
    /// Two's complement negation.
    pub fn neg(&mut self, a: Term) -> Term {
        let w = self.bv_width(a);
        if let Some(t) = self.fold_un(UnOp::BvNeg, a, Sort::BitVec(w)) {
            return t;
        }
        if self.rewriting() {
            match self.node(a) {
                Node::Un(UnOp::BvNeg, x) => return self.by(Rule::NegNeg, x),
                Node::Bin(BinOp::Sub, x, y) => {
                    let t = self.sub(y, x);
                    return self.by(Rule::NegSub, t);
                }
                _ => {}
            }
            if let Some(t) = self.lift_unary(a, TermPool::neg) {
                return t;
            }
        }
        self.make_un(UnOp::BvNeg, a, Sort::BitVec(w))
    }

    /// `x + k` as `(x, k)`.
    fn as_add_const(&self, t: Term) -> Option<(Term, Term)> {
        match self.node(t) {
            Node::Bin(BinOp::Add, x, k) if self.is_constant(k) => Some((x, k)),
            _ => None,
        }
    }

    /// `k - x` as `(k, x)`.
    fn as_const_sub(&self, t: Term) -> Option<(Term, Term)> {
        match self.node(t) {
            Node::Bin(BinOp::Sub, k, x) if self.is_constant(k) => Some((k, x)),
            _ => None,
        }
    }

    /// Sum modulo 2^width.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::Add, a, b, sort) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting() {
            if let Some(t) = self.rewrite_add_const(a, b) {
                return t;
            }
            if let Some(t) = self.rewrite_add(a, b, w).or_else(|| self.rewrite_add(b, a, w)) {
                return t;
            }
        }
        self.make_bin(BinOp::Add, a, b, sort)
    }

    fn rewrite_add_const(&mut self, a: Term, k: Term) -> Option<Term> {
        if !self.is_constant(k) {
            return None;
        }
        if self.is_num(k, 0) {
            return Some(self.by(Rule::AddZero, a));
        }
        if let Some((x, c)) = self.as_add_const(a) {
            let c = self.add(c, k);
            let t = self.add(x, c);
            return Some(self.by(Rule::AddAssocConst, t));
        }
        if let Some((c, x)) = self.as_const_sub(a) {
            let c = self.add(c, k);
            let t = self.sub(c, x);
            return Some(self.by(Rule::AddConstSub, t));
        }
        if let Node::Un(UnOp::BvNeg, x) = self.node(a) {
            let t = self.sub(k, x);
            return Some(self.by(Rule::AddNeg, t));
        }
        self.lift_binary(a, k, TermPool::add)
    }

    fn rewrite_add(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if a == b {
            let one = self.bv(w, 1);
            let t = self.shl(a, one);
            return Some(self.by(Rule::AddSame, t));
        }
        match self.node(a) {
            Node::Un(UnOp::BvNeg, x) => {
                let t = self.sub(b, x);
                return Some(self.by(Rule::AddNeg, t));
            }
            Node::Un(UnOp::BvNot, x) if x == b => {
                let t = self.bv_wide(w, Wide::ones(w));
                return Some(self.by(Rule::AddComplement, t));
            }
            Node::Bin(BinOp::Sub, x, y) if y == b => return Some(self.by(Rule::AddSub, x)),
            _ => {}
        }
        if let Some((x, c)) = self.as_add_const(a) {
            // Constants float outwards.
            let s = self.add(x, b);
            let t = self.add(s, c);
            return Some(self.by(Rule::AddPullConst, t));
        }
        None
    }

    /// Difference modulo 2^width.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::Sub, a, b, sort) {
            return t;
        }
        if self.rewriting()
            && let Some(t) = self.rewrite_sub(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::Sub, a, b, sort)
    }

    fn rewrite_sub(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if a == b {
            let z = self.bv(w, 0);
            return Some(self.by(Rule::SubSame, z));
        }
        if self.is_constant(b) {
            let k = self.neg(b);
            let t = self.add(a, k);
            return Some(self.by(Rule::SubConst, t));
        }
        if self.is_num(a, 0) {
            let t = self.neg(b);
            return Some(self.by(Rule::SubFromZero, t));
        }
        if self.is_constant(a) {
            if let Some((x, c)) = self.as_add_const(b) {
                let k = self.sub(a, c);
                let t = self.sub(k, x);
                return Some(self.by(Rule::SubConstAdd, t));
            }
            if let Some((c, x)) = self.as_const_sub(b) {
                let k = self.sub(a, c);
                let t = self.add(x, k);
                return Some(self.by(Rule::SubConstSub, t));
            }
        }
        match self.node(b) {
            Node::Un(UnOp::BvNeg, y) => {
                let t = self.add(a, y);
                return Some(self.by(Rule::SubNeg, t));
            }
            Node::Bin(BinOp::Add, x, y) if x == a || y == a => {
                let t = self.neg(if x == a { y } else { x });
                return Some(self.by(Rule::SubOwnSum, t));
            }
            _ => {}
        }
        match self.node(a) {
            Node::Bin(BinOp::Add, x, y) if x == b || y == b => {
                return Some(self.by(Rule::SubSum, if x == b { y } else { x }));
            }
            _ => {}
        }
        if let Some((x, c)) = self.as_add_const(a) {
            let d = self.sub(x, b);
            let t = self.add(d, c);
            return Some(self.by(Rule::SubPullConst, t));
        }
        if let Some((y, c)) = self.as_add_const(b) {
            let d = self.sub(a, y);
            let k = self.neg(c);
            let t = self.add(d, k);
            return Some(self.by(Rule::SubPullConst, t));
        }
        self.lift_binary(a, b, TermPool::sub)
    }

    /// Product modulo 2^width.
    pub fn mul(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::Mul, a, b, sort) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting()
            && let Some(t) = self.rewrite_mul(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::Mul, a, b, sort)
    }

    fn rewrite_mul(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if let Some(k) = self.const_bits(b) {
            if k.is_zero() {
                return Some(self.by(Rule::MulZero, b));
            }
            if self.is_num(b, 1) {
                return Some(self.by(Rule::MulOne, a));
            }
            if self.is_ones(b) {
                let t = self.neg(a);
                return Some(self.by(Rule::MulMinusOne, t));
            }
            if let Some(n) = power_of_two(k) {
                let n = self.bv(w, n as u64);
                let t = self.shl(a, n);
                return Some(self.by(Rule::MulPowerOfTwo, t));
            }
            if let Node::Bin(BinOp::Mul, x, c) = self.node(a)
                && self.is_constant(c)
            {
                let c = self.mul(c, b);
                let t = self.mul(x, c);
                return Some(self.by(Rule::MulAssocConst, t));
            }
            if let Node::Un(UnOp::BvNeg, x) = self.node(a) {
                let k = self.neg(b);
                let t = self.mul(x, k);
                return Some(self.by(Rule::MulNegConst, t));
            }
            return self.lift_binary(a, b, TermPool::mul);
        }
        if let (Node::Un(UnOp::BvNeg, x), Node::Un(UnOp::BvNeg, y)) = (self.node(a), self.node(b)) {
            let t = self.mul(x, y);
            return Some(self.by(Rule::MulNegNeg, t));
        }
        None
    }

    /// Unsigned quotient; by zero all ones.
    pub fn udiv(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::UDiv, a, b, sort) {
            return t;
        }
        if self.rewriting() && a == b {
            return self.quotient_of_same(a, w, Rule::UDivSame);
        }
        if self.rewriting()
            && let Some(k) = self.const_bits(b)
        {
            if k.is_zero() {
                let t = self.bv_wide(w, Wide::ones(w));
                return self.by(Rule::UDivZero, t);
            }
            if let Some(n) = power_of_two(k) {
                let n = self.bv(w, n as u64);
                let t = self.lshr(a, n);
                return self.by(Rule::UDivPowerOfTwo, t);
            }
            if let Some(t) = self.narrow_division(a, k, w, TermPool::udiv, Rule::UDivNarrow) {
                return t;
            }
        }
        if self.rewriting()
            && let Some(t) = self.lift_binary(a, b, TermPool::udiv)
        {
            return t;
        }
        self.make_bin(BinOp::UDiv, a, b, sort)
    }

    /// A number divided by itself, signed or not: all ones where it is zero, else one.
    fn quotient_of_same(&mut self, a: Term, w: u32, rule: Rule) -> Term {
        let (zero, one, minus) = (self.bv(w, 0), self.bv(w, 1), self.bv_wide(w, Wide::ones(w)));
        let by_zero = self.eq(a, zero);
        let t = self.ite(by_zero, minus, one);
        self.by(rule, t)
    }

    /// Division of a zero-extended term by a constant, done at the inner width.
    fn narrow_division(
        &mut self,
        a: Term,
        k: Wide,
        w: u32,
        op: impl Fn(&mut TermPool, Term, Term) -> Term,
        rule: Rule,
    ) -> Option<Term> {
        let Node::Un(UnOp::ZExt, x) = self.node(a) else { return None };
        let inner = self.width(x);
        let t = if k.bit_length() > inner {
            if rule == Rule::UDivNarrow { self.bv(w, 0) } else { a }
        } else {
            let k = self.bv_wide(inner, k);
            let t = op(self, x, k);
            self.zext(t, w)
        };
        Some(self.by(rule, t))
    }

    /// Unsigned remainder; by zero the dividend.
    pub fn urem(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::URem, a, b, sort) {
            return t;
        }
        if self.rewriting() && a == b {
            let zero = self.bv(w, 0);
            return self.by(Rule::URemSame, zero);
        }
        if self.rewriting()
            && let Some(k) = self.const_bits(b)
        {
            if k.is_zero() {
                return self.by(Rule::URemZero, a);
            }
            if let Some(n) = power_of_two(k) {
                let t = if n == 0 {
                    self.bv(w, 0)
                } else {
                    let low = self.extract(n - 1, 0, a);
                    self.zext(low, w)
                };
                return self.by(Rule::URemPowerOfTwo, t);
            }
            if let Some(t) = self.narrow_division(a, k, w, TermPool::urem, Rule::URemNarrow) {
                return t;
            }
        }
        if self.rewriting()
            && let (Node::Un(UnOp::ZExt, x), Node::Un(UnOp::ZExt, y)) = (self.node(a), self.node(b))
        {
            let inner = self.width(x).max(self.width(y));
            let (x, y) = (self.zext(x, inner), self.zext(y, inner));
            let t = self.urem(x, y);
            let t = self.zext(t, w);
            return self.by(Rule::URemBothNarrow, t);
        }
        if self.rewriting()
            && let Some(t) = self.lift_binary(a, b, TermPool::urem)
        {
            return t;
        }
        self.make_bin(BinOp::URem, a, b, sort)
    }

    /// The bits that a signed number needs, where extensions or its value say so.
    fn signed_bits(&self, t: Term) -> Option<u32> {
        match self.node(t) {
            Node::Un(UnOp::SExt, x) => Some(self.width(x)),
            Node::Un(UnOp::ZExt, x) => Some(self.width(x) + 1),
            _ => {
                let bits = self.as_i64(t)?;
                Some(65 - bits.leading_zeros().max(bits.leading_ones()))
            }
        }
    }

    /// A signed remainder at the width that both operands need, if that is less than their own.
    fn narrow_srem(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        let inner = self.signed_bits(a)?.max(self.signed_bits(b)?);
        (inner < w).then_some(())?;
        let (x, y) = (self.extract(inner - 1, 0, a), self.extract(inner - 1, 0, b));
        let t = self.srem(x, y);
        let t = self.sext(t, w);
        Some(self.by(Rule::SRemNarrow, t))
    }

    /// Whether the sign bit is certainly clear.
    pub(crate) fn is_non_negative(&self, t: Term) -> bool {
        match self.node(t) {
            Node::Un(UnOp::ZExt, _) => true,
            _ => self.const_bits(t).is_some_and(|k| !k.bit(self.width(t) - 1)),
        }
    }

    /// Signed quotient towards zero; by zero 1 for negative dividends, else -1.
    pub fn sdiv(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::SDiv, a, b, sort) {
            return t;
        }
        if self.rewriting() && a == b {
            return self.quotient_of_same(a, w, Rule::SDivSame);
        }
        if self.rewriting() {
            if self.is_num(b, 1) && w > 1 {
                return self.by(Rule::SDivOne, a);
            }
            if self.is_ones(b) {
                let t = self.neg(a);
                return self.by(Rule::SDivMinusOne, t);
            }
            if self.is_non_negative(a) && self.is_non_negative(b) {
                let t = self.udiv(a, b);
                return self.by(Rule::SDivNonNegative, t);
            }
            if let Some(n) = self.const_bits(b).and_then(power_of_two)
                && n + 1 < w
            {
                let t = self.sdiv_power_of_two(a, n, w);
                return self.by(Rule::SDivPowerOfTwo, t);
            }
            if let Some(t) = self.lift_binary(a, b, TermPool::sdiv) {
                return t;
            }
        }
        self.make_bin(BinOp::SDiv, a, b, sort)
    }

    /// `a / 2^n`: a shift that rounds down, after 2^n - 1 was added to negative numbers.
    fn sdiv_power_of_two(&mut self, a: Term, n: u32, w: u32) -> Term {
        let sign = self.extract(w - 1, w - 1, a);
        let bias = self.sext(sign, n);
        let bias = self.zext(bias, w);
        let sum = self.add(a, bias);
        let n = self.bv(w, n as u64);
        self.ashr(sum, n)
    }

    /// Signed remainder with the dividend's sign; by zero the dividend.
    pub fn srem(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::SRem, a, b, sort) {
            return t;
        }
        if self.rewriting() && a == b {
            let zero = self.bv(w, 0);
            return self.by(Rule::SRemSame, zero);
        }
        if self.rewriting() {
            if (self.is_num(b, 1) && w > 1) || self.is_ones(b) {
                let z = self.bv(w, 0);
                return self.by(Rule::SRemOne, z);
            }
            if self.is_non_negative(a) && self.is_non_negative(b) {
                let t = self.urem(a, b);
                return self.by(Rule::SRemNonNegative, t);
            }
            if let Some(n) = self.const_bits(b).and_then(power_of_two)
                && n + 1 < w
            {
                let q = self.sdiv_power_of_two(a, n, w);
                let n = self.bv(w, n as u64);
                let whole = self.shl(q, n);
                let t = self.sub(a, whole);
                return self.by(Rule::SRemPowerOfTwo, t);
            }
            if let Some(t) = self.narrow_srem(a, b, w) {
                return t;
            }
            if let Some(t) = self.lift_binary(a, b, TermPool::srem) {
                return t;
            }
        }
        self.make_bin(BinOp::SRem, a, b, sort)
    }

    // ---- overflow predicates -----------------------------------------------------------------

    /// Whether the exact sum of two signed numbers does not fit their width.
    pub fn sadd_overflows(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let s = self.add(a, b);
        let (na, nb, ns) = (self.sign_bit(a), self.sign_bit(b), self.sign_bit(s));
        let same = self.eq(na, nb);
        let flipped = self.neq(ns, na);
        debug_assert!(w >= 1);
        self.and(same, flipped)
    }

    /// Whether the exact difference of two signed numbers does not fit their width.
    pub fn ssub_overflows(&mut self, a: Term, b: Term) -> Term {
        let s = self.sub(a, b);
        let (na, nb, ns) = (self.sign_bit(a), self.sign_bit(b), self.sign_bit(s));
        let differ = self.neq(na, nb);
        let flipped = self.neq(ns, na);
        self.and(differ, flipped)
    }

    /// Whether the exact product of two signed numbers does not fit their width (at most
    /// [`MAX_WIDTH`](crate::MAX_WIDTH) / 2).
    pub fn smul_overflows(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let (x, y) = (self.sext(a, 2 * w), self.sext(b, 2 * w));
        let p = self.mul(x, y);
        let low = self.extract(w - 1, 0, p);
        let back = self.sext(low, 2 * w);
        self.neq(back, p)
    }

    /// Whether negating a signed number overflows: whether it is the least one.
    pub fn sneg_overflows(&mut self, a: Term) -> Term {
        let w = self.bv_width(a);
        let least = self.bv_wide(w, Wide::from_u64(1).shl(w - 1, w));
        self.eq(a, least)
    }

    /// Whether a signed quotient overflows: the least number divided by -1.
    pub fn sdiv_overflows(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let least = self.sneg_overflows(a);
        let minus_one = self.bv_wide(w, Wide::ones(w));
        let by = self.eq(b, minus_one);
        self.and(least, by)
    }

    /// Whether the exact sum of two unsigned numbers does not fit their width.
    pub fn uadd_overflows(&mut self, a: Term, b: Term) -> Term {
        let s = self.add(a, b);
        self.ult(s, a)
    }

    /// Whether the exact difference of two unsigned numbers is negative.
    pub fn usub_overflows(&mut self, a: Term, b: Term) -> Term {
        self.ult(a, b)
    }

    /// Whether the exact product of two unsigned numbers does not fit their width (at most
    /// [`MAX_WIDTH`](crate::MAX_WIDTH) / 2).
    pub fn umul_overflows(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let (x, y) = (self.zext(a, 2 * w), self.zext(b, 2 * w));
        let p = self.mul(x, y);
        let high = self.extract(2 * w - 1, w, p);
        self.is_nonzero(high)
    }

    /// Whether a signed number is negative.
    pub fn sign_bit(&mut self, a: Term) -> Term {
        let z = self.bv(self.bv_width(a), 0);
        self.slt(a, z)
    }

    // ---- comparisons ---------------------------------------------------------------------------

    /// Unsigned less than.
    pub fn ult(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if let Some(t) = self.fold_bin(BinOp::Ult, a, b, Sort::Bool) {
            return t;
        }
        if self.rewriting()
            && let Some(t) = self.rewrite_ult(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::Ult, a, b, Sort::Bool)
    }

    /// Unsigned less than or equal.
    pub fn ule(&mut self, a: Term, b: Term) -> Term {
        let t = self.ult(b, a);
        self.not(t)
    }

    /// Unsigned greater than.
    pub fn ugt(&mut self, a: Term, b: Term) -> Term {
        self.ult(b, a)
    }

    /// Unsigned greater than or equal.
    pub fn uge(&mut self, a: Term, b: Term) -> Term {
        self.ule(b, a)
    }

    fn rewrite_ult(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if a == b {
            let f = self.ff();
            return Some(self.by(Rule::UltSame, f));
        }
        if self.is_num(b, 0) || self.is_ones(a) {
            let f = self.ff();
            return Some(self.by(Rule::UltLimit, f));
        }
        if self.is_num(b, 1) {
            let z = self.bv(w, 0);
            let t = self.eq(a, z);
            return Some(self.by(Rule::UltOne, t));
        }
        if self.is_num(a, 0) || self.is_ones(b) {
            let t = self.neq(a, b);
            return Some(self.by(Rule::UltNotLimit, t));
        }
        if let (Node::Un(UnOp::SExt, x), Node::Un(UnOp::SExt, y)) = (self.node(a), self.node(b))
            && self.width(x) == self.width(y)
        {
            let t = self.ult(x, y);
            return Some(self.by(Rule::UltSExt, t));
        }
        if let Some(t) = self.rewrite_ult_zext(a, b, w) {
            return Some(t);
        }
        self.lift_binary(a, b, TermPool::ult)
    }

    /// Comparisons of zero-extended terms are done at the widest inner width.
    fn rewrite_ult_zext(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        let inner = |p: &TermPool, t: Term| match p.node(t) {
            Node::Un(UnOp::ZExt, x) => Some(p.width(x)),
            _ => None,
        };
        let (wa, wb) = (inner(self, a), inner(self, b));
        let narrow = match (wa, wb) {
            (Some(x), Some(y)) => x.max(y),
            (Some(x), None) => {
                let k = self.const_bits(b)?;
                if k.bit_length() > x {
                    let t = self.tt();
                    return Some(self.by(Rule::UltZExt, t));
                }
                x
            }
            (None, Some(y)) => {
                let k = self.const_bits(a)?;
                if k.bit_length() > y {
                    let f = self.ff();
                    return Some(self.by(Rule::UltZExt, f));
                }
                y
            }
            (None, None) => return None,
        };
        debug_assert!(narrow < w);
        let (x, y) = (self.extract(narrow - 1, 0, a), self.extract(narrow - 1, 0, b));
        let t = self.ult(x, y);
        Some(self.by(Rule::UltZExt, t))
    }

    /// Signed less than.
    pub fn slt(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        if let Some(t) = self.fold_bin(BinOp::Slt, a, b, Sort::Bool) {
            return t;
        }
        if self.rewriting()
            && let Some(t) = self.rewrite_slt(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::Slt, a, b, Sort::Bool)
    }

    /// Signed less than or equal.
    pub fn sle(&mut self, a: Term, b: Term) -> Term {
        let t = self.slt(b, a);
        self.not(t)
    }

    /// Signed greater than.
    pub fn sgt(&mut self, a: Term, b: Term) -> Term {
        self.slt(b, a)
    }

    /// Signed greater than or equal.
    pub fn sge(&mut self, a: Term, b: Term) -> Term {
        self.sle(b, a)
    }

    fn rewrite_slt(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if a == b {
            let f = self.ff();
            return Some(self.by(Rule::SltSame, f));
        }
        let least = Wide::from_u64(1).shl(w - 1, w);
        let most = Wide::ones(w - 1).mask(w - 1);
        let (ka, kb) = (self.const_bits(a), self.const_bits(b));
        if kb == Some(least) || ka == Some(most) {
            let f = self.ff();
            return Some(self.by(Rule::SltLimit, f));
        }
        if ka == Some(least) || kb == Some(most) {
            let t = self.neq(a, b);
            return Some(self.by(Rule::SltNotLimit, t));
        }
        if self.is_non_negative(a) && self.is_non_negative(b) {
            let t = self.ult(a, b);
            return Some(self.by(Rule::SltNonNegative, t));
        }
        if self.is_non_negative(a) && kb.is_some() {
            let f = self.ff();
            return Some(self.by(Rule::SltSignsDiffer, f));
        }
        if self.is_non_negative(b) && ka.is_some() {
            let t = self.tt();
            return Some(self.by(Rule::SltSignsDiffer, t));
        }
        if let Some(t) = self.rewrite_slt_sext(a, b, w) {
            return Some(t);
        }
        self.lift_binary(a, b, TermPool::slt)
    }

    /// Comparisons of sign-extended terms are done at the widest inner width.
    fn rewrite_slt_sext(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        // Zero extension by at least one bit is sign extension of one bit more.
        let inner = |p: &TermPool, t: Term| match p.node(t) {
            Node::Un(UnOp::SExt, x) => Some(p.width(x)),
            Node::Un(UnOp::ZExt, x) => Some(p.width(x) + 1),
            _ => p.as_u64(t).map(|k| significant_signed(k, w)),
        };
        let narrow = inner(self, a)?.max(inner(self, b)?);
        let (small, constant) = if self.is_constant(b) { (a, b) } else { (b, a) };
        if self.is_constant(constant) && inner(self, small)? < narrow {
            // The constant lies outside the range of the extended term.
            let negative = self.as_i64(constant)? < 0;
            let t = self.bool((constant == b) != negative);
            return Some(self.by(Rule::SltSExt, t));
        }
        if narrow >= w {
            return None;
        }
        let (x, y) = (self.extract(narrow - 1, 0, a), self.extract(narrow - 1, 0, b));
        let t = self.slt(x, y);
        Some(self.by(Rule::SltSExt, t))
    }

    /// Equality of bit-vectors; a constant is on the right.
    pub(crate) fn rewrite_eq_bv(&mut self, a: Term, b: Term) -> Option<Term> {
        if self.is_constant(b) {
            return self.rewrite_eq_bv_const(a, b);
        }
        match (self.node(a), self.node(b)) {
            (Node::Un(UnOp::ZExt, x), Node::Un(UnOp::ZExt, y)) => {
                let w = self.width(x).max(self.width(y));
                let (x, y) = (self.zext(x, w), self.zext(y, w));
                let t = self.eq(x, y);
                return Some(self.by(Rule::EqZExt, t));
            }
            (Node::Un(UnOp::SExt, x), Node::Un(UnOp::SExt, y))
                if self.width(x) == self.width(y) =>
            {
                let t = self.eq(x, y);
                return Some(self.by(Rule::EqSExt, t));
            }
            (Node::Un(f, x), Node::Un(g, y))
                if f == g && matches!(f, UnOp::BvNot | UnOp::BvNeg) =>
            {
                let t = self.eq(x, y);
                return Some(self.by(Rule::EqUnary, t));
            }
            (Node::Bin(BinOp::Add, x, k), Node::Bin(BinOp::Add, y, l))
                if self.is_constant(k) && self.is_constant(l) =>
            {
                let d = self.sub(l, k);
                let y = self.add(y, d);
                let t = self.eq(x, y);
                return Some(self.by(Rule::EqAddConsts, t));
            }
            _ => {}
        }
        self.eq_own_sum(a, b).or_else(|| self.eq_own_sum(b, a))
    }

    /// `x + y = x` is `y = 0`; also for `x - y` and exclusive or.
    fn eq_own_sum(&mut self, a: Term, b: Term) -> Option<Term> {
        let rest = match self.node(a) {
            Node::Bin(BinOp::Add | BinOp::BvXor, x, y) if x == b => y,
            Node::Bin(BinOp::Add | BinOp::BvXor, x, y) if y == b => x,
            Node::Bin(BinOp::Sub, x, y) if x == b => y,
            _ => return None,
        };
        let z = self.bv(self.width(b), 0);
        let t = self.eq(rest, z);
        Some(self.by(Rule::EqOwnSum, t))
    }

    fn rewrite_eq_bv_const(&mut self, a: Term, k: Term) -> Option<Term> {
        let bits = self.const_bits(k)?;
        match self.node(a) {
            Node::Un(UnOp::ZExt, x) => {
                let w = self.width(x);
                let t = if bits.bit_length() > w {
                    self.ff()
                } else {
                    let k = self.bv_wide(w, bits);
                    self.eq(x, k)
                };
                Some(self.by(Rule::EqZExtConst, t))
            }
            Node::Un(UnOp::SExt, x) => {
                let (w, outer) = (self.width(x), self.width(a));
                let low = bits.mask(w);
                let t = if low.sext(w, outer) != bits {
                    self.ff()
                } else {
                    let k = self.bv_wide(w, low);
                    self.eq(x, k)
                };
                Some(self.by(Rule::EqSExtConst, t))
            }
            Node::Un(UnOp::BvNot, x) => {
                let k = self.bvnot(k);
                let t = self.eq(x, k);
                Some(self.by(Rule::EqUnaryConst, t))
            }
            Node::Un(UnOp::BvNeg, x) => {
                let k = self.neg(k);
                let t = self.eq(x, k);
                Some(self.by(Rule::EqUnaryConst, t))
            }
            Node::Bin(BinOp::Add, x, c) if self.is_constant(c) => {
                let k = self.sub(k, c);
                let t = self.eq(x, k);
                Some(self.by(Rule::EqAddConst, t))
            }
            Node::Bin(BinOp::Sub, c, x) if self.is_constant(c) => {
                let k = self.sub(c, k);
                let t = self.eq(x, k);
                Some(self.by(Rule::EqConstSub, t))
            }
            Node::Bin(BinOp::Sub, x, y) if bits.is_zero() => {
                let t = self.eq(x, y);
                Some(self.by(Rule::EqSubZero, t))
            }
            Node::Bin(BinOp::BvXor, x, c) if self.is_constant(c) => {
                let k = self.bvxor(k, c);
                let t = self.eq(x, k);
                Some(self.by(Rule::EqXorConst, t))
            }
            Node::Bin(BinOp::BvXor, x, y) if bits.is_zero() => {
                let t = self.eq(x, y);
                Some(self.by(Rule::EqXorZero, t))
            }
            Node::Bin(BinOp::Concat, h, l) => {
                let (wh, wl) = (self.width(h), self.width(l));
                let (kh, kl) = (self.bv_wide(wh, bits.lshr(wl)), self.bv_wide(wl, bits.mask(wl)));
                let (eh, el) = (self.eq(h, kh), self.eq(l, kl));
                let t = self.and(eh, el);
                Some(self.by(Rule::EqConcatConst, t))
            }
            Node::Bin(BinOp::BvOr, x, y) if bits.is_zero() => {
                let (x, y) = (self.eq(x, k), self.eq(y, k));
                let t = self.and(x, y);
                Some(self.by(Rule::EqOrZero, t))
            }
            _ => self.rewrite_eq_const_ite(a, k),
        }
    }
}

/// `n` where the number is 2^n.
fn power_of_two(k: Wide) -> Option<u32> {
    let n = k.bit_length().checked_sub(1)?;
    (Wide::from_u64(1).shl(n, n + 1) == k).then_some(n)
}

/// The least width at which the `w`-bit number can be written in two's complement.
fn significant_signed(k: u64, w: u32) -> u32 {
    let v = signed(k & ones(w), w);
    65 - if v < 0 { v.leading_ones() } else { v.leading_zeros() }
}
