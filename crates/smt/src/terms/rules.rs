//! The table of rewrites that smart constructors apply: each entry has a name, a statement, and an
//! example to which it applies.
//!
//! The examples are executable. Each becomes a unit test that makes the term twice, with rewriting off
//! and on, and checks that the rewrite was applied, that the results differ, that they agree on every
//! input at small widths, and that a solver proves them equal at larger ones.

use crate::terms::pool::TermPool;
use crate::terms::sort::{FloatSort, RoundingMode, Sort};
use crate::terms::term::Term;

/// One row of the table of rewrites.
pub struct RuleEntry {
    /// The rewrite.
    pub rule: Rule,
    /// Its name.
    pub name: &'static str,
    /// The rewrite in the usual notation.
    pub statement: &'static str,
    /// Makes a term, around the given width (at least 3), to which the rewrite applies.
    pub example: fn(&mut TermPool, u32) -> Term,
}

macro_rules! rules {
    ($($name:ident: $statement:literal, $example:expr;)*) => {
        /// A named rewrite.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[repr(usize)]
        pub enum Rule {
            $( #[doc = $statement] $name, )*
        }

        /// Every rewrite.
        pub const RULES: &[RuleEntry] = &[
            $( RuleEntry {
                rule: Rule::$name,
                name: stringify!($name),
                statement: $statement,
                example: $example,
            }, )*
        ];

        #[cfg(test)]
        #[allow(non_snake_case)]
        mod each_rewrite_applies_and_preserves_meaning {
            $( #[test] fn $name() { super::tests::check(super::Rule::$name); } )*
        }
    };
}

fn x(p: &mut TermPool, w: u32) -> Term {
    p.var("x", Sort::BitVec(w))
}

fn y(p: &mut TermPool, w: u32) -> Term {
    p.var("y", Sort::BitVec(w))
}

/// A small bit-vector, for the inside of extensions.
fn s(p: &mut TermPool) -> Term {
    p.var("s", Sort::BitVec(2))
}

fn b(p: &mut TermPool) -> Term {
    p.var("b", Sort::Bool)
}

fn c(p: &mut TermPool) -> Term {
    p.var("c", Sort::Bool)
}

fn f(p: &mut TermPool) -> Term {
    p.var("f", Sort::F32)
}

fn g(p: &mut TermPool) -> Term {
    p.var("g", Sort::F32)
}

fn array(p: &mut TermPool) -> Term {
    p.var("a", Sort::Array { index: 2, element: 2 })
}

/// `ite(c, 1, 2)`.
fn one_or_two(p: &mut TermPool, w: u32) -> Term {
    let (c, one, two) = (c(p), p.bv(w, 1), p.bv(w, 2));
    p.ite(c, one, two)
}

/// Makes an example from a constructor and its two operands.
macro_rules! ex {
    (|$p:ident, $w:ident| $($var:ident = $e:expr),* ; $r:expr) => {
        |$p: &mut TermPool, $w: u32| { let _ = $w; $( let $var = $e; )* $r }
    };
}

rules! {
    FoldConstants: "op k1 k2 → the constant", ex!(|p, w| k = p.bv(w, 3), l = p.bv(w, 2); p.mul(k, l));

    NotNot: "¬¬b → b", ex!(|p, w| b = b(p), n = p.not(b); p.not(n));
    AndTrue: "b ∧ true → b", ex!(|p, w| b = b(p), t = p.tt(); p.and(b, t));
    AndFalse: "b ∧ false → false", ex!(|p, w| b = b(p), t = p.ff(); p.and(b, t));
    AndSame: "b ∧ b → b", ex!(|p, w| b = b(p); p.and(b, b));
    AndComplement: "b ∧ ¬b → false", ex!(|p, w| b = b(p), n = p.not(b); p.and(b, n));
    AndAbsorb: "b ∧ (b ∧ c) → b ∧ c", ex!(|p, w| b = b(p), c = c(p), bc = p.and(b, c); p.and(b, bc));
    AndContradiction: "¬b ∧ (b ∧ c) → false",
        ex!(|p, w| b = b(p), c = c(p), bc = p.and(b, c), n = p.not(b); p.and(n, bc));
    AndNotAnd: "b ∧ ¬(b ∧ c) → b ∧ ¬c",
        ex!(|p, w| b = b(p), c = c(p), bc = p.and(b, c), n = p.not(bc); p.and(b, n));
    AndImplied: "¬b ∧ ¬(b ∧ c) → ¬b",
        ex!(|p, w| b = b(p), c = c(p), bc = p.and(b, c), n = p.not(bc), nb = p.not(b); p.and(nb, n));
    EqSame: "x = x → true", ex!(|p, w| x = x(p, w); p.eq(x, x));
    EqTrue: "b = true → b", ex!(|p, w| b = b(p), t = p.tt(); p.eq(b, t));
    EqFalse: "b = false → ¬b", ex!(|p, w| b = b(p), t = p.ff(); p.eq(b, t));
    EqComplement: "b = ¬b → false", ex!(|p, w| b = b(p), n = p.not(b); p.eq(b, n));
    EqNotNot: "¬b = ¬c → b = c",
        ex!(|p, w| b = b(p), c = c(p), nb = p.not(b), nc = p.not(c); p.eq(nb, nc));
    EqNot: "¬b = c → ¬(b = c)", ex!(|p, w| b = b(p), c = c(p), nb = p.not(b); p.eq(nb, c));

    IteConst: "ite(true, x, y) → x",
        ex!(|p, w| t = p.tt(), x = x(p, w), y = y(p, w); p.ite(t, x, y));
    IteSame: "ite(c, x, x) → x", ex!(|p, w| c = c(p), x = x(p, w); p.ite(c, x, x));
    IteNotCond: "ite(¬c, x, y) → ite(c, y, x)",
        ex!(|p, w| c = c(p), n = p.not(c), x = x(p, w), y = y(p, w); p.ite(n, x, y));
    IteNestedSameCond: "ite(c, ite(c, x, y), z) → ite(c, x, z)",
        ex!(|p, w| c = c(p), x = x(p, w), y = y(p, w), i = p.ite(c, x, y), z = p.bv(w, 3);
            p.ite(c, i, z));
    IteMergeThen: "ite(b, ite(c, x, y), y) → ite(b ∧ c, x, y)",
        ex!(|p, w| b = b(p), c = c(p), x = x(p, w), y = y(p, w), i = p.ite(c, x, y); p.ite(b, i, y));
    IteMergeElse: "ite(b, x, ite(c, x, y)) → ite(b ∨ c, x, y)",
        ex!(|p, w| b = b(p), c = c(p), x = x(p, w), y = y(p, w), i = p.ite(c, x, y); p.ite(b, x, i));
    IteTrueFalse: "ite(c, true, false) → c",
        ex!(|p, w| c = c(p), t = p.tt(), f = p.ff(); p.ite(c, t, f));
    IteFalseTrue: "ite(c, false, true) → ¬c",
        ex!(|p, w| c = c(p), t = p.tt(), f = p.ff(); p.ite(c, f, t));
    IteThenTrue: "ite(c, true, b) → c ∨ b", ex!(|p, w| c = c(p), b = b(p), t = p.tt(); p.ite(c, t, b));
    IteThenFalse: "ite(c, false, b) → ¬c ∧ b",
        ex!(|p, w| c = c(p), b = b(p), f = p.ff(); p.ite(c, f, b));
    IteElseTrue: "ite(c, b, true) → c ⇒ b", ex!(|p, w| c = c(p), b = b(p), t = p.tt(); p.ite(c, b, t));
    IteElseFalse: "ite(c, b, false) → c ∧ b",
        ex!(|p, w| c = c(p), b = b(p), f = p.ff(); p.ite(c, b, f));
    IteThenCond: "ite(c, c, b) → c ∨ b", ex!(|p, w| c = c(p), b = b(p); p.ite(c, c, b));
    IteElseCond: "ite(c, b, c) → c ∧ b", ex!(|p, w| c = c(p), b = b(p); p.ite(c, b, c));
    EqIteConst: "ite(c, k1, k2) = k → ite(c, k1 = k, k2 = k)",
        ex!(|p, w| i = one_or_two(p, w), k = p.bv(w, 1); p.eq(i, k));
    EqIteOneConst: "ite(c, k1, x) = k → ¬c ∧ x = k",
        ex!(|p, w| c = c(p), k = p.bv(w, 1), x = x(p, w), i = p.ite(c, k, x), l = p.bv(w, 2); p.eq(i, l));
    EqIteSameConst: "ite(c, k, x) = k → c, where x is never k",
        ex!(|p, w| c = c(p), x = x(p, w), k = p.bv(w + 1, 0), h = p.bv(1, 1), y = p.concat(h, x),
            i = p.ite(c, k, y); p.eq(i, k));
    LiftIteUnary: "op ite(c, k1, k2) → ite(c, op k1, op k2)",
        ex!(|p, w| i = one_or_two(p, w); p.neg(i));
    LiftIteBinary: "op(ite(c, k1, k2), k) → ite(c, op(k1, k), op(k2, k))",
        ex!(|p, w| i = one_or_two(p, w), k = p.bv(w, 3); p.mul(i, k));

    BvNotNot: "∼∼x → x", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.bvnot(n));
    BvAndZero: "x & 0 → 0", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.bvand(x, k));
    BvAndOnes: "x & 1…1 → x", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.bvand(x, k));
    BvAndSame: "x & x → x", ex!(|p, w| x = x(p, w); p.bvand(x, x));
    BvAndComplement: "x & ∼x → 0", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.bvand(x, n));
    BvAndAssocConst: "(x & k) & l → x & (k & l)",
        ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -3), a = p.bvand(x, k), l = p.bv_signed(w, -5);
            p.bvand(a, l));
    BvAndMask: "x & 0…01…10…0 → 0 . x[h:l] . 0", ex!(|p, w| x = x(p, w), k = p.bv(w, 6); p.bvand(x, k));
    BvAndNarrow: "0.s & x → 0.(s & x[h:0])",
        ex!(|p, w| s = s(p), z = p.zext(s, w), x = x(p, w); p.bvand(z, x));
    BvOrZero: "x | 0 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.bvor(x, k));
    BvOrOnes: "x | 1…1 → 1…1", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.bvor(x, k));
    BvOrSame: "x | x → x", ex!(|p, w| x = x(p, w); p.bvor(x, x));
    BvOrComplement: "x | ∼x → 1…1", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.bvor(x, n));
    BvOrAssocConst: "(x | k) | l → x | (k | l)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.bvor(x, k), l = p.bv(w, 4); p.bvor(a, l));
    BvOrConcat: "(x . l) | 0.s → x . (l | s)",
        ex!(|p, w| x = x(p, w), z = p.bv(3, 0), a = p.concat(x, z), s = s(p), e = p.zext(s, w + 3);
            p.bvor(a, e));
    BvOrNarrow: "0.s | k → 0.(s | k)",
        ex!(|p, w| s = s(p), z = p.zext(s, w), k = p.bv(w, 1); p.bvor(z, k));
    BvXorZero: "x ^ 0 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.bvxor(x, k));
    BvXorOnes: "x ^ 1…1 → ∼x", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.bvxor(x, k));
    BvXorSame: "x ^ x → 0", ex!(|p, w| x = x(p, w); p.bvxor(x, x));
    BvXorComplement: "x ^ ∼x → 1…1", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.bvxor(x, n));
    BvXorAssocConst: "(x ^ k) ^ l → x ^ (k ^ l)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.bvxor(x, k), l = p.bv(w, 3); p.bvxor(a, l));
    BvXorCancel: "(x ^ y) ^ y → x", ex!(|p, w| x = x(p, w), y = y(p, w), a = p.bvxor(x, y); p.bvxor(a, y));
    BvXorNarrow: "0.s ^ k → 0.(s ^ k)",
        ex!(|p, w| s = s(p), z = p.zext(s, w), k = p.bv(w, 1); p.bvxor(z, k));
    ShiftOfZero: "0 << x → 0", ex!(|p, w| x = x(p, w), z = p.bv(w, 0); p.shl(z, x));
    ShiftByZero: "x << 0 → x", ex!(|p, w| x = x(p, w), z = p.bv(w, 0); p.ashr(x, z));
    ShlConst: "x << k → x[w-1-k:0] . 0", ex!(|p, w| x = x(p, w), k = p.bv(w, 2); p.shl(x, k));
    LShrConst: "x >> k → 0.x[w-1:k]", ex!(|p, w| x = x(p, w), k = p.bv(w, 2); p.lshr(x, k));
    AShrConst: "x >>s k → sext x[w-1:k]", ex!(|p, w| x = x(p, w), k = p.bv(w, 7); p.ashr(x, k));
    ExtractAll: "x[w-1:0] → x", ex!(|p, w| x = x(p, w); p.extract(w - 1, 0, x));
    ExtractExtract: "x[h:l][i:j] → x[l+i:l+j]",
        ex!(|p, w| x = x(p, w), e = p.extract(w - 1, 1, x); p.extract(1, 1, e));
    ExtractConcat: "(x . y)[h:l] → slices of x and y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.concat(x, y); p.extract(w + 1, 1, a));
    ExtractZExt: "(0.x)[h:l] → slice of x, extended",
        ex!(|p, w| x = x(p, w), a = p.zext(x, w + 3); p.extract(w + 1, 1, a));
    ExtractSExt: "(sext x)[h:l] → slice of x, extended",
        ex!(|p, w| x = x(p, w), a = p.sext(x, w + 3); p.extract(w + 1, w, a));
    ExtractIte: "ite(c, 0.x, k)[h:l] → ite(c, (0.x)[h:l], k[h:l])",
        ex!(|p, w| c = c(p), x = x(p, w), e = p.zext(x, w + 2), k = p.bv(w + 2, 7), i = p.ite(c, e, k);
            p.extract(w, 1, i));
    ExtractNot: "(∼x)[h:l] → ∼x[h:l]", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.extract(1, 0, n));
    ExtractBitwise: "(x ^ k)[h:l] → x[h:l] ^ k[h:l]",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 5), a = p.bvxor(x, k); p.extract(1, 0, a));
    ExtractArith: "(0.x + 0.y)[h:0] → (0.x)[h:0] + (0.y)[h:0]",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.zext(x, w + 2), b = p.zext(y, w + 2), s = p.add(a, b);
            p.extract(w - 1, 0, s));
    ConcatZero: "0 . x → zext x", ex!(|p, w| x = x(p, w), z = p.bv(2, 0); p.concat(z, x));
    ConcatZExt: "(zext x) . y → zext (x . y)",
        ex!(|p, w| x = x(p, w), y = y(p, w), z = p.zext(x, w + 1); p.concat(z, y));
    ConcatAssoc: "(x . y) . s → x . (y . s)",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.concat(x, y), s = s(p); p.concat(a, s));
    ConcatAdjacent: "x[h:m+1] . x[m:l] → x[h:l]",
        ex!(|p, w| x = x(p, w), h = p.extract(w - 1, 1, x), l = p.extract(0, 0, x); p.concat(h, l));
    ConcatConsts: "k . (l . x) → (k . l) . x",
        ex!(|p, w| x = x(p, w), k = p.bv(2, 2), l = p.bv(2, 1), a = p.concat(l, x); p.concat(k, a));
    ZExtZExt: "zext (zext x) → zext x", ex!(|p, w| x = x(p, w), a = p.zext(x, w + 1); p.zext(a, w + 3));
    SExtSExt: "sext (sext x) → sext x", ex!(|p, w| x = x(p, w), a = p.sext(x, w + 1); p.sext(a, w + 3));
    SExtZExt: "sext (zext x) → zext x", ex!(|p, w| x = x(p, w), a = p.zext(x, w + 1); p.sext(a, w + 3));

    NegNeg: "−−x → x", ex!(|p, w| x = x(p, w), n = p.neg(x); p.neg(n));
    NegSub: "−(x − y) → y − x", ex!(|p, w| x = x(p, w), y = y(p, w), d = p.sub(x, y); p.neg(d));
    AddZero: "x + 0 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.add(x, k));
    AddAssocConst: "(x + k) + l → x + (k + l)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.add(x, k), l = p.bv(w, 3); p.add(a, l));
    AddConstSub: "(k − x) + l → (k + l) − x",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.sub(k, x), l = p.bv(w, 3); p.add(a, l));
    AddNeg: "x + −y → x − y", ex!(|p, w| x = x(p, w), y = y(p, w), n = p.neg(y); p.add(x, n));
    AddSame: "x + x → x << 1", ex!(|p, w| x = x(p, w); p.add(x, x));
    AddComplement: "x + ∼x → 1…1", ex!(|p, w| x = x(p, w), n = p.bvnot(x); p.add(x, n));
    AddSub: "(x − y) + y → x", ex!(|p, w| x = x(p, w), y = y(p, w), d = p.sub(x, y); p.add(d, y));
    AddPullConst: "(x + k) + y → (x + y) + k",
        ex!(|p, w| x = x(p, w), y = y(p, w), k = p.bv(w, 1), a = p.add(x, k); p.add(a, y));
    SubSame: "x − x → 0", ex!(|p, w| x = x(p, w); p.sub(x, x));
    SubConst: "x − k → x + −k", ex!(|p, w| x = x(p, w), k = p.bv(w, 3); p.sub(x, k));
    SubFromZero: "0 − x → −x", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.sub(k, x));
    SubConstAdd: "k − (x + l) → (k − l) − x",
        ex!(|p, w| x = x(p, w), l = p.bv(w, 1), a = p.add(x, l), k = p.bv(w, 3); p.sub(k, a));
    SubConstSub: "k − (l − x) → x + (k − l)",
        ex!(|p, w| x = x(p, w), l = p.bv(w, 1), a = p.sub(l, x), k = p.bv(w, 3); p.sub(k, a));
    SubNeg: "x − −y → x + y", ex!(|p, w| x = x(p, w), y = y(p, w), n = p.neg(y); p.sub(x, n));
    SubOwnSum: "x − (x + y) → −y", ex!(|p, w| x = x(p, w), y = y(p, w), a = p.add(x, y); p.sub(x, a));
    SubSum: "(x + y) − y → x", ex!(|p, w| x = x(p, w), y = y(p, w), a = p.add(x, y); p.sub(a, y));
    SubPullConst: "(x + k) − y → (x − y) + k",
        ex!(|p, w| x = x(p, w), y = y(p, w), k = p.bv(w, 1), a = p.add(x, k); p.sub(a, y));
    MulZero: "x · 0 → 0", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.mul(x, k));
    MulOne: "x · 1 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 1); p.mul(x, k));
    MulMinusOne: "x · −1 → −x", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.mul(x, k));
    MulPowerOfTwo: "x · 2^k → x << k", ex!(|p, w| x = x(p, w), k = p.bv(w, 4); p.mul(x, k));
    MulAssocConst: "(x · k) · l → x · (k · l)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 3), a = p.mul(x, k), l = p.bv(w, 5); p.mul(a, l));
    MulNegConst: "−x · k → x · −k", ex!(|p, w| x = x(p, w), n = p.neg(x), k = p.bv(w, 3); p.mul(n, k));
    MulNegNeg: "−x · −y → x · y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.neg(x), b = p.neg(y); p.mul(a, b));
    UDivZero: "x / 0 → 1…1", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.udiv(x, k));
    UDivPowerOfTwo: "x / 2^k → x >> k", ex!(|p, w| x = x(p, w), k = p.bv(w, 4); p.udiv(x, k));
    UDivNarrow: "0.x / k → 0.(x / k)",
        ex!(|p, w| x = x(p, w), z = p.zext(x, w + 2), k = p.bv(w + 2, 3); p.udiv(z, k));
    UDivSame: "x / x → ite(x = 0, 1…1, 1)", ex!(|p, w| x = x(p, w); p.udiv(x, x));
    URemSame: "x % x → 0", ex!(|p, w| x = x(p, w); p.urem(x, x));
    SDivSame: "x /s x → ite(x = 0, −1, 1)", ex!(|p, w| x = x(p, w); p.sdiv(x, x));
    SRemSame: "x %s x → 0", ex!(|p, w| x = x(p, w); p.srem(x, x));
    URemZero: "x % 0 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.urem(x, k));
    URemPowerOfTwo: "x % 2^k → 0.x[k-1:0]", ex!(|p, w| x = x(p, w), k = p.bv(w, 4); p.urem(x, k));
    URemNarrow: "0.x % k → 0.(x % k)",
        ex!(|p, w| x = x(p, w), z = p.zext(x, w + 2), k = p.bv(w + 2, 3); p.urem(z, k));
    URemBothNarrow: "0.x % 0.y → 0.(x % y)",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.zext(x, w + 2), b = p.zext(y, w + 2); p.urem(a, b));
    SRemNarrow: "s.x %s s.y → s.(x %s y)",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.sext(x, w + 2), b = p.sext(y, w + 2); p.srem(a, b));
    SDivOne: "x /s 1 → x", ex!(|p, w| x = x(p, w), k = p.bv(w, 1); p.sdiv(x, k));
    SDivMinusOne: "x /s −1 → −x", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.sdiv(x, k));
    SDivNonNegative: "0.x /s k → 0.x / k",
        ex!(|p, w| x = x(p, w), z = p.zext(x, w + 1), k = p.bv(w + 1, 3); p.sdiv(z, k));
    SDivPowerOfTwo: "x /s 2^k → (x + bias) >>s k", ex!(|p, w| x = x(p, w), k = p.bv(w, 2); p.sdiv(x, k));
    SRemOne: "x %s ±1 → 0", ex!(|p, w| x = x(p, w), k = p.bv_signed(w, -1); p.srem(x, k));
    SRemNonNegative: "0.x %s k → 0.x % k",
        ex!(|p, w| x = x(p, w), z = p.zext(x, w + 1), k = p.bv(w + 1, 3); p.srem(z, k));
    SRemPowerOfTwo: "x %s 2^k → x − ((x /s 2^k) << k)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 2); p.srem(x, k));

    UltSame: "x < x → false", ex!(|p, w| x = x(p, w); p.ult(x, x));
    UltLimit: "x < 0 → false", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.ult(x, k));
    UltOne: "x < 1 → x = 0", ex!(|p, w| x = x(p, w), k = p.bv(w, 1); p.ult(x, k));
    UltNotLimit: "0 < x → ¬(x = 0)", ex!(|p, w| x = x(p, w), k = p.bv(w, 0); p.ult(k, x));
    UltSExt: "sext x < sext y → x < y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.sext(x, w + 2), b = p.sext(y, w + 2); p.ult(a, b));
    UltZExt: "0.x < k → x < k",
        ex!(|p, w| x = x(p, w), a = p.zext(x, w + 2), k = p.bv(w + 2, 5); p.ult(a, k));
    SltSame: "x <s x → false", ex!(|p, w| x = x(p, w); p.slt(x, x));
    SltLimit: "x <s least → false", ex!(|p, w| x = x(p, w), k = p.bv(w, 1 << (w - 1)); p.slt(x, k));
    SltNotLimit: "least <s x → ¬(x = least)",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1 << (w - 1)); p.slt(k, x));
    SltNonNegative: "0.x <s 0.y → 0.x < 0.y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.zext(x, w + 2), b = p.zext(y, w + 2); p.slt(a, b));
    SltSignsDiffer: "0.x <s −k → false",
        ex!(|p, w| x = x(p, w), a = p.zext(x, w + 2), k = p.bv_signed(w + 2, -3); p.slt(a, k));
    SltSExt: "sext x <s k → x <s k",
        ex!(|p, w| x = x(p, w), a = p.sext(x, w + 2), k = p.bv_signed(w + 2, -3); p.slt(a, k));
    EqZExt: "0.x = 0.y → x = y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.zext(x, w + 2), b = p.zext(y, w + 2); p.eq(a, b));
    EqSExt: "sext x = sext y → x = y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.sext(x, w + 2), b = p.sext(y, w + 2); p.eq(a, b));
    EqUnary: "∼x = ∼y → x = y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.bvnot(x), b = p.bvnot(y); p.eq(a, b));
    EqAddConsts: "x + k = y + l → x = y + (l − k)",
        ex!(|p, w| x = x(p, w), y = y(p, w), k = p.bv(w, 1), l = p.bv(w, 3), a = p.add(x, k),
            b = p.add(y, l); p.eq(a, b));
    EqOwnSum: "x + y = x → y = 0", ex!(|p, w| x = x(p, w), y = y(p, w), a = p.add(x, y); p.eq(a, x));
    EqZExtConst: "0.x = k → x = k",
        ex!(|p, w| x = x(p, w), a = p.zext(x, w + 2), k = p.bv(w + 2, 3); p.eq(a, k));
    EqSExtConst: "sext x = k → x = k",
        ex!(|p, w| x = x(p, w), a = p.sext(x, w + 2), k = p.bv_signed(w + 2, -2); p.eq(a, k));
    EqUnaryConst: "∼x = k → x = ∼k", ex!(|p, w| x = x(p, w), a = p.bvnot(x), k = p.bv(w, 3); p.eq(a, k));
    EqAddConst: "x + k = l → x = l − k",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.add(x, k), l = p.bv(w, 3); p.eq(a, l));
    EqConstSub: "k − x = l → x = k − l",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.sub(k, x), l = p.bv(w, 3); p.eq(a, l));
    EqSubZero: "x − y = 0 → x = y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.sub(x, y), z = p.bv(w, 0); p.eq(a, z));
    EqXorConst: "x ^ k = l → x = k ^ l",
        ex!(|p, w| x = x(p, w), k = p.bv(w, 1), a = p.bvxor(x, k), l = p.bv(w, 3); p.eq(a, l));
    EqXorZero: "x ^ y = 0 → x = y",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.bvxor(x, y), z = p.bv(w, 0); p.eq(a, z));
    EqConcatConst: "x . y = k → x = k[…] ∧ y = k[…]",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.concat(x, y), k = p.bv(2 * w, 37); p.eq(a, k));
    EqOrZero: "x | y = 0 → x = 0 ∧ y = 0",
        ex!(|p, w| x = x(p, w), y = y(p, w), a = p.bvor(x, y), z = p.bv(w, 0); p.eq(a, z));

    SelectStoreSame: "a[i ← v][i] → v",
        ex!(|p, w| a = array(p), i = s(p), v = p.var("v", Sort::BitVec(2)), st = p.store(a, i, v);
            p.select(st, i));
    SelectStoreDistinct: "a[k ← v][l] → a[l]",
        ex!(|p, w| a = array(p), v = s(p), k = p.bv(2, 1), l = p.bv(2, 2), st = p.store(a, k, v);
            p.select(st, l));
    SelectUniform: "(λi. v)[i] → v",
        ex!(|p, w| v = s(p), a = p.uniform_array(3, v), i = x(p, 3); p.select(a, i));
    SelectTable: "table[k] → its element",
        ex!(|p, w| a = p.const_array(2, &[3, 1, 4]), k = p.bv(2, 2); p.select(a, k));
    SelectIte: "ite(c, a, b)[i] → ite(c, a[i], b[i])",
        ex!(|p, w| c = c(p), a = p.const_array(2, &[3, 1, 4]), b = p.const_array(2, &[2, 7]),
            i = s(p), t = p.ite(c, a, b); p.select(t, i));
    StoreStore: "a[i ← v][i ← u] → a[i ← u]",
        ex!(|p, w| a = array(p), i = s(p), v = p.bv(2, 1), u = p.bv(2, 2), st = p.store(a, i, v),
            tt = p.store(st, i, u), k = p.bv(2, 3); p.select(tt, k));
    StoreSelect: "a[i ← a[i]] → a",
        ex!(|p, w| a = array(p), i = s(p), v = p.select(a, i), st = p.store(a, i, v), k = p.bv(2, 3);
            p.select(st, k));

    FpNegNeg: "−−f → f", ex!(|p, w| f = f(p), n = p.fp_neg(f); p.fp_neg(n));
    FpAbsSign: "|−f| → |f|", ex!(|p, w| f = f(p), n = p.fp_neg(f); p.fp_abs(n));
    FpIsNanThrough: "isNaN(op f) → isNaN f", ex!(|p, w| f = f(p), n = p.fp_neg(f); p.fp_is_nan(n));
    FpIsInfThrough: "isInf(op f) → isInf f", ex!(|p, w| f = f(p), n = p.fp_abs(f); p.fp_is_inf(n));
    FpIntIsNumber: "isNaN(float x) → false",
        ex!(|p, w| x = x(p, w), f = p.fp_from_signed(FloatSort::F32, x); p.fp_is_nan(f));
    FpFromToBits: "fromBits(toBits f) → f",
        ex!(|p, w| f = f(p), n = p.fp_to_bits(f); p.fp_from_bits(FloatSort::F32, n));
    FpWidenNarrow: "(float)(double)f → f",
        ex!(|p, w| f = f(p), n = p.fp_to_fp(FloatSort::F64, f); p.fp_to_fp(FloatSort::F32, n));
    FpRoundIntegral: "round(round f) → round f",
        ex!(|p, w| f = f(p), n = p.fp_round(RoundingMode::TowardZero, f);
            p.fp_round(RoundingMode::NearestEven, n));
    FpToIntTrunc: "(int)trunc f → (int)f",
        ex!(|p, w| f = f(p), n = p.fp_round(RoundingMode::TowardZero, f); p.fp_to_signed(w, n));
    FpIntRoundTrip: "(int)(float)x → x, where exact",
        ex!(|p, w| x = x(p, w), f = p.fp_from_signed(FloatSort::F32, x); p.fp_to_signed(w + 1, f));
    FpSubNeg: "f − −g → f + g", ex!(|p, w| f = f(p), g = g(p), n = p.fp_neg(g); p.fp_sub(f, n));
    FpTimesOne: "f · 1 → f", ex!(|p, w| f = f(p), k = p.f32(1.0); p.fp_mul(f, k));
    FpCompareSame: "f = f → ¬isNaN f", ex!(|p, w| f = f(p); p.fp_eq(f, f));
    FpCompareNan: "f < NaN → false", ex!(|p, w| f = f(p), n = p.f32(f32::NAN); p.fp_lt(f, n));
    FpCompareNeg: "−f < −g → g < f",
        ex!(|p, w| f = f(p), g = g(p), m = p.fp_neg(f), n = p.fp_neg(g); p.fp_lt(m, n));
    FpCompareWidened: "(double)f < (double)g → f < g",
        ex!(|p, w| f = f(p), g = g(p), m = p.fp_to_fp(FloatSort::F64, f),
            n = p.fp_to_fp(FloatSort::F64, g); p.fp_lt(m, n));
    FpCompareInts: "(float)x < k → x < ⌈k⌉, where exact",
        ex!(|p, w| x = x(p, w), f = p.fp_from_signed(FloatSort::F32, x), k = p.f32(-1.5);
            p.fp_lt(f, k));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    fn make(p: &mut TermPool, rule: Rule, w: u32, rewriting: bool) -> Term {
        let before = p.set_rewriting(rewriting);
        let t = (RULES[rule as usize].example)(p, w);
        p.set_rewriting(before);
        t
    }

    pub(super) fn check(rule: Rule) {
        for w in [3, 4, 8] {
            let mut p = TermPool::new();
            let plain = make(&mut p, rule, w, false);
            let before = p.fired(rule);
            let rewritten = make(&mut p, rule, w, true);
            assert!(p.fired(rule) > before, "{rule:?} does not apply to its example at {w} bits");
            assert_ne!(plain, rewritten, "{rule:?} changes nothing");
            if w <= 4 {
                testing::assert_equal_on_all_inputs(&mut p, plain, rewritten);
            }
            testing::assert_proved_equal(&mut p, plain, rewritten);
        }
    }
}
