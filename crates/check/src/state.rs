//! A state on its way between two points: a value for each variable, under the condition of its paths.

use std::collections::BTreeMap;

use crate::document::Place;
use crate::terms::{Term, Terms};

/// A variable of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A register of an instance.
    Register(usize, u32),
    /// The address that an instance's struct or union result is copied to.
    Result(usize),
    /// A cell of an object, by its position.
    Cell(usize, usize),
    /// The elements of an object.
    Array(usize),
    /// How many bytes of an allocating place's room are taken.
    End(usize),
    /// The value that a part of the certificate's state had at the last point where it was current.
    Ghost(u32),
    /// The value of a part of the certificate's state that is kept from the beginning of an activation.
    Before(u32),
    /// The result of a recursive instance.
    Returned(usize),
    /// A part of the state that objectives keep.
    Note(Place),
}

/// The bits of an offset.
pub(crate) const OFFSET_BITS: u32 = 64;

/// An address as an offset in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Base {
    pub(crate) object: usize,
    /// [`OFFSET_BITS`] bits, whatever the target is: an address that is computed beyond its object does not
    /// come back to it.
    pub(crate) offset: Term,
}

/// A value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) term: Term,
    /// The object that it is the address of, where that is known.
    pub(crate) base: Option<Base>,
}

impl Value {
    pub(crate) const fn plain(term: Term) -> Self {
        Self { term, base: None }
    }
}

/// A state.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// Whether one of its paths is taken.
    pub(crate) guard: Term,
    pub(crate) values: BTreeMap<Key, Value>,
}

impl State {
    pub(crate) fn set(&mut self, key: Key, value: Value) {
        self.values.insert(key, value);
    }

    pub(crate) fn assume(&mut self, terms: &mut Terms, condition: Term) {
        self.guard = terms.and(self.guard, condition);
    }

    pub(crate) fn has_ended(&self, terms: &Terms) -> bool {
        terms.truth_of(self.guard) == Some(false)
    }
}

/// One state for some whose guards exclude one another; none if none of them can be. `fresh` gives any
/// value to a variable that only some of them have.
pub(crate) fn merged(
    terms: &mut Terms,
    mut states: Vec<State>,
    fresh: &mut impl FnMut(&mut Terms, Key) -> Value,
) -> Option<State> {
    states.retain(|state| !state.has_ended(terms));
    let mut states = states.into_iter();
    let mut all = states.next()?;
    for state in states {
        let differing: Vec<Key> = all
            .values
            .iter()
            .filter(|(key, value)| state.values.get(key) != Some(value))
            .map(|(key, _)| *key)
            .chain(state.values.keys().filter(|key| !all.values.contains_key(key)).copied())
            .collect();
        for key in differing {
            let one = all.values.get(&key).copied().unwrap_or_else(|| fresh(terms, key));
            let other = state.values.get(&key).copied().unwrap_or_else(|| fresh(terms, key));
            let value = chosen(terms, state.guard, other, one);
            all.values.insert(key, value);
        }
        all.guard = terms.or(all.guard, state.guard);
    }
    Some(all)
}

/// The first of two values where a condition holds, else the second.
fn chosen(terms: &mut Terms, test: Term, one: Value, other: Value) -> Value {
    let term = terms.choose(test, one.term, other.term);
    let base = match (one.base, other.base) {
        (Some(a), Some(b)) if a.object == b.object => {
            Some(Base { object: a.object, offset: terms.choose(test, a.offset, b.offset) })
        }
        _ => None,
    };
    Value { term, base }
}
