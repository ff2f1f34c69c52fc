//! Intervals of values: terms evaluated on a box, which gives each variable an interval.
//!
//! IEEE operations that round to nearest are monotone, so the operation on the ends of intervals gives
//! the ends of the result (Michel, Rueher and Lebbah: *Solving Constraints over Floating-Point
//! Numbers*, 2001). Zeros are not told apart, and NaN is beside the interval. Operators without a
//! meaning here give any value.

use crate::terms::float_ops as fp;
use crate::terms::pool::TermPool;
use crate::terms::semantics::{self, ones};
use crate::terms::sort::{FloatSort, Sort};
use crate::terms::term::{BinOp, Node, Term, UnOp};
use rustc_hash::FxHashMap;

/// The values that a term may have.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Range {
    /// Whether it may be false, and whether it may be true.
    Truth { no: bool, yes: bool },
    /// Words from the first to the last, as unsigned numbers.
    Word { low: u64, high: u64 },
    /// Floats from the first to the last; none if the first is greater. And whether it may be NaN.
    Float { low: f64, high: f64, nan: bool },
    /// Anything.
    Any,
}

use Range::{Any, Float, Truth, Word};

const UNKNOWN: Range = Truth { no: true, yes: true };

fn truth(no: bool, yes: bool) -> Range {
    Truth { no, yes }
}

/// All values of a sort.
fn all(sort: Sort) -> Range {
    match sort {
        Sort::Bool => UNKNOWN,
        Sort::BitVec(width) if width <= 64 => Word { low: 0, high: ones(width) },
        Sort::Float(_) => Float { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true },
        _ => Any,
    }
}

fn value_of(sort: FloatSort, bits: u64) -> f64 {
    f64::from_bits(fp::convert(sort, FloatSort::F64, bits))
}

fn bits_of(sort: FloatSort, value: f64) -> u64 {
    fp::convert(FloatSort::F64, sort, value.to_bits())
}

/// The floats with patterns from one to another.
fn of_patterns(sort: FloatSort, low: u64, high: u64) -> Range {
    let (sign, infinity) = (sort.sign_mask(), sort.infinity_bits());
    // Patterns without a sign, up to infinity: those of one half, and whether some are NaN.
    let half = |from: u64, to: u64| (from <= infinity).then(|| (from, to.min(infinity)));
    let mut found = Float { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: false };
    let mut add = |more: Range| found = join(found, more);
    if low < sign {
        let to = high.min(sign - 1);
        if let Some((from, end)) = half(low, to) {
            add(Float { low: value_of(sort, from), high: value_of(sort, end), nan: false });
        }
        if to > infinity {
            add(Float { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true });
        }
    }
    if high >= sign {
        let (from, to) = (low.max(sign) - sign, high - sign);
        if let Some((start, end)) = half(from, to) {
            add(Float { low: -value_of(sort, end), high: -value_of(sort, start), nan: false });
        }
        if to > infinity {
            add(Float { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true });
        }
    }
    found
}

/// The values of both.
fn join(a: Range, b: Range) -> Range {
    match (a, b) {
        (Truth { no, yes }, Truth { no: n, yes: y }) => truth(no | n, yes | y),
        (Word { low, high }, Word { low: l, high: h }) => {
            Word { low: low.min(l), high: high.max(h) }
        }
        (Float { low, high, nan }, Float { low: l, high: h, nan: n }) => {
            Float { low: low.min(l), high: high.max(h), nan: nan | n }
        }
        _ => Any,
    }
}

/// Terms in the order of their evaluation.
pub(crate) struct Boxes {
    /// By position: the term's operator and sort, and the positions of its operands.
    steps: Vec<(Node, Sort, [u32; 3])>,
    /// The positions of the variables, with their terms.
    pub(crate) variables: Vec<(Term, usize)>,
    /// The positions of the terms that were asked for.
    roots: Vec<usize>,
    values: Vec<Range>,
}

impl Boxes {
    /// For some terms and all in them; none if there are more than so many.
    pub(crate) fn of(pool: &TermPool, roots: &[Term], most: usize) -> Option<Self> {
        let mut at: FxHashMap<Term, usize> = FxHashMap::default();
        let mut boxes = Self { steps: vec![], variables: vec![], roots: vec![], values: vec![] };
        let mut stack: Vec<Term> = roots.to_vec();
        while let Some(&term) = stack.last() {
            if at.contains_key(&term) {
                stack.pop();
                continue;
            }
            let children = pool.children(term);
            let missing: Vec<Term> =
                children.iter().copied().filter(|child| !at.contains_key(child)).collect();
            if !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            let position = boxes.steps.len();
            (position < most).then_some(())?;
            let mut operands = [0; 3];
            for (operand, child) in operands.iter_mut().zip(&children) {
                *operand = at[child] as u32;
            }
            if matches!(pool.node(term), Node::Var(_)) {
                boxes.variables.push((term, position));
            }
            boxes.steps.push((pool.node(term), pool.sort(term), operands));
            at.insert(term, position);
        }
        boxes.roots = roots.iter().map(|root| at[root]).collect();
        boxes.values = vec![Any; boxes.steps.len()];
        Some(boxes)
    }

    /// Evaluates on a box, which has the patterns of each variable. The ranges of the roots follow from
    /// [`Boxes::root`].
    pub(crate) fn evaluate(&mut self, patterns: &[(u64, u64)]) {
        let mut variable = 0;
        for position in 0..self.steps.len() {
            let (node, sort, operands) = self.steps[position];
            self.values[position] = match node {
                Node::Var(_) => {
                    let (low, high) = patterns[variable];
                    variable += 1;
                    of_variable(sort, low, high)
                }
                _ => self.step(node, sort, operands),
            };
        }
    }

    /// Whether a root may be false and whether it may be true.
    pub(crate) fn root(&self, number: usize) -> (bool, bool) {
        match self.values[self.roots[number]] {
            Truth { no, yes } => (no, yes),
            _ => (true, true),
        }
    }

    fn step(&self, node: Node, sort: Sort, operands: [u32; 3]) -> Range {
        let of = |at: usize| self.values[operands[at] as usize];
        let sort_of = |at: usize| self.steps[operands[at] as usize].1;
        match node {
            Node::Bool(is) => truth(!is, is),
            Node::Bits(bits) => Word { low: bits, high: bits },
            Node::Float(bits) => match sort {
                Sort::Float(format) => of_patterns(format, bits, bits),
                _ => Any,
            },
            Node::Un(op, _) => unary(op, sort_of(0), sort, of(0)),
            Node::Bin(op, ..) => binary(op, sort_of(0), sort, of(0), of(1)),
            Node::Ite(..) => match of(0) {
                Truth { no: false, .. } => of(1),
                Truth { yes: false, .. } => of(2),
                _ => join(of(1), of(2)),
            },
            Node::Extract(_, low) => match of(0) {
                Word { low: from, high: to } if from == to => {
                    let bits = from >> low & ones(sort.width());
                    Word { low: bits, high: bits }
                }
                _ => all(sort),
            },
            _ => all(sort),
        }
    }
}

fn of_variable(sort: Sort, low: u64, high: u64) -> Range {
    match sort {
        Sort::Bool => truth(low == 0, high == 1),
        Sort::BitVec(width) if width <= 64 => Word { low, high },
        Sort::Float(format) => of_patterns(format, low, high),
        _ => Any,
    }
}

fn unary(op: UnOp, from: Sort, to: Sort, a: Range) -> Range {
    if let (Word { low, high }, true) = (a, from.is_small() && to.is_small())
        && low == high
    {
        return of_variable_point(to, semantics::unary(op, from, to, low));
    }
    match (op, a) {
        (UnOp::Not, Truth { no, yes }) => truth(yes, no),
        (UnOp::ZExt, Word { .. }) if to.is_small() => a,
        (UnOp::FpFromBits, Word { low, high }) => match to {
            Sort::Float(format) => of_patterns(format, low, high),
            _ => Any,
        },
        (UnOp::FpFromUnsigned, Word { low, high }) => converted(to, low, high, false, from),
        (UnOp::FpFromSigned, Word { low, high }) => converted(to, low, high, true, from),
        (_, Float { low, high, nan }) => float_unary(op, from, to, (low, high, nan)),
        _ => all(to),
    }
}

fn of_variable_point(sort: Sort, bits: u64) -> Range {
    of_variable(sort, bits, bits)
}

/// Words as floats.
fn converted(to: Sort, low: u64, high: u64, signed: bool, from: Sort) -> Range {
    let (Sort::Float(format), true) = (to, from.is_small()) else { return all(to) };
    let negative = |bits: u64| signed && bits >> (from.width() - 1) & 1 == 1;
    let number = |bits: u64| match signed {
        true => fp::from_signed(format, i128::from(semantics::signed(bits, from.width()))),
        false => fp::from_unsigned(format, u128::from(bits)),
    };
    if negative(low) != negative(high) {
        return Float {
            low: value_of(format, number(1 << (from.width() - 1))),
            high: value_of(format, number(ones(from.width()) >> 1)),
            nan: false,
        };
    }
    Float { low: value_of(format, number(low)), high: value_of(format, number(high)), nan: false }
}

fn float_unary(op: UnOp, from: Sort, to: Sort, (low, high, nan): (f64, f64, bool)) -> Range {
    let Sort::Float(format) = from else { return all(to) };
    let is_empty = low > high;
    let map = |to: FloatSort, of: &dyn Fn(u64) -> u64| {
        if is_empty {
            return Float { low, high, nan };
        }
        let end = |x: f64| value_of(to, of(bits_of(format, x)));
        Float { low: end(low), high: end(high), nan }
    };
    match op {
        UnOp::FpNeg => Float { low: -high, high: -low, nan },
        UnOp::FpAbs if is_empty || low >= 0.0 => Float { low, high, nan },
        UnOp::FpAbs if high <= 0.0 => Float { low: -high, high: -low, nan },
        UnOp::FpAbs => Float { low: 0.0, high: high.max(-low), nan },
        UnOp::FpSqrt if !is_empty && high < 0.0 => {
            Float { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true }
        }
        UnOp::FpSqrt if !is_empty && low < 0.0 => {
            let end = value_of(format, fp::sqrt(format, bits_of(format, high.max(0.0))));
            Float { low: 0.0, high: end, nan: true }
        }
        UnOp::FpSqrt => map(format, &|x| fp::sqrt(format, x)),
        UnOp::FpRound(mode) => map(format, &|x| fp::round_to_integral(format, mode, x)),
        UnOp::FpToFp => match to {
            Sort::Float(other) => map(other, &|x| fp::convert(format, other, x)),
            _ => Any,
        },
        UnOp::FpIsNan => truth(!is_empty, nan),
        UnOp::FpIsInf => {
            let some = !is_empty && (low.is_infinite() || high.is_infinite());
            truth(nan || low.is_finite() || high.is_finite() || low != high, some)
        }
        UnOp::FpToSigned | UnOp::FpToUnsigned => to_word(op, format, to, (low, high, nan)),
        UnOp::FpToBits if low == high && low != 0.0 && !nan => {
            let bits = bits_of(format, low);
            Word { low: bits, high: bits }
        }
        _ => all(to),
    }
}

/// Floats as words, where all of them fit and have one sign.
fn to_word(op: UnOp, from: FloatSort, to: Sort, (low, high, nan): (f64, f64, bool)) -> Range {
    let width = to.width();
    let limit = 2f64.powi(width as i32 - i32::from(op == UnOp::FpToSigned));
    if width > 64 || nan || low > high || low < -limit || high >= limit {
        return all(to);
    }
    if low <= -1.0 && (high > -1.0 || op == UnOp::FpToUnsigned) {
        return all(to);
    }
    let word = |x: f64| match op {
        UnOp::FpToSigned => fp::to_signed(from, width, bits_of(from, x)).low_u64(),
        _ => fp::to_unsigned(from, width, bits_of(from, x)).low_u64(),
    };
    Word { low: word(low), high: word(high) }
}

fn binary(op: BinOp, from: Sort, to: Sort, a: Range, b: Range) -> Range {
    match (a, b) {
        (Truth { no, yes }, Truth { no: n, yes: y }) => match op {
            BinOp::And => truth(no | n, yes & y),
            BinOp::Eq => truth((no & y) | (yes & n), (no & n) | (yes & y)),
            _ => all(to),
        },
        (Word { low, high }, Word { low: l, high: h }) => {
            word_binary(op, from, to, (low, high), (l, h))
        }
        (Float { low, high, nan }, Float { low: l, high: h, nan: n }) => {
            float_binary(op, from, to, (low, high, nan), (l, h, n))
        }
        _ => all(to),
    }
}

fn word_binary(op: BinOp, from: Sort, to: Sort, (a, b): (u64, u64), (c, d): (u64, u64)) -> Range {
    if a == b && c == d && to.is_small() && op != BinOp::Concat {
        return of_variable_point(to, semantics::binary(op, from, from, a, c));
    }
    let apart = |(a, b): (i128, i128), (c, d): (i128, i128)| truth(b >= c, a < d);
    let unsigned = |a: u64, b: u64| (i128::from(a), i128::from(b));
    let signed = |a: u64, b: u64| {
        let (x, y) = (semantics::signed(a, from.width()), semantics::signed(b, from.width()));
        let all = (i128::from(i64::MIN), i128::from(i64::MAX));
        if x <= y { (i128::from(x), i128::from(y)) } else { all }
    };
    match op {
        BinOp::Eq => truth(true, a <= d && c <= b),
        BinOp::Ult => apart(unsigned(a, b), unsigned(c, d)),
        BinOp::Slt => apart(signed(a, b), signed(c, d)),
        BinOp::Concat if to.is_small() => {
            let shift = to.width() - from.width();
            Word { low: a << shift | c, high: b << shift | d }
        }
        BinOp::Add if b.checked_add(d).is_some_and(|sum| sum <= ones(from.width())) => {
            Word { low: a + c, high: b + d }
        }
        _ => all(to),
    }
}

type Ends = (f64, f64, bool);

fn float_binary(op: BinOp, from: Sort, to: Sort, a: Ends, b: Ends) -> Range {
    let Sort::Float(format) = from else { return all(to) };
    let ((al, ah, an), (bl, bh, bn)) = (a, b);
    let (is_empty, nan) = (al > ah || bl > bh, an | bn);
    if is_empty {
        return match op {
            BinOp::FpEq | BinOp::FpLt | BinOp::FpLe => truth(true, false),
            BinOp::FpAdd | BinOp::FpSub | BinOp::FpMul | BinOp::FpDiv => {
                Float { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: true }
            }
            _ => all(to),
        };
    }
    match op {
        BinOp::FpEq => truth(nan || al != bh || ah != bl, al <= bh && bl <= ah),
        BinOp::FpLt => truth(nan || ah >= bl, al < bh),
        BinOp::FpLe => truth(nan || ah > bl, al <= bh),
        BinOp::Eq => truth(true, (an && bn) || (al <= bh && bl <= ah)),
        BinOp::FpAdd => sum(format, a, b),
        BinOp::FpSub => sum(format, a, (-bh, -bl, bn)),
        BinOp::FpMul => product(format, a, b),
        BinOp::FpDiv => quotient(format, a, b),
        _ => all(to),
    }
}

fn rounded(format: FloatSort, op: fn(FloatSort, u64, u64) -> u64, x: f64, y: f64) -> f64 {
    value_of(format, op(format, bits_of(format, x), bits_of(format, y)))
}

fn sum(format: FloatSort, (al, ah, an): Ends, (bl, bh, bn): Ends) -> Range {
    let opposite = (ah == f64::INFINITY && bl == f64::NEG_INFINITY)
        || (al == f64::NEG_INFINITY && bh == f64::INFINITY);
    let (low, high) = (rounded(format, fp::add, al, bl), rounded(format, fp::add, ah, bh));
    Float {
        low: if low.is_nan() { f64::NEG_INFINITY } else { low },
        high: if high.is_nan() { f64::INFINITY } else { high },
        nan: an | bn | opposite,
    }
}

fn product(format: FloatSort, (al, ah, an): Ends, (bl, bh, bn): Ends) -> Range {
    let has_zero = |low: f64, high: f64| low <= 0.0 && high >= 0.0;
    let is_infinite = |low: f64, high: f64| low.is_infinite() || high.is_infinite();
    let invalid =
        (has_zero(al, ah) && is_infinite(bl, bh)) || (has_zero(bl, bh) && is_infinite(al, ah));
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in [(al, bl), (al, bh), (ah, bl), (ah, bh)] {
        let end = rounded(format, fp::mul, x, y);
        // Zero by infinity is NaN, but zero by what comes before infinity is zero.
        let end = if end.is_nan() { 0.0 } else { end };
        (low, high) = (low.min(end), high.max(end));
    }
    Float { low, high, nan: an | bn | invalid }
}

fn quotient(format: FloatSort, (al, ah, an): Ends, (bl, bh, bn): Ends) -> Range {
    let infinite = (al.is_infinite() || ah.is_infinite()) && (bl.is_infinite() || bh.is_infinite());
    if bl <= 0.0 && bh >= 0.0 || infinite {
        return Float { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (x, y) in [(al, bl), (al, bh), (ah, bl), (ah, bh)] {
        let end = rounded(format, fp::div, x, y);
        (low, high) = (low.min(end), high.max(end));
    }
    Float { low, high, nan: an | bn }
}
