//! Replay: an evicted state is made again by following its decision log.

use lydian_base::{StopReason, memory};

use crate::State;
use crate::config::Mode;
use crate::exploration::eviction::{EVICTIONS, LOOKS, ReplayOutcome, fingerprint};
use crate::exploration::explore::Engine;
use crate::exploration::flow::Flow;
use crate::limits::Cut;
use crate::machine::decision_log::ReplayProgress;
use crate::notes::Home;

impl Engine<'_, '_> {
    /// Evicts waiting states where too many are kept whole.
    pub(crate) fn look_at_whole_states(&mut self) {
        let most = self.machine.context.config.limits.whole_states;
        if most.is_some_and(|most| self.eviction.whole > most) {
            self.evict_waiting();
        }
    }

    /// Evicts waiting states where memory is short. Returns the reason to stop where that does not
    /// help.
    pub(crate) fn look_at_memory(&mut self) -> Option<StopReason> {
        let limit = self.machine.context.config.limits.memory?;
        if self.exchange.others_are_short_of_memory() {
            self.evict_waiting();
            self.machine.questions.solver.forget();
            memory::give_back();
        }
        self.eviction.looks += 1;
        if self.eviction.looks < LOOKS {
            return None;
        }
        self.eviction.looks = 0;
        let most = limit - limit / 8;
        let mut used = memory::resident()?;
        if used < self.eviction.next.max(most) {
            self.eviction.is_short &= used >= most - limit / 8;
            return None;
        }
        self.exchange.tell_that_memory_is_short();
        self.evict_waiting();
        memory::give_back();
        used = memory::resident()?;
        if used >= most - limit / 8 {
            self.machine.questions.solver.forget();
            memory::give_back();
            used = memory::resident()?;
        }
        self.eviction.is_short = used >= most - limit / 8;
        // A little more memory use is no reason for the next eviction.
        self.eviction.next = (used + limit / 64).min(limit);
        let short = used >= limit && !self.exchange.waits_for_memory();
        short.then_some(StopReason::Memory(limit))
    }

    fn evict_waiting(&mut self) {
        self.eviction.whole = 0;
        if self.machine.context.config.mode == Mode::Direct {
            return;
        }
        let before = self.machine.statistics.evicted;
        let waiting = self.frontier.states_mut();
        for (number, state) in waiting.filter(|state| state.can_be_made_again()).enumerate() {
            if number % EVICTIONS == 0 && self.machine.questions.budget.exceeded().is_some() {
                break;
            }
            self.eviction.evict(&self.machine.pool, state);
            self.machine.statistics.evicted += 1;
        }
        let evicted = self.machine.statistics.evicted - before;
        log::debug!("memory is short: {evicted} of {} states evicted", self.frontier.len());
    }

    /// Replays an evicted state. Returns false where that was not possible: then the reason is
    /// noted, or the state is on its way back to the worker that evicted it.
    pub(crate) fn revive(&mut self, state: &mut Box<State>) -> bool {
        let Some(before) = state.notes.eviction.evicted else { return true };
        let log = state.log.clone();
        match self.follow_again(state, before) {
            ReplayOutcome::Same(mut made) => {
                made.resume_as(state);
                *state = made;
                return true;
            }
            ReplayOutcome::Stopped => {
                if let Some(cut) = self.cut_by_stop() {
                    self.cut_path(state, cut);
                }
            }
            ReplayOutcome::Other => match state.notes.eviction.home {
                Home::Elsewhere(worker) => {
                    state.log = log;
                    self.give_back(state, worker);
                }
                Home::Any | Home::Here => {
                    let what = "a path that took another way when it was followed again";
                    self.cut_path(state, Cut::Unsupported(what.into()));
                }
            },
        }
        false
    }

    /// Follows an evicted state's path from its start. `before` is the fingerprint that it had.
    fn follow_again(&mut self, state: &mut State, before: u64) -> ReplayOutcome {
        let start = state.notes.merging.start.as_deref().or(self.machine.start());
        let Some(mut made) = start.cloned().map(Box::new) else { return ReplayOutcome::Other };
        made.log = std::mem::take(&mut state.log).replayed_from(&made.log);
        made.model = state.model.clone();
        made.passing.evaluated = None;
        loop {
            match made.log.progress() {
                ReplayProgress::InPart => {}
                ReplayProgress::ToTheEnd => break,
                ReplayProgress::Diverged => return ReplayOutcome::Other,
            }
            match self.step(&mut made) {
                Ok(()) | Err(Flow::Yield) => {}
                Err(Flow::End(_) | Flow::Infeasible) => return ReplayOutcome::Other,
            }
            self.clock.ticks += 1;
            if self.clock_is_due() && self.look_at_budget() {
                return ReplayOutcome::Stopped;
            }
        }
        made.log.record();
        match fingerprint(&mut self.eviction.structures, &self.machine.pool, &made) == before {
            true => ReplayOutcome::Same(made),
            false => ReplayOutcome::Other,
        }
    }
}
