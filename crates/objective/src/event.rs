//! Events and the meaning of predicates on them.
//!
//! An event is one passage of a site, with everything that a predicate can read there. [`Pred::eval`]
//! is the one definition of a predicate's truth; measuring, exploring and proving agree with it. A
//! decision's event is a [`crate::DecisionVector`], which native runs record.

use lydian_ir::{ConditionId, ExprId, Truth};

use crate::label::Pred;

/// The values that a predicate can read at one passage of its site.
pub trait Event {
    /// The value of a condition; unknown where it has none.
    fn condition(&self, condition: ConditionId) -> Truth;
    /// Whether short-circuit evaluation reached a condition.
    fn reached(&self, condition: ConditionId) -> bool;
    /// The value of a mutant of a condition.
    fn mutant(&self, condition: ConditionId, expr: ExprId) -> Truth;
    /// The value of an `i1` expression on the state; unknown where evaluating it traps.
    fn expr(&self, expr: ExprId) -> Truth;
}

impl Pred {
    /// The predicate's truth on an event, in Kleene's logic. A label is covered where it is
    /// [`Truth::True`].
    pub fn eval(&self, event: &impl Event) -> Truth {
        match self {
            Self::Const(value) => Truth::from(*value),
            Self::Cond(condition) => event.condition(*condition),
            Self::Reached(condition) => Truth::from(event.reached(*condition)),
            Self::Mutant(condition, expr) => event.mutant(*condition, *expr),
            Self::Expr(expr) => event.expr(*expr),
            Self::Not(a) => !a.eval(event),
            Self::And(a, b) => match a.eval(event) {
                Truth::False => Truth::False,
                a => a.and(b.eval(event)),
            },
            Self::Or(a, b) => match a.eval(event) {
                Truth::True => Truth::True,
                a => a.or(b.eval(event)),
            },
            Self::Xor(a, b) => a.eval(event).xor(b.eval(event)),
        }
    }
}
