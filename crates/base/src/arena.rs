//! Typed ids, the arenas that own what they name, and side tables that annotate it.
//!
//! An id is meaningful only with the arena that made it. `Display` of an id is its text syntax.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A dense `u32` index of one kind of entity.
pub trait EntityId: Copy + Eq + Ord + std::hash::Hash + fmt::Debug + fmt::Display {
    /// The id with this index. Panics when the index needs more than 32 bits, since an arena of
    /// four thousand million entities is a fault of the tool.
    fn from_index(index: usize) -> Self;
    /// The position in the arena.
    fn index(self) -> usize;
}

/// Defines a typed id whose text is a prefix and a number, such as `bb3`.
#[macro_export]
macro_rules! entity_id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub struct $name(u32);

        impl $crate::arena::EntityId for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("an arena holds fewer than 2^32 entities"))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// Owns entities of type `T`, named by ids of type `I` in the order in which they were pushed.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Arena<I, T> {
    items: Vec<T>,
    #[serde(skip)]
    ids: PhantomData<fn() -> I>,
}

impl<I: EntityId, T> Arena<I, T> {
    /// An empty arena.
    pub const fn new() -> Self {
        Self { items: Vec::new(), ids: PhantomData }
    }

    /// Adds an entity and returns its id.
    pub fn push(&mut self, item: T) -> I {
        let id = I::from_index(self.items.len());
        self.items.push(item);
        id
    }

    /// The id that the next `push` will return.
    pub fn next_id(&self) -> I {
        I::from_index(self.items.len())
    }

    /// The entity, or `None` for an id of another arena that is out of range here.
    pub fn get(&self, id: I) -> Option<&T> {
        self.items.get(id.index())
    }

    /// The number of entities.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// All ids, in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.items.len()).map(I::from_index)
    }

    /// All entities with their ids, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// All entities, to be changed in place.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (I, &mut T)> {
        self.items.iter_mut().enumerate().map(|(index, item)| (I::from_index(index), item))
    }

    /// All entities, in order, taken out.
    pub fn into_values(self) -> std::vec::IntoIter<T> {
        self.items.into_iter()
    }

    /// All entities, in order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }
}

impl<I: EntityId, T> Default for Arena<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I, T: fmt::Debug> fmt::Debug for Arena<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl<I: EntityId, T> FromIterator<T> for Arena<I, T> {
    fn from_iter<It: IntoIterator<Item = T>>(iter: It) -> Self {
        Self { items: iter.into_iter().collect(), ids: PhantomData }
    }
}

impl<I: EntityId, T> Index<I> for Arena<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.index()]
    }
}

impl<I: EntityId, T> IndexMut<I> for Arena<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.index()]
    }
}

/// Annotates entities of another arena. Every id has a value: the default until one is set.
/// Tables are equal if every id has the same value in both.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct SideTable<I, T> {
    items: Vec<T>,
    default: T,
    #[serde(skip)]
    ids: PhantomData<fn() -> I>,
}

impl<I: EntityId, T: Clone> SideTable<I, T> {
    /// A table in which every id has the value `default`.
    pub const fn new(default: T) -> Self {
        Self { items: Vec::new(), default, ids: PhantomData }
    }

    /// Sets the value of one id.
    pub fn set(&mut self, id: I, value: T) {
        *self.get_mut(id) = value;
    }

    /// The values that were set, to be changed in place.
    pub fn set_values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// The value of one id, to be changed in place.
    pub fn get_mut(&mut self, id: I) -> &mut T {
        if id.index() >= self.items.len() {
            self.items.resize(id.index() + 1, self.default.clone());
        }
        &mut self.items[id.index()]
    }
}

impl<I: EntityId, T> Index<I> for SideTable<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        self.items.get(id.index()).unwrap_or(&self.default)
    }
}

impl<I, T: PartialEq> PartialEq for SideTable<I, T> {
    fn eq(&self, other: &Self) -> bool {
        let common = self.items.len().min(other.items.len());
        self.default == other.default
            && self.items[..common] == other.items[..common]
            && self.items[common..].iter().all(|item| *item == self.default)
            && other.items[common..].iter().all(|item| *item == self.default)
    }
}

impl<I, T: Eq> Eq for SideTable<I, T> {}

impl<I: EntityId, T: Clone + Default> Default for SideTable<I, T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macro makes public ids")]
mod tests {
    use super::*;

    entity_id!(
        /// An id for these tests.
        TestId,
        "t"
    );

    #[test]
    fn an_arena_hands_out_ids_in_order_and_finds_their_entities() {
        let mut arena: Arena<TestId, &str> = Arena::new();
        let first = arena.push("first");
        let second = arena.push("second");
        assert_eq!((first.to_string(), second.to_string()), ("t0".into(), "t1".into()));
        assert_eq!((arena[first], arena[second]), ("first", "second"));
        assert_eq!(arena.get(arena.next_id()), None);
    }

    #[test]
    fn a_side_table_answers_with_its_default_until_a_value_is_set() {
        let mut table: SideTable<TestId, u8> = SideTable::new(7);
        let id = TestId::from_index(3);
        assert_eq!(table[id], 7);
        table.set(id, 1);
        assert_eq!((table[id], table[TestId::from_index(2)]), (1, 7));
    }

    #[test]
    fn a_side_table_does_not_tell_a_default_that_was_set_from_one_that_was_not() {
        let empty: SideTable<TestId, u8> = SideTable::new(7);
        let mut table = empty.clone();
        table.set(TestId::from_index(3), 7);
        assert_eq!(table, empty);
        table.set(TestId::from_index(1), 6);
        assert_ne!(table, empty);
    }
}
