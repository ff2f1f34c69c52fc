//! Reads and writes of memory on a simulated state.
//!
//! An access has a candidate for each object that its address may point into. It hits the one in whose
//! bounds the address lies, and traps where it hits none, unless the address may point to memory that is
//! not known: then a read gives any value, and a write may change what code that is not known could.

pub(crate) mod blocks;
pub(crate) mod distance;
pub(crate) mod initial;
pub(crate) mod layout;
pub(crate) mod outside;

use lydian_eval::Traps;
use lydian_eval::expr::replace_bits;
use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::{TrapKind, Type};
use lydian_smt::{BinOp, Node, Sort, Term, TermPool};

use crate::encode::ids::ObjectId;
use crate::encode::machine::Machine;
use crate::encode::memory::distance::{index_of, is_within};
use crate::encode::memory::layout::{Cell, Lanes, Layout};
use crate::encode::pointers::offset::Offset;
use crate::encode::pointers::{Place, Targets};
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;

/// The most alternatives of an address that are looked at one by one.
const MOST_ALTERNATIVES: usize = 32;

/// An object that an access may hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) object: ObjectId,
    pub(crate) at: Offset,
    /// Whether the access hits it.
    pub(crate) hit: Term,
    /// The distance from the object's beginning, 64 bits.
    pub(crate) distance: Term,
}

/// The objects that an access may hit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolution {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether it may hit memory that is not known.
    pub(crate) unknown: bool,
}

impl Machine<'_, '_> {
    /// Finds what an access of `size` bytes may hit, and adds the conditions under which it traps.
    pub(crate) fn resolve(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        (addr, targets): (Term, &Targets),
        size: u64,
        traps: &mut Traps,
    ) -> Resolution {
        let mut found = Resolution::default();
        let several = targets.len() > 1;
        let always = pool.tt();
        let leaves = match several {
            true => alternatives(pool, addr),
            false => vec![(always, addr)],
        };
        for (chosen, leaf) in leaves {
            let named = self.object_of(pool, leaf, targets);
            for (place, at) in targets {
                match place {
                    Place::Object(object) if named.is_none_or(|named| named == *object) => {
                        let candidate = self.candidate(pool, state, (leaf, size), (*object, *at));
                        if let Some(mut candidate) = candidate {
                            candidate.hit = pool.and(chosen, candidate.hit);
                            found.candidates.push(candidate);
                        }
                    }
                    Place::Unknown => found.unknown = true,
                    Place::Object(_) | Place::Function(_) => {}
                }
            }
        }
        found.candidates.retain(|candidate| pool.as_bool(candidate.hit) != Some(false));
        if found.unknown {
            // The program may name a small number that is no null pointer: a device's.
            let page = match pool.as_u64(addr) {
                Some(1..) => pool.bv(64, 0),
                _ => pool.bv(64, NULL_PAGE),
            };
            let is_null = pool.ult(addr, page);
            traps.add(pool, TrapKind::NullDereference, is_null);
        } else {
            let hit = pool.or_all(found.candidates.iter().map(|candidate| candidate.hit));
            let missed = pool.not(hit);
            traps.add(pool, TrapKind::OutOfBounds, missed);
        }
        found
    }

    /// The object that an address was computed from, where that shows.
    fn object_of(&self, pool: &TermPool, addr: Term, targets: &Targets) -> Option<ObjectId> {
        let constant = match pool.node(addr) {
            Node::Bin(BinOp::Add, a, b) => pool.as_u64(b).or_else(|| pool.as_u64(a)),
            _ => pool.as_u64(addr),
        };
        let object = self.analysed.objects.at(constant?)?;
        targets.contains_key(&Place::Object(object)).then_some(object)
    }

    fn candidate(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        (addr, size): (Term, u64),
        (object, at): (ObjectId, Offset),
    ) -> Option<Candidate> {
        let base = self.analysed.objects.all[object].base;
        let bound = self.analysed.objects.all[object].size;
        let repeats = self.analysed.objects.sites.get(&object).is_some_and(|site| site.repeats);
        if let Some(start) = at.exact().filter(|_| !repeats) {
            let end = u64::try_from(start).ok()?.checked_add(size)?;
            if bound.is_some_and(|bound| end > bound) {
                return None;
            }
            let expected = pool.bv(64, base.wrapping_add(start as u64));
            let mut hit = pool.eq(addr, expected);
            if bound.is_none() {
                let (end, allocated) = (pool.bv(64, end), self.end(pool, state, object));
                let fits = pool.ule(end, allocated);
                hit = pool.and(hit, fits);
            }
            return Some(Candidate { object, at, hit, distance: pool.bv(64, start as u64) });
        }
        let base = pool.bv(64, base);
        let distance = pool.sub(addr, base);
        let hit = match bound {
            Some(bound) => is_within(pool, distance, at, bound.checked_sub(size)?),
            None => {
                let allocated = self.end(pool, state, object);
                let bytes = pool.bv(64, size);
                let end = pool.add(distance, bytes);
                let (begins, ends) = (pool.ult(distance, allocated), pool.ule(end, allocated));
                pool.and(begins, ends)
            }
        };
        Some(Candidate { object, at, hit, distance })
    }

    /// How many bytes of a region are allocated.
    pub(crate) fn end(&self, pool: &mut TermPool, state: &mut State, object: ObjectId) -> Term {
        let slot = self.slot(SlotKind::End(object));
        self.value(pool, state, slot)
    }

    /// The value of a type at an address with some targets.
    pub(crate) fn load(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        place: (Term, &Targets),
        ty: Type,
        traps: &mut Traps,
    ) -> Term {
        let size = self.target().stored_bytes(ty);
        let found = self.resolve(pool, state, place, size, traps);
        let mut result = None;
        if found.unknown || found.candidates.is_empty() {
            let mut value = Self::anything(pool, lydian_eval::sort_of(ty));
            if found.unknown {
                self.more("memory that is not known is read");
                let bits = self.read_outside(pool, state, place.0, size);
                value = self.of_bits(pool, ty, bits);
            }
            result = Some(value);
        }
        for candidate in found.candidates {
            let value = self.read(pool, state, &candidate, ty);
            result = Some(match result {
                Some(other) => pool.ite(candidate.hit, value, other),
                None => value,
            });
        }
        result.unwrap_or_else(|| Self::anything(pool, lydian_eval::sort_of(ty)))
    }

    /// The value of a type at a place that an access hits.
    fn read(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        candidate: &Candidate,
        ty: Type,
    ) -> Term {
        let object = candidate.object;
        if ty == Type::Ptr && self.analysed.pointers.is_torn(object) {
            self.more("a part of a pointer is overwritten");
            return Self::anything(pool, lydian_eval::sort_of(ty));
        }
        if ty != Type::Ptr && self.analysed.pointers.is_punned(object) {
            self.more("an address is read as a number");
            return Self::anything(pool, lydian_eval::sort_of(ty));
        }
        if let (Layout::Cells(cells), Some(start)) =
            (self.analysed.layouts.of(object), candidate.at.exact())
        {
            let cell = cells.iter().position(|cell| cell.offset as i64 == start);
            if let Some(at) = cell.filter(|at| cells[*at].ty == Some(ty)) {
                let slot = self.slot(SlotKind::Cell(object, at));
                let value = self.value(pool, state, slot);
                return match ty {
                    Type::F32 | Type::F64 => value,
                    _ => self.of_bits(pool, ty, value),
                };
            }
        }
        let size = self.target().stored_bytes(ty);
        let bits = self.read_bits(pool, state, candidate, size);
        self.of_bits(pool, ty, bits)
    }

    /// Bytes at a place that an access hits.
    pub(crate) fn read_bits(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        candidate: &Candidate,
        size: u64,
    ) -> Term {
        let object = candidate.object;
        match self.analysed.layouts.of(object) {
            Layout::Cells(cells) => match candidate.at.exact() {
                Some(start) => self.read_cells(pool, state, (object, cells), (start as u64, size)),
                None => Self::anything(pool, Sort::BitVec(size as u32 * 8)),
            },
            Layout::Lanes(lanes) => self.read_lanes(pool, state, (candidate, lanes), size),
        }
    }

    fn read_cells(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (object, cells): (ObjectId, &[Cell]),
        (start, size): (u64, u64),
    ) -> Term {
        let (end, mut at, mut bits) = (start + size, start, None);
        while at < end {
            let within =
                cells.iter().position(|cell| (cell.offset..cell.offset + cell.size).contains(&at));
            let (part, next) = match within {
                Some(nth) => {
                    let cell = cells[nth];
                    let next = end.min(cell.offset + cell.size);
                    let value = self.cell_bits(pool, state, object, nth);
                    let (low, high) = (at - cell.offset, next - cell.offset);
                    (pool.extract(high as u32 * 8 - 1, low as u32 * 8, value), next)
                }
                None => {
                    let later = cells.iter().map(|cell| cell.offset).filter(|offset| *offset > at);
                    let next = later.min().unwrap_or(end).min(end);
                    (Self::anything(pool, Sort::BitVec((next - at) as u32 * 8)), next)
                }
            };
            bits = Some(bits.map_or(part, |low| pool.concat(part, low)));
            at = next;
        }
        bits.unwrap_or_else(|| pool.bv(8, 0))
    }

    /// The bytes of a cell.
    fn cell_bits(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        object: ObjectId,
        nth: usize,
    ) -> Term {
        let slot = self.slot(SlotKind::Cell(object, nth));
        let value = self.value(pool, state, slot);
        lydian_eval::to_bytes(pool, value)
    }

    fn read_lanes(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (candidate, lanes): (&Candidate, &Lanes),
        size: u64,
    ) -> Term {
        let start = candidate.at.start.rem_euclid(lanes.period as i64) as u64;
        if lanes.period < size {
            return self.read_elements(pool, state, (candidate, lanes), size);
        }
        let holds = |lane: &crate::encode::memory::layout::Lane| {
            lane.offset <= start && start + size <= lane.offset + lane.size
        };
        let Some(nth) = lanes.lanes.iter().position(holds) else {
            return Self::anything(pool, Sort::BitVec(size as u32 * 8));
        };
        let lane = lanes.lanes[nth];
        let index = index_of(pool, candidate.distance, start, lanes);
        let slot = self.slot(SlotKind::Lane(candidate.object, nth));
        let array = self.value(pool, state, slot);
        let element = pool.select(array, index);
        let low = (start - lane.offset) as u32 * 8;
        pool.extract(low + size as u32 * 8 - 1, low, element)
    }

    /// Bytes that several elements of one lane have together.
    fn read_elements(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (candidate, lanes): (&Candidate, &Lanes),
        size: u64,
    ) -> Term {
        let slot = self.slot(SlotKind::Lane(candidate.object, 0));
        let array = self.value(pool, state, slot);
        let first = index_of(pool, candidate.distance, 0, lanes);
        let mut bits: Option<Term> = None;
        for at in 0..size.div_ceil(lanes.period) {
            let distance = pool.bv(lanes.index_bits, at);
            let index = pool.add(first, distance);
            let element = pool.select(array, index);
            bits = Some(bits.map_or(element, |low| pool.concat(element, low)));
        }
        let bits = bits.unwrap_or_else(|| pool.bv(size as u32 * 8, 0));
        pool.extract(size as u32 * 8 - 1, 0, bits)
    }

    /// Writes a value to an address with some targets.
    pub(crate) fn store(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        place: (Term, &Targets),
        (ty, value): (Type, Term),
    ) {
        let traps = self.store_anyway(pool, state, place, (ty, value));
        Self::leave(pool, state, &traps);
    }

    /// The same where runs go on for which the write traps. Returns the conditions under which it does.
    pub(crate) fn store_anyway(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        place: (Term, &Targets),
        (ty, value): (Type, Term),
    ) -> Traps {
        let mut traps = Traps::none();
        let size = self.target().stored_bytes(ty);
        let found = self.resolve_for_write(pool, state, place, size, &mut traps);
        self.write_to_all(pool, state, &found, |machine, pool, state, candidate| {
            machine.write(pool, state, candidate, (ty, value));
        });
        traps
    }

    /// As [`Self::resolve`]; a write to what is read-only traps.
    pub(crate) fn resolve_for_write(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        place: (Term, &Targets),
        size: u64,
        traps: &mut Traps,
    ) -> Resolution {
        let mut found = self.resolve(pool, state, place, size, traps);
        let is_read_only =
            |candidate: &Candidate| self.analysed.objects.all[candidate.object].read_only;
        for candidate in found.candidates.iter().filter(|candidate| is_read_only(candidate)) {
            traps.add(pool, TrapKind::ReadOnly, candidate.hit);
        }
        found.candidates.retain(|candidate| !is_read_only(candidate));
        found
    }

    /// Writes to each object that an access may hit, under the condition that it does.
    pub(crate) fn write_to_all(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        found: &Resolution,
        mut write: impl FnMut(&mut Self, &mut TermPool, &mut State, &Candidate),
    ) {
        if found.unknown {
            self.more("memory that is not known is written");
            self.havoc_outside(state);
            self.havoc_escaped(state);
        }
        let is_one = found.candidates.len() == 1 && !found.unknown;
        for candidate in &found.candidates {
            let mut candidate = *candidate;
            if is_one {
                candidate.hit = pool.tt();
            }
            write(self, pool, state, &candidate);
        }
    }

    fn write(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        candidate: &Candidate,
        (ty, value): (Type, Term),
    ) {
        let object = candidate.object;
        if let (Layout::Cells(cells), Some(start), Type::F32 | Type::F64) =
            (self.analysed.layouts.of(object), candidate.at.exact(), ty)
            && let Some(at) = cells.iter().position(|cell| cell.offset as i64 == start)
            && cells[at].ty == Some(ty)
        {
            let slot = self.slot(SlotKind::Cell(object, at));
            self.set_where(pool, state, candidate.hit, (slot, value));
            return;
        }
        let size = self.target().stored_bytes(ty);
        let bits = self.to_bits(pool, ty, value);
        self.write_bits(pool, state, candidate, (bits, size));
    }

    /// Writes bytes to a place that an access hits.
    pub(crate) fn write_bits(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        candidate: &Candidate,
        (bits, size): (Term, u64),
    ) {
        let object = candidate.object;
        match self.analysed.layouts.of(object) {
            Layout::Cells(cells) => match candidate.at.exact() {
                Some(start) => {
                    let within = (start as u64, size);
                    self.write_cells(pool, state, (candidate, cells), (within, bits));
                }
                None => self.havoc_object(state, object),
            },
            Layout::Lanes(lanes) => {
                self.write_lanes(pool, state, (candidate, lanes), (bits, size));
            }
        }
    }

    fn write_cells(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (candidate, cells): (&Candidate, &[Cell]),
        ((start, size), bits): ((u64, u64), Term),
    ) {
        let (object, hit) = (candidate.object, candidate.hit);
        let end = start + size;
        for (nth, cell) in cells.iter().enumerate() {
            let (from, to) = (start.max(cell.offset), end.min(cell.offset + cell.size));
            if from >= to {
                continue;
            }
            let (low, high) = ((from - start) as u32 * 8, (to - start) as u32 * 8);
            let mut new = pool.extract(high - 1, low, bits);
            if to - from < cell.size {
                let old = self.cell_bits(pool, state, object, nth);
                new = replace_bits(pool, old, new, (from - cell.offset) as u32 * 8);
            }
            let value = match cell.ty {
                Some(ty @ (Type::F32 | Type::F64)) => self.of_bits(pool, ty, new),
                _ => new,
            };
            let slot = self.slot(SlotKind::Cell(object, nth));
            self.set_where(pool, state, hit, (slot, value));
        }
    }

    fn write_lanes(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (candidate, lanes): (&Candidate, &Lanes),
        (bits, size): (Term, u64),
    ) {
        let start = candidate.at.start.rem_euclid(lanes.period as i64) as u64;
        if lanes.period < size {
            self.write_elements(pool, state, (candidate, lanes), (bits, size));
            return;
        }
        let index = index_of(pool, candidate.distance, start, lanes);
        for (nth, lane) in lanes.lanes.iter().enumerate() {
            let (from, to) = (start.max(lane.offset), (start + size).min(lane.offset + lane.size));
            if from >= to {
                continue;
            }
            let slot = self.slot(SlotKind::Lane(candidate.object, nth));
            let array = self.value(pool, state, slot);
            let (low, high) = ((from - start) as u32 * 8, (to - start) as u32 * 8);
            let mut new = pool.extract(high - 1, low, bits);
            let old = pool.select(array, index);
            if to - from < lane.size {
                new = replace_bits(pool, old, new, (from - lane.offset) as u32 * 8);
            }
            let new = pool.ite(candidate.hit, new, old);
            let array = pool.store(array, index, new);
            state.set(slot, Some(array));
        }
    }

    fn write_elements(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (candidate, lanes): (&Candidate, &Lanes),
        (bits, size): (Term, u64),
    ) {
        let slot = self.slot(SlotKind::Lane(candidate.object, 0));
        let mut array = self.value(pool, state, slot);
        let first = index_of(pool, candidate.distance, 0, lanes);
        let width = lanes.period as u32 * 8;
        for at in 0..size / lanes.period {
            let distance = pool.bv(lanes.index_bits, at);
            let index = pool.add(first, distance);
            let low = at as u32 * width;
            let (new, old) = (pool.extract(low + width - 1, low, bits), pool.select(array, index));
            let new = pool.ite(candidate.hit, new, old);
            array = pool.store(array, index, new);
        }
        state.set(slot, Some(array));
    }

    /// Sets a slot where a condition holds.
    pub(crate) fn set_where(
        &self,
        pool: &mut TermPool,
        state: &mut State,
        hit: Term,
        (slot, value): (crate::encode::ids::SlotId, Term),
    ) {
        if pool.as_bool(hit) == Some(true) {
            state.set(slot, Some(value));
            return;
        }
        let old = self.value(pool, state, slot);
        let value = pool.ite(hit, value, old);
        state.set(slot, Some(value));
    }

    /// Gives an object any contents.
    pub(crate) fn havoc_object(&self, state: &mut State, object: ObjectId) {
        if self.analysed.objects.all[object].read_only {
            return;
        }
        for slot in self.analysed.slots.of_object(self.analysed.layouts, object) {
            state.set(slot, None);
        }
    }

    /// Gives any contents to all objects that code which is not known may write to.
    pub(crate) fn havoc_escaped(&self, state: &mut State) {
        for object in self.analysed.pointers.escaped_objects() {
            self.havoc_object(state, object);
        }
    }
}

/// The alternatives of an address that is a choice: conditions, and the address there.
fn alternatives(pool: &mut TermPool, addr: Term) -> Vec<(Term, Term)> {
    let mut found = Vec::new();
    let mut waiting = vec![(pool.tt(), addr)];
    while let Some((condition, term)) = waiting.pop() {
        match pool.node(term) {
            Node::Ite(test, then, otherwise) if found.len() + waiting.len() < MOST_ALTERNATIVES => {
                let not_test = pool.not(test);
                let (on, off) = (pool.and(condition, test), pool.and(condition, not_test));
                waiting.extend([(off, otherwise), (on, then)]);
            }
            _ => found.push((condition, term)),
        }
    }
    found
}
