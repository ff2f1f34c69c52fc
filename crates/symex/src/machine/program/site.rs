//! Places that control passes, and who looks at states there.

use lydian_base::entity_id;
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{ConditionId, DecisionId, MarkId};

entity_id!(
    /// Names what looks at states and is no part of the program, such as a label.
    ObserverId,
    "goal"
);

/// Where labels are looked at. Roots are looked at where they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SiteKey {
    Entry,
    Mark(MarkId),
    Edge(Edge),
    Decision(DecisionId),
    Condition(DecisionId, ConditionId),
    Point(Point),
}
