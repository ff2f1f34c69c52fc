//! Byte-exact memory with typed cells.
//!
//! Memory is a set of objects at concrete base addresses, far apart. An object's bytes are a sorted
//! list of cells over a background, which gives the bytes between cells. A cell is the term that
//! was last stored at its offset, with its size. A load that matches a cell returns the stored
//! term; any other load is put together byte by byte.
//!
//! Persistence: tables and objects are shared by reference count, and copied when a state that
//! shares them writes. Cells are plain words, so a copy is a `memcpy`. A fork changes as many
//! counts as there are regions.
//!
//! Invariants: cells of one object never overlap and are sorted by offset. Objects of one region
//! are sorted by base address, except those of [`Region::Lazy`]. Objects that the engine places are
//! at least [`MIN_GAP`] apart.

mod access;
mod cells;
mod definedness;
pub(crate) mod difference;
mod either;
mod facts;
mod lazy;
mod resolve;
mod rows;
mod shared_list;

use std::sync::Arc;

use lydian_smt::Term;
use shared_list::SharedList;

pub use access::{AccessKind, Window, range_within, within_count};
pub use cells::{
    Background, Cell, Contents, LEFT_BY_ASSEMBLY, depends_on_undefined, mentions_kind,
    mentions_other_than, undetermined,
};
pub use definedness::definedness;
pub use facts::Facts;
pub(crate) use lazy::is_followed;
pub use lazy::{AccessPlace, AccessRanges, distance};
pub use resolve::{
    AddressTarget, Candidate, Expansion, Knowledge, Offset, PointerPlace, Resolution, ScaledOffset,
    choice_of, flatten_address, in_region, mentions,
};

use lydian_inputs::lazy::{LazyObject, REACH, REGION as LAZY, ROOM};
pub use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE};

/// The least distance, in bytes, of two objects that the engine places.
pub const MIN_GAP: u64 = 1 << 16;
/// The alignment of each allocated block, in bytes.
pub(crate) const HEAP_ALIGNMENT: u64 = 16;

const GLOBALS: u64 = 0x10_0000_0000_0000;
const FUNCTIONS: u64 = 0x20_0000_0000_0000;
const DYNAMIC: u64 = 0x30_0000_0000_0000;
const REGION_BYTES: u64 = 0x10_0000_0000_0000;
/// The distance between the addresses of two functions.
const FUNCTION_STRIDE: u64 = 1 << 16;

/// The part of the address space that an object lies in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Region {
    /// Objects that input pointers point to.
    Input,
    /// Variables of static storage duration.
    Global,
    /// Automatic variables and allocated blocks.
    Dynamic,
    /// Lazy objects of the inputs ([`lydian_inputs::lazy`]). Each has [`ROOM`] bytes of addresses
    /// for itself; they are ordered by their creation.
    Lazy,
}

const REGIONS: [Region; 4] = [Region::Input, Region::Global, Region::Dynamic, Region::Lazy];

impl Region {
    const fn start(self) -> u64 {
        match self {
            Self::Input => INPUT_REGION,
            Self::Global => GLOBALS,
            Self::Dynamic => DYNAMIC,
            Self::Lazy => LAZY,
        }
    }

    const fn bytes(self) -> u64 {
        match self {
            Self::Input => INPUT_REGION_SIZE,
            Self::Lazy => LAZY,
            _ => REGION_BYTES,
        }
    }

    /// The region that contains an address.
    pub fn of(address: u64) -> Option<Self> {
        REGIONS
            .into_iter()
            .find(|region| address >= region.start() && address - region.start() < region.bytes())
    }
}

/// The number of an object in a [`Memory`]. It stays valid in forks of the state that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    region: Region,
    index: u32,
}

/// The origin of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// An input pointer points to it.
    Input,
    /// A variable of static storage duration.
    Global,
    /// An automatic variable.
    Local,
    /// Allocated by the program under test.
    Heap,
    /// A standard stream, with contents that only the C library knows.
    Stream,
    /// A lazy object: an input pointer points to it, and it came into being on the path.
    Lazy,
}

impl ObjectKind {
    const fn region(self) -> Region {
        match self {
            Self::Input => Region::Input,
            Self::Global | Self::Stream => Region::Global,
            Self::Local | Self::Heap => Region::Dynamic,
            Self::Lazy => Region::Lazy,
        }
    }
}

/// A contiguous piece of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// Its first address.
    pub base: u64,
    /// A power of two that divides its address in each run of the program.
    pub alignment: u64,
    /// The bytes reserved for it.
    pub size: u64,
    /// The number of its bytes that belong to it, a 64-bit term, where that depends on the input.
    /// `None` where all do.
    pub length: Option<Term>,
    /// Its origin.
    pub kind: ObjectKind,
    /// Whether its lifetime has begun and not ended.
    pub alive: bool,
    /// Whether a write to it is a trap.
    pub read_only: bool,
    /// Its name for a C programmer.
    pub name: Arc<str>,
    /// Its bytes.
    pub contents: Contents,
    /// Its first contents, if it is a lazy object; then its contents lie around
    /// [`REACH`](lydian_inputs::lazy::REACH), wherever the object is.
    pub first: Option<Arc<LazyObject>>,
    /// The bytes of its first contents that the path accessed.
    pub touched: AccessRanges,
}

impl Object {
    /// Whether it is an object of the inputs whose contents are not known since a write that is not
    /// followed. Nothing that depends on them is claimed, and a call writes nothing to it: the test has
    /// only as many of its bytes as the path needs.
    pub fn is_lost(&self) -> bool {
        let is_lazy = matches!(self.contents.background(), Background::Lazy { .. });
        self.first.is_some() && !is_lazy
    }

    /// The place of its first byte as a block: a block of the inputs begins with its first element.
    pub fn start(&self) -> u64 {
        self.first.as_ref().map_or(0, |first| REACH.wrapping_add_signed(first.own.origin))
    }
}

/// The properties of a new object.
#[derive(Clone, Debug)]
pub struct NewObject {
    /// The bytes reserved for it.
    pub size: u64,
    /// A power of two that divides its address in each run of the program.
    pub alignment: u64,
    /// The number of its bytes that belong to it, if that depends on the input.
    pub length: Option<Term>,
    /// Its origin.
    pub kind: ObjectKind,
    /// Whether a write to it is a trap.
    pub read_only: bool,
    /// Its name for a C programmer.
    pub name: Arc<str>,
    /// Its first contents.
    pub contents: Contents,
}

#[derive(Clone, Debug)]
struct Table {
    objects: SharedList<Object>,
    next: u64,
}

/// The memory of one state.
#[derive(Clone, Debug)]
pub struct Memory {
    tables: [Table; REGIONS.len()],
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Memory {
    /// Whether both have the same objects with the same contents, and would place new objects
    /// alike.
    pub fn is_same(&self, other: &Self) -> bool {
        self.tables.iter().zip(&other.tables).all(|(a, b)| {
            let same = |(a, b): (&Arc<Object>, &Arc<Object>)| Arc::ptr_eq(a, b) || a == b;
            a.next == b.next
                && a.objects.len() == b.objects.len()
                && (a.objects.is_shared_with(&b.objects)
                    || a.objects.iter().zip(b.objects.iter()).all(same))
        })
    }

    /// Memory without objects.
    pub fn new() -> Self {
        let table = |region: Region| Table {
            objects: SharedList::default(),
            next: region.start() + MIN_GAP,
        };
        Self { tables: REGIONS.map(table) }
    }

    /// Adds an object where there is room, and returns its id. `None` where its region has no room
    /// left.
    pub fn allocate(&mut self, new: NewObject) -> Option<ObjectId> {
        let base = self.tables[new.kind.region() as usize].next;
        self.allocate_at(base, new)
    }

    /// Adds an object at an address behind all objects of its region. `None` where that is not
    /// within the region.
    pub fn allocate_at(&mut self, base: u64, new: NewObject) -> Option<ObjectId> {
        let region = new.kind.region();
        let table = &mut self.tables[region as usize];
        let end = base.checked_add(new.size)?;
        let next = end.checked_add(MIN_GAP)?.checked_next_multiple_of(MIN_GAP)?;
        let behind = region == Region::Lazy
            || table.objects.last().is_none_or(|last| last.base + last.size <= base);
        if !behind || base < region.start() || end > region.start() + region.bytes() {
            return None;
        }
        table.next = next;
        let index = u32::try_from(table.objects.len()).ok()?;
        table.objects.push(Arc::new(Object {
            base,
            alignment: new.alignment,
            size: new.size,
            length: new.length,
            kind: new.kind,
            alive: true,
            read_only: new.read_only,
            name: new.name,
            first: match new.contents.background() {
                Background::Lazy { object, .. } => Some(object.clone()),
                _ => None,
            },
            contents: new.contents,
            touched: AccessRanges::default(),
        }));
        Some(ObjectId { region, index })
    }

    /// An object.
    pub fn object(&self, id: ObjectId) -> &Object {
        &self.tables[id.region as usize].objects[id.index as usize]
    }

    /// An object, to be changed in this state alone.
    pub fn object_mut(&mut self, id: ObjectId) -> &mut Object {
        self.tables[id.region as usize].objects.get_mut(id.index as usize)
    }

    /// All lazy objects, wherever they are now, dead or alive.
    pub fn inputs(&self) -> impl Iterator<Item = &Object> {
        let regions = [Region::Lazy, Region::Dynamic].into_iter();
        let objects = regions.flat_map(|region| self.tables[region as usize].objects.iter());
        objects.map(|object| &**object).filter(|object| object.first.is_some())
    }

    /// All objects of a region, ordered by address; lazy ones by creation.
    pub fn objects(&self, region: Region) -> impl Iterator<Item = (ObjectId, &Object)> {
        let objects = self.tables[region as usize].objects.iter().enumerate();
        objects.map(move |(index, object)| (ObjectId { region, index: index as u32 }, &**object))
    }

    /// The objects of all regions.
    pub fn all_objects(&self) -> impl Iterator<Item = &Object> {
        self.tables.iter().flat_map(|table| table.objects.iter()).map(|object| &**object)
    }

    /// Ends the life of a lazy object, and makes a new one with its contents. Returns the new
    /// object's first address; `None` where there is no room. At most `length` bytes from the first
    /// on belong to the new object, and none before [`REACH`](lydian_inputs::lazy::REACH).
    pub fn move_input(&mut self, old: ObjectId, length: Term, name: &str) -> Option<u64> {
        let Object { contents, first, touched, .. } = self.object(old).clone();
        let new = self.allocate(NewObject {
            size: ROOM,
            alignment: HEAP_ALIGNMENT,
            length: Some(length),
            kind: ObjectKind::Heap,
            read_only: false,
            name: name.into(),
            contents,
        })?;
        self.release(old);
        let old = self.object_mut(old);
        (old.first, old.touched) = (None, AccessRanges::default());
        let new = self.object_mut(new);
        (new.first, new.touched) = (first, touched);
        Some(new.base)
    }

    /// Ends an object's lifetime. Its address is not used again.
    pub fn release(&mut self, id: ObjectId) {
        let table = &mut self.tables[id.region as usize];
        let objects = &mut table.objects;
        let is_last = id.region == Region::Dynamic && id.index as usize + 1 == objects.len();
        // Tests still need the accessed bytes of an input object, and the lengths of its blocks.
        let object = &objects[id.index as usize];
        if is_last && object.first.is_none() && object.length.is_none() {
            objects.pop();
            return;
        }
        let object = objects.get_mut(id.index as usize);
        object.alive = false;
        object.contents = Contents::new(Background::Zero);
    }

    /// The object, dead or alive, that contains an address or ends there; otherwise the nearest
    /// within [`MIN_GAP`] / 2.
    pub fn object_near(&self, address: u64) -> Option<ObjectId> {
        let region = Region::of(address)?;
        let objects = &self.tables[region as usize].objects;
        let id = |index: usize| ObjectId { region, index: index as u32 };
        if region == Region::Lazy {
            let base = address / ROOM * ROOM;
            return objects.iter().position(|object| object.base == base).map(id);
        }
        let after = objects.partition_point(|object| object.base <= address);
        let before = after.checked_sub(1);
        let past = before.map(|index| {
            let object = &objects[index];
            address.saturating_sub(object.base + object.size)
        });
        let ahead = (after < objects.len()).then(|| objects[after].base - address);
        match (past, ahead) {
            (Some(past), _) if past <= ahead.unwrap_or(u64::MAX).min(MIN_GAP / 2) => before.map(id),
            (_, Some(ahead)) if ahead <= MIN_GAP / 2 => Some(id(after)),
            _ => None,
        }
    }

    /// The live object that contains the address or ends there.
    pub fn object_at(&self, address: u64) -> Option<ObjectId> {
        let id = self.object_near(address)?;
        let object = self.object(id);
        let inside = address >= object.base && address - object.base <= object.size;
        (object.alive && inside).then_some(id)
    }

    /// The live object of known size with plain bytes that contains `size` bytes at an address, and
    /// their offset in it.
    pub fn known_place(&self, address: u64, size: u64) -> Option<(&Object, u64)> {
        let object = self.object(self.object_at(address)?);
        let offset = address - object.base;
        let fits = size <= object.size - offset;
        let is_known = object.length.is_none() && object.kind != ObjectKind::Stream;
        (fits && is_known).then_some((object, offset))
    }

    /// Whether the memories of two states are shared, for tests.
    #[cfg(test)]
    fn shares_with(&self, other: &Self) -> bool {
        let pairs = self.tables.iter().zip(&other.tables);
        pairs.into_iter().all(|(a, b)| a.objects.is_shared_with(&b.objects))
    }
}

/// The addresses of globals of these sizes, in order, as [`Memory::allocate`] would choose them.
pub fn global_addresses(sizes: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut next = GLOBALS + MIN_GAP;
    sizes
        .map(|size| {
            let base = next;
            next = base.saturating_add(size).saturating_add(MIN_GAP).next_multiple_of(MIN_GAP);
            base
        })
        .collect()
}

/// The address of a function, by its position in the program.
pub const fn function_address(index: usize) -> u64 {
    FUNCTIONS + (index as u64 + 1) * FUNCTION_STRIDE
}

/// The position of the function with this address.
pub const fn function_at(address: u64) -> Option<usize> {
    if address <= FUNCTIONS || address >= FUNCTIONS + REGION_BYTES {
        return None;
    }
    let offset = address - FUNCTIONS;
    if !offset.is_multiple_of(FUNCTION_STRIDE) {
        None
    } else {
        Some((offset / FUNCTION_STRIDE - 1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn local(size: u64) -> NewObject {
        NewObject {
            size,
            alignment: 1,
            length: None,
            kind: ObjectKind::Local,
            read_only: false,
            name: "x".into(),
            contents: Contents::new(Background::Zero),
        }
    }

    #[test]
    fn a_fork_shares_every_object_until_one_side_writes() {
        let mut memory = Memory::new();
        let id = memory.allocate(local(4)).unwrap();
        let mut fork = memory.clone();
        assert!(fork.shares_with(&memory));
        fork.object_mut(id).read_only = true;
        assert!(!fork.shares_with(&memory));
        assert!(!memory.object(id).read_only);
    }

    #[test]
    fn an_address_leads_to_the_object_that_holds_it_and_to_none_after_its_life() {
        let mut memory = Memory::new();
        let (first, second) = (memory.allocate(local(4)), memory.allocate(local(100_000)));
        let (first, second) = (first.unwrap(), second.unwrap());
        let base = memory.object(second).base;
        assert_eq!(memory.object_at(base + 99_999), Some(second));
        assert_eq!(memory.object_at(memory.object(first).base), Some(first));
        assert_eq!(memory.object_at(base - 1), None);
        memory.release(second);
        assert_eq!(memory.object_at(base), None);
        let third = memory.allocate(local(8)).unwrap();
        assert!(memory.object(third).base > base, "addresses are not used twice");
    }

    #[test]
    fn a_function_is_found_by_its_address() {
        assert_eq!(function_at(function_address(7)), Some(7));
        assert_eq!(function_at(function_address(7) + 1), None);
        assert_eq!(function_at(0), None);
    }
}
