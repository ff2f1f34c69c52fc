//! The bytes of one object: typed cells over a background.

use std::sync::Arc;

use lydian_eval::{Undetermined, to_bytes, undefined_symbol};
use lydian_inputs::lazy::{LazyObject, Row};
use lydian_smt::{Node, Sort, Term, TermPool};

use crate::machine::memory::Region;
use crate::machine::memory::lazy::{self, RowArrays};

/// A value stored at an offset. Sixteen bytes or fewer, so that copying an object is cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The offset of its first byte.
    pub offset: u32,
    /// Its size in bytes, 1 to 16.
    pub size: u8,
    /// Its value: a float of a float sort, any other value as a bit-vector of `size` bytes.
    pub term: Term,
}

impl Cell {
    const fn end(&self) -> u64 {
        self.offset as u64 + self.size as u64
    }
}

/// The bit of a background's number that says that inline assembly may have written to the object.
pub const LEFT_BY_ASSEMBLY: u64 = 1 << 63;

/// The bytes that no cell covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Background {
    /// All bytes are zero.
    Zero,
    /// No byte was written. Reads make symbols named after this number, which is the same for all
    /// bytes of one object and differs for each object: its address. With [`LEFT_BY_ASSEMBLY`] it
    /// is another number; in [`Region::Lazy`], the object was written at an unknown place.
    Undefined(u64),
    /// These bytes, followed by zeros.
    Bytes(Arc<[u8]>),
    /// The elements of an array term, with 32-bit indexes.
    Array {
        /// The array.
        term: Term,
        /// The size of an element in bytes: 1, 2, 4 or 8.
        element: u8,
    },
    /// The first contents of a lazy object.
    Lazy {
        /// The object.
        object: Arc<LazyObject>,
        /// The rows that were written at places that depend on the input, as array terms.
        rows: RowArrays,
    },
}

/// The bytes of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    pub(crate) cells: Vec<Cell>,
    pub(crate) background: Background,
}

/// Whether the value depends on anything that the program does not determine, such as memory that
/// it never wrote.
pub fn depends_on_undefined(pool: &mut TermPool, term: Term) -> bool {
    pool.mentions_marked(term)
}

/// As [`depends_on_undefined`], for the bits of a float. All NaNs are one value, so NaNs that an
/// operation gave are defined.
pub(crate) fn depends_on_unwritten(pool: &mut TermPool, bits: Term) -> bool {
    mentions_other_than(pool, bits, Undetermined::NanBits)
}

/// Whether the value depends on something undetermined of another kind.
pub fn mentions_other_than(pool: &mut TermPool, term: Term, kind: Undetermined) -> bool {
    mentions_where(pool, term, |other| other != kind)
}

/// Whether the value depends on something undetermined of one kind.
pub fn mentions_kind(pool: &mut TermPool, term: Term, kind: Undetermined) -> bool {
    mentions_where(pool, term, |other| other == kind)
}

fn mentions_where(
    pool: &mut TermPool,
    term: Term,
    is_meant: impl Fn(Undetermined) -> bool,
) -> bool {
    if !pool.mentions_marked(term) {
        return false;
    }
    let vars = pool.vars_of(term);
    vars.iter().filter_map(|var| undetermined(pool, *var)).any(is_meant)
}

/// The kind of undetermined value that a symbol stands for; `None` for any other symbol.
pub fn undetermined(pool: &TermPool, symbol: Term) -> Option<Undetermined> {
    Undetermined::of_symbol(pool.var_name(symbol)?)
}

/// The kind of undetermined value that the number of a [`Background::Undefined`] stands for.
fn kind_of(number: u64) -> Undetermined {
    if number & LEFT_BY_ASSEMBLY != 0 {
        Undetermined::Assembly
    } else if matches!(Region::of(number), Some(Region::Lazy)) {
        Undetermined::Access
    } else {
        Undetermined::Unwritten
    }
}

impl Contents {
    /// Contents without cells.
    pub const fn new(background: Background) -> Self {
        Self { cells: Vec::new(), background }
    }

    /// The background.
    pub const fn background(&self) -> &Background {
        &self.background
    }

    /// The cells, by offset.
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// Whether bytes that no cell covers were never written.
    pub fn is_unwritten_beneath(&self, pool: &TermPool) -> bool {
        match self.background {
            Background::Undefined(_) => true,
            Background::Array { mut term, .. } => {
                while let Node::Store(array, ..) = pool.node(term) {
                    term = array;
                }
                undetermined(pool, term).is_some()
            }
            _ => false,
        }
    }

    /// Whether its cells are of different sizes.
    pub fn is_mixed(&self) -> bool {
        self.cells.windows(2).any(|pair| pair[0].size != pair[1].size)
    }

    /// The position of the first cell that ends after `offset`.
    fn first_after(&self, offset: u64) -> usize {
        self.cells.partition_point(|cell| cell.end() <= offset)
    }

    /// The value of `size` bytes from `offset` on: the term that was stored there, if there is
    /// exactly one, otherwise a bit-vector.
    pub fn read(&self, pool: &mut TermPool, offset: u64, size: u64) -> Term {
        match self.cells.get(self.first_after(offset)) {
            Some(cell) if u64::from(cell.offset) == offset && u64::from(cell.size) == size => {
                cell.term
            }
            Some(cell) if u64::from(cell.offset) < offset + size => {
                self.read_pieces(pool, offset, size)
            }
            _ => match &self.background {
                Background::Lazy { object, rows } => {
                    lazy::read_part(pool, object, rows, lazy::distance(offset), size)
                }
                _ => self.read_background(pool, offset, size),
            },
        }
    }

    /// As [`Self::read`], always as a bit-vector.
    pub fn read_bits(&self, pool: &mut TermPool, offset: u64, size: u64) -> Term {
        let value = self.read(pool, offset, size);
        to_bytes(pool, value)
    }

    /// The value of eight bytes that a read of fewer bytes would read a part of, if there is one.
    pub fn part_of_wider(&self, offset: i64, size: u64) -> Option<Term> {
        let offset = u64::try_from(offset).ok().filter(|_| size < 8)?;
        let cell = self.cells.get(self.first_after(offset))?;
        let overlaps = u64::from(cell.offset) < offset + size && cell.size == 8;
        overlaps.then_some(cell.term)
    }

    /// For each of `size` bytes from `offset` on, whether it was never written, or may depend on
    /// bytes that were not.
    pub fn unwritten(&self, pool: &mut TermPool, offset: u64, size: u64) -> Vec<bool> {
        let mut found = Vec::with_capacity(size as usize);
        let mut index = self.first_after(offset);
        for at in offset..offset + size {
            while self.cells.get(index).is_some_and(|cell| cell.end() <= at) {
                index += 1;
            }
            let cell = self.cells.get(index).filter(|cell| u64::from(cell.offset) <= at);
            found.push(match (cell, &self.background) {
                (Some(cell), _) => depends_on_undefined(pool, cell.term),
                (None, Background::Undefined(_)) => true,
                (None, Background::Zero | Background::Bytes(_) | Background::Lazy { .. }) => false,
                (None, Background::Array { .. }) => {
                    let byte = self.read(pool, at, 1);
                    depends_on_undefined(pool, byte)
                }
            });
        }
        found
    }

    /// Combines the bytes of several cells and of the background between them.
    fn read_pieces(&self, pool: &mut TermPool, offset: u64, size: u64) -> Term {
        let end = offset + size;
        let mut whole = None;
        let mut at = offset;
        let mut index = self.first_after(offset);
        while at < end {
            let (piece, to) = match self.cells.get(index) {
                Some(cell) if u64::from(cell.offset) <= at => {
                    index += 1;
                    let to = cell.end().min(end);
                    let low = (at - u64::from(cell.offset)) as u32 * 8;
                    let bytes = to_bytes(pool, cell.term);
                    (pool.extract(low + (to - at) as u32 * 8 - 1, low, bytes), to)
                }
                next => {
                    let to = next.map_or(end, |cell| u64::from(cell.offset).min(end));
                    (self.read_background(pool, at, to - at), to)
                }
            };
            at = to;
            whole = Some(above(pool, whole, piece));
        }
        whole.expect("a read of at least one byte")
    }

    /// The `size` bytes of the background, as a bit-vector.
    fn read_background(&self, pool: &mut TermPool, offset: u64, size: u64) -> Term {
        match &self.background {
            Background::Zero => pool.bv(size as u32 * 8, 0),
            Background::Bytes(bytes) => {
                let byte = |at: u64| bytes.get(at as usize).copied().unwrap_or(0);
                constant_bytes(pool, (offset..offset + size).map(byte))
            }
            // Made byte by byte, so that reads of different sizes agree.
            Background::Undefined(object) => {
                let mut whole = None;
                for at in offset..offset + size {
                    let name = format!("{object:x}+{at}");
                    let kind = kind_of(*object);
                    let byte = undefined_symbol(pool, kind, &name, Sort::BitVec(8));
                    whole = Some(above(pool, whole, byte));
                }
                whole.expect("a read of at least one byte")
            }
            Background::Array { term, element } => {
                read_array(pool, *term, u64::from(*element), offset, size)
            }
            Background::Lazy { object, rows } => {
                lazy::read(pool, object, rows, lazy::distance(offset), size)
            }
        }
    }

    /// Stores a value of `size` bytes at `offset`.
    pub fn write(&mut self, pool: &mut TermPool, offset: u64, size: u64, term: Term) {
        let term = if pool.sort(term) == Sort::Bool { to_bytes(pool, term) } else { term };
        let new = Cell { offset: offset as u32, size: size as u8, term };
        let at = self.first_after(offset);
        if let Some(cell) = self.cells.get_mut(at)
            && cell.offset == new.offset
            && cell.size == new.size
        {
            cell.term = term;
            return;
        }
        let at = self.clear(pool, offset, size);
        self.cells.insert(at, new);
    }

    /// Removes every cell from a range, keeping the bytes of cells that reach beyond it. Returns
    /// the position for a cell of the range.
    fn clear(&mut self, pool: &mut TermPool, offset: u64, size: u64) -> usize {
        let end = offset + size;
        let first = self.first_after(offset);
        let last = self.cells.partition_point(|cell| u64::from(cell.offset) < end);
        let mut kept = Vec::new();
        let mut before = 0;
        for cell in &self.cells[first..last] {
            let outside =
                (u64::from(cell.offset)..cell.end()).filter(|at| !(offset..end).contains(at));
            for at in outside {
                let low = (at - u64::from(cell.offset)) as u32 * 8;
                let bytes = to_bytes(pool, cell.term);
                let byte = pool.extract(low + 7, low, bytes);
                kept.push(Cell { offset: at as u32, size: 1, term: byte });
                before += usize::from(at < offset);
            }
        }
        self.cells.splice(first..last, kept);
        first + before
    }

    /// Sets a range to zero.
    pub fn zero(&mut self, pool: &mut TermPool, offset: u64, size: u64, object_size: u64) {
        if offset == 0 && size == object_size {
            *self = Self::new(Background::Zero);
            return;
        }
        let at = self.clear(pool, offset, size);
        if self.background != Background::Zero {
            let zeros = split_range(offset, size)
                .map(|(offset, size)| {
                    let term = pool.bv(u32::from(size) * 8, 0);
                    Cell { offset: offset as u32, size, term }
                })
                .collect::<Vec<_>>();
            self.cells.splice(at..at, zeros);
        }
    }

    /// Replaces the bytes `to .. to + size` by the bytes `from .. from + size` of `source`.
    pub fn copy_from(
        &mut self,
        pool: &mut TermPool,
        to: u64,
        source: &Self,
        from: u64,
        size: u64,
        whole: bool,
    ) {
        if whole {
            *self = source.clone();
            return;
        }
        let mut moved = Vec::new();
        let mut at = from;
        let end = from + size;
        while at < end {
            let index = source.first_after(at);
            match source.cells.get(index).copied() {
                Some(cell) if u64::from(cell.offset) == at && cell.end() <= end => {
                    moved.push(Cell { offset: (to + at - from) as u32, ..cell });
                    at = cell.end();
                }
                Some(cell) if u64::from(cell.offset) <= at => {
                    let term = source.read_bits(pool, at, 1);
                    moved.push(Cell { offset: (to + at - from) as u32, size: 1, term });
                    at += 1;
                }
                next => {
                    let gap = next.map_or(end, |cell| u64::from(cell.offset).min(end)) - at;
                    let nothing_to_move = source.background == Background::Zero
                        && self.background == Background::Zero;
                    let pieces = match nothing_to_move {
                        true => Vec::new(),
                        false => source.pieces(at, gap),
                    };
                    for (offset, size) in pieces {
                        let term = match &source.background {
                            Background::Lazy { .. } => source.read(pool, offset, u64::from(size)),
                            _ => source.read_background(pool, offset, u64::from(size)),
                        };
                        moved.push(Cell { offset: (to + offset - from) as u32, size, term });
                    }
                    at += gap;
                }
            }
        }
        let at = self.clear(pool, to, size);
        self.cells.splice(at..at, moved);
    }

    /// Whether the background gives a byte of a range, because no cell covers it.
    pub fn shows_background(&self, from: u64, to: u64) -> bool {
        let mut at = from;
        for cell in &self.cells[self.first_after(from)..] {
            if u64::from(cell.offset) > at {
                break;
            }
            at = cell.end();
        }
        at < to
    }

    /// The pieces in which bytes of the background are copied: its parts if it has some, otherwise
    /// aligned pieces.
    fn pieces(&self, offset: u64, size: u64) -> Vec<(u64, u8)> {
        match &self.background {
            Background::Lazy { object, .. } => lazy::parts(object, offset, size),
            _ => split_range(offset, size).collect(),
        }
    }

    /// The elements of a row of a lazy object as an array, with the values that were written over
    /// them.
    pub fn row(&self, pool: &mut TermPool, row: &Row) -> Option<Term> {
        let Background::Lazy { object, rows } = &self.background else { return None };
        let mut array = match rows.get(row) {
            Some(array) => array,
            None => object.array(pool, row)?,
        };
        let mut done = None;
        for cell in &self.cells {
            let (start, size) = (lazy::distance(u64::from(cell.offset)), u64::from(cell.size));
            for index in lazy::elements_within(object, row, start, size) {
                if done.replace(index) == Some(index) {
                    continue;
                }
                let at = lazy::place(object.start_of(row, index));
                let value = self.read_bits(pool, at, row.kind.bytes());
                let index = lazy::index_term(pool, index);
                array = pool.store(array, index, value);
            }
        }
        Some(array)
    }

    /// Whether some rows of a lazy object are arrays.
    pub fn has_rows(&self) -> bool {
        matches!(&self.background, Background::Lazy { rows, .. } if *rows != RowArrays::default())
    }

    /// Moves the values in a range of the rows that are arrays to cells.
    pub fn settle_rows(&mut self, pool: &mut TermPool, (from, to): (u64, u64)) {
        if !self.has_rows() {
            return;
        }
        for (at, size) in self.pieces(from, to - from) {
            let value = self.read(pool, at, u64::from(size));
            self.write(pool, at, u64::from(size), value);
        }
    }

    /// Replaces the background by another lazy object, of which this one is a part.
    pub fn become_part_of(&mut self, whole: Arc<LazyObject>) {
        self.background = Background::Lazy { object: whole, rows: RowArrays::default() };
    }

    /// Replaces the elements of a row of a lazy object by those of an array.
    pub fn set_row(&mut self, pool: &mut TermPool, row: &Row, array: Term) {
        let Background::Lazy { object, rows } = &mut self.background else { return };
        rows.set(row, array);
        let object = object.clone();
        let mut kept = Vec::with_capacity(self.cells.len());
        for cell in &self.cells {
            let (offset, size) = (u64::from(cell.offset), u64::from(cell.size));
            let others = lazy::outside_of_row(&object, row, offset, size);
            if others.len() == size as usize {
                kept.push(*cell);
                continue;
            }
            let bytes = to_bytes(pool, cell.term);
            for at in others {
                let low = (at - offset) as u32 * 8;
                let term = pool.extract(low + 7, low, bytes);
                kept.push(Cell { offset: at as u32, size: 1, term });
            }
        }
        self.cells = kept;
    }

    /// Makes the whole contents one array term, so that symbolic offsets can be read and written.
    /// `element` is the preferred size of an element. Returns the array and its element size.
    pub fn make_array(&mut self, pool: &mut TermPool, size: u64, element: u64) -> (Term, u64) {
        let element = match &self.background {
            Background::Array { element, .. } => u64::from(*element),
            _ if size.is_multiple_of(element) && element <= 8 => element,
            _ => 1,
        };
        let bits = element as u32 * 8;
        let mut array = match &self.background {
            Background::Array { term, .. } => *term,
            Background::Zero => {
                let zero = pool.bv(bits, 0);
                pool.uniform_array(32, zero)
            }
            Background::Bytes(bytes) => {
                let bytes = bytes.clone();
                let elements: Vec<u64> =
                    bytes.chunks(element as usize).map(little_endian).collect();
                pool.const_table(32, bits, &elements)
            }
            Background::Undefined(_) if self.covers(size) => {
                let zero = pool.bv(bits, 0);
                pool.uniform_array(32, zero)
            }
            Background::Lazy { .. } => {
                unreachable!("rows of a lazy object are arrays, not the whole")
            }
            Background::Undefined(object) => {
                let name = format!("{object:x}[]");
                let sort = Sort::Array { index: 32, element: bits };
                undefined_symbol(pool, kind_of(*object), &name, sort)
            }
        };
        // Bytes of an element that no cell covers are those of the array, without a symbol for
        // each.
        self.background = Background::Array { term: array, element: element as u8 };
        let mut done = None;
        for cell in &self.cells {
            let first = u64::from(cell.offset) / element;
            let last = (cell.end() - 1) / element;
            for index in first..=last {
                if done == Some(index) {
                    continue;
                }
                done = Some(index);
                let value = self.read_bits(pool, index * element, element);
                let index = pool.bv(32, index);
                array = pool.store(array, index, value);
            }
        }
        self.set_array(array, element);
        (array, element)
    }

    /// Whether cells cover the first `size` bytes.
    fn covers(&self, size: u64) -> bool {
        self.covers_from(0, size)
    }

    /// Whether cells cover `size` bytes from `offset` on.
    pub fn covers_from(&self, offset: u64, size: u64) -> bool {
        let mut covered = offset;
        for cell in &self.cells[self.first_after(offset)..] {
            if covered >= offset + size || u64::from(cell.offset) > covered {
                break;
            }
            covered = cell.end();
        }
        covered >= offset + size
    }

    /// Replaces the contents by those of an array term.
    pub fn set_array(&mut self, term: Term, element: u64) {
        self.cells.clear();
        self.background = Background::Array { term, element: element as u8 };
    }
}

/// Splits a range into aligned pieces of at most eight bytes.
fn split_range(offset: u64, size: u64) -> impl Iterator<Item = (u64, u8)> {
    let end = offset + size;
    let mut at = offset;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let aligned = if at == 0 { 8 } else { (1u64 << at.trailing_zeros().min(3)).min(8) };
        let mut piece = aligned;
        while at + piece > end {
            piece /= 2;
        }
        at += piece;
        Some((at - piece, piece as u8))
    })
}

fn little_endian(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

/// The concatenation of `high` and the bits collected so far.
pub(crate) fn above(pool: &mut TermPool, low: Option<Term>, high: Term) -> Term {
    match low {
        Some(low) => pool.concat(high, low),
        None => high,
    }
}

/// The bit-vector of these bytes, the first one lowest.
pub(crate) fn constant_bytes(pool: &mut TermPool, bytes: impl Iterator<Item = u8>) -> Term {
    let bytes: Vec<u8> = bytes.collect();
    let mut whole = None;
    for chunk in bytes.chunks(8) {
        let piece = pool.bv(chunk.len() as u32 * 8, little_endian(chunk));
        whole = Some(above(pool, whole, piece));
    }
    whole.expect("a read of at least one byte")
}

/// `size` bytes at a constant offset of an array term.
fn read_array(pool: &mut TermPool, array: Term, element: u64, offset: u64, size: u64) -> Term {
    let first = offset / element;
    let last = (offset + size - 1) / element;
    let mut whole = None;
    for index in first..=last {
        let index = pool.bv(32, index);
        let piece = pool.select(array, index);
        whole = Some(above(pool, whole, piece));
    }
    let whole = whole.expect("a read of at least one byte");
    let low = (offset - first * element) as u32 * 8;
    pool.extract(low + size as u32 * 8 - 1, low, whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_no_bigger_than_twelve_bytes() {
        assert!(size_of::<Cell>() <= 12);
    }

    #[test]
    fn an_aligned_load_returns_the_stored_term() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::BitVec(32));
        let mut contents = Contents::new(Background::Zero);
        contents.write(&mut pool, 4, 4, x);
        assert_eq!(contents.read(&mut pool, 4, 4), x);
        let low = contents.read(&mut pool, 4, 1);
        assert_eq!(low, pool.extract(7, 0, x));
    }

    #[test]
    fn a_store_into_the_middle_of_a_cell_keeps_the_bytes_around_it() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::BitVec(64));
        let b = pool.var("b", Sort::BitVec(16));
        let mut contents = Contents::new(Background::Zero);
        contents.write(&mut pool, 0, 8, x);
        contents.write(&mut pool, 3, 2, b);
        let whole = contents.read(&mut pool, 0, 8);
        let (low, high) = (pool.extract(23, 0, x), pool.extract(63, 40, x));
        let rest = pool.concat(b, low);
        assert_eq!(whole, pool.concat(high, rest));
    }

    #[test]
    fn bytes_that_were_never_written_are_told_from_others() {
        let mut pool = TermPool::new();
        let mut contents = Contents::new(Background::Undefined(7));
        let (x, part) = (pool.var("x", Sort::BitVec(16)), contents.read(&mut pool, 0, 2));
        contents.write(&mut pool, 2, 2, x);
        contents.write(&mut pool, 5, 2, part);
        let seen = contents.unwritten(&mut pool, 1, 6);
        assert_eq!(seen, [true, false, false, true, true, true]);
        contents.make_array(&mut pool, 8, 1);
        assert_eq!(contents.unwritten(&mut pool, 1, 6), seen);
        let zero = Contents::new(Background::Zero);
        assert_eq!(zero.unwritten(&mut pool, 0, 2), [false, false]);
    }

    #[test]
    fn an_undefined_byte_is_one_symbol_for_every_read() {
        let mut pool = TermPool::new();
        let contents = Contents::new(Background::Undefined(7));
        let byte = contents.read(&mut pool, 2, 1);
        let word = contents.read(&mut pool, 0, 4);
        assert!(depends_on_undefined(&mut pool, word));
        assert_eq!(pool.extract(23, 16, word), byte);
    }
}
