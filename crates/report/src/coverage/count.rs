//! Execution counts.

use lydian_ir::{BoolTree, ConditionId};
use serde::{Deserialize, Serialize};

/// The number of times that something ran; `None` if that was not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExecutionCount(pub Option<u64>);

impl ExecutionCount {
    /// Whether nothing was counted.
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Adds the count of another part.
    pub fn add(&mut self, other: Self) {
        if let Some(more) = other.0 {
            self.0 = Some(self.0.unwrap_or(0).saturating_add(more));
        }
    }

    /// The larger of two.
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// The count for formats that require a number: 1 or 0 if nothing was counted. Anything that was
    /// seen ran at least once.
    pub fn or_once(self, seen: bool) -> u64 {
        match seen {
            true => self.0.unwrap_or(1).max(1),
            false => 0,
        }
    }
}

/// Whether nothing was counted.
pub(super) fn are_none(counts: &[ExecutionCount; 2]) -> bool {
    counts.iter().all(ExecutionCount::is_none)
}

/// The value of a tree whose evaluation ends with a condition of a certain value; `None` if
/// evaluation goes on, or the value depends on other conditions.
pub(super) fn end(tree: &BoolTree, condition: ConditionId, value: bool) -> Option<bool> {
    let of = |tree: &BoolTree| end(tree, condition, value);
    match tree {
        BoolTree::Cond(own) => (*own == condition).then_some(value),
        BoolTree::Not(a) => of(a).map(|outcome| !outcome),
        BoolTree::And(a, b) => of(a).filter(|outcome| !outcome).or_else(|| of(b)),
        BoolTree::Or(a, b) => of(a).filter(|outcome| *outcome).or_else(|| of(b)),
        BoolTree::Ite(c, a, b) => match of(c) {
            Some(value) => match if value { &**a } else { &**b } {
                BoolTree::Const(value) => Some(*value),
                _ => None,
            },
            None => of(a).or_else(|| of(b)),
        },
        BoolTree::Const(_)
        | BoolTree::BitAnd(..)
        | BoolTree::BitOr(..)
        | BoolTree::Eq(..)
        | BoolTree::Xor(..) => None,
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId as _;

    use super::super::{ConditionCoverage, DecisionCoverage, Position};
    use super::*;

    fn condition(counts: [u64; 2]) -> ConditionCoverage {
        ConditionCoverage {
            start: Position::default(),
            text: "c".into(),
            pure: true,
            counts: counts.map(|count| ExecutionCount(Some(count))),
        }
    }

    #[test]
    fn outcomes_are_counted_where_evaluation_ends() {
        let leaf = |index| Box::new(BoolTree::Cond(ConditionId::from_index(index)));
        // (a && b) || !c: 10 evaluations, a is true in 6, b in 2 of these, c in 3 of the other 8.
        let both = Box::new(BoolTree::And(leaf(0), leaf(1)));
        let decision = DecisionCoverage {
            start: Position::default(),
            text: String::new(),
            from_macro: false,
            conditions: vec![condition([4, 6]), condition([4, 2]), condition([5, 3])],
            tree: BoolTree::Or(both, Box::new(BoolTree::Not(leaf(2)))),
            rows: Vec::new(),
            outcomes: [true; 2],
            recorded: false,
            short_circuit: false,
        };
        assert_eq!(decision.outcome_counts(), [ExecutionCount(Some(3)), ExecutionCount(Some(7))]);
    }

    #[test]
    fn outcomes_are_not_counted_where_both_sides_are_evaluated() {
        let leaf = |index| Box::new(BoolTree::Cond(ConditionId::from_index(index)));
        let decision = DecisionCoverage {
            start: Position::default(),
            text: String::new(),
            from_macro: false,
            conditions: vec![condition([4, 6]), condition([4, 6]), condition([3, 5])],
            tree: BoolTree::And(Box::new(BoolTree::Eq(leaf(0), leaf(1))), leaf(2)),
            rows: Vec::new(),
            outcomes: [true; 2],
            recorded: false,
            short_circuit: false,
        };
        assert_eq!(decision.outcome_counts(), [ExecutionCount::default(); 2]);
    }

    #[test]
    fn a_test_whose_arm_is_a_constant_ends_the_evaluation() {
        let leaf = |index| Box::new(BoolTree::Cond(ConditionId::from_index(index)));
        let tree = BoolTree::Ite(leaf(0), Box::new(BoolTree::Const(true)), leaf(2));
        let ends = |index, value| end(&tree, ConditionId::from_index(index), value);
        assert_eq!([ends(0, true), ends(0, false)], [Some(true), None]);
        assert_eq!([ends(2, true), ends(2, false), ends(1, true)], [Some(true), Some(false), None]);
    }

    #[test]
    fn what_was_seen_ran_once_at_least_and_what_was_not_never() {
        assert_eq!([None, Some(0), Some(9)].map(|n| ExecutionCount(n).or_once(true)), [1, 1, 9]);
        assert_eq!([None, Some(9)].map(|n| ExecutionCount(n).or_once(false)), [0, 0]);
    }
}
