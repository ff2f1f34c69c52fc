//! Reads and writes of memory through resolved addresses.
//!
//! A symbolic offset in a small object becomes a choice over its positions. Objects with more
//! positions than [`READ_CHOICES`] or [`WRITE_CHOICES`] become array terms. Whether an access is in
//! bounds is a condition on the index, not on the byte offset, so that it is the condition that the
//! program itself tests.

use std::sync::Arc;

use lydian_eval::{Fault, Traps, Undetermined, to_bytes, undefined_symbol};
use lydian_inputs::lazy::{LazyObject, REACH};
use lydian_ir::TrapKind;
use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp};

use crate::machine::memory::ScaledOffset;
use crate::machine::memory::lazy;
use crate::machine::memory::{
    Background, Candidate, Contents, Memory, ObjectId, ObjectKind, Offset, Resolution,
};

/// The most positions that a read chooses from without an array term.
const READ_CHOICES: u64 = 256;
/// The most positions that a write changes without an array term.
const WRITE_CHOICES: u64 = 64;
/// The most positions, for reads and writes, in objects with values of different sizes, as structs
/// are. In an array term, their pointers are numbers without a target.
const STRUCT_CHOICES: u64 = 1024;
/// The depth to which a term is searched for its greatest value.
pub(crate) const DEPTH: u32 = 8;

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// The indexes at which an access of a given size lies within the bytes reserved for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The least index.
    pub first: i64,
    /// The number of indexes.
    pub count: u64,
}

impl Window {
    fn of(start: i64, stride: u64, object: u64, access: u64) -> Self {
        let none = Self { first: 0, count: 0 };
        let Some(room) = object.checked_sub(access) else { return none };
        let (start, stride) = (i128::from(start), i128::from(stride));
        let first = (-start).div_euclid(stride) + i128::from((-start).rem_euclid(stride) != 0);
        let last = (i128::from(room) - start).div_euclid(stride);
        match (i64::try_from(first), u64::try_from(last - first + 1)) {
            (Ok(first), Ok(count)) => Self { first, count },
            _ => none,
        }
    }
}

impl Window {
    /// The positions of an access to an object that an index can have.
    fn of_index(
        pool: &TermPool,
        ScaledOffset { start, stride, index }: ScaledOffset,
        object: u64,
        access: u64,
    ) -> Self {
        let window = Self::of(start, stride, object, access);
        let greatest = greatest(pool, index, DEPTH);
        let sign = 1u64 << (pool.width(index) - 1);
        if greatest >= sign || window.count == 0 {
            return window;
        }
        let end = window.first.saturating_add_unsigned(window.count);
        let (first, end) = (window.first.max(0), end.min(greatest as i64 + 1));
        Self { first, count: u64::try_from(end - first).unwrap_or(0) }
    }
}

/// An upper bound of a bit-vector of at most 64 bits, as an unsigned number.
pub(crate) fn greatest(pool: &TermPool, term: Term, depth: u32) -> u64 {
    let of_width = u64::MAX >> (64 - pool.width(term).min(64));
    if let Some(value) = pool.as_u64(term) {
        return value;
    }
    if depth == 0 {
        return of_width;
    }
    let known = |operand| greatest(pool, operand, depth - 1);
    let bound = match pool.node(term) {
        Node::Un(UnOp::ZExt, a) => known(a),
        Node::Un(UnOp::SExt, a) if known(a) < 1 << (pool.width(a) - 1) => known(a),
        Node::Extract(a, low) if pool.width(a) <= 64 => known(a) >> low,
        Node::Ite(c, a, b) => match below(pool, c, a) {
            Some(most) => most.max(known(b)),
            None => known(a).max(known(b)),
        },
        Node::Bin(BinOp::BvAnd, a, b) => known(a).min(known(b)),
        Node::Bin(BinOp::Add, a, b) => known(a).checked_add(known(b)).unwrap_or(of_width),
        Node::Bin(BinOp::Mul, a, b) => known(a).checked_mul(known(b)).unwrap_or(of_width),
        Node::Bin(BinOp::URem, _, b) => match pool.as_u64(b) {
            Some(divisor @ 1..) => divisor - 1,
            _ => of_width,
        },
        Node::Bin(BinOp::LShr, a, b) => match pool.as_u64(b) {
            Some(by @ 0..64) => known(a) >> by,
            _ => of_width,
        },
        _ => of_width,
    };
    if bound > of_width { of_width } else { bound }
}

/// The greatest value of a term under a condition that compares it with a number; `None` if it has
/// no such bound.
fn below(pool: &TermPool, condition: Term, term: Term) -> Option<u64> {
    match pool.node(condition) {
        Node::Bin(BinOp::Ult, a, limit) if a == term => pool.as_u64(limit)?.checked_sub(1),
        _ => None,
    }
}

/// A 64-bit term that equals an index where that is below `count`, and is below `count` everywhere.
pub fn within_count(pool: &mut TermPool, index: Term, count: u64) -> Term {
    if count <= 1 {
        return pool.bv(u64::BITS, 0);
    }
    let bits = u64::BITS - (count - 1).leading_zeros();
    let mut within = pool.extract(bits - 1, 0, index);
    if !count.is_power_of_two() {
        let (limit, zero) = (pool.bv(bits, count), pool.bv(bits, 0));
        let inside = pool.ult(within, limit);
        within = pool.ite(inside, within, zero);
    }
    pool.zext(within, u64::BITS)
}

impl Offset {
    /// The condition that an access of `size` bytes there lies within the first `room` bytes.
    pub fn lies_within(self, pool: &mut TermPool, room: u64, size: u64) -> Term {
        match self {
            Self::Known(start) => {
                let inside = fits(start, size, room);
                pool.bool(inside)
            }
            Self::Scaled(ScaledOffset { start, stride, index }) => {
                let window = Window::of(start, stride, room, size);
                in_window(pool, window, index)
            }
        }
    }

    /// The distance from the object's start in bytes, as a 64-bit term.
    pub fn term(self, pool: &mut TermPool) -> Term {
        offset_term(pool, self)
    }
}

impl Resolution {
    /// The offset with every place `distance` bytes further on.
    pub fn shifted(&self, distance: u64) -> Self {
        let mut shifted = self.clone();
        for candidate in &mut shifted.candidates {
            match &mut candidate.offset {
                Offset::Known(start) | Offset::Scaled(ScaledOffset { start, .. }) => {
                    *start += distance as i64;
                }
            }
        }
        shifted
    }

    /// The object and constant offset, if there is only one candidate with a constant offset.
    fn single(&self) -> Option<(crate::machine::memory::ObjectId, i64)> {
        match self.candidates[..] {
            [Candidate { object, offset: Offset::Known(offset), .. }] => Some((object, offset)),
            _ => None,
        }
    }
}

impl Memory {
    /// Whether an index from `base` on, in elements of `size` bytes, has so many places in a struct
    /// that an access would make it an array.
    pub fn has_too_many_places(
        &self,
        pool: &TermPool,
        (base, size): (u64, u64),
        index: Term,
    ) -> bool {
        if size == 0 || pool.as_u64(index).is_some() {
            return false;
        }
        let Some(object) = self.object_at(base).map(|id| self.object(id)) else { return false };
        let Ok(start) = i64::try_from(base.wrapping_sub(object.base)) else { return false };
        // The expensive condition comes last, since every subscript gets here.
        let offset = ScaledOffset { start, stride: size, index };
        Window::of_index(pool, offset, object.size, size).count > STRUCT_CHOICES
            && object.contents.is_mixed()
    }

    /// Adds the conditions under which an access of `size` bytes traps. The caller must note every
    /// such access in the `BoundsMonitor`; otherwise bounds on inputs would seem not to matter.
    pub fn access_traps(
        &self,
        pool: &mut TermPool,
        resolution: &Resolution,
        size: u64,
        kind: AccessKind,
        traps: &mut Traps,
    ) {
        traps.add(pool, TrapKind::NullDereference, resolution.null);
        traps.add(pool, TrapKind::OutOfBounds, resolution.wild);
        for candidate in &resolution.candidates {
            let inside = self.in_bounds(pool, candidate, size);
            let outside = pool.not(inside);
            let condition = pool.and(candidate.guard, outside);
            let fault = match self.object(candidate.object).kind {
                // Such an object is as large as the program uses it, within reason.
                ObjectKind::Lazy => Fault::LeftOut,
                _ => Fault::Trap(TrapKind::OutOfBounds),
            };
            traps.add(pool, fault, condition);
            if kind == AccessKind::Write && self.object(candidate.object).read_only {
                traps.add(pool, TrapKind::ReadOnly, candidate.guard);
            }
        }
    }

    /// The condition that an access of `size` bytes lies within an object.
    fn in_bounds(&self, pool: &mut TermPool, candidate: &Candidate, size: u64) -> Term {
        let object = self.object(candidate.object);
        let within_capacity = match candidate.offset {
            Offset::Known(start) => {
                let inside = fits(start, size, object.size);
                pool.bool(inside)
            }
            Offset::Scaled(ScaledOffset { start, stride, index }) => {
                let window = Window::of(start, stride, object.size, size);
                let within = in_window(pool, window, index);
                match lazy_access(pool, &object.contents, candidate.offset, size) {
                    Some((_, access)) => pool.and(within, access.inside),
                    None => within,
                }
            }
        };
        let Some(length) = object.length else { return within_capacity };
        if pool.as_bool(within_capacity) == Some(false) {
            return within_capacity;
        }
        let offset = offset_term(pool, candidate.offset);
        let within_capacity = match &object.first {
            Some(first) => {
                let least = pool.bv(64, REACH.wrapping_add_signed(first.own.origin));
                let begun = pool.uge(offset, least);
                pool.and(within_capacity, begun)
            }
            None => within_capacity,
        };
        let aligned = match candidate.offset {
            Offset::Known(start) => (start as u64).is_multiple_of(size),
            Offset::Scaled(ScaledOffset { start, stride, .. }) => {
                (start as u64).is_multiple_of(size) && stride % size == 0
            }
        };
        let low_bits = size.trailing_zeros();
        let whole_elements = size.is_power_of_two()
            && (low_bits == 0 || {
                let low = pool.extract(low_bits - 1, 0, length);
                pool.as_u64(low) == Some(0)
            });
        let within_length = if aligned && whole_elements {
            pool.ult(offset, length)
        } else {
            let size = pool.bv(64, size);
            let end = pool.add(offset, size);
            pool.ule(end, length)
        };
        pool.and(within_capacity, within_length)
    }

    /// The value of `size` bytes: the stored term where the only object has exactly this value,
    /// otherwise a bit-vector. It is meaningless where the access traps.
    pub fn load(&mut self, pool: &mut TermPool, resolution: &Resolution, size: u64) -> Term {
        let mut value: Option<Term> = None;
        for candidate in &resolution.candidates {
            let Some(read) = self.load_candidate(pool, candidate, size) else { continue };
            value = Some(match value {
                None => read,
                Some(other) => choose(pool, candidate.guard, read, other),
            });
        }
        value.unwrap_or_else(|| pool.bv(size as u32 * 8, 0))
    }

    /// Whether a read of `size` bytes may read some that were never written.
    pub fn may_see_unwritten(&self, resolution: &Resolution, size: u64) -> bool {
        resolution.candidates.iter().any(|candidate| {
            let contents = &self.object(candidate.object).contents;
            match (contents.background(), candidate.offset) {
                (Background::Undefined(_), Offset::Known(start)) => {
                    start < 0 || !contents.covers_from(start as u64, size)
                }
                (Background::Undefined(_) | Background::Array { .. }, _) => true,
                (Background::Lazy { .. }, Offset::Scaled(_)) => true,
                _ => false,
            }
        })
    }

    /// The value in one candidate; `None` where the access is surely out of bounds.
    fn load_candidate(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        size: u64,
    ) -> Option<Term> {
        let object = self.object(candidate.object);
        let scaled = match candidate.offset {
            Offset::Known(start) => {
                let inside = fits(start, size, object.size);
                return inside.then(|| object.contents.read(pool, start as u64, size));
            }
            Offset::Scaled(scaled) => scaled,
        };
        let ScaledOffset { start, stride, index } = scaled;
        if let Some((lazy, access)) = lazy_access(pool, &object.contents, candidate.offset, size) {
            return access.load(pool, &lazy, &object.contents, size);
        }
        if let Background::Lazy { object, .. } = object.contents.background() {
            // Labels that depend on it are not claimed.
            let name = format!("{}+{}[{}]:{size}", object.own.name, start, index.index());
            let sort = Sort::BitVec(size as u32 * 8);
            return Some(undefined_symbol(pool, Undetermined::Access, &name, sort));
        }
        let window = Window::of_index(pool, scaled, object.size, size);
        let is_array = matches!(object.contents.background(), Background::Array { .. });
        if window.count == 0 {
            return None;
        }
        if too_many(window.count, READ_CHOICES, &object.contents) || is_array && window.count > 1 {
            return Some(self.load_from_array(pool, candidate, size));
        }
        let mut elements = Vec::with_capacity(window.count as usize);
        for position in 0..window.count {
            let at = start + (window.first + position as i64) * stride as i64;
            elements.push(object.contents.read(pool, at as u64, size));
        }
        if elements.iter().any(|element| pool.sort(*element) != pool.sort(elements[0])) {
            elements.iter_mut().for_each(|element| *element = to_bytes(pool, *element));
        }
        let position = relative_index(pool, window, index);
        Some(pool.select_table(&elements, position))
    }

    fn load_from_array(&mut self, pool: &mut TermPool, candidate: &Candidate, size: u64) -> Term {
        let (array, element) = self.as_array(pool, candidate, size);
        let offset = offset_term(pool, candidate.offset);
        if is_aligned(candidate.offset, size, element) {
            let index = element_index(pool, offset, element);
            return pool.select(array, index);
        }
        let mut whole: Option<Term> = None;
        for byte in 0..size {
            let distance = pool.bv(64, byte);
            let at = pool.add(offset, distance);
            let piece = read_array_byte(pool, array, element, at);
            whole = Some(match whole {
                Some(low) => pool.concat(piece, low),
                None => piece,
            });
        }
        whole.expect("a read of at least one byte")
    }

    /// Makes the candidate's object an array; in place unless its contents are constant.
    fn as_array(&mut self, pool: &mut TermPool, candidate: &Candidate, size: u64) -> (Term, u64) {
        let object = self.object(candidate.object);
        let (bytes, aligned) = (object.size, is_aligned(candidate.offset, size, size));
        let element = if size.is_power_of_two() && aligned { size } else { 1 };
        if let Background::Array { term, element } = object.contents.background()
            && object.contents.cells().is_empty()
        {
            return (*term, u64::from(*element));
        }
        self.object_mut(candidate.object).contents.make_array(pool, bytes, element)
    }

    /// Stores `size` bytes. The access must not trap on the state.
    pub fn store(&mut self, pool: &mut TermPool, resolution: &Resolution, size: u64, value: Term) {
        let alone = resolution.candidates.len() == 1;
        for candidate in &resolution.candidates {
            let guard = if alone { pool.tt() } else { candidate.guard };
            self.store_candidate(pool, candidate, guard, size, value);
        }
    }

    /// Stores a value at an offset of an object, under a guard. `size` is in bytes.
    pub fn store_where(
        &mut self,
        pool: &mut TermPool,
        (object, offset): (ObjectId, u64),
        guard: Term,
        (size, value): (u64, Term),
    ) {
        write_where(pool, self.object_mut(object), guard, offset, size, value);
    }

    fn store_candidate(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        guard: Term,
        size: u64,
        value: Term,
    ) {
        let object = self.object_mut(candidate.object);
        let scaled = match candidate.offset {
            Offset::Known(start) => {
                if fits(start, size, object.size) {
                    write_where(pool, object, guard, start as u64, size, value);
                }
                return;
            }
            Offset::Scaled(scaled) => scaled,
        };
        let ScaledOffset { start, stride, index } = scaled;
        if let Some((_, access)) = lazy_access(pool, &object.contents, candidate.offset, size) {
            let bits = to_bytes(pool, value);
            let _stored = access.store(pool, &mut object.contents, guard, (size, bits));
            return;
        }
        if let Background::Lazy { .. } = object.contents.background() {
            // Labels that depend on anything in the object from now on are not claimed.
            object.contents = Contents::new(Background::Undefined(object.base));
            return;
        }
        let window = Window::of_index(pool, scaled, object.size, size);
        let is_array = matches!(object.contents.background(), Background::Array { .. });
        if too_many(window.count, WRITE_CHOICES, &object.contents) || is_array && window.count > 1 {
            self.store_to_array(pool, candidate, guard, size, value);
            return;
        }
        let relative = relative_index(pool, window, index);
        for position in 0..window.count {
            let at = start + (window.first + position as i64) * stride as i64;
            let mut here = guard;
            if window.count > 1 {
                let position = pool.bv(pool.width(relative), position);
                let equal = pool.eq(relative, position);
                here = pool.and(guard, equal);
            }
            write_where(pool, object, here, at as u64, size, value);
        }
    }

    fn store_to_array(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        guard: Term,
        size: u64,
        value: Term,
    ) {
        let (mut array, element) = self.as_array(pool, candidate, size);
        let offset = offset_term(pool, candidate.offset);
        let value = to_bytes(pool, value);
        if is_aligned(candidate.offset, size, element) {
            let index = element_index(pool, offset, element);
            array = store_where(pool, array, guard, index, value);
        } else {
            for byte in 0..size {
                let distance = pool.bv(64, byte);
                let at = pool.add(offset, distance);
                let low = byte as u32 * 8;
                let piece = pool.extract(low + 7, low, value);
                array = write_array_byte(pool, array, element, guard, at, piece);
            }
        }
        self.object_mut(candidate.object).contents.set_array(array, element);
    }

    /// Copies `size` bytes. Neither access may trap on the state.
    pub fn copy(&mut self, pool: &mut TermPool, to: &Resolution, from: &Resolution, size: u64) {
        if let (Some((target, at)), Some((source, start))) = (to.single(), from.single()) {
            if target == source && at == start {
                return;
            }
            let source = self.object(source).clone();
            let target = self.object_mut(target);
            let whole = at == 0 && start == 0 && size == target.size && size == source.size;
            target.contents.copy_from(pool, at as u64, &source.contents, start as u64, size, whole);
            return;
        }
        let pieces: Vec<(u64, u64)> = pieces(size).collect();
        let mut values = Vec::with_capacity(pieces.len());
        for (offset, bytes) in &pieces {
            values.push(self.load(pool, &from.shifted(*offset), *bytes));
        }
        for ((offset, bytes), value) in pieces.into_iter().zip(values) {
            self.store(pool, &to.shifted(offset), bytes, value);
        }
    }

    /// Sets `size` bytes to zero. The access must not trap on the state.
    pub fn zero(&mut self, pool: &mut TermPool, to: &Resolution, size: u64) {
        if let Some((target, at)) = to.single() {
            let object = self.object_mut(target);
            let bytes = object.size;
            object.contents.zero(pool, at as u64, size, bytes);
            return;
        }
        for (offset, bytes) in pieces(size) {
            let zero = pool.bv(bytes as u32 * 8, 0);
            self.store(pool, &to.shifted(offset), bytes, zero);
        }
    }
}

/// An access of a lazy object at a place that depends on the input; `None` for other objects, and
/// for unsupported places.
fn lazy_access(
    pool: &mut TermPool,
    contents: &Contents,
    offset: Offset,
    size: u64,
) -> Option<(Arc<LazyObject>, lazy::Access)> {
    let Offset::Scaled(scaled) = offset else { return None };
    let Background::Lazy { object, .. } = contents.background() else { return None };
    let access = lazy::access(pool, object, scaled, size)?;
    Some((object.clone(), access))
}

/// A word with one byte replaced, `shift` bits from its low end.
pub(crate) fn with_byte(pool: &mut TermPool, old: Term, shift: Term, byte: Term) -> Term {
    let bits = pool.width(old);
    let ones = pool.bv(bits, 0xff);
    let mask = pool.shl(ones, shift);
    let keep = pool.bvnot(mask);
    let kept = pool.bvand(old, keep);
    let wide = pool.zext(byte, bits);
    let moved = pool.shl(wide, shift);
    pool.bvor(kept, moved)
}

/// Whether an access with so many positions needs an array term, where `most` positions are the
/// limit for contents with values of one size.
fn too_many(positions: u64, most: u64, contents: &Contents) -> bool {
    positions > STRUCT_CHOICES || positions > most && !contents.is_mixed()
}

/// Splits a number of bytes into pieces of at most eight.
fn pieces(size: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let left: u64 = size - at;
        if left == 0 {
            return None;
        }
        let piece = 1u64 << left.ilog2().min(3);
        at += piece;
        Some((at - piece, piece))
    })
}

/// Writes a value under a guard.
fn write_where(
    pool: &mut TermPool,
    object: &mut crate::machine::memory::Object,
    guard: Term,
    offset: u64,
    size: u64,
    value: Term,
) {
    let value = match pool.as_bool(guard) {
        Some(true) => value,
        Some(false) => return,
        None => {
            let range = (offset, offset + size);
            if object.first.is_some() && object.contents.shows_background(range.0, range.1) {
                object.touched.add(range, true);
            }
            let old = object.contents.read(pool, offset, size);
            choose(pool, guard, value, old)
        }
    };
    object.contents.write(pool, offset, size, value);
}

/// `guard ? a : b`, as bit-vectors where the two are of different sorts.
fn choose(pool: &mut TermPool, guard: Term, a: Term, b: Term) -> Term {
    if pool.sort(a) == pool.sort(b) {
        return pool.ite(guard, a, b);
    }
    let (a, b) = (to_bytes(pool, a), to_bytes(pool, b));
    pool.ite(guard, a, b)
}

/// The range of `size` bytes from a distance on, if they lie within the first `room` bytes.
pub fn range_within(start: i64, size: u64, room: u64) -> Option<(u64, u64)> {
    let start = u64::try_from(start).ok()?;
    let end = start.checked_add(size)?;
    (end <= room).then_some((start, end))
}

fn fits(start: i64, size: u64, room: u64) -> bool {
    range_within(start, size, room).is_some()
}

/// The condition that an index is within a window.
fn in_window(pool: &mut TermPool, window: Window, index: Term) -> Term {
    let width = pool.width(index);
    if window.count == 0 {
        return pool.ff();
    }
    if width < 64 && window.count >= 1 << width {
        return pool.tt();
    }
    let relative = relative_index(pool, window, index);
    let count = pool.bv(width, window.count);
    pool.ult(relative, count)
}

/// The index counted from the first of the window.
fn relative_index(pool: &mut TermPool, window: Window, index: Term) -> Term {
    let first = pool.bv_signed(pool.width(index), window.first);
    pool.sub(index, first)
}

/// The byte offset, as a 64-bit term.
fn offset_term(pool: &mut TermPool, offset: Offset) -> Term {
    match offset {
        Offset::Known(start) => pool.bv_signed(64, start),
        Offset::Scaled(ScaledOffset { start, stride, index }) => {
            let index = pool.sext(index, 64);
            let stride = pool.bv(64, stride);
            let distance = pool.mul(index, stride);
            let start = pool.bv_signed(64, start);
            pool.add(distance, start)
        }
    }
}

/// Whether an access of `size` bytes is always one whole element.
fn is_aligned(offset: Offset, size: u64, element: u64) -> bool {
    let (start, stride) = match offset {
        Offset::Known(start) => (start, 0),
        Offset::Scaled(ScaledOffset { start, stride, .. }) => (start, stride),
    };
    size == element && (start as u64).is_multiple_of(element) && stride % element == 0
}

/// The 32-bit index of the element that contains a byte.
fn element_index(pool: &mut TermPool, offset: Term, element: u64) -> Term {
    let shift = element.trailing_zeros();
    pool.extract(31 + shift, shift, offset)
}

fn read_array_byte(pool: &mut TermPool, array: Term, element: u64, at: Term) -> Term {
    let index = element_index(pool, at, element);
    let whole = pool.select(array, index);
    if element == 1 {
        return whole;
    }
    let shift = bit_shift(pool, at, element);
    let shifted = pool.lshr(whole, shift);
    pool.extract(7, 0, shifted)
}

/// The distance, in bits, of a byte from the low end of its element; as wide as the element.
pub(crate) fn bit_shift(pool: &mut TermPool, at: Term, element: u64) -> Term {
    let low = pool.extract(element.trailing_zeros() - 1, 0, at);
    let wide = pool.zext(low, element as u32 * 8);
    let three = pool.bv(element as u32 * 8, 3);
    pool.shl(wide, three)
}

fn write_array_byte(
    pool: &mut TermPool,
    array: Term,
    element: u64,
    guard: Term,
    at: Term,
    byte: Term,
) -> Term {
    let index = element_index(pool, at, element);
    if element == 1 {
        return store_where(pool, array, guard, index, byte);
    }
    let shift = bit_shift(pool, at, element);
    let old = pool.select(array, index);
    let new = with_byte(pool, old, shift, byte);
    store_where(pool, array, guard, index, new)
}

pub(crate) fn store_where(
    pool: &mut TermPool,
    array: Term,
    guard: Term,
    index: Term,
    value: Term,
) -> Term {
    let old = pool.select(array, index);
    let value = pool.ite(guard, value, old);
    pool.store(array, index, value)
}

#[cfg(test)]
mod tests {
    use lydian_smt::{Evaluator, Model, Sort, Value};

    use super::*;

    #[test]
    fn no_value_of_a_term_is_above_its_bound() {
        let mut pool = TermPool::new();
        let (x, y) = (pool.var("x", Sort::BitVec(8)), pool.var("y", Sort::BitVec(32)));
        let wide = pool.zext(x, 32);
        let (three, mask, shift) = (pool.bv(32, 3), pool.bv(32, 0x7f), pool.bv(32, 27));
        let masked = pool.bvand(y, mask);
        let condition = pool.ult(y, wide);
        let signed = pool.sext(masked, 64);
        let long = pool.sext(y, 64);
        let terms = [
            (wide, 255),
            (pool.mul(wide, three), 765),
            (pool.add(masked, wide), 382),
            (pool.lshr(y, shift), 31),
            (pool.urem(y, mask), 126),
            (pool.ite(condition, wide, masked), 255),
            (within_count(&mut pool, signed, 573), 127),
            (within_count(&mut pool, long, 573), 572),
            (within_count(&mut pool, long, 512), 511),
            (within_count(&mut pool, long, 1), 0),
            (signed, 127),
            (pool.add(y, wide), u64::from(u32::MAX)),
            (pool.extract(11, 4, masked), 7),
        ];
        let mut evaluator = Evaluator::new();
        for (term, bound) in terms {
            assert_eq!(greatest(&pool, term, DEPTH), bound, "{}", pool.show(term));
            for value in [0, 1, 77, 127, 128, 200, 255, 0x7fff_ffff, 0xffff_ffff] {
                let of = |var| (var, Value::from_u64(pool.sort(var), value));
                let model = Model::from_values(vec![of(x), of(y)]);
                assert!(evaluator.eval_u64(&pool, &model, term) <= bound);
            }
        }
    }

    #[test]
    fn an_index_below_its_count_keeps_its_value() {
        let mut pool = TermPool::new();
        let index = pool.var("i", Sort::BitVec(64));
        let mut evaluator = Evaluator::new();
        for count in [1, 2, 3, 8, 573, 1 << 20, u64::MAX] {
            let within = within_count(&mut pool, index, count);
            for value in [0, 1, 2, 7, 8, 572, 573, count - 1, count, count / 2, u64::MAX] {
                let of_index = (index, Value::from_u64(Sort::BitVec(64), value));
                let model = Model::from_values(vec![of_index]);
                let found = evaluator.eval_u64(&pool, &model, within);
                assert!(found < count, "{found} for {value} of {count}");
                assert!(found == value || value >= count, "{found} for {value} of {count}");
            }
        }
    }
}
