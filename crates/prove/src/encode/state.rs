//! A simulated state: a value for each slot, and the conditions of the path.
//!
//! States are copied often and differ little, so slots lie in chunks that copies share. Where paths
//! join, the conditions that they begin with stay, and the others become one alternative. So a branch
//! leaves no trace in the conditions once both of its sides have come together.

pub(crate) mod liveness;
pub(crate) mod scopes;
pub(crate) mod slots;

use std::rc::Rc;

use lydian_base::EntityId;
use lydian_smt::{Term, TermPool};

use crate::encode::ids::SlotId;

const CHUNK: usize = 32;

/// A set of slots.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct SlotSet(Vec<u64>);

impl SlotSet {
    pub(crate) fn with_room(slots: usize) -> Self {
        Self(vec![0; slots.div_ceil(64)])
    }

    pub(crate) fn insert(&mut self, slot: SlotId) {
        self.0[slot.index() / 64] |= 1 << (slot.index() % 64);
    }

    pub(crate) fn contains(&self, slot: SlotId) -> bool {
        self.0[slot.index() / 64] >> (slot.index() % 64) & 1 == 1
    }

    /// The slots of two sets.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    /// Adds the slots of another set but for some. Returns whether that changed it.
    pub(crate) fn add_all_but(&mut self, other: &Self, but: &Self) -> bool {
        let mut changed = false;
        for ((word, other), but) in self.0.iter_mut().zip(&other.0).zip(&but.0) {
            let new = *word | (other & !but);
            changed |= new != *word;
            *word = new;
        }
        changed
    }
}

/// A state on its way.
#[derive(Clone, Debug)]
pub(crate) struct State {
    chunks: Vec<Rc<[Option<Term>; CHUNK]>>,
    /// Booleans that all hold.
    conditions: Vec<Term>,
    /// Whether the path surely ended.
    pub(crate) ended: bool,
}

impl State {
    /// Without values.
    pub(crate) fn new(slots: usize) -> Self {
        let empty = Rc::new([None; CHUNK]);
        let chunks = vec![empty; slots.div_ceil(CHUNK)];
        Self { chunks, conditions: Vec::new(), ended: false }
    }

    /// The value of a slot; none where it has never been written.
    pub(crate) fn get(&self, slot: SlotId) -> Option<Term> {
        self.chunks[slot.index() / CHUNK][slot.index() % CHUNK]
    }

    pub(crate) fn set(&mut self, slot: SlotId, value: Option<Term>) {
        let (chunk, at) = (slot.index() / CHUNK, slot.index() % CHUNK);
        if self.chunks[chunk][at] != value {
            Rc::make_mut(&mut self.chunks[chunk])[at] = value;
        }
    }

    /// Adds a condition of the path.
    pub(crate) fn assume(&mut self, pool: &TermPool, condition: Term) {
        match pool.as_bool(condition) {
            Some(true) => {}
            Some(false) => self.ended = true,
            None if self.conditions.contains(&condition) => {}
            None => self.conditions.push(condition),
        }
    }

    /// The condition of the path.
    pub(crate) fn guard(&self, pool: &mut TermPool) -> Term {
        if self.ended {
            return pool.ff();
        }
        pool.and_all(self.conditions.iter().copied())
    }

    /// How many conditions two states have in common at their beginning.
    fn common(&self, other: &Self) -> usize {
        let pairs = self.conditions.iter().zip(&other.conditions);
        pairs.take_while(|(a, b)| a == b).count()
    }
}

/// Merges states; `is_live` says which slots keep their values. A slot that only some states have a value
/// for has any value in the others, which `fresh` gives.
pub(crate) fn merged(
    pool: &mut TermPool,
    states: Vec<State>,
    live: &SlotSet,
    fresh: &mut impl FnMut(&mut TermPool, SlotId) -> Term,
) -> Option<State> {
    let mut states: Vec<State> = states.into_iter().filter(|state| !state.ended).collect();
    while states.len() > 1 {
        let mut best = (0, 0);
        for at in 0..states.len() - 1 {
            let common = states[at].common(&states[at + 1]);
            if common >= best.1 {
                best = (at, common);
            }
        }
        let other = states.remove(best.0 + 1);
        let one = &mut states[best.0];
        merge(pool, one, &other, (best.1, live), fresh);
    }
    let mut state = states.pop()?;
    drop_dead(&mut state, live);
    Some(state)
}

fn drop_dead(state: &mut State, live: &SlotSet) {
    for chunk in 0..state.chunks.len() {
        for at in 0..CHUNK {
            let slot = SlotId::from_index(chunk * CHUNK + at);
            if state.chunks[chunk][at].is_some() && !live.contains(slot) {
                state.set(slot, None);
            }
        }
    }
}

fn merge(
    pool: &mut TermPool,
    one: &mut State,
    other: &State,
    (common, live): (usize, &SlotSet),
    fresh: &mut impl FnMut(&mut TermPool, SlotId) -> Term,
) {
    let (a, b) = (&one.conditions[common..], &other.conditions[common..]);
    let chosen = choice(pool, a, b);
    let (of_a, of_b) = (pool.and_all(a.iter().copied()), pool.and_all(b.iter().copied()));
    let either = pool.or(of_a, of_b);
    one.conditions.truncate(common);
    one.assume(pool, either);
    for chunk in 0..one.chunks.len() {
        if Rc::ptr_eq(&one.chunks[chunk], &other.chunks[chunk]) {
            continue;
        }
        for at in 0..CHUNK {
            let (x, y) = (one.chunks[chunk][at], other.chunks[chunk][at]);
            if x == y {
                continue;
            }
            let slot = SlotId::from_index(chunk * CHUNK + at);
            if !live.contains(slot) {
                one.set(slot, None);
                continue;
            }
            let x = x.unwrap_or_else(|| fresh(pool, slot));
            let y = y.unwrap_or_else(|| fresh(pool, slot));
            let value = pool.ite(chosen, x, y);
            one.set(slot, Some(value));
        }
    }
}

/// A condition that holds on the first of two paths and not on the second.
fn choice(pool: &mut TermPool, a: &[Term], b: &[Term]) -> Term {
    if let (Some(a), Some(b)) = (a.first(), b.first())
        && pool.not(*a) == *b
    {
        return *a;
    }
    pool.and_all(a.iter().copied())
}
