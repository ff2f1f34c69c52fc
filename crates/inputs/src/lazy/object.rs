//! A lazily initialised object of the inputs: its bytes, cut into parts, and the names of these.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lydian_ir::CTypeId;
use lydian_smt::{Sort, Term, TermPool};
use smallvec::SmallVec;

use super::{
    AddressSource, INDEX_BITS, LISTED, LazyInputs, NUMBER_MARK, PointerInput, bits_of, home_of,
    symbol_of,
};
use crate::lazy::shape::{Arrays, Part, PartKind, Shape, Tail, Values, count_in, distance_in};

/// An object whose values are created as paths access them.
pub struct LazyObject {
    /// The address that the pointer leads to.
    pub home: u64,
    /// Its elements, on both sides of the pointer's target.
    pub own: Elements,
    /// Elements of other types that follow, as private data follows a struct. Each kind ends where the
    /// next begins.
    pub behind: SmallVec<[Elements; 1]>,
    /// The number of pointers on the way to it.
    pub depth: u32,
    /// Whether the pointer that leads to it is computed from others' bits.
    pub is_derived: bool,
    /// The name of the pointer's place in C, whatever the object's first element is.
    place: Arc<str>,
    /// The part of it that a path accessed before the rest was known, and the number of bytes from the
    /// part's first element on in which both have the same values.
    part: Option<(Arc<Self>, u64)>,
    inputs: LazyInputs,
    known: Mutex<KnownContents>,
}

/// The type of some elements of an object, and the distance in bytes of the first of them from the
/// pointer's target.
pub type Placement = (CTypeId, i64);

/// The identity of an object: its home and the layout of its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectKey {
    pub(super) home: u64,
    pub(super) own: Placement,
    pub(super) behind: SmallVec<[Placement; 1]>,
    /// The layout of the part that was known before, and its size.
    pub(super) part: Option<(Placement, u64)>,
}

/// Elements of one type that lie one after the other in an object.
#[derive(Clone, Debug)]
pub struct Elements {
    /// The name in C of the pointer that leads to the first.
    pub name: Arc<str>,
    /// The type of one.
    pub ty: CTypeId,
    /// The distance of the first from the pointer's target: not 0 if the pointer leads to a member.
    pub origin: i64,
    shape: Arc<Shape>,
    period: u64,
}

/// The home of an object and the placement of its elements.
#[derive(Clone, Copy)]
pub(super) struct ObjectLayout<'l> {
    pub(super) home: u64,
    /// The object's own elements.
    pub(super) own: Placement,
    /// Elements of other types that follow.
    pub(super) behind: &'l [Placement],
}

/// The name of an object, by the pointer that leads to it.
#[derive(Clone, Copy)]
pub(super) struct ObjectName<'n> {
    /// The place of the pointer as C names it.
    pub(super) place: &'n Arc<str>,
    /// The number of pointers on the way to the object.
    pub(super) depth: u32,
    /// Whether the pointer is computed from the bits of others.
    pub(super) is_derived: bool,
}

/// The values of an object that have come into being.
#[derive(Debug, Default)]
struct KnownContents {
    /// The values of parts with symbols of their own, by their first byte.
    parts: BTreeMap<i64, (PartKind, Term)>,
    /// The array symbols of rows, by the part of an element.
    arrays: BTreeMap<u64, Array>,
}

#[derive(Clone, Debug)]
struct Array {
    row: Row,
    symbol: Term,
    /// The symbol with the listed elements stored into it.
    whole: Term,
}

/// The values of one part of an object's element type: one in each element, or several if the part lies
/// in arrays within the element. They are numbered consecutively from the first element's, which begin
/// with 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The first byte of the first value in the object's first element. For a flexible array member and
    /// for elements of other types, it lies after that element.
    pub part: u64,
    /// The kind of the values.
    pub kind: PartKind,
    /// Bytes from one element of the object to the next.
    pub stride: u64,
    /// The arrays within an element that contain them.
    pub arrays: Arrays,
    /// Whether it belongs to a flexible array member, or to elements after the object's own.
    pub is_tail: bool,
}

impl Row {
    /// The number of values in one element.
    pub fn count(&self) -> u64 {
        count_in(&self.arrays)
    }

    /// Whether there are no gaps between its values.
    pub fn is_dense(&self) -> bool {
        self.arrays.is_empty() && self.kind.bytes() == self.stride
    }
}

impl PartialEq for LazyObject {
    fn eq(&self, other: &Self) -> bool {
        self.home == other.home
            && self.own.laid() == other.own.laid()
            && self.laid_behind().eq(other.laid_behind())
            && self.part == other.part
    }
}

impl Eq for LazyObject {}

impl fmt::Debug for LazyObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}", self.own.name, self.home)
    }
}

impl Elements {
    /// Elements of a type in the object of a pointer at a place, with their shape.
    pub(super) fn new(place: &Arc<str>, (ty, origin): Placement, shape: Arc<Shape>) -> Self {
        let name = match origin {
            0 => place.clone(),
            _ => format!("({place}{origin:+})").into(),
        };
        Self { name, ty, origin, period: shape.size().max(1), shape }
    }

    /// Their type, and the distance of the first.
    pub const fn laid(&self) -> Placement {
        (self.ty, self.origin)
    }

    /// The shape of one.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Bytes of one.
    pub const fn period(&self) -> u64 {
        self.period
    }

    /// Whether they end in a flexible array member.
    fn has_tail(&self) -> bool {
        self.shape.has_tail()
    }

    /// The flexible array member, if a byte lies in it or after it.
    fn tail_at(&self, at: i64) -> Option<&Tail> {
        match &*self.shape {
            Shape::Record { tail: Some(tail), .. } if at - self.origin >= tail.offset as i64 => {
                Some(tail)
            }
            _ => None,
        }
    }

    /// The name in C of the part that a byte belongs to.
    fn path_at(&self, at: i64) -> String {
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

    /// The end of the element that a byte lies in; in a flexible array member, the next byte.
    pub(crate) fn end_of_element(&self, at: i64) -> i64 {
        let period = self.period as i64;
        if self.has_tail() {
            return (at + 1).max(self.origin + period);
        }
        self.origin + ((at - self.origin).div_euclid(period) + 1) * period
    }
}

impl LazyObject {
    /// An object with its elements, at the home of a pointer with a name.
    pub(super) fn new(
        inputs: &LazyInputs,
        home: u64,
        (own, behind): (Elements, SmallVec<[Elements; 1]>),
        named: ObjectName<'_>,
        part: Option<(Arc<Self>, u64)>,
    ) -> Self {
        Self {
            home,
            own,
            behind,
            depth: named.depth,
            is_derived: named.is_derived,
            place: named.place.clone(),
            part,
            inputs: inputs.clone(),
            known: Mutex::default(),
        }
    }

    fn known(&self) -> MutexGuard<'_, KnownContents> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name in C of the pointer that leads to it.
    pub const fn place(&self) -> &Arc<str> {
        &self.place
    }

    pub(super) const fn named(&self) -> ObjectName<'_> {
        ObjectName { place: &self.place, depth: self.depth, is_derived: self.is_derived }
    }

    /// The part that was known before, and its size.
    pub(super) const fn part(&self) -> Option<&(Arc<Self>, u64)> {
        self.part.as_ref()
    }

    fn laid_behind(&self) -> impl Iterator<Item = Placement> {
        self.behind.iter().map(Elements::laid)
    }

    /// The elements to which the one that a byte lies in belongs.
    pub fn elements_at(&self, at: i64) -> &Elements {
        self.behind.iter().rfind(|behind| at >= behind.origin).unwrap_or(&self.own)
    }

    /// All its elements: its own, and what follows behind.
    pub fn all_elements(&self) -> impl Iterator<Item = &Elements> {
        std::iter::once(&self.own).chain(&self.behind)
    }

    /// Whether its own elements end at something else: a flexible array member, or elements of another
    /// type.
    pub fn has_tail(&self) -> bool {
        self.own.has_tail() || !self.behind.is_empty()
    }

    /// The bytes of the part that was known before.
    fn bytes_of_part(&self) -> Range<i64> {
        let of_part =
            |(part, size): &(Arc<Self>, u64)| part.own.origin..part.own.origin + *size as i64;
        self.part.as_ref().map_or(0..0, of_part)
    }

    /// The part that was known before, if a byte lies in it.
    fn part_over(&self, at: i64) -> Option<&Arc<Self>> {
        self.part.as_ref().filter(|_| self.bytes_of_part().contains(&at)).map(|(part, _)| part)
    }

    /// The value of a row at a byte, if it belongs to the part that was known before.
    fn value_of_part(&self, pool: &mut TermPool, row: &Row, start: i64) -> Option<Term> {
        let part = self.part_over(start)?;
        let (of_part, number) = part.row_at(start);
        let same = of_part.kind.is_seen_as(row.kind) && part.start_of(&of_part, number) == start;
        let value = same.then(|| part.element(pool, &of_part, number))?;
        Some(if of_part.kind.is_like(row.kind) { value } else { bits_of(pool, value) })
    }

    /// Whether the values of some bytes are the same as in the part that was known before.
    pub fn agrees_with_part(&self, (from, to): (i64, i64)) -> bool {
        let Some((part, _)) = &self.part else { return true };
        (from..to).all(|at| {
            let (row, number) = self.row_at(at);
            let (of_part, number_in_part) = part.row_at(at);
            of_part.kind.is_seen_as(row.kind)
                && part.start_of(&of_part, number_in_part) == self.start_of(&row, number)
        })
    }

    /// Whether all values that overlap a range have symbols of their own.
    pub fn lists_all(&self, (from, to): (i64, i64)) -> bool {
        let mut at = from;
        while at < to {
            let (row, number) = self.row_at(at);
            if !self.is_listed(&row, number) {
                return false;
            }
            at = self.start_of(&row, number) + row.kind.bytes() as i64;
        }
        true
    }

    /// The row that a byte lies in, and the number of the value in the row.
    pub fn row_at(&self, at: i64) -> (Row, i64) {
        let elements = self.elements_at(at);
        // Rows are identified by their distance from the object's own first element.
        let before = (elements.origin - self.own.origin) as u64;
        let tail = elements.tail_at(at);
        let (shape, begin, stride) = match tail {
            Some(tail) => (&tail.element, tail.offset, tail.size),
            None => (&elements.shape, 0, elements.period),
        };
        let at = at - elements.origin - begin as i64;
        let (index, within) = (at.div_euclid(stride as i64), at.rem_euclid(stride as i64) as u64);
        let Part { first, kind, arrays, number } = shape.part_at(within);
        let number = index * count_in(&arrays) as i64 + number as i64;
        let is_tail = tail.is_some() || before > 0;
        let mut row = Row { part: before + begin + first, kind, stride, arrays, is_tail };
        // An element that is an array counts as that many of its elements.
        if let Some(outer) = row.arrays.first()
            && outer.count * outer.stride == stride
        {
            row.stride = outer.stride;
            row.arrays.remove(0);
        }
        (row, number)
    }

    /// The name in C of the part that a byte belongs to.
    pub fn path_at(&self, at: i64) -> String {
        self.elements_at(at).path_at(at)
    }

    /// The first byte of a value of a row.
    pub fn start_of(&self, row: &Row, number: i64) -> i64 {
        let count = row.count() as i64;
        let (index, within) = (number.div_euclid(count), number.rem_euclid(count) as u64);
        let within = distance_in(&row.arrays, within) as i64;
        self.own.origin + row.part as i64 + index * row.stride as i64 + within
    }

    /// The number of values of a row, from the first on, that have symbols of their own.
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

    /// The initial value of an element of a row: a term of the part's sort.
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

    /// A name for a row in the style of C.
    pub fn name_of_row(&self, row: &Row) -> String {
        format!("{}[]", self.path_at(self.own.origin + row.part as i64))
    }

    /// The array symbol of a row.
    fn array_symbol(&self, pool: &mut TermPool, row: &Row) -> Term {
        let bits = row.kind.bytes() as u32 * 8;
        let name = self.name_of_row(row);
        symbol_of(pool, &name, Sort::Array { index: INDEX_BITS, element: bits }, 0)
    }

    /// The initial values of all elements of a row, as an array; none if a part has more bytes than an
    /// array's element can have.
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
            // The row may end before, where elements of another type or a flexible array begin.
            if self.row_at(self.start_of(row, index)) != (row.clone(), index) {
                continue;
            }
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

    /// The value of a part from its bits in an array.
    pub fn from_bits(&self, pool: &mut TermPool, kind: PartKind, bits: Term, name: &str) -> Term {
        match kind {
            PartKind::Number(_, Values::Bool) => {
                let bit = pool.extract(0, 0, bits);
                pool.zext(bit, 8)
            }
            PartKind::Pointer(ty) => {
                let zero = pool.bv(64, 0);
                let null = pool.eq(bits, zero);
                let known = self.inputs.type_of(ty);
                let targets = known.targets(pool, bits);
                let elsewhere = match known.functions.first() {
                    None => {
                        let is_known =
                            pool.or_all(targets.iter().map(|(is_it, _)| *is_it).chain([null]));
                        let source = AddressSource::Row(pool.not(is_known));
                        // Another element may have another pointer, and so may this one at another time:
                        // the number tells them apart, in the names of what they lead to, too.
                        let number = self.inputs.number_of(pool, bits);
                        let place: Arc<str> = format!("{name}{NUMBER_MARK}{number}").into();
                        let (home, depth) = (home_of(&place), self.depth);
                        let pointer = PointerInput { place, ty, depth, home, source };
                        let low = pool.extract(61, 0, bits);
                        self.inputs.null_or_address(pool, [null, low], pointer)
                    }
                    Some((_, first)) => {
                        let first = pool.bv(64, *first);
                        pool.ite(null, zero, first)
                    }
                };
                let targets = targets.into_iter();
                targets.fold(elsewhere, |value, (is_it, target)| pool.ite(is_it, target, value))
            }
            _ => bits,
        }
    }

    /// The initial values of a row as an array, if some path needed them.
    pub fn first_array(&self, row: &Row) -> Option<Term> {
        self.known().arrays.get(&row.part).map(|array| array.whole)
    }

    /// Whether a term is the address of a pointer among the inputs in the case that it is not null.
    pub fn is_input_pointer(&self, address: Term) -> bool {
        self.inputs.is_pointer(address)
    }

    /// The initial value of the part at a distance from the home, if some path needed it.
    pub fn known_part(&self, start: i64) -> Option<Term> {
        let own = self.known().parts.get(&start).map(|(_, term)| *term);
        own.or_else(|| self.part_over(start)?.known_part(start))
    }

    /// The array symbol of a row, if some path needed it.
    pub fn known_array(&self, row: &Row) -> Option<Term> {
        self.known().arrays.get(&row.part).map(|array| array.symbol)
    }

    /// The array symbols that some path needed, with their rows.
    pub fn known_arrays(&self) -> Vec<(Row, Term)> {
        self.known().arrays.values().map(|array| (array.row.clone(), array.symbol)).collect()
    }

    /// The values of all parts that some path needed, by their distance from the home.
    pub fn known_parts(&self) -> Vec<(i64, Term)> {
        let of_part = self.part.as_ref().map_or_else(Vec::new, |(part, _)| part.known_parts());
        let bytes = self.bytes_of_part();
        let mut all: Vec<(i64, Term)> =
            of_part.into_iter().filter(|(start, _)| bytes.contains(start)).collect();
        all.extend(self.known().parts.iter().map(|(start, (_, term))| (*start, *term)));
        all
    }
}
