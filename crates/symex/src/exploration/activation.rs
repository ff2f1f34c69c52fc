//! Activation: a state that waits without a model gets one before it goes on.

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::trace_event::TraceEvent;
use crate::machine::ending::Ending;
use crate::machine::questions::{Feasible, TRIES};

impl Engine<'_, '_> {
    /// Activates a state. Returns `None` where no input takes its path, and where the solver found
    /// none within the effort that the question is worth now; in the second case the state waits
    /// for a later attempt.
    pub(crate) fn activated(&mut self, mut state: Box<State>) -> Option<Box<State>> {
        if !state.pending {
            return Some(state);
        }
        let before = self.work_on_paths();
        if self.activate(&mut state) {
            return Some(state);
        }
        if state.pending {
            let now = self.work_on_paths();
            self.frontier.put_off(state, now, now - before);
        }
        None
    }

    /// Activates a state at once, with all the effort that a question may take. Returns false where
    /// no input takes its path or none was found.
    pub(crate) fn activate_now(&mut self, state: &mut State) -> bool {
        while state.pending {
            if !self.activate(state) && !state.pending {
                return false;
            }
        }
        true
    }

    /// Asks for a model of a pending state. Returns false where no input takes its path, and where
    /// none was found; in the second case the state is still pending.
    fn activate(&mut self, state: &mut State) -> bool {
        state.pending = false;
        let span = self.machine.term_clock.begin();
        let model = &state.model;
        let holds = state
            .path
            .facts
            .iter()
            .all(|fact| self.machine.evaluator.holds(&self.machine.pool, model, *fact));
        self.machine.term_clock.end(span);
        if holds {
            return true;
        }
        match self.machine.try_to_ask(state) {
            Feasible::Yes(model) => {
                state.tries = 0;
                if !state.claims.covered.is_empty() {
                    self.give_test(state, Ending::Returned);
                }
                state.model = model;
                true
            }
            Feasible::No => {
                self.trace(state, |state| TraceEvent::Infeasible { state });
                false
            }
            Feasible::Unknown(cut) if self.machine.questions.late || state.tries >= TRIES => {
                self.cut_path(state, cut);
                false
            }
            Feasible::Unknown(_) => {
                state.tries += 1;
                state.pending = true;
                false
            }
        }
    }
}
