//! Memory as objects of bytes at fixed addresses, with a state for every byte.
//!
//! Each kind of object has an *area* of addresses of its own, so that an address tells its kind by
//! its upper bits. An area is one run of bytes, and beside it one state for each byte: whether it
//! belongs to a live object, was written, and may be written. Objects of an area are at least
//! [`GAP`] bytes apart and the bytes between them belong to none, so:
//!
//! - an access of up to 16 bytes lies inside of one object exactly where each of its bytes is live,
//!   and a longer one where all of its bytes are: no table of objects is needed;
//! - no address one past an object's end is another one's first.
//!
//! What dies keeps a mark, so that a use after its life is told from one that was never inside of
//! an object. Addresses on the heap ([`heap`]) and on the stack ([`stack`]) are given out again
//! only after a quarantine.
//!
//! # Invariants
//! - The two runs of an area have the same length, of which the last [`MARGIN`] bytes are never
//!   live. So whoever has seen that an offset is below [`Area::reach`] may touch 16 bytes there.
//! - The bytes of what was not stored to are arbitrary; every reader takes them for zero.

use std::collections::BTreeSet;

use crate::libc::STREAM_BYTES;
use crate::program::ctype::Target;
use crate::program::stmt::TrapKind;
use crate::program::{FuncId, GlobalId};
use lydian_base::EntityId;

mod area;
mod heap;
mod stack;
#[cfg(test)]
mod tests;

use area::{Area, LIVE, WRITABLE, WRITTEN};
use heap::Heap;
pub(super) use stack::FrameSpan;
use stack::Stack;

/// Below this every address is taken for a null pointer with an offset.
pub const NULL_PAGE: u64 = 4096;

/// Distance between functions' addresses.
pub const FUNCTION_STEP: u64 = 16;

/// Least distance between an object's end and the next object.
pub const GAP: u64 = 16;

/// The numbers of the areas, which their first addresses are multiples of. Functions lie in the
/// middle of area 0, which has no bytes.
const GLOBALS: usize = 1;
const INPUTS: usize = 2;
pub(super) const STACK: usize = 3;
const HEAP: usize = 4;

/// How many areas there are places for; those without a use have no bytes.
const AREAS: usize = 8;

/// First address of an area, by its number.
const fn region(target: Target, number: usize) -> u64 {
    (number as u64) << target.area_shift()
}

/// First address of functions, which are [`FUNCTION_STEP`] apart in the order of the program.
pub(super) const fn function_region(target: Target) -> u64 {
    1 << (target.area_shift() - 1)
}

/// The address of a function.
pub(super) fn function_address(target: Target, function: FuncId) -> u64 {
    function_region(target) + FUNCTION_STEP * function.index() as u64
}

/// An object that is there from the start to the end.
#[derive(Clone, Copy, Debug)]
struct PermanentObject {
    base: u64,
    size: u64,
}

/// All memory of a run.
#[derive(Clone, Debug)]
pub struct Memory {
    /// How far an address is shifted to give the number of its area: the target's.
    shift: u32,
    areas: [Area; AREAS],
    target: Target,
    /// In the order of the program.
    globals: Vec<PermanentObject>,
    /// By address.
    inputs: Vec<PermanentObject>,
    /// Those whose life the program ended.
    released_inputs: BTreeSet<u64>,
    /// The standard streams that the program uses, by the variables that hold them.
    streams: Vec<(String, u64)>,
    /// The end of the last global.
    globals_end: u64,
    heap: Heap,
    pub(super) stack: Stack,
    function_count: u64,
}

/// Bytes together with their states.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    states: Vec<u8>,
}

impl Bytes {
    /// Bytes that were written.
    pub(super) fn written(bytes: Vec<u8>) -> Self {
        let states = vec![WRITTEN; bytes.len()];
        Self { bytes, states }
    }

    /// The positions of those that were not written.
    pub(super) fn unwritten(&self) -> Vec<usize> {
        area::unwritten(&self.states).collect()
    }

    /// Whether all of them were written.
    pub(super) fn is_written(&self) -> bool {
        self.states.iter().all(|state| state & WRITTEN != 0)
    }

    /// The bytes, zero where none was written.
    pub(super) fn values(&self) -> Vec<u8> {
        self.bytes
            .iter()
            .zip(&self.states)
            .map(|(byte, state)| area::value(*byte, *state))
            .collect()
    }
}

impl Memory {
    pub(super) fn new(function_count: usize, target: Target) -> Self {
        let areas = std::array::from_fn(|number| Area::new(region(target, number)));
        Self {
            shift: target.area_shift(),
            areas,
            globals: Vec::new(),
            inputs: Vec::new(),
            released_inputs: BTreeSet::new(),
            streams: Vec::new(),
            globals_end: region(target, GLOBALS),
            heap: Heap::default(),
            stack: Stack::new(region(target, STACK)),
            target,
            function_count: function_count as u64,
        }
    }

    /// First address of an area.
    const fn start(&self, number: usize) -> u64 {
        region(self.target, number)
    }

    /// Most bytes that globals can have together, and inputs, and so on.
    const fn area_bytes(&self) -> u64 {
        1 << self.shift
    }

    /// The target that the program is compiled for.
    pub fn target(&self) -> Target {
        self.target
    }

    /// An address as the bytes of a pointer.
    pub(super) fn pointer_bytes(&self, address: u64) -> Vec<u8> {
        address.to_le_bytes()[..self.target.pointer_bytes() as usize].to_vec()
    }

    /// The address of a function.
    pub fn function_address(&self, function: FuncId) -> u64 {
        function_address(self.target, function)
    }

    /// The function at an address.
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(function_region(self.target))?;
        let index = offset / FUNCTION_STEP;
        let is_one = offset.is_multiple_of(FUNCTION_STEP) && index < self.function_count;
        is_one.then(|| FuncId::from_index(index as usize))
    }

    /// The address of a global; 0 for one of another program.
    pub fn global_address(&self, global: GlobalId) -> u64 {
        self.globals.get(global.index()).map_or(0, |object| object.base)
    }

    /// The contents of a global, zero where it was not written.
    pub(super) fn global_bytes(&self, global: GlobalId) -> Vec<u8> {
        let object = self.globals.get(global.index());
        object.map_or_else(Vec::new, |object| self.contents(object.base, object.size))
    }

    /// The contents of the input object at an address, zero where it was not written.
    pub(super) fn input_bytes(&self, base: u64) -> Vec<u8> {
        let found = self.inputs.binary_search_by_key(&base, |object| object.base);
        found.map_or_else(|_| Vec::new(), |index| self.contents(base, self.inputs[index].size))
    }

    /// The bytes of the input object at an address that were never written, or hold what was computed
    /// from such bytes.
    pub(super) fn input_undetermined(&self, base: u64) -> Vec<usize> {
        let found = self.inputs.binary_search_by_key(&base, |object| object.base);
        found.map_or_else(|_| Vec::new(), |index| self.undetermined(base, self.inputs[index].size))
    }

    /// The same of a global.
    pub(super) fn global_undetermined(&self, global: GlobalId) -> Vec<usize> {
        let object = self.globals.get(global.index());
        object.map_or_else(Vec::new, |object| self.undetermined(object.base, object.size))
    }

    pub(super) fn undetermined(&self, base: u64, size: u64) -> Vec<usize> {
        let Ok((number, offset)) = self.reach(base, size) else { return Vec::new() };
        let (_, states) = self.areas[number].slices(offset, size);
        area::unwritten(states).collect()
    }

    fn contents(&self, base: u64, size: u64) -> Vec<u8> {
        self.read(base, size).map_or_else(|_| Vec::new(), |bytes| bytes.values())
    }

    /// Adds a global, or a table of the library, after all that there are. Its bytes are zero and
    /// count as written. `None` where there is no room.
    pub(super) fn add_global(&mut self, size: u64, align: u64) -> Option<u64> {
        let base = (self.globals_end + GAP).next_multiple_of(align.clamp(1, 1 << 20));
        let end = base.checked_add(size)?;
        if end - self.start(GLOBALS) > self.area_bytes() {
            return None;
        }
        self.globals_end = end;
        let area = &mut self.areas[GLOBALS];
        area.grow(end);
        area.mark(base, size, LIVE | WRITTEN | WRITABLE);
        self.globals.push(PermanentObject { base, size });
        Some(base)
    }

    /// Adds a standard stream, behind the globals. Nothing in it counts as written. `None` where there
    /// is no room.
    pub(super) fn add_stream(&mut self, name: &str) -> Option<u64> {
        let base = self.add_global(STREAM_BYTES, 16)?;
        self.forget(base, STREAM_BYTES);
        self.streams.push((name.to_owned(), base));
        Some(base)
    }

    /// The address of a standard stream, by the name of the variable that holds it.
    pub(super) fn stream(&self, name: &str) -> Option<u64> {
        self.streams.iter().find(|(known, _)| known == name).map(|(_, base)| *base)
    }

    /// Makes room for that many bytes of globals at once.
    pub(super) fn reserve_globals(&mut self, bytes: u64) {
        let end = self.start(GLOBALS).saturating_add(bytes.min(self.area_bytes()));
        self.areas[GLOBALS].grow(end);
    }

    /// Adds an input object at its own address; `false` where that is taken or out of the region.
    /// Objects come in the order of the test, which need not be that of addresses.
    pub(super) fn place_input(&mut self, base: u64, size: u64) -> bool {
        let end = base.checked_add(size);
        let start = self.target.input_region();
        let region_end = start + self.target.input_region_size();
        let inside = base >= start && end.is_some_and(|end| end <= region_end);
        let inputs = &mut self.inputs;
        let at = inputs.partition_point(|object| object.base <= base);
        let before = at.checked_sub(1).map(|index| &inputs[index]);
        let free = before
            .is_none_or(|object| object.base + object.size <= base && object.base < base)
            && inputs.get(at).is_none_or(|next| end.is_some_and(|end| end <= next.base));
        if inside && free {
            inputs.insert(at, PermanentObject { base, size });
            let area = &mut self.areas[INPUTS];
            area.grow(base + size);
            area.mark(base, size, LIVE | WRITTEN | WRITABLE);
        }
        inside && free
    }

    /// Leaves bytes of an input object that was placed without a value.
    pub(super) fn leave_unwritten(&mut self, start: u64, size: u64) {
        self.areas[INPUTS].mark(start, size, LIVE | WRITABLE);
    }

    /// Makes an object that was added read-only.
    pub(super) fn protect(&mut self, base: u64) {
        let (list, number) = match base < self.target.input_region() {
            true => (&self.globals, GLOBALS),
            false => (&self.inputs, INPUTS),
        };
        if let Ok(index) = list.binary_search_by_key(&base, |object| object.base) {
            let PermanentObject { base, size } = list[index];
            self.areas[number].mark(base, size, LIVE | WRITTEN);
        }
    }

    /// The area of an address and the offset in it, which may lie outside.
    #[inline(always)]
    fn locate(&self, address: u64) -> (usize, usize) {
        // Addresses beyond the last area give an offset beyond every area's end.
        let number = (address >> self.shift) as usize & (AREAS - 1);
        (number, address.wrapping_sub((number as u64) << self.shift) as usize)
    }

    /// A number of `N` bytes all of which are live and were written, zero-extended; `None` for
    /// others, on which [`Self::load`] tells more.
    #[inline(always)]
    pub(super) fn quick_load<const N: usize>(&self, address: u64) -> Option<u64> {
        let (number, offset) = self.locate(address);
        self.areas[number].quick_load::<N>(offset)
    }

    /// Writes a number to `N` bytes all of which are live, written before and writable; `false`
    /// for others, for which there is [`Self::store`].
    #[inline(always)]
    pub(super) fn quick_store<const N: usize>(&mut self, address: u64, value: u64) -> bool {
        let (number, offset) = self.locate(address);
        self.areas[number].quick_store::<N>(offset, value)
    }

    /// What is wrong with an access of `len` bytes that are not all live.
    #[cold]
    fn fault(&self, address: u64, len: u64) -> TrapKind {
        if address < NULL_PAGE {
            return TrapKind::NullDereference;
        }
        let (number, offset) = self.locate(address);
        match self.areas[number].any_dead(offset, len) {
            true => TrapKind::UseAfterFree,
            false => TrapKind::OutOfBounds,
        }
    }

    /// The area and offset of `len` bytes that are live.
    fn reach(&self, address: u64, len: u64) -> Result<(usize, usize), TrapKind> {
        let (number, offset) = self.locate(address);
        match self.areas[number].all(offset, len, LIVE) {
            true => Ok((number, offset)),
            false => Err(self.fault(address, len)),
        }
    }

    /// Whether two addresses are of one object, or behind its last byte; null pointers are equal.
    pub(super) fn is_one_object(&self, a: u64, b: u64) -> bool {
        let (first, last) = (a.min(b), a.max(b));
        first == last || self.reach(first, last - first).is_ok()
    }

    /// The same for bytes that may be written.
    fn writable(&self, address: u64, len: u64) -> Result<(usize, usize), TrapKind> {
        let (number, offset) = self.reach(address, len)?;
        match self.areas[number].all(offset, len, WRITABLE) {
            true => Ok((number, offset)),
            false => Err(TrapKind::ReadOnly),
        }
    }

    /// A little-endian number of up to 16 bytes, zero where they were not written, and whether all
    /// of them were.
    ///
    /// # Errors
    /// Where the bytes cannot be reached.
    pub fn load(&self, address: u64, len: u64) -> Result<(u128, bool), TrapKind> {
        let (number, offset) = self.reach(address, len)?;
        let (bytes, states) = self.areas[number].slices(offset, len);
        let mut raw = [0; 16];
        for (to, (byte, state)) in raw.iter_mut().zip(bytes.iter().zip(states)) {
            *to = area::value(*byte, *state);
        }
        Ok((u128::from_le_bytes(raw), states.iter().all(|state| state & WRITTEN != 0)))
    }

    /// Writes a little-endian number of up to 16 bytes.
    pub(super) fn store(&mut self, address: u64, len: u64, value: u128) -> Result<(), TrapKind> {
        self.write(address, &value.to_le_bytes()[..len.min(16) as usize])
    }

    /// Bytes with what is known of their having been written.
    pub(super) fn read(&self, address: u64, len: u64) -> Result<Bytes, TrapKind> {
        if len == 0 {
            return Ok(Bytes { bytes: Vec::new(), states: Vec::new() });
        }
        let (number, offset) = self.reach(address, len)?;
        let (bytes, states) = self.areas[number].slices(offset, len);
        Ok(Bytes { bytes: bytes.to_vec(), states: states.to_vec() })
    }

    /// Bytes of which all count as written afterwards.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), TrapKind> {
        if bytes.is_empty() {
            return Ok(());
        }
        let len = bytes.len() as u64;
        let (number, offset) = self.writable(address, len)?;
        let (to, states) = self.areas[number].slices_mut(offset, len);
        to.copy_from_slice(bytes);
        area::set_written(states);
        Ok(())
    }

    /// Sets bytes to one value.
    pub(super) fn fill(&mut self, address: u64, len: u64, byte: u8) -> Result<(), TrapKind> {
        if len == 0 {
            return Ok(());
        }
        let (number, offset) = self.writable(address, len)?;
        let (to, states) = self.areas[number].slices_mut(offset, len);
        to.fill(byte);
        area::set_written(states);
        Ok(())
    }

    /// Bytes that keep being written or not.
    pub(super) fn write_as_read(&mut self, address: u64, from: &Bytes) -> Result<(), TrapKind> {
        if from.bytes.is_empty() {
            return Ok(());
        }
        let len = from.bytes.len() as u64;
        let (number, offset) = self.writable(address, len)?;
        let (to, states) = self.areas[number].slices_mut(offset, len);
        to.copy_from_slice(&from.bytes);
        area::merge(states, &from.states);
        Ok(())
    }

    /// Copies bytes, which keep being written or not, as if through a buffer.
    pub(super) fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), TrapKind> {
        if len == 0 {
            return Ok(());
        }
        let (from_area, from_offset) = self.reach(from, len)?;
        let (to_area, to_offset) = self.writable(to, len)?;
        if from_area == to_area {
            self.areas[to_area].copy_within(to_offset, from_offset, len);
            return Ok(());
        }
        let [from_area, to_area] = self
            .areas
            .get_disjoint_mut([from_area, to_area])
            .expect("the areas are two and both exist");
        to_area.copy_from(to_offset, from_area, from_offset, len);
        Ok(())
    }

    /// Makes bytes count as never written, where they can be reached; they keep their values.
    pub(super) fn forget(&mut self, address: u64, len: u64) {
        if let Ok((number, offset)) = self.reach(address, len) {
            let (_, states) = self.areas[number].slices_mut(offset, len);
            area::set_kept(states);
        }
    }

    /// How many bytes there are from an address to the first one that is zero, that one included,
    /// or to `limit` bytes; whether all were written; and whether the zero was found.
    ///
    /// # Errors
    /// Where the run leaves the object before either end.
    pub(super) fn text(&self, address: u64, limit: u64) -> Result<(u64, bool, bool), TrapKind> {
        if limit == 0 {
            return Ok((0, true, false));
        }
        let (number, offset) = self.locate(address);
        let area = &self.areas[number];
        let (len, found) = area.run_to_zero(offset, limit);
        if len == 0 || !area.all(offset, len, LIVE) {
            let live = area.count(offset, len, LIVE);
            return Err(self.fault(address.wrapping_add(live), 1));
        }
        if !found && len < limit {
            return Err(self.fault(address.wrapping_add(len), 1));
        }
        Ok((len, area.all(offset, len, WRITTEN), found))
    }
}
