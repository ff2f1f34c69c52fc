//! The searcher: the states that can go on, and the choice of the next one.
//!
//! One or several [`Order`]s over the states' numbers choose in turn, in shares. Each order is told
//! of all states that come and go. States with paths that get no test are not given to orders, and
//! go on last.

mod orders;
mod rota;
mod tree;

use std::collections::BTreeSet;

use lydian_base::Rng;
use rustc_hash::FxHashMap;

use crate::State;
use crate::config::Search;
use crate::goals::labels::LabelTable;
use crate::search::directed::DirectedSearch;
use crate::search::distance::DistanceTarget;
use crate::search::rank::Ranks;
use orders::{Nearest, Newest, Oldest, RandomState, TowardsObjective};
use rota::{Clock, Rota};
use tree::RandomPath;

/// The states that can go on. They are boxed, since they are large and moved often.
pub(crate) struct Searcher {
    waiting: Waiting,
    orders: Vec<Box<dyn Order>>,
    rotas: Vec<Rota>,
    /// States with paths that get no test. They are in no order, and go on where there is no other
    /// state.
    last: BTreeSet<u64>,
    /// The order that chooses while there are too many states, whatever the others are: the newest
    /// first.
    newest: Newest,
    is_crowded: bool,
    /// The position of the current rota.
    turn: usize,
    /// The work of the whole exploration when the turn of the rota began.
    began: u64,
    /// The work of the whole exploration at the last choice, if there was one.
    chose: Option<u64>,
    /// The number of the next state.
    next: u64,
    rng: Rng,
    search: Search,
}

/// The work of a rota's turn, in steps.
const ROTA: u64 = 16_000;

/// The waiting states, by number. Numbers increase.
#[derive(Default)]
struct Waiting {
    /// The states, in no particular order.
    states: Vec<(u64, Box<State>)>,
    /// The position of each number in `states`.
    places: FxHashMap<u64, usize>,
}

/// The measures that orders use.
pub(crate) struct Rank<'a> {
    pub(crate) ranks: &'a Ranks,
    pub(crate) labels: &'a LabelTable<'a>,
    /// The directed search, where states are followed for one objective at a time.
    pub(crate) directed: Option<&'a DirectedSearch<'a>>,
    /// The number of functions that run in turn; the last one is under test.
    pub(crate) roots: usize,
}

impl Rank<'_> {
    /// The current distance of a state to a label, less is better.
    fn distance(&self, state: &State, target: DistanceTarget) -> u64 {
        self.ranks.rank(state, target, self.labels)
    }

    /// The weight of a state for the current objective, greater is better; 0 where it cannot reach
    /// the objective or there is none.
    fn weight(&self, state: &State) -> u64 {
        self.directed.map_or(0, |directed| directed.weight(state, self.roots))
    }

    /// The number of the current turn.
    fn turn(&self) -> u32 {
        self.directed.map_or(0, DirectedSearch::turn)
    }
}

/// How a state came to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The state that was taken last was split, and this is its other side.
    Fork,
    /// It is the state that was taken last.
    Back,
}

/// An order over the numbers of waiting states.
trait Order {
    /// Adds a state.
    fn add(&mut self, number: u64, origin: Origin, state: &State, rank: &Rank<'_>);

    /// The next state: one that waits, unless none does.
    fn choose(&mut self, waiting: &Waiting, rng: &mut Rng, rank: &Rank<'_>) -> Option<u64>;

    /// Notes that a state was taken, by this order or by another.
    fn taken(&mut self, _number: u64) {}

    /// Whether a waiting state can reach the current objective; `None` where the order is not
    /// directed.
    fn reaches(&mut self, _waiting: &Waiting, _rank: &Rank<'_>) -> Option<bool> {
        None
    }
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

impl Searcher {
    /// A searcher without states, for an order and a seed.
    pub(crate) fn new(search: Search, seed: u64) -> Self {
        Self {
            waiting: Waiting::default(),
            orders: orders_of(search),
            rotas: rotas_of(search),
            last: BTreeSet::new(),
            newest: Newest::default(),
            is_crowded: false,
            turn: 0,
            began: 0,
            chose: None,
            next: 0,
            rng: Rng::new(seed),
            search,
        }
    }

    /// Adds a state: the other side of a split of the state that was taken last, the very first
    /// state, or the state that was taken last.
    pub(crate) fn add(&mut self, state: Box<State>, origin: Origin, rank: &Rank<'_>) {
        self.next += 1;
        if state.depends.are_some() {
            self.last.insert(self.next);
        } else {
            for order in &mut self.orders {
                order.add(self.next, origin, &state, rank);
            }
            self.newest.add(self.next, origin, &state, rank);
        }
        self.waiting.add(self.next, state);
    }

    /// Takes the state that goes on next. `work` is that of the whole exploration, in steps.
    pub(crate) fn pop(&mut self, rank: &Rank<'_>, work: u64) -> Option<Box<State>> {
        let order = self.take_turns(work);
        let order: &mut dyn Order = match self.is_crowded {
            true => &mut self.newest,
            false => &mut *self.orders[order],
        };
        let chosen = order.choose(&self.waiting, &mut self.rng, rank);
        let number = chosen.or_else(|| self.last.first().copied())?;
        self.take(number)
    }

    /// Sets whether there are so many states, or so little memory, that paths are to come to their
    /// ends first. The newest state then goes on, since it leads to the fewest further states.
    pub(crate) fn crowd(&mut self, is_crowded: bool) {
        self.is_crowded = is_crowded;
    }

    /// Whether the newest state goes on for that reason.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// The position of the order that makes the next choice.
    fn take_turns(&mut self, work: u64) -> usize {
        if let Some(chose) = self.chose.replace(work) {
            self.rotas[self.turn].charge(work - chose);
        }
        if work - self.began >= ROTA {
            self.began = work;
            self.turn = (self.turn + 1) % self.rotas.len();
        }
        self.rotas[self.turn].choose()
    }

    /// The waiting states, with their numbers, in no particular order.
    pub(crate) fn states(&self) -> impl Iterator<Item = (u64, &State)> {
        self.waiting.states.iter().map(|(number, state)| (*number, &**state))
    }

    /// Takes the state of a number out of turn.
    pub(crate) fn take(&mut self, number: u64) -> Option<Box<State>> {
        self.last.remove(&number);
        for order in &mut self.orders {
            order.taken(number);
        }
        self.waiting.take(number)
    }

    /// The waiting states, in no particular order.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.waiting.states.iter_mut().map(|(_, state)| &mut **state)
    }

    /// Whether some waiting state can reach the current objective.
    pub(crate) fn reaches(&mut self, rank: &Rank<'_>) -> bool {
        let orders = self.orders.iter_mut();
        orders.filter_map(|order| order.reaches(&self.waiting, rank)).next().unwrap_or(true)
    }

    /// The number of waiting states.
    pub(crate) fn len(&self) -> usize {
        self.waiting.states.len()
    }

    /// Whether a state goes on after a split without a comparison with the others.
    pub(crate) fn stays(&self) -> bool {
        self.search == Search::DepthFirst
    }

    /// Takes all states, in the order of their arrival.
    pub(crate) fn drain(&mut self) -> Vec<Box<State>> {
        self.waiting.places.clear();
        self.last.clear();
        let mut states = std::mem::take(&mut self.waiting.states);
        states.sort_by_key(|(number, _)| *number);
        states.into_iter().map(|(_, state)| state).collect()
    }
}

fn orders_of(search: Search) -> Vec<Box<dyn Order>> {
    match search {
        Search::DepthFirst => vec![Box::new(Newest::default())],
        Search::BreadthFirst => vec![Box::new(Oldest::default())],
        Search::RandomState => vec![Box::new(RandomState)],
        Search::RandomPath => vec![Box::new(RandomPath::default())],
        Search::Md2u => vec![Box::new(Nearest::to(DistanceTarget::Left)), Box::new(RandomState)],
        Search::Sdgs | Search::Cpgs => vec![Box::new(TowardsObjective::default())],
        Search::Mixed => vec![
            Box::new(Nearest::to(DistanceTarget::New)),
            Box::new(Nearest::to(DistanceTarget::Left)),
            Box::new(RandomPath::default()),
            Box::new(RandomState),
            Box::new(Newest::default()),
        ],
    }
}

/// The rotas of a search. Ranks alone would keep to one part of the tree, even where the labels
/// left need another history and not another place, as with a loop that flags decide, or one that
/// needs many iterations. Labels that were reached and not covered may also be infeasible.
fn rotas_of(search: Search) -> Vec<Rota> {
    match search {
        Search::Md2u => vec![Rota::new(Clock::Choices, &[1, 1])],
        Search::Mixed => vec![
            Rota::new(Clock::Choices, &[2, 1, 1, 1, 0]),
            Rota::new(Clock::Work, &[3, 2, 2, 1, 1]),
        ],
        Search::DepthFirst
        | Search::BreadthFirst
        | Search::RandomState
        | Search::RandomPath
        | Search::Sdgs
        | Search::Cpgs => vec![Rota::new(Clock::Choices, &[1])],
    }
}
