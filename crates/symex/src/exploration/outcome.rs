//! What an exploration returns and reports: tests and progress while it runs, a summary at its end.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lydian_base::Span;
use lydian_inputs::Start;
use lydian_inputs::learned::PointerObservations;
use lydian_ir::test::Test;
use lydian_objective::Assumption;

use crate::exploration::trace_event::TracedEvent;
use crate::goals::left::{LeftHyper, LeftLabel};
use crate::goals::refs::HyperRef;
use crate::goals::refs::LabelRef;
use crate::limits::Cut;
use crate::machine::ending::{CallEnd, Ending};
use crate::machine::reports::statistics::Statistics;

/// A test, with the claims about a run of it.
#[derive(Clone, Debug)]
pub struct FoundTest {
    /// The inputs.
    pub test: Test,
    /// Labels that the test should cover and that no test before it covers, in the order in which
    /// the run meets them.
    pub covers: Vec<LabelRef>,
    /// Hyperlabels that the test should cover, alone or together with the tests before it, and that
    /// those do not cover.
    pub completes: Vec<HyperRef>,
    /// Transformed conditions that the test was made to satisfy at one occurrence, each with the
    /// number of the turn; where each occurrence is augmented
    /// ([`Augmentation::each_occurrence`](crate::Augmentation)).
    pub transformed: Vec<(LabelRef, u32)>,
    /// The number of facts of its path.
    pub facts: usize,
    /// How the run should end.
    pub ending: Ending,
    /// The first use of the address of one of the program's own objects as a number, as a place of
    /// the text. A run of a test with such a use need not do what is claimed.
    pub placed: Option<Span>,
}

/// A statement of the user that no input meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// The preconditions of the function.
    Preconditions {
        /// The C expressions.
        texts: Vec<String>,
        /// Whether larger inputs than those considered might meet them.
        is_bounded: bool,
    },
    /// An invariant of a type, which no object of the type meets.
    Invariant {
        /// The type, as the settings name it.
        name: String,
        /// The C expression.
        text: String,
    },
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preconditions { texts, is_bounded } => {
                let of_size = if *is_bounded { " of the sizes that are considered" } else { "" };
                let several = if texts.len() > 1 { "s" } else { "" };
                let quoted: Vec<String> = texts.iter().map(|text| format!("`{text}`")).collect();
                write!(f, "no input{of_size} meets the precondition{several} {}", quoted.join(", "))
            }
            Self::Invariant { name, text } => write!(f, "no {name} meets the invariant `{text}`"),
        }
    }
}

/// Counters of a running exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Finished paths.
    pub paths: u64,
    /// Waiting states.
    pub states: usize,
    /// Labels and hyperlabels that are left.
    pub labels_left: usize,
    /// Solver queries.
    pub queries: u64,
}

/// An event of a running exploration.
#[derive(Debug)]
pub enum Event {
    /// A test was found.
    Test(Box<FoundTest>),
    /// A path was finished.
    Progress(Progress),
    /// Something happened to a state. Only with [`Config::traces`](crate::Config::traces).
    Trace(TracedEvent),
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The number of paths with each ending.
    pub paths: BTreeMap<Ending, u64>,
    /// In tight mode: paths that end at a label, one for each input that was made for labels alone
    /// ([000] V-A). With [`LabelDeletion::Kept`](crate::LabelDeletion::Kept), an input that covers
    /// a label and everything that the path's own input covers replaces that input and is not
    /// counted here.
    pub label_paths: u64,
    /// Labels that a test covers, in the order in which they were covered.
    pub covered: Vec<LabelRef>,
    /// The others, in the order of the objectives.
    pub left: Vec<LeftLabel>,
    /// Hyperlabels that tests cover, together with the tests known before, in the order in which
    /// they were covered.
    pub covered_hypers: Vec<HyperRef>,
    /// The other hyperlabels, in the order of the objectives.
    pub left_hypers: Vec<LeftHyper>,
    /// Everything that was left out, with its count. The reasons of labels say which labels a cut
    /// concerns.
    pub cuts: BTreeMap<Cut, u64>,
    /// Whether every behaviour within the assumptions was explored.
    pub complete: bool,
    /// Whether the runs of some path differ on some input, also if no test could be made of it. Only with
    /// [`Config::second_run`](crate::Config::second_run).
    pub runs_differ: bool,
    /// The user's statements about the sizes of inputs, and other such bounds with the reason why
    /// they exclude nothing; one sentence each.
    pub preconditions: Vec<String>,
    /// What paths did with the pointers of the inputs. Only with
    /// [`Config::learns`](crate::Config::learns).
    pub learned: PointerObservations,
    /// The user's statements that no input meets.
    pub unmet: Vec<Unmet>,
    /// Assumptions about inputs and the program's environment that nobody stated.
    pub assumptions: Vec<Assumption>,
    /// Bounds that the user did not state and that, so far as is known, make a difference to the
    /// program's paths. The labels left are infeasible only under these, and under their own
    /// assumptions.
    pub bounds: Vec<Assumption>,
    /// The arguments that, where not null, point to the first element of an object. Each has
    /// whether the program may read or write before it, as far as was noticed.
    pub starts: Vec<(Start, bool)>,
    /// The calls of the function under test within which paths ended, other than by a cut.
    pub ends: BTreeSet<CallEnd>,
    /// Time and work spent.
    pub statistics: Statistics,
}

impl Summary {
    /// The number of finished paths, without those at labels.
    pub fn path_count(&self) -> u64 {
        self.paths.values().sum()
    }
}
