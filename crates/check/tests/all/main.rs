//! Tests of the check of certificates.

mod common;
mod formulas;
mod meaning;
mod objectives;
mod objectives_on_runs;
mod recursion;
mod refusals;
mod solvers;
mod tampering;
