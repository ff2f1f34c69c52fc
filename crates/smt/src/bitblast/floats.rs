//! IEEE floats as bit-vector terms.
//!
//! [`expand`] gives, for a term with a float operator at its top, an equivalent term over the bit
//! patterns of its operands; bit-blasting then sees no floats. The invariant is that a float's
//! pattern is canonical: NaN has one pattern. Only variables and [`UnOp::FpFromBits`] can break
//! it, so that they canonicalise.
//!
//! Arithmetic follows the textbook: unpack into sign, exponent and significand, compute with guard
//! and sticky bits, and round once. The IEEE remainder alone has no expansion.

use crate::bitblast::aig::{Gates, Lit};
use crate::bitblast::arithmetic as arith;
use crate::solver::{Reason, Theory};
use crate::terms::pool::TermPool;
use crate::terms::sort::{FloatSort, RoundingMode};
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::wide::Wide;

/// A bit-vector (or Boolean) term with the bits of the term, if a float operator is at its top.
pub(crate) fn expand(pool: &mut TermPool, t: Term) -> Result<Option<Term>, Reason> {
    Ok(match pool.node(t) {
        Node::Un(op, a) => expand_unary(pool, op, a, t),
        Node::Bin(op, a, b) => match op {
            BinOp::FpEq => Some(equal(pool, a, b)),
            BinOp::FpLt => Some(less(pool, a, b)),
            BinOp::FpLe => Some(less_or_equal(pool, a, b)),
            BinOp::FpAdd => Some(add(pool, a, b)),
            BinOp::FpSub => {
                let n = pool.fp_neg(b);
                Some(add(pool, a, n))
            }
            BinOp::FpMul => Some(mul(pool, a, b)),
            BinOp::FpDiv => Some(div(pool, a, b)),
            BinOp::FpRem => return Err(Reason::Unsupported(Theory::Floats)),
            _ => None,
        },
        Node::Fma(a, b, c) => Some(fma(pool, a, b, c)),
        _ => None,
    })
}

fn expand_unary(pool: &mut TermPool, op: UnOp, a: Term, t: Term) -> Option<Term> {
    Some(match op {
        UnOp::FpNeg => {
            let f = Float::of(pool, a);
            let sign = pool.bv(f.format.width(), f.format.sign_mask());
            let flipped = pool.bvxor(f.bits, sign);
            pool.ite(f.nan, f.bits, flipped)
        }
        UnOp::FpAbs => {
            let f = Float::of(pool, a);
            pool.zext(f.magnitude, f.format.width())
        }
        UnOp::FpIsNan => Float::of(pool, a).nan,
        UnOp::FpIsInf => Float::of(pool, a).inf,
        UnOp::FpFromBits => {
            let format = pool.float_sort(t);
            let w = format.width();
            let magnitude = pool.extract(w - 2, 0, a);
            let inf = pool.bv(w - 1, format.infinity_bits());
            let nan = pool.ult(inf, magnitude);
            let canonical = pool.bv(w, format.nan_bits());
            pool.ite(nan, canonical, a)
        }
        UnOp::FpSqrt => sqrt(pool, a),
        UnOp::FpRound(mode) => round_to_integral(pool, mode, a),
        UnOp::FpToFp => {
            let to = pool.float_sort(t);
            convert(pool, to, a)
        }
        UnOp::FpFromSigned | UnOp::FpFromUnsigned => {
            let to = pool.float_sort(t);
            from_int(pool, to, a, op == UnOp::FpFromSigned)
        }
        UnOp::FpToSigned | UnOp::FpToUnsigned => {
            to_int(pool, pool.width(t), a, op == UnOp::FpToSigned)
        }
        _ => return None,
    })
}

/// The canonical NaN where the bits are a NaN, else the bits.
pub(crate) fn canonical_gates(g: &mut Gates, format: FloatSort, bits: &[Lit]) -> Vec<Lit> {
    let fraction = format.significand_bits() as usize - 1;
    let top = format.width() as usize - 1;
    let exponent = arith::and_all(g, bits[fraction..top].to_vec());
    let zero = arith::is_zero(g, &bits[..fraction]);
    let nan = g.and(exponent, !zero);
    let canonical: Vec<Lit> =
        (0..=top).map(|i| Lit::constant(format.nan_bits() >> i & 1 == 1)).collect();
    arith::mux(g, nan, &canonical, bits)
}

/// A float's bits and their classification.
struct Float {
    format: FloatSort,
    bits: Term,
    magnitude: Term,
    negative: Term,
    nan: Term,
    inf: Term,
    zero: Term,
}

impl Float {
    fn of(pool: &mut TermPool, a: Term) -> Float {
        let format = pool.float_sort(a);
        let w = format.width();
        let bits = pool.fp_to_bits(a);
        let magnitude = pool.extract(w - 2, 0, bits);
        let nan = pool.bv(w, format.nan_bits());
        let inf = pool.bv(w - 1, format.infinity_bits());
        let zero = pool.bv(w - 1, 0);
        Float {
            format,
            bits,
            magnitude,
            negative: pool.sign_bit(bits),
            nan: pool.eq(bits, nan),
            inf: pool.eq(magnitude, inf),
            zero: pool.eq(magnitude, zero),
        }
    }

    /// The significand with its hidden bit, and the exponent of its top bit; subnormal numbers
    /// have a clear top bit and the least normal exponent.
    fn unpack(&self, pool: &mut TermPool) -> (Term, Term) {
        let (eb, sb) = (self.format.exponent_bits(), self.format.significand_bits());
        let field = pool.extract(sb + eb - 2, sb - 1, self.magnitude);
        let fraction = pool.extract(sb - 2, 0, self.magnitude);
        let none = pool.bv(eb, 0);
        let subnormal = pool.eq(field, none);
        let (one, zero) = (pool.bv(1, 1), pool.bv(1, 0));
        let hidden = pool.ite(subnormal, zero, one);
        let significand = pool.concat(hidden, fraction);
        let least = pool.bv(eb, 1);
        let field = pool.ite(subnormal, least, field);
        let field = pool.zext(field, exponent_width(self.format));
        let bias = pool.bv_signed(exponent_width(self.format), -bias(self.format));
        (significand, pool.add(field, bias))
    }

    /// The same with the top bit set, but for zero.
    fn unpack_normal(&self, pool: &mut TermPool) -> (Term, Term) {
        let (m, e) = self.unpack(pool);
        normalise(pool, m, e)
    }
}

fn bias(f: FloatSort) -> i64 {
    (1 << (f.exponent_bits() - 1)) - 1
}

/// Width of signed exponents in computations: room for sums, and for 512-bit integers.
fn exponent_width(f: FloatSort) -> u32 {
    f.exponent_bits() + 3
}

/// Shifts the significand left until its top bit is set and lowers the exponent accordingly.
fn normalise(pool: &mut TermPool, mut m: Term, mut e: Term) -> (Term, Term) {
    let (w, ew) = (pool.width(m), pool.width(e));
    for k in (0..32 - (w - 1).leading_zeros()).rev() {
        let by = 1u32 << k;
        if by >= w {
            continue;
        }
        let top = pool.extract(w - 1, w - by, m);
        let none = pool.bv(by, 0);
        let clear = pool.eq(top, none);
        let n = pool.bv(w, by as u64);
        let shifted = pool.shl(m, n);
        m = pool.ite(clear, shifted, m);
        let n = pool.bv(ew, by as u64);
        let lowered = pool.sub(e, n);
        e = pool.ite(clear, lowered, e);
    }
    (m, e)
}

/// Right shift in which the lowest bit collects whatever is shifted out.
fn sticky_shift(pool: &mut TermPool, mut m: Term, amount: Term) -> Term {
    let (w, aw) = (pool.width(m), pool.width(amount));
    let one = pool.bv(1, 1);
    let mut far = pool.ff();
    for k in 0..aw {
        let bit = pool.extract(k, k, amount);
        let set = pool.eq(bit, one);
        if k >= 31 || 1u32 << k >= w {
            far = pool.or(far, set);
            continue;
        }
        let by = 1u32 << k;
        let kept = pool.extract(w - 1, by, m);
        let kept = pool.zext(kept, w);
        let lost = pool.extract(by - 1, 0, m);
        let lost = pool.is_nonzero(lost);
        let lost = pool.bool_to_bv(lost, w);
        let shifted = pool.bvor(kept, lost);
        m = pool.ite(set, shifted, m);
    }
    let any = pool.is_nonzero(m);
    let any = pool.bool_to_bv(any, w);
    pool.ite(far, any, m)
}

/// The float nearest to a non-zero number with the given sign and normalised significand, whose
/// top bit has the weight 2^e; ties go to even.
fn round(pool: &mut TermPool, to: FloatSort, negative: Term, m: Term, e: Term) -> Term {
    let (sb, eb) = (to.significand_bits(), to.exponent_bits());
    let ew = pool.width(e);
    // Room for a guard and a sticky bit.
    let m = if pool.width(m) < sb + 2 {
        let pad = pool.bv(sb + 2 - pool.width(m), 0);
        pool.concat(m, pad)
    } else {
        m
    };
    let w = pool.width(m);
    let least = pool.bv_signed(ew, 1 - bias(to));
    let subnormal = pool.slt(e, least);
    let (gap, none) = (pool.sub(least, e), pool.bv(ew, 0));
    let amount = pool.ite(subnormal, gap, none);
    let m = sticky_shift(pool, m, amount);
    let kept = pool.extract(w - 2, w - sb, m);
    let odd = pool.extract(w - sb, w - sb, m);
    let guard = pool.extract(w - sb - 1, w - sb - 1, m);
    let rest = pool.extract(w - sb - 2, 0, m);
    let rest = pool.is_nonzero(rest);
    let (odd, guard) = (pool.is_nonzero(odd), pool.is_nonzero(guard));
    let above_half = pool.or(rest, odd);
    let up = pool.and(guard, above_half);
    let b = pool.bv_signed(ew, bias(to));
    let field = pool.add(e, b);
    let field = pool.extract(eb - 1, 0, field);
    let zero = pool.bv(eb, 0);
    let field = pool.ite(subnormal, zero, field);
    let packed = pool.concat(field, kept);
    // A carry out of the significand raises the exponent, up to infinity: the encoding's order.
    let up = pool.bool_to_bv(up, sb + eb - 1);
    let packed = pool.add(packed, up);
    let overflow = pool.slt(b, e);
    let inf = pool.bv(sb + eb - 1, to.infinity_bits());
    let magnitude = pool.ite(overflow, inf, packed);
    with_sign(pool, negative, magnitude)
}

fn with_sign(pool: &mut TermPool, negative: Term, magnitude: Term) -> Term {
    let sign = pool.bool_to_bv(negative, 1);
    pool.concat(sign, magnitude)
}

fn signed_zero(pool: &mut TermPool, to: FloatSort, negative: Term) -> Term {
    let z = pool.bv(to.width() - 1, 0);
    with_sign(pool, negative, z)
}

fn signed_inf(pool: &mut TermPool, to: FloatSort, negative: Term) -> Term {
    let i = pool.bv(to.width() - 1, to.infinity_bits());
    with_sign(pool, negative, i)
}

/// The first case whose condition holds, else the last term.
fn cases(pool: &mut TermPool, cases: &[(Term, Term)], last: Term) -> Term {
    cases.iter().rev().fold(last, |rest, &(c, t)| pool.ite(c, t, rest))
}

fn equal(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let same = pool.eq(x.bits, y.bits);
    let number = pool.not(x.nan);
    let same = pool.and(same, number);
    let zeros = pool.and(x.zero, y.zero);
    pool.or(same, zeros)
}

/// `a < b` by sign and magnitude, wrong only for NaN and for two zeros.
fn less_by_bits(pool: &mut TermPool, x: &Float, y: &Float) -> Term {
    let (less, greater) = (pool.ult(x.magnitude, y.magnitude), pool.ult(y.magnitude, x.magnitude));
    let (tt, ff) = (pool.tt(), pool.ff());
    let below = pool.ite(y.negative, greater, tt);
    let above = pool.ite(y.negative, ff, less);
    pool.ite(x.negative, below, above)
}

fn numbers(pool: &mut TermPool, x: &Float, y: &Float) -> Term {
    let (nx, ny) = (pool.not(x.nan), pool.not(y.nan));
    pool.and(nx, ny)
}

fn less(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let less = less_by_bits(pool, &x, &y);
    let zeros = pool.and(x.zero, y.zero);
    let differ = pool.not(zeros);
    let ok = numbers(pool, &x, &y);
    let less = pool.and(less, differ);
    pool.and(ok, less)
}

fn less_or_equal(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let greater = less_by_bits(pool, &y, &x);
    let zeros = pool.and(x.zero, y.zero);
    let not_greater = pool.not(greater);
    let le = pool.or(not_greater, zeros);
    let ok = numbers(pool, &x, &y);
    pool.and(ok, le)
}

/// An exact number: sign, significand, and exponent of the significand's top bit.
struct Exact {
    negative: Term,
    m: Term,
    e: Term,
}

/// The rounded sum of two numbers with significands of one width, given whether the second has
/// the greater magnitude; the second component is whether the sum is exactly zero.
fn add_exact(
    pool: &mut TermPool,
    to: FloatSort,
    x: &Exact,
    y: &Exact,
    y_greater: Term,
) -> (Term, Term) {
    let big = (
        pool.ite(y_greater, y.negative, x.negative),
        pool.ite(y_greater, y.m, x.m),
        pool.ite(y_greater, y.e, x.e),
    );
    let (small_m, small_e) = (pool.ite(y_greater, x.m, y.m), pool.ite(y_greater, x.e, y.e));
    // One bit above for the carry; guard, round and sticky bits below.
    let w = pool.width(x.m) + 4;
    let pad = pool.bv(3, 0);
    let widen = |pool: &mut TermPool, m: Term| {
        let m = pool.concat(m, pad);
        pool.zext(m, w)
    };
    let (mb, ms) = (widen(pool, big.1), widen(pool, small_m));
    let gap = pool.sub(big.2, small_e);
    let ms = sticky_shift(pool, ms, gap);
    let same = pool.eq(x.negative, y.negative);
    let (sum, difference) = (pool.add(mb, ms), pool.sub(mb, ms));
    let m = pool.ite(same, sum, difference);
    let one = pool.bv(pool.width(big.2), 1);
    let e = pool.add(big.2, one);
    let zero = pool.bv(w, 0);
    let is_zero = pool.eq(m, zero);
    let (m, e) = normalise(pool, m, e);
    (round(pool, to, big.0, m, e), is_zero)
}

fn add(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let to = x.format;
    let ((mx, ex), (my, ey)) = (x.unpack(pool), y.unpack(pool));
    let y_greater = pool.ult(x.magnitude, y.magnitude);
    let (p, q) = (
        Exact { negative: x.negative, m: mx, e: ex },
        Exact { negative: y.negative, m: my, e: ey },
    );
    let (sum, is_zero) = add_exact(pool, to, &p, &q, y_greater);
    add_specials(pool, &x, &y, sum, is_zero)
}

/// The sum of `x` and `y`, given the rounded sum in case both are finite.
fn add_specials(pool: &mut TermPool, x: &Float, y: &Float, sum: Term, is_zero: Term) -> Term {
    let to = x.format;
    let differ = pool.neq(x.negative, y.negative);
    let infs = pool.and(x.inf, y.inf);
    let undefined = pool.and(infs, differ);
    let nan = pool.or_all([x.nan, y.nan, undefined]);
    let canonical = pool.bv(to.width(), to.nan_bits());
    // A sum of zero is negative only if both operands are.
    let both = pool.and(x.negative, y.negative);
    let zero = signed_zero(pool, to, both);
    let (inf_x, inf_y) = (signed_inf(pool, to, x.negative), signed_inf(pool, to, y.negative));
    cases(pool, &[(nan, canonical), (x.inf, inf_x), (y.inf, inf_y), (is_zero, zero)], sum)
}

/// The exact product of two finite numbers, and its sign.
fn product(pool: &mut TermPool, x: &Float, y: &Float) -> Exact {
    let sb = x.format.significand_bits();
    let ((mx, ex), (my, ey)) = (x.unpack_normal(pool), y.unpack_normal(pool));
    let (mx, my) = (pool.zext(mx, 2 * sb), pool.zext(my, 2 * sb));
    let m = pool.mul(mx, my);
    let e = pool.add(ex, ey);
    let one = pool.bv(pool.width(e), 1);
    let e = pool.add(e, one);
    // The top bit or the one below it is set.
    let top = pool.extract(2 * sb - 1, 2 * sb - 1, m);
    let high = pool.is_nonzero(top);
    let n = pool.bv(2 * sb, 1);
    let shifted = pool.shl(m, n);
    let lowered = pool.sub(e, one);
    Exact {
        negative: pool.neq(x.negative, y.negative),
        m: pool.ite(high, m, shifted),
        e: pool.ite(high, e, lowered),
    }
}

/// The conditions under which a product is no finite number other than zero.
struct ProductSpecials {
    /// An operand is NaN, or one is infinite and the other zero.
    nan: Term,
    /// An operand is infinite.
    inf: Term,
    /// An operand is zero.
    zero: Term,
}

fn product_specials(pool: &mut TermPool, x: &Float, y: &Float) -> ProductSpecials {
    let inf = pool.or(x.inf, y.inf);
    let zero = pool.or(x.zero, y.zero);
    let undefined = pool.and(inf, zero);
    ProductSpecials { nan: pool.or_all([x.nan, y.nan, undefined]), inf, zero }
}

fn mul(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let to = x.format;
    let p = product(pool, &x, &y);
    let r = round(pool, to, p.negative, p.m, p.e);
    let ProductSpecials { nan, inf, zero } = product_specials(pool, &x, &y);
    let canonical = pool.bv(to.width(), to.nan_bits());
    let infinite = signed_inf(pool, to, p.negative);
    let nothing = signed_zero(pool, to, p.negative);
    cases(pool, &[(nan, canonical), (inf, infinite), (zero, nothing)], r)
}

fn fma(pool: &mut TermPool, a: Term, b: Term, c: Term) -> Term {
    let (x, y, z) = (Float::of(pool, a), Float::of(pool, b), Float::of(pool, c));
    let to = x.format;
    let sb = to.significand_bits();
    let mut p = product(pool, &x, &y);
    let (mz, ez) = z.unpack_normal(pool);
    let pad = pool.bv(sb, 0);
    let mut q = Exact { negative: z.negative, m: pool.concat(mz, pad), e: ez };
    // A zero has no exponent; the least makes it the lesser operand.
    let ProductSpecials { nan, inf, zero: p_zero } = product_specials(pool, &x, &y);
    let ew = pool.width(p.e);
    let least = pool.bv_signed(ew, -(1 << (ew - 2)));
    let none = pool.bv(2 * sb, 0);
    p.e = pool.ite(p_zero, least, p.e);
    p.m = pool.ite(p_zero, none, p.m);
    q.e = pool.ite(z.zero, least, q.e);
    let lower = pool.slt(p.e, q.e);
    let level = pool.eq(p.e, q.e);
    let less = pool.ult(p.m, q.m);
    let less = pool.and(level, less);
    let z_greater = pool.or(lower, less);
    let (sum, is_zero) = add_exact(pool, to, &p, &q, z_greater);
    let differ = pool.neq(p.negative, z.negative);
    let infs = pool.and(inf, z.inf);
    let undefined = pool.and(infs, differ);
    let nan = pool.or_all([nan, z.nan, undefined]);
    let canonical = pool.bv(to.width(), to.nan_bits());
    let both = pool.and(p.negative, z.negative);
    let zero = signed_zero(pool, to, both);
    let (inf_p, inf_z) = (signed_inf(pool, to, p.negative), signed_inf(pool, to, z.negative));
    cases(pool, &[(nan, canonical), (inf, inf_p), (z.inf, inf_z), (is_zero, zero)], sum)
}

fn div(pool: &mut TermPool, a: Term, b: Term) -> Term {
    let (x, y) = (Float::of(pool, a), Float::of(pool, b));
    let to = x.format;
    let sb = to.significand_bits();
    let ((mx, ex), (my, ey)) = (x.unpack_normal(pool), y.unpack_normal(pool));
    let w = 2 * sb + 2;
    let pad = pool.bv(sb + 2, 0);
    // The top bits are set except for zeros, which are handled below. Fixing them makes the circuit of
    // the division half as large.
    let (mx, my) = (with_top_bit(pool, mx), with_top_bit(pool, my));
    let (n, d) = (pool.concat(mx, pad), pool.zext(my, w));
    let (q, r) = (pool.udiv(n, d), pool.urem(n, d));
    // The quotient of significands lies between 1/2 and 2: bit sb + 2 or the one below is set.
    let q = pool.extract(sb + 2, 0, q);
    let inexact = pool.is_nonzero(r);
    let sticky = pool.bool_to_bv(inexact, 1);
    let m = pool.concat(q, sticky);
    let e = pool.sub(ex, ey);
    let (m, e) = normalise(pool, m, e);
    let negative = pool.neq(x.negative, y.negative);
    let rounded = round(pool, to, negative, m, e);
    let (infs, zeros) = (pool.and(x.inf, y.inf), pool.and(x.zero, y.zero));
    let nan = pool.or_all([x.nan, y.nan, infs, zeros]);
    let canonical = pool.bv(to.width(), to.nan_bits());
    let inf = pool.or(x.inf, y.zero);
    let zero = pool.or(x.zero, y.inf);
    let infinite = signed_inf(pool, to, negative);
    let nothing = signed_zero(pool, to, negative);
    cases(pool, &[(nan, canonical), (inf, infinite), (zero, nothing)], rounded)
}

/// The bits with a one at the top.
fn with_top_bit(pool: &mut TermPool, m: Term) -> Term {
    let low = pool.extract(pool.width(m) - 2, 0, m);
    let one = pool.bv(1, 1);
    pool.concat(one, low)
}

fn sqrt(pool: &mut TermPool, a: Term) -> Term {
    let x = Float::of(pool, a);
    let to = x.format;
    let sb = to.significand_bits();
    let (m, e) = x.unpack_normal(pool);
    let ew = pool.width(e);
    // The radicand, with an even exponent, has its top bit at 2n - 1 or 2n - 2; the root has n
    // bits, two more than the result.
    let n = sb + 2;
    let low = pool.extract(0, 0, e);
    let odd = pool.is_nonzero(low);
    let m = pool.zext(m, sb + 1);
    let one = pool.bv(sb + 1, 1);
    let doubled = pool.shl(m, one);
    let m = pool.ite(odd, doubled, m);
    let pad = pool.bv(2 * n - sb - 1, 0);
    let radicand = pool.concat(m, pad);
    let (root, exact) = integer_root(pool, radicand, n);
    let inexact = pool.not(exact);
    let sticky = pool.bool_to_bv(inexact, 1);
    let m = pool.concat(root, sticky);
    let one = pool.bv(ew, 1);
    let half = pool.ashr(e, one);
    let no = pool.ff();
    let rounded = round(pool, to, no, m, half);
    let positive = pool.not(x.zero);
    let negative = pool.and(x.negative, positive);
    let nan = pool.or(x.nan, negative);
    let canonical = pool.bv(to.width(), to.nan_bits());
    cases(pool, &[(nan, canonical), (x.zero, x.bits), (x.inf, x.bits)], rounded)
}

/// The root, of `n` bits, of a number of 2n bits, rounded down, and whether it is exact. Digit by
/// digit, as by hand.
fn integer_root(pool: &mut TermPool, radicand: Term, n: u32) -> (Term, Term) {
    let w = n + 2;
    let mut root = pool.bv(w, 0);
    let mut rest = pool.bv(w, 0);
    for i in (0..n).rev() {
        let digits = pool.extract(2 * i + 1, 2 * i, radicand);
        let kept = pool.extract(w - 3, 0, rest);
        rest = pool.concat(kept, digits);
        let one = pool.bv(2, 1);
        let kept = pool.extract(w - 3, 0, root);
        let trial = pool.concat(kept, one);
        let fits = pool.ule(trial, rest);
        let less = pool.sub(rest, trial);
        rest = pool.ite(fits, less, rest);
        let digit = pool.bool_to_bv(fits, 1);
        let kept = pool.extract(w - 2, 0, root);
        root = pool.concat(kept, digit);
    }
    let zero = pool.bv(w, 0);
    let exact = pool.eq(rest, zero);
    (pool.extract(n - 1, 0, root), exact)
}

fn convert(pool: &mut TermPool, to: FloatSort, a: Term) -> Term {
    let x = Float::of(pool, a);
    let (m, e) = x.unpack_normal(pool);
    let ew = exponent_width(FloatSort::F64);
    let e = pool.sext(e, ew);
    let rounded = round(pool, to, x.negative, m, e);
    let canonical = pool.bv(to.width(), to.nan_bits());
    let (zero, inf) = (signed_zero(pool, to, x.negative), signed_inf(pool, to, x.negative));
    cases(pool, &[(x.nan, canonical), (x.inf, inf), (x.zero, zero)], rounded)
}

fn from_int(pool: &mut TermPool, to: FloatSort, a: Term, signed: bool) -> Term {
    let w = pool.width(a);
    let negative = if signed { pool.sign_bit(a) } else { pool.ff() };
    let minus = pool.neg(a);
    let m = pool.ite(negative, minus, a);
    let zero = pool.bv(w, 0);
    let is_zero = pool.eq(a, zero);
    let e = pool.bv(exponent_width(to), w as u64 - 1);
    let (m, e) = normalise(pool, m, e);
    let rounded = round(pool, to, negative, m, e);
    let nothing = pool.bv(to.width(), 0);
    pool.ite(is_zero, nothing, rounded)
}

fn to_int(pool: &mut TermPool, n: u32, a: Term, signed: bool) -> Term {
    let x = Float::of(pool, a);
    let sb = x.format.significand_bits();
    let (m, e) = x.unpack(pool);
    let ew = pool.width(e);
    // The significand moves left by the exponent in a register whose upper part is the integer.
    let register = pool.zext(m, n + sb);
    let zero = pool.bv(ew, 0);
    let fraction = pool.slt(e, zero);
    let amount = pool.resize_unsigned(e, n + sb);
    let moved = pool.shl(register, amount);
    let whole = pool.extract(sb + n - 2, sb - 1, moved);
    let none = pool.bv(n, 0);
    let whole = pool.ite(fraction, none, whole);
    let minus = pool.neg(whole);
    let value = if signed { pool.ite(x.negative, minus, whole) } else { whole };
    let fits = if signed { pool.fp_fits_signed(n, a) } else { pool.fp_fits_unsigned(n, a) };
    let top = pool.bv_wide(n, Wide::from_u64(1).shl(n - 1, n));
    pool.ite(fits, value, top)
}

fn round_to_integral(pool: &mut TermPool, mode: RoundingMode, a: Term) -> Term {
    let x = Float::of(pool, a);
    let to = x.format;
    let sb = to.significand_bits();
    let (m, e) = x.unpack(pool);
    let ew = pool.width(e);
    // The integer part with a guard and a sticky bit below.
    let two = pool.bv(2, 0);
    let m = pool.concat(m, two);
    let last = pool.bv(ew, sb as u64 - 1);
    let integral = pool.sle(last, e);
    let gap = pool.sub(last, e);
    let none = pool.bv(ew, 0);
    let amount = pool.ite(integral, none, gap);
    let m = sticky_shift(pool, m, amount);
    let whole = pool.extract(sb + 1, 2, m);
    let guard = pool.extract(1, 1, m);
    let guard = pool.is_nonzero(guard);
    let below = pool.extract(1, 0, m);
    let inexact = pool.is_nonzero(below);
    let sticky = pool.extract(0, 0, m);
    let sticky = pool.is_nonzero(sticky);
    let up = match mode {
        RoundingMode::NearestEven => {
            let odd = pool.extract(0, 0, whole);
            let odd = pool.is_nonzero(odd);
            let above = pool.or(sticky, odd);
            pool.and(guard, above)
        }
        RoundingMode::NearestAway => guard,
        RoundingMode::TowardZero => pool.ff(),
        RoundingMode::TowardPositive => {
            let positive = pool.not(x.negative);
            pool.and(positive, inexact)
        }
        RoundingMode::TowardNegative => pool.and(x.negative, inexact),
    };
    let whole = pool.zext(whole, sb + 1);
    let up = pool.bool_to_bv(up, sb + 1);
    let whole = pool.add(whole, up);
    let zero = pool.bv(sb + 1, 0);
    let is_zero = pool.eq(whole, zero);
    let e = pool.bv(ew, sb as u64);
    let (m, e) = normalise(pool, whole, e);
    let rounded = round(pool, to, x.negative, m, e);
    let nothing = signed_zero(pool, to, x.negative);
    // NaN and the infinities have a great exponent, so that they count as integral.
    cases(pool, &[(integral, x.bits), (is_zero, nothing)], rounded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terms::eval::Evaluator;
    use crate::terms::sort::Sort;
    use crate::terms::value::{Model, Value};
    use proptest::prelude::*;

    fn interesting(format: FloatSort) -> impl Strategy<Value = u64> {
        let w = format.width();
        let special = prop::sample::select(vec![
            0,
            format.sign_mask(),
            1,
            format.infinity_bits(),
            format.infinity_bits() | format.sign_mask(),
            format.infinity_bits() - 1,
            format.nan_bits(),
            1 << (format.significand_bits() - 1),
            (1 << (format.significand_bits() - 1)) - 1,
        ]);
        let near_one = (any::<u64>(), -3i64..60).prop_map(move |(m, e)| {
            let fraction = format.significand_bits() - 1;
            let field = (bias(format) + e) as u64;
            (m & ((1 << fraction) - 1)) | field << fraction | (m >> 63) << (w - 1)
        });
        prop_oneof![
            special,
            any::<u64>().prop_map(move |v| v & crate::terms::semantics::ones(w)),
            near_one.clone(),
            near_one.prop_map(|v| v & !0xffff_ffff),
        ]
    }

    /// The operation's expansion and the host's float unit give the same bits.
    fn agree(format: FloatSort, values: [u64; 3], make: impl Fn(&mut TermPool, [Term; 3]) -> Term) {
        let mut p = TermPool::new();
        let vars = ["x", "y", "z"].map(|n| p.var(n, Sort::Float(format)));
        let t = make(&mut p, vars);
        let expanded = expand(&mut p, t).expect("supported").expect("a float operator");
        let m = Model::from_values(
            vars.into_iter()
                .zip(values)
                .map(|(t, v)| (t, Value::from_u64(Sort::Float(format), v)))
                .collect(),
        );
        let mut e = Evaluator::new();
        let (want, got) = (e.eval(&p, &m, t).to_wide(), e.eval(&p, &m, expanded).to_wide());
        assert_eq!(want, got, "{} of {values:x?}", p.show(t));
    }

    fn every_operation(format: FloatSort, v: [u64; 3]) {
        agree(format, v, |p, [x, y, _]| p.fp_add(x, y));
        agree(format, v, |p, [x, y, _]| p.fp_sub(x, y));
        agree(format, v, |p, [x, y, _]| p.fp_mul(x, y));
        agree(format, v, |p, [x, y, _]| p.fp_div(x, y));
        agree(format, v, |p, [x, y, z]| p.fp_fma(x, y, z));
        agree(format, v, |p, [x, _, _]| p.fp_sqrt(x));
        agree(format, v, |p, [x, _, _]| p.fp_neg(x));
        agree(format, v, |p, [x, _, _]| p.fp_abs(x));
        agree(format, v, |p, [x, y, _]| p.fp_eq(x, y));
        agree(format, v, |p, [x, y, _]| p.fp_lt(x, y));
        agree(format, v, |p, [x, y, _]| p.fp_le(x, y));
        agree(format, v, |p, [x, _, _]| p.fp_is_nan(x));
        agree(format, v, |p, [x, _, _]| p.fp_is_inf(x));
        let other = if format == FloatSort::F32 { FloatSort::F64 } else { FloatSort::F32 };
        agree(format, v, |p, [x, _, _]| p.fp_to_fp(other, x));
        for n in [8, 32, 64, 100] {
            agree(format, v, |p, [x, _, _]| p.fp_to_signed(n, x));
            agree(format, v, |p, [x, _, _]| p.fp_to_unsigned(n, x));
        }
        for mode in [
            RoundingMode::NearestEven,
            RoundingMode::NearestAway,
            RoundingMode::TowardZero,
            RoundingMode::TowardPositive,
            RoundingMode::TowardNegative,
        ] {
            agree(format, v, |p, [x, _, _]| p.fp_round(mode, x));
        }
    }

    proptest! {
        #[test]
        fn expansions_of_double_operations_agree_with_the_host(
            x in interesting(FloatSort::F64), y in interesting(FloatSort::F64),
            z in interesting(FloatSort::F64),
        ) {
            every_operation(FloatSort::F64, [x, y, z]);
        }

        #[test]
        fn expansions_of_single_operations_agree_with_the_host(
            x in interesting(FloatSort::F32), y in interesting(FloatSort::F32),
            z in interesting(FloatSort::F32),
        ) {
            every_operation(FloatSort::F32, [x, y, z]);
        }

        #[test]
        fn expansions_of_conversions_from_integers_agree_with_the_host(v: u64, w in 1u32..100) {
            for format in [FloatSort::F32, FloatSort::F64] {
                for signed in [true, false] {
                    let mut p = TermPool::new();
                    let i = p.var("i", Sort::BitVec(w));
                    let t = if signed {
                        p.fp_from_signed(format, i)
                    } else {
                        p.fp_from_unsigned(format, i)
                    };
                    let expanded = expand(&mut p, t).expect("supported").expect("an operator");
                    let value = Wide::from_u64(v).shl(w / 2, w);
                    let m = Model::from_values(vec![(i, Value::from_wide(Sort::BitVec(w), value))]);
                    let mut e = Evaluator::new();
                    prop_assert_eq!(
                        e.eval(&p, &m, t).to_wide(),
                        e.eval(&p, &m, expanded).to_wide()
                    );
                }
            }
        }
    }
}
