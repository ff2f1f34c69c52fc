//! The exploration drives the other parts. It owns the first state, the budget, the workers and the
//! results.

pub(crate) mod activation;
pub(crate) mod asking;
pub(crate) mod blocks;
pub(crate) mod entry;
pub(crate) mod eviction;
pub(crate) mod explore;
pub(crate) mod flow;
pub(crate) mod invariants;
pub(crate) mod outcome;
pub(crate) mod outgrown;
pub(crate) mod readable_inputs;
pub(crate) mod replay;
pub(crate) mod scopes;
pub(crate) mod stepping;
pub(crate) mod stopping;
pub(crate) mod task;
pub(crate) mod trace;
pub(crate) mod trace_event;
pub(crate) mod within_reason;
pub(crate) mod workers;
