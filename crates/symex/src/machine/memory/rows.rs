//! Rows that are array terms: the meaning of the bits of an element.
//!
//! The bits of a number are its value. The bits of a pointer among the inputs may have any value,
//! and stand for a pointer that the input can have ([`LazyObject::from_bits`]). A value that the
//! program stored in the row may be a pointer that no input can have, to a local or to a block that
//! it allocated. The store in the array term tells the two apart.

use lydian_inputs::lazy::shape::PartKind;
use lydian_inputs::lazy::{LazyObject, Row};
use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The value of a row for the bits in its array.
pub(crate) fn value_of_bits(
    pool: &mut TermPool,
    object: &LazyObject,
    row: &Row,
    bits: Term,
    name: &str,
) -> Term {
    match row.kind {
        PartKind::Pointer(_) => {
            let mut pointers = RowPointers { object, row, name, known: FxHashMap::default() };
            pointers.value(pool, bits)
        }
        _ => object.from_bits(pool, row.kind, bits, name),
    }
}

/// The stores to an array, the last one first: indexes and values.
type Stores = SmallVec<[(Term, Term); 8]>;

/// The pointers of a row.
struct RowPointers<'a> {
    object: &'a LazyObject,
    row: &'a Row,
    name: &'a str,
    /// The pointers found so far, by their bits.
    known: FxHashMap<Term, Term>,
}

impl RowPointers<'_> {
    /// The pointer for some bits.
    fn value(&mut self, pool: &mut TermPool, bits: Term) -> Term {
        if let Some(known) = self.known.get(&bits) {
            return *known;
        }
        let value = match pool.node(bits) {
            Node::Ite(..) | Node::Bin(BinOp::Select, ..) if self.is_of_inputs(pool, bits) => {
                self.object.from_bits(pool, self.row.kind, bits, self.name)
            }
            Node::Ite(condition, a, b) => {
                let (a, b) = (self.value(pool, a), self.value(pool, b));
                pool.ite(condition, a, b)
            }
            Node::Bin(BinOp::Select, array, index) => self.element(pool, array, index),
            // A value that the program stored itself.
            _ => bits,
        };
        self.known.insert(bits, value);
        value
    }

    /// An element of an array in which the program stored pointers of its own.
    fn element(&mut self, pool: &mut TermPool, array: Term, index: Term) -> Term {
        let (mut of_inputs, stores) = self.stores(pool, array);
        let is_own: SmallVec<[bool; 8]> =
            stores.iter().map(|(_, value)| self.is_own(pool, *value)).collect();
        for ((at, value), is_own) in stores.iter().zip(&is_own).rev() {
            if !is_own {
                of_inputs = pool.store(of_inputs, *at, *value);
            }
        }
        let bits = pool.select(of_inputs, index);
        let first = self.value(pool, bits);
        let stores = stores.into_iter().zip(is_own).rev();
        stores.fold(first, |before, ((at, value), is_own)| {
            let is_there = pool.eq(index, at);
            let value = if is_own { self.value(pool, value) } else { first };
            pool.ite(is_there, value, before)
        })
    }

    /// The stores to an array, and the array beneath them: mostly the one with the first values.
    fn stores(&self, pool: &TermPool, array: Term) -> (Term, Stores) {
        let first_values = self.object.first_array(self.row);
        let (mut rest, mut stores) = (array, Stores::new());
        while Some(rest) != first_values
            && let Node::Store(before, at, value) = pool.node(rest)
        {
            stores.push((at, value));
            rest = before;
        }
        (rest, stores)
    }

    /// Whether bits are those of elements in which only pointers of the inputs were stored.
    fn is_of_inputs(&self, pool: &TermPool, bits: Term) -> bool {
        let (is_own, has_elements) = self.look_through(pool, bits);
        has_elements && !is_own
    }

    /// Whether a pointer may be one that no input has: to a variable, or to memory that the program
    /// allocated.
    fn is_own(&self, pool: &TermPool, pointer: Term) -> bool {
        self.look_through(pool, pointer).0
    }

    /// Whether a choice of pointers contains one of the program's own, and whether it contains
    /// elements of arrays.
    fn look_through(&self, pool: &TermPool, pointer: Term) -> (bool, bool) {
        let (mut seen, mut waiting) = (FxHashSet::default(), vec![pointer]);
        let mut has_elements = false;
        while let Some(next) = waiting.pop() {
            match pool.node(next) {
                _ if !seen.insert(next) => {}
                Node::Ite(_, a, b) => waiting.extend([a, b]),
                Node::Bin(BinOp::Select, array, _) => {
                    has_elements = true;
                    let (_, stores) = self.stores(pool, array);
                    waiting.extend(stores.into_iter().map(|(_, value)| value));
                }
                Node::Bin(BinOp::Add, base, by) if pool.as_u64(by).is_some() => waiting.push(base),
                _ if pool.as_u64(next) == Some(0) || self.object.is_input_pointer(next) => {}
                _ => return (true, has_elements),
            }
        }
        (false, has_elements)
    }
}
