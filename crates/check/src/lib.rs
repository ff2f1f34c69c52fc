//! Certificates of proofs, and their check by code that shares nothing with the prover.
//!
//! A [`Certificate`] says that no run of a program comes to a statement, or covers some objectives, and
//! why: invariants at points that every run without end passes, and the last part of the argument.
//! [`check`] makes verification conditions of it (Hoare, *An Axiomatic Basis for Computer Programming*,
//! 1969; cut points after Floyd, *Assigning Meanings to Programs*, 1967), and gives them to an external
//! solver as SMT-LIB, but for some that it decides by itself. It has its own meaning of the IR, its own
//! memory and its own analysis of pointers. From the prover it takes nothing but the document.
//!
//! Where the check does not follow the program exactly it has more runs. So a certificate that is right
//! may fail, and one that is wrong does not stand.

mod checking;
mod conditions;
pub mod document;
mod evaluation;
mod execution;
mod fault;
pub mod formula;
mod library;
mod machine;
pub mod meaning;
mod memory;
mod monitor;
mod objects;
mod pointers;
mod recursion;
mod solver;
mod state;
pub mod terms;
mod unfolding;

pub use checking::{Outcome, Report, check};
pub use document::{Certificate, Document, DocumentError};
pub use formula::Formula;
pub use solver::{Answer, Session, Solver, SolverError};
