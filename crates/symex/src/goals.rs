//! The goals: the objectives that are left to cover, and the decision about each where control
//! passes.
//!
//! - [`LabelTable`](labels::LabelTable) holds what is left to cover, by site. A covered label is
//!   deleted from it at once (iterative label deletion).
//! - [`DeferredLabels`](deferred::DeferredLabels) holds questions about labels that no input of a
//!   path covers together with everything that the path's input already covers.
//! - [`occurrences`] are conditions of paths that augmentation may transform.
//! - [`HyperTable`](hyper::HyperTable) holds the hyperlabels that are left, with the coverage records of
//!   given tests and of inputs that are known to exist.
//!
//! Goals look at states of a [`Machine`](crate::machine::Machine), which knows nothing of them. The
//! exploration follows the inputs that they find, in [`Goals::runs`].

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
pub(crate) mod occurrences;
pub(crate) mod predicate_cache;
pub(crate) mod predicates;
pub(crate) mod reads;
pub(crate) mod refs;
pub(crate) mod shared;
pub(crate) mod site_table;

use lydian_ir::Program;
use lydian_objective::{CoverageRecord, FunctionObjectives};

use crate::State;
use crate::config::Augmentation;
use cache_keys::PredicateCache;
use core_cache::CoreCache;
use deferred::DeferredLabels;
use hyper::HyperTable;
use hyper_rows::DeferredRows;
use labels::LabelTable;
use occurrences::AugmentationGoals;
use shared::SharedQuestions;

/// The objectives that are left to cover.
pub(crate) struct Goals<'e> {
    pub(crate) labels: LabelTable<'e>,
    pub(crate) hypers: HyperTable<'e>,
    pub(crate) label_paths: u64,
    /// States that only follow their models. They are run before anything else.
    pub(crate) runs: Vec<Box<State>>,
    /// What several workers share about hyperlabels.
    pub(crate) shared: SharedQuestions,
    /// Labels with a question that waits.
    pub(crate) deferred: DeferredLabels,
    /// Occurrences that are to be transformed.
    pub(crate) augmentation: AugmentationGoals,
    /// Decisions with rows that are to be asked for.
    pub(crate) deferred_rows: DeferredRows,
    /// Results of evaluating predicates.
    pub(crate) cache: PredicateCache,
    /// The sets of facts that exclude labels.
    pub(crate) cores: CoreCache,
}

impl<'e> Goals<'e> {
    /// The goals for all objectives of some functions. `known` has the coverage record of existing tests
    /// for each of the functions, or is empty.
    pub(crate) fn new(
        program: &Program,
        objectives: &'e [FunctionObjectives],
        known: &'e [CoverageRecord],
        augmentation: Option<Augmentation>,
    ) -> Self {
        let mut labels = LabelTable::new(program, objectives, augmentation);
        let hypers = HyperTable::new(program, objectives, known, &mut labels);
        Self {
            labels,
            hypers,
            label_paths: 0,
            runs: Vec::new(),
            deferred: DeferredLabels::default(),
            augmentation: AugmentationGoals::new(augmentation),
            deferred_rows: DeferredRows::default(),
            cache: PredicateCache::default(),
            cores: CoreCache::default(),
            shared: SharedQuestions::default(),
        }
    }
}
