//! Short-circuit masking MC/DC by marking functions ([003] III B, C and IV A).
//!
//! An evaluation of a decision marks a condition that it reached, with its value, unless what was
//! evaluated afterwards masks it: `b` being false masks all of `a` in `a && b`, since the outcome
//! is false whatever `a` was. A condition that evaluation did not reach cannot mask anything: its
//! value is free. So a condition is marked exactly where some values of the conditions that were
//! not reached let it decide the outcome. Wherever the conditions are uncoupled this is what makes
//! a row of Table I of [003].
//!
//! # How this differs from the paper in form
//! - The paper keeps a buffer of marked conditions while a decision is evaluated. Here marking is a
//!   function of the finished evaluation, once as a predicate for each condition ([`marks`]) and
//!   once for all conditions in one pass ([`Marked::of`]); a test holds them against each other.
//! - Both sides of `&`, `|`, `==` and `^` are evaluated, so either may mask the other (of `&` and
//!   `|`) or none does. The test of `a ? b : c` is masked only where the arm that was not taken is
//!   constantly equal to what the other one gave.
//! - The outcome belongs to the mark. For `&&`, `||` and `!` it follows from the condition's value;
//!   below `==` and `^` it does not, and two marks show independence only if their outcomes differ.

use lydian_ir::{BoolTree, ConditionId, Truth};

use crate::event::{ConditionSet, DecisionVector, Event};
use crate::formula::outcome;
use crate::label::Pred;

/// For each condition, from left to right, where it is marked, whatever its value.
pub fn marks(tree: &BoolTree) -> Vec<(ConditionId, Pred)> {
    let mut found = Vec::new();
    descend(tree, Pred::Const(true), &mut |condition, mark| found.push((condition, mark)));
    found
}

/// `unmasked`: that nothing outside of `tree`, which is evaluated, masks it.
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

/// That `tree`, whose evaluation begins with its first condition if at all, had the value or still
/// could.
fn open(tree: &BoolTree, value: bool) -> Pred {
    if !can_be(tree, value) {
        return Pred::Const(false);
    }
    if !can_be(tree, !value) {
        return Pred::Const(true);
    }
    let had = crate::formula::signed(outcome(tree), value);
    match first_condition(tree) {
        Some(first) => Pred::or(Pred::not(Pred::Reached(first)), had),
        None => had,
    }
}

/// That `taken`, which was evaluated, has a value that `other`, which was not, can differ from.
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

/// What one evaluation marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marked {
    /// The conditions that it marks.
    pub conditions: ConditionSet,
    /// The outcome.
    pub outcome: bool,
}

impl Marked {
    /// The marks of an evaluation, whose values `vector` has for every condition that it reached.
    /// The value of a marked condition is that in the vector. Takes time linear in the tree but for
    /// what masking removes from the buffer.
    pub fn of(tree: &BoolTree, vector: &DecisionVector) -> Self {
        let mut buffer = Vec::new();
        let outcome = evaluate(tree, vector, &mut buffer);
        Self { conditions: buffer.into_iter().collect(), outcome }
    }
}

/// The value of a tree that is evaluated; adds to the buffer the conditions that it marks, and
/// removes those that it masks.
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
