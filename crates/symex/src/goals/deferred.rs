//! Deferred labels: their questions wait until the program's own paths had their chance to cover
//! them.
//!
//! A label that a state's model does not satisfy needs a question to the solver. Where the answer
//! contradicts the labels that the model already covers, it also needs an input of its own, which
//! is one more path. Most such labels are covered without a question by a path that the program has
//! anyway. So the question waits, with a copy of the state at the label's site, until
//! [`Config::label_patience`] states were run or none is left. Any path that covers the label
//! meanwhile deletes it ([000] V-B).
//!
//! Invariants:
//! - A deferred question is dropped only when its labels are covered. Where a budget stops the
//!   exploration, that is noted as a hindrance of these labels, so that a complete exploration
//!   stays an argument.
//! - The order depends on counts alone, never on time.
//!
//! [`Config::label_patience`]: crate::config::Config::label_patience

use std::collections::VecDeque;

use crate::State;
use crate::goals::Goals;
use crate::goals::core_cache::OpenLabel;

/// The most states kept for labels. When there are more, the oldest question is asked.
const MOST_WAITING: usize = 4096;

/// A state at a site, with the labels that wait there and the condition of each.
pub(crate) struct WaitingLabels {
    pub(crate) state: Box<State>,
    pub(crate) labels: Vec<OpenLabel>,
    /// How many states had been run when the labels were deferred.
    since: u64,
    /// How often the labels were asked for without an answer of the solver.
    pub(crate) tries: u8,
}

/// The deferred questions, oldest first.
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

    /// Takes the question that has waited longest.
    pub(crate) fn next(&mut self) -> Option<WaitingLabels> {
        self.waiting.pop_front()
    }

    /// Counts a state that is run.
    pub(crate) fn count_run(&mut self) {
        self.run += 1;
    }

    /// Takes the oldest question, if it has waited for more than `patience` states.
    pub(crate) fn due(&mut self, patience: u64) -> Option<WaitingLabels> {
        let due = |front: &WaitingLabels| front.since + patience <= self.run;
        let due = self.waiting.len() > MOST_WAITING || self.waiting.front().is_some_and(due);
        if due { self.waiting.pop_front() } else { None }
    }
}

impl Goals<'_> {
    /// Defers the labels that a state could not decide at a site.
    pub(crate) fn defer(&mut self, state: &mut State) {
        let labels = std::mem::take(&mut state.notes.goals.undecided);
        let copy = state.fork();
        self.wait_for_labels(copy, labels, 0);
    }

    pub(crate) fn wait_for_labels(&mut self, state: Box<State>, labels: Vec<OpenLabel>, tries: u8) {
        let since = self.deferred.run;
        self.deferred.waiting.push_back(WaitingLabels { state, labels, since, tries });
    }

    /// Moves the sites with the most waiting labels to the front.
    pub(crate) fn sort_deferred_labels(&mut self) {
        let waiting = self.deferred.waiting.make_contiguous();
        for entry in &mut *waiting {
            entry.labels.retain(|label| !self.labels.is_covered(label.goal));
        }
        waiting.sort_by_key(|entry| std::cmp::Reverse(entry.labels.len()));
    }
}
