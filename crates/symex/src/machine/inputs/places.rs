//! The possible targets of a pointer of the inputs: places in objects of a path, each under its
//! guard.

use std::sync::Arc;

use lydian_inputs::lazy::{LazyObject, REACH, ROOM};
use lydian_smt::{Sort, Term, TermPool};

use crate::machine::memory::PointerPlace;

/// The possible targets of a pointer.
#[derive(Default)]
pub(crate) struct PossibleTargets {
    /// The places, each under its guard.
    pub(crate) places: Vec<PointerPlace>,
    /// Whether it may lead to one of many elements of another pointer's object.
    pub(crate) has_choices: bool,
    /// Places of values that would contain an object of the path.
    pub(crate) around: Vec<Around>,
}

/// A place of a value that would contain an object of the path.
pub(crate) struct Around {
    /// The address of the value.
    pub(crate) place: u64,
    /// The object.
    pub(crate) part: Arc<LazyObject>,
    /// The number of bytes that the value has for the object.
    pub(crate) room: u64,
    /// The condition under which the pointer leads there, or to another element of an array of such
    /// values.
    pub(crate) guard: Term,
    /// The distance of that other element from the value with the object.
    pub(crate) distance: Option<Term>,
    /// The condition that all accessed bytes of the object lie within these bytes: C allows nothing
    /// else where the pointer leads there.
    pub(crate) within: Term,
}

impl PossibleTargets {
    /// Adds a single address as a target.
    pub(crate) fn add_exact(&mut self, pool: &mut TermPool, address: Term, at: u64) {
        if self.places.iter().any(|known| known.address == at && known.distance.is_none()) {
            return;
        }
        let place = pool.bv(64, at);
        let guard = pool.eq(address, place);
        self.places.push(PointerPlace { guard, address: at, distance: None });
    }

    /// The condition that the pointer leads to one of the targets.
    pub(crate) fn leads_somewhere(&self, pool: &mut TermPool) -> Term {
        let mut any = pool.or_all(self.places.iter().map(|place| place.guard));
        for around in &self.around {
            let here = pool.and(around.guard, around.within);
            any = pool.or(any, here);
        }
        any
    }

    /// Adds the elements of an object as targets. Their number may be unlimited in both directions.
    /// Distances are from the first element, so that it is visible which part of the object each
    /// is.
    pub(crate) fn add_elements(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        elements: Elements,
        object: &LazyObject,
    ) {
        self.has_choices = true;
        let (guard, distance) = self.one_of(pool, address, elements, object);
        let distance = Some(distance);
        self.places.push(PointerPlace { guard, address: elements.first, distance });
    }

    /// The condition that an address leads to one of some elements of an object, and its distance
    /// from the first.
    pub(crate) fn one_of(
        &self,
        pool: &mut TermPool,
        address: Term,
        elements: Elements,
        object: &LazyObject,
    ) -> (Term, Term) {
        let Elements { first, stride, outer, .. } = elements;
        let start = object.home - REACH;
        let is_cut_from_bits = outer.is_none()
            && stride.is_power_of_two()
            && stride < ROOM
            && first.wrapping_sub(start).is_multiple_of(stride);
        if is_cut_from_bits {
            return elements.by_bits(pool, address, start);
        }
        let from_home = self.places.first().map_or(0, |place| place.address);
        let name = format!("element of {} at {from_home:x}", object.own.name);
        elements.by_number(pool, address, &name)
    }
}

/// Elements that a pointer may lead to.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    /// The address of the first element.
    pub(crate) first: u64,
    /// The distance of adjacent elements, in bytes.
    pub(crate) stride: u64,
    /// The number of elements; [`u64::MAX`] for an unlimited number in both directions.
    pub(crate) count: u64,
    /// The distance of larger elements, in bytes, where these elements lie in each of an unlimited
    /// number of larger elements in both directions.
    pub(crate) outer: Option<u64>,
}

impl Elements {
    /// The condition that an address leads to one of the elements, and its distance from the first;
    /// computed from the bits of the address in the room that begins at `start`.
    fn by_bits(self, pool: &mut TermPool, address: Term, start: u64) -> (Term, Term) {
        let Self { first, stride, count, .. } = self;
        let (room_bits, shift) = (ROOM.trailing_zeros(), stride.trailing_zeros());
        let high = pool.extract(63, room_bits, address);
        let room = pool.bv(64 - room_bits, start / ROOM);
        let mut guard = pool.eq(high, room);
        let position = pool.extract(room_bits - 1, shift, address);
        let from = pool.bv(room_bits - shift, (first - start) / stride);
        let number = pool.sub(position, from);
        if count != u64::MAX {
            let most = pool.bv(room_bits - shift, count);
            let inside = pool.ult(number, most);
            guard = pool.and(guard, inside);
        }
        if shift == 0 {
            return (guard, pool.sext(number, 64));
        }
        let rest = pool.extract(shift - 1, 0, address);
        let zero = pool.bv(shift, 0);
        let aligned = pool.eq(rest, zero);
        let wide = pool.sext(number, 64 - shift);
        (pool.and(guard, aligned), pool.concat(wide, zero))
    }

    /// As [`Self::by_bits`], with symbols for the number of the element.
    fn by_number(self, pool: &mut TermPool, address: Term, name: &str) -> (Term, Term) {
        let Self { first, stride, count, outer } = self;
        let (mut distance, mut inside) = numbered(pool, name, (stride, count));
        if let Some(period) = outer {
            let name = format!("larger {name}");
            let (more, inside_outer) = numbered(pool, &name, (period, u64::MAX));
            distance = pool.add(distance, more);
            inside = pool.and(inside, inside_outer);
        }
        let base = pool.bv(64, first);
        let place = pool.add(base, distance);
        let equal = pool.eq(address, place);
        (pool.and(equal, inside), distance)
    }
}

/// The distance of an element from the first, with a symbol for its number, and the condition that
/// there is such an element.
fn numbered(pool: &mut TermPool, name: &str, (stride, count): (u64, u64)) -> (Term, Term) {
    let number = pool.var(name, Sort::BitVec(32));
    let wide = pool.sext(number, 64);
    let size = pool.bv(64, stride);
    let distance = pool.mul(wide, size);
    let reach = REACH / stride;
    let (least, most) = match count {
        u64::MAX => (-(reach as i64), 2 * reach),
        count => (0, count),
    };
    let least = pool.bv_signed(32, least);
    let behind = pool.sub(number, least);
    let most = pool.bv(32, most);
    (distance, pool.ult(behind, most))
}
