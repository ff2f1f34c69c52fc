//! Tests of the crate.

mod common;
mod made_mutants;
mod schemata;
mod shown_results;
