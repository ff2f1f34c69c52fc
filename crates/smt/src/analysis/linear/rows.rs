//! Systems of linear inequalities over integers, and reasons for which they have no solution.

use super::Contradiction;
use super::forms::{Atom, Form, Forms};
use crate::analysis::bounds::Reasons;

/// The most rounds of propagating bounds through all rows: bounds may move by one in each, without an
/// end.
const MOST_ROUNDS: u32 = 6;
/// The least bound. Lesser ones contradict the range of 64-bit numbers, and products with this one fit.
const LEAST_BOUND: i128 = -(1 << 70);
/// The most rows that elimination makes.
const MOST_ROWS: usize = 80;

/// A form that is at most zero, or equal to zero, under the assumptions that are its reasons.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) form: Form,
    pub(super) is_equation: bool,
    pub(super) why: Reasons,
}

/// A bound of an atom.
#[derive(Clone, Copy, Debug)]
struct Bound {
    value: i128,
    why: Reasons,
}

/// Rows with more than one atom, and bounds of atoms.
#[derive(Clone, Default)]
pub(super) struct System {
    rows: Vec<Row>,
    /// The greatest values of atoms, and of their opposites.
    most: Vec<[Option<Bound>; 2]>,
    changed: bool,
    /// The number of rows examined or made since the last [`take_work`](Self::take_work).
    work: usize,
}

impl System {
    /// Adds a row.
    pub(super) fn add(&mut self, row: Row) -> Result<(), Contradiction> {
        if row.form.is_unknown {
            return Ok(());
        }
        let Some(row) = normal(row)? else { return Ok(()) };
        self.changed = true;
        match row.form.terms[..] {
            [(atom, c)] => {
                let value = row.form.constant;
                // Coefficients are one or minus one.
                self.bound(atom, c, -value, row.why);
                if row.is_equation {
                    self.bound(atom, -c, value, row.why);
                }
            }
            _ => self.rows.push(row),
        }
        Ok(())
    }

    /// The number of rows examined or made since the last call.
    pub(super) fn take_work(&mut self) -> usize {
        std::mem::take(&mut self.work)
    }

    /// Notes that an atom times `sign` is at most `value`.
    fn bound(&mut self, atom: Atom, sign: i128, value: i128, why: Reasons) {
        let value = value.max(LEAST_BOUND);
        let at = atom.0 as usize;
        if self.most.len() <= at {
            self.most.resize(at + 1, [None; 2]);
        }
        let most = &mut self.most[at][usize::from(sign < 0)];
        if most.is_none_or(|known| value < known.value) {
            *most = Some(Bound { value, why });
            self.changed = true;
        }
    }

    /// The greatest value of an atom times `sign`.
    fn most(&self, forms: &Forms, atom: Atom, sign: i128) -> Bound {
        let span = forms.spans[atom.0 as usize];
        let by_nature = if sign < 0 { -span.low } else { span.high };
        match self.most.get(atom.0 as usize).and_then(|most| most[usize::from(sign < 0)]) {
            Some(bound) if bound.value < by_nature => bound,
            _ => Bound { value: by_nature, why: Reasons::default() },
        }
    }

    /// The reasons for which a form is positive, if its bounds show it.
    pub(super) fn positive(&self, forms: &Forms, form: &Form) -> Option<Reasons> {
        if form.is_unknown {
            return None;
        }
        let mut least = form.constant;
        let mut why = Reasons::default();
        for &(atom, c) in &form.terms {
            let most = self.most(forms, atom, -c);
            least -= most.value * c.abs();
            why = why.or(most.why);
        }
        (least > 0).then_some(why)
    }

    /// Tightens bounds by the rows.
    pub(super) fn propagate(&mut self, forms: &Forms) -> Result<(), Contradiction> {
        for _ in 0..MOST_ROUNDS {
            if !std::mem::take(&mut self.changed) {
                break;
            }
            let rows = std::mem::take(&mut self.rows);
            self.work += rows.len();
            for row in &rows {
                self.tighten(forms, &row.form, row.why)?;
                if row.is_equation {
                    self.tighten(forms, &row.form.times(-1), row.why)?;
                }
            }
            self.rows = rows;
            self.check_bounds(forms)?;
        }
        Ok(())
    }

    fn check_bounds(&self, forms: &Forms) -> Result<(), Contradiction> {
        for at in 0..self.most.len() {
            let atom = Atom(u32::try_from(at).expect("atoms have 32 bits"));
            let (high, low) = (self.most(forms, atom, 1), self.most(forms, atom, -1));
            if high.value < -low.value {
                return Err(Contradiction(high.why.or(low.why)));
            }
        }
        Ok(())
    }

    /// Tightens the bounds of each atom of a form that is at most zero.
    fn tighten(&mut self, forms: &Forms, form: &Form, why: Reasons) -> Result<(), Contradiction> {
        let bounds: smallvec::SmallVec<[Bound; 4]> =
            form.terms.iter().map(|(atom, c)| self.most(forms, *atom, -c)).collect();
        let mut least = form.constant;
        for (bound, (_, c)) in bounds.iter().zip(&form.terms) {
            least -= bound.value * c.abs();
        }
        if least > 0 {
            let all = bounds.iter().fold(why, |all, bound| all.or(bound.why));
            return Err(Contradiction(all));
        }
        for (i, (atom, c)) in form.terms.iter().enumerate() {
            // The others are at least this.
            let others = least + bounds[i].value * c.abs();
            let value = (-others).div_euclid(c.abs());
            if value < self.most(forms, *atom, *c).value {
                let others = bounds.iter().enumerate().filter(|(j, _)| *j != i);
                let why = others.fold(why, |all, (_, bound)| all.or(bound.why));
                self.bound(*atom, c.signum(), value, why);
            }
        }
        Ok(())
    }

    /// Fourier-Motzkin elimination of one atom after the other.
    pub(super) fn eliminate(&mut self, forms: &Forms) -> Result<(), Contradiction> {
        let mut rows = self.rows.clone();
        while let Some(next) = cheapest(&rows) {
            rows = match rows.iter().position(|row| row.is_equation && row.form.of(next).abs() == 1)
            {
                Some(at) => self.substituted(forms, rows, at, next)?,
                None => self.combined(forms, &rows, next)?,
            };
            self.work += 2 * rows.len();
            if rows.len() > MOST_ROWS {
                break;
            }
        }
        Ok(())
    }

    /// The rows with an atom substituted by an equation that defines it.
    fn substituted(
        &self,
        forms: &Forms,
        mut rows: Vec<Row>,
        at: usize,
        atom: Atom,
    ) -> Result<Vec<Row>, Contradiction> {
        let equation = rows.swap_remove(at);
        let c = equation.form.of(atom);
        let mut result = Vec::with_capacity(rows.len() + 2);
        let mut keep = |row: Row| {
            let factor = -row.form.of(atom) * c;
            let row = match factor {
                0 => row,
                _ => Row {
                    form: row.form.plus(&equation.form, factor),
                    why: row.why.or(equation.why),
                    ..row
                },
            };
            add(&mut result, row)
        };
        rows.into_iter().try_for_each(&mut keep)?;
        self.bounds(forms, atom).into_iter().try_for_each(&mut keep)?;
        Ok(result)
    }

    /// The rows without an atom: each row that bounds it from above with each that bounds it from
    /// below.
    fn combined(&self, forms: &Forms, rows: &[Row], atom: Atom) -> Result<Vec<Row>, Contradiction> {
        let mut result = Vec::new();
        let (mut above, mut below) = (Vec::new(), Vec::new());
        for row in rows {
            let c = row.form.of(atom);
            if c == 0 {
                add(&mut result, row.clone())?;
                continue;
            }
            let side = if c > 0 { &mut above } else { &mut below };
            side.push(row.clone());
            if row.is_equation {
                let opposite = Row { form: row.form.times(-1), ..row.clone() };
                if c > 0 { &mut below } else { &mut above }.push(opposite);
            }
        }
        let [high, low] = self.bounds(forms, atom);
        above.push(high);
        below.push(low);
        for (i, x) in above.iter().enumerate() {
            for (j, y) in below.iter().enumerate() {
                if i + 1 == above.len() && j + 1 == below.len() {
                    // Bounds of one atom were compared.
                    continue;
                }
                let (p, q) = (x.form.of(atom), -y.form.of(atom));
                let form = x.form.times(q).plus(&y.form, p);
                add(&mut result, Row { form, is_equation: false, why: x.why.or(y.why) })?;
                if result.len() > MOST_ROWS {
                    return Ok(result);
                }
            }
        }
        Ok(result)
    }

    /// An atom's bounds as rows, the upper one first.
    fn bounds(&self, forms: &Forms, atom: Atom) -> [Row; 2] {
        [1, -1].map(|sign| {
            let most = self.most(forms, atom, sign);
            let form = Form {
                terms: smallvec::smallvec![(atom, sign)],
                constant: -most.value,
                is_unknown: false,
            };
            Row { form, is_equation: false, why: most.why }
        })
    }
}

/// Adds a row in its normal form; rows that always hold, and those with numbers that are too great,
/// are left out.
fn add(rows: &mut Vec<Row>, row: Row) -> Result<(), Contradiction> {
    if !row.form.is_unknown {
        rows.extend(normal(row)?);
    }
    Ok(())
}

/// A row without a common divisor of its coefficients, which makes it tighter over the integers; none
/// if it always holds.
fn normal(mut row: Row) -> Result<Option<Row>, Contradiction> {
    let constant = row.form.constant;
    let divisor = row.form.terms.iter().fold(0, |d, (_, c)| gcd(d, c.unsigned_abs()));
    let Ok(divisor @ 1..) = i128::try_from(divisor) else {
        let holds = if row.is_equation { constant == 0 } else { constant <= 0 };
        return if holds { Ok(None) } else { Err(Contradiction(row.why)) };
    };
    if divisor > 1 {
        if row.is_equation && constant % divisor != 0 {
            return Err(Contradiction(row.why));
        }
        row.form.terms.iter_mut().for_each(|(_, c)| *c /= divisor);
        // At most: rounded up, since the atoms' part is an integer.
        row.form.constant = -(-constant).div_euclid(divisor);
    }
    Ok(Some(row))
}

const fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// The rows that an atom occurs in.
struct Occurrences {
    atom: Atom,
    /// Rows that bound it from above.
    above: usize,
    /// Rows that bound it from below.
    below: usize,
    /// Whether an equation defines it, with the coefficient 1 or -1.
    is_defined: bool,
}

impl Occurrences {
    /// The number of rows that its elimination makes; 0 where an equation defines it.
    const fn cost(&self) -> usize {
        if self.is_defined { 0 } else { self.above * self.below }
    }
}

/// The atom whose elimination makes the fewest rows, if one is left.
fn cheapest(rows: &[Row]) -> Option<Atom> {
    let mut counts: Vec<Occurrences> = Vec::new();
    for row in rows {
        for &(atom, c) in &row.form.terms {
            let at = match counts.iter().position(|count| count.atom == atom) {
                Some(at) => at,
                None => {
                    counts.push(Occurrences { atom, above: 1, below: 1, is_defined: false });
                    counts.len() - 1
                }
            };
            let count = &mut counts[at];
            count.above += usize::from(c > 0 || row.is_equation);
            count.below += usize::from(c < 0 || row.is_equation);
            count.is_defined |= row.is_equation && c.abs() == 1;
        }
    }
    counts.iter().min_by_key(|count| count.cost()).map(|count| count.atom)
}
