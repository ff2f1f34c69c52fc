//! Objects of inputs that come into being as a path looks at them ([`lydian_inputs::lazy`]): reading and
//! writing their parts.
//!
//! In memory such an object is [`ROOM`](lydian_inputs::lazy::ROOM) bytes whose middle is the place that
//! its pointer leads to. What was written at known places lies in cells over the parts; what was
//! written where the place depends on the input makes the row an array term.

use std::ops::Range;

use lydian_eval::to_bytes;
use lydian_inputs::lazy::{INDEX_BITS, LazyObject, REACH, Row};
use lydian_inputs::shape::PartKind;
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

/// The rows of a lazy object that are array terms, by the part of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows(SmallVec<[(u64, Term); 1]>);

impl Rows {
    /// The array that a row is, if it is one.
    pub(super) fn get(&self, row: &Row) -> Option<Term> {
        let known = self.0.iter().find(|(part, _)| *part == row.part);
        known.map(|(_, array)| *array)
    }

    /// Makes a row an array.
    pub(super) fn set(&mut self, row: &Row, array: Term) {
        match self.0.iter_mut().find(|(part, _)| *part == row.part) {
            Some(known) => known.1 = array,
            None => self.0.push((row.part, array)),
        }
    }
}

/// Bytes of a lazy object that a path looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Touched {
    /// Ranges of places, sorted, none next to another.
    ranges: Vec<(u64, u64)>,
    /// The same for bytes whose first value was read.
    read: Vec<(u64, u64)>,
    /// Places that depend on the input, as terms, with how many bytes.
    at: Vec<(Term, u64)>,
}

impl Touched {
    /// Whether a range of places is known, and was read if it is to be.
    pub fn has(&self, range: (u64, u64), read: bool) -> bool {
        holds(&self.ranges, range) && (!read || holds(&self.read, range))
    }

    /// Adds a range of places, whose first values may be read.
    pub fn add(&mut self, range: (u64, u64), read: bool) {
        insert(&mut self.ranges, range);
        if read {
            insert(&mut self.read, range);
        }
    }

    /// Whether a place that depends on the input is known.
    pub fn has_at(&self, at: Term, size: u64) -> bool {
        self.at.contains(&(at, size))
    }

    /// Adds a place that depends on the input.
    pub fn add_at(&mut self, at: Term, size: u64) {
        self.at.push((at, size));
    }

    /// All ranges of known places.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// The ranges whose first values were read.
    pub fn read(&self) -> &[(u64, u64)] {
        &self.read
    }

    /// All places that depend on the input.
    pub fn at(&self) -> &[(Term, u64)] {
        &self.at
    }

    /// What one of two paths touched.
    pub fn either(&self, other: &Self) -> Self {
        let mut both = self.clone();
        other.ranges.iter().for_each(|range| insert(&mut both.ranges, *range));
        other.read.iter().for_each(|range| insert(&mut both.read, *range));
        both.at.extend(other.at.iter().filter(|at| !self.at.contains(at)));
        both
    }
}

/// Whether a range lies within one of some ranges.
fn holds(ranges: &[(u64, u64)], (from, to): (u64, u64)) -> bool {
    let after = ranges.partition_point(|(start, _)| *start <= from);
    after > 0 && to <= ranges[after - 1].1
}

/// Adds a range to sorted ranges, and joins those that it meets.
fn insert(ranges: &mut Vec<(u64, u64)>, (from, to): (u64, u64)) {
    let first = ranges.partition_point(|(_, end)| *end < from);
    let last = ranges.partition_point(|(start, _)| *start <= to);
    let joined = ranges[first..last]
        .iter()
        .fold((from, to), |(from, to), (start, end)| (from.min(*start), to.max(*end)));
    ranges.splice(first..last, [joined]);
}

/// How far a byte lies from where the pointer leads, by its place in the object.
pub(super) const fn distance(place: u64) -> i64 {
    place as i64 - REACH as i64
}

/// The place in the object of a byte at a distance.
pub(super) const fn place(distance: i64) -> u64 {
    (distance + REACH as i64) as u64
}

/// The index of an element as array terms take it.
pub(super) fn index_term(pool: &mut TermPool, index: i64) -> Term {
    pool.bv_signed(INDEX_BITS, index)
}

/// The value of an element of a row where no cell covers it.
fn element(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &Rows,
    row: &Row,
    index: i64,
    path: &str,
) -> Term {
    let Some(array) = rows.get(row) else { return object.element(pool, row, index) };
    let at = index_term(pool, index);
    let bits = pool.select(array, at);
    object.from_bits(pool, row.kind, bits, &format!("{}{path}", object.name))
}

/// `size` bytes that no cell covers: the very value of a part where they are one, else a bit-vector.
pub(super) fn read_part(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &Rows,
    at: i64,
    size: u64,
) -> Term {
    let (row, index, path) = object.row_at(at);
    if object.start_of(&row, index) == at && row.kind.bytes() == size {
        return element(pool, object, rows, &row, index, &path);
    }
    read(pool, object, rows, at, size)
}

/// `size` bytes that no cell covers, as a bit-vector.
pub(super) fn read(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &Rows,
    at: i64,
    size: u64,
) -> Term {
    let end = at + size as i64;
    let mut whole: Option<Term> = None;
    let mut next = at;
    while next < end {
        let (row, index, path) = object.row_at(next);
        let start = object.start_of(&row, index);
        let to = (start + row.kind.bytes() as i64).min(end);
        let value = element(pool, object, rows, &row, index, &path);
        let bits = to_bytes(pool, value);
        let low = (next - start) as u32 * 8;
        let piece = pool.extract(low + (to - next) as u32 * 8 - 1, low, bits);
        whole = Some(match whole {
            Some(low) => pool.concat(piece, low),
            None => piece,
        });
        next = to;
    }
    whole.expect("a read of at least one byte")
}

/// The parts of a range of an object's bytes by their places, cut to the range.
pub(super) fn parts(object: &LazyObject, offset: u64, size: u64) -> Vec<(u64, u8)> {
    let (mut next, end) = (distance(offset), distance(offset + size));
    let mut found = Vec::new();
    while next < end {
        let (row, index, _) = object.row_at(next);
        let to = (object.start_of(&row, index) + row.kind.bytes() as i64).min(end);
        found.push((place(next), (to - next) as u8));
        next = to;
    }
    found
}

/// The elements of a row of which some byte lies in a range.
pub(super) fn elements_within(object: &LazyObject, row: &Row, at: i64, size: u64) -> Range<i64> {
    let (stride, bytes) = (row.stride as i64, row.kind.bytes() as i64);
    let from = at - object.start_of(row, 0);
    let first = (from - bytes).div_euclid(stride) + 1;
    let end = (from + size as i64 - 1).div_euclid(stride) + 1;
    // A flexible array member has no elements before its first.
    let first = if row.is_tail { first.max(0) } else { first };
    first..end.max(first)
}

/// An access whose place depends on the input, as elements of a row.
#[derive(Clone, Debug)]
pub(super) enum Places {
    /// One element of a row at an index of [`INDEX_BITS`] bits.
    Element(Row, Term),
    /// Bytes within elements of a row of numbers, from one that lies so far from the row's first, a
    /// term of 64 bits.
    Bytes(Row, Term),
    /// An array of known length within the object: its first position at the access' stride, and how
    /// many there are.
    Listed {
        /// The distance of the first place from the middle.
        first: i64,
        /// How many places there are.
        count: u64,
    },
}

/// What an access of `size` bytes at `start + stride * index` from the object's first byte is. None
/// where it is none of [`Places`].
pub(super) fn places(
    pool: &mut TermPool,
    object: &LazyObject,
    (start, stride, index): (i64, u64, Term),
    size: u64,
) -> Option<Places> {
    let at = start.checked_sub(REACH as i64)?;
    if !(-(REACH as i64)..REACH as i64).contains(&at) {
        return None;
    }
    let (row, number, _) = object.row_at(at);
    let within = at - object.start_of(&row, number);
    if stride.is_multiple_of(row.stride) && within == 0 && row.kind.bytes() == size {
        let elements = element_index(pool, (number, stride / row.stride), index);
        return Some(Places::Element(row, elements));
    }
    if !row.is_tail && !stride.is_multiple_of(object.period()) {
        let period = object.period() as i64;
        let inside = (at - object.origin).rem_euclid(period) as u64;
        if let Some((first, size, count)) = object.shape().array_around(inside, stride) {
            let per_element = stride / size;
            let before = (inside - first) / size / per_element;
            let places = (count - (inside - first) / size).div_ceil(per_element) + before;
            let first = at - (before * stride) as i64;
            return Some(Places::Listed { first, count: places });
        }
    }
    if !row.is_tail && within == 0 && row.part > 0 && (row.kind.bytes(), stride) == (size, size) {
        // A pointer to a member that is no array has one element.
        return Some(Places::Listed { first: at, count: 1 });
    }
    let plain = matches!(row.kind, PartKind::Number(..) | PartKind::Raw(_));
    if plain && row.kind.bytes() == row.stride && row.stride.is_power_of_two() {
        let wide = pool.sext(index, 64);
        let stride = pool.bv(64, stride);
        let distance = pool.mul(wide, stride);
        let from = pool.bv_signed(64, at - object.start_of(&row, 0));
        let byte = pool.add(distance, from);
        return Some(Places::Bytes(row, byte));
    }
    None
}

/// `first + times * index`, as array terms take indexes.
fn element_index(pool: &mut TermPool, (first, times): (i64, u64), index: Term) -> Term {
    let wide = match pool.width(index) {
        width if width > INDEX_BITS => pool.extract(INDEX_BITS - 1, 0, index),
        _ => pool.sext(index, INDEX_BITS),
    };
    let times = pool.bv(INDEX_BITS, times);
    let scaled = pool.mul(wide, times);
    let first = pool.bv_signed(INDEX_BITS, first);
    pool.add(scaled, first)
}
