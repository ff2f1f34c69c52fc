//! States whose question is hard.

use std::collections::VecDeque;

use crate::State;

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

    /// A state waits until more work was done: its question took `spent`, up to `now`.
    pub(crate) fn put_off(&mut self, state: Box<State>, now: u64, spent: u64) {
        self.0.push_back(Waiting { state, due: now + OTHERS * spent });
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
