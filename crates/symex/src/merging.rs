//! Merging: fewer paths for the same behaviour.
//!
//! - [`decisions`]: a decision that has no effect forks once, whatever its conditions are;
//! - [`if_conversion`]: what only computes does not fork at all;
//! - [`merge_scopes`] and [`state_merging`]: the ways through loops and calls in which nothing is looked for
//!   become one again behind them;
//! - [`cycles`]: a path that goes round in circles is at its end.

pub(crate) mod analyses;
pub(crate) mod control;
pub(crate) mod cycles;
pub(crate) mod decisions;
pub(crate) mod hot_variables;
pub(crate) mod if_conversion;
pub(crate) mod merge_scopes;
pub(crate) mod regions;
pub(crate) mod state_merging;

use lydian_ir::{BlockId, FuncId};
use rustc_hash::FxHashMap;

use analyses::Analyses;
use merge_scopes::MergeScopes;

/// What is known of the ways that are followed as one.
#[derive(Default)]
pub(crate) struct Merging {
    pub(crate) analyses: Analyses,
    /// How often choices between values were met.
    pub(crate) choices: FxHashMap<(FuncId, BlockId), u32>,
    /// What is gone through aside.
    pub(crate) scopes: MergeScopes,
}
