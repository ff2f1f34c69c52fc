//! Smart constructors of bitwise operators, shifts, slices, extensions and concatenation.

use crate::terms::pool::TermPool;
use crate::terms::rules::Rule;
use crate::terms::sort::{MAX_WIDTH, Sort};
use crate::terms::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    pub(crate) fn bv_width(&self, t: Term) -> u32 {
        match self.sort(t) {
            Sort::BitVec(w) => w,
            s => panic!("a bit-vector operator on a {s}"),
        }
    }

    pub(crate) fn same_width(&self, a: Term, b: Term) -> u32 {
        let w = self.bv_width(a);
        assert_eq!(w, self.bv_width(b), "bit-vectors of different widths");
        w
    }

    fn zero(&mut self, w: u32) -> Term {
        self.bv(w, 0)
    }

    fn all_ones(&mut self, w: u32) -> Term {
        let z = self.bv(w, 0);
        let bits = crate::terms::wide::Wide::ones(w);
        if w > 64 { self.bv_wide(w, bits) } else { self.bv(w, !self.as_u64(z).unwrap_or(0)) }
    }

    /// `op(ite(c, k1, k2))` with constants becomes `ite(c, op k1, op k2)`, also for nested ites.
    pub(crate) fn lift_unary(
        &mut self,
        a: Term,
        op: impl Fn(&mut TermPool, Term) -> Term + Copy,
    ) -> Option<Term> {
        let Node::Ite(c, x, y) = self.node(a) else { return None };
        if !self.is_const_tree(a, 4) {
            return None;
        }
        let (x, y) = (op(self, x), op(self, y));
        let t = self.ite(c, x, y);
        Some(self.by(Rule::LiftIteUnary, t))
    }

    /// `op(ite(c, k1, k2), k)` with constants becomes `ite(c, op(k1, k), op(k2, k))`, either way
    /// round, also for nested ites.
    pub(crate) fn lift_binary(
        &mut self,
        a: Term,
        b: Term,
        op: impl Fn(&mut TermPool, Term, Term) -> Term + Copy,
    ) -> Option<Term> {
        if self.is_constant(b) && self.is_const_tree(a, 4) {
            let Node::Ite(c, x, y) = self.node(a) else { return None };
            let (x, y) = (op(self, x, b), op(self, y, b));
            let t = self.ite(c, x, y);
            return Some(self.by(Rule::LiftIteBinary, t));
        }
        if self.is_constant(a) && self.is_const_tree(b, 4) {
            let Node::Ite(c, x, y) = self.node(b) else { return None };
            let (x, y) = (op(self, a, x), op(self, a, y));
            let t = self.ite(c, x, y);
            return Some(self.by(Rule::LiftIteBinary, t));
        }
        None
    }

    /// Bitwise complement.
    pub fn bvnot(&mut self, a: Term) -> Term {
        let w = self.bv_width(a);
        if let Some(t) = self.fold_un(UnOp::BvNot, a, Sort::BitVec(w)) {
            return t;
        }
        if self.rewriting() {
            if let Node::Un(UnOp::BvNot, x) = self.node(a) {
                return self.by(Rule::BvNotNot, x);
            }
            if let Some(t) = self.lift_unary(a, TermPool::bvnot) {
                return t;
            }
        }
        self.make_un(UnOp::BvNot, a, Sort::BitVec(w))
    }

    fn bv_complementary(&self, a: Term, b: Term) -> bool {
        self.node(a) == Node::Un(UnOp::BvNot, b) || self.node(b) == Node::Un(UnOp::BvNot, a)
    }

    /// Bitwise and.
    pub fn bvand(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::BvAnd, a, b, sort) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting()
            && let Some(t) = self.rewrite_bvand(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::BvAnd, a, b, sort)
    }

    fn rewrite_bvand(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if self.is_num(b, 0) {
            return Some(self.by(Rule::BvAndZero, b));
        }
        if self.is_ones(b) {
            return Some(self.by(Rule::BvAndOnes, a));
        }
        if a == b {
            return Some(self.by(Rule::BvAndSame, a));
        }
        if self.bv_complementary(a, b) {
            let z = self.zero(w);
            return Some(self.by(Rule::BvAndComplement, z));
        }
        if self.is_constant(b) {
            if let Node::Bin(BinOp::BvAnd, x, k) = self.node(a)
                && self.is_constant(k)
            {
                let k = self.bvand(k, b);
                let t = self.bvand(x, k);
                return Some(self.by(Rule::BvAndAssocConst, t));
            }
            if let Some(mask) = self.const_bits(b)
                && let Some((low, high)) = one_run(mask, w)
            {
                let t = self.keep_run(a, low, high, w);
                return Some(self.by(Rule::BvAndMask, t));
            }
        }
        if let Some(t) = self.lift_binary(a, b, TermPool::bvand) {
            return Some(t);
        }
        self.narrow_bitwise(a, b, w, TermPool::bvand, Rule::BvAndNarrow)
    }

    /// `a` with only bits `low..=high` kept, as a slice between zeros.
    fn keep_run(&mut self, a: Term, low: u32, high: u32, w: u32) -> Term {
        let mut t = self.extract(high, low, a);
        if low > 0 {
            let z = self.zero(low);
            t = self.concat(t, z);
        }
        self.zext(t, w)
    }

    /// Bitwise operators on two zero-extended (or one extended and one small constant) operands
    /// are done at the inner width. For `and`, one extended operand suffices.
    fn narrow_bitwise(
        &mut self,
        a: Term,
        b: Term,
        w: u32,
        op: impl Fn(&mut TermPool, Term, Term) -> Term,
        rule: Rule,
    ) -> Option<Term> {
        let significant = |p: &TermPool, t: Term| match p.node(t) {
            Node::Un(UnOp::ZExt, x) => p.width(x),
            _ => p.const_bits(t).map_or(w, |k| k.bit_length().max(1)),
        };
        let (wa, wb) = (significant(self, a), significant(self, b));
        let inner = if rule == Rule::BvAndNarrow { wa.min(wb) } else { wa.max(wb) };
        if inner >= w {
            return None;
        }
        let (x, y) = (self.extract(inner - 1, 0, a), self.extract(inner - 1, 0, b));
        let t = op(self, x, y);
        let t = self.zext(t, w);
        Some(self.by(rule, t))
    }

    /// Bitwise or.
    pub fn bvor(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::BvOr, a, b, sort) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting()
            && let Some(t) = self.rewrite_bvor(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::BvOr, a, b, sort)
    }

    fn rewrite_bvor(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if self.is_num(b, 0) {
            return Some(self.by(Rule::BvOrZero, a));
        }
        if self.is_ones(b) {
            return Some(self.by(Rule::BvOrOnes, b));
        }
        if a == b {
            return Some(self.by(Rule::BvOrSame, a));
        }
        if self.bv_complementary(a, b) {
            let t = self.all_ones(w);
            return Some(self.by(Rule::BvOrComplement, t));
        }
        if self.is_constant(b)
            && let Node::Bin(BinOp::BvOr, x, k) = self.node(a)
            && self.is_constant(k)
        {
            let k = self.bvor(k, b);
            let t = self.bvor(x, k);
            return Some(self.by(Rule::BvOrAssocConst, t));
        }
        if let Some(t) = self.or_as_concat(a, b, w).or_else(|| self.or_as_concat(b, a, w)) {
            return Some(self.by(Rule::BvOrConcat, t));
        }
        if let Some(t) = self.lift_binary(a, b, TermPool::bvor) {
            return Some(t);
        }
        self.narrow_bitwise(a, b, w, TermPool::bvor, Rule::BvOrNarrow)
    }

    /// `(h . l) | low` where `low` has its bits within `l`: `h . (l | low)`. With `l` zero this is
    /// C's way of putting bytes together.
    fn or_as_concat(&mut self, high: Term, low: Term, w: u32) -> Option<Term> {
        let (ext, inner) = match self.node(high) {
            Node::Un(UnOp::ZExt, x) => (true, x),
            _ => (false, high),
        };
        let Node::Bin(BinOp::Concat, h, z) = self.node(inner) else { return None };
        let k = self.width(z);
        let fits = match self.node(low) {
            Node::Un(UnOp::ZExt, x) => self.width(x) <= k,
            _ => self.const_bits(low).is_some_and(|c| c.bit_length() <= k),
        };
        if !fits {
            return None;
        }
        let low = self.extract(k - 1, 0, low);
        let low = self.bvor(z, low);
        let t = self.concat(h, low);
        Some(if ext { self.zext(t, w) } else { t })
    }

    /// Bitwise exclusive or.
    pub fn bvxor(&mut self, a: Term, b: Term) -> Term {
        let w = self.same_width(a, b);
        let sort = Sort::BitVec(w);
        if let Some(t) = self.fold_bin(BinOp::BvXor, a, b, sort) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting()
            && let Some(t) = self.rewrite_bvxor(a, b, w)
        {
            return t;
        }
        self.make_bin(BinOp::BvXor, a, b, sort)
    }

    fn rewrite_bvxor(&mut self, a: Term, b: Term, w: u32) -> Option<Term> {
        if self.is_num(b, 0) {
            return Some(self.by(Rule::BvXorZero, a));
        }
        if self.is_ones(b) {
            let t = self.bvnot(a);
            return Some(self.by(Rule::BvXorOnes, t));
        }
        if a == b {
            let z = self.zero(w);
            return Some(self.by(Rule::BvXorSame, z));
        }
        if self.bv_complementary(a, b) {
            let t = self.all_ones(w);
            return Some(self.by(Rule::BvXorComplement, t));
        }
        match self.node(a) {
            Node::Bin(BinOp::BvXor, x, k) if self.is_constant(b) && self.is_constant(k) => {
                let k = self.bvxor(k, b);
                let t = self.bvxor(x, k);
                return Some(self.by(Rule::BvXorAssocConst, t));
            }
            _ => {}
        }
        for (whole, part) in [(a, b), (b, a)] {
            if let Node::Bin(BinOp::BvXor, x, y) = self.node(whole)
                && (x == part || y == part)
            {
                return Some(self.by(Rule::BvXorCancel, if x == part { y } else { x }));
            }
        }
        if let Some(t) = self.lift_binary(a, b, TermPool::bvxor) {
            return Some(t);
        }
        self.narrow_bitwise(a, b, w, TermPool::bvxor, Rule::BvXorNarrow)
    }

    /// Left shift; by the width or more gives 0.
    pub fn shl(&mut self, a: Term, n: Term) -> Term {
        let w = self.same_width(a, n);
        if let Some(t) = self.rewrite_shift(BinOp::Shl, a, n, w) {
            return t;
        }
        self.make_bin(BinOp::Shl, a, n, Sort::BitVec(w))
    }

    /// Logical right shift; by the width or more gives 0.
    pub fn lshr(&mut self, a: Term, n: Term) -> Term {
        let w = self.same_width(a, n);
        if let Some(t) = self.rewrite_shift(BinOp::LShr, a, n, w) {
            return t;
        }
        self.make_bin(BinOp::LShr, a, n, Sort::BitVec(w))
    }

    /// Arithmetic right shift; by the width or more gives sign bits only.
    pub fn ashr(&mut self, a: Term, n: Term) -> Term {
        let w = self.same_width(a, n);
        if let Some(t) = self.rewrite_shift(BinOp::AShr, a, n, w) {
            return t;
        }
        self.make_bin(BinOp::AShr, a, n, Sort::BitVec(w))
    }

    fn rewrite_shift(&mut self, op: BinOp, a: Term, n: Term, w: u32) -> Option<Term> {
        if let Some(t) = self.fold_bin(op, a, n, Sort::BitVec(w)) {
            return Some(t);
        }
        if !self.rewriting() {
            return None;
        }
        if self.is_num(a, 0) {
            return Some(self.by(Rule::ShiftOfZero, a));
        }
        let by_const = |k: u32, p: &mut TermPool| match (op, k >= w) {
            (BinOp::AShr, over) => {
                let k = if over { w - 1 } else { k };
                let kept = p.extract(w - 1, k, a);
                p.sext(kept, w)
            }
            (_, true) => p.zero(w),
            (BinOp::Shl, false) => {
                let (kept, z) = (p.extract(w - 1 - k, 0, a), p.zero(k));
                p.concat(kept, z)
            }
            (_, false) => {
                let kept = p.extract(w - 1, k, a);
                p.zext(kept, w)
            }
        };
        if let Some(k) = self.const_bits(n) {
            if k.is_zero() {
                return Some(self.by(Rule::ShiftByZero, a));
            }
            let k = if k.bit_length() > 31 { u32::MAX } else { k.low_u64() as u32 };
            let t = by_const(k, self);
            let rule = match op {
                BinOp::Shl => Rule::ShlConst,
                BinOp::LShr => Rule::LShrConst,
                _ => Rule::AShrConst,
            };
            return Some(self.by(rule, t));
        }
        self.lift_binary(a, n, |p, a, n| match op {
            BinOp::Shl => p.shl(a, n),
            BinOp::LShr => p.lshr(a, n),
            _ => p.ashr(a, n),
        })
    }

    /// Bits `high` down to `low` (both counted from 0, both included).
    pub fn extract(&mut self, high: u32, low: u32, a: Term) -> Term {
        let w = self.bv_width(a);
        assert!(low <= high && high < w, "bits {high}..{low} of a {w}-bit vector");
        if self.rewriting()
            && let Some(t) = self.rewrite_extract(high, low, a, w)
        {
            return t;
        }
        self.intern(Node::Extract(a, low), Sort::BitVec(high - low + 1))
    }

    fn rewrite_extract(&mut self, high: u32, low: u32, a: Term, w: u32) -> Option<Term> {
        let n = high - low + 1;
        if n == w {
            return Some(self.by(Rule::ExtractAll, a));
        }
        if let Some(k) = self.const_bits(a) {
            let t = self.bv_wide(n, k.lshr(low).mask(n));
            return Some(self.by(Rule::FoldConstants, t));
        }
        match self.node(a) {
            Node::Extract(x, inner) => {
                let t = self.extract(high + inner, low + inner, x);
                Some(self.by(Rule::ExtractExtract, t))
            }
            Node::Bin(BinOp::Concat, h, l) => {
                let k = self.width(l);
                let t = if low >= k {
                    self.extract(high - k, low - k, h)
                } else if high < k {
                    self.extract(high, low, l)
                } else {
                    let (h, l) = (self.extract(high - k, 0, h), self.extract(k - 1, low, l));
                    self.concat(h, l)
                };
                Some(self.by(Rule::ExtractConcat, t))
            }
            Node::Un(op @ (UnOp::ZExt | UnOp::SExt), x) => {
                let k = self.width(x);
                let t = if high < k {
                    self.extract(high, low, x)
                } else if op == UnOp::ZExt {
                    if low >= k {
                        self.zero(n)
                    } else {
                        let kept = self.extract(k - 1, low, x);
                        self.zext(kept, n)
                    }
                } else {
                    let kept = self.extract(k - 1, low.min(k - 1), x);
                    self.sext(kept, n)
                };
                let rule = if op == UnOp::ZExt { Rule::ExtractZExt } else { Rule::ExtractSExt };
                Some(self.by(rule, t))
            }
            Node::Ite(c, x, y) if self.slices_well(x) && self.slices_well(y) => {
                let (x, y) = (self.extract(high, low, x), self.extract(high, low, y));
                let t = self.ite(c, x, y);
                Some(self.by(Rule::ExtractIte, t))
            }
            Node::Un(UnOp::BvNot, x) => {
                let x = self.extract(high, low, x);
                let t = self.bvnot(x);
                Some(self.by(Rule::ExtractNot, t))
            }
            Node::Bin(op @ (BinOp::BvAnd | BinOp::BvOr | BinOp::BvXor), x, y)
                if self.slices_well(x) || self.slices_well(y) =>
            {
                let (x, y) = (self.extract(high, low, x), self.extract(high, low, y));
                let t = match op {
                    BinOp::BvAnd => self.bvand(x, y),
                    BinOp::BvOr => self.bvor(x, y),
                    _ => self.bvxor(x, y),
                };
                Some(self.by(Rule::ExtractBitwise, t))
            }
            // The low bits of a sum need only the low bits of the operands: undoes C's promotions.
            Node::Bin(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), x, y)
                if low == 0 && self.slices_well(x) && self.slices_well(y) =>
            {
                let (x, y) = (self.extract(high, 0, x), self.extract(high, 0, y));
                let t = match op {
                    BinOp::Add => self.add(x, y),
                    BinOp::Sub => self.sub(x, y),
                    _ => self.mul(x, y),
                };
                Some(self.by(Rule::ExtractArith, t))
            }
            _ => None,
        }
    }

    /// Whether a slice of the term is certain to be something simpler than a slice of it.
    fn slices_well(&self, t: Term) -> bool {
        match self.node(t) {
            Node::Un(UnOp::ZExt | UnOp::SExt, _) | Node::Bin(BinOp::Concat, ..) => true,
            _ => self.is_constant(t),
        }
    }

    /// The bits of `high` above the bits of `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (wh, wl) = (self.bv_width(high), self.bv_width(low));
        assert!(wh + wl <= MAX_WIDTH, "a concatenation of {} bits", wh + wl);
        let sort = Sort::BitVec(wh + wl);
        if let Some(t) = self.fold_bin(BinOp::Concat, high, low, sort) {
            return t;
        }
        if self.rewriting()
            && let Some(t) = self.rewrite_concat(high, low, wh + wl)
        {
            return t;
        }
        self.make_bin(BinOp::Concat, high, low, sort)
    }

    fn rewrite_concat(&mut self, high: Term, low: Term, w: u32) -> Option<Term> {
        if self.is_num(high, 0) {
            let t = self.zext(low, w);
            return Some(self.by(Rule::ConcatZero, t));
        }
        match self.node(high) {
            Node::Un(UnOp::ZExt, x) => {
                let t = self.concat(x, low);
                let t = self.zext(t, w);
                return Some(self.by(Rule::ConcatZExt, t));
            }
            Node::Bin(BinOp::Concat, a, b) => {
                let rest = self.concat(b, low);
                let t = self.concat(a, rest);
                return Some(self.by(Rule::ConcatAssoc, t));
            }
            _ => {}
        }
        let (next, rest) = match self.node(low) {
            Node::Bin(BinOp::Concat, a, b) => (a, Some(b)),
            _ => (low, None),
        };
        let joined = match (self.node(high), self.node(next)) {
            (Node::Extract(x, l1), Node::Extract(y, l2))
                if x == y && l1 == l2 + self.width(next) =>
            {
                let t = self.extract(l1 + self.width(high) - 1, l2, x);
                Some(self.by(Rule::ConcatAdjacent, t))
            }
            _ if rest.is_some() && self.is_constant(high) && self.is_constant(next) => {
                let t = self.concat(high, next);
                Some(self.by(Rule::ConcatConsts, t))
            }
            _ => None,
        }?;
        Some(match rest {
            Some(rest) => self.concat(joined, rest),
            None => joined,
        })
    }

    /// Extension with zeros to `width` bits (at least the term's own width).
    pub fn zext(&mut self, a: Term, width: u32) -> Term {
        let w = self.bv_width(a);
        assert!(w <= width && width <= MAX_WIDTH, "extension from {w} to {width} bits");
        if w == width {
            return a;
        }
        let sort = Sort::BitVec(width);
        if let Some(t) = self.fold_un(UnOp::ZExt, a, sort) {
            return t;
        }
        if self.rewriting() {
            if let Node::Un(UnOp::ZExt, x) = self.node(a) {
                let t = self.zext(x, width);
                return self.by(Rule::ZExtZExt, t);
            }
            if let Some(t) = self.lift_unary(a, move |p, x| p.zext(x, width)) {
                return t;
            }
        }
        self.make_un(UnOp::ZExt, a, sort)
    }

    /// Extension with copies of the sign bit to `width` bits.
    pub fn sext(&mut self, a: Term, width: u32) -> Term {
        let w = self.bv_width(a);
        assert!(w <= width && width <= MAX_WIDTH, "extension from {w} to {width} bits");
        if w == width {
            return a;
        }
        let sort = Sort::BitVec(width);
        if let Some(t) = self.fold_un(UnOp::SExt, a, sort) {
            return t;
        }
        if self.rewriting() {
            match self.node(a) {
                Node::Un(UnOp::SExt, x) => {
                    let t = self.sext(x, width);
                    return self.by(Rule::SExtSExt, t);
                }
                Node::Un(UnOp::ZExt, x) => {
                    let t = self.zext(x, width);
                    return self.by(Rule::SExtZExt, t);
                }
                _ => {}
            }
            if let Some(t) = self.lift_unary(a, move |p, x| p.sext(x, width)) {
                return t;
            }
        }
        self.make_un(UnOp::SExt, a, sort)
    }

    /// The term cut or extended with zeros to `width` bits: C's conversion from unsigned.
    pub fn resize_unsigned(&mut self, a: Term, width: u32) -> Term {
        if width < self.bv_width(a) { self.extract(width - 1, 0, a) } else { self.zext(a, width) }
    }

    /// The term cut or extended with its sign to `width` bits: C's conversion from signed.
    pub fn resize_signed(&mut self, a: Term, width: u32) -> Term {
        if width < self.bv_width(a) { self.extract(width - 1, 0, a) } else { self.sext(a, width) }
    }
}

/// The lowest and highest position if the set bits form one run.
fn one_run(mask: crate::terms::wide::Wide, w: u32) -> Option<(u32, u32)> {
    let high = mask.bit_length().checked_sub(1)?;
    let low = (0..=high).find(|&i| mask.bit(i))?;
    let run = (low..=high).all(|i| mask.bit(i));
    (run && high < w).then_some((low, high))
}
