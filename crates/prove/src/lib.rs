//! Proofs of infeasibility.
//!
//! [`local`] proves labels whose predicate no state satisfies, without regard to the paths that lead
//! to their site: equivalent mutants, impossible combinations of conditions. The argument is
//! complete, whatever an exploration could do.
//!
//! [`ranges`] computes the values that registers can have at a place, whoever calls the function. It
//! makes fewer states possible there.
//!
//! [`call_graph`] finds the functions that a whole program never calls.
//!
//! [`encode`] makes a program a transition system.
//!
//! [`system`] has programs as transition systems over terms, for proofs that follow control flow.
//!
//! [`engines`] decides whether goals of such a system can be reached.
//!
//! [`readable`] shows formulas of proofs as C programmers write them.
//!
//! This crate knows nothing of exploration.

pub mod call_graph;
pub mod encode;
pub mod engines;
pub mod local;
pub mod ranges;
pub mod readable;
mod samples;
pub mod system;

pub use local::{LocalOutcome, LocalProver, Semantics};
pub use ranges::Ranges;
pub use system::System;
