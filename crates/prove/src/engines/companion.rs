//! Another party that works on the same goals.

use std::fmt::Debug;
use std::time::Duration;

use crate::system::GoalId;

/// Another party that decides goals of a system while the engines do ([001] 7.3, study 3).
pub trait Companion: Debug + Send + Sync {
    /// Whether it has decided a goal, so that the engines need not.
    fn has_decided(&self, goal: GoalId) -> bool;

    /// Lets it work before a round of the engines, each of which has shares of this time. It returns at
    /// once if the other party has a thread of its own.
    fn take_turn(&self, share: Duration);

    /// Is told that the engines have decided a goal.
    fn note_decided(&self, _goal: GoalId) {}
}
