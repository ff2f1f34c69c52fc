//! Measurement on anybody's build: what `lydian cc` and `lydian report` rest on.
//!
//! # How counters get out of a program
//! Each instrumented unit has its cells in section `lydian_cells`, behind a header with the unit's
//! id ([`text`]). Two small objects of Lydian's own stand first and last on the link line
//! ([`runtime`]), so that the cells of all units lie between them, on pages of their own. Before
//! `main` the first maps a file of the [`Store`] over these pages. From then on every store to a
//! cell is in the file: a crash, `_exit`, `kill -9`, `fork` and `exec` lose nothing, and processes
//! that share a file add up, since stores only ever write ones. Counters (`--counts`) lie there as
//! well; of processes that share a file, and of threads unless the counters are atomic, two that
//! add at once may count as one.
//!
//! # What holds
//! - An instrumented object needs nothing of Lydian's at link time. Linked without the run-time,
//!   the program works and is not counted.
//! - What the cells mean is in the unit's [`Notes`], whose hash is the unit's id. They are in the
//!   store and in the object, in a section that is not loaded; the link step copies what the store
//!   lacks. So compiler caches, copies and moves of objects lose nothing.
//! - The front end is no business of this crate: who calls makes the instrumented text and the
//!   notes.

mod arguments;
mod cells;
mod dependencies;
mod images;
mod notes;
mod runtime;
mod store;
mod text;

pub use arguments::{Action, CommandLine, Input, InputKind, UnreadableCommand};
pub use cells::{DamagedCells, UnitCells, read_cells};
pub use dependencies::dependency_arguments;
pub use images::Image;
pub use notes::{
    BadNotes, ForeignTable, NotedBound, NotedCondition, NotedDecision, NotedDefinition, NotedFile,
    NotedFlow, NotedFunction, NotedLabels, NotedOutcome, NotedPlan, NotedSequence, NotedShared,
    NotedSwitch, NotedTable, NotedUnmeasured, NotedUse, NotedVariable, NotedWay, NotedWritten,
    Notes, UnitId,
};
pub use runtime::{LinkObjects, Runtime};
pub use store::{Store, StoreError, TestRuns, UnitRecord, UnitState};
pub use text::{Stores, UnitTables, UnitText, tables_of, unit_text};
