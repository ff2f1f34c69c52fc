//! Another party that works on the same goals.

use std::fmt::Debug;
use std::time::Duration;

use lydian_smt::TermPool;

use crate::engines::trace::Trace;
use crate::system::GoalId;

/// A run to a goal.
#[derive(Clone, Copy, Debug)]
pub struct FoundRun<'r> {
    /// The goal.
    pub goal: GoalId,
    /// The run.
    pub trace: &'r Trace,
    /// The engine that found it.
    pub engine: &'static str,
}

/// Another party that decides goals of a system while the engines do ([001] 7.3, study 3).
pub trait Companion: Debug + Send + Sync {
    /// Whether it has decided a goal, so that the engines need not.
    fn has_decided(&self, goal: GoalId) -> bool;

    /// Lets it work before a round of the engines, each of which has shares of this time. It returns at
    /// once if the other party has a thread of its own.
    fn take_turn(&self, share: Duration);

    /// Is given a run that an engine found. Says whether the goal counts as reached by it; else the engines
    /// look for others.
    fn take_run(&self, _pool: &TermPool, _run: FoundRun<'_>) -> bool {
        true
    }

    /// Is told that the engines have decided a goal.
    fn note_decided(&self, _goal: GoalId) {}
}
