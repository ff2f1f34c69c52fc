//! What is left at the end, and why.

use lydian_objective::Assumption;

use crate::goals::refs::HyperRef;
use crate::goals::refs::LabelRef;
use crate::limits::Cut;

/// A label that no test covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftLabel {
    /// The label.
    pub label: LabelRef,
    /// What stood in the way of it: with nothing, the exploration shows that it is infeasible.
    pub reasons: Vec<Cut>,
    /// Bounds that make a difference to its predicate alone, besides those of the whole exploration.
    pub bounds: Vec<Assumption>,
}

/// A hyperlabel that no tests cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftHyper {
    /// The hyperlabel.
    pub hyper: HyperRef,
    /// What stood in the way of it: with nothing, the exploration shows that it is infeasible.
    pub reasons: Vec<Cut>,
    /// Bounds that make a difference to predicates of some labels, besides those of the whole
    /// exploration.
    pub bounds: Vec<Assumption>,
}
