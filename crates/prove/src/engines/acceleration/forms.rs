//! Values after a number of turns of a loop.
//!
//! A value that grows by a constant in each turn is linear in the number of turns, one that grows by such a
//! value is quadratic, and so on: the sum over *i* of a coefficient times "turns over *i*". Sums of these
//! values before each turn only move the coefficients by one place, and products are combinations of them
//! (Graham, Knuth and Patashnik: *Concrete Mathematics*, 1994, sections 2.6 and 5.1). All of this holds
//! modulo a power of two.

use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp, odd_inverse, ones};
use rustc_hash::FxHashMap;

/// The most coefficients of a form.
const MOST_COEFFICIENTS: usize = 4;
/// The most operators that are looked at for one form.
const MOST_OPERATORS: usize = 200;

/// A value after some turns: its coefficients, none of which changes.
type Form = Vec<Term>;

/// A value that must not leave the range of its width while it changes.
struct Range {
    form: Form,
    signed: bool,
}

/// The values of variables after some turns of a loop.
pub(super) struct ClosedForms {
    /// By symbol: the value before each turn. An input has one value for all turns.
    known: FxHashMap<Term, Form>,
    ranges: Vec<Range>,
    /// The operators that may still be looked at.
    left: usize,
}

impl ClosedForms {
    /// The forms for the values that variables have after one turn. Variables of others have none.
    pub(super) fn of(
        pool: &mut TermPool,
        symbols: &[Term],
        next: &[Term],
        inputs: &[Term],
    ) -> Self {
        let mut known: FxHashMap<Term, Form> = FxHashMap::default();
        for input in inputs {
            known.insert(*input, vec![*input]);
        }
        for (symbol, next) in symbols.iter().zip(next) {
            if symbol == next {
                known.insert(*symbol, vec![*symbol]);
            }
        }
        let mut forms = Self { known, ranges: Vec::new(), left: 0 };
        loop {
            let before = forms.known.len();
            for (symbol, next) in symbols.iter().zip(next) {
                if !forms.known.contains_key(symbol)
                    && matches!(pool.sort(*symbol), Sort::BitVec(1..=64))
                    && let Some(form) = forms.growth(pool, *symbol, *next)
                {
                    forms.known.insert(*symbol, form);
                }
            }
            if forms.known.len() == before {
                return forms;
            }
        }
    }

    /// The form of a variable that grows in each turn by a value with a form.
    fn growth(&mut self, pool: &mut TermPool, symbol: Term, next: Term) -> Option<Form> {
        let growth = pool.sub(next, symbol);
        let growth = self.form(pool, growth)?;
        let form: Form = [symbol].into_iter().chain(growth).collect();
        (form.len() <= MOST_COEFFICIENTS).then_some(form)
    }

    /// Whether a symbol has a form.
    pub(super) fn has(&self, symbol: Term) -> bool {
        self.known.contains_key(&symbol)
    }

    /// Whether some variable changes and has a form.
    pub(super) fn has_growth(&self) -> bool {
        self.known.values().any(|form| form.len() > 1)
    }

    /// The symbols with the values that they have after some turns.
    pub(super) fn after(&self, pool: &mut TermPool, turns: Term) -> FxHashMap<Term, Term> {
        let mut values = FxHashMap::default();
        for (symbol, form) in &self.known {
            let value = match form.as_slice() {
                [constant] => *constant,
                _ => value(pool, form, turns),
            };
            values.insert(*symbol, value);
        }
        values
    }

    /// The form of a term, if it has one.
    fn form(&mut self, pool: &mut TermPool, term: Term) -> Option<Form> {
        self.left = MOST_OPERATORS;
        let before = self.ranges.len();
        let form = self.form_within(pool, term);
        if form.is_none() {
            self.ranges.truncate(before);
        }
        form
    }

    fn form_within(&mut self, pool: &mut TermPool, term: Term) -> Option<Form> {
        if let Some(form) = self.known.get(&term) {
            return Some(form.clone());
        }
        let symbols = pool.vars_of(term);
        let is_constant = |symbol: &Term| self.known.get(symbol).is_some_and(|f| f.len() == 1);
        if symbols.iter().all(is_constant) {
            return Some(vec![term]);
        }
        self.left = self.left.checked_sub(1)?;
        let width = pool.width(term);
        let form = match pool.node(term) {
            Node::Un(UnOp::BvNeg, a) => {
                let a = self.form_within(pool, a)?;
                a.into_iter().map(|term| pool.neg(term)).collect()
            }
            Node::Un(UnOp::BvNot, a) => {
                let a = self.form_within(pool, a)?;
                let mut form: Form = a.into_iter().map(|term| pool.neg(term)).collect();
                let one = pool.bv(width, 1);
                form[0] = pool.sub(form[0], one);
                form
            }
            Node::Un(op @ (UnOp::ZExt | UnOp::SExt), a) => {
                let signed = op == UnOp::SExt;
                self.extended(pool, a, width, signed)?
            }
            Node::Extract(a, 0) => {
                let a = self.form_within(pool, a)?;
                a.into_iter().map(|term| pool.extract(width - 1, 0, term)).collect()
            }
            Node::Bin(BinOp::Add, a, b) => {
                let (a, b) = (self.form_within(pool, a)?, self.form_within(pool, b)?);
                sum(pool, &a, &b)
            }
            Node::Bin(BinOp::Sub, a, b) => {
                let (a, b) = (self.form_within(pool, a)?, self.form_within(pool, b)?);
                difference(pool, &a, &b)
            }
            Node::Bin(BinOp::Mul, a, b) => {
                let (a, b) = (self.form_within(pool, a)?, self.form_within(pool, b)?);
                product(pool, &a, &b)?
            }
            // A product with a power of two: low bits above zeros.
            Node::Bin(BinOp::Concat, high, low) if pool.as_u64(low) == Some(0) => {
                let Node::Extract(whole, 0) = pool.node(high) else { return None };
                (pool.width(whole) == width).then_some(())?;
                let amount = pool.bv(width, u64::from(pool.width(low)));
                let whole = self.form_within(pool, whole)?;
                whole.into_iter().map(|term| pool.shl(term, amount)).collect()
            }
            _ => return None,
        };
        Some(trimmed(pool, form))
    }

    /// The form of a word with more bits: as long as the word does not leave its range.
    fn extended(
        &mut self,
        pool: &mut TermPool,
        word: Term,
        width: u32,
        signed: bool,
    ) -> Option<Form> {
        let form = self.form_within(pool, word)?;
        (form.len() <= 2 && width <= 64).then_some(())?;
        let mut wide = vec![resized(pool, form[0], width, signed)];
        wide.extend(form.get(1).map(|step| pool.sext(*step, width)));
        self.ranges.push(Range { form, signed });
        Some(wide)
    }

    /// That a literal holds before each of some turns; none if this is not known how to say.
    pub(super) fn holds_during(
        &mut self,
        pool: &mut TermPool,
        literal: Term,
        turns: Term,
    ) -> Option<Term> {
        let (atom, is_true) = match pool.node(literal) {
            Node::Un(UnOp::Not, atom) => (atom, false),
            _ => (literal, true),
        };
        let symbols = pool.vars_of(atom);
        let is_constant = |symbol: &Term| self.known.get(symbol).is_some_and(|f| f.len() == 1);
        if symbols.iter().all(is_constant) {
            return Some(literal);
        }
        match pool.node(atom) {
            Node::Bin(op @ (BinOp::Slt | BinOp::Ult), a, b) => {
                let signed = op == BinOp::Slt;
                let at_last = self.comparison_at_last(pool, (a, b), signed, turns)?;
                let at_last = if is_true { at_last } else { pool.not(at_last) };
                Some(pool.and(literal, at_last))
            }
            Node::Bin(BinOp::Eq, a, b) if matches!(pool.sort(a), Sort::BitVec(1..=64)) => {
                let (a, b) = (self.form(pool, a)?, self.form(pool, b)?);
                let apart = difference(pool, &a, &b);
                let apart = trimmed(pool, apart);
                match (apart.as_slice(), is_true) {
                    ([_], _) => Some(literal),
                    ([first, step], false) => {
                        let step = pool.as_u64(*step)?;
                        Some(never_zero(pool, *first, step, turns))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The comparison before the last turn. If it is as before the first, it is so all the time: both
    /// sides change evenly and do not leave their ranges.
    fn comparison_at_last(
        &mut self,
        pool: &mut TermPool,
        (a, b): (Term, Term),
        signed: bool,
        turns: Term,
    ) -> Option<Term> {
        (pool.width(a) <= 64).then_some(())?;
        let (a, b) = (self.form(pool, a)?, self.form(pool, b)?);
        (a.len() <= 2 && b.len() <= 2).then_some(())?;
        let last = before_last(pool, turns);
        let (left, right) = (value(pool, &a, last), value(pool, &b, last));
        self.ranges.push(Range { form: a, signed });
        self.ranges.push(Range { form: b, signed });
        Some(if signed { pool.slt(left, right) } else { pool.ult(left, right) })
    }

    /// That no value left its range before any of some turns.
    pub(super) fn in_range(&self, pool: &mut TermPool, turns: Term) -> Term {
        let last = before_last(pool, turns);
        let mut all = Vec::new();
        for Range { form, signed } in &self.ranges {
            let [first, step] = form.as_slice() else { continue };
            let width = pool.width(*first);
            let wide = width + pool.width(turns) + 1;
            let (start, step) = (resized(pool, *first, wide, *signed), pool.sext(*step, wide));
            let count = pool.zext(last, wide);
            let way = pool.mul(count, step);
            let exact = pool.add(start, way);
            let low = pool.extract(width - 1, 0, exact);
            let back = resized(pool, low, wide, *signed);
            all.push(pool.eq(exact, back));
        }
        pool.and_all(all)
    }
}

/// One less than a number of turns.
pub(super) fn before_last(pool: &mut TermPool, turns: Term) -> Term {
    let one = pool.bv(pool.width(turns), 1);
    pool.sub(turns, one)
}

fn resized(pool: &mut TermPool, term: Term, width: u32, signed: bool) -> Term {
    if signed { pool.resize_signed(term, width) } else { pool.resize_unsigned(term, width) }
}

/// That a number that grows by a constant is not zero before any of some turns.
fn never_zero(pool: &mut TermPool, first: Term, step: u64, turns: Term) -> Term {
    let width = pool.width(first);
    let twos = step.trailing_zeros();
    let inverse = odd_inverse(step >> twos).wrapping_neg() & ones(width - twos);
    // The number of turns to the first zero, if the low bits, which stay, are zero.
    let high = pool.extract(width - 1, twos, first);
    let factor = pool.bv(width - twos, inverse);
    let zero_at = pool.mul(high, factor);
    let wide = width.max(pool.width(turns));
    let (turns, zero_at) = (pool.zext(turns, wide), pool.zext(zero_at, wide));
    let is_earlier = pool.ule(turns, zero_at);
    if twos == 0 {
        return is_earlier;
    }
    let low = pool.extract(twos - 1, 0, first);
    let never = pool.is_nonzero(low);
    pool.or(never, is_earlier)
}

/// The value of a form after some turns.
fn value(pool: &mut TermPool, form: &[Term], turns: Term) -> Term {
    let mut all = form[0];
    for (at, coefficient) in form.iter().enumerate().skip(1) {
        let count = binomial(pool, turns, at as u64, pool.width(*coefficient));
        let summand = pool.mul(*coefficient, count);
        all = pool.add(all, summand);
    }
    all
}

/// "turns over `at`", modulo a power of two.
fn binomial(pool: &mut TermPool, turns: Term, at: u64, width: u32) -> Term {
    let factorial: u64 = (1..=at).product();
    let twos = factorial.trailing_zeros();
    let wide = width + twos;
    let turns = pool.resize_unsigned(turns, wide);
    let mut product = pool.bv(wide, 1);
    for less in 0..at {
        let less = pool.bv(wide, less);
        let factor = pool.sub(turns, less);
        product = pool.mul(product, factor);
    }
    let halved = pool.extract(wide - 1, twos, product);
    let inverse = odd_inverse(factorial >> twos) & ones(width);
    let inverse = pool.bv(width, inverse);
    pool.mul(halved, inverse)
}

/// The form without zeros at its end.
fn trimmed(pool: &TermPool, mut form: Form) -> Form {
    while form.len() > 1 && form.last().is_some_and(|last| pool.as_u64(*last) == Some(0)) {
        form.pop();
    }
    form
}

fn sum(pool: &mut TermPool, a: &[Term], b: &[Term]) -> Form {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let mut all = long.to_vec();
    for (sum, other) in all.iter_mut().zip(short) {
        *sum = pool.add(*sum, *other);
    }
    all
}

fn difference(pool: &mut TermPool, a: &[Term], b: &[Term]) -> Form {
    let minus: Form = b.iter().map(|term| pool.neg(*term)).collect();
    sum(pool, a, &minus)
}

/// The product, unless it has too many coefficients.
fn product(pool: &mut TermPool, a: &[Term], b: &[Term]) -> Option<Form> {
    let count = a.len() + b.len() - 1;
    (count <= MOST_COEFFICIENTS).then_some(())?;
    let width = pool.width(a[0]);
    let mut all = vec![pool.bv(width, 0); count];
    for (i, left) in a.iter().enumerate() {
        for (j, right) in b.iter().enumerate() {
            let both = pool.mul(*left, *right);
            for (at, all) in all.iter_mut().enumerate().skip(i.max(j)).take(i.min(j) + 1) {
                let factor = pool.bv(width, ways(at, i, j) & ones(width));
                let summand = pool.mul(both, factor);
                *all = pool.add(*all, summand);
            }
        }
    }
    Some(all)
}

/// The factor of "n over `at`" in the product of "n over `i`" and "n over `j`".
fn ways(at: usize, i: usize, j: usize) -> u64 {
    let factorial = |n: usize| (1..=n as u64).product::<u64>();
    factorial(at) / (factorial(at - i) * factorial(at - j) * factorial(i + j - at))
}
