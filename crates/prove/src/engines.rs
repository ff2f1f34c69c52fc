//! Engines that decide whether the goals of a [`System`](crate::System) can be reached.
//!
//! [`decide`] asks all engines in turn, each for a slice of time, and gives a [`Verdict`] for each goal:
//! a [`Trace`] that leads to it, a [`Certificate`] that nothing does, or the reason for which neither
//! was found. No verdict rests on an engine's word: a trace is replayed by the evaluator before it is
//! given, and a certificate can be checked by queries of its own.
//!
//! - `slicing` makes a smaller system for the goals, and maps results back.
//! - `unrolling` follows all runs at once, one transition after the other.
//! - `sampling` follows single runs with chosen values, and collects states.
//! - `acceleration` follows many turns of a loop at once.
//! - `invariants` guesses formulas from these states, and keeps those that every transition preserves.
//! - `flags` finds the flags of sequences that may be set at each point, for all goals at once.
//! - `values` finds the combinations of values of variables that have few.
//! - `cells` finds formulas about all elements of arrays.
//! - `induction` proves goals by these formulas and by the transitions before the goal.
//! - `refinement` finds formulas over predicates backwards from the goals.
//! - `minimisation` keeps the invariants that a proof needs.
//! - `algebra` decides equations between polynomials, which are hard for a solver.
//! - `schedule` shares the time among them, and with a `companion` beside them.
//! - `recursion` finds contracts of recursive functions, with which the others decide goals.

mod acceleration;
mod algebra;
mod cells;
mod certificate;
mod companion;
mod flags;
mod induction;
mod invariants;
mod minimisation;
mod queries;
mod recursion;
mod refinement;
mod sampling;
mod schedule;
mod slicing;
mod stage;
#[cfg(test)]
mod testing;
mod trace;
mod unrolling;
mod values;

pub use certificate::{Argument, Certificate, Flaw, Parameters};
pub use companion::{Companion, FoundRun};
pub use recursion::contracts::{Contracts, Recursive};
pub use recursion::{Decided, decide_recursive};
pub use schedule::{Decision, Schedule, Verdict, decide};
pub use trace::{Choice, Step, Trace};
