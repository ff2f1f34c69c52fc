//! Tests of the check of certificates.

mod formulas;
mod meaning;
mod solvers;
