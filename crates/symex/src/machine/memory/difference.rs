//! The difference of two memories of one path: of two runs from the same inputs.
//!
//! Both runs begin with the same objects, and each allocates in its own order. So objects of the inputs
//! and variables are compared one by one, and blocks in the order in which they were allocated. A
//! block that only one run has, or has released, is a difference. So is a pointer to another block,
//! although no program may see that: the condition may hold too often, never too seldom.

use std::sync::Arc;

use lydian_eval::to_bytes;
use lydian_inputs::lazy::Row;
use lydian_smt::{Node, Term, TermPool};
use rustc_hash::FxHashSet;

use crate::machine::memory::either::{differing, untouched};
use crate::machine::memory::shared_list::SharedList;
use crate::machine::memory::{
    AccessPlace, AccessRanges, Background, Contents, Memory, Object, ObjectId, ObjectKind, REGIONS,
    Region,
};

impl Memory {
    /// The memory of a second run of a path: `first`, with the lazy objects that the path has, as
    /// they were when they came into being. `None` where the path moved one of them.
    pub(crate) fn begin_again(&self, first: &Self) -> Option<Self> {
        let moved = self.objects(Region::Dynamic).any(|(_, object)| object.first.is_some());
        if moved {
            return None;
        }
        let mut again = first.clone();
        let lazy = &self.tables[Region::Lazy as usize];
        let objects = lazy.objects.iter().map(|object| {
            let mut fresh = untouched(object)?;
            // Tests need the bytes that any of the runs accessed.
            Arc::make_mut(&mut fresh).touched = object.touched.clone();
            Some(fresh)
        });
        let table = &mut again.tables[Region::Lazy as usize];
        table.objects = objects.collect::<Option<_>>()?;
        table.next = lazy.next;
        Some(again)
    }

    /// The condition on which bytes of lazy objects were accessed that a first run with the memory `first`
    /// did not access.
    pub(crate) fn further_accesses(&self, pool: &mut TermPool, first: &Self) -> Term {
        let known = &first.tables[Region::Lazy as usize];
        let mut all = pool.ff();
        for object in self.tables[Region::Lazy as usize].objects.iter() {
            let before = known.objects.iter().find(|other| other.base == object.base);
            let own = match before {
                Some(before) => further(pool, &before.touched, &object.touched),
                None if object.touched == AccessRanges::default() => pool.ff(),
                None => pool.tt(),
            };
            all = pool.or(all, own);
        }
        all
    }

    /// The condition on which two runs of a path leave different memory, apart from one object. `None`
    /// where that is not known.
    pub(crate) fn difference(
        pool: &mut TermPool,
        (first, second): (&Self, &Self),
        apart_from: Option<ObjectId>,
    ) -> Option<Term> {
        let mut all = pool.ff();
        for region in REGIONS {
            for (a, b) in pairs(first, second, region, apart_from)? {
                let own = match (a, b) {
                    (Some(a), Some(b)) => object_difference(pool, &a, &b)?,
                    _ => pool.tt(),
                };
                all = pool.or(all, own);
            }
        }
        Some(all)
    }
}

/// The most bytes of a range that are looked at one by one.
const MOST_BYTES: u64 = 1 << 10;

/// The condition on which one of two records of accesses has bytes that the other does not have.
fn further(pool: &mut TermPool, before: &AccessRanges, after: &AccessRanges) -> Term {
    let mut all = pool.ff();
    if before == after {
        return all;
    }
    for range in after.always() {
        let own = missing(pool, before, *range);
        all = pool.or(all, own);
    }
    for access in after.at() {
        let known =
            before.at().iter().find(|it| (it.place, it.size) == (access.place, access.size));
        let missing = match (known, pool.as_u64(access.place)) {
            (Some(known), _) if known.guard == access.guard => pool.ff(),
            (_, Some(place)) => missing(pool, before, (place, place + access.size)),
            (Some(known), None) => pool.not(known.guard),
            (None, None) => pool.tt(),
        };
        let own = pool.and(access.guard, missing);
        all = pool.or(all, own);
    }
    all
}

/// The condition on which not all bytes of a range were accessed.
fn missing(pool: &mut TermPool, accesses: &AccessRanges, (from, to): (u64, u64)) -> Term {
    if accesses.has((from, to), false) {
        return pool.ff();
    }
    if to - from > MOST_BYTES {
        return pool.tt();
    }
    let mut all = pool.ff();
    for byte in from..to {
        if accesses.has((byte, byte + 1), false) {
            continue;
        }
        let mut accessed = pool.ff();
        for AccessPlace { place, size, guard } in accesses.at() {
            let holds = |place: u64| place <= byte && byte - place < *size;
            if pool.as_u64(*place).is_some_and(holds) {
                accessed = pool.or(accessed, *guard);
            }
        }
        let own = pool.not(accessed);
        all = pool.or(all, own);
    }
    all
}

/// An object of each run, or of one run alone.
type Pair = (Option<Arc<Object>>, Option<Arc<Object>>);

/// The objects of a region that are to be compared.
fn pairs(
    first: &Memory,
    second: &Memory,
    region: Region,
    apart_from: Option<ObjectId>,
) -> Option<Vec<Pair>> {
    let (a, b) = (&first.tables[region as usize], &second.tables[region as usize]);
    if a.objects.is_shared_with(&b.objects) {
        return Some(Vec::new());
    }
    let same = |a: &Option<Arc<Object>>, b: &Option<Arc<Object>>| match (a, b) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        _ => false,
    };
    let mut found: Vec<Pair> = Vec::new();
    match region {
        Region::Lazy => {
            for object in b.objects.iter() {
                let other = a.objects.iter().find(|other| other.base == object.base).cloned();
                found.push((Some(other.or_else(|| untouched(object))?), Some(object.clone())));
            }
        }
        Region::Global => {
            let zipped = a.objects.iter().zip(b.objects.iter()).enumerate();
            let is_meant = |index: usize, object: &Object| {
                let id = ObjectId { region, index: index as u32 };
                Some(id) != apart_from && !object.read_only && object.kind != ObjectKind::Stream
            };
            let meant = zipped.filter(|(index, (_, object))| is_meant(*index, object));
            found.extend(meant.map(|(_, (a, b))| (Some(a.clone()), Some(b.clone()))));
        }
        // Objects of calls that one run alone made are no result of it.
        Region::Input => {
            let zipped = a.objects.iter().zip(b.objects.iter());
            found.extend(zipped.map(|(a, b)| (Some(a.clone()), Some(b.clone()))));
        }
        Region::Dynamic => {
            let live = |objects: &SharedList<Object>| -> Vec<Arc<Object>> {
                objects.iter().filter(|object| object.alive).cloned().collect()
            };
            let (a, b) = (live(&a.objects), live(&b.objects));
            let most = a.len().max(b.len());
            found.extend((0..most).map(|at| (a.get(at).cloned(), b.get(at).cloned())));
        }
    }
    found.retain(|(a, b)| !same(a, b));
    Some(found)
}

fn object_difference(pool: &mut TermPool, a: &Object, b: &Object) -> Option<Term> {
    if a.alive != b.alive || (a.base, a.size, a.kind) != (b.base, b.size, b.kind) {
        return Some(pool.tt());
    }
    if !a.alive {
        return Some(pool.ff());
    }
    let lengths = match (a.length, b.length) {
        (None, None) => pool.ff(),
        (Some(a), Some(b)) => pool.neq(a, b),
        _ => pool.tt(),
    };
    let contents = contents_difference(pool, &a.contents, &b.contents, a.size)?;
    Some(pool.or(lengths, contents))
}

fn contents_difference(pool: &mut TermPool, a: &Contents, b: &Contents, size: u64) -> Option<Term> {
    if a == b {
        return Some(pool.ff());
    }
    if a.background == b.background {
        return Some(cells_difference(pool, a, b));
    }
    match (&a.background, &b.background) {
        (Background::Lazy { .. }, Background::Lazy { .. }) => lazy_difference(pool, a, b),
        (Background::Lazy { .. }, _) | (_, Background::Lazy { .. }) => None,
        _ => {
            let element = |contents: &Contents| match contents.background {
                Background::Array { element, .. } => Some(u64::from(element)),
                _ => None,
            };
            let element_size = element(a).or_else(|| element(b)).unwrap_or(1);
            let mut array =
                |contents: &Contents| contents.clone().make_array(pool, size, element_size);
            let ((x, of_x), (y, of_y)) = (array(a), array(b));
            (of_x == of_y).then_some(())?;
            array_difference(pool, x, y)
        }
    }
}

/// The difference of contents over one background.
fn cells_difference(pool: &mut TermPool, a: &Contents, b: &Contents) -> Term {
    let mut all = pool.ff();
    for (offset, size) in differing(a, b) {
        let (x, y) = (a.read(pool, offset, size), b.read(pool, offset, size));
        let own = values_differ(pool, x, y);
        all = pool.or(all, own);
    }
    all
}

/// The condition on which two values of one size have different bits.
pub(crate) fn values_differ(pool: &mut TermPool, a: Term, b: Term) -> Term {
    if a == b {
        return pool.ff();
    }
    let (a, b) = (to_bytes(pool, a), to_bytes(pool, b));
    match pool.sort(a) == pool.sort(b) {
        true => pool.neq(a, b),
        false => pool.tt(),
    }
}

/// The difference of the contents of one lazy object, of which some rows are arrays.
fn lazy_difference(pool: &mut TermPool, a: &Contents, b: &Contents) -> Option<Term> {
    let (Background::Lazy { object, rows: of_a }, Background::Lazy { object: other, rows: of_b }) =
        (&a.background, &b.background)
    else {
        return None;
    };
    if object != other {
        return None;
    }
    let mut all = cells_difference(pool, a, b);
    let parts: FxHashSet<u64> = of_a.parts().chain(of_b.parts()).collect();
    for part in parts {
        let at = object.own.origin + i64::try_from(part).ok()?;
        let (row, _): (Row, i64) = object.row_at(at);
        (row.part == part).then_some(())?;
        let (x, y) = (a.row(pool, &row)?, b.row(pool, &row)?);
        let own = array_difference(pool, x, y)?;
        all = pool.or(all, own);
    }
    Some(all)
}

/// The condition on which two arrays differ that were made of one array by stores. `None` where they
/// were made of different ones.
fn array_difference(pool: &mut TermPool, a: Term, b: Term) -> Option<Term> {
    if a == b {
        return Some(pool.ff());
    }
    let mut made = MadeArrays::default();
    made.follow(pool, a);
    made.follow(pool, b);
    (made.bases.len() == 1).then_some(())?;
    let mut all = pool.ff();
    for index in made.indexes {
        let (x, y) = (pool.select(a, index), pool.select(b, index));
        let own = values_differ(pool, x, y);
        all = pool.or(all, own);
    }
    Some(all)
}

/// The arrays that arrays were made of, and the indexes that were stored to.
#[derive(Default)]
struct MadeArrays {
    seen: FxHashSet<Term>,
    bases: FxHashSet<Term>,
    indexes: Vec<Term>,
}

impl MadeArrays {
    fn follow(&mut self, pool: &TermPool, array: Term) {
        let mut waiting = vec![array];
        while let Some(array) = waiting.pop() {
            if !self.seen.insert(array) {
                continue;
            }
            match pool.node(array) {
                Node::Store(inner, index, _) => {
                    if !self.indexes.contains(&index) {
                        self.indexes.push(index);
                    }
                    waiting.push(inner);
                }
                Node::Ite(_, a, b) => waiting.extend([a, b]),
                _ => _ = self.bases.insert(array),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lydian_smt::{Evaluator, Model, Sort, Value};

    use super::*;
    use crate::machine::memory::NewObject;

    fn with_object(contents: Contents) -> (Memory, ObjectId) {
        let mut memory = Memory::new();
        let new = NewObject {
            size: 16,
            alignment: 8,
            length: None,
            kind: ObjectKind::Global,
            read_only: false,
            name: "x".into(),
            contents,
        };
        let id = memory.allocate(new).expect("there is room");
        (memory, id)
    }

    #[test]
    fn memories_differ_where_a_written_value_does() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::BitVec(32));
        let (first, id) = with_object(Contents::new(Background::Zero));
        let mut second = first.clone();
        second.object_mut(id).contents.write(&mut pool, 4, 4, x);
        let differs = Memory::difference(&mut pool, (&first, &second), None).unwrap();
        let zero = pool.bv(32, 0);
        assert_eq!(differs, pool.neq(zero, x));
        let apart = Memory::difference(&mut pool, (&first, &second), Some(id)).unwrap();
        assert_eq!(pool.as_bool(apart), Some(false));
    }

    #[test]
    fn arrays_differ_at_the_places_of_stores() {
        let mut pool = TermPool::new();
        let (i, j) = (pool.var("i", Sort::BitVec(32)), pool.var("j", Sort::BitVec(32)));
        let (first, id) = with_object(Contents::new(Background::Zero));
        let (mut a, mut b) = (first.clone(), first);
        let one = pool.bv(8, 1);
        for (memory, index) in [(&mut a, i), (&mut b, j)] {
            let contents = &mut memory.object_mut(id).contents;
            let (array, element) = contents.make_array(&mut pool, 16, 1);
            let array = pool.store(array, index, one);
            contents.set_array(array, element);
        }
        let differs = Memory::difference(&mut pool, (&a, &b), None).unwrap();
        for (x, y) in [(3, 3), (3, 4)] {
            let number = |value: u64| Value::from_u64(Sort::BitVec(32), value);
            let model = Model::from_values(vec![(i, number(x)), (j, number(y))]);
            assert_eq!(Evaluator::new().holds(&pool, &model, differs), x != y);
        }
    }

    #[test]
    fn a_block_that_one_run_alone_has_is_a_difference() {
        let mut pool = TermPool::new();
        let first = Memory::new();
        let mut second = Memory::new();
        let block = NewObject {
            size: 8,
            alignment: 16,
            length: None,
            kind: ObjectKind::Heap,
            read_only: false,
            name: "block".into(),
            contents: Contents::new(Background::Zero),
        };
        let id = second.allocate(block).expect("there is room");
        let differs = |pool: &mut TermPool, second: &Memory| {
            Memory::difference(pool, (&first, second), None).unwrap()
        };
        let term = differs(&mut pool, &second);
        assert_eq!(pool.as_bool(term), Some(true));
        second.release(id);
        let term = differs(&mut pool, &second);
        assert_eq!(pool.as_bool(term), Some(false));
    }
}
