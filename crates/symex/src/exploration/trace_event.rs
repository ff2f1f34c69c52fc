//! The events of a trace.

use lydian_base::Span;
use serde::{Deserialize, Serialize};

/// The answer of the solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracedAnswer {
    /// Some input satisfies the question.
    Satisfiable,
    /// No input does.
    Unsatisfiable,
    /// The solver gave up.
    Unknown,
}

/// An event of a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum TraceEvent {
    /// An exploration begins, with state 0.
    Begin,
    /// A state was split, and this is the new one.
    Fork {
        /// The new state's number.
        state: u64,
        /// The number of the state that was split.
        parent: u64,
    },
    /// Two paths met, and their states were merged.
    Merge {
        /// The number of the merged state, which is that of one of the two.
        state: u64,
        /// The number of the other state, which exists no more.
        other: u64,
    },
    /// A state was dropped, since nothing that is left lies ahead of it.
    Drop {
        /// The state's number.
        state: u64,
    },
    /// No input takes a state's path.
    Infeasible {
        /// The state's number.
        state: u64,
    },
    /// A path ended.
    End {
        /// The state's number.
        state: u64,
        /// How it ended.
        ending: String,
    },
    /// A test was given of a state's model.
    Test {
        /// The state's number.
        state: u64,
        /// How many labels the test covers that no test before it covers.
        covers: usize,
    },
    /// The solver was asked about a state.
    Question {
        /// The state's number.
        state: u64,
        /// The solver's answer.
        answer: TracedAnswer,
        /// The time that the solver took, in microseconds.
        micros: u64,
    },
}

/// An event, with the position of its state in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedEvent {
    /// The event.
    pub event: TraceEvent,
    /// The text of the statement; an unknown span where it has no place.
    pub place: Span,
}

impl From<Option<bool>> for TracedAnswer {
    /// Converts an answer of yes, no or unknown.
    fn from(answer: Option<bool>) -> Self {
        match answer {
            Some(true) => Self::Satisfiable,
            Some(false) => Self::Unsatisfiable,
            None => Self::Unknown,
        }
    }
}
