//! What an exploration tells its caller, while it runs and at its end.

use std::collections::BTreeMap;
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
use crate::machine::ending::Ending;
use crate::machine::reports::statistics::Statistics;

/// A test and what running it should show.
#[derive(Clone, Debug)]
pub struct FoundTest {
    /// The inputs.
    pub test: Test,
    /// Labels that no test before it covers and that it should, in the order in which the run
    /// meets them.
    pub covers: Vec<LabelRef>,
    /// Hyperlabels that it should cover, alone or together with the tests before it, and that those
    /// do not cover.
    pub completes: Vec<HyperRef>,
    /// How the run should end.
    pub ending: Ending,
    /// Where in the text it first uses where an object of the program's own lies: then a run need not do
    /// what it should.
    pub placed: Option<Span>,
}

/// What the user stated that no input meets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unmet {
    /// The preconditions of the function.
    Preconditions {
        /// The C expressions.
        texts: Vec<String>,
        /// Whether larger inputs than those that are considered might meet them.
        is_bounded: bool,
    },
    /// An invariant of a type, which nothing of the type meets.
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
    /// States that wait.
    pub states: usize,
    /// Labels and hyperlabels left.
    pub labels_left: usize,
    /// Solver queries.
    pub queries: u64,
}

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// A test was found.
    Test(Box<FoundTest>),
    /// A path was finished.
    Progress(Progress),
    /// Something happened to a state, where that was asked for.
    Trace(TracedEvent),
}

/// The result of an exploration.
#[derive(Clone, Debug)]
pub struct Summary {
    /// How many paths ended how.
    pub paths: BTreeMap<Ending, u64>,
    /// In tight mode: paths that end at a label, one for each input that was made for labels alone
    /// ([000] V-A). With label deletion, an input that covers a label and all that the path's own
    /// input covers takes its place and is no path of its own.
    pub label_paths: u64,
    /// Labels that a test covers, in the order in which they were covered.
    pub covered: Vec<LabelRef>,
    /// The others, in the order of the objectives.
    pub left: Vec<LeftLabel>,
    /// Hyperlabels that tests cover, together with those that were known, in the order in which they
    /// were covered.
    pub covered_hypers: Vec<HyperRef>,
    /// The other hyperlabels, in the order of the objectives.
    pub left_hypers: Vec<LeftHyper>,
    /// Everything that was left out, and how often. Which labels that concerns, their reasons say.
    pub cuts: BTreeMap<Cut, u64>,
    /// Whether every behaviour within the assumptions was explored.
    pub complete: bool,
    /// What the user stated about how large inputs are, and other such bounds with why they leave out
    /// nothing, one sentence each.
    pub preconditions: Vec<String>,
    /// What paths did with the pointers of the inputs, where that was asked for.
    pub learned: PointerObservations,
    /// What the user stated that no input meets.
    pub unmet: Vec<Unmet>,
    /// What was assumed about inputs and the program's surroundings, and nobody stated.
    pub assumptions: Vec<Assumption>,
    /// Bounds that the user did not state and that make a difference to the program's paths, so far as
    /// is known. What is left is infeasible only under these, and under its own.
    pub bounds: Vec<Assumption>,
    /// The arguments that point to the first element of an object where they are not null, each with
    /// whether the program may read or write before it, as far as was noticed.
    pub starts: Vec<(Start, bool)>,
    /// What it cost.
    pub statistics: Statistics,
}

impl Summary {
    /// How many paths were finished, those at labels not counted.
    pub fn path_count(&self) -> u64 {
        self.paths.values().sum()
    }
}
