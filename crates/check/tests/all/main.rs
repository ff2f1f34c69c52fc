//! Tests of the check of certificates.

mod common;
mod formulas;
mod meaning;
mod objectives;
mod recursion;
mod refusals;
mod solvers;
mod tampering;
