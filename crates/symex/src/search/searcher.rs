//! Which state goes on.
//!
//! A [`Searcher`] holds the states that wait. One or several [`Order`]s over their numbers choose in
//! turn which one goes on, in shares; each is told of all states that come and go. Those whose paths get no
//! test are told to none, and go on last.

mod orders;
mod rota;
mod tree;

use std::collections::BTreeSet;

use lydian_base::Rng;
use rustc_hash::FxHashMap;

use crate::State;
use crate::config::Search;
use crate::search::directed::DirectedSearch;
use crate::search::distance::DistanceTarget;
use crate::search::rank::Ranks;
use orders::{Nearest, Newest, Oldest, RandomState, TowardsObjective};
use rota::{Clock, Rota};
use tree::RandomPath;

/// States that wait. They are boxed, as they are moved often and are large.
pub(crate) struct Searcher {
    waiting: Waiting,
    orders: Vec<Box<dyn Order>>,
    rotas: Vec<Rota>,
    /// States whose paths get no test: no order has them, and they go on where it has no other.
    last: BTreeSet<u64>,
    /// The newest first, whatever the order: it chooses while there are too many states.
    newest: Newest,
    is_crowded: bool,
    /// Which rota has its turn, the work of the whole exploration when that began, and when an order chose
    /// last, if one did.
    turn: usize,
    began: u64,
    chose: Option<u64>,
    next: u64,
    rng: Rng,
    search: Search,
}

/// A rota has its turn for so much work, in steps.
const ROTA: u64 = 16_000;

/// The states that wait, by number. Numbers grow.
#[derive(Default)]
struct Waiting {
    /// In no order.
    states: Vec<(u64, Box<State>)>,
    /// Where each number stands among them.
    places: FxHashMap<u64, usize>,
}

/// What orders look at.
pub(crate) struct Rank<'a> {
    pub(crate) ranks: &'a Ranks,
    /// Where states are followed for one objective at a time.
    pub(crate) directed: Option<&'a DirectedSearch<'a>>,
    /// How many functions run in turn, of which the last is under test.
    pub(crate) roots: usize,
}

impl Rank<'_> {
    /// How far a state is from something new now, the less the better.
    fn distance(&self, state: &State, target: DistanceTarget) -> u64 {
        self.ranks.rank(state, target)
    }

    /// What a state is worth for the objective that has its turn, the more the better; 0 where it
    /// cannot reach it or there is none.
    fn weight(&self, state: &State) -> u64 {
        self.directed.map_or(0, |directed| directed.weight(state, self.roots))
    }

    /// The number of that turn.
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

/// An order over the numbers of states that wait.
trait Order {
    /// A state waits.
    fn add(&mut self, number: u64, origin: Origin, state: &State, rank: &Rank<'_>);

    /// The state that is to go on: one that waits, unless none does.
    fn choose(&mut self, waiting: &Waiting, rng: &mut Rng, rank: &Rank<'_>) -> Option<u64>;

    /// A state was taken, chosen by this order or by another.
    fn taken(&mut self, _number: u64) {}

    /// Whether a state that waits can reach the objective that has its turn; `None` where the order
    /// does not ask.
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
    /// Without states, in an order and with a seed.
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

    /// Adds a state: the other side of a split of the state that was taken last or the first state of all,
    /// or the one that was taken last.
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

    /// Takes the state that is to go on, after so much work of the whole exploration, in steps.
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

    /// Says whether states, or what they take, are so many that paths are to come to their ends first: the
    /// newest state goes on then, of which fewest others come.
    pub(crate) fn crowd(&mut self, is_crowded: bool) {
        self.is_crowded = is_crowded;
    }

    /// Whether the newest state goes on for that reason.
    pub(crate) fn is_crowded(&self) -> bool {
        self.is_crowded
    }

    /// Says which order chooses.
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

    /// The states that wait, with their numbers, in no order.
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

    /// The states that wait, in no order.
    pub(crate) fn states_mut(&mut self) -> impl Iterator<Item = &mut State> {
        self.waiting.states.iter_mut().map(|(_, state)| &mut **state)
    }

    /// Whether some state that waits can reach the objective that has its turn.
    pub(crate) fn reaches(&mut self, rank: &Rank<'_>) -> bool {
        let orders = self.orders.iter_mut();
        orders.filter_map(|order| order.reaches(&self.waiting, rank)).next().unwrap_or(true)
    }

    /// How many states wait.
    pub(crate) fn len(&self) -> usize {
        self.waiting.states.len()
    }

    /// Whether the state that was just split should go on without looking at the others.
    pub(crate) fn stays(&self) -> bool {
        self.search == Search::DepthFirst
    }

    /// Takes all states, in the order in which they came.
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

/// How its orders take turns. Ranks alone keep to one part of the tree where what is left needs
/// another past, not another place: a loop whose flags decide, or one that must turn often. Labels
/// that were reached and not covered may be infeasible.
fn rotas_of(search: Search) -> Vec<Rota> {
    match search {
        Search::Md2u => vec![Rota::new(Clock::Choices, &[1, 1])],
        Search::Mixed => vec![
            Rota::new(Clock::Choices, &[2, 1, 1, 1, 0]),
            Rota::new(Clock::Work, &[3, 2, 2, 1, 1]),
        ],
        _ => vec![Rota::new(Clock::Choices, &[1])],
    }
}
