//! Lazy initialisation: a pointer of the inputs gets its targets when a path first follows it
//! ([`lydian_inputs::lazy`]).
//!
//! Where an address is resolved that is made of a pointer which was not followed yet, the path gets
//! an object in the pointer's home. It also gets the fact that the pointer leads there or into an
//! object that the path already has. This is no restriction of the inputs: every other value is
//! null, which the access itself excludes, or no pointer that C allows to be followed. Where
//! several objects are possible, the access is one to all of them, each under its guard, and the
//! path is not split.
//!
//! Objects that only the predicate of a label follows are forgotten after its evaluation, so that
//! the path does not depend on the labels left; their facts are added to the predicate's question.

mod compared;

use std::sync::Arc;

use lydian_inputs::callback::callback_of;
use lydian_inputs::concretise::relevant_inputs::RelevantInputs;
use lydian_inputs::concretise::test_objects::{Needs, ObjectAccesses};
use lydian_inputs::lazy::{AddressSource, LazyObject, PointerInput, REACH, ROOM, readable_name};
use lydian_ir::{CType, CTypeId, CTypes, RecordId, Type};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Evaluator, Model, Term, TermPool, Value};

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::calls::first_run::RESTRICTED;
use crate::machine::decision_log::Question;
use crate::machine::inputs::aliasing::{MemberRun, PlacesWithin, is_character, places_within};
use crate::machine::inputs::places::{Around, Elements, PossibleTargets};
use crate::machine::inputs::pointer_uses::UsedRecord;
use crate::machine::memory::AccessKind;
use crate::machine::memory::{
    AccessPlace, AccessRanges, Background, Contents, Expansion, Memory, NewObject, ObjectKind,
    Offset, PointerPlace, Region, Resolution, distance, is_followed, range_within,
};
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::{Notes, PathCondition, State};

/// A pointer with more possible objects than this is first split from its home.
const MOST_MERGED: usize = 4;

/// The most ways in which a value may contain an object as an element of an array member.
const MOST_AROUND: u64 = 4;

/// Message where a pointer leads around an object in more ways than are followed.
const AROUND: &str = "a struct around an object that was looked at before as one of its members";

/// The place of an object's elements within a value of a larger type.
struct EnclosingPlace {
    /// The places of the elements' type in the larger type.
    before: PlacesWithin,
    /// The run of these places that the object may begin.
    run: MemberRun,
    /// The address of the object's first element.
    first: u64,
}

impl<N: Notes> StateView<'_, '_, N> {
    /// Notes that an address is used as that of a record. The object is outgrown where the path has
    /// a part of that record there, with further elements around it.
    pub(crate) fn use_as_record(&mut self, pool: &TermPool, base: Term, record: RecordId) {
        let size = self.context.program.types.records[record].size.unwrap_or(0);
        let noted = self.uses.note(pool, self.derived, base, (record, size));
        let Some((addresses, used)) = noted else { return };
        let mut laid = addresses.iter().filter_map(|address| self.laid_at_home(*address));
        if laid.any(|laid| laid.is_part_of(used)) {
            (self.state.inputs.outgrown, self.uses.outgrown) = (true, true);
        }
    }

    /// The record that the object in a pointer's home is laid out as; `None` if the path did not
    /// follow the pointer, or the object is no record.
    fn laid_at_home(&self, address: Term) -> Option<UsedRecord> {
        self.state.path.expanded.get(&address)?;
        let pointer = self.context.inputs.pointer_at(address)?;
        let object = self.state.memory.object(self.state.memory.object_near(pointer.home)?);
        let Background::Lazy { object, .. } = object.contents.background() else { return None };
        let types = &self.context.program.types;
        let (CType::Record(record), Some(size)) =
            (types.get(object.own.ty), types.size(object.own.ty))
        else {
            return None;
        };
        let is_home = object.home == pointer.home;
        is_home.then_some(UsedRecord { record: *record, origin: object.own.origin, size })
    }

    /// Finds the possible targets of a pointer of the inputs. `guard` is the condition under which
    /// it is followed, and `access` the type of the accessed value, if known.
    pub(crate) fn expand(
        &mut self,
        pool: &mut TermPool,
        (guard, address): (Term, Term),
        access: Option<Type>,
    ) -> Result<(), Stop> {
        let context = self.context;
        let void = context.void_pointer();
        let pointer = match context.inputs.pointer_at(address) {
            Some(pointer) => pointer,
            None => context.inputs.adopt(pool, address, void),
        };
        self.split_unless_followed(pool, guard, &pointer)?;
        let of = self.element_of(address, &pointer, access);
        let home = self.free_home(&pointer);
        if is_character(&context.program.types, of.0) && context.has_other_variables {
            self.bounds.part_characters();
        }
        let mut found = PossibleTargets::default();
        found.add_exact(pool, address, home);
        if let Some(place) = self.known_place(pool, address)? {
            self.note_places(address, vec![place]);
            return Ok(());
        }
        self.add_aliases(pool, address, of, &mut found);
        if let Some(declared) = self.declared_element(&pointer).filter(|ty| *ty != of.0) {
            self.add_declared(pool, address, declared, &mut found);
        }
        let is_around = !found.around.is_empty();
        let many = found.has_choices || is_around || found.places.len() > MOST_MERGED;
        if many && !self.state.log.is_in_predicate() {
            // The model selects the target that the path follows first.
            let somewhere = found.leads_somewhere(pool);
            if !self.holds_on_model(pool, somewhere) {
                self.suppose_that_leads(pool, (&pointer, address), somewhere, home)?;
            }
            self.split_from_home(pool, found.places[0].guard)?;
        }
        match self.state.knowledge().known(pool, found.places[0].guard) {
            Some(true) => found.places.truncate(1),
            Some(false) => {
                found.places.remove(0);
                self.look_around(pool, of, &mut found)?;
            }
            None if is_around => return Err(Stop::Unsupported(AROUND.into())),
            None => {}
        }
        let any = pool.or_all(found.places.iter().map(|place| place.guard));
        self.suppose_that_leads(pool, (&pointer, address), any, home)?;
        self.make_home(&PointerInput { home, ..(*pointer).clone() }, of)?;
        let places = found
            .places
            .into_iter()
            .filter(|place| self.state.knowledge().known(pool, place.guard) != Some(false));
        let places = places.collect();
        self.note_places(address, places);
        Ok(())
    }

    /// Notes the places that a pointer may lead to.
    fn note_places(&mut self, address: Term, places: Vec<PointerPlace>) {
        let expansion = Arc::new(Expansion { places });
        Arc::make_mut(&mut self.state.path.expanded).insert(address, expansion);
    }

    /// Expands a pointer that is called as a function although its type is not that of a function
    /// pointer: it leads to the test's own function of the type.
    pub(crate) fn expand_function(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        ty: CTypeId,
    ) -> Result<(), Stop> {
        let context = self.context;
        let none = || Stop::Unsupported("a call through a pointer made from bytes".into());
        let function = callback_of(context.program, ty).ok_or_else(none)?;
        let pointer = context.inputs.pointer_at(address).ok_or_else(none)?;
        if !context.spec.globals.addressed_of_type(context.program, ty).is_empty() {
            let place = &pointer.place;
            let sentence =
                format!("{place} leads to no function of the program where it is called");
            self.bounds.assume(Assumption::new(AssumptionKind::Alias, &**place, sentence));
        }
        let place = context.inputs.function_place(&pointer, function);
        let at = pool.bv(64, place);
        let leads = pool.eq(address, at);
        self.suppose_that_leads(pool, (&pointer, address), leads, place)?;
        let place = PointerPlace { guard: leads, address: place, distance: None };
        self.note_places(address, vec![place]);
        Ok(())
    }

    /// Handles a pointer that may lead to the struct around an object that the path looked at
    /// before as one of its members. The path is split until it is known whether it does. If so,
    /// the object becomes the whole struct.
    fn look_around(
        &mut self,
        pool: &mut TermPool,
        (element, origin): (CTypeId, i64),
        found: &mut PossibleTargets,
    ) -> Result<(), Stop> {
        for around in std::mem::take(&mut found.around) {
            let Around { place, part, room, guard, distance, within } = around;
            match self.state.knowledge().known(pool, guard) {
                Some(true) => {
                    self.suppose(pool, within, None)?;
                    let of = (element, place.wrapping_sub(part.home) as i64 + origin);
                    self.widen(pool, (&part, room), of)?;
                    found.places = vec![PointerPlace { guard, address: place, distance }];
                    return Ok(());
                }
                Some(false) => {}
                None if self.state.log.is_in_predicate() => {
                    return Err(Stop::Unsupported(AROUND.into()));
                }
                None => {
                    return Err(self.split_by_model(pool, guard));
                }
            }
        }
        Ok(())
    }

    /// The bytes of an input object that the path accessed.
    fn touched_of(&self, object: &LazyObject) -> Option<&AccessRanges> {
        let memory = &self.state.memory;
        memory.object_near(object.home).map(|id| &memory.object(id).touched)
    }

    /// The condition that all accessed bytes of an object lie within `room` bytes from its first
    /// element on.
    pub(crate) fn lies_within(&self, pool: &mut TermPool, part: &LazyObject, room: u64) -> Term {
        let Some(touched) = self.touched_of(part) else { return pool.tt() };
        let start = REACH.wrapping_add_signed(part.own.origin);
        let is_inside = |(from, to): &(u64, u64)| *from >= start && *to <= start + room;
        let mut within = pool.bool(touched.always().iter().all(is_inside));
        for AccessPlace { place, size, guard } in touched.at() {
            let Some(last) = room.checked_sub(*size) else {
                let elsewhere = pool.not(*guard);
                within = pool.and(within, elsewhere);
                continue;
            };
            let (start, last) = (pool.bv(64, start), pool.bv(64, last));
            let behind = pool.sub(*place, start);
            let inside = pool.ule(behind, last);
            let inside = pool.implies(*guard, inside);
            within = pool.and(within, inside);
        }
        within
    }

    /// Makes an object that the path looked at a part of an object of larger elements. One of these
    /// begins at the given distance from home and has `room` bytes for the part; all its accessed
    /// bytes lie there.
    fn widen(
        &mut self,
        pool: &mut TermPool,
        (part, room): (&Arc<LazyObject>, u64),
        of: (CTypeId, i64),
    ) -> Result<(), Stop> {
        let types = &self.context.program.types;
        let Some(id) = self.state.memory.object_near(part.home) else { return Ok(()) };
        let object = self.state.memory.object(id);
        let touched = &object.touched;
        let start = REACH.wrapping_add_signed(part.own.origin);
        let ends = (part.own.origin, part.own.origin + room as i64);
        let anywhere = touched.is_anywhere(pool) || object.contents.has_rows();
        let whole = self.context.inputs.object_around_part(types, (part, room), of);
        let inside =
            |(from, to): &(u64, u64)| (distance(*from).max(ends.0), distance(*to).min(ends.1));
        let is_one = match anywhere {
            true => part.lists_all(ends) && whole.agrees_with_part(ends),
            false => touched.ranges().iter().all(|range| whole.agrees_with_part(inside(range))),
        };
        if !is_one {
            return Err(Stop::Unsupported(AROUND.into()));
        }
        let object = self.state.memory.object_mut(id);
        object.contents.settle_rows(pool, (start, start + room));
        object.contents.become_part_of(whole.clone());
        object.first = Some(whole);
        Ok(())
    }

    /// Splits the path on whether a pointer leads home. Objects of their own make simple paths, and
    /// mostly cover everything; where a pointer leads elsewhere in many ways, those are other
    /// paths.
    fn split_from_home(&mut self, pool: &mut TermPool, is_home: Term) -> Result<(), Stop> {
        if self.state.knowledge().known(pool, is_home).is_some() {
            return Ok(());
        }
        Err(self.split_by_model(pool, is_home))
    }

    /// The type of the elements that a pointer leads to, and the distance to the beginning of the
    /// first. They come from the pointer's own type, if that says anything, or from the struct that
    /// the code uses it with.
    fn element_of(
        &self,
        address: Term,
        pointer: &PointerInput,
        access: Option<Type>,
    ) -> (CTypeId, i64) {
        let types = &self.context.program.types;
        let plain = self.declared_element(pointer);
        if self.uses.bytes.contains(&pointer.place) {
            let characters = plain.filter(|ty| is_character(types, *ty));
            let of_access = || self.context.type_of_access(Some(Type::Int(8)));
            return (characters.unwrap_or_else(of_access), 0);
        }
        let used = self.uses.records.get(&address).and_then(|used| {
            let ty = self.context.record_type(used.record)?;
            types.size(ty).map(|_| (ty, used.origin))
        });
        match (plain, used) {
            (Some(ty), Some((used, origin))) => {
                let is_larger = || types.size(used).unwrap_or(0) > types.size(ty).unwrap_or(0);
                let larger = origin < 0 || origin == 0 && is_larger();
                if larger { (used, origin) } else { (ty, 0) }
            }
            (Some(ty), None) => (ty, 0),
            (None, Some(used)) => used,
            (None, None) => (self.context.type_of_access(access), 0),
        }
    }

    /// The type of element that a pointer's own type names, if any.
    fn declared_element(&self, pointer: &PointerInput) -> Option<CTypeId> {
        let types = &self.context.program.types;
        let declared = types.pointee(pointer.ty).filter(|ty| types.size(*ty).is_some());
        declared.filter(|ty| !matches!(types.get(*ty), CType::Void))
    }

    /// Adds the places that a pointer may lead to by its own type, where the code also uses it with
    /// a larger struct. On a path without that use, it may lead to such a part of any other object,
    /// as the last pointer of a circular list leads to the list's head.
    fn add_declared(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        declared: CTypeId,
        found: &mut PossibleTargets,
    ) {
        let (places, around) = (found.places.len(), found.around.len());
        self.add_aliases(pool, address, (declared, 0), found);
        for omissions in found.around.drain(around..) {
            self.assume_nothing_around(&omissions.part);
        }
        let more = found.places.split_off(places);
        let is_known = |place: &PointerPlace| {
            let is_same = |known: &PointerPlace| known.address == place.address;
            found.places.iter().any(|known| is_same(known) && known.distance.is_some())
        };
        let more: Vec<_> = more.into_iter().filter(|place| !is_known(place)).collect();
        found.places.extend(more);
    }

    /// The home of a pointer, or the next place behind it that the object of no other pointer
    /// occupies.
    fn free_home(&self, pointer: &PointerInput) -> u64 {
        let mut home = pointer.home;
        while let Some(object) = self.state.memory.object_near(home) {
            let object = self.state.memory.object(object);
            let is_own = match object.contents.background() {
                Background::Lazy { object, .. } => {
                    object.home == home && is_of(object.own.name.as_ref(), pointer)
                }
                _ => false,
            };
            if is_own {
                break;
            }
            home += ROOM;
        }
        home
    }

    /// Makes the object in a pointer's home.
    fn make_home(&mut self, pointer: &PointerInput, of: (CTypeId, i64)) -> Result<(), Stop> {
        if self.state.memory.object_near(pointer.home).is_some() {
            return Ok(());
        }
        let types = &self.context.program.types;
        let object = self.context.inputs.object(types, pointer, of);
        let new = NewObject {
            size: ROOM,
            alignment: 1,
            length: None,
            kind: ObjectKind::Lazy,
            read_only: false,
            name: pointer.place.clone(),
            contents: Contents::new(Background::Lazy { object, rows: Default::default() }),
        };
        let made = self.state.memory.allocate_at(pointer.home - REACH, new);
        made.map(|_| ()).ok_or_else(|| Stop::Unsupported("more memory".into()))
    }

    /// Splits the path on whether bits of unknown type are followed as a pointer. Only then are
    /// they a pointer; otherwise they may be any number.
    fn split_unless_followed(
        &mut self,
        pool: &mut TermPool,
        guard: Term,
        pointer: &PointerInput,
    ) -> Result<(), Stop> {
        let is_pointer = pointer.source != AddressSource::Bits;
        let mut is_followed = || self.state.knowledge().known(pool, guard) == Some(true);
        if is_pointer || is_followed() || self.state.log.is_in_predicate() {
            return Ok(());
        }
        Err(self.split_by_model(pool, guard))
    }

    /// Restricts the path to the inputs on which a pointer leads to one of some places, where its
    /// bits represent it. Without other reasons, it leads to `place`.
    pub(crate) fn suppose_that_leads(
        &mut self,
        pool: &mut TermPool,
        (pointer, address): (&PointerInput, Term),
        any: Term,
        place: u64,
    ) -> Result<(), Stop> {
        let any = match pointer.source {
            AddressSource::Row(stands) => pool.implies(stands, any),
            AddressSource::Symbol(..) | AddressSource::Bits => any,
        };
        self.suppose(pool, any, Some((address, place)))
    }

    /// Restricts the path to the inputs on which `any` holds, which says that a pointer leads to
    /// one of some places. Without other reasons, it leads to the place in `plain`.
    fn suppose(
        &mut self,
        pool: &mut TermPool,
        any: Term,
        plain: Option<(Term, u64)>,
    ) -> Result<(), Stop> {
        match self.state.knowledge().known(pool, any) {
            Some(true) => return Ok(()),
            Some(false) => return Err(Stop::Infeasible),
            None => {}
        }
        if self.state.log.is_in_predicate() {
            self.bounds.tell();
            self.uses.suppose_in_predicate(self.state, any);
            return Ok(());
        }
        let holds = self.holds_on_model(pool, any)
            || plain.is_some_and(|(address, place)| self.lead_to(pool, address, place, any));
        if !holds {
            return Err(Stop::Suppose(any));
        }
        if self.state.course.first_run.is_some() {
            self.omissions.everywhere(Cut::Unsupported(RESTRICTED.to_owned()));
        }
        match self.state.add_fact(pool, any) {
            true => Ok(()),
            false => Err(Stop::Infeasible),
        }
    }

    /// Changes the state's model so that a pointer leads to a place, if the condition then holds,
    /// nothing else of the path changes, and the model still covers what it covered. Returns whether it
    /// did.
    fn lead_to(&mut self, pool: &TermPool, address: Term, place: u64, condition: Term) -> bool {
        let pointer = self.context.inputs.pointer_at(address);
        let Some((symbol, shift)) = pointer.and_then(|pointer| pointer.symbol()) else {
            return false;
        };
        let Self { state, evaluator, .. } = self;
        let State { log, model, path: PathCondition { facts, .. }, claims, .. } = &mut **state;
        let mut changed = None;
        let leads = log.decide(Question::Holds, || {
            let value = Value::from_u64(pool.sort(symbol), place >> shift);
            let other = model.with([(symbol, value)]);
            let mut all = facts.iter().chain(&claims.promises).chain([&condition]);
            let fits = all.all(|fact| evaluator.holds(pool, &other, *fact));
            changed = fits.then_some(other);
            fits
        });
        if let Some(other) = changed {
            *model = other;
        }
        leads
    }

    /// Adds the objects of the path that a pointer may lead into, where the code could show that it
    /// does.
    fn add_aliases(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        of: (CTypeId, i64),
        found: &mut PossibleTargets,
    ) {
        let context = self.context;
        let shape = context.inputs.shape(&context.program.types, of.0);
        let derived = context.inputs.pointer_at(address).is_none_or(|pointer| pointer.is_derived());
        let shows = context.aliasing.may_show(&shape) || derived;
        let objects = self.state.memory.objects(Region::Lazy).filter(|(_, object)| object.alive);
        let objects: Vec<Arc<LazyObject>> = objects
            .filter_map(|(_, object)| match object.contents.background() {
                Background::Lazy { object, .. } => Some(object.clone()),
                _ => None,
            })
            .collect();
        for object in objects {
            if shows || object.is_derived {
                self.add_alias(pool, address, of, &object, found);
            }
        }
    }

    /// Adds the places in an object that a pointer to elements of a type may lead to. The first
    /// element lies at `origin` from the place that the pointer leads to.
    fn add_alias(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        (element, origin): (CTypeId, i64),
        object: &Arc<LazyObject>,
        found: &mut PossibleTargets,
    ) {
        let types = &self.context.program.types;
        let size = types.size(element).unwrap_or(1).max(1);
        let mut around = Vec::new();
        for laid in object.all_elements() {
            if is_character(types, element) != is_character(types, laid.ty) {
                self.bounds.part_characters();
            }
            let first = object.home.wrapping_add_signed(laid.origin - origin);
            let (places, are_all) = places_within(types, laid.ty, element);
            let (places_around, are_all_around) = places_within(types, element, laid.ty);
            if !are_all || !are_all_around {
                self.assume_no_other_member(object);
            }
            let is_around = |place: &PlacesWithin| place.first > 0 || places.is_empty();
            let run = |place: &PlacesWithin| (*place, place.run_among(&places_around));
            let of_struct = places_around.iter().filter(|place| is_around(place)).map(run);
            around.extend(of_struct.map(|(before, run)| EnclosingPlace { before, run, first }));
            for place in &places {
                let elements = self.elements_at(*place, (first, size), laid.period());
                match elements {
                    Elements { first, count: 1, outer: None, .. } => {
                        found.add_exact(pool, address, first);
                    }
                    elements => found.add_elements(pool, address, elements, object),
                }
            }
        }
        if !object.behind.is_empty() && !around.is_empty() {
            self.assume_nothing_around(object);
            around.clear();
        }
        for place in around {
            self.add_around(pool, (address, size), place, object, found);
        }
    }

    /// Adds the places of values that would contain an object: the object is a member of such a
    /// value, or an element of a member that is an array. Members of the object's type behind that
    /// one belong to the value, too.
    fn add_around(
        &mut self,
        pool: &mut TermPool,
        (address, period): (Term, u64),
        EnclosingPlace { before, run, first }: EnclosingPlace,
        part: &Arc<LazyObject>,
        found: &mut PossibleTargets,
    ) {
        let (stride, count) = before.elements;
        let whole = self.lies_within(pool, part, run.bytes);
        for index in 0..count.min(MOST_AROUND) {
            let place = first.wrapping_sub(before.first + index * stride);
            if found.around.iter().any(|known| known.place == place) {
                continue;
            }
            let room = run.bytes - index * stride;
            let within = if index == 0 { whole } else { self.lies_within(pool, part, room) };
            if pool.as_bool(within) != Some(false) {
                let (guard, distance) = match self.context.aliasing.moves_by(period) {
                    true => {
                        let count = u64::MAX;
                        let all = Elements { first: place, stride: period, count, outer: None };
                        let (guard, distance) = found.one_of(pool, address, all, part);
                        (guard, Some(distance))
                    }
                    false => {
                        let at = pool.bv(64, place);
                        (pool.eq(address, at), None)
                    }
                };
                let part = part.clone();
                found.around.push(Around { place, part, room, guard, distance, within });
            }
        }
        let has_before = count > 1 || run.follows;
        let is_left_out = count > MOST_AROUND || has_before && self.is_accessed_before(part);
        if is_left_out && self.reaches_no_further(part, run.bytes) {
            self.assume_nothing_around(part);
        }
    }

    /// Whether a path accessed bytes before the first element of an object.
    fn is_accessed_before(&self, part: &LazyObject) -> bool {
        let start = REACH.wrapping_add_signed(part.own.origin);
        let is_before =
            |touched: &AccessRanges| touched.ranges().iter().any(|(from, _)| *from < start);
        self.touched_of(part).is_some_and(is_before)
    }

    /// Whether all bytes of an object that a path surely accessed may lie within `room` bytes.
    fn reaches_no_further(&self, part: &LazyObject, room: u64) -> bool {
        let always = self.touched_of(part).map(AccessRanges::always);
        let (first, last) = (always.and_then(<[_]>::first), always.and_then(<[_]>::last));
        first.zip(last).is_none_or(|(first, last)| last.1 - first.0 <= room)
    }

    /// Assumes that pointers lead only to the first of many members.
    fn assume_no_other_member(&mut self, object: &LazyObject) {
        let name = readable_name(&object.own.name);
        let sentence = format!("no other pointer leads beyond the first 64 members of {name}");
        self.bounds.assume(Assumption::new(AssumptionKind::Alias, name, sentence));
    }

    /// Assumes that only elements of its own types lie around the elements of an object.
    fn assume_nothing_around(&mut self, object: &LazyObject) {
        let name = readable_name(&object.own.name);
        let sentence = format!("no other pointer leads to a larger struct around parts of {name}");
        self.bounds.assume(Assumption::new(AssumptionKind::Alias, name, sentence));
    }

    /// The elements that a place within an element of an object stands for, for values of a size.
    /// The first element begins at `start` and has `size` bytes. Pointers that are never moved see
    /// no element but their own.
    fn elements_at(&self, place: PlacesWithin, (start, size): (u64, u64), period: u64) -> Elements {
        let (stride, count) = place.elements;
        let first = start.wrapping_add(place.first);
        let aliasing = &self.context.aliasing;
        if place.first == 0 && stride == period {
            let count = if aliasing.moves_by(size) { u64::MAX } else { 1 };
            return Elements { first, stride, count, outer: None };
        }
        match aliasing.moves_by(period) {
            false => Elements { first, stride, count, outer: None },
            true if count == 1 => Elements { first, stride: period, count: u64::MAX, outer: None },
            true => Elements { first, stride, count, outer: Some(period) },
        }
    }

    /// Notes the bytes of lazy objects that an access touches.
    pub(crate) fn note_touched(
        &mut self,
        pool: &mut TermPool,
        resolution: &Resolution,
        size: u64,
        kind: AccessKind,
    ) {
        if self.state.log.is_in_predicate() {
            return;
        }
        let is_choice = resolution.candidates.len() > 1;
        let here = self.bounds.guard();
        for candidate in &resolution.candidates {
            self.learn(pool, candidate);
            let object = self.state.memory.object(candidate.object);
            if object.first.is_none() {
                continue;
            }
            // Where a single object is possible, the path excludes all other places.
            let chosen = is_choice.then_some(candidate.guard);
            let guard = pool.and_all(here.into_iter().chain(chosen));
            match candidate.offset {
                Offset::Known(start) => {
                    // The path excludes all other places.
                    let Some(range) = range_within(start, size, object.size) else {
                        continue;
                    };
                    let read = kind == AccessKind::Read
                        && object.contents.shows_background(range.0, range.1);
                    if object.touched.has(range, read) {
                        continue;
                    }
                    // The parts of the guard were looked up when it was made.
                    let always = self.state.knowledge().known_alone(pool, guard) == Some(true);
                    let touched = &mut self.state.memory.object_mut(candidate.object).touched;
                    match always {
                        true => touched.add(range, read),
                        false => touched.add_where(pool, guard, range, read),
                    }
                }
                Offset::Scaled(scaled) => {
                    if !is_choice
                        && let Background::Lazy { object, .. } = object.contents.background()
                        && may_be_bytes(&self.context.program.types, object)
                        && !is_followed(pool, object, scaled, size)
                    {
                        self.uses.bytes.insert(object.place().clone());
                        (self.state.inputs.outgrown, self.uses.outgrown) = (true, true);
                    }
                    let place = candidate.offset.term(pool);
                    let touched = &mut self.state.memory.object_mut(candidate.object).touched;
                    touched.add_at(pool, AccessPlace { place, size, guard });
                }
            }
        }
    }
}

/// Whether an object that is laid out as a record may be laid out as bytes instead: the record has
/// no pointers, which bytes would not show.
fn may_be_bytes(types: &CTypes, object: &LazyObject) -> bool {
    matches!(types.get(object.own.ty), CType::Record(_))
        && object.behind.is_empty()
        && !object.own.shape().may_have_pointers()
}

/// Whether an object has the name that a pointer gives it.
fn is_of(name: &str, pointer: &PointerInput) -> bool {
    name == &*pointer.place
        || name.strip_prefix('(').is_some_and(|name| name.starts_with(&*pointer.place))
}

impl<N: Notes> Machine<'_, '_, N> {
    /// The needs of a test of a model: the claims of the path, and the accessed memory.
    pub(crate) fn needs_of(
        &mut self,
        memory: &Memory,
        model: &Model,
        claims: impl Iterator<Item = Term>,
    ) -> Needs {
        let (pool, evaluator) = (&self.pool, &mut self.evaluator);
        let relevant = RelevantInputs::by(pool, evaluator, model, claims);
        Needs { relevant, accesses: looked_at(pool, evaluator, memory, model) }
    }
}

/// The accesses of a path to lazy objects. Places that depend on the input are those of the model.
pub(crate) fn looked_at(
    pool: &TermPool,
    evaluator: &mut Evaluator,
    memory: &Memory,
    model: &Model,
) -> Vec<ObjectAccesses> {
    let mut all = Vec::new();
    for found in memory.inputs() {
        let Some(object) = &found.first else { continue };
        let ranges = |ranges: &[(u64, u64)]| -> Vec<(i64, i64)> {
            ranges.iter().map(|(from, to)| (distance(*from), distance(*to))).collect()
        };
        let (mut touched, mut read) =
            (ranges(found.touched.ranges()), ranges(found.touched.read()));
        for AccessPlace { place, size, guard } in found.touched.at() {
            if evaluator.holds(pool, model, *guard) {
                let from = distance(evaluator.eval_u64(pool, model, *place));
                let range = (from, from.saturating_add(*size as i64));
                touched.push(range);
                // For constant places the accesses themselves say whether they were read.
                read.extend(pool.as_u64(*place).is_none().then_some(range));
            }
        }
        let is_block = !found.alive || found.kind != ObjectKind::Lazy;
        all.push(ObjectAccesses { object: object.clone(), touched, read, is_block });
    }
    all
}
