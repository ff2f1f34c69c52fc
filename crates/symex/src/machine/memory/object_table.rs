//! The objects of a region, shared between states until they are changed.
//!
//! A path that allocates in a loop has many objects, and each of its forks has them, too. So a change
//! copies the part of the table that it is in, and not the whole.

use std::ops::Index;
use std::sync::Arc;

use crate::machine::memory::Object;

/// The objects of a full part.
const PART: usize = 32;

type Part = Vec<Arc<Object>>;

/// Objects by their position.
#[derive(Clone, Debug, Default)]
pub(super) struct ObjectTable {
    /// The parts. All but the last are full, and none is empty.
    parts: Arc<Vec<Arc<Part>>>,
}

impl ObjectTable {
    /// The number of objects.
    pub(super) fn len(&self) -> usize {
        self.parts.last().map_or(0, |last| (self.parts.len() - 1) * PART + last.len())
    }

    /// The last object.
    pub(super) fn last(&self) -> Option<&Arc<Object>> {
        self.parts.last().and_then(|part| part.last())
    }

    /// All objects, by position.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// Whether both are the same table, so that nothing differs.
    pub(super) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts)
    }

    /// The object at a position, to be changed in this table alone.
    pub(super) fn get_mut(&mut self, at: usize) -> &mut Object {
        let parts = Arc::make_mut(&mut self.parts);
        Arc::make_mut(&mut Arc::make_mut(&mut parts[at / PART])[at % PART])
    }

    /// Adds an object behind the others.
    pub(super) fn push(&mut self, object: Arc<Object>) {
        let parts = Arc::make_mut(&mut self.parts);
        match parts.last_mut() {
            Some(last) if last.len() < PART => Arc::make_mut(last).push(object),
            _ => parts.push(Arc::new(vec![object])),
        }
    }

    /// Removes the last object.
    pub(super) fn pop(&mut self) {
        let parts = Arc::make_mut(&mut self.parts);
        if let Some(last) = parts.last_mut() {
            Arc::make_mut(last).pop();
        }
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
    }

    /// The position of the first object for which a condition does not hold; it holds for those before
    /// that one alone.
    pub(super) fn partition_point(&self, holds: impl Fn(&Object) -> bool) -> usize {
        let part =
            self.parts.partition_point(|part| part.first().is_some_and(|first| holds(first)));
        // The first one of this part does not hold, so the border is in the part before it.
        let Some(before) = part.checked_sub(1) else { return 0 };
        before * PART + self.parts[before].partition_point(|object| holds(object))
    }
}

impl Index<usize> for ObjectTable {
    type Output = Arc<Object>;

    fn index(&self, at: usize) -> &Arc<Object> {
        &self.parts[at / PART][at % PART]
    }
}

impl FromIterator<Arc<Object>> for ObjectTable {
    fn from_iter<I: IntoIterator<Item = Arc<Object>>>(objects: I) -> Self {
        let mut table = Self::default();
        objects.into_iter().for_each(|object| table.push(object));
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::memory::{AccessRanges, Background, Contents, ObjectKind};

    fn object_at(base: u64) -> Object {
        Object {
            base,
            alignment: 1,
            size: 8,
            length: None,
            kind: ObjectKind::Local,
            alive: true,
            read_only: false,
            name: "x".into(),
            first: None,
            contents: Contents::new(Background::Zero),
            touched: AccessRanges::default(),
        }
    }

    #[test]
    fn a_table_has_what_a_list_has_and_a_copy_keeps_it() {
        let (mut table, mut list) = (ObjectTable::default(), Vec::new());
        let mut copies = Vec::new();
        for step in 0..300_u64 {
            match step % 7 {
                3 | 5 if step > 200 => {
                    table.pop();
                    list.pop();
                }
                _ => {
                    let object = Arc::new(object_at(16 * step));
                    table.push(object.clone());
                    list.push(object);
                }
            }
            if step % 50 == 0 {
                copies.push((table.clone(), list.clone()));
                let at = list.len() / 2;
                table.get_mut(at).size += 1;
                Arc::make_mut(&mut list[at]).size += 1;
            }
        }
        copies.push((table, list));
        for (table, list) in copies {
            assert_eq!(table.len(), list.len());
            assert!(table.iter().zip(&list).all(|(a, b)| a == b));
            assert!((0..list.len()).all(|at| table[at] == list[at]));
            assert_eq!(table.last(), list.last());
            for address in (0..5000).step_by(24) {
                let before = |object: &Object| object.base <= address;
                assert_eq!(
                    table.partition_point(before),
                    list.partition_point(|object| before(object))
                );
            }
        }
    }
}
