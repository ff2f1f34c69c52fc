//! States whose question is hard.

use std::collections::VecDeque;

use crate::exploration::explore::Engine;
use crate::machine::ending::Ending;
use crate::machine::questions::{Feasible, TRIES};
use crate::machine::state::State;

/// Pending states whose question was not answered with little effort. Each is asked again with more once
/// others had their time, so that one hard question neither takes the time of all others nor waits for an
/// end that may never come.
#[derive(Default)]
pub(crate) struct Hard(VecDeque<Waiting>);

struct Waiting {
    state: Box<State>,
    /// How much work is to be done before it is asked again, of the whole exploration.
    due: u64,
}

/// So many times the work of its last question is done for others before a state is asked again.
const OTHERS: u64 = 8;

impl Hard {
    /// The first state whose time has come after so much work.
    pub(crate) fn due(&mut self, work: u64) -> Option<Box<State>> {
        let at = self.0.iter().position(|waiting| waiting.due <= work)?;
        Some(self.0.remove(at)?.state)
    }

    /// The one that waits longest.
    pub(crate) fn first(&mut self) -> Option<Box<State>> {
        Some(self.0.pop_front()?.state)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All, in the order in which they came.
    pub(crate) fn drain(&mut self) -> Vec<Box<State>> {
        self.0.drain(..).map(|waiting| waiting.state).collect()
    }

    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.0.iter_mut().map(|waiting| &mut *waiting.state)
    }
}

impl Engine<'_, '_> {
    /// A state with a model. `None` where no input takes its path, and where none was found with as little
    /// effort as its question is worth now: then it is asked again later.
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
            self.hard.0.push_back(Waiting { state, due: now + OTHERS * (now - before) });
        }
        None
    }

    /// Gives a state a model that is not put off, with all effort that a question may take; false where no
    /// input takes its path or none was found.
    pub(crate) fn activate_now(&mut self, state: &mut State) -> bool {
        while state.pending {
            if !self.activate(state) && !state.pending {
                return false;
            }
        }
        true
    }

    /// Gives a pending state a model; false where no input takes its path, and where none was found: then
    /// it is still pending.
    fn activate(&mut self, state: &mut State) -> bool {
        state.pending = false;
        let span = self.term_clock.begin();
        let model = &state.model;
        let holds = state.facts.iter().all(|fact| self.evaluator.holds(&self.pool, model, *fact));
        self.term_clock.end(span);
        if holds {
            return true;
        }
        match self.try_to_ask(state) {
            Feasible::Yes(model) => {
                state.tries = 0;
                if !state.covered.is_empty() {
                    self.give_test(state, Ending::Returned);
                }
                state.model = model;
                true
            }
            Feasible::No => false,
            Feasible::Unknown(cut) if self.late || state.tries >= TRIES => {
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
