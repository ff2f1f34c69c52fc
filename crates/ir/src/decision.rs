//! Decisions and their conditions: the side table that lowering keeps beside a function's branches.
//!
//! A decision's tree is what a designer of tests sees; the branches are what runs. The tree never
//! changes what is evaluated: it is the non-intrusive map of [003].

use lydian_base::{Arena, Span, entity_id};
use serde::{Deserialize, Serialize};

use crate::expr::ExprId;

entity_id!(
    /// Names a decision of a function.
    DecisionId,
    "d"
);
entity_id!(
    /// Names a condition of a decision: its leaves from left to right.
    ConditionId,
    "c"
);

/// Kleene's three truth values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Truth {
    /// Surely false.
    False,
    /// Not known.
    Unknown,
    /// Surely true.
    True,
}

/// Why a Boolean expression is a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum DecisionKind {
    /// It is tested: `if`, `while`, `do`, `for`, `?:`.
    Control,
    /// It is used as a value.
    Value,
}

/// Whether a condition has a value where short-circuit evaluation does not reach it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Purity {
    /// Pure, and traps on no state: it always has a value.
    Pure,
    /// Pure, but traps on some states: it has a value only where it is reached.
    MayTrap,
    /// It changes something, or needs statements of its own to be evaluated: a value only where
    /// it is reached.
    Effects,
}

/// A Boolean expression that is no operand of a Boolean operator, and is tested or used as a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Why it is a decision.
    pub kind: DecisionKind,
    /// How its conditions make its outcome. Each condition occurs exactly once in it.
    pub tree: BoolTree,
    /// Its leaves, from left to right.
    pub conditions: Arena<ConditionId, Condition>,
    /// Its text.
    pub span: Span,
}

/// A leaf of a decision, without any Boolean operator in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// Its value, of type `i1`. Where purity is `Effects` it has that meaning only at the branch
    /// that tests it.
    pub expr: ExprId,
    /// Whether it has a value where it is not reached.
    pub purity: Purity,
    /// Its text.
    pub span: Span,
}

/// A Boolean function of a decision's conditions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum BoolTree {
    /// A constant.
    Const(bool),
    /// A condition.
    Cond(ConditionId),
    /// `!a`.
    Not(Box<BoolTree>),
    /// `a && b`: `b` is evaluated only where `a` is true.
    And(Box<BoolTree>, Box<BoolTree>),
    /// `a || b`: `b` is evaluated only where `a` is false.
    Or(Box<BoolTree>, Box<BoolTree>),
    /// `a & b`: both are evaluated.
    BitAnd(Box<BoolTree>, Box<BoolTree>),
    /// `a | b`: both are evaluated.
    BitOr(Box<BoolTree>, Box<BoolTree>),
    /// `a == b`.
    Eq(Box<BoolTree>, Box<BoolTree>),
    /// `a != b` and `a ^ b`.
    Xor(Box<BoolTree>, Box<BoolTree>),
    /// `a ? b : c`.
    Ite(Box<BoolTree>, Box<BoolTree>, Box<BoolTree>),
}

impl From<bool> for Truth {
    fn from(value: bool) -> Self {
        if value { Self::True } else { Self::False }
    }
}

impl From<Option<bool>> for Truth {
    fn from(value: Option<bool>) -> Self {
        value.map_or(Self::Unknown, Self::from)
    }
}

impl std::ops::Not for Truth {
    type Output = Self;
    fn not(self) -> Self {
        match self {
            Self::False => Self::True,
            Self::Unknown => Self::Unknown,
            Self::True => Self::False,
        }
    }
}

impl Truth {
    /// Conjunction.
    pub fn and(self, other: Self) -> Self {
        self.min(other)
    }

    /// Disjunction.
    pub fn or(self, other: Self) -> Self {
        self.max(other)
    }

    /// Exclusive or: unknown unless both are known.
    pub fn xor(self, other: Self) -> Self {
        match (self.known(), other.known()) {
            (Some(a), Some(b)) => Self::from(a != b),
            _ => Self::Unknown,
        }
    }

    /// The Boolean, where it is known.
    pub const fn known(self) -> Option<bool> {
        match self {
            Self::False => Some(false),
            Self::Unknown => None,
            Self::True => Some(true),
        }
    }

    /// Whether it is surely true.
    pub const fn is_true(self) -> bool {
        matches!(self, Self::True)
    }
}

impl BoolTree {
    /// The value under a partial assignment, in Kleene's logic.
    pub fn eval(&self, value: &impl Fn(ConditionId) -> Truth) -> Truth {
        match self {
            Self::Const(constant) => Truth::from(*constant),
            Self::Cond(condition) => value(*condition),
            Self::Not(a) => !a.eval(value),
            Self::And(a, b) | Self::BitAnd(a, b) => a.eval(value).and(b.eval(value)),
            Self::Or(a, b) | Self::BitOr(a, b) => a.eval(value).or(b.eval(value)),
            Self::Eq(a, b) => !a.eval(value).xor(b.eval(value)),
            Self::Xor(a, b) => a.eval(value).xor(b.eval(value)),
            Self::Ite(c, a, b) => match c.eval(value) {
                Truth::True => a.eval(value),
                Truth::False => b.eval(value),
                Truth::Unknown => {
                    let (a, b) = (a.eval(value), b.eval(value));
                    if a == b { a } else { Truth::Unknown }
                }
            },
        }
    }

    /// Calls `visit` with each condition, from left to right.
    pub fn for_each_condition(&self, visit: &mut impl FnMut(ConditionId)) {
        match self {
            Self::Const(_) => {}
            Self::Cond(condition) => visit(*condition),
            Self::Not(a) => a.for_each_condition(visit),
            Self::And(a, b)
            | Self::Or(a, b)
            | Self::BitAnd(a, b)
            | Self::BitOr(a, b)
            | Self::Eq(a, b)
            | Self::Xor(a, b) => {
                a.for_each_condition(visit);
                b.for_each_condition(visit);
            }
            Self::Ite(c, a, b) => {
                c.for_each_condition(visit);
                a.for_each_condition(visit);
                b.for_each_condition(visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;

    fn cond(index: usize) -> Box<BoolTree> {
        Box::new(BoolTree::Cond(ConditionId::from_index(index)))
    }

    #[test]
    fn an_unknown_operand_does_not_hide_an_outcome_that_the_other_decides() {
        let and = BoolTree::And(cond(0), cond(1));
        let values = [Truth::False, Truth::Unknown];
        assert_eq!(and.eval(&|c| values[c.index()]), Truth::False);
        let xor = BoolTree::Xor(cond(0), cond(1));
        assert_eq!(xor.eval(&|c| values[c.index()]), Truth::Unknown);
    }

    #[test]
    fn a_choice_between_equal_values_does_not_need_its_test() {
        let ite = BoolTree::Ite(cond(0), cond(1), cond(2));
        let values = [Truth::Unknown, Truth::True, Truth::True];
        assert_eq!(ite.eval(&|c| values[c.index()]), Truth::True);
    }
}
