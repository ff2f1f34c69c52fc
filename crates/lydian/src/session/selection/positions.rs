//! Positions in arrays: a test that begins in the middle of an array begins at its start instead.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use lydian_ir::scalars::{Scalar, ScalarKind};
use lydian_ir::test::{Image, PointerTarget, Test};

use super::byte_holders::{ByteHolder, bytes_of, holders, image, image_mut, number, put};
use super::reduction::TestReduction;
use crate::error::Error;

/// The most positions of one array that are tried.
const MOST_POSITIONS: usize = 8;

/// The most elements that are put in front of an array.
const MOST_IN_FRONT: u64 = 16;

/// A number of a test, with its value as a signed one.
struct Number {
    holder: ByteHolder,
    place: Scalar,
    value: i128,
}

impl TestReduction<'_, '_, '_, '_> {
    /// Lets pointers lead to the start of an array instead of behind its elements, with numbers that count
    /// from there; and removes the elements in front of the position from which an array is read.
    pub(crate) fn begin_at_starts(&mut self) -> Result<(), Error> {
        if self.is_stopped {
            return Ok(());
        }
        for at in 0..self.test.objects.len() {
            if let Some(size) = self.element_size(at) {
                self.count_from_start(at, size)?;
                while self.begin_later(at, size)? {}
            }
        }
        Ok(())
    }

    /// Moves pointers into an array to its start, with what is added to them. Where the function asks for
    /// a greater position, elements are put in front.
    fn count_from_start(&mut self, at: usize, size: u64) -> Result<(), Error> {
        let offsets: BTreeSet<u64> = offsets_into(&self.test, at).collect();
        for offset in offsets.into_iter().rev().filter(|offset| *offset > 0) {
            let before = offset / size;
            let numbers = self.numbers_among(at, -i128::from(before)..=-1);
            let most = if numbers.is_empty() { 0 } else { MOST_IN_FRONT };
            for more in [0, 1, 2, 4, 8, 16].into_iter().take_while(|more| *more <= most) {
                let mut candidate = with_more_in_front(&self.test, at, more * size);
                for holder in holders(&candidate) {
                    let own = offsets_in(image_mut(&mut candidate, holder), at);
                    own.filter(|own| **own == offset + more * size).for_each(|own| *own = 0);
                }
                let value = |number: &Number| number.value + i128::from(before + more);
                numbers.iter().for_each(|number| number.set(&mut candidate, value(number)));
                if self.take(candidate)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Removes elements from the start of an array once. Returns whether some were removed.
    fn begin_later(&mut self, at: usize, size: u64) -> Result<bool, Error> {
        let count = self.test.objects[at].count;
        let numbers = self.numbers_among(at, 1..=i128::from(count));
        let mut positions: BTreeSet<u64> =
            numbers.iter().map(|number| number.value as u64).collect();
        positions.extend(offsets_into(&self.test, at).map(|offset| offset / size));
        // What is read may begin in front of a position.
        let starts = positions.into_iter().flat_map(|at| [at, at.saturating_sub(1), at / 2]);
        let starts: BTreeSet<u64> = starts.filter(|start| (1..count).contains(start)).collect();
        for start in starts.into_iter().rev().take(MOST_POSITIONS) {
            let behind = |number: &&Number| number.value >= i128::from(start);
            let all: Vec<&Number> = numbers.iter().filter(behind).collect();
            let first = all.iter().map(|number| number.value).min();
            let some = all.iter().filter(|number| Some(number.value) == first).copied().collect();
            for lessened in [all, some] {
                let Some(candidate) = self.without_start(at, size, start, &lessened) else {
                    break;
                };
                if self.take(candidate)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The integers outside of an array that have such values.
    fn numbers_among(&self, at: usize, values: RangeInclusive<i128>) -> Vec<Number> {
        let outside = holders(&self.test).into_iter().filter(|own| *own != ByteHolder::Object(at));
        let numbers = outside.flat_map(|holder| {
            let places = self.numbers(holder).into_iter();
            places.map(move |place| {
                let value = number(&bytes_of(self.image(holder), &place), true);
                Number { holder, place, value }
            })
        });
        let is_integer = |number: &Number| matches!(number.place.kind, ScalarKind::Integer { .. });
        numbers.filter(|number| is_integer(number) && values.contains(&number.value)).collect()
    }

    /// The test without the first elements of an array, with these numbers lessened by as many; none
    /// where something leads to one of these elements but the first.
    fn without_start(
        &self,
        at: usize,
        size: u64,
        elements: u64,
        lessened: &[&Number],
    ) -> Option<Test> {
        let bytes = elements * size;
        let mut candidate = self.test.clone();
        let object = &mut candidate.objects[at];
        if object.image.pointers.iter().any(|pointer| pointer.offset < bytes) {
            return None;
        }
        object.count -= elements;
        object.image.bytes.drain(..bytes as usize);
        object.image.pointers.iter_mut().for_each(|pointer| pointer.offset -= bytes);
        for holder in holders(&candidate) {
            for offset in offsets_in(image_mut(&mut candidate, holder), at) {
                match *offset {
                    0 => {}
                    inside if inside < bytes => return None,
                    _ => *offset -= bytes,
                }
            }
        }
        if candidate.externals.iter().any(|call| call.read_place().is_some()) {
            return None;
        }
        let less = |number: &&Number| number.value - i128::from(elements);
        lessened.iter().for_each(|number| number.set(&mut candidate, less(number)));
        Some(candidate)
    }
}

impl Number {
    /// Gives it another value in a test.
    fn set(&self, test: &mut Test, value: i128) {
        let bytes = value.to_le_bytes();
        put(image_mut(test, self.holder), &self.place, &bytes[..self.place.size as usize]);
    }
}

/// The test with some bytes in front of an array, which pointers to its start lead to.
fn with_more_in_front(test: &Test, at: usize, bytes: u64) -> Test {
    let mut candidate = test.clone();
    for holder in holders(test) {
        let own = offsets_in(image_mut(&mut candidate, holder), at);
        own.filter(|own| **own > 0).for_each(|own| *own += bytes);
    }
    let object = &mut candidate.objects[at];
    let size = object.image.bytes.len() as u64 / object.count.max(1);
    let filler = if size == 1 { b'a' } else { 0 };
    object.image.bytes.splice(..0, std::iter::repeat_n(filler, bytes as usize));
    object.image.pointers.iter_mut().for_each(|pointer| pointer.offset += bytes);
    object.count += bytes / size.max(1);
    candidate
}

/// Where in an object the pointers of a test lead.
fn offsets_into(test: &Test, at: usize) -> impl Iterator<Item = u64> {
    let images = holders(test).into_iter().map(move |holder| image(test, holder));
    images.flat_map(|image| &image.pointers).filter_map(move |pointer| match pointer.target {
        PointerTarget::Object(position, offset) if position as usize == at => Some(offset),
        _ => None,
    })
}

/// The offsets of an image's pointers into an object.
fn offsets_in(image: &mut Image, at: usize) -> impl Iterator<Item = &mut u64> {
    image.pointers.iter_mut().filter_map(move |pointer| match &mut pointer.target {
        PointerTarget::Object(position, offset) if *position as usize == at => Some(offset),
        _ => None,
    })
}
