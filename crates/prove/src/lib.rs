//! Proofs of infeasibility.
//!
//! [`local`] proves labels whose predicate no state whatever satisfies, without looking at the
//! paths that lead to their site: equivalent mutants, impossible combinations of conditions. The
//! argument is complete, whatever an exploration could or could not do.
//!
//! [`ranges`] says which values registers can have at a place, whoever calls the function, and so
//! makes fewer states possible there.
//!
//! [`call_graph`] says which functions a whole program never calls.
//!
//! This crate knows nothing of exploration.

pub mod call_graph;
pub mod local;
pub mod ranges;
mod samples;

pub use local::{LocalOutcome, LocalProver, Semantics};
pub use ranges::Ranges;
