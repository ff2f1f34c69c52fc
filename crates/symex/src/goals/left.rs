//! The objectives that are left at the end, with the reasons.

use lydian_objective::Assumption;

use crate::goals::refs::HyperRef;
use crate::goals::refs::LabelRef;
use crate::limits::Cut;

/// A label that no test covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftLabel {
    /// The label.
    pub label: LabelRef,
    /// The reasons why it is undecided. Without a reason, the exploration shows that it is
    /// infeasible.
    pub reasons: Vec<Cut>,
    /// Bounds that make a difference only to its predicate, in addition to those of the whole
    /// exploration.
    pub bounds: Vec<Assumption>,
}

/// A hyperlabel that no tests cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftHyper {
    /// The hyperlabel.
    pub hyper: HyperRef,
    /// The reasons why it is undecided. Without a reason, the exploration shows that it is
    /// infeasible.
    pub reasons: Vec<Cut>,
    /// Bounds that make a difference only to predicates of its labels, in addition to those of the
    /// whole exploration.
    pub bounds: Vec<Assumption>,
}
