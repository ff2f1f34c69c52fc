//! Tests of the check of certificates.

mod formulas;
mod meaning;
mod refusals;
mod solvers;
