//! Smart constructors of arrays.

use crate::terms::pool::TermPool;
use crate::terms::rules::Rule;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    fn array_sort(&self, a: Term) -> (u32, u32) {
        match self.sort(a) {
            Sort::Array { index, element } => (index, element),
            s => panic!("an array operator on a {s}"),
        }
    }

    /// The array in which every element is `value` (a bit-vector of at most 64 bits).
    pub fn uniform_array(&mut self, index: u32, value: Term) -> Term {
        let element = self.bv_width(value);
        self.check_array(index, element);
        self.make_un(UnOp::ConstArray, value, Sort::Array { index, element })
    }

    /// The element at index `i`.
    pub fn select(&mut self, array: Term, i: Term) -> Term {
        let (index, element) = self.array_sort(array);
        assert_eq!(self.bv_width(i), index, "an index of the wrong width");
        if self.rewriting()
            && let Some(t) = self.rewrite_select(array, i, element)
        {
            return t;
        }
        self.make_bin(BinOp::Select, array, i, Sort::BitVec(element))
    }

    fn rewrite_select(&mut self, array: Term, i: Term, element: u32) -> Option<Term> {
        let mut base = array;
        loop {
            match self.node(base) {
                Node::Store(_, j, v) if j == i => {
                    return Some(self.by(Rule::SelectStoreSame, v));
                }
                Node::Store(a, j, _) if self.certainly_differ(i, j) => base = a,
                _ => break,
            }
        }
        match self.node(base) {
            Node::Un(UnOp::ConstArray, v) => return Some(self.by(Rule::SelectUniform, v)),
            Node::Table(id) => {
                if let Some(k) = self.as_u64(i) {
                    let v = usize::try_from(k).ok().and_then(|k| self.table(id).get(k).copied());
                    let t = self.bv(element, v.unwrap_or(0));
                    return Some(self.by(Rule::SelectTable, t));
                }
            }
            Node::Ite(c, x, y) => {
                let (x, y) = (self.select(x, i), self.select(y, i));
                let t = self.ite(c, x, y);
                return Some(self.by(Rule::SelectIte, t));
            }
            _ => {}
        }
        if base != array {
            let t = self.make_bin(BinOp::Select, base, i, Sort::BitVec(element));
            return Some(self.by(Rule::SelectStoreDistinct, t));
        }
        None
    }

    /// Whether two indexes differ in every model: distinct constants, or one term with distinct
    /// constants added.
    fn certainly_differ(&self, i: Term, j: Term) -> bool {
        let split = |t: Term| match self.node(t) {
            Node::Bin(BinOp::Add, x, k) if self.is_constant(k) => (Some(x), self.const_bits(k)),
            _ => match self.const_bits(t) {
                Some(k) => (None, Some(k)),
                None => (Some(t), None),
            },
        };
        let ((x, k), (y, l)) = (split(i), split(j));
        x == y && k != l
    }

    /// The array that differs from `array` at most at index `i`, where it has `value`.
    pub fn store(&mut self, array: Term, i: Term, value: Term) -> Term {
        let (index, element) = self.array_sort(array);
        assert_eq!(self.bv_width(i), index, "an index of the wrong width");
        assert_eq!(self.bv_width(value), element, "an element of the wrong width");
        if self.rewriting() {
            if let Node::Store(a, j, _) = self.node(array)
                && i == j
            {
                let t = self.store(a, i, value);
                return self.by(Rule::StoreStore, t);
            }
            if self.node(value) == Node::Bin(BinOp::Select, array, i) {
                return self.by(Rule::StoreSelect, array);
            }
        }
        let sort = Sort::Array { index, element };
        self.intern(Node::Store(array, i, value), sort)
    }

    /// The element of a list at a symbolic index, as a balanced tree of if-then-else over the bits
    /// of the index; indexes past the end give the last element.
    ///
    /// # Panics
    /// If the list is empty.
    pub fn select_table(&mut self, elements: &[Term], index: Term) -> Term {
        assert!(!elements.is_empty(), "a table without elements");
        if let Some(k) = self.as_u64(index) {
            let last = elements.len() - 1;
            return elements[usize::try_from(k).map_or(last, |k| k.min(last))];
        }
        let w = self.bv_width(index);
        let bits = elements.len().next_power_of_two().trailing_zeros().min(w);
        let mut level = elements.to_vec();
        level.truncate(1usize << bits);
        let last = *level.last().expect("not empty");
        for bit in 0..bits {
            let b = self.extract(bit, bit, index);
            let one = self.bv(1, 1);
            let set = self.eq(b, one);
            level = level
                .chunks(2)
                .map(|pair| match pair {
                    [x, y] => self.ite(set, *y, *x),
                    // The missing half lies past the end.
                    [x] => self.ite(set, last, *x),
                    _ => unreachable!("chunks of two"),
                })
                .collect();
        }
        if bits == w {
            return level[0];
        }
        let bound = self.bv(w, 1 << bits);
        let inside = self.ult(index, bound);
        self.ite(inside, level[0], last)
    }
}
