//! Memory as objects of bytes at fixed addresses.
//!
//! Each kind of object has a region of addresses of its own, so that an address tells its kind.
//! Within a region objects are kept by address and are at least [`GAP`] bytes apart: no address one
//! past an object's end is another one's first. Addresses are given out in order and never again.

use crate::program::{FuncId, GlobalId};
use crate::stmt::TrapKind;
use crate::test::{INPUT_REGION, INPUT_REGION_SIZE};
use lydian_base::EntityId;

/// Below this every address is taken for a null pointer with an offset.
pub const NULL_PAGE: u64 = 4096;

/// First address of functions, which are [`FUNCTION_STEP`] apart in the order of the program.
pub const FUNCTION_REGION: u64 = 0x8_0000_0000;

/// Distance between functions' addresses.
pub const FUNCTION_STEP: u64 = 16;

/// First address of globals.
pub const GLOBAL_REGION: u64 = 0x10_0000_0000;

/// First address of locals.
pub const STACK_REGION: u64 = 0x1000_0000_0000;

/// First address of what is allocated.
pub const HEAP_REGION: u64 = 0x3000_0000_0000;

/// Least distance between an object's end and the next object.
pub const GAP: u64 = 16;

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Objects of the test.
    Input,
    /// Globals, in the order of the program, and after them tables of the C library.
    Global,
    /// Locals in memory, oldest frame first.
    Stack,
    /// What was allocated, freed or not.
    Heap,
}

/// What an address points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The null pointer.
    Null,
    /// An object by its position in its region, and an offset that is at most its size.
    Object(Region, usize, u64),
    /// A function.
    Function(FuncId),
    /// Nothing that is there.
    Nowhere,
}

/// An object. One whose lifetime has ended has no bytes and is not live.
#[derive(Clone, Debug)]
pub struct Object {
    /// Address of its first byte.
    pub base: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether it can be reached.
    pub live: bool,
    /// Whether a write to it is a fault.
    pub read_only: bool,
    bytes: Vec<u8>,
    /// For each byte whether it was written; `None`: all were.
    written: Option<Vec<bool>>,
}

impl Object {
    /// Its bytes; zero where none was written.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn is_written(&self, start: usize, len: usize) -> bool {
        self.written.as_ref().is_none_or(|written| written[start..start + len].iter().all(|b| *b))
    }

    fn set_written(&mut self, start: usize, len: usize) {
        if let Some(written) = &mut self.written {
            written[start..start + len].fill(true);
        }
    }

    /// Begins a lifetime with bytes that were never written.
    pub(super) fn begin(&mut self) {
        self.live = true;
        self.bytes = vec![0; self.size as usize];
        self.written = Some(vec![false; self.size as usize]);
    }

    /// Ends the lifetime.
    pub(super) fn end(&mut self) {
        self.live = false;
        self.bytes = Vec::new();
        self.written = None;
    }
}

/// All objects.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    regions: [Vec<Object>; 4],
    /// The end of the last object that each region ever had.
    ends: [u64; 4],
    function_count: u64,
}

/// Bytes, and whether all of them were written before.
pub(super) struct Bytes {
    pub(super) bytes: Vec<u8>,
    pub(super) written: Option<Vec<bool>>,
}

impl Memory {
    pub(super) fn new(function_count: usize) -> Self {
        Self { function_count: function_count as u64, ..Self::default() }
    }

    /// The objects of a region, by address.
    pub fn objects(&self, region: Region) -> &[Object] {
        &self.regions[region as usize]
    }

    /// The address of a function.
    pub fn function_address(function: FuncId) -> u64 {
        FUNCTION_REGION + FUNCTION_STEP * function.index() as u64
    }

    /// The address of a global.
    pub fn global_address(&self, global: GlobalId) -> u64 {
        self.objects(Region::Global).get(global.index()).map_or(0, |object| object.base)
    }

    /// Adds an object after all that the region ever had. Its bytes are zero and count as written.
    pub(super) fn allocate(&mut self, region: Region, size: u64, align: u64) -> (usize, u64) {
        let start = match region {
            Region::Input => INPUT_REGION,
            Region::Global => GLOBAL_REGION,
            Region::Stack => STACK_REGION,
            Region::Heap => HEAP_REGION,
        };
        let after = self.ends[region as usize].max(start);
        let base = (after + GAP).next_multiple_of(align.clamp(1, 1 << 20));
        self.ends[region as usize] = base.saturating_add(size);
        let bytes = vec![0; size as usize];
        let object = Object { base, size, live: true, read_only: false, bytes, written: None };
        self.regions[region as usize].push(object);
        (self.regions[region as usize].len() - 1, base)
    }

    /// Adds an object without a lifetime yet: it has an address and no bytes.
    pub(super) fn reserve(&mut self, size: u64, align: u64) -> (usize, u64) {
        let (index, base) = self.allocate(Region::Stack, 0, align);
        self.ends[Region::Stack as usize] = base.saturating_add(size);
        let object = self.object_mut(Region::Stack, index);
        object.size = size;
        object.end();
        (index, base)
    }

    /// Adds an input object at its own address; `false` where that is taken or out of the region.
    /// Objects come in the order of the test, which need not be that of addresses.
    pub(super) fn place_input(&mut self, base: u64, size: u64, read_only: bool) -> bool {
        let end = base.checked_add(size);
        let inside =
            base >= INPUT_REGION && end.is_some_and(|end| end <= INPUT_REGION + INPUT_REGION_SIZE);
        let region = &mut self.regions[Region::Input as usize];
        let at = region.partition_point(|object| object.base <= base);
        let before = at.checked_sub(1).map(|index| &region[index]);
        let free = before
            .is_none_or(|object| object.base + object.size <= base && object.base < base)
            && region.get(at).is_none_or(|next| end.is_some_and(|end| end <= next.base));
        if inside && free {
            let bytes = vec![0; size as usize];
            let object = Object { base, size, live: true, read_only, bytes, written: None };
            region.insert(at, object);
        }
        inside && free
    }

    pub(super) fn object_mut(&mut self, region: Region, index: usize) -> &mut Object {
        &mut self.regions[region as usize][index]
    }

    /// Forgets the locals after the first `count`.
    pub(super) fn cut_stack(&mut self, count: usize) {
        self.regions[Region::Stack as usize].truncate(count);
    }

    /// What an address points into, one past an object's end included.
    pub fn place(&self, address: u64) -> Place {
        if address == 0 {
            return Place::Null;
        }
        if let Some((region, index)) = self.find(address) {
            let object = &self.regions[region as usize][index];
            if object.live && address - object.base <= object.size {
                return Place::Object(region, index, address - object.base);
            }
        }
        match self.function_at(address) {
            Some(function) => Place::Function(function),
            None => Place::Nowhere,
        }
    }

    /// The function at an address.
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        let offset = address.checked_sub(FUNCTION_REGION)?;
        let index = offset / FUNCTION_STEP;
        let is_one = offset.is_multiple_of(FUNCTION_STEP) && index < self.function_count;
        is_one.then(|| FuncId::from_index(index as usize))
    }

    /// The last object that begins at or before an address.
    fn find(&self, address: u64) -> Option<(Region, usize)> {
        let region = match address {
            HEAP_REGION.. => Region::Heap,
            STACK_REGION.. => Region::Stack,
            INPUT_REGION.. => Region::Input,
            GLOBAL_REGION.. => Region::Global,
            _ => return None,
        };
        let objects = &self.regions[region as usize];
        let after = objects.partition_point(|object| object.base <= address);
        Some((region, after.checked_sub(1)?))
    }

    /// The object and offset of `len` bytes that can be reached.
    fn reach(&self, address: u64, len: u64) -> Result<(Region, usize, usize), TrapKind> {
        let kind = match address < NULL_PAGE {
            true => TrapKind::NullDereference,
            false => TrapKind::OutOfBounds,
        };
        let (region, index) = self.find(address).ok_or(kind)?;
        let object = &self.regions[region as usize][index];
        let offset = address - object.base;
        let inside = offset.checked_add(len).is_some_and(|end| end <= object.size);
        if object.live && inside { Ok((region, index, offset as usize)) } else { Err(kind) }
    }

    /// A little-endian number of up to 16 bytes, and whether all its bytes were written.
    ///
    /// # Errors
    /// Where the bytes cannot be reached.
    pub fn load(&self, address: u64, len: u64) -> Result<(u128, bool), TrapKind> {
        let (region, index, at) = self.reach(address, len)?;
        let object = &self.regions[region as usize][index];
        let len = len as usize;
        let mut raw = [0; 16];
        raw[..len].copy_from_slice(&object.bytes[at..at + len]);
        Ok((u128::from_le_bytes(raw), object.is_written(at, len)))
    }

    /// Writes a little-endian number of up to 16 bytes.
    pub(super) fn store(&mut self, address: u64, len: u64, value: u128) -> Result<(), TrapKind> {
        self.write(address, &value.to_le_bytes()[..len as usize])
    }

    /// Bytes with what is known of their having been written.
    pub(super) fn read(&self, address: u64, len: u64) -> Result<Bytes, TrapKind> {
        if len == 0 {
            return Ok(Bytes { bytes: Vec::new(), written: None });
        }
        let (region, index, at) = self.reach(address, len)?;
        let object = &self.regions[region as usize][index];
        let range = at..at + len as usize;
        let written = object.written.as_ref().map(|written| written[range.clone()].to_vec());
        Ok(Bytes { bytes: object.bytes[range].to_vec(), written })
    }

    /// Bytes of which all count as written afterwards.
    pub(super) fn write(&mut self, address: u64, bytes: &[u8]) -> Result<(), TrapKind> {
        let (object, at) = match self.writable(address, bytes.len() as u64)? {
            Some(found) => found,
            None => return Ok(()),
        };
        object.bytes[at..at + bytes.len()].copy_from_slice(bytes);
        object.set_written(at, bytes.len());
        Ok(())
    }

    /// Sets bytes to one value.
    pub(super) fn fill(&mut self, address: u64, len: u64, byte: u8) -> Result<(), TrapKind> {
        if let Some((object, at)) = self.writable(address, len)? {
            object.bytes[at..at + len as usize].fill(byte);
            object.set_written(at, len as usize);
        }
        Ok(())
    }

    /// Bytes that keep being written or not.
    pub(super) fn write_as_read(&mut self, address: u64, from: &Bytes) -> Result<(), TrapKind> {
        self.write(address, &from.bytes)?;
        let Some(written) = &from.written else { return Ok(()) };
        self.set_which_written(address, written)
    }

    /// Makes bytes count as never written.
    pub(super) fn forget_written(&mut self, address: u64, len: u64) -> Result<(), TrapKind> {
        self.set_which_written(address, &vec![false; len as usize])
    }

    fn set_which_written(&mut self, address: u64, written: &[bool]) -> Result<(), TrapKind> {
        if let Some((object, at)) = self.writable(address, written.len() as u64)? {
            let size = object.size as usize;
            let all = object.written.get_or_insert_with(|| vec![true; size]);
            all[at..at + written.len()].copy_from_slice(written);
        }
        Ok(())
    }

    /// The object and offset of bytes that may be written; `None` for no bytes.
    fn writable(
        &mut self,
        address: u64,
        len: u64,
    ) -> Result<Option<(&mut Object, usize)>, TrapKind> {
        if len == 0 {
            return Ok(None);
        }
        let (region, index, at) = self.reach(address, len)?;
        let object = &mut self.regions[region as usize][index];
        if object.read_only { Err(TrapKind::ReadOnly) } else { Ok(Some((object, at))) }
    }
}
