//! Lazy objects in memory ([`lydian_inputs::lazy`]): reads and writes of their parts.
//!
//! In memory such an object has [`ROOM`](lydian_inputs::lazy::ROOM) bytes, and its pointer leads to
//! the middle. Values written at constant places are in cells over the parts. A write at a place
//! that depends on the input makes the row an array term.

use lydian_eval::to_bytes;
use lydian_inputs::lazy::shape::{ArrayAround, PartKind};
use lydian_inputs::lazy::{INDEX_BITS, LazyObject, REACH, Row};
use lydian_smt::{BinOp, Node, Term, TermPool, UnOp};
use smallvec::SmallVec;

use crate::machine::memory::ScaledOffset;
use crate::machine::memory::access::{DEPTH, bit_shift, greatest, store_where, with_byte};
use crate::machine::memory::cells::{Contents, above};
use crate::machine::memory::rows;

/// The rows of a lazy object that are array terms, by the part of an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowArrays(SmallVec<[(u64, Term); 1]>);

impl RowArrays {
    /// The array of a row, if it is one.
    pub(crate) fn get(&self, row: &Row) -> Option<Term> {
        let known = self.0.iter().find(|(part, _)| *part == row.part);
        known.map(|(_, array)| *array)
    }

    /// The parts of an element whose rows are arrays.
    pub(crate) fn parts(&self) -> impl Iterator<Item = u64> + '_ {
        self.0.iter().map(|(part, _)| *part)
    }

    /// Makes a row an array.
    pub(crate) fn set(&mut self, row: &Row, array: Term) {
        match self.0.iter_mut().find(|(part, _)| *part == row.part) {
            Some(known) => known.1 = array,
            None => self.0.push((row.part, array)),
        }
    }
}

/// The bytes of a lazy object that a path accessed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccessRanges {
    /// Sorted ranges of places without adjacent ones.
    ranges: Vec<(u64, u64)>,
    /// The ranges with first values that were read.
    read: Vec<(u64, u64)>,
    /// The ranges that are accessed on every input of the path.
    always: Vec<(u64, u64)>,
    /// Other accesses, by place and size.
    at: Vec<AccessPlace>,
}

/// Bytes of a lazy object that are accessed at a place that depends on the input, or on some inputs
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessPlace {
    /// The first byte.
    pub place: Term,
    /// The number of bytes.
    pub size: u64,
    /// The condition of the access.
    pub guard: Term,
}

impl AccessRanges {
    /// Whether a range of places is known as accessed on every input, and, for `read`, as read.
    pub fn has(&self, range: (u64, u64), read: bool) -> bool {
        holds(&self.always, range) && (!read || holds(&self.read, range))
    }

    /// Adds a range of places. `read` says whether its first values may be read.
    pub fn add(&mut self, range: (u64, u64), read: bool) {
        insert(&mut self.always, range);
        self.note(range, read);
    }

    /// Notes a range that is accessed on some input.
    pub(crate) fn note(&mut self, range: (u64, u64), read: bool) {
        insert(&mut self.ranges, range);
        if read {
            insert(&mut self.read, range);
        }
    }

    /// Adds a range of places that is accessed under a guard.
    pub fn add_where(&mut self, pool: &mut TermPool, guard: Term, range: (u64, u64), read: bool) {
        self.note(range, read);
        if !holds(&self.always, range) {
            let place = pool.bv(64, range.0);
            self.add_at(pool, AccessPlace { place, size: range.1 - range.0, guard });
        }
    }

    /// Adds an access at a place that depends on the input.
    pub fn add_at(&mut self, pool: &mut TermPool, new: AccessPlace) {
        match self.at.binary_search_by_key(&(new.place, new.size), |at| (at.place, at.size)) {
            Ok(known) => self.at[known].guard = pool.or(self.at[known].guard, new.guard),
            Err(behind) => self.at.insert(behind, new),
        }
    }

    /// All ranges of constant places.
    pub fn ranges(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// The ranges with first values that were read.
    pub fn read(&self) -> &[(u64, u64)] {
        &self.read
    }

    /// The ranges that are accessed on every input of the path.
    pub fn always(&self) -> &[(u64, u64)] {
        &self.always
    }

    /// The accesses at places that depend on the input, or on some inputs alone.
    pub fn at(&self) -> &[AccessPlace] {
        &self.at
    }

    /// Whether any access is at a place that depends on the input.
    pub fn is_anywhere(&self, pool: &TermPool) -> bool {
        self.at.iter().any(|at| pool.as_u64(at.place).is_none())
    }

    /// The accesses of the first of two paths where a Boolean holds, and of the second elsewhere.
    pub fn either(pool: &mut TermPool, holds_first: Term, a: &Self, b: &Self) -> Self {
        if a == b {
            return a.clone();
        }
        let other = pool.not(holds_first);
        let mut both = Self::default();
        for (of, there, guard) in [(a, b, holds_first), (b, a, other)] {
            for range in &of.always {
                match holds(&there.always, *range) {
                    true => both.add(*range, false),
                    false => both.add_where(pool, guard, *range, false),
                }
            }
            of.ranges.iter().for_each(|range| insert(&mut both.ranges, *range));
            of.read.iter().for_each(|range| insert(&mut both.read, *range));
            for at in &of.at {
                let guard = pool.and(at.guard, guard);
                both.add_at(pool, AccessPlace { guard, ..*at });
            }
        }
        both
    }
}

/// Whether a range lies within one of some ranges.
fn holds(ranges: &[(u64, u64)], (from, to): (u64, u64)) -> bool {
    let after = ranges.partition_point(|(start, _)| *start <= from);
    after > 0 && to <= ranges[after - 1].1
}

/// Adds a range to sorted ranges, and joins adjacent and overlapping ones.
fn insert(ranges: &mut Vec<(u64, u64)>, (from, to): (u64, u64)) {
    let first = ranges.partition_point(|(_, end)| *end < from);
    let last = ranges.partition_point(|(start, _)| *start <= to);
    let joined = ranges[first..last]
        .iter()
        .fold((from, to), |(from, to), (start, end)| (from.min(*start), to.max(*end)));
    ranges.splice(first..last, [joined]);
}

/// The distance of a byte from the place that the pointer leads to, given its place in the object.
pub const fn distance(place: u64) -> i64 {
    (place as i64).wrapping_sub(REACH as i64)
}

/// The place in the object of a byte at a distance.
pub(crate) const fn place(distance: i64) -> u64 {
    (distance + REACH as i64) as u64
}

/// The index of an element as array terms take it.
pub(crate) fn index_term(pool: &mut TermPool, index: i64) -> Term {
    pool.bv_signed(INDEX_BITS, index)
}

/// The value of a row's element where no cell covers it.
fn element(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &RowArrays,
    row: &Row,
    number: i64,
) -> Term {
    let Some(array) = rows.get(row) else { return object.element(pool, row, number) };
    let at = index_term(pool, number);
    let bits = pool.select(array, at);
    let name = object.path_at(object.start_of(row, number));
    rows::value_of_bits(pool, object, row, bits, &name)
}

/// Some bytes of one part of an object.
struct Piece {
    row: Row,
    number: i64,
    /// The first of the bytes, from the start of the part.
    low: u64,
    /// The number of bytes.
    size: u64,
}

impl Piece {
    const fn is_whole(&self) -> bool {
        self.low == 0 && self.size == self.row.kind.bytes()
    }
}

/// The parts of a range of an object's bytes, cut to the range.
fn pieces(object: &LazyObject, from: i64, size: u64) -> impl Iterator<Item = Piece> {
    let (mut next, end) = (from, from + size as i64);
    std::iter::from_fn(move || {
        if next >= end {
            return None;
        }
        let (row, number) = object.row_at(next);
        let start = object.start_of(&row, number);
        let to = (start + row.kind.bytes() as i64).min(end);
        let piece = Piece { row, number, low: (next - start) as u64, size: (to - next) as u64 };
        next = to;
        Some(piece)
    })
}

/// `size` bytes that no cell covers: the value of a part where they are exactly one, otherwise a
/// bit-vector.
pub(crate) fn read_part(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &RowArrays,
    at: i64,
    size: u64,
) -> Term {
    match pieces(object, at, size).next() {
        Some(piece) if piece.is_whole() && piece.size == size => {
            element(pool, object, rows, &piece.row, piece.number)
        }
        _ => read(pool, object, rows, at, size),
    }
}

/// `size` bytes that no cell covers, as a bit-vector.
pub(crate) fn read(
    pool: &mut TermPool,
    object: &LazyObject,
    rows: &RowArrays,
    at: i64,
    size: u64,
) -> Term {
    let mut whole: Option<Term> = None;
    for piece in pieces(object, at, size) {
        let value = element(pool, object, rows, &piece.row, piece.number);
        let bits = to_bytes(pool, value);
        let bits = bytes_of(pool, bits, piece.low, piece.size);
        whole = Some(above(pool, whole, bits));
    }
    whole.expect("a read of at least one byte")
}

/// Some bytes of a value.
fn bytes_of(pool: &mut TermPool, bits: Term, low: u64, size: u64) -> Term {
    let low = low as u32 * 8;
    pool.extract(low + size as u32 * 8 - 1, low, bits)
}

/// The parts of a range of an object's bytes by their places, cut to the range.
pub(crate) fn parts(object: &LazyObject, offset: u64, size: u64) -> Vec<(u64, u8)> {
    let mut next = offset;
    pieces(object, distance(offset), size)
        .map(|piece| {
            let at = next;
            next += piece.size;
            (at, piece.size as u8)
        })
        .collect()
}

/// The numbers of the values of a row with a byte in a range.
pub(crate) fn elements_within(
    object: &LazyObject,
    row: &Row,
    at: i64,
    size: u64,
) -> impl Iterator<Item = i64> {
    pieces(object, at, size).filter(|piece| piece.row == *row).map(|piece| piece.number)
}

/// The places of the bytes of a range that belong to other rows.
pub(crate) fn outside_of_row(object: &LazyObject, row: &Row, offset: u64, size: u64) -> Vec<u64> {
    let of_row = |at: &u64| object.row_at(distance(*at)).0 == *row;
    (offset..offset + size).filter(|at| !of_row(at)).collect()
}

/// An access at a place that depends on the input.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    what: AccessOutcome,
    /// The condition under which the access lies where it is said to. Elsewhere it leaves an array,
    /// which C does not allow.
    pub(crate) inside: Term,
}

#[derive(Clone, Debug)]
enum AccessOutcome {
    /// Parts of values of rows, that with the lowest byte first.
    Values(Vec<ValueAccess>),
    /// Bytes within adjacent values of a row. The term is the distance in bytes from the row's
    /// first value, of 64 bits.
    Bytes(Row, Term),
}

/// Bytes of one value of a row.
#[derive(Clone, Debug)]
struct ValueAccess {
    row: Row,
    /// The number of the value, of [`INDEX_BITS`] bits.
    number: Term,
    /// The first of the bytes, from the start of the value.
    low: u64,
    /// The number of bytes.
    size: u64,
}

/// A summand of a distance: a number times a 64-bit term.
#[derive(Clone, Copy, Debug)]
struct Summand {
    factor: i64,
    term: Term,
}

impl Summand {
    fn times(self, pool: &mut TermPool, divisor: u64) -> Term {
        let factor = pool.bv_signed(64, self.factor / divisor as i64);
        pool.mul(self.term, factor)
    }
}

/// The summands of `factor * term` that depend on the input; constants are added to `constant`.
fn summands(
    pool: &mut TermPool,
    factor: i64,
    term: Term,
    out: &mut SmallVec<[Summand; 4]>,
    constant: &mut i64,
) {
    if let Some(value) = pool.as_i64(term) {
        *constant = constant.wrapping_add(value.wrapping_mul(factor));
        return;
    }
    match pool.node(term) {
        Node::Bin(BinOp::Add, a, b) => {
            summands(pool, factor, a, out, constant);
            summands(pool, factor, b, out, constant);
        }
        Node::Bin(BinOp::Mul, a, b)
            if let Some(by) = pool.as_i64(b)
                && let Some(factor) = factor.checked_mul(by) =>
        {
            summands(pool, factor, a, out, constant);
        }
        Node::Bin(BinOp::Concat, high, low)
            if pool.as_u64(low) == Some(0)
                && let Some(factor) = factor.checked_mul(1 << pool.width(low)) =>
        {
            let term = pool.zext(high, 64);
            summands(pool, factor, term, out, constant);
        }
        // A shift to higher bits before the extension.
        Node::Un(UnOp::ZExt, narrow)
            if let Node::Bin(BinOp::Concat, high, low) = pool.node(narrow)
                && pool.as_u64(low) == Some(0)
                && let Some(factor) = factor.checked_mul(1 << pool.width(low)) =>
        {
            let term = pool.zext(high, 64);
            summands(pool, factor, term, out, constant);
        }
        _ => out.push(Summand { factor, term }),
    }
}

/// The distance of an access at `start + stride * index` from the object's first byte, as a sum.
struct Distance {
    /// The distance from the middle where all summands are 0.
    at: i64,
    summands: SmallVec<[Summand; 4]>,
}

impl Distance {
    fn of(
        pool: &mut TermPool,
        ScaledOffset { start, stride, index }: ScaledOffset,
    ) -> Option<Self> {
        let mut constant = 0;
        let mut found = SmallVec::new();
        match pool.node(index) {
            // A stride that was found from the low bits of a distance alone.
            Node::Extract(whole, low)
                if 1 << low == stride
                    && pool.width(whole) == 64
                    && pool.width(index) + low == 64 =>
            {
                summands(pool, 1, whole, &mut found, &mut constant);
            }
            _ => {
                let index = pool.sext(index, 64);
                summands(pool, i64::try_from(stride).ok()?, index, &mut found, &mut constant);
            }
        }
        let at = start.checked_add(constant)?.checked_sub(REACH as i64)?;
        let is_near = (-(REACH as i64)..REACH as i64).contains(&at);
        is_near.then_some(Self { at, summands: found })
    }
}

/// The access of `size` bytes at `start + stride * index` from the object's first byte. `None`
/// where it is not supported.
pub(crate) fn access(
    pool: &mut TermPool,
    object: &LazyObject,
    place: ScaledOffset,
    size: u64,
) -> Option<Access> {
    let distance = Distance::of(pool, place)?;
    let values = access_to_values(pool, object, &distance, size);
    values.or_else(|| access_to_bytes(pool, object, &distance, size))
}

/// Whether an access of `size` bytes at `start + stride * index` from the object's first byte is
/// supported.
pub(crate) fn is_followed(
    pool: &mut TermPool,
    object: &LazyObject,
    place: ScaledOffset,
    size: u64,
) -> bool {
    access(pool, object, place, size).is_some()
}

/// The access as one to values of rows: each summand moves by whole elements of the object, or of
/// an array within it.
fn access_to_values(
    pool: &mut TermPool,
    object: &LazyObject,
    distance: &Distance,
    size: u64,
) -> Option<Access> {
    let mut inside = pool.tt();
    let mut values = Vec::new();
    for Piece { row, number, low, size } in pieces(object, distance.at, size) {
        let number =
            number_of_value(pool, object, (&row, number), &distance.summands, &mut inside)?;
        values.push(ValueAccess { row, number, low, size });
    }
    Some(Access { what: AccessOutcome::Values(values), inside })
}

/// The number of the value of a row that some summands lead to from a given value.
fn number_of_value(
    pool: &mut TermPool,
    object: &LazyObject,
    (row, number): (&Row, i64),
    distance: &[Summand],
    inside: &mut Term,
) -> Option<Term> {
    if row.kind.bytes() > 8 || object.has_tail() && !row.is_tail {
        return None;
    }
    let count = row.count() as i64;
    let mut moved = pool.bv_signed(64, number);
    let mut left: SmallVec<[Summand; 4]> = SmallVec::new();
    for summand in distance {
        if summand.factor % row.stride as i64 == 0 {
            let elements = summand.times(pool, row.stride);
            let count = pool.bv_signed(64, count);
            let values = pool.mul(elements, count);
            moved = pool.add(moved, values);
        } else {
            left.push(*summand);
        }
    }
    // The position in each array, from the innermost array on.
    let (mut weight, mut position) = (1, number.rem_euclid(count) as u64);
    let mut digits: SmallVec<[(u64, u64); 2]> = SmallVec::new();
    for array in row.arrays.iter().rev() {
        digits.push((position % array.count, weight));
        position /= array.count;
        weight *= array.count;
    }
    digits.reverse();
    for (array, (digit, weight)) in row.arrays.iter().zip(digits) {
        let (here, others): (SmallVec<[Summand; 4]>, _) =
            left.into_iter().partition(|summand| summand.factor % array.stride as i64 == 0);
        left = others;
        if here.is_empty() {
            continue;
        }
        let steps = steps_in_array(pool, row, array, (digit, here.as_slice()), inside)?;
        let weight = pool.bv(64, weight);
        let values = pool.mul(steps, weight);
        moved = pool.add(moved, values);
    }
    for summand in left {
        // A pointer to a member that is no array has one element, unless a similar one lies beside
        // it.
        let is_alone =
            row.part > 0 && row.arrays.is_empty() && !is_beside_its_like(object, row, number);
        if !is_alone || summand.factor.unsigned_abs() != row.kind.bytes() {
            return None;
        }
        let zero = pool.bv(64, 0);
        let is_first = pool.eq(summand.term, zero);
        *inside = pool.and(*inside, is_first);
    }
    Some(pool.extract(INDEX_BITS - 1, 0, moved))
}

/// The number of elements by which summands move in an array of a row, from its element `digit` on.
/// `None` where they may as well walk over all bytes of the object.
fn steps_in_array(
    pool: &mut TermPool,
    row: &Row,
    array: &ArrayAround,
    (digit, summands): (u64, &[Summand]),
    inside: &mut Term,
) -> Option<Term> {
    let last = furthest(pool, summands, digit, array.stride);
    let is_walk = row.part == 0
        && !row.is_tail
        && row.kind.bytes() == 1
        && summands.iter().any(|summand| summand.factor.unsigned_abs() == 1);
    if is_walk && last.is_none_or(|last| last > array.count) {
        return None;
    }
    let mut index = pool.bv(64, digit);
    for summand in summands {
        let steps = summand.times(pool, array.stride);
        index = pool.add(index, steps);
    }
    if last.is_none_or(|last| last >= array.count) {
        let count = pool.bv(64, array.count);
        let is_inside = pool.ult(index, count);
        *inside = pool.and(*inside, is_inside);
    }
    let first = pool.bv(64, digit);
    Some(pool.sub(index, first))
}

/// Whether another value of its kind lies directly before or behind a value.
fn is_beside_its_like(object: &LazyObject, row: &Row, number: i64) -> bool {
    let (start, bytes) = (object.start_of(row, number), row.kind.bytes() as i64);
    [start - bytes, start + bytes].into_iter().any(|at| {
        let (other, number) = object.row_at(at);
        other.kind.is_like(row.kind) && object.start_of(&other, number) == at
    })
}

/// An upper bound of the array element that summands lead to from a given element; `None` where
/// they may lead anywhere.
fn furthest(pool: &TermPool, summands: &[Summand], first: u64, stride: u64) -> Option<u64> {
    summands.iter().try_fold(first, |last, summand| {
        let steps = u64::try_from(summand.factor).ok()? / stride;
        last.checked_add(steps.checked_mul(greatest(pool, summand.term, DEPTH))?)
    })
}

/// The access as one to bytes of a row with values that are adjacent in the object, or in an array
/// within it.
fn access_to_bytes(
    pool: &mut TermPool,
    object: &LazyObject,
    distance: &Distance,
    size: u64,
) -> Option<Access> {
    let (row, number) = object.row_at(distance.at);
    let bytes = row.kind.bytes();
    let of_array = match row.arrays[..] {
        [] if row.is_dense() => None,
        [array] if array.stride == bytes => Some(array.count * bytes),
        _ => return None,
    };
    let plain = matches!(row.kind, PartKind::Number(..) | PartKind::Raw(_));
    if !plain || !bytes.is_power_of_two() || bytes > 8 {
        return None;
    }
    let count = row.count() as i64;
    let start = object.start_of(&row, number - number.rem_euclid(count));
    let first = (distance.at - start) as u64;
    let mut outer = pool.bv_signed(64, number.div_euclid(count));
    let mut within = pool.bv(64, first);
    let mut inner: SmallVec<[Summand; 4]> = SmallVec::new();
    for summand in &distance.summands {
        if of_array.is_some() && summand.factor % row.stride as i64 == 0 {
            let elements = summand.times(pool, row.stride);
            outer = pool.add(outer, elements);
        } else {
            let moved = summand.times(pool, 1);
            within = pool.add(within, moved);
            inner.push(*summand);
        }
    }
    let mut inside = pool.tt();
    if let Some(room) = of_array {
        let last = room.checked_sub(size)?;
        if furthest(pool, &inner, first, 1).is_none_or(|furthest| furthest > last) {
            if row.part == 0 && !row.is_tail {
                return None; // it may as well walk over the whole object
            }
            let count = pool.bv(64, last + 1);
            inside = pool.ult(within, count);
        }
    }
    let room = pool.bv(64, row.count() * bytes);
    let before = pool.mul(outer, room);
    let byte = pool.add(before, within);
    Some(Access { what: AccessOutcome::Bytes(row, byte), inside })
}

impl Access {
    /// The value of `size` bytes there; `None` where a row has no array.
    pub(crate) fn load(
        &self,
        pool: &mut TermPool,
        object: &LazyObject,
        contents: &Contents,
        size: u64,
    ) -> Option<Term> {
        let mut whole: Option<Term> = None;
        match &self.what {
            AccessOutcome::Values(values) => {
                for value in values {
                    let array = contents.row(pool, &value.row)?;
                    let bits = pool.select(array, value.number);
                    if value.size == size && value.row.kind.bytes() == size {
                        let name = object.name_of_row(&value.row);
                        return Some(rows::value_of_bits(pool, object, &value.row, bits, &name));
                    }
                    let bits = bytes_of(pool, bits, value.low, value.size);
                    whole = Some(above(pool, whole, bits));
                }
            }
            AccessOutcome::Bytes(row, first) => {
                let array = contents.row(pool, row)?;
                for byte in 0..size {
                    let distance = pool.bv(64, byte);
                    let at = pool.add(*first, distance);
                    let piece = read_row_byte(pool, array, row, at);
                    whole = Some(above(pool, whole, piece));
                }
            }
        }
        whole
    }

    /// Stores a value there, as bits, under a guard.
    pub(crate) fn store(
        &self,
        pool: &mut TermPool,
        contents: &mut Contents,
        guard: Term,
        (size, bits): (u64, Term),
    ) -> Option<()> {
        match &self.what {
            AccessOutcome::Values(values) => {
                let mut next = 0;
                for value in values {
                    let array = contents.row(pool, &value.row)?;
                    let piece = bytes_of(pool, bits, next, value.size);
                    next += value.size;
                    let new = match value.size == value.row.kind.bytes() {
                        true => piece,
                        false => {
                            let old = pool.select(array, value.number);
                            with_bytes(pool, old, value.low, piece)
                        }
                    };
                    let array = store_where(pool, array, guard, value.number, new);
                    contents.set_row(pool, &value.row, array);
                }
            }
            AccessOutcome::Bytes(row, first) => {
                let mut array = contents.row(pool, row)?;
                for byte in 0..size {
                    let distance = pool.bv(64, byte);
                    let at = pool.add(*first, distance);
                    let piece = bytes_of(pool, bits, byte, 1);
                    array = write_row_byte(pool, (array, row), guard, at, piece);
                }
                contents.set_row(pool, row, array);
            }
        }
        Some(())
    }
}

/// A value with some of its bytes replaced from a given one on.
fn with_bytes(pool: &mut TermPool, old: Term, low: u64, new: Term) -> Term {
    let (width, low) = (pool.width(old), low as u32 * 8);
    let end = low + pool.width(new);
    let mut whole = new;
    if low > 0 {
        let below = pool.extract(low - 1, 0, old);
        whole = pool.concat(whole, below);
    }
    if end < width {
        let rest = pool.extract(width - 1, end, old);
        whole = pool.concat(rest, whole);
    }
    whole
}

/// The number of the value of a row that contains a byte, and the byte's position in it in bits.
fn row_place(pool: &mut TermPool, row: &Row, at: Term) -> (Term, Term) {
    let bytes = row.kind.bytes();
    let shift = bytes.trailing_zeros();
    let number = pool.extract(INDEX_BITS - 1 + shift, shift, at);
    let within = match shift {
        0 => pool.bv(bytes as u32 * 8, 0),
        _ => bit_shift(pool, at, bytes),
    };
    (number, within)
}

fn read_row_byte(pool: &mut TermPool, array: Term, row: &Row, at: Term) -> Term {
    let (number, shift) = row_place(pool, row, at);
    let whole = pool.select(array, number);
    let shifted = pool.lshr(whole, shift);
    pool.extract(7, 0, shifted)
}

fn write_row_byte(
    pool: &mut TermPool,
    (array, row): (Term, &Row),
    guard: Term,
    at: Term,
    byte: Term,
) -> Term {
    let (number, shift) = row_place(pool, row, at);
    let old = pool.select(array, number);
    let new = with_byte(pool, old, shift, byte);
    store_where(pool, array, guard, number, new)
}
