//! A trace of an exploration: each state that forked, was merged, was dropped or ended, and each
//! question, in the order of time. It is made where [`Config::traces`](crate::Config::traces) asks
//! for it.
//!
//! States have numbers. The first state is 0. A fork gets a new number, and the state that was
//! split keeps its number.

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::outcome::Event;
use crate::exploration::trace_event::{TraceEvent, TracedEvent};
use crate::machine::ending::Ending;
use crate::machine::reports::outbox::{AskedQuestion, MergedStates};

impl Engine<'_, '_> {
    /// Notes an event of a state, if a trace is made.
    pub(crate) fn trace(&mut self, state: &State, event: impl FnOnce(u64) -> TraceEvent) {
        if !self.machine.context.config.traces {
            return;
        }
        self.trace_outbox();
        let place = self.machine.text_at(state);
        let event = event(state.course.number);
        (self.sink)(Event::Trace(TracedEvent { event, place }));
    }

    /// Gives a fork its number.
    pub(crate) fn trace_fork(&mut self, fork: &mut State) {
        if !self.machine.context.config.traces {
            return;
        }
        let parent = fork.course.number;
        self.states_traced += 1;
        fork.course.number = self.states_traced;
        self.trace(fork, |state| TraceEvent::Fork { state, parent });
    }

    /// Notes the end of a path.
    pub(crate) fn trace_end(&mut self, state: &State, ending: &Ending) {
        self.trace(state, |state| TraceEvent::End { state, ending: ending.to_string() });
    }

    /// Notes the events in the outbox: questions, and states that were merged.
    fn trace_outbox(&mut self) {
        for merged in std::mem::take(&mut self.machine.outbox.merged) {
            let MergedStates { state, other, place } = merged;
            let event = TraceEvent::Merge { state, other };
            (self.sink)(Event::Trace(TracedEvent { event, place }));
        }
        for AskedQuestion { state, answer, time, place } in
            std::mem::take(&mut self.machine.outbox.asked)
        {
            let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
            let event = TraceEvent::Question { state, answer: answer.into(), micros };
            (self.sink)(Event::Trace(TracedEvent { event, place }));
        }
    }
}
