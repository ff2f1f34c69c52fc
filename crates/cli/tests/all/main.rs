//! The command `lydian`, run as users run it.
//!
//! Each folder has one subject; `common` has the temporary folder in which a test runs the command.

mod common;
mod failures;
mod generation;
mod inputs;
mod mutation;
mod reports;
mod suites;
mod verdicts;
mod versions;
mod wrapper;
