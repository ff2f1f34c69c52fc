//! The embedded solver, in layers: terms become circuits, circuits become clauses, and a SAT solver
//! decides these.
//!
//! - [`floats`] expands operators of floats into terms of bit-vectors.
//! - [`circuits`] makes gates of terms, with the adders and multipliers of [`arithmetic`].
//! - [`aig`] is the graph of the gates.
//! - [`sat`] has the SAT solvers, and [`solver`] puts the layers together.

mod aig;
mod arithmetic;
mod circuits;
mod floats;
mod sat;
mod solver;

pub use sat::SatBackend;
pub use solver::{BitBlastSolver, BlastStatistics, RebuildPolicy};
