//! Merging: fewer paths for the same behaviour.
//!
//! - [`decisions`]: a decision without an effect forks once, whatever its conditions are.
//! - [`if_conversion`]: code that only computes does not fork at all.
//! - [`merge_scopes`] and [`state_merging`]: the states of the ways through loops and calls without
//!   a goal are merged behind them.
//! - [`cycles`]: a path that is a cycle ends.
//! - [`visited`]: a path that goes on as another does ends.

pub(crate) mod analyses;
pub(crate) mod control;
pub(crate) mod cycles;
pub(crate) mod decisions;
pub(crate) mod hot_variables;
pub(crate) mod if_conversion;
pub(crate) mod merge_scopes;
pub(crate) mod regions;
pub(crate) mod state_merging;
pub(crate) mod visited;

use lydian_ir::{BlockId, FuncId};
use rustc_hash::FxHashMap;

use analyses::Analyses;
use merge_scopes::MergeScopes;
use visited::VisitedStates;

/// The knowledge about ways that are followed as one.
#[derive(Default)]
pub(crate) struct Merging {
    pub(crate) analyses: Analyses,
    /// How often choices between values were met.
    pub(crate) choices: FxHashMap<(FuncId, BlockId), u32>,
    /// The merge scopes, and the states inside them.
    pub(crate) scopes: MergeScopes,
    /// The states that paths had.
    pub(crate) visited: VisitedStates,
}
