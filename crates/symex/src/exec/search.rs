//! Which state goes on.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lydian_base::Rng;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::state::State;

/// The order of exploration. Each is deterministic; the random one follows from its seed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// The newest state first.
    DepthFirst,
    /// The oldest state first.
    BreadthFirst,
    /// Any state.
    Random,
    /// The state that is nearest to a label that is left, in edges of the control-flow graph, and
    /// now and then any state.
    #[default]
    Coverage,
}

/// States that wait. They are boxed, as they are moved often and are large.
pub(super) trait Searcher {
    /// Adds a state; `rank` is how far it is from something new, the less the better.
    fn push(&mut self, state: Box<State>, rank: u64);
    /// Takes the state that is to go on. `rank` gives the rank that a state has now.
    fn pop(&mut self, rank: &mut dyn FnMut(&State) -> u64) -> Option<Box<State>>;
    /// How many states wait.
    fn len(&self) -> usize;
    /// Whether the state that was just split should go on without looking at the others.
    fn stays(&self) -> bool;
    /// Takes all states.
    fn drain(&mut self) -> Vec<Box<State>>;
}

impl Search {
    /// The searcher of this order.
    pub(super) fn searcher(self, seed: u64) -> Box<dyn Searcher> {
        match self {
            Self::DepthFirst => Box::new(DepthFirst(Vec::new())),
            Self::BreadthFirst => Box::new(BreadthFirst(VecDeque::new())),
            Self::Random => Box::new(Random { states: Vec::new(), rng: Rng::new(seed) }),
            Self::Coverage => Box::new(Nearest::new(seed)),
        }
    }
}

struct DepthFirst(Vec<Box<State>>);

impl Searcher for DepthFirst {
    fn push(&mut self, state: Box<State>, _: u64) {
        self.0.push(state);
    }

    fn pop(&mut self, _: &mut dyn FnMut(&State) -> u64) -> Option<Box<State>> {
        self.0.pop()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn stays(&self) -> bool {
        true
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.0)
    }
}

struct BreadthFirst(VecDeque<Box<State>>);

impl Searcher for BreadthFirst {
    fn push(&mut self, state: Box<State>, _: u64) {
        self.0.push_back(state);
    }

    fn pop(&mut self, _: &mut dyn FnMut(&State) -> u64) -> Option<Box<State>> {
        self.0.pop_front()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn stays(&self) -> bool {
        false
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.0).into()
    }
}

struct Random {
    states: Vec<Box<State>>,
    rng: Rng,
}

impl Searcher for Random {
    fn push(&mut self, state: Box<State>, _: u64) {
        self.states.push(state);
    }

    fn pop(&mut self, _: &mut dyn FnMut(&State) -> u64) -> Option<Box<State>> {
        let count = self.states.len() as u64;
        (count > 0).then(|| self.states.swap_remove(self.rng.below(count) as usize))
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn stays(&self) -> bool {
        false
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.states)
    }
}

/// One choice in so many is any state. Ranks alone keep to one part of the tree where what is left
/// needs another past, not another place: a loop whose flags decide, say.
const ANY: u64 = 4;

/// The least rank first; of equal ones the newest, so that a path is followed to its end. Now and
/// then any state.
struct Nearest {
    /// The states with their numbers, in no order.
    states: Vec<(u64, Box<State>)>,
    /// Where each number stands among the states.
    places: FxHashMap<u64, usize>,
    /// Numbers by rank, those of states that are gone among them.
    heap: BinaryHeap<Waiting>,
    next: u64,
    choices: u64,
    rng: Rng,
}

impl Nearest {
    fn new(seed: u64) -> Self {
        Self {
            states: Vec::new(),
            places: FxHashMap::default(),
            heap: BinaryHeap::new(),
            next: 0,
            choices: 0,
            rng: Rng::new(seed),
        }
    }

    fn take(&mut self, place: usize) -> Box<State> {
        let (number, state) = self.states.swap_remove(place);
        self.places.remove(&number);
        if let Some((moved, _)) = self.states.get(place) {
            self.places.insert(*moved, place);
        }
        state
    }
}

/// A state's rank and number.
struct Waiting {
    key: (Reverse<u64>, u64),
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Searcher for Nearest {
    fn push(&mut self, state: Box<State>, rank: u64) {
        self.next += 1;
        self.places.insert(self.next, self.states.len());
        self.states.push((self.next, state));
        self.heap.push(Waiting { key: (Reverse(rank), self.next) });
    }

    fn pop(&mut self, rank: &mut dyn FnMut(&State) -> u64) -> Option<Box<State>> {
        self.choices += 1;
        if self.choices.is_multiple_of(ANY) && !self.states.is_empty() {
            let place = self.rng.below(self.states.len() as u64) as usize;
            return Some(self.take(place));
        }
        // Ranks only grow, as labels are covered: a state whose rank is still the least is next.
        loop {
            let mut top = self.heap.pop()?;
            let Some(&place) = self.places.get(&top.key.1) else { continue };
            let now = rank(&self.states[place].1);
            let stale = now > top.key.0.0;
            top.key.0 = Reverse(now);
            if !stale || self.heap.peek().is_none_or(|next| next.key <= top.key) {
                return Some(self.take(place));
            }
            self.heap.push(top);
        }
    }

    fn len(&self) -> usize {
        self.states.len()
    }

    fn stays(&self) -> bool {
        false
    }

    fn drain(&mut self) -> Vec<Box<State>> {
        self.heap.clear();
        self.places.clear();
        std::mem::take(&mut self.states).into_iter().map(|(_, state)| state).collect()
    }
}
