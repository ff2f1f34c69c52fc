//! Records that lie behind or before the elements of an input object.
//!
//! Programs keep data of their own next to a struct that other code knows, in one allocation:
//! `dev + 1` is used as a pointer to them. Only that use shows it. Where a path accesses such a record
//! for the first time, the object gets elements of its type there ([`LazyObject::behind`]), with
//! symbols for its members. The path's knowledge about the object stays valid.
//!
//! No input is lost: the bytes there have any value either way, and C does not allow access to them
//! as elements of the object's own type, too. Other pointers could not lead to the record before,
//! as it was not known; that is an assumption.

use std::sync::Arc;

use lydian_inputs::lazy::{LazyObject, Placement, readable_name};
use lydian_ir::CTypeId;
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Term, TermPool};

use crate::machine::inputs::aliasing::{PlacesWithin, is_character, places_within};
use crate::machine::memory::ScaledOffset;
use crate::machine::memory::{
    Background, Candidate, ObjectKind, Offset, Region, Resolution, distance,
};
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::Notes;

/// The first place in an object that an offset may stand for.
const fn first_place(offset: Offset) -> i64 {
    match offset {
        Offset::Known(at) => at,
        Offset::Scaled(ScaledOffset { start, .. }) => start,
    }
}

impl<N: Notes> StateView<'_, '_, N> {
    /// Lays out records at known places in input objects, given an address that was resolved and
    /// was made as a pointer into such a record.
    pub(crate) fn lay_out_records(
        &mut self,
        pool: &mut TermPool,
        addr: Term,
        found: &Resolution,
    ) -> Result<(), Stop> {
        if !found.candidates.iter().any(|candidate| self.is_beyond_first_element(candidate)) {
            return Ok(());
        }
        let Some((ty, back)) = self.record_around(pool, addr) else { return Ok(()) };
        for candidate in &found.candidates {
            let at = distance(first_place(candidate.offset) as u64) - back;
            self.lay_out(pool, candidate, (ty, at))?;
        }
        Ok(())
    }

    /// Whether a candidate is a place in an input object outside of its first element.
    fn is_beyond_first_element(&self, candidate: &Candidate) -> bool {
        let object = self.state.memory.object(candidate.object);
        let Background::Lazy { object: lazy, .. } = object.contents.background() else {
            return false;
        };
        let at = distance(first_place(candidate.offset) as u64) - lazy.own.origin;
        object.kind == ObjectKind::Lazy && !(0..lazy.own.period() as i64).contains(&at)
    }

    /// The type of the outermost record with a member that an address was made as, and the distance
    /// of the address from the record's first byte where all subscripts are 0.
    fn record_around(&self, pool: &TermPool, addr: Term) -> Option<(CTypeId, i64)> {
        let (mut at, mut back, mut outermost) = (addr, 0_i64, None);
        loop {
            if let Some(record) = self.uses.record_at(at)
                && let Some(ty) = self.context.record_type(record)
                && back >= 0
            {
                let shape = self.context.inputs.shape(&self.context.program.types, ty);
                if (back as u64) < shape.size() || shape.has_tail() {
                    outermost = Some((ty, back));
                }
            }
            let Some((from, by)) = self.derived.get(&at) else { return outermost };
            (at, back) = (*from, back.wrapping_add(pool.as_i64(*by).unwrap_or(0)));
        }
    }

    /// Lays out a record at a distance from the home of a candidate's object.
    fn lay_out(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        (ty, at): Placement,
    ) -> Result<(), Stop> {
        let types = &self.context.program.types;
        let object = self.state.memory.object(candidate.object);
        let Background::Lazy { object: lazy, .. } = object.contents.background() else {
            return Ok(());
        };
        let Some(size) = types.size(ty).filter(|size| *size > 0) else { return Ok(()) };
        let lazy = lazy.clone();
        let elements = lazy.elements_at(at);
        if is_character(types, elements.ty) || types.size(elements.ty).is_none() {
            return Ok(());
        }
        let period = elements.period() as i64;
        let from_first = at - elements.origin;
        let (is_before, is_behind) = (at + size as i64 <= lazy.own.origin, from_first >= period);
        let within = from_first.rem_euclid(period) as u64;
        let (places, are_all) = places_within(types, elements.ty, ty);
        let is_there = |place: &PlacesWithin| {
            let (stride, count) = place.elements;
            (0..count).any(|index| place.first + index * stride == within)
        };
        if !(is_before || is_behind) || !are_all || places.iter().any(is_there) {
            return Ok(());
        }
        self.give_layout(pool, candidate, &lazy, ((ty, at), size))
    }

    /// Gives an object elements of a type at a distance from its home.
    fn give_layout(
        &mut self,
        pool: &mut TermPool,
        candidate: &Candidate,
        lazy: &Arc<LazyObject>,
        (of, size): (Placement, u64),
    ) -> Result<(), Stop> {
        let object = self.state.memory.object(candidate.object);
        let is_before = of.1 < lazy.own.origin;
        let next = lazy.behind.iter().map(|behind| behind.origin).find(|origin| *origin > of.1);
        let taken = of.1..if is_before { lazy.own.origin } else { next.unwrap_or(i64::MAX) };
        let is_elsewhere = |(from, to): &(u64, u64)| {
            distance(*to) <= taken.start && !is_before || distance(*from) >= taken.end
        };
        let is_untouched = object.touched.ranges().iter().all(is_elsewhere);
        let fits = of.1.checked_add(size as i64).is_some_and(|end| end <= taken.end);
        if !is_untouched || !fits || object.touched.is_anywhere(pool) || object.contents.has_rows()
        {
            return Ok(());
        }
        if self.state.log.is_in_predicate() {
            // The records that two predicates find there may overlap, and no test would have both.
            return Err(Stop::Unsupported("a record that only a predicate looks at".into()));
        }
        self.assume_unaliased_record(lazy, of);
        let new = self.context.inputs.object_with(&self.context.program.types, pool, lazy, of);
        let object = self.state.memory.object_mut(candidate.object);
        object.contents.become_part_of(new.clone());
        if object.first.is_some() {
            object.first = Some(new);
        }
        Ok(())
    }

    /// Assumes that pointers to such a record that were followed before do not lead to this one,
    /// where there are any.
    fn assume_unaliased_record(&mut self, lazy: &LazyObject, (ty, _): Placement) {
        let context = self.context;
        let types = &context.program.types;
        if !context.aliasing.may_show(&context.inputs.shape(types, ty)) {
            return;
        }
        let mut others = self.state.memory.objects(Region::Lazy).filter_map(|(_, object)| {
            let Background::Lazy { object, .. } = object.contents.background() else { return None };
            (object.home != lazy.home).then_some(object)
        });
        let has = |ty_of_other| !places_within(types, ty, ty_of_other).0.is_empty();
        if others.any(|other| other.all_elements().any(|elements| has(elements.ty))) {
            let name = readable_name(&lazy.own.name);
            let sentence =
                format!("no pointer that was followed before leads to what lies behind {name}");
            self.bounds.assume(Assumption::new(AssumptionKind::Alias, name, sentence));
        }
    }
}
