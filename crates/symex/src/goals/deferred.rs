//! Labels whose question waits until paths of the program had their chance to cover them.
//!
//! A label that a state's model does not satisfy needs a question to the solver, and where the
//! answer contradicts what the model covers already, an input of its own: one more path. Most such
//! labels are covered for nothing by a path that the program has anyway. So the question waits,
//! with a copy of the state at the label's site, until [`Config::label_patience`] states were run
//! or none is left; whoever covers the label meanwhile deletes it ([000] V-B).
//!
//! Invariants: nothing that waits is forgotten unless its labels are covered; where the exploration is
//! stopped by a budget, that is noted as what stood in their way, so that its end stays an argument;
//! the order depends on counts alone, never on time.
//!
//! [`Config::label_patience`]: crate::config::Config::label_patience

use std::collections::VecDeque;

use crate::State;
use crate::goals::Goals;
use crate::goals::core_cache::OpenLabel;

/// So many states are kept for labels; the oldest is looked at when there are more.
const MOST_WAITING: usize = 4096;

/// A state at a site, with labels there that wait, and what makes each hold.
pub(crate) struct WaitingLabels {
    pub(crate) state: Box<State>,
    pub(crate) labels: Vec<OpenLabel>,
    /// How many states had been run when it began to wait.
    since: u64,
    /// How often they were asked for and the solver had no answer.
    pub(crate) tries: u8,
}

/// What waits, oldest first.
#[derive(Default)]
pub(crate) struct DeferredLabels {
    waiting: VecDeque<WaitingLabels>,
    /// How many states were run.
    run: u64,
}

impl DeferredLabels {
    /// How many states were run.
    pub(crate) const fn states_run(&self) -> u64 {
        self.run
    }

    /// The one that waits longest.
    pub(crate) fn next(&mut self) -> Option<WaitingLabels> {
        self.waiting.pop_front()
    }

    /// Notes that a state is run.
    pub(crate) fn count_run(&mut self) {
        self.run += 1;
    }

    /// The oldest, if it waited for more than `patience` states.
    pub(crate) fn due(&mut self, patience: u64) -> Option<WaitingLabels> {
        let due = |front: &WaitingLabels| front.since + patience <= self.run;
        let due = self.waiting.len() > MOST_WAITING || self.waiting.front().is_some_and(due);
        if due { self.waiting.pop_front() } else { None }
    }
}

impl Goals<'_> {
    /// Lets the labels that a state could not decide at a site wait.
    pub(crate) fn defer(&mut self, state: &mut State) {
        let labels = std::mem::take(&mut state.notes.goals.undecided);
        let copy = state.fork();
        self.wait_for_labels(copy, labels, 0);
    }

    pub(crate) fn wait_for_labels(&mut self, state: Box<State>, labels: Vec<OpenLabel>, tries: u8) {
        let since = self.deferred.run;
        self.deferred.waiting.push_back(WaitingLabels { state, labels, since, tries });
    }

    /// Brings the places where most labels wait forward.
    pub(crate) fn sort_deferred_labels(&mut self) {
        let waiting = self.deferred.waiting.make_contiguous();
        for entry in &mut *waiting {
            entry.labels.retain(|label| !self.labels.is_covered(label.goal));
        }
        waiting.sort_by_key(|entry| std::cmp::Reverse(entry.labels.len()));
    }
}
