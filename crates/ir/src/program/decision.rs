//! Decisions and their conditions: the side table that lowering keeps beside a function's branches.
//!
//! A designer of tests sees a decision's tree; the branches are executed. The tree never
//! changes what is evaluated: it is the non-intrusive map of [003].

use lydian_base::{Arena, Span};
use serde::{Deserialize, Serialize};

use super::expr::{Expr, ExprArena};
use super::ids::ExprId;

pub use super::ids::{ConditionId, DecisionId};

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

/// Side effects and traps of evaluating a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Purity {
    /// Nothing, and it traps on no state.
    Pure,
    /// Nothing, but it traps on some states.
    MayTrap,
    /// It changes something, or needs statements of its own to be evaluated.
    Effects,
}

/// Where a condition has a value though short-circuit evaluation does not reach it, and which.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnreachedValue {
    /// Nowhere.
    Never,
    /// Everywhere: the value of this expression on the state at the outcome. It traps on no state.
    Always(ExprId),
    /// Where this expression does not trap on the state at the outcome.
    WhereDefined(ExprId),
}

impl UnreachedValue {
    /// The expression that is evaluated.
    pub const fn expr(self) -> Option<ExprId> {
        match self {
            Self::Never => None,
            Self::Always(expr) | Self::WhereDefined(expr) => Some(expr),
        }
    }

    /// The same of another expression.
    #[must_use]
    pub fn map(self, to: impl FnOnce(ExprId) -> ExprId) -> Self {
        match self {
            Self::Never => Self::Never,
            Self::Always(expr) => Self::Always(to(expr)),
            Self::WhereDefined(expr) => Self::WhereDefined(to(expr)),
        }
    }
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
    /// Its side effects and traps.
    pub purity: Purity,
    /// Its value where it is not reached.
    pub unreached: UnreachedValue,
    /// Its text.
    pub span: Span,
}

impl Condition {
    /// One that evaluation without effects gives the same value, reached or not, where it is pure,
    /// and none where it is not reached else.
    pub const fn new(expr: ExprId, purity: Purity, span: Span) -> Self {
        let unreached = match purity {
            Purity::Pure => UnreachedValue::Always(expr),
            Purity::MayTrap | Purity::Effects => UnreachedValue::Never,
        };
        Self { expr, purity, unreached, span }
    }

    /// Whether its mutants have a value where it is not reached, if they cannot trap: what is
    /// evaluated there is what is evaluated where it is reached.
    pub fn is_one_expression(&self) -> bool {
        self.unreached == UnreachedValue::Always(self.expr)
    }
}

impl Decision {
    /// The tree that criteria ask about: what has a constant value whatever is evaluated in it, as
    /// `(x++, 1)` has, is a constant, and no condition. `exprs` are the body's expressions.
    pub fn asked(&self, exprs: &ExprArena) -> BoolTree {
        let constant = |condition: ConditionId| match exprs[self.conditions[condition].expr] {
            Expr::Const(_, bits) => Some(bits & 1 == 1),
            _ => None,
        };
        match self.conditions.ids().any(|condition| constant(condition).is_some()) {
            true => self.tree.with_values(&constant),
            false => self.tree.clone(),
        }
    }
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

type MakePair = fn(Box<BoolTree>, Box<BoolTree>) -> BoolTree;

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

    /// The condition that evaluation from left to right asks for first; `None` if the value is
    /// settled. `&&`, `||` and `?:` ask only for what they need, the other operators for both
    /// sides. Meant for a tree without settled parts, as [`Self::assume`] and [`Self::settled`]
    /// give it.
    pub fn next_condition(&self) -> Option<ConditionId> {
        match self {
            Self::Const(_) => None,
            Self::Cond(condition) => Some(*condition),
            Self::Not(a) | Self::And(a, _) | Self::Or(a, _) | Self::Ite(a, ..) => {
                a.next_condition()
            }
            Self::BitAnd(a, b) | Self::BitOr(a, b) | Self::Eq(a, b) | Self::Xor(a, b) => {
                a.next_condition().or_else(|| b.next_condition())
            }
        }
    }

    /// What is left of the tree when a condition has this value: the static partial evaluation of
    /// [003]. A constant once evaluation asks for nothing more.
    pub fn assume(&self, condition: ConditionId, value: bool) -> Self {
        self.with_values(&|other| (other == condition).then_some(value))
    }

    /// The tree without the parts that its constants settle.
    pub fn settled(&self) -> Self {
        self.with_values(&|_| None)
    }

    /// What is left of the tree when some conditions have values.
    pub fn with_values(&self, value: &impl Fn(ConditionId) -> Option<bool>) -> Self {
        let both =
            |a: &Self, b: &Self| (Box::new(a.with_values(value)), Box::new(b.with_values(value)));
        let strict =
            |a: &Self, b: &Self, op: fn(bool, bool) -> bool, make: MakePair| match both(a, b) {
                (a, b) if matches!((&*a, &*b), (Self::Const(_), Self::Const(_))) => {
                    Self::Const(op(*a == Self::Const(true), *b == Self::Const(true)))
                }
                (a, b) => make(a, b),
            };
        match self {
            Self::Const(_) => self.clone(),
            Self::Cond(condition) => value(*condition).map_or_else(|| self.clone(), Self::Const),
            Self::Not(a) => match a.with_values(value) {
                Self::Const(a) => Self::Const(!a),
                a => Self::Not(Box::new(a)),
            },
            Self::And(a, b) => match both(a, b) {
                (a, _) if *a == Self::Const(false) => *a,
                (a, b) if *a == Self::Const(true) => *b,
                (a, b) => Self::And(a, b),
            },
            Self::Or(a, b) => match both(a, b) {
                (a, _) if *a == Self::Const(true) => *a,
                (a, b) if *a == Self::Const(false) => *b,
                (a, b) => Self::Or(a, b),
            },
            Self::BitAnd(a, b) => strict(a, b, |a, b| a & b, Self::BitAnd),
            Self::BitOr(a, b) => strict(a, b, |a, b| a | b, Self::BitOr),
            Self::Eq(a, b) => strict(a, b, |a, b| a == b, Self::Eq),
            Self::Xor(a, b) => strict(a, b, |a, b| a != b, Self::Xor),
            Self::Ite(c, a, b) => match c.with_values(value) {
                Self::Const(true) => a.with_values(value),
                Self::Const(false) => b.with_values(value),
                c => {
                    let (a, b) = both(a, b);
                    Self::Ite(Box::new(c), a, b)
                }
            },
        }
    }

    /// Whether conditions are evaluated in their order, so that no operator evaluates both of its
    /// sides.
    pub fn is_in_order(&self) -> bool {
        match self {
            Self::Const(_) | Self::Cond(_) => true,
            Self::Not(a) => a.is_in_order(),
            Self::And(a, b) | Self::Or(a, b) => a.is_in_order() && b.is_in_order(),
            Self::Ite(c, a, b) => c.is_in_order() && a.is_in_order() && b.is_in_order(),
            Self::BitAnd(..) | Self::BitOr(..) | Self::Eq(..) | Self::Xor(..) => false,
        }
    }

    /// Whether a condition is in it.
    pub fn has(&self, condition: ConditionId) -> bool {
        let mut found = false;
        self.for_each_condition(&mut |other| found |= other == condition);
        found
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
    fn what_is_left_of_a_tree_asks_for_the_condition_that_is_evaluated_next() {
        let c = ConditionId::from_index;
        let left = Box::new(BoolTree::Or(cond(0), cond(1)));
        let tree = BoolTree::And(left, Box::new(BoolTree::Xor(cond(2), cond(3))));
        assert_eq!(tree.next_condition(), Some(c(0)));
        let rest = tree.assume(c(0), true);
        assert_eq!(rest, tree.assume(c(0), false).assume(c(1), true));
        assert_eq!(rest.next_condition(), Some(c(2)));
        assert_eq!(rest.assume(c(2), true).next_condition(), Some(c(3)));
        assert_eq!(rest.assume(c(2), true).assume(c(3), true), BoolTree::Const(false));
        assert_eq!(tree.assume(c(0), false).assume(c(1), false), BoolTree::Const(false));
        let both = BoolTree::BitAnd(cond(0), cond(1)).assume(c(0), false);
        assert_eq!(both.next_condition(), Some(c(1)));
        let constant = BoolTree::And(Box::new(BoolTree::Const(true)), cond(1));
        assert_eq!(constant.settled(), *cond(1));
    }

    #[test]
    fn a_choice_between_equal_values_does_not_need_its_test() {
        let ite = BoolTree::Ite(cond(0), cond(1), cond(2));
        let values = [Truth::Unknown, Truth::True, Truth::True];
        assert_eq!(ite.eval(&|c| values[c.index()]), Truth::True);
    }
}
