//! Sites that control passes, and the observers of states there.

use lydian_base::entity_id;
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, ConditionId, DecisionId, FuncId, MarkId};

entity_id!(
    /// The number of an observer of states that is no part of the program, such as a label.
    ObserverId,
    "goal"
);

/// A point of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ProgramPoint {
    pub(crate) func: FuncId,
    pub(crate) block: BlockId,
    /// The position of the next statement in the block; the terminator comes after the last.
    pub(crate) index: usize,
}

/// A place at which labels are looked at. Roots are looked at where they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SiteKey {
    Entry,
    Mark(MarkId),
    Edge(Edge),
    Decision(DecisionId),
    Condition(DecisionId, ConditionId),
    Point(Point),
}
