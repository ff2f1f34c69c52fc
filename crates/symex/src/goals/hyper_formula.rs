//! Formulas of guards and passages as terms.
//!
//! Numbers of formulas are mathematical integers that are known if they fit in 128 bits
//! ([`lydian_objective::hyper::Formula`]). Here they are bit-vectors of that width, with a Boolean
//! for whether they are known. Truth values are Kleene's.

use lydian_eval::Kleene;
use lydian_ir::{ExprId, Type};
use lydian_objective::hyper::{Formula, FormulaOp};
use lydian_smt::{Term, TermPool};

/// The width of a number, in bits.
const BITS: u32 = 128;

/// A number, and the condition under which it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Number {
    pub(crate) known: Term,
    pub(crate) value: Term,
}

/// The source of the values of a formula's leaves.
pub(crate) trait Leaves {
    /// The value of a metavariable; `None` where it has none.
    fn name(&mut self, pool: &mut TermPool, name: &str) -> Option<Number>;
    /// The value of an expression on the state; `None` where there is no state.
    fn state(&mut self, pool: &mut TermPool, expr: ExprId) -> Option<Number>;
}

impl Number {
    /// A number that is always known.
    pub(crate) fn constant(pool: &mut TermPool, value: i128) -> Self {
        Self { known: pool.tt(), value: constant(pool, value) }
    }

    /// A number that is never known.
    pub(crate) fn unknown(pool: &mut TermPool) -> Self {
        Self { known: pool.ff(), value: constant(pool, 0) }
    }

    /// An unsigned value of a machine type of at most 128 bits.
    pub(crate) fn of_bits(pool: &mut TermPool, known: Term, bits: Term) -> Self {
        Self { known, value: pool.resize_unsigned(bits, BITS) }
    }

    /// The number with terms of another pool.
    pub(crate) fn with_terms(self, of: &mut impl FnMut(Term) -> Term) -> Self {
        Self { known: of(self.known), value: of(self.value) }
    }

    /// The number 1 or 0 for a truth value.
    pub(crate) fn of_truth(pool: &mut TermPool, truth: Kleene) -> Self {
        let known = pool.or(truth.surely_true, truth.surely_false);
        Self { known, value: pool.bool_to_bv(truth.surely_true, BITS) }
    }
}

fn constant(pool: &mut TermPool, value: i128) -> Term {
    lydian_eval::sort::constant(pool, Type::Int(BITS as u8), value as u128)
}

/// The conditions under which a formula is true, and false.
pub(crate) fn truth(pool: &mut TermPool, formula: &Formula, leaves: &mut impl Leaves) -> Kleene {
    match formula {
        Formula::Not(a) => truth(pool, a, leaves).not(),
        Formula::Binary(FormulaOp::And, a, b) => {
            let (a, b) = (truth(pool, a, leaves), truth(pool, b, leaves));
            a.and(pool, b)
        }
        Formula::Binary(FormulaOp::Or, a, b) => {
            let (a, b) = (truth(pool, a, leaves), truth(pool, b, leaves));
            a.or(pool, b)
        }
        Formula::Binary(op, a, b) if compares(*op) => {
            let (a, b) = (number(pool, a, leaves), number(pool, b, leaves));
            let known = pool.and(a.known, b.known);
            let (a, b) = (a.value, b.value);
            let holds = match op {
                FormulaOp::Eq => pool.eq(a, b),
                FormulaOp::Ne => pool.neq(a, b),
                FormulaOp::Lt => pool.slt(a, b),
                FormulaOp::Le => pool.sle(a, b),
                FormulaOp::Gt => pool.sgt(a, b),
                _ => pool.sge(a, b),
            };
            Kleene::known_where(pool, known, holds)
        }
        other => {
            let number = number(pool, other, leaves);
            let holds = pool.is_nonzero(number.value);
            Kleene::known_where(pool, number.known, holds)
        }
    }
}

/// The value of a formula.
fn number(pool: &mut TermPool, formula: &Formula, leaves: &mut impl Leaves) -> Number {
    match formula {
        Formula::Number(value) => Number::constant(pool, *value),
        Formula::Name(name) => leaves.name(pool, name).unwrap_or_else(|| Number::unknown(pool)),
        Formula::State(expr) => leaves.state(pool, *expr).unwrap_or_else(|| Number::unknown(pool)),
        Formula::Negate(a) => {
            let a = number(pool, a, leaves);
            let overflows = pool.sneg_overflows(a.value);
            let fits = pool.not(overflows);
            Number { known: pool.and(a.known, fits), value: pool.neg(a.value) }
        }
        Formula::Binary(op, a, b) if !compares(*op) && !connects(*op) => {
            let (a, b) = (number(pool, a, leaves), number(pool, b, leaves));
            arithmetic(pool, *op, a, b)
        }
        Formula::Not(_) | Formula::Binary(..) => {
            let truth = truth(pool, formula, leaves);
            Number::of_truth(pool, truth)
        }
    }
}

fn arithmetic(pool: &mut TermPool, op: FormulaOp, a: Number, b: Number) -> Number {
    let both = pool.and(a.known, b.known);
    let (a, b) = (a.value, b.value);
    let (bad, value) = match op {
        FormulaOp::Add => (pool.sadd_overflows(a, b), pool.add(a, b)),
        FormulaOp::Sub => (pool.ssub_overflows(a, b), pool.sub(a, b)),
        FormulaOp::Mul => (pool.smul_overflows(a, b), pool.mul(a, b)),
        FormulaOp::Div | FormulaOp::Rem => {
            let zero = constant(pool, 0);
            let by_zero = pool.eq(b, zero);
            let overflows = pool.sdiv_overflows(a, b);
            let bad = pool.or(by_zero, overflows);
            let div = op == FormulaOp::Div;
            (bad, if div { pool.sdiv(a, b) } else { pool.srem(a, b) })
        }
        _ => unreachable!("the others are comparisons and connectives"),
    };
    let fits = pool.not(bad);
    Number { known: pool.and(both, fits), value }
}

const fn compares(op: FormulaOp) -> bool {
    matches!(
        op,
        FormulaOp::Eq
            | FormulaOp::Ne
            | FormulaOp::Lt
            | FormulaOp::Le
            | FormulaOp::Gt
            | FormulaOp::Ge
    )
}

const fn connects(op: FormulaOp) -> bool {
    matches!(op, FormulaOp::And | FormulaOp::Or)
}
