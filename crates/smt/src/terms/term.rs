//! Terms: ids into a pool, and the nodes they stand for.
//!
//! # Canonical form
//!
//! The smart constructors of [`TermPool`](crate::TermPool) keep these invariants, on which rules
//! and back ends may rely (they do not hold for terms made with rewriting switched off):
//!
//! - A term whose children are all constants is itself a constant (table reads included).
//! - Booleans are built from constants, variables, `Not`, `And`, `Eq`, `Ite` and predicates; `or`,
//!   `xor` and `implies` are spelled with these. `Not` never stands over `Not` or a constant.
//! - Only strict comparisons exist: `a <= b` is `not (b < a)`.
//! - A Boolean used as a number is `ite(c, 1, 0)`.
//! - Operands of commutative operators are ordered: constants right, else the older term left.
//! - `x - c` is `x + (-c)`; `c + (d + x)` has one constant; `x * 2^k`, `x / 2^k`, `x % 2^k`, shifts
//!   by constants and masks with one run of ones are `Concat`, `Extract`, `ZExt` and `SExt`.
//! - `Concat` leans right (`a . (b . c)`), never has a zero on the left (that is `ZExt`), and never
//!   has two adjacent slices of one term.
//! - `Extract` never stands over `Extract`, `Concat`, `ZExt` or `SExt`.
//! - `Select` never stands over `Ite` nor over a store whose index is a constant distinct from its
//!   own or equal to its own.

use crate::terms::sort::RoundingMode;
use smallvec::{SmallVec, smallvec};
use std::fmt;

/// A hash-consed term: two terms of one pool are structurally equal exactly when their ids are.
///
/// Ids grow with creation and children are always older than their parents.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Term(pub(crate) u32);

impl Term {
    /// The position of the term in its pool, for side tables.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Operators with one operand. Result widths are in the sort of the term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnOp {
    /// Boolean negation.
    Not,
    /// Bitwise complement.
    BvNot,
    /// Two's complement negation.
    BvNeg,
    /// Zero extension.
    ZExt,
    /// Sign extension.
    SExt,
    /// The array whose elements all are the operand.
    ConstArray,
    /// Float negation (of NaN: NaN).
    FpNeg,
    /// Float absolute value (of NaN: NaN).
    FpAbs,
    /// Correctly rounded square root.
    FpSqrt,
    /// Rounding to an integral float.
    FpRound(RoundingMode),
    /// Is the float NaN?
    FpIsNan,
    /// Is the float an infinity?
    FpIsInf,
    /// The float with this bit pattern; every NaN pattern gives NaN.
    FpFromBits,
    /// The bit pattern of a float; NaN gives [`FloatSort::nan_bits`](crate::FloatSort::nan_bits).
    FpToBits,
    /// Conversion between float formats, to nearest even.
    FpToFp,
    /// Signed integer to float, to nearest even.
    FpFromSigned,
    /// Unsigned integer to float, to nearest even.
    FpFromUnsigned,
    /// Float to signed integer towards zero; where it does not fit, only the top bit is set.
    FpToSigned,
    /// Float to unsigned integer towards zero; where it does not fit, only the top bit is set.
    FpToUnsigned,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinOp {
    /// Boolean conjunction.
    And,
    /// Equality of two values of any sort but arrays. On floats this is identity: NaN equals NaN
    /// and the zeros differ; see `FpEq` for C's `==`.
    Eq,
    /// Bitwise and.
    BvAnd,
    /// Bitwise or.
    BvOr,
    /// Bitwise exclusive or.
    BvXor,
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Unsigned quotient; by zero all ones.
    UDiv,
    /// Unsigned remainder; by zero the dividend.
    URem,
    /// Signed quotient towards zero; by zero 1 for negative dividends, else -1.
    SDiv,
    /// Signed remainder with the dividend's sign; by zero the dividend.
    SRem,
    /// Left shift; by the width or more 0.
    Shl,
    /// Logical right shift; by the width or more 0.
    LShr,
    /// Arithmetic right shift; by the width or more all sign bits.
    AShr,
    /// Unsigned less than.
    Ult,
    /// Signed less than.
    Slt,
    /// The left operand's bits above the right operand's.
    Concat,
    /// The element of an array (left) at an index (right).
    Select,
    /// Float sum, to nearest even.
    FpAdd,
    /// Float difference, to nearest even.
    FpSub,
    /// Float product, to nearest even.
    FpMul,
    /// Float quotient, to nearest even.
    FpDiv,
    /// IEEE remainder (C's `remainder`, not `fmod`).
    FpRem,
    /// IEEE equality, C's `==`.
    FpEq,
    /// IEEE less than.
    FpLt,
    /// IEEE less than or equal.
    FpLe,
}

impl BinOp {
    /// Whether the operands may be exchanged.
    pub const fn is_commutative(self) -> bool {
        use BinOp::*;
        matches!(self, And | Eq | BvAnd | BvOr | BvXor | Add | Mul | FpAdd | FpMul | FpEq)
    }

    /// Whether SMT-LIB's function has a rounding mode before its operands: to nearest, ties to even.
    pub const fn rounds(self) -> bool {
        use BinOp::*;
        matches!(self, FpAdd | FpSub | FpMul | FpDiv)
    }

    /// SMT-LIB's name.
    pub const fn smt_name(self) -> &'static str {
        use BinOp::*;
        match self {
            And => "and",
            Eq => "=",
            BvAnd => "bvand",
            BvOr => "bvor",
            BvXor => "bvxor",
            Add => "bvadd",
            Sub => "bvsub",
            Mul => "bvmul",
            UDiv => "bvudiv",
            URem => "bvurem",
            SDiv => "bvsdiv",
            SRem => "bvsrem",
            Shl => "bvshl",
            LShr => "bvlshr",
            AShr => "bvashr",
            Ult => "bvult",
            Slt => "bvslt",
            Concat => "concat",
            Select => "select",
            FpAdd => "fp.add",
            FpSub => "fp.sub",
            FpMul => "fp.mul",
            FpDiv => "fp.div",
            FpRem => "fp.rem",
            FpEq => "fp.eq",
            FpLt => "fp.lt",
            FpLe => "fp.leq",
        }
    }
}

/// The operator and operands of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// `true` or `false`.
    Bool(bool),
    /// A bit-vector constant of at most 64 bits.
    Bits(u64),
    /// A wider constant: its number in the pool's list of them.
    Wide(u32),
    /// A float constant by its bit pattern; NaN is always the canonical one.
    Float(u64),
    /// A symbol: its number in the pool's list of names.
    Var(u32),
    /// A constant array: its number in the pool's list of tables.
    Table(u32),
    /// One operand.
    Un(UnOp, Term),
    /// Two operands.
    Bin(BinOp, Term, Term),
    /// The second operand where the first (a Bool) holds, else the third.
    Ite(Term, Term, Term),
    /// The array equal to the first operand but for index (second), where it holds the third.
    Store(Term, Term, Term),
    /// Fused multiply-add, first times second plus third, rounded once to nearest even.
    Fma(Term, Term, Term),
    /// Bits of the operand starting at the number; how many is in the term's sort.
    Extract(Term, u32),
}

impl Node {
    /// The operands, in order.
    pub fn children(&self) -> SmallVec<[Term; 3]> {
        match *self {
            Node::Bool(_)
            | Node::Bits(_)
            | Node::Wide(_)
            | Node::Float(_)
            | Node::Var(_)
            | Node::Table(_) => smallvec![],
            Node::Un(_, a) | Node::Extract(a, _) => smallvec![a],
            Node::Bin(_, a, b) => smallvec![a, b],
            Node::Ite(a, b, c) | Node::Store(a, b, c) | Node::Fma(a, b, c) => smallvec![a, b, c],
        }
    }

    /// The same node with other operands.
    pub(crate) fn map(self, mut to: impl FnMut(Term) -> Term) -> Node {
        match self {
            Node::Bool(_)
            | Node::Bits(_)
            | Node::Wide(_)
            | Node::Float(_)
            | Node::Var(_)
            | Node::Table(_) => self,
            Node::Un(op, a) => Node::Un(op, to(a)),
            Node::Extract(a, low) => Node::Extract(to(a), low),
            Node::Bin(op, a, b) => Node::Bin(op, to(a), to(b)),
            Node::Ite(a, b, c) => Node::Ite(to(a), to(b), to(c)),
            Node::Store(a, b, c) => Node::Store(to(a), to(b), to(c)),
            Node::Fma(a, b, c) => Node::Fma(to(a), to(b), to(c)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_sixteen_bytes() {
        assert_eq!(std::mem::size_of::<Node>(), 16);
    }
}
