//! Predicates of labels in Kleene's logic over terms.
//!
//! A predicate has three values, so it becomes two Booleans: one that holds where it is surely true,
//! and one that holds where it is surely false. They exclude one another. Where neither holds, the
//! predicate is unknown. A label is covered exactly where its predicate is surely true.

use lydian_ir::{ConditionId, ExprId};
use lydian_objective::Pred;
use lydian_smt::{Term, TermPool};

use crate::traps::Traps;

/// A truth value of Kleene's logic over terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kleene {
    /// The condition under which it is true.
    pub surely_true: Term,
    /// The condition under which it is false.
    pub surely_false: Term,
}

impl Kleene {
    /// Unknown on every state.
    pub fn unknown(pool: &TermPool) -> Self {
        Self { surely_true: pool.ff(), surely_false: pool.ff() }
    }

    /// Known on every state, with the value of a Boolean term.
    pub fn known(pool: &mut TermPool, value: Term) -> Self {
        Self { surely_true: value, surely_false: pool.not(value) }
    }

    /// A constant.
    pub fn constant(pool: &TermPool, value: bool) -> Self {
        Self { surely_true: pool.bool(value), surely_false: pool.bool(!value) }
    }

    /// The value of a Boolean term where its evaluation does not trap.
    pub fn guarded(pool: &mut TermPool, value: Term, traps: &Traps) -> Self {
        let absent = traps.absent(pool);
        Self::known_where(pool, absent, value)
    }

    /// The value of a Boolean term where `known` holds.
    pub fn known_where(pool: &mut TermPool, known: Term, value: Term) -> Self {
        let not_value = pool.not(value);
        Self { surely_true: pool.and(known, value), surely_false: pool.and(known, not_value) }
    }

    /// Restricted to the states where `known` holds; unknown on all others.
    pub fn only_where(self, pool: &mut TermPool, known: Term) -> Self {
        Self {
            surely_true: pool.and(known, self.surely_true),
            surely_false: pool.and(known, self.surely_false),
        }
    }

    /// Known where one of the two is. They have the same value where both are known.
    pub fn or_else(self, pool: &mut TermPool, other: Self) -> Self {
        Self {
            surely_true: pool.or(self.surely_true, other.surely_true),
            surely_false: pool.or(self.surely_false, other.surely_false),
        }
    }

    /// Negation.
    #[allow(clippy::should_implement_trait, reason = "named as the other operators are")]
    pub fn not(self) -> Self {
        Self { surely_true: self.surely_false, surely_false: self.surely_true }
    }

    /// Conjunction: false as soon as one side is.
    pub fn and(self, pool: &mut TermPool, other: Self) -> Self {
        Self {
            surely_true: pool.and(self.surely_true, other.surely_true),
            surely_false: pool.or(self.surely_false, other.surely_false),
        }
    }

    /// Disjunction: true as soon as one side is.
    pub fn or(self, pool: &mut TermPool, other: Self) -> Self {
        self.not().and(pool, other.not()).not()
    }

    /// Exclusive or: known only where both sides are.
    pub fn xor(self, pool: &mut TermPool, other: Self) -> Self {
        let left = pool.and(self.surely_true, other.surely_false);
        let right = pool.and(self.surely_false, other.surely_true);
        let both = pool.and(self.surely_true, other.surely_true);
        let neither = pool.and(self.surely_false, other.surely_false);
        Self { surely_true: pool.or(left, right), surely_false: pool.or(both, neither) }
    }

    /// Whether it is surely true on every state.
    pub fn is_true(self, pool: &TermPool) -> bool {
        pool.as_bool(self.surely_true) == Some(true)
    }

    /// Whether it is surely true on no state.
    pub fn is_never_true(self, pool: &TermPool) -> bool {
        pool.as_bool(self.surely_true) == Some(false)
    }
}

/// Gives the values that a predicate reads from an event: those of conditions, mutants and expressions.
pub trait EventReader {
    /// [`Pred::Cond`]: the value of a condition in the decision's event.
    fn condition(&mut self, pool: &mut TermPool, condition: ConditionId) -> Kleene;
    /// [`Pred::Reached`]: whether evaluation reached the condition, a Boolean.
    fn reached(&mut self, pool: &mut TermPool, condition: ConditionId) -> Term;
    /// [`Pred::Mutant`]: the value of a mutant of a condition.
    fn mutant(&mut self, pool: &mut TermPool, condition: ConditionId, expr: ExprId) -> Kleene;
    /// [`Pred::Expr`]: the value of an `i1` expression on the state at the site.
    fn expr(&mut self, pool: &mut TermPool, expr: ExprId) -> Kleene;
}

/// The value of a predicate. Operands that the left side decides are not evaluated.
pub fn eval_pred(pool: &mut TermPool, pred: &Pred, reader: &mut impl EventReader) -> Kleene {
    match pred {
        Pred::Const(value) => Kleene::constant(pool, *value),
        Pred::Cond(condition) => reader.condition(pool, *condition),
        Pred::Reached(condition) => {
            let reached = reader.reached(pool, *condition);
            Kleene::known(pool, reached)
        }
        Pred::Mutant(condition, expr) => reader.mutant(pool, *condition, *expr),
        Pred::Expr(expr) => reader.expr(pool, *expr),
        Pred::Not(a) => eval_pred(pool, a, reader).not(),
        Pred::And(a, b) => {
            let a = eval_pred(pool, a, reader);
            if pool.as_bool(a.surely_false) == Some(true) {
                return a;
            }
            let b = eval_pred(pool, b, reader);
            a.and(pool, b)
        }
        Pred::Or(a, b) => {
            let a = eval_pred(pool, a, reader);
            if a.is_true(pool) {
                return a;
            }
            let b = eval_pred(pool, b, reader);
            a.or(pool, b)
        }
        Pred::Xor(a, b) => {
            let a = eval_pred(pool, a, reader);
            let b = eval_pred(pool, b, reader);
            a.xor(pool, b)
        }
    }
}
