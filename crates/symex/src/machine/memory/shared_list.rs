//! A list that copies share until one of them changes it.
//!
//! A path that allocates in a loop has many objects, and each of its forks has them, too. So a change
//! copies the part of the list that it is in, and not the whole.

use std::ops::Index;
use std::sync::Arc;

/// The elements of a full part.
const PART: usize = 32;

type Part<T> = Vec<Arc<T>>;

/// Elements by their position.
#[derive(Debug)]
pub(super) struct SharedList<T> {
    /// The parts. All but the last are full, and none is empty.
    parts: Arc<Vec<Arc<Part<T>>>>,
}

impl<T> Clone for SharedList<T> {
    fn clone(&self) -> Self {
        Self { parts: self.parts.clone() }
    }
}

impl<T> Default for SharedList<T> {
    fn default() -> Self {
        Self { parts: Arc::default() }
    }
}

impl<T: Clone> SharedList<T> {
    /// The number of elements.
    pub(super) fn len(&self) -> usize {
        self.parts.last().map_or(0, |last| (self.parts.len() - 1) * PART + last.len())
    }

    /// The last element.
    pub(super) fn last(&self) -> Option<&Arc<T>> {
        self.parts.last().and_then(|part| part.last())
    }

    /// All elements, by position.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.parts.iter().flat_map(|part| part.iter())
    }

    /// Whether both are the same list, so that nothing differs.
    pub(super) fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parts, &other.parts)
    }

    /// The element at a position, to be changed in this list alone.
    pub(super) fn get_mut(&mut self, at: usize) -> &mut T {
        let parts = Arc::make_mut(&mut self.parts);
        Arc::make_mut(&mut Arc::make_mut(&mut parts[at / PART])[at % PART])
    }

    /// Adds an element behind the others.
    pub(super) fn push(&mut self, element: Arc<T>) {
        let parts = Arc::make_mut(&mut self.parts);
        match parts.last_mut() {
            Some(last) if last.len() < PART => Arc::make_mut(last).push(element),
            _ => parts.push(Arc::new(vec![element])),
        }
    }

    /// Removes the last element.
    pub(super) fn pop(&mut self) {
        let parts = Arc::make_mut(&mut self.parts);
        if let Some(last) = parts.last_mut() {
            Arc::make_mut(last).pop();
        }
        if parts.last().is_some_and(|last| last.is_empty()) {
            parts.pop();
        }
    }

    /// The position of the first element for which a condition does not hold; it holds for those before
    /// that one alone.
    pub(super) fn partition_point(&self, holds: impl Fn(&T) -> bool) -> usize {
        let part =
            self.parts.partition_point(|part| part.first().is_some_and(|first| holds(first)));
        // The first one of this part does not hold, so the border is in the part before it.
        let Some(before) = part.checked_sub(1) else { return 0 };
        before * PART + self.parts[before].partition_point(|element| holds(element))
    }
}

impl<T> Index<usize> for SharedList<T> {
    type Output = Arc<T>;

    fn index(&self, at: usize) -> &Arc<T> {
        &self.parts[at / PART][at % PART]
    }
}

impl<T: Clone> FromIterator<Arc<T>> for SharedList<T> {
    fn from_iter<I: IntoIterator<Item = Arc<T>>>(elements: I) -> Self {
        let mut list = Self::default();
        elements.into_iter().for_each(|element| list.push(element));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn it_has_what_a_vector_has_and_a_copy_keeps_it() {
        let (mut shared, mut list) = (SharedList::default(), Vec::new());
        let mut copies = Vec::new();
        for step in 0..300_u64 {
            match step % 7 {
                3 | 5 if step > 200 => {
                    shared.pop();
                    list.pop();
                }
                _ => {
                    let element = Arc::new(16 * step);
                    shared.push(element.clone());
                    list.push(element);
                }
            }
            if step % 50 == 0 {
                copies.push((shared.clone(), list.clone()));
                let at = list.len() / 2;
                *shared.get_mut(at) += 1;
                *Arc::make_mut(&mut list[at]) += 1;
            }
        }
        copies.push((shared, list));
        for (shared, list) in copies {
            assert_eq!(shared.len(), list.len());
            assert!(shared.iter().zip(&list).all(|(a, b)| a == b));
            assert!((0..list.len()).all(|at| shared[at] == list[at]));
            assert_eq!(shared.last(), list.last());
            for address in (0..5000).step_by(24) {
                let before = |element: &u64| *element <= address;
                assert_eq!(shared.partition_point(before), list.partition_point(|at| before(at)));
            }
        }
    }
}
