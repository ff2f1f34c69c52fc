//! Orders by number, by chance, or by rank.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use lydian_base::Rng;

use crate::State;
use crate::search::distance::DistanceTarget;
use crate::search::searcher::{Order, Origin, Rank, Waiting};

/// The newest state first.
#[derive(Default)]
pub(crate) struct Newest(Vec<u64>);

impl Order for Newest {
    fn add(&mut self, number: u64, _: Origin, _: &State, _: &Rank<'_>) {
        self.0.push(number);
    }

    fn choose(&mut self, waiting: &Waiting, _: &mut Rng, _: &Rank<'_>) -> Option<u64> {
        std::iter::from_fn(|| self.0.pop()).find(|number| waiting.get(*number).is_some())
    }
}

/// The oldest state first.
#[derive(Default)]
pub(crate) struct Oldest(VecDeque<u64>);

impl Order for Oldest {
    fn add(&mut self, number: u64, _: Origin, _: &State, _: &Rank<'_>) {
        self.0.push_back(number);
    }

    fn choose(&mut self, waiting: &Waiting, _: &mut Rng, _: &Rank<'_>) -> Option<u64> {
        std::iter::from_fn(|| self.0.pop_front()).find(|number| waiting.get(*number).is_some())
    }
}

/// A random state.
pub(crate) struct RandomState;

impl Order for RandomState {
    fn add(&mut self, _: u64, _: Origin, _: &State, _: &Rank<'_>) {}

    fn choose(&mut self, waiting: &Waiting, rng: &mut Rng, _: &Rank<'_>) -> Option<u64> {
        let count = waiting.states.len() as u64;
        (count > 0).then(|| waiting.states[rng.below(count) as usize].0)
    }
}

/// The least rank first. Of equal ranks the newest, so that a path is followed to its end; but
/// states with much smaller path conditions come before it ([`size`]).
pub(crate) struct Nearest {
    target: DistanceTarget,
    /// Ranks, sizes and numbers, including those of states that are gone.
    heap: BinaryHeap<(Reverse<(u64, usize)>, u64)>,
}

/// The size of a path condition, as far as it makes questions expensive.
fn size(state: &State) -> usize {
    state.path.facts.len() / 64
}

impl Nearest {
    /// An order without states.
    pub(crate) fn to(target: DistanceTarget) -> Self {
        Self { target, heap: BinaryHeap::new() }
    }
}

impl Order for Nearest {
    fn add(&mut self, number: u64, _: Origin, state: &State, rank: &Rank<'_>) {
        self.heap.push((Reverse((rank.distance(state, self.target), size(state))), number));
    }

    fn choose(&mut self, waiting: &Waiting, _: &mut Rng, rank: &Rank<'_>) -> Option<u64> {
        // Ranks only grow, as labels are covered, so a state with a rank that is still the least is
        // next.
        loop {
            let (Reverse((before, _)), number) = self.heap.pop()?;
            let Some(state) = waiting.get(number) else { continue };
            let now = (Reverse((rank.distance(state, self.target), size(state))), number);
            if now.0.0.0 <= before || self.heap.peek().is_none_or(|next| *next <= now) {
                return Some(number);
            }
            self.heap.push(now);
        }
    }
}

/// The greatest weight for the current objective first; of equal weights the newest. Where no state
/// can reach it, the state nearest to any objective that is left.
pub(crate) struct TowardsObjective {
    /// The turn that the weights belong to.
    turn: u32,
    /// Weights and numbers, including those of states that are gone.
    heap: BinaryHeap<(u64, u64)>,
    otherwise: Nearest,
}

impl Default for TowardsObjective {
    fn default() -> Self {
        Self { turn: 0, heap: BinaryHeap::new(), otherwise: Nearest::to(DistanceTarget::Left) }
    }
}

impl TowardsObjective {
    /// The waiting state with the greatest weight, which stays in the heap.
    fn best(&mut self, waiting: &Waiting, rank: &Rank<'_>) -> Option<(u64, u64)> {
        if self.turn != rank.turn() {
            self.turn = rank.turn();
            let all = waiting.states.iter();
            self.heap = all.map(|(number, state)| (rank.weight(state), *number)).collect();
        }
        while let Some(best) = self.heap.peek() {
            if waiting.get(best.1).is_some() {
                return Some(*best);
            }
            self.heap.pop();
        }
        None
    }
}

impl Order for TowardsObjective {
    fn add(&mut self, number: u64, origin: Origin, state: &State, rank: &Rank<'_>) {
        // All states are weighed when a turn begins.
        if self.turn == rank.turn() {
            self.heap.push((rank.weight(state), number));
        }
        self.otherwise.add(number, origin, state, rank);
    }

    fn choose(&mut self, waiting: &Waiting, rng: &mut Rng, rank: &Rank<'_>) -> Option<u64> {
        match self.best(waiting, rank) {
            Some((weight, number)) if weight > 0 => Some(number),
            _ => self.otherwise.choose(waiting, rng, rank),
        }
    }

    fn reaches(&mut self, waiting: &Waiting, rank: &Rank<'_>) -> Option<bool> {
        Some(self.best(waiting, rank).is_some_and(|(weight, _)| weight > 0))
    }
}
