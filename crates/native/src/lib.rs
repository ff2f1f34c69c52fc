//! Native measurement: the user's text is instrumented in place, compiled, and run in a small
//! process of its own, which records coverage in shared memory.
//!
//! [`rewrite()`] instruments, [`Build`] compiles, [`Runner`] runs, and [`Measurer`] does all of it
//! and says which labels each test covers. The crate sees no solver, and is the only one that runs
//! code of the user's. What a test does to the runner (crash, time-out, exit) is an [`Outcome`],
//! never an error. It runs confined ([`confine`]).

mod build;
pub mod cc;
pub mod confine;
mod elf;
mod flags;
mod harness;
mod measure;
mod outcome;
mod plan;
mod request;
mod rewrite;
mod runner;
mod shared;
mod toolchain;

pub use build::{Build, BuildError, BuildRequest, Companion, compile_flags, with_cells};
pub use confine::{Attempt, Confinement};
pub use flags::Optimization;
pub use flags::implicit_declarations;
pub use harness::UncallableReason;
pub use measure::{InstrumentedProgram, MeasureError, MeasureRequest, Measurer};
pub use outcome::{Crash, CrashClass, MeasuredRun, Outcome, Run, WideVector};
pub use plan::{
    BoundOf, BoundTable, Cell, CellMeaning, Column, Count, CountOf, DecisionCells, Plan,
    RedundantCell, SharedPlace, SharedUse, SharedVariables, ShortCell, ShortOf, UnmeasuredLabel,
    UnmeasuredSequence, WideDecision, add_redundant,
};
pub use request::{TestError, Wants};
pub use rewrite::checked::{CheckedGoal, GOAL_FUNCTION, checked_units};
pub use rewrite::{Purpose, RewriteRequest, RewrittenUnits, rewrite, rewrite_units};
pub use runner::{Haste, Limits, RunError, Runner};
pub use toolchain::Libraries;
