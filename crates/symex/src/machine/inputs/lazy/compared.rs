//! Pointers of the inputs that are compared for order, or subtracted: they lead into one object.

use std::sync::Arc;

use lydian_inputs::lazy::{LazyObject, ROOM};
use lydian_smt::{BinOp, Node, Term, TermPool};

use crate::machine::inputs::aliasing::places_within;
use crate::machine::inputs::places::{Elements, PossibleTargets};
use crate::machine::inputs::pointer_uses::address_of;
use crate::machine::memory::PointerPlace;
use crate::machine::memory::{
    AddressTarget, Background, Knowledge, ObjectId, ObjectKind, Region, choice_of, flatten_address,
};
use crate::machine::scope::{StateView, Stop};
use crate::machine::state::Notes;

/// The most objects that each of two compared pointers may lead to. With more, the path is split
/// first.
const MOST_COMPARED: usize = 16;

/// The distance, in elements, of two pointers into one object where nothing asks for another.
const PLAIN_DISTANCE: u64 = 3;

/// A pointer that was not followed yet, and the objects that it leads into because it is compared.
type ToLead = (Term, Vec<Arc<LazyObject>>);

/// An alternative of a value: an address in an input object, moved by a distance which depends on
/// the input.
struct MovedAddress {
    guard: Term,
    at: u64,
    /// The distance in bytes, a 64-bit term.
    distance: Term,
}

impl<N: Notes> StateView<'_, '_, N> {
    /// Leads two values into one object that are compared for order or subtracted, since C defines
    /// that within one object alone. A pointer of the inputs that was not followed yet leads to
    /// elements of the other value's object.
    pub(crate) fn lead_together(
        &mut self,
        pool: &mut TermPool,
        [a, b]: [Term; 2],
    ) -> Result<(), Stop> {
        while let Some((pointer, objects)) = self.one_to_lead(pool, [a, b])? {
            self.expand_within(pool, pointer, &objects)?;
        }
        self.stay_together(pool, [a, b])
    }

    /// A pointer that was not followed yet and that one of two values is, with the input objects
    /// that the other value may lead to, if any. Where the value is that pointer only on some
    /// inputs, the path is split.
    fn one_to_lead(
        &mut self,
        pool: &mut TermPool,
        [a, b]: [Term; 2],
    ) -> Result<Option<ToLead>, Stop> {
        let (new_a, new_b) = (self.not_followed(pool, a)?, self.not_followed(pool, b)?);
        if new_a.is_none() && new_b.is_none() {
            return Ok(None);
        }
        // A pointer to the larger type leads to an object of its own, and the other pointer into
        // that object.
        let size = |new: Option<(Term, Term)>| new.and_then(|(_, pointer)| self.size_at(pointer));
        let in_order = if size(new_a) < size(new_b) { [(a, b), (b, a)] } else { [(b, a), (a, b)] };
        for (value, other) in in_order {
            // Handling the first value may also have followed the pointer of this one.
            let Some((guard, pointer)) = self.not_followed(pool, value)? else { continue };
            let objects = self.objects_of(pool, other)?;
            if objects.is_empty() {
                continue;
            }
            if self.state.knowledge().known(pool, guard) != Some(true) {
                return Err(self.split_by_model(pool, guard));
            }
            return Ok(Some((pointer, objects)));
        }
        Ok(None)
    }

    /// Keeps compared values inside their objects. A pointer that is moved by a distance which
    /// depends on the input stays within its object, as C demands, unless it is also compared for
    /// equality with an address there. Otherwise a number of the input could be the distance of two
    /// objects, or wrap around the address space, which no test keeps.
    pub(crate) fn stay_inside(
        &mut self,
        pool: &mut TermPool,
        values: [Term; 2],
        equality: bool,
    ) -> Result<(), Stop> {
        let [a, b] = values;
        for (value, other) in [(a, b), (b, a)] {
            for MovedAddress { guard, at, distance } in self.moved_by_input(pool, value)? {
                if equality && self.leads_only_near(pool, other, at) {
                    continue;
                }
                let from_start = pool.bv(64, at % ROOM);
                let place = pool.add(from_start, distance);
                let room = pool.bv(64, ROOM);
                let inside = pool.ult(place, room);
                let inside = pool.implies(guard, inside);
                self.bounds.leave_room();
                self.suppose(pool, inside, None)?;
            }
        }
        Ok(())
    }

    /// The alternatives of a value that is moved from a place in an input object by a distance
    /// which depends on the input. A pointer that was not followed yet is followed for that.
    fn moved_by_input(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Vec<MovedAddress>, Stop> {
        let is_moved = |(_, distance): &(Term, Term)| pool.as_u64(*distance).is_none();
        if !self.derived.get(&value).is_some_and(is_moved) {
            return Ok(Vec::new());
        }
        let Some(mut found) = self.few_alternatives(pool, value) else { return Ok(Vec::new()) };
        if found.iter().any(|(_, target)| matches!(target, AddressTarget::Input(_))) {
            self.follow(pool, value)?;
            found = self.alternatives_of(pool, value)?;
        }
        let mut moved = Vec::new();
        for (guard, target) in found {
            if let AddressTarget::Known(at, Some(distance)) = target
                && Region::of(at) == Some(Region::Lazy)
                && pool.as_u64(distance).is_none()
            {
                moved.push(MovedAddress { guard, at, distance });
            }
        }
        Ok(moved)
    }

    /// Whether a value can only lead into the input object at an address.
    fn leads_only_near(&self, pool: &mut TermPool, value: Term, address: u64) -> bool {
        let found = self.few_alternatives(pool, value);
        let is_near = |target: &AddressTarget| match target {
            AddressTarget::Known(at, _) => at / ROOM == address / ROOM,
            _ => false,
        };
        found.is_some_and(|found| found.iter().all(|(_, target)| is_near(target)))
    }

    /// Restricts the path to the inputs on which two values that lead to input objects lead to the
    /// same one.
    fn stay_together(&mut self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Result<(), Stop> {
        let (of_a, of_b) = (self.input_objects_of(pool, a)?, self.input_objects_of(pool, b)?);
        let mut apart = pool.ff();
        for (guard, object) in &of_a {
            for (other_guard, _) in of_b.iter().filter(|(_, other)| other != object) {
                let both = pool.and(*guard, *other_guard);
                apart = pool.or(apart, both);
            }
        }
        let together = pool.not(apart);
        self.suppose(pool, together, None)
    }

    /// The address that a value is, as a distance from the place in an input object that the path
    /// knows; the difference of two such addresses shows their elements. `None` where there are
    /// several such places, or none. The path is split on whether the value is null.
    pub(crate) fn place_of(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Option<Term>, Stop> {
        let found = self.few_alternatives(pool, value).unwrap_or_default();
        match found[..] {
            [(_, AddressTarget::Known(at, distance))] => {
                let at = pool.bv(64, at);
                Ok(Some(distance.map_or(at, |distance| pool.add(at, distance))))
            }
            [(null, AddressTarget::Null), (_, AddressTarget::Known(..))]
            | [(_, AddressTarget::Known(..)), (null, AddressTarget::Null)] => {
                Err(self.split_by_model(pool, null))
            }
            _ => Ok(None),
        }
    }

    /// The input objects that a value leads to, each with its condition.
    fn input_objects_of(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Vec<(Term, ObjectId)>, Stop> {
        let alternatives = self.alternatives_of(pool, value)?;
        let memory = &self.state.memory;
        let led = alternatives.into_iter().filter_map(|(guard, target)| {
            let AddressTarget::Known(at, _) = target else { return None };
            let id = memory.object_near(at)?;
            (memory.object(id).kind == ObjectKind::Lazy).then_some((guard, id))
        });
        Ok(led.collect())
    }

    /// A pointer of the inputs that a value is made from and that the path did not follow yet, if
    /// there is one, with the condition under which the value is made from it.
    fn not_followed(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Option<(Term, Term)>, Stop> {
        let mut found = self.alternatives_of(pool, value)?.into_iter();
        let inputs = &self.context.inputs;
        Ok(found.find_map(|(guard, target)| match target {
            AddressTarget::Input(pointer) if inputs.is_pointer(pointer) => Some((guard, pointer)),
            _ => None,
        }))
    }

    /// The size in bytes of the value that a pointer of the inputs leads to, where its type says
    /// it.
    fn size_at(&self, address: Term) -> Option<u64> {
        let pointer = self.context.inputs.pointer_at(address)?;
        let types = &self.context.program.types;
        types.size(types.pointee(pointer.ty)?)
    }

    /// The possible targets of a value, each with its condition, if they are few.
    fn few_alternatives(
        &self,
        pool: &mut TermPool,
        value: Term,
    ) -> Option<Vec<(Term, AddressTarget)>> {
        flatten_address(pool, value, self.knowledge(), MOST_COMPARED)
    }

    /// Follows the pointers that a value is made from.
    fn follow(&mut self, pool: &mut TermPool, value: Term) -> Result<(), Stop> {
        while let Some(pointer) = self.not_followed(pool, value)? {
            self.expand(pool, pointer, None)?;
        }
        Ok(())
    }

    /// The possible targets of a value, each with its condition. The path is split where there are
    /// many.
    fn alternatives_of(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Vec<(Term, AddressTarget)>, Stop> {
        if let Some(found) = self.few_alternatives(pool, value) {
            return Ok(found);
        }
        let Some(condition) = choice_of(pool, value, self.knowledge()) else {
            return Err(Stop::Unsupported("the order of pointers with many targets".into()));
        };
        Err(self.split_by_model(pool, condition))
    }

    /// The input objects that a value may lead to, including those of a pointer that was not
    /// followed yet.
    fn objects_of(
        &mut self,
        pool: &mut TermPool,
        value: Term,
    ) -> Result<Vec<Arc<LazyObject>>, Stop> {
        self.follow(pool, value)?;
        let mut objects: Vec<Arc<LazyObject>> = Vec::new();
        for (_, target) in self.alternatives_of(pool, value)? {
            let AddressTarget::Known(at, _) = target else { continue };
            let Some(object) = self.state.memory.object_near(at) else { continue };
            let contents = &self.state.memory.object(object).contents;
            if let Background::Lazy { object, .. } = contents.background()
                && !objects.contains(object)
            {
                objects.push(object.clone());
            }
        }
        Ok(objects)
    }

    /// The place of a pointer that the path found equal to another pointer with a known place; the
    /// place is then the same, whatever the types say.
    pub(crate) fn known_place(
        &mut self,
        pool: &mut TermPool,
        address: Term,
    ) -> Result<Option<PointerPlace>, Stop> {
        let Some(place) = self.place_of_equal(pool, address) else { return Ok(None) };
        let at = pool.bv(64, place);
        let is_there = pool.eq(address, at);
        self.suppose(pool, is_there, None)?;
        Ok(Some(PointerPlace { guard: is_there, address: place, distance: None }))
    }

    /// The place of a pointer that the path followed and found equal to this one. A constant does
    /// not count: a path knows that a pointer leads home before it has the object there.
    fn place_of_equal(&self, pool: &mut TermPool, address: Term) -> Option<u64> {
        let knowledge = self.state.knowledge();
        let equal = self.state.path.facts.iter().find_map(|fact| {
            let (own, other) = equal_to(pool, *fact, address)?;
            let is_pointer = [own, other].iter().any(|one| is_never_null(pool, *one, knowledge));
            is_pointer.then_some(other)
        });
        let (other, by) = base_and_distance(pool, address_of(pool, equal?));
        let [PointerPlace { guard, address, distance: None }] =
            self.state.path.expanded.get(&other)?.places[..]
        else {
            return None;
        };
        (knowledge.known(pool, guard) == Some(true)).then(|| address.wrapping_add(by))
    }

    /// Expands a pointer that leads to elements of one of some objects, or directly behind them.
    fn expand_within(
        &mut self,
        pool: &mut TermPool,
        address: Term,
        objects: &[Arc<LazyObject>],
    ) -> Result<(), Stop> {
        let Some(pointer) = self.context.inputs.pointer_at(address) else { return Ok(()) };
        let of = self.element_of(address, &pointer, None);
        let size = self.context.program.types.size(of.0).unwrap_or(1).max(1);
        let mut found = PossibleTargets::default();
        let types = &self.context.program.types;
        for object in objects {
            for laid in object.all_elements() {
                let first = object.home.wrapping_add_signed(laid.origin);
                let (places, are_all) = places_within(types, laid.ty, of.0);
                if !are_all {
                    self.assume_no_other_member(object);
                }
                let members = places.iter().filter(|place| place.elements.1 > 1 || place.first > 0);
                let mut members = members.peekable();
                let is_own = laid.origin == object.own.origin;
                if members.peek().is_none() && (is_own || !places.is_empty()) {
                    let elements = Elements { first, stride: size, count: u64::MAX, outer: None };
                    found.add_elements(pool, address, elements, object);
                }
                for place in members {
                    let mut elements = self.elements_at(*place, (first, size), laid.period());
                    // The place past the last element is possible, too.
                    elements.count = elements.count.saturating_add(1);
                    found.add_elements(pool, address, elements, object);
                }
            }
        }
        let any = pool.or_all(found.places.iter().map(|place| place.guard));
        let plain = objects[0].home + PLAIN_DISTANCE * size;
        self.suppose_that_leads(pool, (&pointer, address), any, plain)?;
        self.note_places(address, found.places);
        Ok(())
    }
}

/// The pointer with this address, and the pointer that a fact says is equal to it.
fn equal_to(pool: &TermPool, fact: Term, address: Term) -> Option<(Term, Term)> {
    let Node::Bin(BinOp::Eq, a, b) = pool.node(fact) else { return None };
    [(a, b), (b, a)].into_iter().find(|(own, _)| address_of(pool, *own) == address)
}

/// Whether a path knows that a pointer is not null.
fn is_never_null(pool: &mut TermPool, pointer: Term, knowledge: Knowledge<'_>) -> bool {
    match pool.node(pointer) {
        Node::Ite(null, none, _) if pool.as_u64(none) == Some(0) => {
            knowledge.known(pool, null) == Some(false)
        }
        _ => true,
    }
}

/// The base that an address is made from, and its constant distance from there.
fn base_and_distance(pool: &TermPool, address: Term) -> (Term, u64) {
    if let Node::Bin(BinOp::Add, a, b) = pool.node(address) {
        for (base, by) in [(a, b), (b, a)] {
            if let Some(by) = pool.as_u64(by) {
                return (base, by);
            }
        }
    }
    (address, 0)
}
