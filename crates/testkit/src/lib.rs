//! What tests of several crates share: a generator of C programs and the golden-test runner.
//!
//! For development only; nothing that users run depends on it.

pub mod cgen;
pub mod golden;
