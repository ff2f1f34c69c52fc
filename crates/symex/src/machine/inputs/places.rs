//! Where a pointer of the inputs may lead: places in objects that a path has, each under its guard.

use std::sync::Arc;

use lydian_inputs::lazy::{LazyObject, REACH, ROOM};
use lydian_smt::{Sort, Term, TermPool};

/// Where a pointer may lead.
#[derive(Default)]
pub(crate) struct Places {
    /// Guard, address and what is added to it.
    pub(crate) places: Vec<(Term, u64, Option<Term>)>,
    /// Whether it may lead to one of many elements of another's object.
    pub(crate) has_choices: bool,
    /// Addresses from which a value would reach around an object that the path has.
    pub(crate) around: Vec<Around>,
}

/// A place from which a value would reach around an object that the path has.
pub(crate) struct Around {
    /// Where it would begin.
    pub(crate) place: u64,
    /// The object.
    pub(crate) part: Arc<LazyObject>,
    /// How many bytes the value has for the object.
    pub(crate) room: u64,
    /// Where the pointer leads there, or to another element of an array of such values.
    pub(crate) guard: Term,
    /// How far from the value around the object that other element lies.
    pub(crate) distance: Option<Term>,
    /// Where all that the path accessed of the object lies within these bytes: C allows nothing else
    /// where the pointer leads there.
    pub(crate) within: Term,
}

impl Places {
    /// The pointer leads to an address.
    pub(crate) fn add_exact(&mut self, pool: &mut TermPool, address: Term, at: u64) {
        if self.places.iter().any(|(_, known, offset)| *known == at && offset.is_none()) {
            return;
        }
        let place = pool.bv(64, at);
        self.places.push((pool.eq(address, place), at, None));
    }

    /// Where the pointer leads to one of the places, or around an object.
    pub(crate) fn leads_somewhere(&self, pool: &mut TermPool) -> Term {
        let mut any = pool.or_all(self.places.iter().map(|(guard, _, _)| *guard));
        for around in &self.around {
            let here = pool.and(around.guard, around.within);
            any = pool.or(any, here);
        }
        any
    }

    /// The pointer leads to one of the elements of an object, which are so many or as many as one
    /// likes, in both directions. Distances are from the first of them, so that it is seen which part of
    /// the object each is.
    pub(crate) fn add_elements(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        elements: Elements,
        object: &LazyObject,
    ) {
        self.has_choices = true;
        let (guard, distance) = self.one_of(pool, address, elements, object);
        self.places.push((guard, elements.first, Some(distance)));
    }

    /// Where an address leads to one of some elements of an object, and how far that is from the first.
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
        let from_home = self.places.first().map_or(0, |(_, home, _)| *home);
        let name = format!("element of {} at {from_home:x}", object.own.name);
        elements.by_number(pool, address, &name)
    }
}

/// Elements that a pointer may lead to.
#[derive(Clone, Copy)]
pub(crate) struct Elements {
    /// The address of the first.
    pub(crate) first: u64,
    /// Bytes from one to the next.
    pub(crate) stride: u64,
    /// How many there are; [`u64::MAX`] for as many as one likes, in both directions.
    pub(crate) count: u64,
    /// Where they lie in each of as many larger elements as one likes, in both directions: bytes from one
    /// of these to the next.
    pub(crate) outer: Option<u64>,
}

impl Elements {
    /// Where an address leads to one of them, and how far that is from the first: from the bits of the
    /// address in the room that begins at `start`.
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

    /// The same by symbols for the number of the element.
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

/// The distance of an element from the first by a symbol for its number, and where that is one there is.
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
