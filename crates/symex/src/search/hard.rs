//! States with a hard question.

use std::collections::VecDeque;

use crate::State;

/// Pending states with a question that was not answered with little effort. Each is asked again
/// with more effort once others had their time. So a hard question neither takes the time of all
/// others nor waits for an end that may never come.
#[derive(Default)]
pub(crate) struct HardQuestions(VecDeque<Waiting>);

struct Waiting {
    state: Box<State>,
    /// The work of the whole exploration at which it is asked again.
    due: u64,
}

/// How many times the work of its last question is done for others before a state is asked again.
const OTHERS: u64 = 8;

impl HardQuestions {
    /// Takes the first state that is due at this amount of work.
    pub(crate) fn due(&mut self, work: u64) -> Option<Box<State>> {
        let at = self.0.iter().position(|waiting| waiting.due <= work)?;
        Some(self.0.remove(at)?.state)
    }

    /// Adds a state with a question that took work `spent`, up to `now`; the state waits until more
    /// work was done.
    pub(crate) fn put_off(&mut self, state: Box<State>, now: u64, spent: u64) {
        self.0.push_back(Waiting { state, due: now + OTHERS * spent });
    }

    /// Takes the state that has waited longest.
    pub(crate) fn first(&mut self) -> Option<Box<State>> {
        Some(self.0.pop_front()?.state)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes all states, in the order of their arrival.
    pub(crate) fn drain(&mut self) -> Vec<Box<State>> {
        self.0.drain(..).map(|waiting| waiting.state).collect()
    }

    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.0.iter_mut().map(|waiting| &mut *waiting.state)
    }
}
