//! Explorations that begin again, for the objectives that are left.
//!
//! How long a search takes hangs on chance: on the ways that it took early, which are never given up. The
//! states that wait were told apart while many objectives were open, too, each way through a decision that
//! could cover something as a path of its own, and their path conditions have grown since. So after some
//! work they are given up, and the function is explored from its beginning, by other chances and for what
//! is left alone: ways on which nothing is left to cover are united, or dropped early (restarts, as solvers
//! make them: Gomes, Selman and Kautz, AAAI 1998). What the round before covered stays covered, and what a
//! round shows to be infeasible it shows with all paths. Each has twice the work of the one before, so that
//! an exploration that takes long comes to its end all the same.

use super::explore::Engine;
use super::outcome::Ending;
use super::search::{Search, Searcher};
use super::state::State;
use crate::{Config, Mode};

/// Fewer states that wait than these are followed on: they are near their end.
const MANY_WAIT: usize = 16;

/// The round that is explored.
#[derive(Default)]
pub(super) struct Rounds {
    /// How many ended.
    ended: u32,
    /// The work that was done when it began.
    began: u64,
}

impl Engine<'_, '_> {
    /// Begins again from the first state where the round had its work.
    pub(super) fn begin_again_if_due(&mut self) {
        let Some(first) = self.world.config.limits.round else { return };
        let due = first << self.rounds.ended;
        if self.work_on_paths() - self.rounds.began < due
            || self.searcher.len() < MANY_WAIT
            || !self.can_begin_again()
        {
            return;
        }
        let Some(start) = self.compaction.start().map(State::fork) else { return };
        self.rounds.ended += 1;
        self.statistics.rounds_ended += 1;
        let Config { search, seed, .. } = self.world.config;
        let searcher = Searcher::new(search, seed, self.rounds.ended);
        let waiting = std::mem::replace(&mut self.searcher, searcher).drain();
        let hard = std::mem::take(&mut self.hard);
        waiting.into_iter().chain(hard).for_each(|state| self.leave(state));
        self.run_replays();
        self.rounds.began = self.work_on_paths();
        self.push(start);
    }

    /// Whether another round does the work of this one: where objectives alone are looked for, and all that
    /// was found is noted with them.
    fn can_begin_again(&self) -> bool {
        let config = &self.world.config;
        config.search == Search::Mixed
            && config.mode == Mode::Tight
            && config.look_ahead
            && config.label_deletion.deletes()
            && !config.every_path
            && !self.world.assumes
    }

    /// A state is followed no further, but for its test where it has none yet.
    fn leave(&mut self, mut state: Box<State>) {
        if state.covered.is_empty() && !state.keep {
            return;
        }
        if state.pending || state.compacted.is_some() {
            self.give_test(&mut state, Ending::Returned);
        } else {
            state.replay = true;
            self.replays.push(state);
        }
    }
}
