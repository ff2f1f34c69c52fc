//! Smart constructors of IEEE floats.
//!
//! Arithmetic rounds to nearest, ties to even, as C does unless the program changes the mode.

use crate::terms::pool::TermPool;
use crate::terms::rules::Rule;
use crate::terms::sort::{FloatSort, RoundingMode, Sort};
use crate::terms::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    pub(crate) fn float_sort(&self, t: Term) -> FloatSort {
        match self.sort(t) {
            Sort::Float(f) => f,
            s => panic!("a float operator on a {s}"),
        }
    }

    fn fp_unary(&mut self, op: UnOp, a: Term, to: Sort) -> Term {
        if let Some(t) = self.fold_un(op, a, to) {
            return t;
        }
        if self.rewriting()
            && let Some(t) = self.rewrite_fp_unary(op, a, to)
        {
            return t;
        }
        self.make_un(op, a, to)
    }

    fn rewrite_fp_unary(&mut self, op: UnOp, a: Term, to: Sort) -> Option<Term> {
        use UnOp::*;
        let Node::Un(inner, x) = self.node(a) else {
            return self.lift_unary(a, move |p, x| p.fp_unary(op, x, to));
        };
        match (op, inner) {
            (FpNeg, FpNeg) => Some(self.by(Rule::FpNegNeg, x)),
            (FpAbs, FpNeg | FpAbs) => {
                let t = self.fp_abs(x);
                Some(self.by(Rule::FpAbsSign, t))
            }
            (FpIsNan, FpNeg | FpAbs | FpToFp | FpRound(_)) => {
                let t = self.fp_is_nan(x);
                Some(self.by(Rule::FpIsNanThrough, t))
            }
            (FpIsInf, FpNeg | FpAbs | FpRound(_)) => {
                let t = self.fp_is_inf(x);
                Some(self.by(Rule::FpIsInfThrough, t))
            }
            (FpIsNan, FpFromSigned | FpFromUnsigned) => {
                let f = self.ff();
                Some(self.by(Rule::FpIntIsNumber, f))
            }
            // 127 bits are the most that cannot overflow binary32.
            (FpIsInf, FpFromSigned | FpFromUnsigned) if self.width(x) <= 127 => {
                let f = self.ff();
                Some(self.by(Rule::FpIntIsNumber, f))
            }
            (FpFromBits, FpToBits) if to == self.sort(x) => Some(self.by(Rule::FpFromToBits, x)),
            (FpToFp, FpToFp)
                if self.float_sort(x) == FloatSort::F32 && to == Sort::Float(FloatSort::F32) =>
            {
                Some(self.by(Rule::FpWidenNarrow, x))
            }
            (FpRound(_), FpRound(_)) => Some(self.by(Rule::FpRoundIntegral, a)),
            (FpRound(_), FpFromSigned | FpFromUnsigned) => Some(self.by(Rule::FpRoundIntegral, a)),
            (FpToSigned | FpToUnsigned, FpRound(RoundingMode::TowardZero)) => {
                let t = self.fp_unary(op, x, to);
                Some(self.by(Rule::FpToIntTrunc, t))
            }
            (FpToSigned, FpFromSigned) if self.exact_int(x, true, a) => {
                let w = self.width(x);
                if w > to.width() {
                    return None;
                }
                let t = self.sext(x, to.width());
                Some(self.by(Rule::FpIntRoundTrip, t))
            }
            (FpToUnsigned, FpFromUnsigned) if self.exact_int(x, false, a) => {
                let w = self.width(x);
                if w > to.width() {
                    return None;
                }
                let t = self.zext(x, to.width());
                Some(self.by(Rule::FpIntRoundTrip, t))
            }
            _ => None,
        }
    }

    /// Whether every integer `x` is represented exactly in the float `a`.
    fn exact_int(&self, x: Term, signed: bool, a: Term) -> bool {
        self.width(x) <= self.float_sort(a).significand_bits() + signed as u32
    }

    /// Negation: flips the sign.
    pub fn fp_neg(&mut self, a: Term) -> Term {
        let f = self.float_sort(a);
        self.fp_unary(UnOp::FpNeg, a, Sort::Float(f))
    }

    /// Absolute value.
    pub fn fp_abs(&mut self, a: Term) -> Term {
        let f = self.float_sort(a);
        self.fp_unary(UnOp::FpAbs, a, Sort::Float(f))
    }

    /// Square root.
    pub fn fp_sqrt(&mut self, a: Term) -> Term {
        let f = self.float_sort(a);
        self.fp_unary(UnOp::FpSqrt, a, Sort::Float(f))
    }

    /// The integral float that the mode rounds to: C's `trunc`, `floor`, `ceil`, `round`, `rint`.
    pub fn fp_round(&mut self, mode: RoundingMode, a: Term) -> Term {
        let f = self.float_sort(a);
        self.fp_unary(UnOp::FpRound(mode), a, Sort::Float(f))
    }

    /// Whether a float is NaN.
    pub fn fp_is_nan(&mut self, a: Term) -> Term {
        self.float_sort(a);
        self.fp_unary(UnOp::FpIsNan, a, Sort::Bool)
    }

    /// Whether a float is an infinity of either sign.
    pub fn fp_is_inf(&mut self, a: Term) -> Term {
        self.float_sort(a);
        self.fp_unary(UnOp::FpIsInf, a, Sort::Bool)
    }

    /// Whether a float is zero of either sign.
    pub fn fp_is_zero(&mut self, a: Term) -> Term {
        let f = self.float_sort(a);
        let z = self.fp_const(f, 0);
        self.fp_eq(a, z)
    }

    /// Whether a float's sign bit is set (NaN has a clear one).
    pub fn fp_is_negative(&mut self, a: Term) -> Term {
        let bits = self.fp_to_bits(a);
        self.sign_bit(bits)
    }

    /// The float that a bit pattern encodes.
    pub fn fp_from_bits(&mut self, sort: FloatSort, a: Term) -> Term {
        assert_eq!(self.bv_width(a), sort.width(), "a bit pattern of the wrong width");
        self.fp_unary(UnOp::FpFromBits, a, Sort::Float(sort))
    }

    /// The bit pattern that encodes a float; of NaN it is [`FloatSort::nan_bits`].
    pub fn fp_to_bits(&mut self, a: Term) -> Term {
        let f = self.float_sort(a);
        self.fp_unary(UnOp::FpToBits, a, Sort::BitVec(f.width()))
    }

    /// Conversion to another float format.
    pub fn fp_to_fp(&mut self, sort: FloatSort, a: Term) -> Term {
        if self.float_sort(a) == sort {
            return a;
        }
        self.fp_unary(UnOp::FpToFp, a, Sort::Float(sort))
    }

    /// The float nearest to a signed integer.
    pub fn fp_from_signed(&mut self, sort: FloatSort, a: Term) -> Term {
        self.bv_width(a);
        self.fp_unary(UnOp::FpFromSigned, a, Sort::Float(sort))
    }

    /// The float nearest to an unsigned integer.
    pub fn fp_from_unsigned(&mut self, sort: FloatSort, a: Term) -> Term {
        self.bv_width(a);
        self.fp_unary(UnOp::FpFromUnsigned, a, Sort::Float(sort))
    }

    /// A float truncated to a signed integer; where that does not fit (see
    /// [`fp_fits_signed`](TermPool::fp_fits_signed)) only the top bit is set.
    pub fn fp_to_signed(&mut self, width: u32, a: Term) -> Term {
        self.float_sort(a);
        self.fp_unary(UnOp::FpToSigned, a, Sort::BitVec(width))
    }

    /// A float truncated to an unsigned integer; where that does not fit (see
    /// [`fp_fits_unsigned`](TermPool::fp_fits_unsigned)) only the top bit is set.
    pub fn fp_to_unsigned(&mut self, width: u32, a: Term) -> Term {
        self.float_sort(a);
        self.fp_unary(UnOp::FpToUnsigned, a, Sort::BitVec(width))
    }

    /// Whether a float, truncated, fits a signed integer of the width (at most 128 bits).
    pub fn fp_fits_signed(&mut self, width: u32, a: Term) -> Term {
        let f = self.float_sort(a);
        let limit = 2f64.powi(width as i32 - 1);
        let above = self.fp_power(f, limit);
        let low = if width <= f.significand_bits() {
            // Truncation maps (-limit - 1, -limit] to -limit.
            let below = self.fp_power(f, -limit - 1.0);
            self.fp_lt(below, a)
        } else {
            let least = self.fp_power(f, -limit);
            self.fp_le(least, a)
        };
        let high = self.fp_lt(a, above);
        self.and(low, high)
    }

    /// Whether a float, truncated, fits an unsigned integer of the width (at most 128 bits).
    pub fn fp_fits_unsigned(&mut self, width: u32, a: Term) -> Term {
        let f = self.float_sort(a);
        let above = self.fp_power(f, 2f64.powi(width as i32));
        let below = self.fp_power(f, -1.0);
        let low = self.fp_lt(below, a);
        let high = self.fp_lt(a, above);
        self.and(low, high)
    }

    fn fp_power(&mut self, f: FloatSort, v: f64) -> Term {
        match f {
            FloatSort::F32 => self.f32(v as f32),
            FloatSort::F64 => self.f64(v),
        }
    }

    fn fp_binary(&mut self, op: BinOp, a: Term, b: Term) -> Term {
        let f = self.float_sort(a);
        assert_eq!(f, self.float_sort(b), "floats of different formats");
        let sort = match op {
            BinOp::FpEq | BinOp::FpLt | BinOp::FpLe => Sort::Bool,
            _ => Sort::Float(f),
        };
        if let Some(t) = self.fold_bin(op, a, b, sort) {
            return t;
        }
        let (a, b) = if op.is_commutative() { self.ordered(a, b) } else { (a, b) };
        if self.rewriting()
            && let Some(t) = self.rewrite_fp_binary(op, a, b)
        {
            return t;
        }
        self.make_bin(op, a, b, sort)
    }

    fn rewrite_fp_binary(&mut self, op: BinOp, a: Term, b: Term) -> Option<Term> {
        if sort_is_comparison(op) {
            if let Some(t) = self.rewrite_fp_comparison(op, a, b) {
                return Some(t);
            }
        } else if let (BinOp::FpSub, Node::Un(UnOp::FpNeg, y)) = (op, self.node(b)) {
            let t = self.fp_add(a, y);
            return Some(self.by(Rule::FpSubNeg, t));
        } else if let (BinOp::FpMul | BinOp::FpDiv, Some(1.0)) = (op, self.as_f64(b)) {
            return Some(self.by(Rule::FpTimesOne, a));
        }
        self.lift_binary(a, b, move |p, a, b| p.fp_binary(op, a, b))
    }

    /// The value of a float constant as a double (exact).
    pub fn as_f64(&self, t: Term) -> Option<f64> {
        let bits = self.as_float_bits(t)?;
        Some(match self.float_sort(t) {
            FloatSort::F32 => f32::from_bits(bits as u32) as f64,
            FloatSort::F64 => f64::from_bits(bits),
        })
    }

    fn rewrite_fp_comparison(&mut self, op: BinOp, a: Term, b: Term) -> Option<Term> {
        if a == b {
            let t = if op == BinOp::FpLt {
                self.ff()
            } else {
                let nan = self.fp_is_nan(a);
                self.not(nan)
            };
            return Some(self.by(Rule::FpCompareSame, t));
        }
        let is_nan = |v: Option<f64>| v.is_some_and(f64::is_nan);
        if is_nan(self.as_f64(a)) || is_nan(self.as_f64(b)) {
            let f = self.ff();
            return Some(self.by(Rule::FpCompareNan, f));
        }
        if let (Node::Un(UnOp::FpNeg, x), Node::Un(UnOp::FpNeg, y)) = (self.node(a), self.node(b)) {
            let t = if op == BinOp::FpEq { self.fp_eq(x, y) } else { self.fp_binary(op, y, x) };
            return Some(self.by(Rule::FpCompareNeg, t));
        }
        if let (Node::Un(UnOp::FpToFp, x), Node::Un(UnOp::FpToFp, y)) = (self.node(a), self.node(b))
            && self.float_sort(a) == FloatSort::F64
        {
            let t = self.fp_binary(op, x, y);
            return Some(self.by(Rule::FpCompareWidened, t));
        }
        self.compare_exact_ints(op, a, b)
    }

    /// Comparisons of integers that were converted without loss, with each other or a constant,
    /// are comparisons of integers.
    fn compare_exact_ints(&mut self, op: BinOp, a: Term, b: Term) -> Option<Term> {
        let exact = |p: &TermPool, t: Term| match p.node(t) {
            Node::Un(UnOp::FpFromSigned, x) if p.exact_int(x, true, t) => Some((x, true)),
            Node::Un(UnOp::FpFromUnsigned, x) if p.exact_int(x, false, t) => Some((x, false)),
            _ => None,
        };
        let (ia, ib) = (exact(self, a), exact(self, b));
        // One bit more than needed, so that every operand is a signed number of 64 bits.
        let widen = |p: &mut TermPool, (x, signed): (Term, bool)| {
            if signed { p.sext(x, 64) } else { p.zext(x, 64) }
        };
        let int_constant = |p: &TermPool, t: Term, up: bool| {
            let v = p.as_f64(t)?;
            let v = if up { v.ceil() } else { v.floor() };
            // Every exact integer is below 2^54, so that limits far out decide all the same.
            Some(v.clamp(-4e18, 4e18) as i64)
        };
        let t = match (ia, ib) {
            (Some(x), Some(y)) => {
                let (x, y) = (widen(self, x), widen(self, y));
                match op {
                    BinOp::FpEq => self.eq(x, y),
                    BinOp::FpLt => self.slt(x, y),
                    _ => self.sle(x, y),
                }
            }
            (Some(x), None) => {
                // x < v is x < ceil v; x <= v is x <= floor v.
                let k = int_constant(self, b, op == BinOp::FpLt)?;
                let integral = self.as_f64(b).is_some_and(|v| v.fract() == 0.0);
                let (x, k) = (widen(self, x), self.bv_signed(64, k));
                match op {
                    BinOp::FpEq if !integral => self.ff(),
                    BinOp::FpEq => self.eq(x, k),
                    BinOp::FpLt => self.slt(x, k),
                    _ => self.sle(x, k),
                }
            }
            (None, Some(y)) => {
                // v < y is floor v < y; v <= y is ceil v <= y. Equality has constants right.
                if op == BinOp::FpEq {
                    return None;
                }
                let k = int_constant(self, a, op == BinOp::FpLe)?;
                let (k, y) = (self.bv_signed(64, k), widen(self, y));
                if op == BinOp::FpLt { self.slt(k, y) } else { self.sle(k, y) }
            }
            (None, None) => return None,
        };
        Some(self.by(Rule::FpCompareInts, t))
    }

    /// Sum.
    pub fn fp_add(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpAdd, a, b)
    }

    /// Difference.
    pub fn fp_sub(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpSub, a, b)
    }

    /// Product.
    pub fn fp_mul(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpMul, a, b)
    }

    /// Quotient.
    pub fn fp_div(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpDiv, a, b)
    }

    /// IEEE remainder, C's `remainder`.
    pub fn fp_rem(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpRem, a, b)
    }

    /// `a * b + c` rounded once.
    pub fn fp_fma(&mut self, a: Term, b: Term, c: Term) -> Term {
        let f = self.float_sort(a);
        assert!(f == self.float_sort(b) && f == self.float_sort(c), "floats of different formats");
        if self.rewriting()
            && let (Some(x), Some(y), Some(z)) =
                (self.as_float_bits(a), self.as_float_bits(b), self.as_float_bits(c))
        {
            let t = self.fp_const(f, crate::terms::float_ops::fma(f, x, y, z));
            return self.by(Rule::FoldConstants, t);
        }
        self.intern(Node::Fma(a, b, c), Sort::Float(f))
    }

    /// IEEE equality, C's `==`: NaN equals nothing, the zeros are equal.
    pub fn fp_eq(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpEq, a, b)
    }

    /// IEEE less than.
    pub fn fp_lt(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpLt, a, b)
    }

    /// IEEE less than or equal.
    pub fn fp_le(&mut self, a: Term, b: Term) -> Term {
        self.fp_binary(BinOp::FpLe, a, b)
    }

    /// C's `fmin`: the lesser, or the other operand if one is NaN; of two equal ones the second.
    pub fn fp_min(&mut self, a: Term, b: Term) -> Term {
        let lt = self.fp_lt(a, b);
        self.fp_choose(lt, a, b)
    }

    /// C's `fmax`: the greater, or the other operand if one is NaN; of two equal ones the second.
    pub fn fp_max(&mut self, a: Term, b: Term) -> Term {
        let gt = self.fp_lt(b, a);
        self.fp_choose(gt, a, b)
    }

    /// `a` where the condition holds or `b` is NaN, else `b`. The condition is false on NaN.
    fn fp_choose(&mut self, a_wins: Term, a: Term, b: Term) -> Term {
        let nan = self.fp_is_nan(b);
        let first = self.or(a_wins, nan);
        self.ite(first, a, b)
    }
}

fn sort_is_comparison(op: BinOp) -> bool {
    matches!(op, BinOp::FpEq | BinOp::FpLt | BinOp::FpLe)
}
