//! The options of an exploration.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use lydian_ir::arith::Overflow;
use lydian_ir::{FuncId, GlobalId};
use serde::{Deserialize, Serialize};

use crate::limits::Limits;

/// How labels take part in the exploration ([000] IV-A, V-A).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Labels are not looked at: all paths of the program P, as [000]'s witness DSE(P) takes them.
    /// The caller finds out what the tests cover. Nothing is infeasible by such an exploration.
    Plain,
    /// Direct instrumentation P': each label is a branch on its predicate.
    Direct,
    /// Tight instrumentation P*: each label is one query whether some input of the path covers it.
    /// The query does not constrain the path.
    #[default]
    Tight,
}

/// Iterative label deletion ([000] V-B): which labels are no longer asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelDeletion {
    /// None: each label is asked for on each path (P* alone).
    Off,
    /// Labels for which an input was found (IDL-1).
    Solved,
    /// Those of `Solved`, and all labels that runs on the inputs found cover (IDL-2).
    Run,
    /// As `Run`. In addition, an input that covers a label and everything that the path's own input
    /// covers replaces the path's own input, and does not become a path of its own.
    #[default]
    Kept,
}

impl LabelDeletion {
    /// Whether a covered label is no longer asked for.
    pub const fn deletes(self) -> bool {
        !matches!(self, Self::Off)
    }
}

/// How much of a path a transformed condition keeps ([004] 3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AugmentationKind {
    /// The conditions before it (Definition 5).
    #[default]
    Weak,
    /// All conditions of the path (Definition 4).
    Strict,
}

/// The augmentation of path conditions ([004] 3): conditions on the paths that cover objectives are
/// transformed, and tests are made that satisfy them. The transformed conditions are the labels of
/// the criteria of augmentation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Augmentation {
    /// What of the path is kept.
    pub kind: AugmentationKind,
    /// Whether each occurrence of a condition on a path is transformed, and not only as many as it
    /// takes to satisfy each transformed condition once. No ways are merged then
    /// ([`Config::merge`]).
    pub each_occurrence: bool,
}

/// The value of a condition that short-circuit evaluation does not reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unreached {
    /// Its value on the state, where its evaluation cannot trap.
    #[default]
    Evaluated,
    /// Unknown.
    Unknown,
}

/// The usual value of [`Config::merge_states_after`]. A few paths that each know a concrete value make
/// later questions simpler; many more paths than places of the program do not.
const MERGE_STATES_AFTER: u32 = 16;

/// The usual value of [`Config::choice_forks`]. A few paths that each know a value make all later
/// questions simpler; many more paths than places of the program do not.
const CHOICE_FORKS: u32 = 4;

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
    /// The newest state.
    DepthFirst,
    /// The oldest state.
    BreadthFirst,
    /// A random state.
    RandomState,
    /// The state at the end of a random walk through the tree of paths. A subtree in which few
    /// states are left is as likely as one with many.
    RandomPath,
    /// By turns, the state nearest to a label that is left, in edges of the control-flow graph, and
    /// a random state (RSS-MD2U of [001] 7.2).
    Md2u,
    /// Five orders: the state nearest to a label that no path reached, the state nearest to any
    /// label that is left, a random walk, a random state, and the newest state. Half of the work is
    /// shared out by taking the orders in turn. The other half gives each order the same amount of
    /// work, so that expensive states of one order take nothing from the others; this half gets
    /// through loops that need many iterations.
    #[default]
    Mixed,
    /// For one objective at a time, the state nearest to it, in instructions. For a sequence, first
    /// the state nearest to its first label, then to the next (SDGS of [001] 7.2).
    Sdgs,
    /// For one objective at a time, the state that passed the most cut points of the objective. Of
    /// several, one near to the next cut point or one that met new instructions lately (CPGS of
    /// [001] 4.2).
    Cpgs,
}

/// The measure by which a directed search chooses states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// The distance of a state to the objective.
    Distance,
    /// The number of cut points that a state passed, and its distance to the next one.
    CutPoints,
}

impl Search {
    /// The measure of a search order that goes to one objective at a time; `None` for other orders.
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

/// A call that an exploration makes whenever it looks at its clock. It may wait there for others that
/// share its thread's time.
#[derive(Clone)]
pub struct Pause(Arc<dyn Fn() + Send + Sync>);

impl Pause {
    /// Calls a function.
    pub fn new(wait: impl Fn() + Send + Sync + 'static) -> Self {
        Self(Arc::new(wait))
    }

    pub(crate) fn wait(&self) {
        (self.0)();
    }
}

impl fmt::Debug for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pause").finish_non_exhaustive()
    }
}

/// The options of an exploration.
#[derive(Clone, Debug)]
pub struct Config {
    /// How labels take part in the exploration.
    pub mode: Mode,
    /// In tight mode with label deletion [`LabelDeletion::Kept`]: whether labels of criteria of
    /// augmentation are asked for only on paths that cover something else. The search takes no notice
    /// of them then, and an exploration decides nothing about those that it leaves.
    pub augmentation: Option<Augmentation>,
    /// In tight mode: when a label is deleted.
    pub label_deletion: LabelDeletion,
    /// In tight mode with label deletion: how many states are run before a label that needs an
    /// input of its own is asked for. Until then, or until no state is left, the program's own
    /// paths may cover it without a question.
    pub label_patience: u32,
    /// Whether states that can meet no label that is left are dropped ([000]'s look-ahead). It has
    /// an effect only where labels are deleted.
    pub look_ahead: bool,
    /// Whether a decision that cannot trap forks once, instead of once for each condition, and
    /// choices between values become terms.
    pub merge: bool,
    /// With `merge`: how often a choice between values at one place forks before it becomes a term.
    /// States of paths that each know their values are more often the same.
    pub choice_forks: u32,
    /// With `merge`, where labels are deleted: how often control may come to a loop or call without
    /// a label that is left before its states are merged behind it. `None` merges no such states.
    pub merge_states_after: Option<u32>,
    /// With `merge`, where labels are deleted: whether ways are merged from the first time on that control
    /// comes to them. Choices between values do not fork first then, nor do loops and calls without a
    /// label that is left, and the ways of branches without one are merged where they meet. For
    /// explorations that ask for a few of many labels: nothing is to be found in most of their code.
    pub merge_silent_code: bool,
    /// Which state goes on next.
    pub search: Search,
    /// The seed of random choices.
    pub seed: u64,
    /// Limits of time, memory and work.
    pub limits: Limits,
    /// The meaning of signed overflow.
    pub overflow: Overflow,
    /// The values of conditions that are not reached.
    pub unreached: Unreached,
    /// Whether to stop as soon as every label is covered.
    pub stop_when_covered: bool,
    /// Whether to look for inputs that make the program trap, and to keep a test for each place of
    /// a trap.
    pub crash_tests: bool,
    /// Whether only runs that return or exit count. A trap ends a path as an assumption does that does
    /// not hold: labels that its input was to cover are asked for again. Such an exploration decides
    /// nothing about the labels that it leaves.
    pub good_ends: bool,
    /// Whether allocations of memory always succeed.
    pub allocation_succeeds: bool,
    /// Whether a path ends that goes on as another path does. Only for labels whose predicates are
    /// constants: evaluations of decisions are not compared.
    pub matches_states: bool,
    /// Whether to measure the time spent on terms. The measurement itself takes time.
    pub measure_terms: bool,
    /// Whether inputs get readable values where a path leaves a choice. It has an effect only in
    /// tight mode with label deletion.
    pub nice_values: bool,
    /// Whether every path gives a test, even one that covers nothing new.
    pub every_path: bool,
    /// Whether each fork, merge, end and question is reported
    /// ([`Event::Trace`](crate::Event::Trace)). A traced exploration has one worker.
    pub traces: bool,
    /// Whether to record what paths do with the pointers of the inputs, for [`Summary::learned`].
    pub learns: bool,
    /// Where the exploration may wait for others.
    pub pause: Option<Pause>,
    /// A second run on each path, with which the first is compared.
    pub second_run: Option<SecondRun>,
    /// The handlers of interrupts that may run before volatile reads.
    pub interrupts: Interrupts,
}

/// The handlers of interrupts that may run before volatile reads of a path. A path is explored without
/// and with each of them there.
#[derive(Clone, Debug, Default)]
pub struct Interrupts {
    /// The handlers.
    pub handlers: Vec<InterruptHandler>,
    /// How often handlers run on a path at most.
    pub most: u32,
}

/// A handler of interrupts.
#[derive(Clone, Debug)]
pub struct InterruptHandler {
    /// The function, without parameters and result.
    pub function: FuncId,
    /// The variables that it writes. It runs before volatile reads of these, and of devices.
    pub writes: BTreeSet<GlobalId>,
}

/// A second run from the inputs of each path. A path gives a test where the two runs may end differently:
/// in the result, the memory, the number of calls of undefined functions, or how they end. Labels are not
/// looked at.
///
/// Such an exploration compares two programs. Where it is complete without a test, the runs do the same on
/// all inputs on which the first has defined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondRun {
    /// The function under test again, with another value of a variable: of one that chooses a mutant.
    Variable {
        /// The variable, a number, which is 0 in the first run and no input.
        variable: GlobalId,
        /// Its value in the second run.
        value: u64,
    },
    /// Another function with the same parameters and result: another version of the first.
    Function(FuncId),
}

impl SecondRun {
    /// The variable that tells the runs apart, if one does.
    pub(crate) const fn variable(self) -> Option<GlobalId> {
        match self {
            Self::Variable { variable, .. } => Some(variable),
            Self::Function(_) => None,
        }
    }

    /// The function of the second run, if it is another one.
    pub(crate) const fn function(self) -> Option<FuncId> {
        match self {
            Self::Function(function) => Some(function),
            Self::Variable { .. } => None,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            mode: Mode::Tight,
            augmentation: None,
            label_deletion: LabelDeletion::default(),
            label_patience: 32,
            look_ahead: true,
            merge: true,
            choice_forks: CHOICE_FORKS,
            merge_states_after: Some(MERGE_STATES_AFTER),
            merge_silent_code: false,
            search: Search::default(),
            seed: 0,
            limits: Limits::default(),
            overflow: Overflow::Wrap,
            unreached: Unreached::Evaluated,
            stop_when_covered: true,
            crash_tests: true,
            good_ends: false,
            allocation_succeeds: false,
            matches_states: false,
            measure_terms: false,
            nice_values: false,
            every_path: false,
            traces: false,
            learns: false,
            pause: None,
            second_run: None,
            interrupts: Interrupts::default(),
        }
    }
}
