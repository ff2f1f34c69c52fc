//! Masking in short-circuit MC/DC ([003] III B, C and IV A).
//!
//! A condition that an evaluation of a decision reached is *masked* if a part that was evaluated
//! after it makes its value irrelevant: if `b` is false in `a && b`, the outcome is false for every
//! `a`, so `b` masks all of `a`. A part that evaluation did not reach masks nothing, since its value
//! is free. So a condition is unmasked exactly if some values of the conditions that were not reached
//! let it decide the outcome.
//!
//! If no two conditions depend on each other, the unmasked conditions are those of a row of Table I
//! of [003].
//!
//! # How this differs from the paper in form
//! - The paper marks conditions in a buffer while a decision is evaluated. Here masking is a function of
//!   the finished evaluation: as a predicate for each condition ([`unmasked_conditions`]), and for all
//!   conditions in one pass ([`MaskedEvaluation::of`]). A test compares the two.
//! - Both sides of `&`, `|`, `==` and `^` are evaluated. So either side of `&` and `|` may mask the other,
//!   and neither side of `==` and `^` does. The test of `a ? b : c` is masked only if the arm that was not
//!   taken always has the value that the other arm gave.
//! - The outcome is kept with the unmasked conditions. For `&&`, `||` and `!` it follows from the
//!   condition's value. Below `==` and `^` it does not, and two evaluations show independence only if
//!   their outcomes differ.

use lydian_ir::{BoolTree, ConditionId, Truth};

use super::vector::{ConditionSet, DecisionVector};
use crate::decision::predicates::{outcome, signed};
use crate::event::Event;
use crate::label::Pred;

/// For each condition, from left to right, the predicate that is true where evaluation reached it and
/// nothing masks it.
pub fn unmasked_conditions(tree: &BoolTree) -> Vec<(ConditionId, Pred)> {
    let mut found = Vec::new();
    descend(tree, Pred::Const(true), &mut |condition, unmasked| found.push((condition, unmasked)));
    found
}

/// Calls `found` with the conditions of a part of the tree. `unmasked` is true where nothing outside of the
/// part masks it.
fn descend(tree: &BoolTree, unmasked: Pred, found: &mut impl FnMut(ConditionId, Pred)) {
    let with = |more: Pred| Pred::and(unmasked.clone(), more);
    match tree {
        BoolTree::Const(_) => {}
        BoolTree::Cond(condition) => {
            found(*condition, Pred::and(Pred::Reached(*condition), unmasked));
        }
        BoolTree::Not(a) => descend(a, unmasked, found),
        BoolTree::And(a, b) => {
            descend(a, with(open(b, true)), found);
            descend(b, unmasked, found);
        }
        BoolTree::Or(a, b) => {
            descend(a, with(open(b, false)), found);
            descend(b, unmasked, found);
        }
        BoolTree::BitAnd(a, b) => {
            descend(a, with(outcome(b)), found);
            descend(b, with(outcome(a)), found);
        }
        BoolTree::BitOr(a, b) => {
            descend(a, with(Pred::not(outcome(b))), found);
            descend(b, with(Pred::not(outcome(a))), found);
        }
        BoolTree::Eq(a, b) | BoolTree::Xor(a, b) => {
            descend(a, unmasked.clone(), found);
            descend(b, unmasked, found);
        }
        BoolTree::Ite(test, a, b) => {
            let taken = outcome(test);
            let first = Pred::and(taken.clone(), differs(a, b));
            let second = Pred::and(Pred::not(taken), differs(b, a));
            descend(test, with(Pred::or(first, second)), found);
            descend(a, unmasked.clone(), found);
            descend(b, unmasked, found);
        }
    }
}

/// The predicate that a part had a value, or was not reached and can have it. The part is reached if its
/// first condition is.
fn open(tree: &BoolTree, value: bool) -> Pred {
    if !can_be(tree, value) {
        return Pred::Const(false);
    }
    if !can_be(tree, !value) {
        return Pred::Const(true);
    }
    let had = signed(outcome(tree), value);
    match first_condition(tree) {
        Some(first) => Pred::or(Pred::not(Pred::Reached(first)), had),
        None => had,
    }
}

/// The predicate that the value of `taken`, which was evaluated, is not the only one that `other`, which was
/// not evaluated, can have.
fn differs(taken: &BoolTree, other: &BoolTree) -> Pred {
    match (can_be(other, true), can_be(other, false)) {
        (true, true) => Pred::Const(true),
        (true, false) => Pred::not(outcome(taken)),
        _ => outcome(taken),
    }
}

/// Whether some values of its conditions give the tree this value. Each condition occurs once, so
/// the parts are independent.
fn can_be(tree: &BoolTree, value: bool) -> bool {
    let both = |a: &BoolTree, b: &BoolTree, value: bool| can_be(a, value) && can_be(b, value);
    let one = |a: &BoolTree, b: &BoolTree, value: bool| can_be(a, value) || can_be(b, value);
    let equal = |a: &BoolTree, b: &BoolTree| both(a, b, true) || both(a, b, false);
    let unequal = |a: &BoolTree, b: &BoolTree| {
        can_be(a, true) && can_be(b, false) || can_be(a, false) && can_be(b, true)
    };
    match tree {
        BoolTree::Const(constant) => *constant == value,
        BoolTree::Cond(_) => true,
        BoolTree::Not(a) => can_be(a, !value),
        BoolTree::And(a, b) | BoolTree::BitAnd(a, b) if value => both(a, b, true),
        BoolTree::And(a, b) | BoolTree::BitAnd(a, b) => one(a, b, false),
        BoolTree::Or(a, b) | BoolTree::BitOr(a, b) if value => one(a, b, true),
        BoolTree::Or(a, b) | BoolTree::BitOr(a, b) => both(a, b, false),
        BoolTree::Eq(a, b) => {
            if value {
                equal(a, b)
            } else {
                unequal(a, b)
            }
        }
        BoolTree::Xor(a, b) => {
            if value {
                unequal(a, b)
            } else {
                equal(a, b)
            }
        }
        BoolTree::Ite(test, a, b) => {
            can_be(test, true) && can_be(a, value) || can_be(test, false) && can_be(b, value)
        }
    }
}

/// The condition with which evaluation of the tree begins.
fn first_condition(tree: &BoolTree) -> Option<ConditionId> {
    tree.settled().next_condition()
}

/// The conditions that one evaluation leaves unmasked, and its outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MaskedEvaluation {
    /// The conditions that are reached and not masked.
    pub unmasked: ConditionSet,
    /// The outcome.
    pub outcome: bool,
}

impl MaskedEvaluation {
    /// Applies masking to an evaluation, whose vector has the value of every condition that it reached.
    /// Takes time linear in the tree, and in the conditions that are masked.
    pub fn of(tree: &BoolTree, vector: &DecisionVector) -> Self {
        let mut buffer = Vec::new();
        let outcome = evaluate(tree, vector, &mut buffer);
        Self { unmasked: buffer.into_iter().collect(), outcome }
    }
}

/// The value of a part that is evaluated. Adds the conditions that it reaches to the buffer, and removes
/// those that it masks.
fn evaluate(tree: &BoolTree, vector: &DecisionVector, buffer: &mut Vec<ConditionId>) -> bool {
    let start = buffer.len();
    match tree {
        BoolTree::Const(value) => *value,
        BoolTree::Cond(condition) => {
            buffer.push(*condition);
            vector.condition(*condition) == Truth::True
        }
        BoolTree::Not(a) => !evaluate(a, vector, buffer),
        BoolTree::And(a, b) | BoolTree::Or(a, b) => {
            let goes_on = matches!(tree, BoolTree::And(..));
            if evaluate(a, vector, buffer) != goes_on {
                if !can_be(b, goes_on) {
                    buffer.truncate(start);
                }
                return !goes_on;
            }
            let middle = buffer.len();
            let value = evaluate(b, vector, buffer);
            if value != goes_on {
                buffer.drain(start..middle);
            }
            value
        }
        BoolTree::BitAnd(a, b) | BoolTree::BitOr(a, b) => {
            let neutral = matches!(tree, BoolTree::BitAnd(..));
            let first = evaluate(a, vector, buffer);
            let middle = buffer.len();
            let second = evaluate(b, vector, buffer);
            if first != neutral {
                buffer.truncate(middle);
            }
            if second != neutral {
                buffer.drain(start..middle);
            }
            if neutral { first && second } else { first || second }
        }
        BoolTree::Eq(a, b) => evaluate(a, vector, buffer) == evaluate(b, vector, buffer),
        BoolTree::Xor(a, b) => evaluate(a, vector, buffer) != evaluate(b, vector, buffer),
        BoolTree::Ite(test, a, b) => {
            let (taken, other) = if evaluate(test, vector, buffer) { (a, b) } else { (b, a) };
            let middle = buffer.len();
            let value = evaluate(taken, vector, buffer);
            if !can_be(other, !value) {
                buffer.drain(start..middle);
            }
            value
        }
    }
}
