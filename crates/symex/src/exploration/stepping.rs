//! One step of one state: the objectives at its position are handled, the machine executes a
//! statement or terminator, and the exploration handles what the machine left.

use lydian_ir::Stmt;
use lydian_ir::source::Point;

use crate::State;
use crate::exploration::explore::Engine;
use crate::exploration::flow::Flow;
use crate::limits::Cut;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::program::site::SiteKey;
use crate::machine::questions::Feasible;
use crate::machine::reports::outbox::{EndedPath, Retraction};
use crate::machine::step::check_outgrown;
use crate::merging::cycles::is_in_a_cycle;

impl Engine<'_, '_> {
    /// Takes one step.
    pub(crate) fn step(&mut self, state: &mut State) -> Result<(), Flow> {
        let advanced = self.advance(state);
        self.settle(state, advanced)
    }

    /// Handles what a step of a state left in the outbox.
    pub(crate) fn settle(
        &mut self,
        state: &mut State,
        advanced: Result<(), Interrupt>,
    ) -> Result<(), Flow> {
        self.empty_outbox();
        let flow = match advanced {
            Ok(()) => return Ok(()),
            Err(Interrupt::Yield) => return Err(Flow::Yield),
            Err(Interrupt::Infeasible) => return Err(Flow::Infeasible),
            Err(Interrupt::End(Ending::Returned)) if state.course.check.is_none() => {
                self.end_call(state)
            }
            Err(Interrupt::End(ending)) => return Err(Flow::End(ending)),
            Err(Interrupt::Outgrown) => {
                self.begin_anew(state);
                return Err(Flow::Infeasible);
            }
            Err(Interrupt::Invariant(invariant, object)) => {
                Err(self.suppose_invariant(state, invariant, object))
            }
        };
        self.empty_outbox();
        flow
    }

    /// Reopens the labels that a state's model was to cover, for a reason.
    pub(crate) fn retract_for(&mut self, state: &mut State, reason: Cut) {
        self.machine.retract_for(state, reason);
        self.empty_outbox();
    }

    fn empty_outbox(&mut self) {
        if self.machine.outbox.is_empty() {
            return;
        }
        let outbox = self.machine.outbox.take();
        for Retraction { claims, reason } in outbox.retracted {
            claims.into_iter().for_each(|goal| self.goals.labels.uncover(goal, reason.clone()));
        }
        for EndedPath { state, ending } in outbox.ended {
            if let Some(mut state) = state {
                self.give_test(&mut state, ending.clone());
            }
            self.count_path(ending);
        }
        for (state, cut) in outbox.abandoned {
            self.cut_if_feasible(&state, cut);
        }
        for mut fork in outbox.forks {
            if fork.course.check.is_none() {
                self.trace_fork(&mut fork);
            }
            self.push(fork);
        }
    }

    /// Takes one step. What it asks of the exploration is left to [`Self::settle`].
    fn advance(&mut self, state: &mut State) -> Result<(), Interrupt> {
        check_outgrown(state)?;
        if let Some((decision, condition)) = state.passing.evaluated.take() {
            self.goals.pass(&mut self.machine, state, SiteKey::Condition(decision, condition));
        }
        if let Some(site) = state.passing.arrival.take() {
            self.goals.pass(&mut self.machine, state, site);
        }
        if !state.passing.queue.is_empty() {
            return self.goals.look_at_labels(&mut self.machine, state);
        }
        self.count_step(state)?;
        self.machine.begun |= state.has_begun(self.machine.roots.len());
        if state.course.check.is_none() {
            self.frontier.note_step(state);
        }
        if self.merging.compute_call(&mut self.machine, &mut self.goals, state) {
            return Ok(());
        }
        let body = self.machine.body(state);
        let frame = state.frame();
        let block = &body.blocks[frame.block];
        let at = frame.block;
        match block.stmts.get(frame.next) {
            Some(id) => {
                if !frame.sites_done && self.pass_point(state, Point::Stmt(*id))? {
                    return Ok(());
                }
                state.log.begin();
                if let Stmt::Mark(mark) = &body.stmts[*id] {
                    state.frame_mut().advance();
                    self.goals.pass(&mut self.machine, state, SiteKey::Mark(*mark));
                    return Ok(());
                }
                self.machine.statement(state, body, &body.stmts[*id])
            }
            None => {
                if !frame.sites_done && self.pass_point(state, Point::Term(at))? {
                    return Ok(());
                }
                state.log.begin();
                self.merging.terminator(&mut self.machine, &mut self.goals, state, &block.term)
            }
        }
    }

    fn count_step(&mut self, state: &mut State) -> Result<(), Interrupt> {
        if state.log.is_played() {
            self.machine.statistics.replayed_steps += 1;
            return Ok(());
        }
        state.course.steps += 1;
        self.machine.statistics.steps += 1;
        let limit = self.machine.context.config.limits.path_steps;
        if state.course.steps > limit {
            return Err(Interrupt::End(Ending::Cut(Cut::PathSteps(limit))));
        }
        match is_in_a_cycle(state) || self.goes_on_as_another(state) {
            true => Err(Interrupt::End(Ending::Endless)),
            false => Ok(()),
        }
    }

    /// Whether a path that just came to a block goes on as another path does.
    fn goes_on_as_another(&mut self, state: &mut State) -> bool {
        if !self.machine.context.config.matches_states || !state.frame().arrived {
            return false;
        }
        state.frame_mut().arrived = false;
        self.merging.visited.meets(&mut self.machine, &self.merging.analyses, state)
    }

    /// Notes the labels just before a statement or terminator. Returns true where there are some.
    fn pass_point(&mut self, state: &mut State, point: Point) -> Result<bool, Interrupt> {
        if !self.goals.labels.has(state.frame().func) {
            return Ok(false);
        }
        if state.log.is_played() {
            let early = state.log.was_early();
            if early {
                self.machine.evaluate_early(state, point)?;
                state.frame_mut().sites_done = true;
            }
            return Ok(early);
        }
        let key = SiteKey::Point(point);
        self.goals.pass(&mut self.machine, state, key);
        let watched = self.goals.hypers.sequences.watches(state.frame().func, key);
        if state.passing.queue.is_empty() && !watched {
            return Ok(false);
        }
        // Addresses are decided first, so that the predicates of the labels can be evaluated.
        let waiting = std::mem::take(&mut state.passing.queue);
        let mark = state.log.begin_early();
        let evaluated = self.machine.evaluate_early(state, point);
        state.log.end_early(mark);
        evaluated?;
        state.passing.queue = waiting;
        state.frame_mut().sites_done = true;
        if watched {
            let covered = self.goals.pass_sequences(&mut self.machine, state, key);
            self.goals.cover_sequences(&mut self.machine, state, covered);
        }
        Ok(true)
    }

    /// Handles the return of a path's last call: the path ends, or goes on with a further call.
    pub(crate) fn end_call(&mut self, state: &mut State) -> Result<(), Flow> {
        if state.course.first_run.is_some() {
            return self.end_call_of_second_run(state);
        }
        let compares = self.machine.context.config.second_run.is_some();
        let ongoing = self.goals.ongoing_sequences(state);
        let again = match state.log.played(Question::Again) {
            Some(again) => again != 0,
            None => {
                let is_done = !compares && self.goals.labels.left() == 0;
                let again = !is_done && self.machine.calls_again(state, &ongoing);
                if again && compares {
                    self.compare_beside(state);
                }
                state.log.note(Question::Again, u64::from(again));
                again
            }
        };
        if !again && compares {
            let begun = self.machine.begin_second_run(state);
            return self.settle(state, begun);
        }
        if !again {
            return Err(Flow::End(Ending::Returned));
        }
        if !state.log.is_played() {
            // The calls so far are a test of their own.
            if state.claims.keep || !state.claims.covered.is_empty() {
                self.give_test(state, Ending::Returned);
            }
            self.count_path(Ending::Returned);
        }
        let begun = self.machine.begin_further_call(state, &ongoing);
        self.settle(state, begun)
    }

    /// Compares the calls so far of a path that goes on with a further call, on a path of its own.
    pub(crate) fn compare_beside(&mut self, state: &State) {
        let mut beside = state.fork();
        beside.log.note(Question::Again, 0);
        let begun = self.machine.begin_second_run(&mut beside);
        match self.settle(&mut beside, begun) {
            Ok(()) | Err(Flow::Yield) => self.push(beside),
            Err(Flow::End(ending)) => self.finish(beside, ending),
            Err(Flow::Infeasible) => {}
        }
    }

    /// Handles the return of the function under test in a second run.
    pub(crate) fn end_call_of_second_run(&mut self, state: &mut State) -> Result<(), Flow> {
        match self.machine.next_call_of_second_run(state) {
            Some(begun) => self.settle(state, begun),
            None => {
                self.machine.compare_runs(state);
                Err(Flow::End(Ending::Returned))
            }
        }
    }

    /// Cuts a state's path for a limit, if any input takes it.
    fn cut_if_feasible(&mut self, state: &State, cut: Cut) {
        if state.log.is_played() {
            return;
        }
        self.machine.cut_dependences(state);
        if self.is_hopeless(state) {
            return;
        }
        match self.machine.ask(state, None) {
            Feasible::No => {}
            Feasible::Yes(_) | Feasible::Unknown(_) => {
                self.count_path(Ending::Cut(cut.clone()));
                self.machine.cut_ahead(state, cut);
            }
        }
    }
}
