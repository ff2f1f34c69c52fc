//! Proofs that objectives are infeasible, and verdicts that follow from others.

mod certified;
mod conditional_proofs;
mod engine_runs;
pub(crate) mod implied_verdicts;
mod infeasible_vectors;
mod local;
mod reachability;
