//! A trace of an exploration: each state that forked, was merged, was dropped or ended, and each question,
//! in the order in which it happened. It is made where [`Config::traces`](crate::Config::traces) asks for it.
//!
//! States have numbers. The one that all paths begin with is 0. A fork gets a number of its own, and the
//! state that was split goes on under its old one.

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::outcome::Event;
use crate::exploration::trace_event::{TraceEvent, TracedEvent};
use crate::machine::ending::Ending;
use crate::machine::reports::outbox::{Asked, MergedStates};

impl Engine<'_, '_> {
    /// Notes something that happened to a state, if a trace is made.
    pub(crate) fn trace(&mut self, state: &State, event: impl FnOnce(u64) -> TraceEvent) {
        if !self.machine.context.config.traces {
            return;
        }
        self.trace_outbox();
        let place = self.machine.text_at(state);
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
        self.trace(state, |state| TraceEvent::End { state, ending: ending.to_string() });
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
