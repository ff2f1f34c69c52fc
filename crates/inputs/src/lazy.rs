//! Lazy initialisation: input memory that is created when a path first accesses it.
//!
//! A pointer among the inputs is *null or an address*: `ite(null(p), 0, at(p))`, where `at(p)` has bits
//! of its own and lies in [`REGION`]. Nothing restricts the address before a path accesses its target.
//! Then an engine decides between two cases:
//! - the *home* of the pointer, an object of its own that no other pointer leads to;
//! - a place within an object that the path already has.
//!
//! An object has no size: its bytes are symbols that are made when they are first read, within
//! [`REACH`] on either side of the pointer's target. The accesses of the path decide which of its bytes
//! a test has.
//!
//! The object's element type cuts its bytes into parts, repeatedly ([`Shape`]). The first elements
//! ([`LISTED`]) have a symbol for each part. For all others there is one array symbol for each part, so
//! that elements at input-dependent indices can be read and written. The place alone decides which of
//! the two a part is, so every path that reads it sees the same value.
//!
//! Symbols have the names of their places in C. The same name means the same value in each pool and on
//! each path. So do the addresses of homes, which are computed from names.

mod address_numbers;
mod object;
pub mod shape;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lydian_base::EntityId;
use lydian_ir::{CType, CTypeId, CTypes, FuncId, IntKind, Type};
use lydian_smt::{BinOp, Node, Sort, Structures, Term, TermPool, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

pub use object::{Elements, LazyObject, Placement, Row};
use object::{ObjectKey, ObjectLayout, ObjectName};

use crate::lazy::shape::{PartKind, Shape, Values};
use crate::value::sort_of;

/// First address of the region for lazily initialised objects.
pub const REGION: u64 = 1 << 62;
/// Bytes that are reserved for one object, whose address is a multiple of it.
pub const ROOM: u64 = 1 << 31;
/// Bytes that an object has on either side of its pointer's target.
pub const REACH: u64 = ROOM / 2;
/// The number of homes.
const HOMES: u64 = REGION / ROOM;
/// The number of values of a row that are symbols of their own: for rows without gaps, for rows with a
/// value in each element of the object, and for rows of arrays within an element.
const LISTED: [u64; 3] = [16, 4, 16];
/// Width of the indexes of array symbols.
pub const INDEX_BITS: u32 = 34;
/// Bytes between the addresses of two functions, at the end of an object's room.
const FUNCTION_BYTES: u64 = 16;
/// The depth below which pointers are null by default.
const PLAIN_DEPTH: u32 = 2;
/// The length of texts by default.
const PLAIN_TEXT: i64 = 3;

/// A pointer among the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerInput {
    /// The name of its place in C.
    pub place: Arc<str>,
    /// Its type.
    pub ty: CTypeId,
    /// The number of pointers on the way to it.
    pub depth: u32,
    /// Its home.
    pub home: u64,
    /// The source of its address.
    pub source: AddressSource,
}

/// The source of the address of a pointer among the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressSource {
    /// A symbol of its own, shifted by some bits.
    Symbol(Term, u32),
    /// Bits of a row, which may also be those of null, a function, a variable or a number; with the
    /// condition under which they stand for this pointer.
    Row(Term),
    /// Bits that no type declares to be a pointer.
    Bits,
}

impl PointerInput {
    /// Whether its bits are computed from others, so that it may equal another pointer although it lies
    /// at another place.
    pub const fn is_derived(&self) -> bool {
        self.symbol().is_none()
    }

    /// The symbol that its address is made of, and the number of bits by which it is shifted, if there
    /// is one.
    pub const fn symbol(&self) -> Option<(Term, u32)> {
        match self.source {
            AddressSource::Symbol(symbol, shift) => Some((symbol, shift)),
            AddressSource::Row(_) | AddressSource::Bits => None,
        }
    }
}

/// The lazily initialised input memory of one exploration: its pointers, and the objects in their
/// homes. Clones share it. It only grows, and the meaning of a name never changes.
#[derive(Clone, Debug, Default)]
pub struct LazyInputs {
    tables: Arc<Mutex<Tables>>,
}

/// A variable that pointers of a type may lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalPlace {
    /// Its name.
    pub name: String,
    /// The address of the first place.
    pub address: u64,
    /// Bytes from one place to the next.
    pub stride: u64,
    /// The number of places.
    pub count: u64,
}

/// The facts about pointers of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerType {
    /// The number of low bits of its values that are zero.
    pub aligned: u32,
    /// The variables that it may lead to, as far as the program shows them.
    pub globals: Vec<GlobalPlace>,
    /// The functions that it may lead to, if it leads to functions: names and addresses.
    pub functions: Vec<(String, u64)>,
    /// Numbers that it may be although no object lies there: those that the program compares pointers
    /// with (`p == MAP_FAILED`).
    pub numbers: Vec<u64>,
    /// Whether the lists above are incomplete.
    pub leaves_out: bool,
}

impl PointerType {
    /// The constants that it may be besides null and addresses of objects of the inputs, without the
    /// places in variables.
    fn constants(&self) -> impl Iterator<Item = u64> {
        self.functions.iter().map(|(_, address)| *address).chain(self.numbers.iter().copied())
    }

    /// The functions, places in variables and numbers that some bits may be: the condition for each,
    /// and its value.
    fn targets(&self, pool: &mut TermPool, bits: Term) -> Vec<(Term, Term)> {
        let mut targets = Vec::new();
        for global in &self.globals {
            let leads = global.is_at(pool, bits);
            let first = pool.bv(64, global.address);
            let distance = pool.sub(bits, first);
            let address = if global.count <= 1 { first } else { pool.add(first, distance) };
            targets.push((leads, address));
        }
        for number in self.constants() {
            let number = pool.bv(64, number);
            targets.push((pool.eq(bits, number), number));
        }
        targets
    }

    /// The pointer that some bits of an array's element stand for. Bits that no pointer can have stand
    /// for another pointer.
    pub(crate) fn canonical(&self, bits: u64) -> u64 {
        let is_known = bits == 0
            || self.constants().any(|number| number == bits)
            || self.globals.iter().any(|global| global.has(bits));
        match self.functions.first() {
            _ if is_known => bits,
            Some((_, first)) => *first,
            None => REGION | bits & (REGION - 1),
        }
    }
}

impl GlobalPlace {
    /// Whether an address is that of one of its places.
    fn has(&self, address: u64) -> bool {
        let distance = address.wrapping_sub(self.address);
        distance == 0 || distance < self.count * self.stride && distance.is_multiple_of(self.stride)
    }

    /// The same for an address that depends on the input.
    fn is_at(&self, pool: &mut TermPool, address: Term) -> Term {
        let first = pool.bv(64, self.address);
        if self.count <= 1 {
            return pool.eq(address, first);
        }
        let (bytes, stride) = (pool.bv(64, self.count * self.stride), pool.bv(64, self.stride));
        let distance = pool.sub(address, first);
        let inside = pool.ult(distance, bytes);
        let (rest, zero) = (pool.urem(distance, stride), pool.bv(64, 0));
        let is_first_byte = pool.eq(rest, zero);
        pool.and(inside, is_first_byte)
    }
}

#[derive(Debug, Default)]
struct Tables {
    types: FxHashMap<CTypeId, Arc<PointerType>>,
    /// The address that is made of each symbol.
    symbols: FxHashMap<Term, Term>,
    /// The pointers by the terms of their addresses.
    pointers: FxHashMap<Term, Arc<PointerInput>>,
    objects: FxHashMap<ObjectKey, Arc<LazyObject>>,
    /// The rooms by their numbers.
    rooms: FxHashMap<u64, Room>,
    structures: Structures,
    /// Symbols that may be the bits of a pointer although no type says so.
    raw: FxHashSet<Term>,
    shapes: FxHashMap<CTypeId, Arc<Shape>>,
    /// By address: functions that pointers lead to whose types do not say that they lead to functions.
    functions: FxHashMap<u64, FuncId>,
    /// Whether a pointer was made whose possible targets are incomplete.
    leaves_out: bool,
}

/// A pointer among the inputs with its terms.
#[derive(Clone, Debug)]
pub struct PointerEntry {
    /// The pointer.
    pub pointer: Arc<PointerInput>,
    /// The term of its address.
    pub address: Term,
    /// The symbol that says whether it is null; none if it cannot be.
    pub is_null: Option<Term>,
}

/// The pointers that lead into a room, and the objects in it.
#[derive(Debug, Default)]
struct Room {
    pointers: Vec<Arc<PointerInput>>,
    objects: Vec<Arc<LazyObject>>,
}

impl Tables {
    /// Registers an address as a pointer, if it is not registered yet. Returns the registered pointer.
    fn add_pointer(&mut self, address: Term, pointer: PointerInput) -> Arc<PointerInput> {
        let Self { pointers, rooms, .. } = self;
        let known = pointers.entry(address).or_insert_with(|| {
            let pointer = Arc::new(pointer);
            rooms.entry(pointer.home / ROOM).or_default().pointers.push(pointer.clone());
            pointer
        });
        known.clone()
    }
}

/// Whether an address lies in the room of the object with a home.
pub(crate) const fn is_in_room(home: u64, address: u64) -> bool {
    home / ROOM == address / ROOM
}

/// The home of a pointer with a name.
fn home_of(name: &str) -> u64 {
    // FNV-1a: it gives the same in each process, and the few names of a function do not collide.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    REGION + (hash ^ hash >> 32) % HOMES * ROOM + REACH
}

/// Null, or the address of one of some functions, by default the first.
fn function_pointer(
    pool: &mut TermPool,
    place: &str,
    null: Term,
    functions: &[(String, u64)],
) -> Term {
    let mut value = None;
    for (name, address) in functions {
        let address = pool.bv(64, *address);
        value = Some(match value {
            None => address,
            Some(others) => {
                let leads = pool.var(&format!("{place} == {name}"), Sort::Bool);
                pool.ite(leads, address, others)
            }
        });
    }
    let zero = pool.bv(64, 0);
    pool.ite(null, zero, value.unwrap_or(zero))
}

/// The value of a pointer, or one of the numbers that it may be instead of an address.
fn or_a_number(pool: &mut TermPool, place: &str, value: Term, numbers: &[u64]) -> Term {
    numbers.iter().fold(value, |value, number| {
        let is_it = pool.var(&format!("{place} == {number:#x}"), Sort::Bool);
        let number = pool.bv(64, *number);
        pool.ite(is_it, number, value)
    })
}

/// The address of a place of a global; the input decides which place.
fn place_in(pool: &mut TermPool, pointer: &str, global: &GlobalPlace) -> Term {
    let first = pool.bv(64, global.address);
    if global.count <= 1 {
        return first;
    }
    let bits = u64::BITS - (global.count - 1).leading_zeros();
    let name = format!("{pointer} in {}", global.name);
    let number = symbol_of(pool, &name, Sort::BitVec(bits), 0);
    let (count, zero) = (pool.bv(bits, global.count), pool.bv(bits, 0));
    let number = match global.count.is_power_of_two() {
        true => number,
        false => {
            let inside = pool.ult(number, count);
            pool.ite(inside, number, zero)
        }
    };
    let wide = pool.zext(number, 64);
    let stride = pool.bv(64, global.stride);
    let distance = pool.mul(wide, stride);
    pool.add(first, distance)
}

/// The symbol of a name. If a symbol of another sort has the name, the sort is added to it.
fn symbol_of(pool: &mut TermPool, name: &str, sort: Sort, default: u64) -> Term {
    let taken = pool.find_var(name).is_some_and(|known| pool.sort(known) != sort);
    let with_sort = taken.then(|| format!("{name}:{sort}"));
    let name = with_sort.as_deref().unwrap_or(name);
    match sort.is_small() {
        true => pool.var_with_default(name, sort, default),
        false => pool.var(name, sort),
    }
}

/// A small number that differs from place to place, so that two inputs rarely have the same default.
pub(crate) fn telling(name: &str) -> u64 {
    name.bytes().fold(7u64, |number, byte| number * 31 % 8191 + u64::from(byte)) % 90 + 2
}

impl LazyInputs {
    /// No pointer yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with facts about the pointers of some types.
    pub fn with_types(types: impl IntoIterator<Item = (CTypeId, PointerType)>) -> Self {
        let new = Self::default();
        new.tables().types = types.into_iter().map(|(id, ty)| (id, Arc::new(ty))).collect();
        new
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a pointer at a place among the inputs, which may be null.
    pub fn pointer(
        &self,
        pool: &mut TermPool,
        place: &str,
        ty: CTypeId,
        depth: u32,
        may_be_null: bool,
    ) -> Term {
        let known = self.type_of(ty);
        self.tables().leaves_out |= known.leaves_out;
        let absent = u64::from(depth > PLAIN_DEPTH);
        let null = match may_be_null {
            true => pool.var_with_default(&format!("null({place})"), Sort::Bool, absent),
            false => pool.ff(),
        };
        if !known.functions.is_empty() {
            let value = function_pointer(pool, place, null, &known.functions);
            return or_a_number(pool, place, value, &known.numbers);
        }
        let (home, shift) = (home_of(place), known.aligned);
        let name = format!("at({place})");
        let symbol = symbol_of(pool, &name, Sort::BitVec(62 - shift), home >> shift);
        let bits = match shift {
            0 => symbol,
            _ => {
                let zeros = pool.bv(shift, 0);
                pool.concat(symbol, zeros)
            }
        };
        let source = AddressSource::Symbol(symbol, shift);
        let pointer = PointerInput { place: place.into(), ty, depth, home, source };
        let mut value = self.null_or_address(pool, [null, bits], pointer);
        for global in &known.globals {
            let leads = pool.var(&format!("{place} == &{}", global.name), Sort::Bool);
            let address = place_in(pool, place, global);
            value = pool.ite(leads, address, value);
        }
        or_a_number(pool, place, value, &known.numbers)
    }

    /// Null, or the address in the region with these 62 bits, which is registered as a pointer's.
    fn null_or_address(
        &self,
        pool: &mut TermPool,
        [null, bits]: [Term; 2],
        pointer: PointerInput,
    ) -> Term {
        let high = pool.bv(2, REGION >> 62);
        let address = pool.concat(high, bits);
        let mut tables = self.tables();
        if let Some((symbol, _)) = pointer.symbol() {
            tables.symbols.insert(symbol, address);
        }
        tables.add_pointer(address, pointer);
        drop(tables);
        let zero = pool.bv(64, 0);
        pool.ite(null, zero, address)
    }

    /// The facts about pointers of a type.
    pub(crate) fn type_of(&self, ty: CTypeId) -> Arc<PointerType> {
        self.tables().types.get(&ty).cloned().unwrap_or_default()
    }

    /// Whether some possible variables, functions or numbers of a pointer were left out because there
    /// are too many.
    pub fn leaves_targets_out(&self) -> bool {
        self.tables().leaves_out
    }

    /// The pointer with an address, if there is one.
    pub fn pointer_at(&self, address: Term) -> Option<Arc<PointerInput>> {
        self.tables().pointers.get(&address).cloned()
    }

    /// All pointers that there are, in the order of their addresses' terms.
    pub fn pointers(&self, pool: &TermPool) -> Vec<PointerEntry> {
        let tables = self.tables();
        let all = tables.pointers.iter();
        let entry = |(address, pointer): (&Term, &Arc<PointerInput>)| PointerEntry {
            pointer: pointer.clone(),
            address: *address,
            is_null: pool.find_var(&format!("null({})", pointer.place)),
        };
        let mut all: Vec<PointerEntry> = all.map(entry).collect();
        drop(tables);
        all.sort_by_key(|entry| entry.address);
        all
    }

    /// Whether an address is the value of a pointer.
    pub fn is_pointer(&self, address: Term) -> bool {
        self.tables().pointers.contains_key(&address)
    }

    /// A pointer whose address a value is made of, if there is one.
    pub fn pointer_within(&self, pool: &mut TermPool, value: Term) -> Option<Arc<PointerInput>> {
        let vars = pool.vars_of(value);
        let is_address = |var: &&Term| pool.var_name(**var).is_some_and(|n| n.starts_with("at("));
        let symbol = *vars.iter().find(is_address)?;
        let address = self.tables().symbols.get(&symbol).copied()?;
        self.pointer_at(address)
    }

    /// Whether a term is a symbol that may be the bits of a pointer although no type says so.
    pub fn is_raw_symbol(&self, term: Term) -> bool {
        self.tables().raw.contains(&term)
    }

    /// Whether an address is computed from the bits of pointers among the inputs but is none of them:
    /// from a union's bytes, say, or from a pointer with its lowest bits cleared.
    pub fn is_raw(&self, pool: &mut TermPool, address: Term) -> bool {
        let vars = pool.vars_of(address);
        let tables = self.tables();
        let is_bits = |var: &Term| {
            let name = pool.var_name(*var).unwrap_or_default();
            tables.raw.contains(var) || name.starts_with("at(") || name.starts_with("null(")
        };
        !vars.is_empty() && vars.iter().all(is_bits)
    }

    /// Whether a value has bits of the address of an object of the inputs. `is_followed` tells whether
    /// the path used given bits as a pointer.
    pub fn shows_an_address(
        &self,
        pool: &mut TermPool,
        value: Term,
        is_followed: impl Fn(Term) -> bool,
    ) -> bool {
        let vars = pool.vars_of(value);
        let tables = self.tables();
        let is_address = |var: Term| {
            tables.symbols.contains_key(&var) || tables.raw.contains(&var) && is_followed(var)
        };
        if !vars.iter().any(|var| is_address(*var)) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(next) = waiting.pop() {
            match pool.node(next) {
                _ if !seen.insert(next) => {}
                Node::Ite(_, a, b) | Node::Bin(BinOp::Concat, a, b) => waiting.extend([a, b]),
                Node::Extract(whole, _) => waiting.push(whole),
                _ if is_address(next) => return true,
                _ => {}
            }
        }
        false
    }

    /// Whether a value has bits of such an address, but not the whole address as its value.
    pub fn shows_part_of_an_address(
        &self,
        pool: &mut TermPool,
        value: Term,
        is_followed: impl Fn(Term) -> bool,
    ) -> bool {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(next) = waiting.pop() {
            match pool.node(next) {
                _ if !seen.insert(next) || self.is_pointer(next) => {}
                Node::Ite(_, a, b) => waiting.extend([a, b]),
                Node::Bin(BinOp::Concat, ..) | Node::Extract(..)
                    if self.shows_an_address(pool, next, &is_followed) =>
                {
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// The address of a function that the code calls through a pointer whose type does not say that it
    /// leads to a function. No object lies there.
    pub fn function_place(&self, pointer: &PointerInput, function: FuncId) -> u64 {
        let last = pointer.home + REACH - FUNCTION_BYTES;
        let mut tables = self.tables();
        let mut place = last;
        while tables.functions.get(&place).is_some_and(|known| *known != function) {
            place -= FUNCTION_BYTES;
        }
        tables.functions.insert(place, function);
        place
    }

    /// The function that lies at such an address, if one does.
    pub fn function_at(&self, address: u64) -> Option<FuncId> {
        self.tables().functions.get(&address).copied()
    }

    /// Registers a term as a pointer that lies at no place of the inputs.
    pub fn adopt(&self, pool: &TermPool, address: Term, ty: CTypeId) -> Arc<PointerInput> {
        let mut tables = self.tables();
        if let Some(known) = tables.pointers.get(&address) {
            return known.clone();
        }
        let number = tables.structures.of(pool, address);
        let place: Arc<str> = format!("p{number:x}").into();
        let home = home_of(&place);
        let source = AddressSource::Bits;
        let pointer = PointerInput { place, ty, depth: 1, home, source };
        tables.add_pointer(address, pointer)
    }

    /// The objects that some path initialised around an address: one, or several layouts of one.
    pub fn objects_around(&self, address: u64) -> Vec<Arc<LazyObject>> {
        let tables = self.tables();
        let room = tables.rooms.get(&(address / ROOM));
        let mut objects: Vec<_> =
            room.into_iter().flat_map(|room| &room.objects).cloned().collect();
        objects.sort_by_key(|object| object.own.laid());
        objects
    }

    /// The object around an address that possibly no path has accessed: one that was initialised on
    /// some path; else one of the type of the pointer whose home is there; else one whose home is the
    /// address itself, for a pointer of a type that is never followed.
    pub fn object_around(
        &self,
        types: &CTypes,
        address: u64,
        ty: Option<CTypeId>,
    ) -> Option<Arc<LazyObject>> {
        let known = self.objects_around(address).into_iter().next();
        let tables = self.tables();
        let room = tables.rooms.get(&(address / ROOM));
        let pointers = room.into_iter().flat_map(|room| &room.pointers);
        let pointer = pointers.min_by_key(|pointer| (pointer.home, pointer.ty)).cloned();
        drop(tables);
        known.or_else(|| {
            let pointer = pointer.unwrap_or_else(|| {
                let place = format!("object at {address:x}").into();
                let ty = ty.unwrap_or_else(|| CTypeId::from_index(0));
                let home = address / 16 * 16;
                let source = AddressSource::Bits;
                Arc::new(PointerInput { place, ty, depth: PLAIN_DEPTH, home, source })
            });
            let complete = types.pointee(pointer.ty).filter(|ty| types.size(*ty).is_some());
            let is_byte = |ty: &CType| matches!(ty, CType::Int { kind: IntKind::UChar, .. });
            let byte = || types.iter().find(|(_, ty)| is_byte(ty)).map(|(id, _)| id);
            Some(self.object(types, &pointer, (complete.or_else(byte)?, 0)))
        })
    }

    /// Whether a pointer leads into the room of an address, or an object is there.
    pub(crate) fn has_room_of(&self, address: u64) -> bool {
        self.tables().rooms.contains_key(&(address / ROOM))
    }

    /// The shape of a type.
    pub fn shape(&self, types: &CTypes, ty: CTypeId) -> Arc<Shape> {
        let mut tables = self.tables();
        tables.shapes.entry(ty).or_insert_with(|| Arc::new(Shape::of(types, ty))).clone()
    }

    /// The object in a pointer's home, with elements of a type; `of` has the distance of one of them
    /// from the pointer's target.
    pub fn object(&self, types: &CTypes, pointer: &PointerInput, of: Placement) -> Arc<LazyObject> {
        self.object_like(
            types,
            ObjectLayout { home: pointer.home, own: of, behind: &[] },
            ObjectName {
                place: &pointer.place,
                depth: pointer.depth + 1,
                is_derived: pointer.is_derived(),
            },
            None,
        )
    }

    /// The object of which an earlier accessed one is a part. The part has `size` bytes from its first
    /// element on. `of` has the type of the whole object's elements, and the distance of one of them
    /// from the home.
    pub fn object_around_part(
        &self,
        types: &CTypes,
        (part, size): (&Arc<LazyObject>, u64),
        of: Placement,
    ) -> Arc<LazyObject> {
        let layout = ObjectLayout { home: part.home, own: of, behind: &[] };
        self.object_like(types, layout, part.named(), Some((part.clone(), size)))
    }

    /// An earlier accessed object to which elements of another type are added, after its own or before
    /// them, at a distance from its home. Its values hold in both objects.
    pub fn object_with(
        &self,
        types: &CTypes,
        pool: &mut TermPool,
        known: &Arc<LazyObject>,
        of: Placement,
    ) -> Arc<LazyObject> {
        let mut all: SmallVec<[Placement; 2]> = known.all_elements().map(Elements::laid).collect();
        all.insert(all.partition_point(|(_, origin)| *origin < of.1), of);
        let part = known.part().cloned();
        let layout = ObjectLayout { home: known.home, own: all[0], behind: &all[1..] };
        let new = self.object_like(types, layout, known.named(), part);
        for (start, _) in known.known_parts() {
            let (row, number) = new.row_at(start);
            new.element(pool, &row, number);
        }
        new
    }

    /// A fresh value of a kind, with a name of its own, that lies at no place of the inputs.
    pub fn fresh(&self, pool: &mut TermPool, kind: PartKind, name: &str) -> Term {
        self.symbol(pool, kind, (PLAIN_TEXT, 1), name)
    }

    /// The symbol of a part with a name at a depth of pointers. The default of the first characters of
    /// a text are letters.
    fn symbol(
        &self,
        pool: &mut TermPool,
        kind: PartKind,
        (index, depth): (i64, u32),
        name: &str,
    ) -> Term {
        match kind {
            PartKind::Pointer(ty) => self.pointer(pool, name, ty, depth, true),
            PartKind::Raw(size) => {
                let bits = symbol_of(pool, name, Sort::BitVec(size as u32 * 8), 0);
                if size == Type::Ptr.bytes() {
                    self.tables().raw.insert(bits);
                }
                bits
            }
            PartKind::Number(_, Values::Bool) => {
                let bit = symbol_of(pool, name, Sort::BitVec(1), 1);
                pool.zext(bit, 8)
            }
            PartKind::Number(Type::Int(8), _) => {
                let letter = if index < PLAIN_TEXT { 97 + telling(name) % 26 } else { 0 };
                symbol_of(pool, name, Sort::BitVec(8), letter)
            }
            PartKind::Number(machine, _) => match sort_of(machine) {
                sort @ Sort::BitVec(..=64) => symbol_of(pool, name, sort, telling(name)),
                // The symbol stands for the bits, so that a NaN may have any.
                Sort::Float(sort) => {
                    let bits = symbol_of(pool, name, Sort::BitVec(sort.width()), 0);
                    pool.fp_from_bits(sort, bits)
                }
                sort => symbol_of(pool, name, sort, 0),
            },
        }
    }

    fn object_like(
        &self,
        types: &CTypes,
        ObjectLayout { home, own, behind }: ObjectLayout<'_>,
        named: ObjectName<'_>,
        part: Option<(Arc<LazyObject>, u64)>,
    ) -> Arc<LazyObject> {
        let elements = |of: &Placement| Elements::new(named.place, *of, self.shape(types, of.0));
        let laid = (elements(&own), behind.iter().map(elements).collect());
        let of_part = part.as_ref().map(|(part, size)| (part.own.laid(), *size));
        let key = ObjectKey { home, own, behind: behind.into(), part: of_part };
        let mut tables = self.tables();
        let Tables { objects, rooms, .. } = &mut *tables;
        let known = objects.entry(key).or_insert_with(|| {
            let object = Arc::new(LazyObject::new(self, home, laid, named, part));
            rooms.entry(home / ROOM).or_default().objects.push(object.clone());
            object
        });
        known.clone()
    }

    /// The number of a term by its structure, which is the same in every pool.
    fn number_of(&self, pool: &TermPool, term: Term) -> u64 {
        self.tables().structures.of(pool, term)
    }
}

/// The mark in the name of a place before a number that tells elements of rows apart. Numbers of calls
/// (`f()#1`) have another mark, and stay.
const NUMBER_MARK: char = '~';

/// The name of a place without the numbers that tell elements of rows apart.
pub fn readable_name(name: &str) -> String {
    let mut parts = name.split(NUMBER_MARK);
    let mut readable = parts.next().unwrap_or_default().to_owned();
    parts.for_each(|part| readable.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit())));
    readable
}

/// The bits of the first value of a part.
pub(crate) fn bits_of(pool: &TermPool, value: Term) -> Term {
    match pool.node(value) {
        Node::Un(UnOp::FpFromBits, bits) => bits,
        _ => value,
    }
}
