//! A trace of an exploration: each state that forked, was merged, was dropped or ended, and each question,
//! in the order in which it happened. It is made where [`Config::traces`](crate::Config::traces) asks for it.
//!
//! States have numbers. The one that all paths begin with is 0. A fork gets a number of its own, and the
//! state that was split goes on under its old one.

use lydian_base::Span;
use serde::{Deserialize, Serialize};

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::outcome::Event;
use crate::machine::ending::Ending;
use crate::machine::reports::outbox::{Asked, MergedStates};
use crate::machine::reports::undetermined::text_at;

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

impl Engine<'_, '_> {
    /// Notes something that happened to a state, if a trace is made.
    pub(crate) fn trace(&mut self, state: &State, event: impl FnOnce(u64) -> TraceEvent) {
        if !self.machine.context.config.traces {
            return;
        }
        self.trace_outbox();
        let place = match state.frames.is_empty() {
            true => Span::NONE,
            false => text_at(self.machine.context.program, state),
        };
        let event = event(state.course.number);
        (self.sink)(Event::Trace(TracedEvent { event, place }));
    }

    /// A state that forked off gets a number of its own.
    pub(crate) fn trace_fork(&mut self, fork: &mut State) {
        if !self.machine.context.config.traces {
            return;
        }
        let parent = fork.course.number;
        self.states_traced += 1;
        fork.course.number = self.states_traced;
        self.trace(fork, |state| TraceEvent::Fork { state, parent });
    }

    /// A path is at its end.
    pub(crate) fn trace_end(&mut self, state: &State, ending: &Ending) {
        let ending = ending.to_string();
        self.trace(state, |state| TraceEvent::End { state, ending });
    }

    /// What happened since below this part: questions, and states that were merged.
    fn trace_outbox(&mut self) {
        for merged in std::mem::take(&mut self.machine.outbox.merged) {
            let MergedStates { state, other, place } = merged;
            let event = TraceEvent::Merge { state, other };
            (self.sink)(Event::Trace(TracedEvent { event, place }));
        }
        for Asked { state, answer, time, place } in std::mem::take(&mut self.machine.outbox.asked) {
            let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            let event = TraceEvent::Question { state, answer: answer.into(), micros };
            (self.sink)(Event::Trace(TracedEvent { event, place }));
        }
    }
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
