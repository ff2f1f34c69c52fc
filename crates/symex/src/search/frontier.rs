//! The search frontier: the states that wait, and everything that decides which of them goes on.
//!
//! A [`Searcher`] holds the states that can go on, in one or several orders; [`Hard`] those whose question is
//! hard, which go on once others had their time. Orders look at [`Ranks`] (how far a state is from what is
//! left) and, where a search goes to one objective at a time, at a [`DirectedSearch`].

use crate::State;
use crate::config::Config;
use crate::goals::Goals;
use crate::goals::labels::LabelTable;
use crate::machine::program::control_flow::SitePlaces;
use crate::search::directed::DirectedSearch;
use crate::search::hard::Hard;
use crate::search::rank::Ranks;
use crate::search::searcher::{Origin, Rank, Searcher};

/// The states that wait.
pub(crate) struct Frontier<'p> {
    searcher: Searcher,
    hard: Hard,
    ranks: Ranks,
    /// Chooses the objective to go to, where a search goes to one at a time.
    directed: Option<DirectedSearch<'p>>,
    /// How many functions run in turn, of which the last is under test.
    roots: usize,
}

impl<'p> Frontier<'p> {
    /// Without states.
    pub(crate) fn new(
        config: &Config,
        ranks: Ranks,
        directed: Option<DirectedSearch<'p>>,
        roots: usize,
    ) -> Self {
        let searcher = Searcher::new(config.search, config.seed);
        Self { searcher, hard: Hard::default(), ranks, directed, roots }
    }

    /// Takes the state that is to go on, after so much work and so many steps of the whole exploration: one
    /// whose hard question is due, then what the orders choose, then one whose question is hard.
    pub(crate) fn next(&mut self, goals: &Goals<'_>, work: u64, steps: u64) -> Option<Box<State>> {
        self.ranks.refresh(&goals.labels, steps);
        let due = self.hard.due(work);
        due.or_else(|| self.chosen(goals, work)).or_else(|| self.hard.first())
    }

    /// What the orders choose.
    fn chosen(&mut self, goals: &Goals<'_>, work: u64) -> Option<Box<State>> {
        if let Some(directed) = &mut self.directed {
            directed.refresh(&goals.labels, &goals.hypers);
        }
        let (ranks, roots) = (&self.ranks, self.roots);
        while let Some(directed) = self.directed.as_mut().filter(|directed| !directed.is_idle()) {
            if self.searcher.reaches(&Rank { ranks, directed: Some(directed), roots }) {
                break;
            }
            directed.give_up(&goals.labels, &goals.hypers);
        }
        let rank = Rank { ranks, directed: self.directed.as_ref(), roots };
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

    /// Lets a state wait.
    pub(crate) fn add(&mut self, mut state: Box<State>, origin: Origin) {
        let directed = self.directed.as_ref();
        directed.inspect(|directed| directed.note(&mut state));
        let rank = Rank { ranks: &self.ranks, directed, roots: self.roots };
        self.searcher.add(state, origin, &rank);
    }

    /// Lets a state wait whose question took `spent`, up to `now`, and was not answered.
    pub(crate) fn put_off(&mut self, state: Box<State>, now: u64, spent: u64) {
        self.hard.put_off(state, now, spent);
    }

    /// Whether nothing that is left can be met on any continuation of a state's path.
    pub(crate) fn is_hopeless(&self, state: &State, labels: &LabelTable<'_>) -> bool {
        self.ranks.is_hopeless(state, labels)
    }

    /// What chooses the objective to go to.
    #[cfg(test)]
    pub(crate) fn directed(&self) -> Option<&DirectedSearch<'p>> {
        self.directed.as_ref()
    }

    /// The same, to be changed.
    #[cfg(test)]
    pub(crate) fn guide_mut(&mut self) -> Option<&mut DirectedSearch<'p>> {
        self.directed.as_mut()
    }

    /// Where the labels' sites lie.
    pub(crate) const fn sites(&self) -> &SitePlaces {
        self.ranks.distances().sites()
    }

    /// How many states wait, without those whose question is hard.
    pub(crate) fn len(&self) -> usize {
        self.searcher.len()
    }

    /// Whether no state waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.searcher.len() == 0 && self.hard.is_empty()
    }

    /// Whether the state that was just split should go on without looking at the others.
    pub(crate) fn stays(&self) -> bool {
        self.searcher.stays()
    }

    /// Says whether states, or what they take, are so many that paths are to come to their ends first.
    pub(crate) fn crowd(&mut self, is_crowded: bool) {
        self.searcher.crowd(is_crowded);
    }

    /// Whether paths are to come to their ends first.
    pub(crate) fn is_crowded(&self) -> bool {
        self.searcher.is_crowded()
    }

    /// The states that can go on, with their numbers, in no order.
    pub(crate) fn states(&self) -> impl Iterator<Item = (u64, &State)> {
        self.searcher.states()
    }

    /// Takes the state of a number out of turn.
    pub(crate) fn take(&mut self, number: u64) -> Option<Box<State>> {
        self.searcher.take(number)
    }

    /// All states, in no order.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.searcher.states_mut().chain(self.hard.states_mut())
    }

    /// Takes all states, in the order in which they came, those whose question is hard last.
    pub(crate) fn drain(&mut self) -> Vec<Box<State>> {
        let mut states = self.searcher.drain();
        states.extend(self.hard.drain());
        states
    }
}
