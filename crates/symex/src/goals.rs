//! The goals: what is left to cover, and how it is decided where control passes.
//!
//! - [`LabelTable`](labels::LabelTable) holds what is left to cover, by site; a covered label is deleted
//!   from it at once (iterative label deletion);
//! - [`DeferredLabels`](deferred::DeferredLabels) holds questions about labels that no input of a path
//!   covers together with what the path's input covers already;
//! - [`HyperTable`](hyper::HyperTable) holds the hyperlabels that are left, and what tests that were given
//!   and inputs that are known to exist say about them.
//!
//! Goals look at states of a [`Machine`](crate::machine::Machine), which knows nothing of them. Inputs that
//! they find are left to be followed in [`Goals::runs`].

pub(crate) mod cache_keys;
pub(crate) mod core_cache;
pub(crate) mod deferred;
pub(crate) mod hyper;
pub(crate) mod hyper_follow;
pub(crate) mod hyper_formula;
pub(crate) mod hyper_pairs;
pub(crate) mod hyper_rows;
pub(crate) mod hyper_sequences;
pub(crate) mod label_questions;
pub(crate) mod labels;
pub(crate) mod left;
pub(crate) mod observed;
pub(crate) mod predicate_cache;
pub(crate) mod predicates;
pub(crate) mod reads;
pub(crate) mod refs;
pub(crate) mod shared;
pub(crate) mod site_table;

use lydian_ir::Program;
use lydian_objective::{CoverageRecord, FunctionObjectives};

use crate::State;
use cache_keys::PredicateCache;
use core_cache::CoreCache;
use deferred::DeferredLabels;
use hyper::HyperTable;
use hyper_rows::DeferredRows;
use labels::LabelTable;
use shared::SharedQuestions;

/// What is left to cover.
pub(crate) struct Goals<'e> {
    pub(crate) labels: LabelTable<'e>,
    pub(crate) hypers: HyperTable<'e>,
    pub(crate) label_paths: u64,
    /// States that only follow their models, to be run before anything else.
    pub(crate) runs: Vec<Box<State>>,
    /// What several workers share of hyperlabels.
    pub(crate) shared: SharedQuestions,
    /// Labels whose question waits.
    pub(crate) deferred: DeferredLabels,
    /// Decisions whose rows are to be asked for.
    pub(crate) deferred_rows: DeferredRows,
    /// Values of predicates' expressions.
    pub(crate) cache: PredicateCache,
    /// Why labels hold on no input of some paths.
    pub(crate) cores: CoreCache,
}

impl<'e> Goals<'e> {
    /// All objectives of some functions. `known` says what tests that there are give for each of them, or
    /// nothing.
    pub(crate) fn new(
        program: &Program,
        objectives: &'e [FunctionObjectives],
        known: &'e [CoverageRecord],
    ) -> Self {
        let mut labels = LabelTable::new(program, objectives);
        let hypers = HyperTable::new(program, objectives, known, &mut labels);
        Self {
            labels,
            hypers,
            label_paths: 0,
            runs: Vec::new(),
            deferred: DeferredLabels::default(),
            deferred_rows: DeferredRows::default(),
            cache: PredicateCache::default(),
            cores: CoreCache::default(),
            shared: SharedQuestions::default(),
        }
    }
}
