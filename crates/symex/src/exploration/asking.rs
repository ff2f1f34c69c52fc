//! Asks the questions that waited: for labels, for rows of decisions, and for guards over values.
//! An input found by a question is followed to its end.

use crate::State;
use crate::exploration::explore::Engine;
use crate::goals::core_cache::OpenLabel;
use crate::goals::deferred::WaitingLabels;
use crate::goals::hyper::NO_TESTS;
use crate::goals::hyper_pairs::AT_A_TIME;
use crate::goals::hyper_rows::DeferredRow;
use crate::limits::Cut;
use crate::machine::questions::{Feasible, TRIES};

mod augmentation;

impl Engine<'_, '_> {
    /// Asks for the labels that waited long enough.
    pub(crate) fn look_at_due_labels(&mut self) {
        let patience = u64::from(self.machine.context.config.label_patience);
        while let Some(next) = self.goals.deferred.due(patience) {
            self.look_at_deferred(next);
        }
    }

    /// Asks for all labels that wait, at the sites with the most labels first: one input may cover
    /// several.
    pub(crate) fn look_at_all_labels(&mut self) {
        self.goals.sort_deferred_labels();
        while self.look_at_next_labels() {}
    }

    /// Asks for the labels of one place. Returns false where none wait.
    pub(crate) fn look_at_next_labels(&mut self) -> bool {
        let next = self.goals.deferred.next();
        next.map(|entry| self.look_at_deferred(entry)).is_some()
    }

    /// Asks for inputs that cover deferred labels of one place, until no such input is left; each
    /// input is followed to its end. The labels share one question. Where that is too hard, each
    /// label gets a question of its own, and a label with a question that is itself too hard waits
    /// for one with more effort.
    fn look_at_deferred(&mut self, deferred: WaitingLabels) {
        let WaitingLabels { mut state, mut labels, tries, .. } = deferred;
        let (mut alone, mut hard) = (false, Vec::new());
        loop {
            labels.retain(|label| {
                let excluded = self.goals.cores.excludes(&state.path.facts, label.holds);
                !excluded && !self.goals.labels.is_covered(label.goal)
            });
            if labels.is_empty() {
                if !hard.is_empty() {
                    self.goals.wait_for_labels(state, hard, tries + 1);
                }
                return;
            }
            if self.look_at_budget() {
                if let Some(cut) = self.cut_by_stop() {
                    labels
                        .iter()
                        .chain(&hard)
                        .for_each(|label| self.goals.labels.hinder(label.goal, cut.clone()));
                }
                return;
            }
            alone |= labels.len() == 1;
            let asked = if alone { &labels[labels.len() - 1..] } else { &labels[..] };
            let any = self.machine.pool.or_all(asked.iter().map(|label| label.holds));
            self.machine.statistics.label_queries += 1;
            match self.goals.ask_for_labels(&mut self.machine, &state, any, asked, tries) {
                Feasible::Yes(model) => {
                    let before = labels.len();
                    state.model = model;
                    self.follow_for_labels(&state, &mut labels);
                    alone |= labels.len() == before;
                }
                Feasible::No if alone => _ = labels.pop(),
                Feasible::No => labels.clear(),
                Feasible::Unknown(_) if alone && tries < TRIES && !self.machine.questions.late => {
                    hard.extend(labels.pop());
                }
                Feasible::Unknown(cut) if alone => {
                    labels.pop().into_iter().for_each(|label| {
                        self.goals.labels.hinder(label.goal, cut.clone());
                    });
                }
                Feasible::Unknown(_) => alone = true,
            }
        }
    }

    /// Follows the state's model to its end for the labels that it covers, together with as many
    /// other labels of the same place as one input can cover. Fewer inputs mean fewer paths.
    /// Replaying the input shows the other labels that it covers on its way ([000] V-B, IDL-2).
    fn follow_for_labels(&mut self, state: &State, labels: &mut Vec<OpenLabel>) {
        let mut run = state.fork();
        run.course.replay = true;
        self.goals.take_held(&mut self.machine, &mut run, labels);
        self.goals.label_paths += 1;
        self.goals.decide_labels(&mut self.machine, &mut run, labels.clone());
        self.run_replay(run);
    }

    /// Asks for the rows of evaluations that waited long enough.
    pub(crate) fn look_at_due_rows(&mut self) {
        let patience = 2 * u64::from(self.machine.context.config.label_patience);
        let run = self.goals.deferred.states_run();
        while let Some(next) = self.goals.deferred_rows.due(patience, run) {
            self.look_at_rows(next);
        }
    }

    /// Asks for the rows of all evaluations that wait.
    pub(crate) fn look_at_all_rows(&mut self) {
        while self.look_at_next_rows() {}
        self.run_replays();
    }

    /// Asks for the rows of the evaluation that has waited longest. Returns false where none waits.
    pub(crate) fn look_at_next_rows(&mut self) -> bool {
        let next = self.goals.deferred_rows.next();
        next.map(|next| self.look_at_rows(next)).is_some()
    }

    /// Asks for inputs of a path that give a decision new vectors.
    fn look_at_rows(&mut self, waiting: DeferredRow) {
        let DeferredRow { mut state, evaluation, .. } = waiting;
        let of = evaluation.of();
        while self.goals.hypers.is_open(of) {
            if self.look_at_budget() {
                if let Some(cut) = self.cut_by_stop() {
                    self.goals.hypers.hinder(of, &cut);
                }
                return;
            }
            if !self.goals.ask_for_row(&mut self.machine, &mut state, &evaluation) {
                return;
            }
            self.run_replays();
        }
    }

    /// Asks some of the waiting questions about guards over values.
    pub(crate) fn look_at_due_pairs(&mut self) {
        let patience = u64::from(self.machine.context.config.label_patience).max(1);
        if self.goals.deferred.states_run().is_multiple_of(patience) {
            self.look_at_pairs(AT_A_TIME);
        }
    }

    /// Asks some of the waiting questions about guards over values, once all states were run.
    /// Returns false where none waits.
    pub(crate) fn look_at_next_pairs(&mut self) -> bool {
        self.look_at_pairs(AT_A_TIME)
    }

    /// Asks all waiting questions about guards over values.
    pub(crate) fn look_at_all_pairs(&mut self) {
        self.look_at_pairs(usize::MAX);
    }

    /// Asks at most `most` questions about each guard over values. Returns false where nothing was
    /// asked.
    fn look_at_pairs(&mut self, most: usize) -> bool {
        let mut asked = false;
        for pairing in 0..self.goals.hypers.pairs.len() {
            for _ in 0..most {
                if self.goals.hypers.is_pairing_covered(pairing) || self.look_at_budget() {
                    break;
                }
                let Some(question) = self.goals.hypers.pairs.next_question(pairing) else {
                    break;
                };
                asked = true;
                let found = self.goals.ask_about_pairs(&mut self.machine, pairing, question);
                self.run_replays();
                if found && !self.look_at_budget() && !self.goals.hypers.is_pairing_covered(pairing)
                {
                    let cut = Cut::Unsupported(NO_TESTS.to_owned());
                    self.goals.hypers.hinder_pairing(pairing, cut);
                }
            }
        }
        asked
    }
}
