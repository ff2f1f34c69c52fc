//! Exploration of a function's paths with tight or direct instrumentation ([000] IV and V).
//!
//! Data structures:
//! - a [`State`](state::State) is one path prefix: frames, memory, the facts that inputs of the
//!   path satisfy, and a model, which is one input that takes the path. A state whose last fact its
//!   model does not satisfy is *pending*: it has a model again when the solver gave one, which is
//!   asked when a searcher picks the state;
//! - [`LabelTable`](labels::LabelTable) holds what is left to cover, by site; a covered label is
//!   deleted from it at once (iterative label deletion);
//! - [`DeferredLabels`](deferred::DeferredLabels) holds questions about labels that no input of a
//!   path covers together with what the path's input covers already;
//! - [`HyperTable`](hyper::HyperTable) holds the hyperlabels that are left, and what tests that were
//!   given and inputs that are known to exist say about them;
//! - a [`Searcher`](search::Searcher) decides which state goes on;
//! - a [`Tape`](tape::Tape) holds what a path was told by its model, by the solver and by what the
//!   exploration knew: [`compact`] makes a state again from it.
//!
//! At a branch the model decides one side without a query; the other side becomes a pending state.
//! Expressions are evaluated before anything changes, so that a statement whose address must be
//! decided first can be left and executed again after the path was split.

#![allow(clippy::vec_box, reason = "states are large and move between searchers, never in place")]

mod ahead;
mod aliasing;
mod areas;
mod behind;
mod calls;
mod clock;
mod compact;
mod cut_points;
mod decisive;
mod deferred;
mod endless;
mod entry;
mod env;
mod excluded;
mod explore;
mod graph;
mod guide;
mod hard;
mod hyper;
mod hyper_follow;
mod hyper_formula;
mod hyper_pairs;
mod hyper_rows;
mod hyper_sequences;
mod invariants;
mod jump;
mod labels;
mod lazy;
mod learning;
mod left_out;
mod libc;
mod memo;
mod merge;
mod narrow;
mod nicer;
mod outcome;
mod outgrown;
mod overwrites;
mod permitted;
mod places;
mod query;
mod rank;
mod reachable;
mod regions;
mod search;
mod sequences;
mod setup;
mod site_table;
mod sites;
mod stack;
mod state;
mod static_values;
mod step;
mod stretch;
mod tape;
mod together;
mod traps;
mod undetermined;
mod union;
mod watch;
mod within_reason;
mod workers;
mod world;
mod writes;

use lydian_ir::arith::Overflow;
use serde::{Deserialize, Serialize};

pub use entry::{ExploreError, Task};
pub use hyper::HyperRef;
pub use labels::LabelRef;
pub use outcome::{
    Ending, Event, FoundTest, LeftHyper, LeftLabel, Progress, Statistics, Summary, Unmet,
};
pub use search::Search;
pub use workers::Workers;

use crate::limits::Limits;

/// How labels take part in the exploration ([000] IV-A, V-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Labels are not looked at: all paths of the program P, as [000]'s witness DSE(P) takes them.
    /// What its tests cover is for whoever runs them to say; nothing is infeasible by it.
    Plain,
    /// Direct instrumentation P': each label is a branch on its predicate.
    Direct,
    /// Tight instrumentation P*: at each label one query whether some input of the path covers it,
    /// which does not constrain the path.
    #[default]
    Tight,
}

/// Iterative label deletion ([000] V-B): which labels are asked for no more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelDeletion {
    /// None: each is asked for on each path (P* alone).
    Off,
    /// Those for which an input was found (IDL-1).
    Solved,
    /// Those, and all that runs on inputs that were found cover (IDL-2).
    Run,
    /// As `Run`; and where an input covers a label and all that the path's own input covers, it takes
    /// that one's place and is no path of its own.
    #[default]
    Kept,
}

impl LabelDeletion {
    /// Whether a label that is covered is asked for no more.
    pub const fn deletes(self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// What conditions that short-circuit evaluation does not reach are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unreached {
    /// Their value on the state, where that cannot trap.
    #[default]
    Evaluated,
    /// Unknown.
    Unknown,
}

/// Paths that know a value make later questions simpler; many more of them than places in the program do
/// not.
const UNITE_AFTER: u32 = 16;

/// How to explore.
#[derive(Clone, Debug)]
pub struct Config {
    /// How labels take part.
    pub mode: Mode,
    /// In tight mode: when a label is deleted.
    pub label_deletion: LabelDeletion,
    /// In tight mode with label deletion: how many states are run before a label is asked for that
    /// needs an input of its own. Until then, or until no state is left, the program's own paths may
    /// cover it for nothing.
    pub label_patience: u32,
    /// Whether states are dropped that can meet no label that is left ([000]'s look-ahead), where
    /// labels are deleted.
    pub look_ahead: bool,
    /// Whether a decision that cannot trap forks once, not once a condition, and choices between
    /// values are terms.
    pub merge: bool,
    /// With `merge`, where labels are deleted: how often control comes to a loop or a call in which no label
    /// is left before its ways are united behind it; none if they never are.
    pub unite_after: Option<u32>,
    /// Which state goes on.
    pub search: Search,
    /// Seed of random choices.
    pub seed: u64,
    /// What it may cost.
    pub limits: Limits,
    /// What signed overflow does.
    pub overflow: Overflow,
    /// What conditions that are not reached are.
    pub unreached: Unreached,
    /// Whether to stop as soon as every label is covered.
    pub stop_when_covered: bool,
    /// Whether to look for inputs that make the program trap and keep a test for each place.
    pub crash_tests: bool,
    /// Whether to measure the time spent on terms, which takes time itself.
    pub measure_terms: bool,
    /// Whether to give inputs the values that a person would choose, where a path leaves a choice. In
    /// tight mode with label deletion.
    pub nice_values: bool,
    /// Whether to give a test for every path, also for those that cover nothing new.
    pub every_path: bool,
    /// Whether to note what paths do with the pointers of the inputs, for [`Summary::learned`].
    pub learns: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::Tight,
            label_deletion: LabelDeletion::default(),
            label_patience: 32,
            look_ahead: true,
            merge: true,
            unite_after: Some(UNITE_AFTER),
            search: Search::default(),
            seed: 0,
            limits: Limits::default(),
            overflow: Overflow::Wrap,
            unreached: Unreached::Evaluated,
            stop_when_covered: true,
            crash_tests: true,
            measure_terms: false,
            nice_values: false,
            every_path: false,
            learns: false,
        }
    }
}
