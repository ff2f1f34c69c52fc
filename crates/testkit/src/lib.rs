//! Shared parts of the tests of several crates: a generator of C programs, oracles for their behaviour
//! and coverage, and the golden-test runner.
//!
//! For development only; nothing that users run depends on it.

pub mod agreement;
pub mod cgen;
pub mod cprogram;
pub mod csmith;
pub mod enumeration;
pub mod execution;
pub mod fuzz;
pub mod golden;
pub mod hyperlabels;
pub mod oracle;
pub mod outside;
pub mod pointers;
pub mod predicates;
pub mod proving;
pub mod structure;
pub mod survey;
pub mod tools;
pub mod versions;
