//! Which state goes on.
//!
//! A [`Searcher`] holds the states that wait. One or several [`Order`]s over their numbers choose in
//! turn which one goes on; each is told of all states that come and go.

mod orders;
mod tree;

use lydian_base::Rng;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::ahead::Target;
use super::state::State;
use orders::{Nearest, Newest, Oldest, RandomState};
use tree::RandomPath;

/// The order of exploration. Each is deterministic; the random ones follow from their seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// The newest state first.
    DepthFirst,
    /// The oldest state first.
    BreadthFirst,
    /// Any state.
    RandomState,
    /// The state at the end of a random walk through the tree of paths: a part of the tree in which
    /// few paths are left is as likely as one with many.
    RandomPath,
    /// In turn the state that is nearest to a label that is left, in edges of the control-flow graph,
    /// and any state (RSS-MD2U of [001] 7.2).
    Md2u,
    /// In turn the state that is nearest to a label that no path reached, the one nearest to any label
    /// that is left, one at the end of a random walk, and any.
    #[default]
    Mixed,
}

/// States that wait. They are boxed, as they are moved often and are large.
pub(super) struct Searcher {
    waiting: Waiting,
    /// The orders, each with how often in a row it chooses.
    orders: Vec<(Box<dyn Order>, u32)>,
    /// Which order chooses, and how often it did.
    turn: (usize, u32),
    next: u64,
    rng: Rng,
    /// Whether a state that was split goes on without a look at the others.
    stays: bool,
}

/// The states that wait, by number. Numbers grow.
#[derive(Default)]
struct Waiting {
    /// In no order.
    states: Vec<(u64, Box<State>)>,
    /// Where each number stands among them.
    places: FxHashMap<u64, usize>,
}

/// How far a state is from something new now, the less the better.
pub(super) type Rank<'a> = dyn Fn(&State, Target) -> u64 + 'a;

/// How a state came to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Origin {
    /// The state that was taken last was split, and this is its other side.
    Fork,
    /// It is the state that was taken last.
    Back,
}

/// An order over the numbers of states that wait.
trait Order {
    /// A state waits.
    fn add(&mut self, number: u64, origin: Origin, state: &State, rank: &Rank<'_>);

    /// The state that is to go on: one that waits, unless none does.
    fn choose(&mut self, waiting: &Waiting, rng: &mut Rng, rank: &Rank<'_>) -> Option<u64>;

    /// A state was taken, chosen by this order or by another.
    fn taken(&mut self, _number: u64) {}
}

impl Waiting {
    fn get(&self, number: u64) -> Option<&State> {
        self.places.get(&number).map(|place| &*self.states[*place].1)
    }

    fn add(&mut self, number: u64, state: Box<State>) {
        self.places.insert(number, self.states.len());
        self.states.push((number, state));
    }

    fn take(&mut self, number: u64) -> Option<Box<State>> {
        let place = self.places.remove(&number)?;
        let (_, state) = self.states.swap_remove(place);
        if let Some((moved, _)) = self.states.get(place) {
            self.places.insert(*moved, place);
        }
        Some(state)
    }
}

impl Search {
    fn orders(self) -> Vec<(Box<dyn Order>, u32)> {
        match self {
            Self::DepthFirst => vec![(Box::<Newest>::default(), 1)],
            Self::BreadthFirst => vec![(Box::<Oldest>::default(), 1)],
            Self::RandomState => vec![(Box::new(RandomState), 1)],
            Self::RandomPath => vec![(Box::<RandomPath>::default(), 1)],
            Self::Md2u => {
                vec![(Box::new(Nearest::to(Target::Left)), 1), (Box::new(RandomState), 1)]
            }
            // Ranks alone keep to one part of the tree where what is left needs another past, not
            // another place: a loop whose flags decide, say. Labels that were reached and not covered
            // may be infeasible.
            Self::Mixed => vec![
                (Box::new(Nearest::to(Target::New)), 2),
                (Box::new(Nearest::to(Target::Left)), 1),
                (Box::<RandomPath>::default(), 1),
                (Box::new(RandomState), 1),
            ],
        }
    }
}

impl Searcher {
    /// Without states, in an order and with a seed.
    pub(super) fn new(search: Search, seed: u64) -> Self {
        Self {
            waiting: Waiting::default(),
            orders: search.orders(),
            turn: (0, 0),
            next: 0,
            rng: Rng::new(seed),
            stays: search == Search::DepthFirst,
        }
    }

    /// Adds the other side of a split of the state that was taken last, or the first state of all.
    pub(super) fn fork(&mut self, state: Box<State>, rank: &Rank<'_>) {
        self.add(state, Origin::Fork, rank);
    }

    /// Takes the state that was taken last back.
    pub(super) fn back(&mut self, state: Box<State>, rank: &Rank<'_>) {
        self.add(state, Origin::Back, rank);
    }

    fn add(&mut self, state: Box<State>, origin: Origin, rank: &Rank<'_>) {
        self.next += 1;
        for (order, _) in &mut self.orders {
            order.add(self.next, origin, &state, rank);
        }
        self.waiting.add(self.next, state);
    }

    /// Takes the state that is to go on.
    pub(super) fn pop(&mut self, rank: &Rank<'_>) -> Option<Box<State>> {
        let (order, often) = &mut self.orders[self.turn.0];
        let number = order.choose(&self.waiting, &mut self.rng, rank)?;
        self.turn.1 += 1;
        if self.turn.1 >= *often {
            self.turn = ((self.turn.0 + 1) % self.orders.len(), 0);
        }
        for (order, _) in &mut self.orders {
            order.taken(number);
        }
        self.waiting.take(number)
    }

    /// The states that wait, in no order.
    pub(super) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.waiting.states.iter_mut().map(|(_, state)| &mut **state)
    }

    /// How many states wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.states.len()
    }

    /// Whether the state that was just split should go on without looking at the others.
    pub(super) const fn stays(&self) -> bool {
        self.stays
    }

    /// Takes all states, in the order in which they came.
    pub(super) fn drain(&mut self) -> Vec<Box<State>> {
        self.waiting.places.clear();
        let mut states = std::mem::take(&mut self.waiting.states);
        states.sort_by_key(|(number, _)| *number);
        states.into_iter().map(|(_, state)| state).collect()
    }
}
