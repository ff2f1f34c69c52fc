//! The concrete interpreter: runs a [`crate::test::Test`] on a [`crate::Program`], or a whole program from
//! its `main`, byte by byte.
//!
//! It is the oracle for the symbolic engine and for native runs, and it runs real programs, so it
//! is exact first and fast second. Values follow [`crate::program::arith`], the functions of
//! [`crate::libc::MODELLED`] are modelled, every other undefined function returns what the test
//! says, or zero.
//!
//! # How it runs
//! - A function is made into *linear code* when it is first called ([`compile`]): operations on
//!   64-bit slots, one for each register of the function and for each value on its way. A tree of
//!   expressions becomes a row of operations; addresses, constants and tests are part of the
//!   operation that uses them ([`code`]). What has no operation of its own (128 bits, odd widths) is
//!   computed by [`crate::program::arith`] itself.
//! - One loop runs the code ([`machine`]). A call's slots lie behind its caller's, its arguments where
//!   the caller computed them.
//! - Memory ([`memory`]) keeps a state beside every byte, and objects lie apart. So an access is
//!   checked, to the byte, by the states alone: no object is looked for.
//! - Steps are counted once for each run of statements, and counted back where one of them traps.
//! - Registers that are surely set before they are read need no flag; the others have one.
//! - Nothing is done for an observer that does not listen: events are operations that are made only
//!   for one that does.
//!
//! # What it decides where C leaves it open
//! - Using bytes or registers that were never written gives zero and sets a flag in the outcome, or
//!   ends the run ([`Options::uninitialised`]). Assigning, storing or copying them is no use: the
//!   place then counts as never written too ([`machine`]).
//! - Misaligned accesses are allowed, as on the processors at hand.
//! - What was freed, left or returned from is no longer there; its addresses are given out again
//!   only much later, and until then a use of it is told from other faults.
//! - Addresses below [`memory::NULL_PAGE`] are null dereferences.
//! - Functions of one machine signature may be called through each other's pointers.
//! - A copy of overlapping places copies as if through a buffer.
//!
//! # Observers
//! An [`Observer`] hears of every place that labels can stand at, together with a [`View`] of the
//! state there, on which it may evaluate expressions. A decision's event is fired when its outcome
//! is known: conditions that were not reached have their value on the state at that moment if they
//! are pure, else none.

mod code;
mod code_cache;
mod compile;
mod host;
mod host_call;
mod layout;
mod library;
mod machine;
pub mod memory;
mod observe;
mod options;
mod outcome;
mod plan;
mod prepared;
mod slots;
mod start;
mod whole;

pub use host::{Files, Output};
pub use library::math::math_function;
pub use memory::Memory;
pub use observe::{DecisionEvent, Observer, Silent, View};
pub use options::{Options, UninitialisedUse};
pub use outcome::{BadTest, End, Location, Outcome, UnknownCause};
pub use plan::{Plan, Value};
pub use prepared::{Interpreter, run};
pub use whole::{ProgramOutcome, ProgramRun, run_program};

#[cfg(test)]
mod tests;
