//! The request for an encoding.

use std::collections::BTreeSet;

use lydian_ir::{FuncId, Program};
use lydian_objective::hyper::SequenceId;
use lydian_objective::{FunctionObjectives, LabelId};
use lydian_smt::Limits;

use crate::local::Semantics;

/// A program, where its runs begin, and the goals.
#[derive(Clone, Copy, Debug)]
pub struct EncodeRequest<'a> {
    /// The program. It must have passed `lydian_ir::verify`.
    pub program: &'a Program,
    /// The function where runs begin: that of a whole program, or a function under test.
    pub entry: FuncId,
    /// Whether runs begin with the program. Then globals have their initial values. Else they have
    /// any.
    pub whole: bool,
    /// The goals.
    pub goals: Goals<'a>,
    /// The meaning of signed overflow and of conditions that are not reached.
    pub semantics: Semantics,
    /// The meaning of what C leaves open.
    pub rules: Rules,
    /// The limits.
    pub limits: EncodeLimits,
    /// When to give up, if ever: the end and the interrupt of these limits.
    pub time: Option<&'a Limits>,
}

impl EncodeRequest<'_> {
    /// Fails where the time is over.
    pub(crate) fn check_time(&self) -> Result<(), EncodeError> {
        match self.time.is_some_and(Limits::expired) {
            true => Err(EncodeError::OutOfTime),
            false => Ok(()),
        }
    }
}

/// The places that the goals are made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goals<'a> {
    /// Whether each call of an error function is a goal: `reach_error`, `__VERIFIER_error`, a failed
    /// `assert`.
    pub errors: bool,
    /// The labels of these functions, each of which is a goal, in every activation of its function.
    pub labels: &'a [FunctionObjectives],
    /// The sequences of these functions, each of which is a goal. If there are both, they are of the same
    /// functions. Labels of other functions that a sequence names count as covered at any time.
    pub sequences: &'a [FunctionObjectives],
    /// The labels and sequences among these that are goals; all if there is no choice.
    pub choice: Option<&'a GoalChoice>,
}

/// A choice of labels and sequences.
#[derive(Clone, Debug, Default)]
pub struct GoalChoice {
    /// The labels that are goals.
    pub labels: BTreeSet<(FuncId, LabelId)>,
    /// The sequences that are goals.
    pub sequences: BTreeSet<(FuncId, SequenceId)>,
}

impl<'a> Goals<'a> {
    /// The functions with labels or sequences that are goals.
    pub(crate) const fn objectives(&self) -> &'a [FunctionObjectives] {
        if self.labels.is_empty() { self.sequences } else { self.labels }
    }

    /// The objectives of a function, if some are goals.
    pub(crate) fn of(&self, function: FuncId) -> Option<&'a FunctionObjectives> {
        self.objectives().iter().find(|objectives| objectives.function == function)
    }

    /// Whether a label is a goal, if labels are.
    pub(crate) fn has_label(&self, label: (FuncId, LabelId)) -> bool {
        self.choice.is_none_or(|choice| choice.labels.contains(&label))
    }

    /// Whether a sequence is a goal, if sequences are.
    pub(crate) fn has_sequence(&self, sequence: (FuncId, SequenceId)) -> bool {
        self.choice.is_none_or(|choice| choice.sequences.contains(&sequence))
    }
}

/// The meaning of a read of what was never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UninitialisedRead {
    /// It gives any value.
    #[default]
    AnyValue,
    /// It ends the path. The encoding lets it give any value, which has more runs.
    EndsPath,
}

/// The meaning of what C leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The meaning of a read of what was never written.
    pub uninitialised: UninitialisedRead,
    /// Whether allocations of memory always succeed.
    pub allocation_succeeds: bool,
}

/// The limits of an encoding.
#[derive(Clone, Copy, Debug)]
pub struct EncodeLimits {
    /// How many blocks of inlined functions there may be. A call that needs more is opaque.
    pub blocks: usize,
    /// How many functions a call through a pointer may choose from. With more it is opaque.
    pub choices: usize,
    /// How many scalars or elements a copy of memory may have one by one.
    pub pieces: usize,
    /// Whether memory that is no object of the program is followed, byte by byte. Else each read of it
    /// gives any value, which makes smaller terms.
    pub outside: bool,
}

impl Default for EncodeLimits {
    fn default() -> Self {
        Self { blocks: 20_000, choices: 16, pieces: 256, outside: true }
    }
}

/// Why a program has no encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The function has no body.
    NoBody(String),
    /// The program does something that the encoding does not have, and that would add behaviours
    /// anywhere: threads, signals, jumps between functions.
    Unsupported(String),
    /// The time was over, or the run was told to stop.
    OutOfTime,
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBody(name) => write!(f, "{name} has no body"),
            Self::Unsupported(what) => write!(f, "{what} is not supported"),
            Self::OutOfTime => f.write_str("out of time"),
        }
    }
}

impl std::error::Error for EncodeError {}
