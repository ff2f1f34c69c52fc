//! The search frontier: the waiting states, and everything that decides which of them goes on.
//!
//! A [`Searcher`] holds the states that can go on, in one or several orders. [`HardQuestions`] holds
//! those with a hard question, which go on once others had their time. Orders use [`Ranks`], the
//! distances of states to labels that are left. In a search that goes to one objective at a time,
//! they also use a [`DirectedSearch`].

use crate::State;
use crate::config::Config;
use crate::goals::Goals;
use crate::goals::labels::LabelTable;
use crate::machine::program::control_flow::SitePlaces;
use crate::search::directed::DirectedSearch;
use crate::search::hard::HardQuestions;
use crate::search::rank::Ranks;
use crate::search::searcher::{Origin, Rank, Searcher};

/// The waiting states.
pub(crate) struct Frontier<'p> {
    searcher: Searcher,
    hard: HardQuestions,
    ranks: Ranks,
    /// Chooses the objective, where a search goes to one at a time.
    directed: Option<DirectedSearch<'p>>,
    /// The number of functions that run in turn; the last one is under test.
    roots: usize,
}

impl<'p> Frontier<'p> {
    /// A frontier without states.
    pub(crate) fn new(
        config: &Config,
        ranks: Ranks,
        directed: Option<DirectedSearch<'p>>,
        roots: usize,
    ) -> Self {
        let searcher = Searcher::new(config.search, config.seed);
        Self { searcher, hard: HardQuestions::default(), ranks, directed, roots }
    }

    /// Takes the state that goes on next: first one with a hard question that is due, then the
    /// choice of the orders, then one with a hard question that is not due. `work` and `steps` are
    /// those of the whole exploration.
    pub(crate) fn next(&mut self, goals: &Goals<'_>, work: u64, steps: u64) -> Option<Box<State>> {
        self.ranks.refresh(&goals.labels, steps);
        let due = self.hard.due(work);
        due.or_else(|| self.chosen(goals, work)).or_else(|| self.hard.first())
    }

    /// The choice of the orders.
    fn chosen(&mut self, goals: &Goals<'_>, work: u64) -> Option<Box<State>> {
        if let Some(directed) = &mut self.directed {
            directed.refresh(&goals.labels, &goals.hypers);
        }
        let (ranks, roots) = (&self.ranks, self.roots);
        while let Some(directed) = self.directed.as_mut().filter(|directed| !directed.is_idle()) {
            let labels = &goals.labels;
            if self.searcher.reaches(&Rank { ranks, labels, directed: Some(directed), roots }) {
                break;
            }
            directed.give_up(&goals.labels, &goals.hypers);
        }
        let labels = &goals.labels;
        let rank = Rank { ranks, labels, directed: self.directed.as_ref(), roots };
        self.searcher.pop(&rank, work)
    }

    /// Notes that a state goes on.
    pub(crate) fn picked(&mut self, state: &State) {
        self.ranks.picked(state);
        if let Some(directed) = &mut self.directed {
            directed.picked();
        }
    }

    /// Notes that a state takes a step.
    pub(crate) fn note_step(&mut self, state: &mut State) {
        if let Some(directed) = &mut self.directed {
            directed.step(state);
        }
    }

    /// Adds a state.
    pub(crate) fn add(&mut self, mut state: Box<State>, origin: Origin, labels: &LabelTable<'_>) {
        let directed = self.directed.as_ref();
        directed.inspect(|directed| directed.note(&mut state));
        let rank = Rank { ranks: &self.ranks, labels, directed, roots: self.roots };
        self.searcher.add(state, origin, &rank);
    }

    /// Adds a state with a question that took work `spent`, up to `now`, and was not answered.
    pub(crate) fn put_off(&mut self, state: Box<State>, now: u64, spent: u64) {
        self.hard.put_off(state, now, spent);
    }

    /// Whether no continuation of a state's path can meet anything that is left.
    pub(crate) fn is_hopeless(&self, state: &State, labels: &LabelTable<'_>) -> bool {
        self.ranks.is_hopeless(state, labels)
    }

    /// The directed search, if there is one.
    #[cfg(test)]
    pub(crate) fn directed(&self) -> Option<&DirectedSearch<'p>> {
        self.directed.as_ref()
    }

    /// The directed search, to be changed.
    #[cfg(test)]
    pub(crate) fn guide_mut(&mut self) -> Option<&mut DirectedSearch<'p>> {
        self.directed.as_mut()
    }

    /// The places of the labels' sites.
    pub(crate) const fn sites(&self) -> &SitePlaces {
        self.ranks.distances().sites()
    }

    /// The number of waiting states, without those with a hard question.
    pub(crate) fn len(&self) -> usize {
        self.searcher.len()
    }

    /// Whether no state waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.searcher.len() == 0 && self.hard.is_empty()
    }

    /// Whether a state goes on after a split without a comparison with the others.
    pub(crate) fn stays(&self) -> bool {
        self.searcher.stays()
    }

    /// Sets whether there are so many states, or so little memory, that paths are to come to their
    /// ends first.
    pub(crate) fn crowd(&mut self, is_crowded: bool) {
        self.searcher.crowd(is_crowded);
    }

    /// Whether paths are to come to their ends first.
    pub(crate) fn is_crowded(&self) -> bool {
        self.searcher.is_crowded()
    }

    /// The states that can go on, with their numbers, in no particular order.
    pub(crate) fn states(&self) -> impl Iterator<Item = (u64, &State)> {
        self.searcher.states()
    }

    /// Takes the state of a number out of turn.
    pub(crate) fn take(&mut self, number: u64) -> Option<Box<State>> {
        self.searcher.take(number)
    }

    /// All states, in no particular order.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.searcher.states_mut().chain(self.hard.states_mut())
    }

    /// Takes all states, in the order of their arrival, those with a hard question last.
    pub(crate) fn drain(&mut self) -> Vec<Box<State>> {
        let mut states = self.searcher.drain();
        states.extend(self.hard.drain());
        states
    }
}
