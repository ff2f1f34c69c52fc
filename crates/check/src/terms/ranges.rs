//! Ranges of floats.
//!
//! Operations that round to nearest are monotone, so that the results at the ends of ranges are the ends of
//! the results (Michel, Rueher and Lebbah, *Solving Constraints over Floating-Point Numbers*, 2001).

/// The floats that a term may be: those between two, and perhaps those that are no numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    /// Less than `low` where there are no numbers.
    pub(super) high: f64,
    pub(super) nan: bool,
}

/// The format of floats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Single,
    Double,
}

/// The truth values that a term may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Truths {
    pub(super) yes: bool,
    pub(super) no: bool,
}

impl Truths {
    pub(super) const ANY: Self = Self { yes: true, no: true };

    pub(super) const fn of(value: bool) -> Self {
        Self { yes: value, no: !value }
    }

    pub(super) const fn not(self) -> Self {
        Self { yes: self.no, no: self.yes }
    }

    pub(super) const fn and(self, other: Self) -> Self {
        Self { yes: self.yes && other.yes, no: self.no || other.no }
    }

    pub(super) const fn or(self, other: Self) -> Self {
        self.not().and(other.not()).not()
    }
}

impl Format {
    /// That of some bits.
    pub(super) const fn of_width(width: u32) -> Option<Self> {
        match width {
            32 => Some(Self::Single),
            64 => Some(Self::Double),
            _ => None,
        }
    }

    /// The float of some bits.
    pub(super) fn of_bits(self, bits: u128) -> f64 {
        match self {
            Self::Single => f32::from_bits(bits as u32).into(),
            Self::Double => f64::from_bits(bits as u64),
        }
    }

    /// The float next to a number.
    pub(super) fn of_number(self, number: i128) -> Range {
        Range::of(match self {
            Self::Single => (number as f32).into(),
            Self::Double => number as f64,
        })
    }

    /// A double rounded to the format.
    fn rounded(self, value: f64) -> f64 {
        match self {
            Self::Single => (value as f32).into(),
            Self::Double => value,
        }
    }

    /// The result of an operation in the format.
    fn apply(self, op: Operation, a: f64, b: f64) -> f64 {
        match self {
            Self::Single => op.single(a as f32, b as f32).into(),
            Self::Double => op.double(a, b),
        }
    }

    /// The position of a number among all of the format.
    fn position(self, value: f64) -> i64 {
        match self {
            Self::Single => {
                let bits = (value as f32).to_bits() as i32;
                i64::from(if bits < 0 { i32::MIN.wrapping_sub(bits) } else { bits })
            }
            Self::Double => {
                let bits = value.to_bits() as i64;
                if bits < 0 { i64::MIN.wrapping_sub(bits) } else { bits }
            }
        }
    }

    /// The number at a position.
    fn at(self, position: i64) -> f64 {
        match self {
            Self::Single => {
                let at = position as i32;
                let bits = if at < 0 { i32::MIN.wrapping_sub(at) } else { at };
                f32::from_bits(bits as u32).into()
            }
            Self::Double => {
                let bits = if position < 0 { i64::MIN.wrapping_sub(position) } else { position };
                f64::from_bits(bits as u64)
            }
        }
    }
}

/// An operation that rounds to nearest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    Add,
    Sub,
    Mul,
    Div,
}

impl Operation {
    /// That of SMT-LIB's name.
    pub(super) fn named(head: &str) -> Option<Self> {
        Some(match head {
            "fp.add RNE" => Self::Add,
            "fp.sub RNE" => Self::Sub,
            "fp.mul RNE" => Self::Mul,
            "fp.div RNE" => Self::Div,
            _ => return None,
        })
    }

    fn single(self, a: f32, b: f32) -> f32 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
        }
    }

    fn double(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Sub => a - b,
            Self::Mul => a * b,
            Self::Div => a / b,
        }
    }
}

impl Range {
    /// All floats.
    pub(super) const ANY: Self = Self { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };
    const NONE: Self = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, nan: false };

    /// One float.
    pub(super) fn of(value: f64) -> Self {
        if value.is_nan() {
            return Self { nan: true, ..Self::NONE };
        }
        Self { low: value, high: value, nan: false }
    }

    fn has_numbers(self) -> bool {
        self.low <= self.high
    }

    /// What either has, and what lies between.
    pub(super) fn hull(self, other: Self) -> Self {
        let nan = self.nan || other.nan;
        Self { low: self.low.min(other.low), high: self.high.max(other.high), nan }
    }

    pub(super) fn negated(self) -> Self {
        Self { low: -self.high, high: -self.low, nan: self.nan }
    }

    pub(super) fn magnitude(self) -> Self {
        if !self.has_numbers() || self.low >= 0.0 {
            return self;
        }
        let high = self.high.max(-self.low);
        let low = if self.high < 0.0 { -self.high } else { 0.0 };
        Self { low, high, nan: self.nan }
    }

    pub(super) fn converted(self, to: Format) -> Self {
        Self { low: to.rounded(self.low), high: to.rounded(self.high), nan: self.nan }
    }

    fn is_infinite(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The results of an operation.
    pub(super) fn apply(self, op: Operation, other: Self, format: Format) -> Self {
        let nan = self.nan || other.nan;
        if !self.has_numbers() || !other.has_numbers() {
            return Self { nan, ..Self::NONE };
        }
        let (a, b) = (self, other);
        let some_infinite = a.is_infinite() || b.is_infinite();
        let is_odd = match op {
            Operation::Add | Operation::Sub => a.is_infinite() && b.is_infinite(),
            Operation::Mul => some_infinite && (a.has_zero() || b.has_zero()),
            Operation::Div => b.has_zero() || (a.is_infinite() && b.is_infinite()),
        };
        if is_odd {
            return Self::ANY;
        }
        let ends = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        let results = ends.map(|(x, y)| format.apply(op, x, y));
        if results.iter().any(|result| result.is_nan()) {
            return Self::ANY;
        }
        let (low, high) = results.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
            (all.0.min(*one), all.1.max(*one))
        });
        Self { low, high, nan }
    }

    /// A comparison of numbers by what is possible and what is sure.
    fn compared(self, other: Self, possible: bool, sure: bool) -> Truths {
        let both = self.has_numbers() && other.has_numbers();
        let nan = self.nan || other.nan;
        Truths { yes: both && possible, no: nan || (both && !sure) }
    }

    pub(super) fn less(self, other: Self) -> Truths {
        self.compared(other, self.low < other.high, self.high < other.low)
    }

    pub(super) fn less_or_equal(self, other: Self) -> Truths {
        self.compared(other, self.low <= other.high, self.high <= other.low)
    }

    pub(super) fn equal(self, other: Self) -> Truths {
        let possible = self.low <= other.high && other.low <= self.high;
        let sure = self.low == other.high && other.low == self.high;
        self.compared(other, possible, sure)
    }

    /// Whether two floats are one and the same, as far as their signs are not needed for that.
    pub(super) fn same(self, other: Self) -> Truths {
        let numbers = self.equal(other).yes;
        Truths { yes: numbers || (self.nan && other.nan), no: true }
    }

    pub(super) fn is_nan(self) -> Truths {
        Truths { yes: self.nan, no: self.has_numbers() }
    }

    /// How many numbers lie in it, less one.
    pub(super) fn width(self, format: Format) -> u64 {
        if !self.has_numbers() {
            return 0;
        }
        format.position(self.high).abs_diff(format.position(self.low))
    }

    /// Two halves; none of one float.
    pub(super) fn halves(self, format: Format) -> Option<[Self; 2]> {
        if self.nan && self.has_numbers() {
            return Some([Self { nan: true, ..Self::NONE }, Self { nan: false, ..self }]);
        }
        if self.width(format) == 0 {
            return None;
        }
        let (low, high) = (format.position(self.low), format.position(self.high));
        let middle = low + ((i128::from(high) - i128::from(low)) / 2) as i64;
        let lower = Self { high: format.at(middle), ..self };
        let upper = Self { low: format.at(middle + 1), ..self };
        Some([lower, upper])
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;

    use super::*;

    fn float(rng: &mut Rng) -> f64 {
        match rng.next_u64() % 4 {
            0 => (rng.next_u64() % 9) as f64 - 4.0,
            1 => ((rng.next_u64() % 2000) as f32 / 100.0 - 10.0).into(),
            2 => [f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::NAN][rng.next_u64() as usize % 4],
            _ => f64::from(f32::from_bits(rng.next_u64() as u32)),
        }
    }

    fn range(rng: &mut Rng) -> Range {
        Range::of(float(rng)).hull(Range::of(float(rng)))
    }

    fn has(range: Range, value: f64) -> bool {
        if value.is_nan() { range.nan } else { range.low <= value && value <= range.high }
    }

    /// A float of a range of singles.
    fn member(range: Range, rng: &mut Rng) -> f64 {
        let width = range.width(Format::Single);
        if !range.has_numbers() || (range.nan && rng.next_u64().is_multiple_of(4)) {
            return f64::NAN;
        }
        let step = if width == 0 { 0 } else { rng.next_u64() % (width + 1) };
        Format::Single.at(Format::Single.position(range.low) + step as i64)
    }

    #[test]
    fn results_of_members_are_members_of_the_results() {
        let mut rng = Rng::new(1);
        for _ in 0..100_000 {
            let (a, b) = (range(&mut rng), range(&mut rng));
            let (x, y) = (member(a, &mut rng), member(b, &mut rng));
            assert!(has(a, x) && has(b, y));
            for format in [Format::Single, Format::Double] {
                for op in [Operation::Add, Operation::Sub, Operation::Mul, Operation::Div] {
                    let all = a.apply(op, b, format);
                    let one = format.apply(op, x, y);
                    assert!(has(all, one), "{op:?} {a:?} {b:?} {x} {y}: {one} and {all:?}");
                }
            }
            let agrees = |truths: Truths, value: bool| if value { truths.yes } else { truths.no };
            assert!(agrees(a.less(b), x < y) && agrees(a.less_or_equal(b), x <= y));
            assert!(agrees(a.equal(b), x == y) && agrees(a.is_nan(), x.is_nan()));
            assert!(has(a.negated(), -x) && has(a.magnitude(), x.abs()));
            let same = x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
            assert!(agrees(a.same(b), same));
        }
    }

    #[test]
    fn halves_have_all_members() {
        let mut rng = Rng::new(2);
        for _ in 0..20_000 {
            let all = range(&mut rng);
            let one = member(all, &mut rng);
            match all.halves(Format::Single) {
                Some(halves) => {
                    assert!(halves.iter().any(|half| has(*half, one)), "{all:?} {one}");
                    assert!(halves.iter().all(|half| *half != all));
                }
                None => assert!(all.width(Format::Single) == 0),
            }
        }
    }
}
