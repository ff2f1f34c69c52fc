//! Proofs of infeasibility.
//!
//! [`local`] proves labels whose predicate no state whatever satisfies, without looking at the
//! paths that lead to their site: equivalent mutants, impossible combinations of conditions. The
//! argument is complete, whatever an exploration could or could not do.
//!
//! This crate knows nothing of exploration.

pub mod local;

pub use local::{LocalOutcome, LocalProver, Semantics};
