//! Symbolic exploration: from a function, what its inputs are and what is to be covered, to tests.
//!
//! [`Task`] is the way in. It starts from symbolic [inputs](lydian_inputs) in a byte-exact
//! [`memory`], follows every path that [`limits`] allow, and gives a test for each label that it
//! covers ([000]: dynamic symbolic execution with tight instrumentation and iterative label
//! deletion). What it gives is a claim; only a native run is evidence. An exploration that nothing
//! cut short is a complete argument that the labels left are infeasible under its
//! assumptions, unless some of them are bounds that the user did not state and that make a
//! difference ([`lydian_inputs::bounds`]).

pub mod exec;
pub mod limits;
pub mod memory;

pub use exec::{
    Config, Ending, Event, ExploreError, FoundTest, HyperRef, LabelDeletion, LabelRef, LeftHyper,
    LeftLabel, Mode, Search, Summary, Task, Unmet, Workers,
};
pub use limits::{Cut, Limits, add_reason};
pub use lydian_eval::Undetermined;
