//! The merge of two memories: a condition selects between them.
//!
//! The two belong to paths that were one, so that everything that was made before they parted is
//! the same object in both. Bytes that differ become choices between two terms. An unwritten byte
//! is chosen as its symbol, so that it stays unwritten under the same condition. Two memories with
//! different live objects cannot be merged.

use std::sync::Arc;

use lydian_eval::to_bytes;
use lydian_smt::{Term, TermPool};

use crate::machine::memory::lazy::RowArrays;
use crate::machine::memory::shared_list::SharedList;
use crate::machine::memory::{
    AccessRanges, Background, Cell, Contents, Memory, Object, REGIONS, Region, Table,
};

/// The most cells that may differ for contents to be merged: each one is a choice that every later
/// read contains.
const MOST_CELLS: usize = 16;

impl Memory {
    /// The memory that is `a` where `holds` is true, and `b` elsewhere. `None` where they do not
    /// have the same objects, or differ in something that is not a term.
    pub fn either(pool: &mut TermPool, holds: Term, a: &Self, b: &Self) -> Option<Self> {
        let mut tables = Vec::with_capacity(a.tables.len());
        for ((a, b), region) in a.tables.iter().zip(&b.tables).zip(REGIONS) {
            tables.push(match region {
                Region::Lazy => either_lazy_table(pool, holds, a, b)?,
                _ => either_table(pool, holds, a, b)?,
            });
        }
        Some(Self { tables: tables.try_into().ok()? })
    }
}

fn either_table(pool: &mut TermPool, holds: Term, a: &Table, b: &Table) -> Option<Table> {
    let next = a.next.max(b.next);
    if a.objects.is_shared_with(&b.objects) {
        return Some(Table { objects: a.objects.clone(), next });
    }
    let (longer, shorter) = if a.objects.len() >= b.objects.len() { (a, b) } else { (b, a) };
    let common = shorter.objects.len();
    // Objects of one memory alone must be dead: only a dangling address leads to them.
    if longer.objects.iter().skip(common).any(|object| object.alive) {
        return None;
    }
    let mut objects = SharedList::default();
    for (a, b) in a.objects.iter().zip(b.objects.iter()) {
        objects.push(either_object(pool, holds, a, b)?);
    }
    longer.objects.iter().skip(common).for_each(|object| objects.push(object.clone()));
    Some(Table { objects, next })
}

/// Merges the tables of lazy objects. An object that only one path looked at has its first contents
/// on the other.
fn either_lazy_table(pool: &mut TermPool, holds: Term, a: &Table, b: &Table) -> Option<Table> {
    let next = a.next.max(b.next);
    if a.objects.is_shared_with(&b.objects) {
        return Some(Table { objects: a.objects.clone(), next });
    }
    let find =
        |table: &Table, base: u64| table.objects.iter().find(|object| object.base == base).cloned();
    let mut objects = SharedList::default();
    for object in a.objects.iter() {
        let other = find(b, object.base).or_else(|| untouched(object))?;
        objects.push(either_object(pool, holds, object, &other)?);
    }
    for object in b.objects.iter().filter(|object| find(a, object.base).is_none()) {
        objects.push(either_object(pool, holds, &untouched(object)?, object)?);
    }
    Some(Table { objects, next })
}

/// An input object as it is before a path looks at it.
pub(super) fn untouched(object: &Object) -> Option<Arc<Object>> {
    let first = object.first.clone()?;
    let background = Background::Lazy { object: first, rows: RowArrays::default() };
    let (contents, touched) = (Contents::new(background), AccessRanges::default());
    Some(Arc::new(Object {
        contents,
        touched,
        alive: true,
        name: object.name.clone(),
        first: object.first.clone(),
        ..*object
    }))
}

fn either_object(
    pool: &mut TermPool,
    holds: Term,
    a: &Arc<Object>,
    b: &Arc<Object>,
) -> Option<Arc<Object>> {
    if Arc::ptr_eq(a, b) {
        return Some(a.clone());
    }
    let same = (a.base, a.size, a.length, a.kind) == (b.base, b.size, b.length, b.kind)
        && (a.alive, a.read_only, &a.first) == (b.alive, b.read_only, &b.first);
    if !same {
        return None;
    }
    let contents = Contents::either(pool, holds, &a.contents, &b.contents)?;
    let touched = AccessRanges::either(pool, holds, &a.touched, &b.touched);
    Some(Arc::new(Object {
        contents,
        touched,
        name: a.name.clone(),
        first: a.first.clone(),
        ..**a
    }))
}

impl Contents {
    /// The bytes that are `a` where `holds` is true, and `b` elsewhere.
    fn either(pool: &mut TermPool, holds: Term, a: &Self, b: &Self) -> Option<Self> {
        if a == b {
            return Some(a.clone());
        }
        if a.background != b.background {
            return None;
        }
        let differing = differing(a, b);
        if differing.len() > MOST_CELLS {
            return None;
        }
        let mut both = b.clone();
        for (offset, size) in differing {
            let (mut x, mut y) = (a.read(pool, offset, size), b.read(pool, offset, size));
            if pool.sort(x) != pool.sort(y) {
                (x, y) = (to_bytes(pool, x), to_bytes(pool, y));
            }
            if [x, y].into_iter().any(|value| is_address(pool, value)) {
                return None;
            }
            let value = pool.ite(holds, x, y);
            both.write(pool, offset, size, value);
        }
        Some(both)
    }
}

/// The ranges of cells that only one of two contents has, none within another.
pub(super) fn differing(a: &Contents, b: &Contents) -> Vec<(u64, u64)> {
    let has = |contents: &Contents, cell: &Cell| {
        let at = contents.cells.binary_search_by_key(&cell.offset, |cell| cell.offset);
        at.is_ok_and(|at| contents.cells[at] == *cell)
    };
    let only_a = a.cells.iter().filter(|cell| !has(b, cell));
    let only_b = b.cells.iter().filter(|cell| !has(a, cell));
    let ranges = only_a.chain(only_b).map(|cell| (u64::from(cell.offset), u64::from(cell.size)));
    let mut ranges: Vec<(u64, u64)> = ranges.collect();
    ranges.sort_unstable_by_key(|(offset, size)| (*offset, std::cmp::Reverse(*size)));
    let mut end = 0;
    ranges.retain(|(offset, size)| {
        let alone = offset + size > end;
        end = end.max(offset + size);
        alone
    });
    ranges
}

/// Whether a value is an address in memory.
fn is_address(pool: &TermPool, value: Term) -> bool {
    pool.as_u64(value).is_some_and(|value| Region::of(value).is_some())
}
