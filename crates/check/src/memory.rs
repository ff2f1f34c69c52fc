//! Reads and writes of memory.
//!
//! An access hits the object in whose bounds its address lies. Where it hits none the run ends, unless the
//! address may be one of memory that is not known: then a read gives any value.

use lydian_ir::Type;

use crate::machine::Machine;
use crate::objects::Layout;
use crate::pointers::NULL_PAGE;
use crate::pointers::targets::Targets;
use crate::state::{Base, Key, OFFSET_BITS, State, Value};
use crate::terms::{Sort, Term};

/// The most bytes that are copied or filled piece by piece.
const MOST_BYTES: u64 = 1 << 10;

/// An object that an access may hit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    pub(crate) object: usize,
    pub(crate) offset: Term,
    /// Whether the access hits it.
    pub(crate) hit: Term,
}

/// The objects that an access may hit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Resolution {
    pub(crate) candidates: Vec<Candidate>,
    /// Whether it may hit memory that is not known.
    pub(crate) unknown: bool,
}

impl Machine<'_, '_> {
    /// Finds what an access of some bytes may hit. The run ends where it hits nothing.
    pub(crate) fn resolve(
        &mut self,
        state: &mut State,
        (address, targets): (Value, &Targets),
        size: u64,
    ) -> Resolution {
        if let Some(base) = address.base.or_else(|| self.known_base(address.term, targets)) {
            let hit = self.is_inside(state, base, size);
            state.assume(&mut self.terms, hit);
            let hit = self.terms.truth(true);
            let candidate = Candidate { object: base.object, offset: base.offset, hit };
            return Resolution { candidates: vec![candidate], unknown: false };
        }
        let mut found = Resolution { candidates: Vec::new(), unknown: targets.any };
        for object in self.scene.pointers.candidates(targets) {
            let exact = targets.objects.get(&object).copied().flatten();
            let width = self.scene.address_bits();
            let start = self.scene.objects.all[object].address;
            let start = self.terms.bits(width, start.into());
            let (offset, is_there) = match exact {
                Some(exact) => {
                    let offset = self.terms.bits(width, exact as u128);
                    let address_of = self.terms.add(start, offset);
                    let is_there = self.terms.equal(address.term, address_of);
                    (self.terms.bits(OFFSET_BITS, exact as u128), is_there)
                }
                None => {
                    let offset = self.terms.sub(address.term, start);
                    (self.terms.resize(offset, OFFSET_BITS), self.terms.truth(true))
                }
            };
            let is_inside = self.is_inside(state, Base { object, offset }, size);
            let hit = self.terms.and(is_there, is_inside);
            if self.terms.truth_of(hit) != Some(false) {
                found.candidates.push(Candidate { object, offset, hit });
            }
        }
        if found.unknown {
            let page = self.terms.bits(self.scene.address_bits(), NULL_PAGE.into());
            let is_null = self.terms.compare("bvult", address.term, page);
            let is_not = self.terms.not(is_null);
            state.assume(&mut self.terms, is_not);
            return found;
        }
        let hits: Vec<Term> = found.candidates.iter().map(|candidate| candidate.hit).collect();
        let any = self.terms.any(&hits);
        state.assume(&mut self.terms, any);
        if let [only] = &mut found.candidates[..] {
            only.hit = self.terms.truth(true);
        }
        found
    }

    /// The object in which an address lies that is a constant.
    fn known_base(&mut self, address: Term, targets: &Targets) -> Option<Base> {
        if !self.addresses.contains(&address) {
            return None;
        }
        let number = u64::try_from(self.terms.number(address)?).ok()?;
        let objects = &self.scene.objects.all;
        let object = self.scene.pointers.candidates(targets).into_iter().find(|at| {
            let distance = number.checked_sub(objects[*at].address);
            distance.is_some_and(|distance| distance <= objects[*at].extent())
        })?;
        let offset = number - objects[object].address;
        let offset = self.terms.bits(OFFSET_BITS, offset.into());
        Some(Base { object, offset })
    }

    /// Whether some bytes from an offset on lie in an object.
    fn is_inside(&mut self, state: &mut State, base: Base, size: u64) -> Term {
        let width = OFFSET_BITS;
        let bytes = self.terms.bits(width, size.into());
        match self.scene.objects.all[base.object].size {
            Some(extent) if extent < size => self.terms.truth(false),
            Some(extent) => {
                let last = self.terms.bits(width, (extent - size).into());
                self.terms.compare("bvule", base.offset, last)
            }
            None => {
                let end = self.get(state, Key::End(base.object)).term;
                let end = self.terms.resize(end, width);
                let begins = self.terms.compare("bvult", base.offset, end);
                let room = self.terms.sub(end, base.offset);
                let ends = self.terms.compare("bvule", bytes, room);
                self.terms.and(begins, ends)
            }
        }
    }

    /// The value of a type at an address.
    pub(crate) fn load(&mut self, state: &mut State, place: (Value, &Targets), ty: Type) -> Value {
        let size = self.scene.objects.target.stored_bytes(ty);
        let bits = self.load_bits(state, place, size);
        Value::plain(match ty {
            Type::Int(1) => {
                let bit = self.terms.extract(bits, 0, 0);
                self.terms.is_nonzero(bit)
            }
            _ => bits,
        })
    }

    /// Bytes at an address.
    pub(crate) fn load_bits(
        &mut self,
        state: &mut State,
        place: (Value, &Targets),
        size: u64,
    ) -> Term {
        let found = self.resolve(state, place, size);
        self.read_resolved(state, &found, size)
    }

    pub(crate) fn read_resolved(
        &mut self,
        state: &mut State,
        found: &Resolution,
        size: u64,
    ) -> Term {
        let mut result = None;
        if found.unknown || found.candidates.is_empty() {
            result = Some(self.any_bytes(size));
        }
        for candidate in &found.candidates {
            let value = self.read(state, candidate.object, candidate.offset, size);
            result = Some(match result {
                Some(other) => self.terms.choose(candidate.hit, value, other),
                None => value,
            });
        }
        result.unwrap_or_else(|| self.any_bytes(size))
    }

    /// Any bytes.
    pub(crate) fn any_bytes(&mut self, size: u64) -> Term {
        self.terms.fresh("any", Sort::Bits(size.max(1) as u32 * 8))
    }

    /// Bytes of an object from an offset on.
    pub(crate) fn read(
        &mut self,
        state: &mut State,
        object: usize,
        offset: Term,
        size: u64,
    ) -> Term {
        match &self.scene.objects.all[object].layout {
            Layout::Cells(cells) => self.read_cells(state, (object, cells), offset, size),
            Layout::Array { grain, index_bits } => {
                let array = self.get(state, Key::Array(object)).term;
                self.read_array(array, (*grain, *index_bits), offset, size)
            }
        }
    }

    fn read_cells(
        &mut self,
        state: &mut State,
        (object, cells): (usize, &[(u64, u64)]),
        offset: Term,
        size: u64,
    ) -> Term {
        if let Some(offset) = self.terms.number(offset) {
            return self.read_at(state, (object, cells), (offset as u64, size));
        }
        let mut result = self.any_bytes(size);
        for (at, (start, bytes)) in cells.iter().enumerate() {
            if *bytes == size {
                let start = self.terms.bits(OFFSET_BITS, (*start).into());
                let (is_it, value) =
                    (self.terms.equal(offset, start), self.get(state, Key::Cell(object, at)));
                result = self.terms.choose(is_it, value.term, result);
            }
        }
        result
    }

    /// Bytes at a constant offset, from the cells that have them.
    fn read_at(
        &mut self,
        state: &mut State,
        (object, cells): (usize, &[(u64, u64)]),
        (offset, size): (u64, u64),
    ) -> Term {
        let end = offset.saturating_add(size);
        let (mut at, mut bits): (u64, Option<Term>) = (offset, None);
        while at < end {
            let within = cells.iter().position(|(start, bytes)| *start <= at && at < start + bytes);
            let (part, next) = match within {
                Some(nth) => {
                    let (start, bytes) = cells[nth];
                    let next = end.min(start + bytes);
                    let value = self.get(state, Key::Cell(object, nth)).term;
                    let (low, high) = ((at - start) as u32 * 8, (next - start) as u32 * 8 - 1);
                    (self.terms.extract(value, high, low), next)
                }
                None => {
                    let later = cells.iter().map(|(start, _)| *start).filter(|start| *start > at);
                    let next = later.min().unwrap_or(end).min(end);
                    (self.any_bytes(next - at), next)
                }
            };
            bits = Some(bits.map_or(part, |low| self.terms.concat(part, low)));
            at = next;
        }
        bits.unwrap_or_else(|| self.any_bytes(size))
    }

    /// Bytes of an array from an offset on. Where they are no whole elements they are any.
    pub(crate) fn read_array(
        &mut self,
        array: Term,
        (grain, index_bits): (u64, u32),
        offset: Term,
        size: u64,
    ) -> Term {
        if !size.is_multiple_of(grain) || size / grain > MOST_BYTES {
            return self.any_bytes(size);
        }
        let first = self.index(offset, (grain, index_bits));
        let mut bits: Option<Term> = None;
        for at in 0..size / grain {
            let distance = self.terms.bits(index_bits, at.into());
            let index = self.terms.add(first, distance);
            let element = self.terms.select(array, index);
            bits = Some(bits.map_or(element, |low| self.terms.concat(element, low)));
        }
        let bits = bits.unwrap_or_else(|| self.any_bytes(size));
        match self.is_aligned(offset, grain) {
            Some(aligned) => {
                let other = self.any_bytes(size);
                self.terms.choose(aligned, bits, other)
            }
            None => bits,
        }
    }

    fn index(&mut self, offset: Term, (grain, index_bits): (u64, u32)) -> Term {
        let low = grain.trailing_zeros();
        let width = self.terms.width(offset);
        let index = self.terms.extract(offset, width - 1, low);
        self.terms.resize(index, index_bits)
    }

    /// Whether an offset is a multiple of a power of two; none where it surely is.
    fn is_aligned(&mut self, offset: Term, grain: u64) -> Option<Term> {
        let bits = grain.trailing_zeros();
        if self.terms.alignment(offset) >= bits {
            return None;
        }
        let low = self.terms.extract(offset, bits - 1, 0);
        let some = self.terms.is_nonzero(low);
        Some(self.terms.not(some))
    }

    /// Writes bytes to an address.
    pub(crate) fn store_bits(&mut self, state: &mut State, place: (Value, &Targets), bits: Term) {
        let size = u64::from(self.terms.width(bits) / 8);
        let found = self.resolve_for_write(state, place, size);
        for candidate in &found.candidates {
            self.write(state, *candidate, bits);
        }
    }

    /// As [`Self::resolve`]. The run ends where what is written is read-only.
    pub(crate) fn resolve_for_write(
        &mut self,
        state: &mut State,
        place: (Value, &Targets),
        size: u64,
    ) -> Resolution {
        let mut found = self.resolve(state, place, size);
        for candidate in &found.candidates {
            if self.scene.objects.all[candidate.object].read_only {
                let misses = self.terms.not(candidate.hit);
                state.assume(&mut self.terms, misses);
            }
        }
        let objects = &self.scene.objects.all;
        found.candidates.retain(|candidate| !objects[candidate.object].read_only);
        found
    }

    /// A value as bytes.
    pub(crate) fn as_bytes(&mut self, value: Term) -> Term {
        match self.terms.sort(value) {
            Sort::Bool => self.terms.as_number(value, 8),
            _ => value,
        }
    }

    pub(crate) fn write(&mut self, state: &mut State, to: Candidate, bits: Term) {
        match &self.scene.objects.all[to.object].layout {
            Layout::Cells(cells) => match self.terms.number(to.offset) {
                Some(offset) => self.write_at(state, (to, cells), (offset as u64, bits)),
                None => self.write_cells(state, (to, cells), bits),
            },
            Layout::Array { grain, index_bits } => {
                self.write_array(state, to, (*grain, *index_bits), bits);
            }
        }
    }

    fn write_at(
        &mut self,
        state: &mut State,
        (to, cells): (Candidate, &[(u64, u64)]),
        (offset, bits): (u64, Term),
    ) {
        let end = offset.saturating_add(u64::from(self.terms.width(bits) / 8));
        for (nth, (start, bytes)) in cells.iter().enumerate() {
            let (from, until) = (offset.max(*start), end.min(start + bytes));
            if from >= until {
                continue;
            }
            let key = Key::Cell(to.object, nth);
            let old = self.get(state, key).term;
            let (low, high) = ((from - offset) as u32 * 8, (until - offset) as u32 * 8 - 1);
            let mut new = self.terms.extract(bits, high, low);
            if from > *start {
                let below = self.terms.extract(old, (from - start) as u32 * 8 - 1, 0);
                new = self.terms.concat(new, below);
            }
            if until < start + bytes {
                let low = (until - start) as u32 * 8;
                let above = self.terms.extract(old, *bytes as u32 * 8 - 1, low);
                new = self.terms.concat(above, new);
            }
            let value = self.terms.choose(to.hit, new, old);
            state.set(key, Value::plain(value));
        }
    }

    /// A write at an offset that is not constant. What it hits only in part has any value.
    fn write_cells(
        &mut self,
        state: &mut State,
        (to, cells): (Candidate, &[(u64, u64)]),
        bits: Term,
    ) {
        let width = OFFSET_BITS;
        let size = u64::from(self.terms.width(bits) / 8);
        for (nth, (start, bytes)) in cells.iter().enumerate() {
            let key = Key::Cell(to.object, nth);
            let old = self.get(state, key).term;
            let start_term = self.terms.bits(width, (*start).into());
            let is_it = self.terms.equal(to.offset, start_term);
            // It overlaps where the distance from the first offset that does is small enough.
            let first = start.wrapping_sub(size - 1);
            let first = self.terms.bits(width, first.into());
            let distance = self.terms.sub(to.offset, first);
            let reach = self.terms.bits(width, (bytes + size - 1).into());
            let overlaps = self.terms.compare("bvult", distance, reach);
            let any = self.any_bytes(*bytes);
            let mut value = self.terms.choose(overlaps, any, old);
            if *bytes == size {
                value = self.terms.choose(is_it, bits, value);
            }
            let value = self.terms.choose(to.hit, value, old);
            state.set(key, Value::plain(value));
        }
    }

    fn write_array(
        &mut self,
        state: &mut State,
        to: Candidate,
        (grain, index_bits): (u64, u32),
        bits: Term,
    ) {
        let key = Key::Array(to.object);
        let size = u64::from(self.terms.width(bits) / 8);
        let before = self.get(state, key).term;
        let any = self.fresh(key).term;
        if !size.is_multiple_of(grain) {
            let array = self.terms.choose(to.hit, any, before);
            state.set(key, Value::plain(array));
            return;
        }
        let first = self.index(to.offset, (grain, index_bits));
        let mut array = before;
        for at in 0..size / grain {
            let distance = self.terms.bits(index_bits, at.into());
            let index = self.terms.add(first, distance);
            let low = (at * grain) as u32 * 8;
            let new = self.terms.extract(bits, low + grain as u32 * 8 - 1, low);
            let old = self.terms.select(array, index);
            let new = self.terms.choose(to.hit, new, old);
            array = self.terms.store(array, index, new);
        }
        if let Some(aligned) = self.is_aligned(to.offset, grain) {
            let other = self.terms.choose(to.hit, any, before);
            array = self.terms.choose(aligned, array, other);
        }
        state.set(key, Value::plain(array));
    }

    /// Gives an object any contents. One that is read-only keeps its own.
    pub(crate) fn havoc(&mut self, state: &mut State, object: usize) {
        if !self.scene.objects.all[object].read_only {
            self.set_contents(state, object, false);
        }
    }

    /// Gives any contents to what a pointer may point to.
    pub(crate) fn havoc_targets(&mut self, state: &mut State, targets: &Targets) {
        for object in self.scene.pointers.candidates(targets) {
            self.havoc(state, object);
        }
    }

    /// Copies bytes from one address to another. All are read before one is written.
    pub(crate) fn copy(
        &mut self,
        state: &mut State,
        (to, from): ((Value, &Targets), (Value, &Targets)),
        size: u64,
    ) {
        if size == 0 {
            return;
        }
        let source = self.resolve(state, from, size);
        let found = self.resolve_for_write(state, to, size);
        for candidate in &found.candidates {
            let pieces = self.pieces(candidate, size);
            let Some(pieces) = pieces else {
                self.havoc(state, candidate.object);
                continue;
            };
            let mut values = Vec::new();
            for (start, bytes) in &pieces {
                let from = self.moved(&source, *start);
                values.push(self.read_resolved(state, &from, *bytes));
            }
            for ((start, _), bits) in pieces.iter().zip(values) {
                let to = self.moved_candidate(*candidate, *start);
                self.write(state, to, bits);
            }
        }
    }

    /// Sets bytes to one value.
    pub(crate) fn fill(
        &mut self,
        state: &mut State,
        to: (Value, &Targets),
        (byte, size): (Term, u64),
    ) {
        if size == 0 {
            return;
        }
        let found = self.resolve_for_write(state, to, size);
        for candidate in &found.candidates {
            if self.fills_array(state, candidate, (byte, size)) {
                continue;
            }
            let Some(pieces) = self.pieces(candidate, size) else {
                self.havoc(state, candidate.object);
                continue;
            };
            for (start, bytes) in pieces {
                let bits = (1..bytes).fold(byte, |all, _| self.terms.concat(byte, all));
                let to = self.moved_candidate(*candidate, start);
                self.write(state, to, bits);
            }
        }
    }

    /// Fills all of an object that is an array, if that is asked for.
    fn fills_array(
        &mut self,
        state: &mut State,
        to: &Candidate,
        (byte, size): (Term, u64),
    ) -> bool {
        let content = &self.scene.objects.all[to.object];
        let Layout::Array { grain, .. } = content.layout else { return false };
        let is_whole = content.size == Some(size) && self.terms.number(to.offset) == Some(0);
        if !is_whole || self.terms.truth_of(to.hit) != Some(true) {
            return false;
        }
        let key = Key::Array(to.object);
        let element = (1..grain).fold(byte, |all, _| self.terms.concat(byte, all));
        let array = self.terms.uniform(self.scene.sort(key), element);
        state.set(key, Value::plain(array));
        true
    }

    fn moved(&mut self, found: &Resolution, by: u64) -> Resolution {
        let candidates = found.candidates.iter();
        Resolution {
            candidates: candidates.map(|candidate| self.moved_candidate(*candidate, by)).collect(),
            unknown: found.unknown,
        }
    }

    fn moved_candidate(&mut self, candidate: Candidate, by: u64) -> Candidate {
        let by = self.terms.bits(OFFSET_BITS, by.into());
        Candidate { offset: self.terms.add(candidate.offset, by), ..candidate }
    }

    /// The pieces that an object has of a stretch of bytes, by their distance from its beginning; none if
    /// there are too many.
    fn pieces(&mut self, to: &Candidate, size: u64) -> Option<Vec<(u64, u64)>> {
        match &self.scene.objects.all[to.object].layout {
            Layout::Cells(cells) => {
                let offset = self.terms.number(to.offset)? as u64;
                let mut pieces = Vec::new();
                for (start, bytes) in cells {
                    let (from, until) =
                        (offset.max(*start), offset.saturating_add(size).min(start + bytes));
                    if from < until {
                        pieces.push((from - offset, until - from));
                    }
                }
                Some(pieces)
            }
            Layout::Array { grain, .. } => {
                let fits = size.is_multiple_of(*grain) && size <= MOST_BYTES;
                fits.then(|| (0..size / grain).map(|at| (at * grain, *grain)).collect())
            }
        }
    }

    /// Gives a local in memory any contents.
    pub(crate) fn reset_local(
        &mut self,
        state: &mut State,
        instance: usize,
        local: lydian_ir::LocalId,
    ) {
        if let Some(object) = self.scene.objects.local(instance, local) {
            self.set_contents(state, object, false);
        }
    }
}
