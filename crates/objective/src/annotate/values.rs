//! Criteria of values: operands of comparisons, mutants, parameters and run-time errors.

pub mod boundary;
pub mod domain;
mod initialised;
pub mod mutation;
pub mod runtime;
mod types;
