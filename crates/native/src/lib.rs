//! Native measurement: the user's text is instrumented in place, compiled, and run in a small
//! process of its own, whose shared memory says what was covered.
//!
//! [`Build`] compiles, [`Runner`] runs. The crate sees no solver, and is the only one that runs
//! code of the user's. What a test does to the runner (crash, time-out, exit) is an [`Outcome`],
//! never an error.

mod build;
mod elf;
mod flags;
mod harness;
mod outcome;
mod plan;
mod request;
mod runner;
mod shared;

pub use build::{Build, BuildError, BuildRequest};
pub use flags::Optimization;
pub use harness::Uncallable;
pub use outcome::{Crash, CrashClass, Measured, Outcome, Run, WideVector};
pub use plan::{Cell, CellMeaning, DecisionCells, Plan, Unwatched, WideDecision};
pub use request::{DamagedReply, TestError, Wants};
pub use runner::{Limits, RunError, Runner};
