//! The objects of a test that its path initialised lazily.
//!
//! A lazily initialised object ([`crate::lazy`]) has no size. In a test it has the bytes that the path
//! accessed, the bytes that the test's claims depend on, and the targets of the test's pointers,
//! rounded to whole elements. A byte is other than zero only if its first value was read or a claim
//! depends on it.

use std::collections::BTreeMap;
use std::sync::Arc;

use lydian_ir::test::{Image, TestObject};
use lydian_ir::{CTypeId, Program, variadic};
use lydian_smt::{Evaluator, Model, TermPool, Value, Wide};

use crate::concretise::relevant_inputs::RelevantInputs;
use crate::lazy::shape::{PartKind, Values};
use crate::lazy::{
    LazyInputs, LazyObject, REACH, REGION, ROOM, bits_of, is_in_room, readable_name,
};
use crate::plan::{GAP, WriteContents, WritePlan};

/// The most bytes that an object of a test has on either side of its pointer's target.
const MOST: i64 = 1 << 24;
/// The same for pointers that are compared alone.
const MOST_COMPARED: u64 = 1 << 16;
/// The distance from an object's home up to which an address in no object's room belongs to the object.
const FAR: u64 = 4 * ROOM;

/// The accesses of a path to a lazily initialised object, by distances from the object's home.
#[derive(Clone, Debug)]
pub struct ObjectAccesses {
    /// The object.
    pub object: Arc<LazyObject>,
    /// The ranges of bytes that it accessed.
    pub touched: Vec<(i64, i64)>,
    /// The ranges of bytes whose first value it read.
    pub read: Vec<(i64, i64)>,
    /// Whether the path freed or reallocated it, so that it begins at its pointer's target.
    pub is_block: bool,
}

/// The accesses and dependencies that decide which bytes of lazily initialised objects a test has.
#[derive(Debug, Default)]
pub struct Needs {
    /// The accesses of its path.
    pub accesses: Vec<ObjectAccesses>,
    /// The inputs that its claims depend on.
    pub relevant: RelevantInputs,
}

impl Needs {
    /// Counts the elements of input objects that calls write as accessed, where a claim depends on
    /// them. The test's object has them then, as it has elements with first values on which a claim
    /// depends: the predicate of a label may read where the path does not.
    pub(crate) fn touch_written<'a>(
        &mut self,
        (pool, evaluator, model): (&TermPool, &mut Evaluator, &Model),
        writes: impl Iterator<Item = &'a WritePlan>,
    ) {
        for plan in writes {
            let WriteContents::Row { symbol, of: Some((object, row)), .. } = &plan.contents else {
                continue;
            };
            let is_it = |seen: &&mut ObjectAccesses| seen.object.home == object.home;
            let Some(seen) = self.accesses.iter_mut().find(is_it) else { continue };
            if evaluator.holds(pool, model, plan.when) {
                let indices = self.relevant.elements(*symbol).map(signed_index);
                let starts = indices.map(|index| object.start_of(row, index));
                seen.touched.extend(starts.map(|at| (at, at + row.kind.bytes() as i64)));
            }
        }
    }
}

/// The lazily initialised objects of a test.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    objects: Vec<LaidOutObject>,
    /// Behind the last of them.
    end: u64,
}

#[derive(Debug)]
struct LaidOutObject {
    accesses: ObjectAccesses,
    /// Its bytes as far as the test has them: the first, and the one behind the last.
    low: i64,
    high: i64,
    /// Values of parts by their first byte.
    values: BTreeMap<i64, (u64, u128)>,
    /// Values that every element has whatever the path read, because only the compiler knows their
    /// meaning: offsets, sizes in bytes, and numbers.
    fixed: Vec<variadic::ListWord>,
    /// Parts that are addresses.
    pointers: BTreeMap<i64, u64>,
    /// The address of the first byte in the test.
    address: u64,
    /// Bytes of an element.
    element: u64,
}

impl Arena {
    /// The objects that addresses lead to, and all that these lead to, placed from an address on.
    pub(crate) fn lay_out(
        program: &Program,
        pool: &TermPool,
        inputs: &LazyInputs,
        evaluator: &mut Evaluator,
        model: &Model,
        needs: &Needs,
        (roots, next): (&[u64], u64),
    ) -> Self {
        let mut builder = Builder {
            program,
            pool,
            inputs,
            evaluator,
            model,
            needs,
            arena: Self::default(),
            waiting: roots.iter().map(|root| (*root, None)).collect(),
            strays: Vec::new(),
        };
        loop {
            while let Some((address, ty)) = builder.waiting.pop() {
                builder.reach(address, ty);
            }
            if !builder.add_numbers_that_lead_to_objects() && !builder.reach_stray() {
                break;
            }
        }
        let mut arena = builder.arena;
        arena.place(next);
        arena
    }

    /// Gives all objects their addresses: those that homes lead to are multiples of 16, as
    /// allocators make them.
    fn place(&mut self, mut next: u64) {
        for made in &mut self.objects {
            let before = (-made.low).rem_euclid(16) as u64;
            made.address = (next + before).next_multiple_of(16) - before;
            let size = (made.high - made.low) as u64;
            next = (made.address + size + GAP.max(made.element.min(4096))).next_multiple_of(16);
        }
        self.end = next;
    }

    /// The first address behind all objects and their gaps.
    pub(crate) const fn end(&self) -> u64 {
        self.end
    }

    /// The object that an address leads to, and how far from its first byte in the test. An address in
    /// no object's room is that of the object next to it, if a path can reach it from there by an `int`:
    /// `target + n == other` has such solutions.
    pub(crate) fn place_of(&self, address: u64) -> Option<(usize, u64)> {
        let homes = self.objects.iter().map(|made| made.accesses.object.home);
        let (at, home) = homes
            .enumerate()
            .filter(|(_, home)| is_in_room(*home, address) || may_be_moved_to(*home, address))
            .min_by_key(|(_, home)| (!is_in_room(*home, address), home.abs_diff(address)))?;
        let distance = address.wrapping_sub(home) as i64;
        Some((at, (distance - self.objects[at].low) as u64))
    }

    /// Whether the test has some bytes of the object with a home, given by their distances from it. An
    /// object that became part of another one has all of them.
    pub(crate) fn has(&self, home: u64, (from, to): (i64, i64)) -> bool {
        let made = self.objects.iter().find(|made| made.accesses.object.home == home);
        made.is_none_or(|made| made.low <= from && to <= made.high)
    }

    /// The address of the first byte that the test has of an object, before it is placed in the test.
    pub(crate) fn first_byte(&self, at: usize) -> u64 {
        let made = &self.objects[at];
        made.accesses.object.home.wrapping_add_signed(made.low)
    }

    /// The lazily initialised object at a position.
    pub(crate) fn lazy_object(&self, at: usize) -> &Arc<LazyObject> {
        &self.objects[at].accesses.object
    }

    /// An object without its pointers.
    pub(crate) fn object(&self, at: usize) -> TestObject {
        let made = &self.objects[at];
        let object = &made.accesses.object;
        // The places of a path may be anywhere. A test with so large an object is not run.
        let size = made.high.saturating_sub(made.low).clamp(0, 2 * MOST);
        let mut bytes = vec![0; size as usize];
        for (start, (size, bits)) in &made.values {
            let Ok(from) = usize::try_from(start - made.low) else { continue };
            let end = (from + *size as usize).min(bytes.len());
            if from >= end {
                continue;
            }
            bytes[from..end].copy_from_slice(&bits.to_le_bytes()[..end - from]);
        }
        for start in (0..bytes.len()).step_by(made.element as usize) {
            for variadic::ListWord { offset, size, value: number } in &made.fixed {
                let from = start + *offset as usize;
                let number = &number.to_le_bytes()[..*size as usize];
                if let Some(part) = bytes.get_mut(from..from + number.len()) {
                    part.copy_from_slice(number);
                }
            }
        }
        let align = 1 << made.address.trailing_zeros().min(4);
        TestObject {
            name: readable_name(&object.own.name),
            address: made.address,
            ty: object.own.ty,
            count: bytes.len() as u64 / made.element,
            align,
            image: Image { bytes, pointers: Vec::new() },
            read_only: false,
        }
    }

    /// The pointers of an object: the offset in the test, and the address.
    pub(crate) fn pointers(&self, at: usize) -> Vec<(u64, u64)> {
        let made = &self.objects[at];
        let pointers = made.pointers.range(made.low..);
        pointers.map(|(start, to)| ((start - made.low) as u64, *to)).collect()
    }
}

struct Builder<'a> {
    program: &'a Program,
    pool: &'a TermPool,
    inputs: &'a LazyInputs,
    evaluator: &'a mut Evaluator,
    model: &'a Model,
    needs: &'a Needs,
    arena: Arena,
    /// Addresses that were not followed yet, with the types of the pointers that have them.
    waiting: Vec<(u64, Option<CTypeId>)>,
    /// Those of them that lead to nothing of the inputs.
    strays: Vec<(u64, Option<CTypeId>)>,
}

impl Builder<'_> {
    /// Adds the target of an address to the test.
    fn reach(&mut self, address: u64, ty: Option<CTypeId>) {
        if self.inputs.function_at(address).is_some() {
            return;
        }
        match self.known_at(address) {
            None if !self.inputs.has_room_of(address) => self.strays.push((address, ty)),
            known => self.reach_object(known, address, ty),
        }
    }

    /// Adds an object of its own at an address that leads to nothing of the inputs, unless the address
    /// is that of an object, moved out of the object's room. Returns whether there was such an address.
    fn reach_stray(&mut self) -> bool {
        let Some((address, ty)) = self.strays.pop() else { return false };
        let mut homes = self.arena.objects.iter().map(|made| made.accesses.object.home);
        if !homes.any(|home| may_be_moved_to(home, address)) {
            let known = self.known_at(address);
            self.reach_object(known, address, ty);
        }
        true
    }

    /// The object in the room of an address, as far as the test has one.
    fn known_at(&self, address: u64) -> Option<usize> {
        let is_here = |object: &LazyObject| is_in_room(object.home, address);
        self.arena.objects.iter().position(|made| is_here(&made.accesses.object))
    }

    fn reach_object(&mut self, known: Option<usize>, address: u64, ty: Option<CTypeId>) {
        let Some(at) = known.or_else(|| self.add(address, ty)) else { return };
        let made = &mut self.arena.objects[at];
        let distance = address.wrapping_sub(made.accesses.object.home) as i64;
        // A pointer that is never followed may have any target.
        if distance.unsigned_abs() <= MOST_COMPARED {
            made.include((distance, distance));
        }
    }

    /// Adds the object around an address with the values that it has.
    fn add(&mut self, address: u64, ty: Option<CTypeId>) -> Option<usize> {
        let is_here = |seen: &ObjectAccesses| is_in_room(seen.object.home, address);
        let seen = self.needs.accesses.iter().find(|seen| is_here(seen)).cloned();
        let accesses = match seen {
            Some(seen) => seen,
            None => ObjectAccesses {
                object: match self.object_of_claims(address) {
                    Some(object) => object,
                    None => self.inputs.object_around(&self.program.types, address, ty)?,
                },
                touched: Vec::new(),
                read: Vec::new(),
                is_block: false,
            },
        };
        let object = accesses.object.clone();
        let element = object.own.period();
        let read = accesses.read.clone();
        let mut made = LaidOutObject {
            low: object.own.origin,
            high: object.own.origin + element as i64,
            values: BTreeMap::new(),
            fixed: match variadic::is_list(&self.program.types, object.own.ty) {
                true => variadic::used_up(self.program.types.target),
                false => Vec::new(),
            },
            pointers: BTreeMap::new(),
            address: 0,
            element,
            accesses,
        };
        for range in made.accesses.touched.clone() {
            made.include(range);
        }
        for (from, to) in read {
            let mut next = from;
            while next < to.min(from + MOST) {
                next = self.give(&mut made, next);
            }
        }
        for (start, term) in object.known_parts() {
            if self.needs.relevant.has(self.pool, term) {
                self.give(&mut made, start);
            }
        }
        for (row, array) in object.known_arrays() {
            let indices = self.needs.relevant.elements(array).map(signed_index);
            let starts: Vec<i64> = indices.map(|index| object.start_of(&row, index)).collect();
            for start in starts {
                self.give(&mut made, start);
            }
        }
        self.arena.objects.push(made);
        Some(self.arena.objects.len() - 1)
    }

    /// Gives the part at a byte its value. Returns the byte after the part.
    fn give(&mut self, made: &mut LaidOutObject, at: i64) -> i64 {
        let object = made.accesses.object.clone();
        let (row, index) = object.row_at(at);
        let start = object.start_of(&row, index);
        let end = start + row.kind.bytes() as i64;
        let bits = match (object.known_part(start), object.known_array(&row)) {
            (Some(term), _) => {
                let bits = bits_of(self.pool, term);
                let value: Value = self.evaluator.eval(self.pool, self.model, bits);
                value.to_wide().as_ref().map_or(0, Wide::low_u128)
            }
            (None, Some(array)) => {
                let array = self.evaluator.eval_array(self.pool, self.model, array);
                let index = index as u64 & (u64::MAX >> (64 - crate::lazy::INDEX_BITS));
                canonical(Some(self.inputs), row.kind, u128::from(array.get(index)))
            }
            (None, None) => return end,
        };
        made.include((start, end));
        made.values.insert(start, (row.kind.bytes(), bits));
        if let PartKind::Pointer(ty) = row.kind
            && bits != 0
        {
            made.pointers.insert(start, bits as u64);
            if is_address(bits) {
                self.waiting.push((bits as u64, Some(ty)));
            }
        }
        end
    }

    /// Treats numbers, bytes and parts of unions as pointers if they are addresses in objects that the
    /// path accessed or that the test has: a program may read them as pointers, or compare them.
    /// Returns whether there are new ones.
    fn add_numbers_that_lead_to_objects(&mut self) -> bool {
        let mut found = Vec::new();
        for (at, made) in self.arena.objects.iter().enumerate() {
            let words = made.values.keys().filter(|start| start.rem_euclid(8) == 0);
            let words = words.filter(|start| !made.pointers.contains_key(*start));
            let numbers = words.filter_map(|start| Some((at, *start, made.word_at(*start)?)));
            let is_one = |start: &i64| made.values.get(start).is_some_and(|(size, _)| *size == 8);
            found.extend(numbers.filter(|(_, start, word)| {
                self.leads_to_an_object(*word) || is_one(start) && self.is_moved_far(*word)
            }));
        }
        for (at, start, word) in &found {
            self.arena.objects[*at].pointers.insert(*start, *word);
            self.waiting.push((*word, None));
        }
        !found.is_empty()
    }

    /// Whether a number is an address in an object that the path accessed, or that the test has or
    /// needs.
    fn leads_to_an_object(&self, number: u64) -> bool {
        let is_there = |object: &LazyObject| is_in_room(object.home, number);
        is_address(u128::from(number))
            && (self.needs.accesses.iter().any(|seen| is_there(&seen.object))
                || self.arena.objects.iter().any(|made| is_there(&made.accesses.object))
                || self.object_of_claims(number).is_some())
    }

    /// Whether a number is the address of an object of the inputs that the test has, moved out of the
    /// object's room.
    fn is_moved_far(&self, number: u64) -> bool {
        let mut homes = self.arena.objects.iter().map(|made| made.accesses.object.home);
        is_address(u128::from(number)) && homes.any(|home| may_be_moved_to(home, number))
    }

    /// An object around an address whose values the claims of a test depend on. The predicate of a
    /// label may follow a pointer that the path does not follow.
    fn object_of_claims(&self, address: u64) -> Option<Arc<LazyObject>> {
        let is_needed = |object: &Arc<LazyObject>| {
            let mut parts = object.known_parts().into_iter();
            parts.any(|(_, term)| self.needs.relevant.has(self.pool, term))
        };
        self.inputs.objects_around(address).into_iter().find(is_needed)
    }
}

/// Whether a path can reach an address from the home of an object of the inputs by an `int`. Objects that
/// no input leads to have homes of other forms.
const fn may_be_moved_to(home: u64, address: u64) -> bool {
    home % ROOM == REACH && home.abs_diff(address) <= FAR
}

/// Whether a number lies where objects of the inputs do.
pub(crate) fn is_address(bits: u128) -> bool {
    (u128::from(REGION)..2 * u128::from(REGION)).contains(&bits)
}

/// The number of an element by the index that arrays have it at.
pub(crate) const fn signed_index(index: u64) -> i64 {
    let unused = 64 - crate::lazy::INDEX_BITS;
    ((index << unused) as i64) >> unused
}

/// The value of a part from an array's bits.
pub(crate) fn canonical(inputs: Option<&LazyInputs>, kind: PartKind, bits: u128) -> u128 {
    match kind {
        PartKind::Number(_, Values::Bool) => bits & 1,
        PartKind::Pointer(ty) => {
            let known = inputs.map(|inputs| inputs.type_of(ty)).unwrap_or_default();
            u128::from(known.canonical(bits as u64))
        }
        _ => bits,
    }
}

impl LaidOutObject {
    /// The eight bytes from one on, if all of them have values.
    fn word_at(&self, start: i64) -> Option<u64> {
        let (mut word, mut at) = (0, start);
        while at < start + 8 {
            let (size, bits) = self.values.get(&at).filter(|(size, _)| *size <= 8)?;
            word |= *bits << (8 * (at - start));
            at += *size as i64;
        }
        Some(word as u64)
    }

    /// Extends the object in the test to a range of bytes, rounded to whole elements.
    fn include(&mut self, (from, to): (i64, i64)) {
        let reach = MOST.min(REACH as i64);
        let (from, to) = (from.max(-reach), to.min(reach));
        let (period, origin) = (self.element as i64, self.accesses.object.own.origin);
        let down = |at: i64| origin + (at - origin).div_euclid(period) * period;
        if from < self.low && !self.accesses.is_block {
            self.low = down(from);
        }
        if to > self.high {
            let elements = self.accesses.object.elements_at(to - 1);
            self.high = elements.end_of_element(to - 1);
        }
    }
}
