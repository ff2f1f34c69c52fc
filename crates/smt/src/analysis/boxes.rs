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
    /// Floats.
    Float(Floats),
    /// Anything.
    Any,
}

/// Floats from the first to the last; none if the first is greater. And NaN, if that is possible.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Floats {
    low: f64,
    high: f64,
    nan: bool,
}

impl Floats {
    /// None, or only NaN.
    const fn none(nan: bool) -> Self {
        Self { low: f64::INFINITY, high: f64::NEG_INFINITY, nan }
    }

    /// All but perhaps NaN.
    const fn all(nan: bool) -> Self {
        Self { low: f64::NEG_INFINITY, high: f64::INFINITY, nan }
    }

    fn is_empty(self) -> bool {
        self.low > self.high
    }

    fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    fn has_infinity(self) -> bool {
        self.low.is_infinite() || self.high.is_infinite()
    }

    fn join(self, other: Self) -> Self {
        Self {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            nan: self.nan | other.nan,
        }
    }

    /// The results of an operation on the ends.
    fn of_ends(self, other: Self, op: impl Fn(f64, f64) -> f64) -> Self {
        let pairs = [(self.low, other.low), (self.low, other.high)];
        let pairs = pairs.into_iter().chain([(self.high, other.low), (self.high, other.high)]);
        let ends = pairs.map(|(x, y)| op(x, y));
        let none = Self::none(self.nan | other.nan);
        ends.fold(none, |all, end| all.join(Self { low: end, high: end, nan: false }))
    }
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
        Sort::Float(_) => Float(Floats::all(true)),
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
fn of_patterns(sort: FloatSort, low: u64, high: u64) -> Floats {
    let sign = sort.sign_mask();
    let mut found = Floats::none(false);
    if low < sign {
        found = found.join(of_magnitudes(sort, low, high.min(sign - 1)));
    }
    if high >= sign {
        let Floats { low, high, nan } = of_magnitudes(sort, low.max(sign) - sign, high - sign);
        found = found.join(Floats { low: -high, high: -low, nan });
    }
    found
}

/// The same without signs.
fn of_magnitudes(sort: FloatSort, low: u64, high: u64) -> Floats {
    let (infinity, nan) = (sort.infinity_bits(), high > sort.infinity_bits());
    if low > infinity {
        return Floats::none(nan);
    }
    Floats { low: value_of(sort, low), high: value_of(sort, high.min(infinity)), nan }
}

/// The values of both.
fn join(a: Range, b: Range) -> Range {
    match (a, b) {
        (Truth { no, yes }, Truth { no: n, yes: y }) => truth(no | n, yes | y),
        (Word { low, high }, Word { low: l, high: h }) => {
            Word { low: low.min(l), high: high.max(h) }
        }
        (Float(a), Float(b)) => Float(a.join(b)),
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
                Sort::Float(format) => Float(of_patterns(format, bits, bits)),
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
        Sort::Float(format) => Float(of_patterns(format, low, high)),
        _ => Any,
    }
}

fn unary(op: UnOp, from: Sort, to: Sort, a: Range) -> Range {
    if let (Word { low, high }, true) = (a, from.is_small() && to.is_small())
        && low == high
    {
        return of_point(to, semantics::unary(op, from, to, low));
    }
    match (op, a) {
        (UnOp::Not, Truth { no, yes }) => truth(yes, no),
        (UnOp::ZExt, Word { .. }) if to.is_small() => a,
        (UnOp::FpFromBits, Word { low, high }) => match to {
            Sort::Float(format) => Float(of_patterns(format, low, high)),
            _ => Any,
        },
        (UnOp::FpFromUnsigned, Word { low, high }) => converted(to, low, high, false, from),
        (UnOp::FpFromSigned, Word { low, high }) => converted(to, low, high, true, from),
        (_, Float(floats)) => float_unary(op, from, to, floats),
        _ => all(to),
    }
}

fn of_point(sort: Sort, bits: u64) -> Range {
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
    let (least, most) = match negative(low) == negative(high) {
        true => (low, high),
        false => (1 << (from.width() - 1), ones(from.width()) >> 1),
    };
    let end = |bits: u64| value_of(format, number(bits));
    Float(Floats { low: end(least), high: end(most), nan: false })
}

fn float_unary(op: UnOp, from: Sort, to: Sort, floats: Floats) -> Range {
    let Sort::Float(format) = from else { return all(to) };
    let Floats { low, high, nan } = floats;
    let is_empty = floats.is_empty();
    let map = |to: FloatSort, of: &dyn Fn(u64) -> u64| {
        if is_empty {
            return Float(floats);
        }
        let end = |x: f64| value_of(to, of(bits_of(format, x)));
        Float(Floats { low: end(low), high: end(high), nan })
    };
    match op {
        UnOp::FpNeg => Float(Floats { low: -high, high: -low, nan }),
        UnOp::FpAbs if is_empty || low >= 0.0 => Float(floats),
        UnOp::FpAbs if high <= 0.0 => Float(Floats { low: -high, high: -low, nan }),
        UnOp::FpAbs => Float(Floats { low: 0.0, high: high.max(-low), nan }),
        UnOp::FpSqrt if !is_empty && high < 0.0 => Float(Floats::none(true)),
        UnOp::FpSqrt if !is_empty && low < 0.0 => {
            let end = value_of(format, fp::sqrt(format, bits_of(format, high.max(0.0))));
            Float(Floats { low: 0.0, high: end, nan: true })
        }
        UnOp::FpSqrt => map(format, &|x| fp::sqrt(format, x)),
        UnOp::FpRound(mode) => map(format, &|x| fp::round_to_integral(format, mode, x)),
        UnOp::FpToFp => match to {
            Sort::Float(other) => map(other, &|x| fp::convert(format, other, x)),
            _ => Any,
        },
        UnOp::FpIsNan => truth(!is_empty, nan),
        UnOp::FpIsInf => {
            let is_finite = low.is_finite() || high.is_finite();
            truth(nan || is_finite || low != high, !is_empty && floats.has_infinity())
        }
        UnOp::FpToSigned | UnOp::FpToUnsigned => to_word(op, format, to, floats),
        UnOp::FpToBits if low == high && low != 0.0 && !nan => {
            let bits = bits_of(format, low);
            Word { low: bits, high: bits }
        }
        _ => all(to),
    }
}

/// Floats as words, where all of them fit and have one sign.
fn to_word(op: UnOp, from: FloatSort, to: Sort, floats: Floats) -> Range {
    let Floats { low, high, nan } = floats;
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
        (Float(a), Float(b)) => float_binary(op, from, to, a, b),
        _ => all(to),
    }
}

fn word_binary(op: BinOp, from: Sort, to: Sort, (a, b): (u64, u64), (c, d): (u64, u64)) -> Range {
    if a == b && c == d && to.is_small() && op != BinOp::Concat {
        return of_point(to, semantics::binary(op, from, from, a, c));
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

fn float_binary(op: BinOp, from: Sort, to: Sort, a: Floats, b: Floats) -> Range {
    let Sort::Float(format) = from else { return all(to) };
    let nan = a.nan | b.nan;
    if a.is_empty() || b.is_empty() {
        return match op {
            BinOp::FpEq | BinOp::FpLt | BinOp::FpLe => truth(true, false),
            BinOp::FpAdd | BinOp::FpSub | BinOp::FpMul | BinOp::FpDiv => Float(Floats::none(true)),
            _ => all(to),
        };
    }
    let touch = a.low <= b.high && b.low <= a.high;
    match op {
        BinOp::FpEq => truth(nan || a.low != b.high || a.high != b.low, touch),
        BinOp::FpLt => truth(nan || a.high >= b.low, a.low < b.high),
        BinOp::FpLe => truth(nan || a.high > b.low, a.low <= b.high),
        BinOp::Eq => truth(true, (a.nan && b.nan) || touch),
        BinOp::FpAdd => Float(sum(format, a, b)),
        BinOp::FpSub => Float(sum(format, a, Floats { low: -b.high, high: -b.low, nan: b.nan })),
        BinOp::FpMul => Float(product(format, a, b)),
        BinOp::FpDiv => Float(quotient(format, a, b)),
        _ => all(to),
    }
}

type Operation = fn(FloatSort, u64, u64) -> u64;

fn rounded(format: FloatSort, op: Operation, x: f64, y: f64) -> f64 {
    value_of(format, op(format, bits_of(format, x), bits_of(format, y)))
}

fn sum(format: FloatSort, a: Floats, b: Floats) -> Floats {
    let opposite = (a.high == f64::INFINITY && b.low == f64::NEG_INFINITY)
        || (a.low == f64::NEG_INFINITY && b.high == f64::INFINITY);
    let low = rounded(format, fp::add, a.low, b.low);
    let high = rounded(format, fp::add, a.high, b.high);
    Floats {
        low: if low.is_nan() { f64::NEG_INFINITY } else { low },
        high: if high.is_nan() { f64::INFINITY } else { high },
        nan: a.nan | b.nan | opposite,
    }
}

fn product(format: FloatSort, a: Floats, b: Floats) -> Floats {
    let invalid = (a.has_zero() && b.has_infinity()) || (b.has_zero() && a.has_infinity());
    let found = a.of_ends(b, |x, y| {
        let end = rounded(format, fp::mul, x, y);
        // Zero by infinity is NaN, but zero by what comes before infinity is zero.
        if end.is_nan() { 0.0 } else { end }
    });
    Floats { nan: found.nan | invalid, ..found }
}

fn quotient(format: FloatSort, a: Floats, b: Floats) -> Floats {
    if b.has_zero() || (a.has_infinity() && b.has_infinity()) {
        return Floats::all(true);
    }
    a.of_ends(b, |x, y| rounded(format, fp::div, x, y))
}
