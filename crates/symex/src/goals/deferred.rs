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

use crate::exploration::explore::Engine;
use crate::goals::core_cache::OpenLabel;
use crate::machine::questions::{Feasible, TRIES};
use crate::machine::state::State;

/// So many states are kept for labels; the oldest is looked at when there are more.
const MOST_WAITING: usize = 4096;

/// A state at a site, with labels there that wait, and what makes each hold.
pub(crate) struct Deferred {
    state: Box<State>,
    labels: Vec<OpenLabel>,
    /// How many states had been run when it began to wait.
    since: u64,
    /// How often they were asked for and the solver had no answer.
    tries: u8,
}

/// What waits, oldest first.
#[derive(Default)]
pub(crate) struct DeferredLabels {
    waiting: VecDeque<Deferred>,
    /// How many states were run.
    run: u64,
}

impl DeferredLabels {
    /// How many states were run.
    pub(crate) const fn states_run(&self) -> u64 {
        self.run
    }

    /// Notes that a state is run.
    pub(crate) fn count_run(&mut self) {
        self.run += 1;
    }

    /// The oldest, if it waited for more than `patience` states.
    fn due(&mut self, patience: u64) -> Option<Deferred> {
        let due = |front: &Deferred| front.since + patience <= self.run;
        let due = self.waiting.len() > MOST_WAITING || self.waiting.front().is_some_and(due);
        if due { self.waiting.pop_front() } else { None }
    }
}

impl Engine<'_, '_> {
    /// Lets the labels that a state could not decide at a site wait.
    pub(crate) fn defer(&mut self, state: &mut State) {
        let labels = std::mem::take(&mut state.undecided);
        let copy = state.fork();
        self.wait_for_labels(copy, labels, 0);
    }

    fn wait_for_labels(&mut self, state: Box<State>, labels: Vec<OpenLabel>, tries: u8) {
        let since = self.deferred.run;
        self.deferred.waiting.push_back(Deferred { state, labels, since, tries });
    }

    /// Looks at the labels that waited long enough.
    pub(crate) fn look_at_due_labels(&mut self) {
        let patience = u64::from(self.machine.world.config.label_patience);
        while let Some(next) = self.deferred.due(patience) {
            self.look_at_deferred(next);
        }
    }

    /// Looks at all labels that wait, most of one place first: an input may cover several.
    pub(crate) fn look_at_all_labels(&mut self) {
        self.sort_deferred_labels();
        while self.look_at_next_labels() {}
    }

    /// Brings the places where most labels wait forward.
    pub(crate) fn sort_deferred_labels(&mut self) {
        let waiting = self.deferred.waiting.make_contiguous();
        for entry in &mut *waiting {
            entry.labels.retain(|label| !self.labels.is_covered(label.goal));
        }
        waiting.sort_by_key(|entry| std::cmp::Reverse(entry.labels.len()));
    }

    /// Looks at the labels of one place; false where none wait.
    pub(crate) fn look_at_next_labels(&mut self) -> bool {
        let next = self.deferred.waiting.pop_front();
        next.map(|entry| self.look_at_deferred(entry)).is_some()
    }

    /// Asks for inputs that cover some of the labels of a place which are left, until there is none;
    /// each is followed to its end. Where the question for any of them is too hard, there is one for
    /// each, and those whose own question is wait again, for one with more effort.
    fn look_at_deferred(&mut self, deferred: Deferred) {
        let Deferred { mut state, mut labels, tries, .. } = deferred;
        let (mut alone, mut hard) = (false, Vec::new());
        loop {
            labels.retain(|label| {
                let excluded = self.excluded.excludes(&state.facts, label.holds);
                !excluded && !self.labels.is_covered(label.goal)
            });
            if labels.is_empty() {
                if !hard.is_empty() {
                    self.wait_for_labels(state, hard, tries + 1);
                }
                return;
            }
            if self.look_at_budget() {
                if let Some(cut) = self.cut_by_stop() {
                    labels
                        .iter()
                        .chain(&hard)
                        .for_each(|label| self.labels.hinder(label.goal, cut.clone()));
                }
                return;
            }
            alone |= labels.len() == 1;
            let asked = if alone { &labels[labels.len() - 1..] } else { &labels[..] };
            let any = self.machine.pool.or_all(asked.iter().map(|label| label.holds));
            self.machine.statistics.label_queries += 1;
            match self.ask_for_labels(&state, any, asked, tries) {
                Feasible::Yes(model) => {
                    let before = labels.len();
                    state.model = model;
                    self.follow_for_labels(&state, &mut labels);
                    alone |= labels.len() == before;
                }
                Feasible::No if alone => _ = labels.pop(),
                Feasible::No => labels.clear(),
                Feasible::Unknown(_) if alone && tries < TRIES && !self.machine.late => {
                    hard.extend(labels.pop());
                }
                Feasible::Unknown(cut) if alone => {
                    labels.pop().into_iter().for_each(|label| {
                        self.labels.hinder(label.goal, cut.clone());
                    });
                }
                Feasible::Unknown(_) => alone = true,
            }
        }
    }

    /// Follows the state's model to its end for the labels that it covers, with as many of the others
    /// at the same place as go together: fewer inputs, so fewer paths. What else that input covers on
    /// its way is seen by following it ([000] V-B, idl-2).
    fn follow_for_labels(&mut self, state: &State, labels: &mut Vec<OpenLabel>) {
        let mut run = state.fork();
        run.replay = true;
        self.take_held(&mut run, labels);
        self.label_paths += 1;
        self.decide_labels(&mut run, labels.clone());
        self.run_replay(run);
    }
}
