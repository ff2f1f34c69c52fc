//! The objectives of a function: its labels and hyperlabels, and how each criterion counts them.

use indexmap::IndexMap;
use lydian_base::Arena;
use lydian_ir::{ExprArena, FuncId};

use crate::criterion::Criterion;
use crate::hyper::{HyperEntry, HyperId, Hyperlabel, Sequence, SequenceId};
use crate::label::{Label, LabelEntry, LabelId};

/// The objectives of one function.
#[derive(Clone, Debug)]
pub struct FunctionObjectives {
    /// The function.
    pub function: FuncId,
    /// The body's expressions and after them those of the predicates. Ids of the body's own
    /// expressions mean the same in both.
    pub exprs: ExprArena,
    /// Each label once, even if several criteria ask for it.
    pub labels: Arena<LabelId, Label>,
    /// The labels of each criterion, in the criterion's own order.
    pub criteria: IndexMap<Criterion, Vec<LabelEntry>>,
    /// The sequences that hyperlabels are made of.
    pub sequences: Arena<SequenceId, Sequence>,
    /// Each hyperlabel once, even if several criteria ask for it.
    pub hypers: Arena<HyperId, Hyperlabel>,
    /// The hyperlabels of each criterion that labels alone cannot express, in its own order. A
    /// criterion is here or in `criteria`.
    pub hyper_criteria: IndexMap<Criterion, Vec<HyperEntry>>,
}

impl FunctionObjectives {
    /// None yet, of a function with these expressions.
    pub fn none(function: FuncId, exprs: ExprArena) -> Self {
        Self {
            function,
            exprs,
            labels: Arena::new(),
            criteria: IndexMap::new(),
            sequences: Arena::new(),
            hypers: Arena::new(),
            hyper_criteria: IndexMap::new(),
        }
    }
}
