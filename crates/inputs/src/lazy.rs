//! Input memory that comes into being where a path first looks at it (lazy initialisation).
//!
//! A pointer among the inputs is *null or an address*: `ite(null(p), 0, at(p))`, where `at(p)` has
//! bits of its own and lies in [`REGION`]. Nothing is said about the address before a path looks at
//! what lies there. Then an engine decides what it may be, one of
//! - the *home* of the pointer, an object of its own that no other pointer leads to;
//! - a place within an object that the path has already.
//!
//! An object has no size: its bytes are symbols that are made when they are first read, as far as
//! [`REACH`] on either side of the place that its pointer leads to. What a test needs of it follows
//! from what the path touched.
//!
//! Bytes of an object are cut into parts by the object's element type, over and over
//! ([`Shape`]). The first elements ([`LISTED`]) have a symbol for each part; all others are elements of
//! one array symbol a part, so that an index that depends on the input can be read and written. Which
//! it is follows from the place alone, so that whatever path reads it sees the same value.
//!
//! Names of symbols are those that C has for the place. The same name means the same value in each
//! pool and on each path, and so do the addresses of homes, which are made from names.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lydian_base::EntityId;
use lydian_ir::{CType, CTypeId, CTypes, FuncId, IntKind, Type};
use lydian_smt::{BinOp, Node, Sort, Structures, Term, TermPool, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};

use super::shape::{Arrays, Part, PartKind, Shape, Tail, Values, count_in, distance_in};
use super::value::sort_of;

/// First address of the region in which objects of inputs come into being.
pub const REGION: u64 = 1 << 62;
/// Bytes that are kept for one object, whose address is a multiple of it.
pub const ROOM: u64 = 1 << 31;
/// Bytes that an object has on either side of the place that its pointer leads to.
pub const REACH: u64 = ROOM / 2;
/// How many addresses of homes there are.
const HOMES: u64 = REGION / ROOM;
/// Values of a row that are symbols of their own: where they stand without a gap, where there is one in
/// each element of the object, and where they lie in an array within it.
const LISTED: [u64; 3] = [16, 4, 16];
/// Width of the indexes of array symbols.
pub const INDEX_BITS: u32 = 34;
/// Bytes from one place of a function to the next, at the end of an object's room.
const FUNCTION_BYTES: u64 = 16;
/// Pointers that lead deeper than this are null where nothing asks for more.
const PLAIN_DEPTH: u32 = 2;
/// Characters of a text where nothing asks for more or fewer.
const PLAIN_TEXT: i64 = 3;

/// A pointer among the inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointerInput {
    /// How C names the place where it lies.
    pub place: Arc<str>,
    /// Its type.
    pub ty: CTypeId,
    /// How many pointers lead to it.
    pub depth: u32,
    /// Its home.
    pub home: u64,
    /// The symbol that its address is made of, and by how many bits that is shifted; none where the
    /// address is computed from others' bits.
    pub symbol: Option<(Term, u32)>,
}

impl PointerInput {
    /// Whether its bits are computed from others, so that it may be the same as another pointer
    /// though it lies at another place.
    pub const fn is_derived(&self) -> bool {
        self.symbol.is_none()
    }
}

/// The input memory of one exploration: which pointers there are, and what lies in their homes.
/// Clones share it. It only grows, and what it says of a name never changes.
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
    /// How many places there are.
    pub count: u64,
}

/// What is known of pointers of a type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerType {
    /// How many low bits of its values are zero.
    pub aligned: u32,
    /// The variables that it may lead to where something shows that.
    pub globals: Vec<GlobalPlace>,
    /// The functions that it may lead to, if it leads to functions: names and addresses.
    pub functions: Vec<(String, u64)>,
    /// Whether there are more variables or functions than these.
    pub leaves_out: bool,
}

/// What makes an object: its home, its element type and where the first element begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ObjectKey {
    home: u64,
    element: CTypeId,
    origin: i64,
    /// The same of the part that was known before, and its size.
    part: Option<(CTypeId, i64, u64)>,
}

#[derive(Debug, Default)]
struct Tables {
    types: FxHashMap<CTypeId, Arc<PointerType>>,
    /// By symbol: the address that it makes.
    symbols: FxHashMap<Term, Term>,
    /// By the term of the address.
    pointers: FxHashMap<Term, Arc<PointerInput>>,
    objects: FxHashMap<ObjectKey, Arc<LazyObject>>,
    structures: Structures,
    /// Symbols that may be the bits of a pointer, though no type says so.
    raw: FxHashSet<Term>,
    shapes: FxHashMap<CTypeId, Arc<Shape>>,
    /// By address: functions to which pointers lead whose types do not say that they lead to functions.
    functions: FxHashMap<u64, FuncId>,
    /// Whether a pointer was made of which some targets were left out.
    leaves_out: bool,
}

/// An object that comes into being as it is looked at.
pub struct LazyObject {
    /// How C names the pointer that leads to it.
    pub name: Arc<str>,
    /// The address that the pointer leads to.
    pub home: u64,
    /// The type of its elements.
    pub element: CTypeId,
    /// How far its first element begins from where the pointer leads: not at 0 where the pointer
    /// leads to a member.
    pub origin: i64,
    /// How many pointers lead to it.
    pub depth: u32,
    /// Whether the pointer that leads to it is computed from others' bits.
    pub is_derived: bool,
    /// How C names the pointer's place, whatever the object's first element is.
    place: Arc<str>,
    /// The part of it that a path looked at before it knew of the rest, and how many bytes from its first
    /// element on: there both have the same values.
    part: Option<(Arc<LazyObject>, u64)>,
    shape: Arc<Shape>,
    period: u64,
    inputs: LazyInputs,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The values of parts of listed elements and beyond, by their first byte.
    parts: BTreeMap<i64, (PartKind, Term)>,
    /// The array symbols, by the part of an element.
    arrays: BTreeMap<u64, Array>,
}

#[derive(Clone, Debug)]
struct Array {
    row: Row,
    symbol: Term,
    /// The symbol with the listed elements in their places.
    whole: Term,
}

/// The values that one part of an object's element type makes: one in each element, or as many as the
/// arrays in which the part lies have. They are numbered through; those of the first element begin
/// with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The first byte of the first value in an element; beyond the element for a flexible array member.
    pub part: u64,
    /// What they are.
    pub kind: PartKind,
    /// Bytes from one element of the object to the next.
    pub stride: u64,
    /// The arrays within an element in which they lie.
    pub arrays: Arrays,
    /// Whether it is one of a flexible array member.
    pub is_tail: bool,
}

impl Row {
    /// How many values lie in one element.
    pub fn count(&self) -> u64 {
        count_in(&self.arrays)
    }

    /// Whether its values stand without a gap in all elements.
    pub fn is_dense(&self) -> bool {
        self.arrays.is_empty() && self.kind.bytes() == self.stride
    }
}

impl PartialEq for LazyObject {
    fn eq(&self, other: &Self) -> bool {
        let key = |object: &Self| (object.home, object.element, object.origin);
        key(self) == key(other) && self.part == other.part
    }
}

impl Eq for LazyObject {}

impl fmt::Debug for LazyObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}", self.name, self.home)
    }
}

/// Whether an address lies in the room of the object with a home.
pub(crate) const fn is_in_room(home: u64, address: u64) -> bool {
    home / ROOM == address / ROOM
}

/// The home of a pointer with a name.
fn home_of(name: &str) -> u64 {
    // FNV-1a: the same in each process, and no two of the few names of a function meet.
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    REGION + (hash ^ hash >> 32) % HOMES * ROOM + REACH
}

/// Null, or the address of one of some functions, the first where nothing asks for another.
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

/// The address of a place of a global, which one depends on the input.
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

/// The symbol of a name; of the name and the sort where another value has the name.
fn symbol_of(pool: &mut TermPool, name: &str, sort: Sort, default: u64) -> Term {
    let taken = pool.find_var(name).is_some_and(|known| pool.sort(known) != sort);
    let with_sort = taken.then(|| format!("{name}:{sort}"));
    let name = with_sort.as_deref().unwrap_or(name);
    match sort.is_small() {
        true => pool.var_with_default(name, sort, default),
        false => pool.var(name, sort),
    }
}

/// A small number that differs from place to place, so that two inputs are rarely alike where
/// nothing asks for a value.
pub(crate) fn telling(name: &str) -> u64 {
    name.bytes().fold(7u64, |number, byte| number * 31 % 8191 + u64::from(byte)) % 90 + 2
}

impl LazyInputs {
    /// No pointer yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same where pointers of some types are known better.
    pub fn with_types(types: impl IntoIterator<Item = (CTypeId, PointerType)>) -> Self {
        let new = Self::default();
        new.tables().types = types.into_iter().map(|(id, ty)| (id, Arc::new(ty))).collect();
        new
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value of a pointer that lies at a place among the inputs, and may be null.
    pub fn pointer(
        &self,
        pool: &mut TermPool,
        place: &str,
        ty: CTypeId,
        depth: u32,
        may_be_null: bool,
    ) -> Term {
        let known = self.tables().types.get(&ty).cloned().unwrap_or_default();
        self.tables().leaves_out |= known.leaves_out;
        let absent = u64::from(depth > PLAIN_DEPTH);
        let null = match may_be_null {
            true => pool.var_with_default(&format!("null({place})"), Sort::Bool, absent),
            false => pool.ff(),
        };
        if !known.functions.is_empty() {
            return function_pointer(pool, place, null, &known.functions);
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
        let pointer =
            PointerInput { place: place.into(), ty, depth, home, symbol: Some((symbol, shift)) };
        let mut value = self.null_or_address(pool, [null, bits], pointer);
        for global in &known.globals {
            let leads = pool.var(&format!("{place} == &{}", global.name), Sort::Bool);
            let address = place_in(pool, place, global);
            value = pool.ite(leads, address, value);
        }
        value
    }

    /// Null, or the address in the region with these 62 bits, which is noted as a pointer's.
    fn null_or_address(
        &self,
        pool: &mut TermPool,
        [null, bits]: [Term; 2],
        pointer: PointerInput,
    ) -> Term {
        let high = pool.bv(2, REGION >> 62);
        let address = pool.concat(high, bits);
        let mut tables = self.tables();
        if let Some((symbol, _)) = pointer.symbol {
            tables.symbols.insert(symbol, address);
        }
        tables.pointers.entry(address).or_insert_with(|| Arc::new(pointer));
        drop(tables);
        let zero = pool.bv(64, 0);
        pool.ite(null, zero, address)
    }

    /// Whether there is a pointer of which some variables or functions that it may lead to were left out,
    /// for their number.
    pub fn leaves_targets_out(&self) -> bool {
        self.tables().leaves_out
    }

    /// The pointer that an address is the value of, if it is one.
    pub fn pointer_at(&self, address: Term) -> Option<Arc<PointerInput>> {
        self.tables().pointers.get(&address).cloned()
    }

    /// All pointers that there are, each with its address, and the symbol that says whether it is null,
    /// if it may be.
    pub fn pointers(&self, pool: &TermPool) -> Vec<(Arc<PointerInput>, Term, Option<Term>)> {
        let tables = self.tables();
        let all = tables.pointers.iter();
        let mut all: Vec<_> =
            all.map(|(address, pointer)| (pointer.clone(), *address, None)).collect();
        drop(tables);
        all.sort_by_key(|(_, address, _)| *address);
        for (pointer, _, null) in &mut all {
            *null = pool.find_var(&format!("null({})", pointer.place));
        }
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

    /// Whether a term is a symbol that may be the bits of a pointer, though no type says so.
    pub fn is_raw_symbol(&self, term: Term) -> bool {
        self.tables().raw.contains(&term)
    }

    /// Whether an address is made of the bits of pointers among the inputs, though it is none itself:
    /// of a union's bytes, say, or of a pointer with its lowest bits cleared.
    pub fn is_raw(&self, pool: &mut TermPool, address: Term) -> bool {
        let vars = pool.vars_of(address);
        let tables = self.tables();
        let is_bits = |var: &Term| {
            let name = pool.var_name(*var).unwrap_or_default();
            tables.raw.contains(var) || name.starts_with("at(") || name.starts_with("null(")
        };
        !vars.is_empty() && vars.iter().all(is_bits)
    }

    /// Whether a value has bits of the address of an object of the inputs.
    pub fn shows_an_address(&self, pool: &mut TermPool, value: Term) -> bool {
        let vars = pool.vars_of(value);
        let tables = self.tables();
        if !vars.iter().any(|var| tables.symbols.contains_key(var)) {
            return false;
        }
        let mut seen = FxHashSet::default();
        let mut waiting = vec![value];
        while let Some(next) = waiting.pop() {
            match pool.node(next) {
                _ if !seen.insert(next) => {}
                Node::Ite(_, a, b) | Node::Bin(BinOp::Concat, a, b) => waiting.extend([a, b]),
                Node::Extract(whole, _) => waiting.push(whole),
                _ if tables.symbols.contains_key(&next) => return true,
                _ => {}
            }
        }
        false
    }

    /// The address of a function as which the code calls what a pointer leads to, though its type does
    /// not say that it leads to a function. No object lies there.
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

    /// Notes that a term which lies nowhere as a pointer is used as one.
    pub fn adopt(&self, pool: &TermPool, address: Term, ty: CTypeId) -> Arc<PointerInput> {
        let mut tables = self.tables();
        if let Some(known) = tables.pointers.get(&address) {
            return known.clone();
        }
        let number = tables.structures.of(pool, address);
        let place: Arc<str> = format!("p{number:x}").into();
        let home = home_of(&place);
        let pointer = PointerInput { place, ty, depth: 1, home, symbol: None };
        tables.pointers.entry(address).or_insert_with(|| Arc::new(pointer)).clone()
    }

    /// The object around an address that no path may have looked into: one that came into being on
    /// some path, else one of the type that the pointer at home there says, else one that is at home
    /// at the address itself, for a pointer of a type that nobody follows.
    pub fn object_around(
        &self,
        types: &CTypes,
        address: u64,
        ty: Option<CTypeId>,
    ) -> Option<Arc<LazyObject>> {
        let is_here = |home: u64| is_in_room(home, address);
        let tables = self.tables();
        let objects = tables.objects.values().filter(|object| is_here(object.home));
        let known = objects.min_by_key(|object| (object.element, object.origin)).cloned();
        let pointers = tables.pointers.values().filter(|pointer| is_here(pointer.home));
        let pointer = pointers.min_by_key(|pointer| (pointer.home, pointer.ty)).cloned();
        drop(tables);
        known.or_else(|| {
            let pointer = pointer.unwrap_or_else(|| {
                let place = format!("object at {address:x}").into();
                let ty = ty.unwrap_or_else(|| CTypeId::from_index(0));
                let home = address / 16 * 16;
                Arc::new(PointerInput { place, ty, depth: PLAIN_DEPTH, home, symbol: None })
            });
            let complete = types.pointee(pointer.ty).filter(|ty| types.size(*ty).is_some());
            let is_byte = |ty: &CType| matches!(ty, CType::Int { kind: IntKind::UChar, .. });
            let byte = || types.iter().find(|(_, ty)| is_byte(ty)).map(|(id, _)| id);
            Some(self.object(types, &pointer, (complete.or_else(byte)?, 0)))
        })
    }

    /// The shape of a type.
    pub fn shape(&self, types: &CTypes, ty: CTypeId) -> Arc<Shape> {
        let mut tables = self.tables();
        tables.shapes.entry(ty).or_insert_with(|| Arc::new(Shape::of(types, ty))).clone()
    }

    /// The object in a home, of elements of a type of which one begins so far from where the pointer
    /// leads.
    pub fn object(
        &self,
        types: &CTypes,
        pointer: &PointerInput,
        (element, origin): (CTypeId, i64),
    ) -> Arc<LazyObject> {
        self.object_like(
            types,
            (pointer.home, element, origin),
            (&pointer.place, pointer.depth + 1, pointer.is_derived()),
            None,
        )
    }

    /// The object of which another, that a path looked at before, is a part with so many bytes from its
    /// first element on: of elements of a type of which one begins so far from home.
    pub fn object_around_part(
        &self,
        types: &CTypes,
        (part, size): (&Arc<LazyObject>, u64),
        (element, origin): (CTypeId, i64),
    ) -> Arc<LazyObject> {
        let named = (&part.place, part.depth, part.is_derived);
        self.object_like(types, (part.home, element, origin), named, Some((part.clone(), size)))
    }

    /// A fresh value of a kind that lies nowhere among the inputs, with a name of its own.
    pub fn fresh(&self, pool: &mut TermPool, kind: PartKind, name: &str) -> Term {
        self.symbol(pool, kind, (PLAIN_TEXT, 1), name)
    }

    /// The symbol of a part with a name, behind so many pointers. Of characters those at small numbers are
    /// letters where nothing asks for others.
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
        (home, element, origin): (u64, CTypeId, i64),
        (place, depth, is_derived): (&Arc<str>, u32, bool),
        part: Option<(Arc<LazyObject>, u64)>,
    ) -> Arc<LazyObject> {
        let shape = self.shape(types, element);
        let mut tables = self.tables();
        let of_part = part.as_ref().map(|(part, size)| (part.element, part.origin, *size));
        let key = ObjectKey { home, element, origin, part: of_part };
        let object = tables.objects.entry(key).or_insert_with(|| {
            let name = match origin {
                0 => place.clone(),
                _ => format!("({place}{origin:+})").into(),
            };
            Arc::new(LazyObject {
                name,
                place: place.clone(),
                home,
                element,
                origin,
                depth,
                is_derived,
                part,
                period: shape.size().max(1),
                shape,
                inputs: self.clone(),
                known: Mutex::default(),
            })
        });
        object.clone()
    }
}

impl LazyObject {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shape of its elements.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes of an element.
    pub const fn period(&self) -> u64 {
        self.period
    }

    /// Whether it ends in a flexible array member.
    pub fn has_tail(&self) -> bool {
        matches!(&*self.shape, Shape::Record { tail: Some(_), .. })
    }

    /// The bytes of the part that was known before.
    fn bytes_of_part(&self) -> Range<i64> {
        let of_part = |(part, size): &(Arc<Self>, u64)| part.origin..part.origin + *size as i64;
        self.part.as_ref().map_or(0..0, of_part)
    }

    /// The part that was known before, if a byte lies in it.
    fn part_over(&self, at: i64) -> Option<&Arc<Self>> {
        self.part.as_ref().filter(|_| self.bytes_of_part().contains(&at)).map(|(part, _)| part)
    }

    /// The value of a row that begins at a byte, where that is one of the part that was known before.
    fn value_of_part(&self, pool: &mut TermPool, row: &Row, start: i64) -> Option<Term> {
        let part = self.part_over(start)?;
        let (of_part, number) = part.row_at(start);
        let same = of_part.kind.is_like(row.kind) && part.start_of(&of_part, number) == start;
        same.then(|| part.element(pool, &of_part, number))
    }

    /// Whether the values of some bytes are those of the part that was known before.
    pub fn agrees_with_part(&self, (from, to): (i64, i64)) -> bool {
        let Some((part, _)) = &self.part else { return true };
        (from..to).all(|at| {
            let (row, number) = self.row_at(at);
            let (of_part, number_in_part) = part.row_at(at);
            of_part.kind.is_like(row.kind)
                && part.start_of(&of_part, number_in_part) == self.start_of(&row, number)
        })
    }

    /// The flexible array member, if a byte lies in it or behind it.
    fn tail_at(&self, at: i64) -> Option<&Tail> {
        match &*self.shape {
            Shape::Record { tail: Some(tail), .. } if at - self.origin >= tail.offset as i64 => {
                Some(tail)
            }
            _ => None,
        }
    }

    /// The row that a byte lies in, and the number of its value there.
    pub fn row_at(&self, at: i64) -> (Row, i64) {
        let tail = self.tail_at(at);
        let (shape, begin, stride) = match tail {
            Some(tail) => (&tail.element, tail.offset, tail.size),
            None => (&self.shape, 0, self.period),
        };
        let at = at - self.origin - begin as i64;
        let (index, within) = (at.div_euclid(stride as i64), at.rem_euclid(stride as i64) as u64);
        let Part { first, kind, arrays, number } = shape.part_at(within);
        let number = index * count_in(&arrays) as i64 + number as i64;
        let mut row = Row { part: begin + first, kind, stride, arrays, is_tail: tail.is_some() };
        // An element that is an array is no more than so many of its elements.
        if let Some(outer) = row.arrays.first()
            && outer.count * outer.stride == stride
        {
            row.stride = outer.stride;
            row.arrays.remove(0);
        }
        (row, number)
    }

    /// How C names the part that a byte belongs to.
    pub fn path_at(&self, at: i64) -> String {
        if let Some(tail) = self.tail_at(at) {
            let within = (at - self.origin) as u64 - tail.offset;
            let name = tail.name.as_deref().unwrap_or("tail");
            let path = tail.element.path_at(within % tail.size);
            return format!("{}->{name}[{}]{path}", self.name, within / tail.size);
        }
        let (at, period) = (at - self.origin, self.period as i64);
        let (index, path) =
            (at.div_euclid(period), self.shape.path_at(at.rem_euclid(period) as u64));
        match (index, path.strip_prefix('.')) {
            (0, Some(member)) => format!("{}->{member}", self.name),
            _ => format!("{}[{index}]{path}", self.name),
        }
    }

    /// The first byte of a value of a row.
    pub fn start_of(&self, row: &Row, number: i64) -> i64 {
        let count = row.count() as i64;
        let (index, within) = (number.div_euclid(count), number.rem_euclid(count) as u64);
        let within = distance_in(&row.arrays, within) as i64;
        self.origin + row.part as i64 + index * row.stride as i64 + within
    }

    /// How many values of a row have symbols of their own, from the first on.
    fn listed(&self, row: &Row) -> i64 {
        let most = match (row.is_dense(), row.arrays.is_empty()) {
            (true, _) => LISTED[0],
            (false, true) => LISTED[1],
            (false, false) => LISTED[2].min(row.count()),
        };
        most as i64
    }

    /// Whether a value of a row has a symbol of its own.
    fn is_listed(&self, row: &Row, number: i64) -> bool {
        row.kind.bytes() > 8 || (0..self.listed(row)).contains(&number)
    }

    /// The first value of an element of a row: a term of the part's sort.
    pub fn element(&self, pool: &mut TermPool, row: &Row, index: i64) -> Term {
        let start = self.start_of(row, index);
        if let Some((_, known)) = self.known().parts.get(&start) {
            return *known;
        }
        let name = self.path_at(start);
        let of_part = self.value_of_part(pool, row, start);
        let value = if let Some(value) = of_part {
            value
        } else if self.is_listed(row, index) {
            self.inputs.symbol(pool, row.kind, (index, self.depth), &name)
        } else {
            let symbol = self.array_symbol(pool, row);
            let at = pool.bv_signed(INDEX_BITS, index);
            let bits = pool.select(symbol, at);
            self.from_bits(pool, row.kind, bits, &name)
        };
        self.known().parts.insert(start, (row.kind, value));
        value
    }

    /// How C would name a row, if it could.
    pub fn name_of_row(&self, row: &Row) -> String {
        format!("{}[]", self.path_at(self.origin + row.part as i64))
    }

    /// The array symbol of a row.
    fn array_symbol(&self, pool: &mut TermPool, row: &Row) -> Term {
        let bits = row.kind.bytes() as u32 * 8;
        let name = self.name_of_row(row);
        symbol_of(pool, &name, Sort::Array { index: INDEX_BITS, element: bits }, 0)
    }

    /// The first values of all elements of a row, as an array; none where a part takes more bytes than
    /// an element of an array can have.
    pub fn array(&self, pool: &mut TermPool, row: &Row) -> Option<Term> {
        if row.kind.bytes() > 8 {
            return None;
        }
        if let Some(array) = self.known().arrays.get(&row.part) {
            return Some(array.whole);
        }
        let symbol = self.array_symbol(pool, row);
        let mut whole = symbol;
        for index in 0..self.listed(row) {
            let value = self.element(pool, row, index);
            let value = bits_of(pool, value);
            let at = pool.bv_signed(INDEX_BITS, index);
            whole = pool.store(whole, at, value);
        }
        for start in self.bytes_of_part() {
            let (here, number) = self.row_at(start);
            let begins = here == *row && self.start_of(row, number) == start;
            if begins && !self.is_listed(row, number) {
                let value = self.element(pool, row, number);
                let value = bits_of(pool, value);
                let at = pool.bv_signed(INDEX_BITS, number);
                whole = pool.store(whole, at, value);
            }
        }
        self.known().arrays.insert(row.part, Array { row: row.clone(), symbol, whole });
        Some(whole)
    }

    /// The value of a part from the bits that an array has for it.
    pub fn from_bits(&self, pool: &mut TermPool, kind: PartKind, bits: Term, name: &str) -> Term {
        match kind {
            PartKind::Number(_, Values::Bool) => {
                let bit = pool.extract(0, 0, bits);
                pool.zext(bit, 8)
            }
            PartKind::Pointer(ty) => {
                let zero = pool.bv(64, 0);
                let null = pool.eq(bits, zero);
                let low = pool.extract(61, 0, bits);
                // The same place may have had another pointer before, whose home this is not.
                let number = self.inputs.tables().structures.of(pool, bits);
                let home = home_of(&format!("{name}#{number}"));
                let pointer =
                    PointerInput { place: name.into(), ty, depth: self.depth, home, symbol: None };
                self.inputs.null_or_address(pool, [null, low], pointer)
            }
            _ => bits,
        }
    }

    /// The first value of the part that begins at a distance from the home, where some path asked for
    /// it.
    pub fn known_part(&self, start: i64) -> Option<Term> {
        let own = self.known().parts.get(&start).map(|(_, term)| *term);
        own.or_else(|| self.part_over(start)?.known_part(start))
    }

    /// The array symbol of a row, where some path asked for it.
    pub fn known_array(&self, row: &Row) -> Option<Term> {
        self.known().arrays.get(&row.part).map(|array| array.symbol)
    }

    /// The array symbols that some path asked for, with their rows.
    pub fn known_arrays(&self) -> Vec<(Row, Term)> {
        self.known().arrays.values().map(|array| (array.row.clone(), array.symbol)).collect()
    }

    /// All parts that some path asked for, by their distance from the home.
    pub fn known_parts(&self) -> Vec<(i64, Term)> {
        let of_part = self.part.as_ref().map_or_else(Vec::new, |(part, _)| part.known_parts());
        let bytes = self.bytes_of_part();
        let mut all: Vec<(i64, Term)> =
            of_part.into_iter().filter(|(start, _)| bytes.contains(start)).collect();
        all.extend(self.known().parts.iter().map(|(start, (_, term))| (*start, *term)));
        all
    }
}

/// The bits of the first value of a part.
pub(crate) fn bits_of(pool: &TermPool, value: Term) -> Term {
    match pool.node(value) {
        Node::Un(UnOp::FpFromBits, bits) => bits,
        _ => value,
    }
}
