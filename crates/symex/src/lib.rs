//! Symbolic exploration: finds tests for the objectives of a function whose inputs are specified.
//!
//! [`Task`] is the entry point. An exploration starts from symbolic [inputs](lydian_inputs) in a
//! byte-exact [`memory`], follows every path that [`limits`] allow, and returns a test for each
//! label that it covers ([000]: dynamic symbolic execution with tight instrumentation and iterative
//! label deletion). A returned test is a claim; only a native run is evidence. An exploration that
//! nothing cut short is a complete argument that the labels left are infeasible under its
//! assumptions. The exception is an assumption that is a bound which the user did not state and
//! which makes a difference ([`lydian_inputs::bounds`]).

#![allow(clippy::vec_box, reason = "states are large and move between searchers, never in place")]

mod config;
mod exploration;
mod goals;
pub mod limits;
mod machine;
mod merging;
mod notes;
mod search;

/// A state with the notes of all parts.
type State = machine::state::State<notes::AllNotes>;
/// The machine that runs states with the notes of all parts.
type Machine<'p, 'e> = machine::Machine<'p, 'e, notes::AllNotes>;
/// A view of a state in which expressions are evaluated, with the notes of all parts.
type StateView<'a, 'p> = machine::scope::StateView<'a, 'p, notes::AllNotes>;

pub use config::{
    Augmentation, AugmentationKind, Config, InterruptHandler, Interrupts, LabelDeletion, Mode,
    Pause, Search, SecondRun, Unreached,
};
pub use exploration::outcome::{Event, FoundTest, Progress, Summary, Unmet};
pub use exploration::task::Task;
pub use exploration::trace_event::{TraceEvent, TracedAnswer, TracedEvent};
pub use exploration::workers::Workers;
pub use goals::left::{LeftHyper, LeftLabel};
pub use goals::refs::{HyperRef, LabelRef};
pub use limits::{Cut, Limits, add_reason};
pub use lydian_eval::Undetermined;
pub use machine::ending::{CallEnd, Ending};
pub use machine::memory;
pub use machine::reports::statistics::Statistics;
pub use machine::setup::ExploreError;
