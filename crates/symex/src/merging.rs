//! Merging: fewer paths for the same behaviour.

pub(crate) mod control;
pub(crate) mod cycles;
pub(crate) mod decisions;
pub(crate) mod hot_variables;
pub(crate) mod if_conversion;
pub(crate) mod merge_scopes;
pub(crate) mod regions;
pub(crate) mod state_merging;
