//! What a trace of an exploration tells.

use lydian_base::Span;
use serde::{Deserialize, Serialize};

/// What the solver said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TracedAnswer {
    /// Some input is so.
    Satisfiable,
    /// None is.
    Unsatisfiable,
    /// It gave none.
    Unknown,
}

/// Something that happened to a state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum TraceEvent {
    /// An exploration begins, with the state 0.
    Begin,
    /// A state was split, and this is its other side.
    Fork {
        /// Its number.
        state: u64,
        /// That of the state that was split.
        parent: u64,
    },
    /// A state stands for another one, too, from where their paths met.
    Merge {
        /// Its number.
        state: u64,
        /// That of the other one, which is no more.
        other: u64,
    },
    /// Nothing that is left lies ahead of a state.
    Drop {
        /// Its number.
        state: u64,
    },
    /// No input takes a state's path.
    Infeasible {
        /// Its number.
        state: u64,
    },
    /// A path is at its end.
    End {
        /// The number of its state.
        state: u64,
        /// How.
        ending: String,
    },
    /// A test was given of a state's model.
    Test {
        /// The state's number.
        state: u64,
        /// How many labels it covers that no test before it does.
        covers: usize,
    },
    /// The solver was asked about a state.
    Question {
        /// Its number.
        state: u64,
        /// What it said.
        answer: TracedAnswer,
        /// How long that took, in microseconds.
        micros: u64,
    },
}

/// An event with the place in the text where its state was.
#[derive(Clone, Debug, PartialEq)]
pub struct TracedEvent {
    /// What happened.
    pub event: TraceEvent,
    /// The text of the statement; none where that is not known.
    pub place: Span,
}

impl From<Option<bool>> for TracedAnswer {
    /// Whether some input is so, if that was said.
    fn from(answer: Option<bool>) -> Self {
        match answer {
            Some(true) => Self::Satisfiable,
            Some(false) => Self::Unsatisfiable,
            None => Self::Unknown,
        }
    }
}
