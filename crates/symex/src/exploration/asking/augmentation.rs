//! Asks for inputs that satisfy transformed conditions of paths, which augmentation took ([004] Algorithm
//! 1, lines 9 to 13).
//!
//! What a test that was given already satisfies is not asked for ([004] 3.3). The labels of one place
//! share a question: most transformed conditions that no input satisfies are done with at once. An
//! input is followed to its end from its place on, so its test is measured as every other.

use lydian_smt::{Model, Term};

use crate::State;
use crate::exploration::explore::Engine;
use crate::goals::core_cache::OpenLabel;
use crate::goals::labels::GoalId;
use crate::goals::occurrences::{Occurrence, WaitingOccurrence};
use crate::goals::refs::LabelRef;
use crate::machine::program::site::SiteKey;
use crate::machine::questions::{Effort, Feasible};

impl Engine<'_, '_> {
    /// Whether all objectives are covered but those that are left to augmentation, so that no further
    /// paths are needed.
    pub(crate) fn has_paths_for_augmentation(&self) -> bool {
        self.goals.augmentation.is_on()
            && self.machine.context.config.stop_when_covered
            && self.goals.labels.left() == 0
            && !self.goals.augmentation.wants_first_path()
            && (!self.machine.context.assumes || self.goals.labels.without_test() == 0)
    }

    /// Transforms the occurrences that waited long enough.
    pub(crate) fn look_at_due_occurrences(&mut self) {
        let patience = u64::from(self.machine.context.config.label_patience);
        let run = self.goals.deferred.states_run();
        while let Some(next) = self.goals.augmentation.due(run, patience) {
            self.transform(next);
        }
    }

    /// Transforms all occurrences that wait, and those that come of it. States that wait become
    /// sides of decisions that no path is followed on.
    pub(crate) fn look_at_all_occurrences(&mut self) {
        if !self.goals.augmentation.is_on() {
            return;
        }
        if self.stopped {
            let waiting: Vec<WaitingOccurrence> = self.goals.augmentation.take_all().collect();
            for waiting in waiting {
                if let WaitingOccurrence::Passed { at, .. } = waiting {
                    self.leave_unasked(&at.labels);
                }
            }
            return;
        }
        for state in self.frontier.drain() {
            self.goals.keep_dropped(&state);
            self.follow_claims(state);
        }
        loop {
            let waiting: Vec<WaitingOccurrence> = self.goals.augmentation.take_all().collect();
            if waiting.is_empty() {
                return;
            }
            waiting.into_iter().for_each(|next| self.transform(next));
        }
    }

    /// Gives the test of a state that is followed no further otherwise, if its model covers something.
    fn follow_claims(&mut self, mut state: Box<State>) {
        let claims = !state.claims.covered.is_empty() || state.claims.keep;
        if !claims || !self.revive(&mut state) {
            return;
        }
        if state.pending {
            // The test is that of the model before.
            self.activate_now(&mut state);
            return;
        }
        state.course.replay = true;
        self.run_replay(state);
    }

    /// Notes that time was too short to ask for labels.
    fn leave_unasked(&mut self, labels: &[OpenLabel]) {
        if let Some(cut) = self.cut_by_stop() {
            labels.iter().for_each(|label| self.goals.labels.hinder(label.goal, cut.clone()));
        }
    }

    fn transform(&mut self, waiting: WaitingOccurrence) {
        match waiting {
            WaitingOccurrence::Passed { at, along } => self.ask_for_occurrence(&at, &along),
            WaitingOccurrence::Dropped(state) => self.pass_dropped(state),
        }
    }

    /// Lets a state that was dropped pass the decision at which it arrived.
    fn pass_dropped(&mut self, mut state: Box<State>) {
        let func = state.frame().func;
        let is_asked = |site| self.goals.labels.augments_at(func, site);
        if !state.passing.arrival.is_some_and(is_asked) {
            return;
        }
        if self.look_at_budget() || !self.activate_now(&mut state) {
            return;
        }
        let evaluated = state.passing.evaluated.take();
        let evaluated = evaluated.map(|(of, condition)| SiteKey::Condition(of, condition));
        for site in evaluated.into_iter().chain(state.passing.arrival.take()) {
            self.goals.pass(&mut self.machine, &mut state, site);
        }
        let left = self.goals.occurrences_at(&mut self.machine, &mut state);
        if !state.claims.covered.is_empty() {
            let mut run = state.take_claims();
            run.course.replay = true;
            self.run_replay(run);
        }
        if let Some(at) = left {
            self.ask_for_occurrence(&at, &[]);
        }
    }

    /// Asks for inputs of a path that satisfy its transformed conditions, until none is left.
    fn ask_for_occurrence(&mut self, at: &Occurrence, along: &[Term]) {
        let mut labels = at.labels.clone();
        let mut alone = false;
        loop {
            labels.retain(|label| self.is_wanted(label));
            self.remove_satisfied(&at.state, along, &mut labels);
            if labels.is_empty() {
                return;
            }
            if self.look_at_budget() {
                return self.leave_unasked(&labels);
            }
            alone |= labels.len() == 1;
            let asked = if alone { &labels[labels.len() - 1..] } else { &labels[..] };
            let any = self.machine.pool.or_all(asked.iter().map(|label| label.holds));
            self.machine.statistics.augmented_queries += 1;
            let effort = Effort::after(0);
            match self.machine.ask_within(&at.state, along, Some(any), effort).0 {
                Feasible::Yes(model) => self.follow_transformed(at, along, model, &mut labels),
                Feasible::No if alone => self.give_up_asking(labels.pop()),
                Feasible::No => self.give_up_asking(labels.drain(..)),
                Feasible::Unknown(_) if !alone => alone = true,
                Feasible::Unknown(cut) => {
                    if let Some(label) = labels.pop() {
                        self.goals.labels.hinder(label.goal, cut.clone());
                    }
                }
            }
        }
    }

    /// The transformed conditions that a state's model was made for, which its test takes along.
    pub(crate) fn transformed_by(&self, state: &mut State) -> Vec<(LabelRef, u32)> {
        let made_for = std::mem::take(&mut state.claims.transformed).into_iter();
        let label = |(goal, turn)| Some((self.goals.labels.label_ref(goal)?, turn));
        made_for.filter_map(label).collect()
    }

    fn is_wanted(&self, label: &OpenLabel) -> bool {
        !self.goals.labels.is_covered(label.goal) && self.goals.augmentation.may_ask(label.goal)
    }

    fn give_up_asking(&mut self, labels: impl IntoIterator<Item = OpenLabel>) {
        labels.into_iter().for_each(|label| self.goals.augmentation.count_try(label.goal));
    }

    /// Removes the labels that the model of a test satisfies at this occurrence. Only where each
    /// occurrence is transformed: else a label that a test satisfies anywhere is covered.
    fn remove_satisfied(&mut self, state: &State, along: &[Term], labels: &mut Vec<OpenLabel>) {
        let (pool, evaluator) = (&self.machine.pool, &mut self.machine.evaluator);
        for model in self.goals.augmentation.models() {
            let mut path = state.path.facts.iter().chain(along);
            if !labels.is_empty() && path.all(|fact| evaluator.holds(pool, model, *fact)) {
                labels.retain(|label| !evaluator.holds(pool, model, label.holds));
            }
        }
    }

    /// Follows an input that satisfies some labels to its end, together with as many others of the
    /// same place as one input can satisfy.
    fn follow_transformed(
        &mut self,
        at: &Occurrence,
        along: &[Term],
        model: Model,
        labels: &mut Vec<OpenLabel>,
    ) {
        let mut run = at.state.fork();
        run.model = model;
        run.course.replay = true;
        // Each occurrence that is transformed has its test, even one that covers nothing new.
        run.claims.keep = self.goals.augmentation.takes_each();
        run.claims.promises.extend(along);
        let before = labels.clone();
        self.goals.take_held(&mut self.machine, &mut run, labels);
        if run.claims.keep {
            let is_left = |goal: GoalId| labels.iter().any(|label| label.goal == goal);
            for label in before.iter().filter(|label| !is_left(label.goal)) {
                let turn = self.goals.turn_of(&at.state, label.goal);
                run.claims.transformed.push((label.goal, turn));
                run.claims.promises.push(label.holds);
            }
        }
        self.goals.label_paths += 1;
        self.goals.ask_for_any(&mut self.machine, &mut run, labels.clone());
        self.run_replay(run);
    }
}
