//! How to explore.

use lydian_ir::arith::Overflow;
use serde::{Deserialize, Serialize};

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
const MERGE_STATES_AFTER: u32 = 16;

macro_rules! search_orders {
    ($($(#[$attribute:meta])* $order:ident,)+) => {
        /// The order of exploration. Each is deterministic; the random ones follow from their seed.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Search {
            $($(#[$attribute])* $order,)+
        }

        impl Search {
            /// All orders.
            pub const ALL: [Self; [$(Self::$order),+].len()] = [$(Self::$order),+];
        }
    };
}

search_orders! {
    /// The newest state first.
    DepthFirst,
    /// The oldest state first.
    BreadthFirst,
    /// Any state.
    RandomState,
    /// The state at the end of a random walk through the tree of paths: a part of the tree in which
    /// few paths are left is as likely as one with many.
    RandomPath,
    /// In turn the state that is nearest to a label that is left, in edges of the control-flow graph,
    /// and any state (RSS-MD2U of [001] 7.2).
    Md2u,
    /// The state that is nearest to a label that no path reached, the one nearest to any label that is
    /// left, one at the end of a random walk, any, and the newest. Half of the work is done by taking
    /// these in turn, and half by giving each a share of it, so that dear states of one order take
    /// nothing from the others: that goes through loops that must turn often.
    #[default]
    Mixed,
    /// For one objective at a time the state that is nearest to it, in instructions; for a sequence
    /// first to its first label, then to the next (SDGS of [001] 7.2).
    Sdgs,
    /// For one objective at a time the state that passed the most of what all paths to it pass, and
    /// of these one that is near to the next such point or met new instructions lately (CPGS of [001]
    /// 4.2).
    Cpgs,
}

/// What a search that goes to one objective at a time chooses states by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// How near they are.
    Distance,
    /// How many cut points they passed, and how near they are to the next.
    CutPoints,
}

impl Search {
    /// By what it chooses if it goes to one objective at a time.
    pub(crate) const fn guidance(self) -> Option<Guidance> {
        match self {
            Self::Sdgs => Some(Guidance::Distance),
            Self::Cpgs => Some(Guidance::CutPoints),
            Self::DepthFirst
            | Self::BreadthFirst
            | Self::RandomState
            | Self::RandomPath
            | Self::Md2u
            | Self::Mixed => None,
        }
    }
}

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
    pub merge_states_after: Option<u32>,
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
    /// Whether to tell of each fork, merge, end and question ([`Event::Trace`](crate::Event::Trace)); then
    /// there is one worker.
    pub traces: bool,
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
            merge_states_after: Some(MERGE_STATES_AFTER),
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
            traces: false,
            learns: false,
        }
    }
}
