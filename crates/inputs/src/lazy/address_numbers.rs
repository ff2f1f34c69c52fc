//! Facts about the numbers that addresses of input objects are.
//!
//! A test places its objects where it likes. It keeps what pointers lead to, whether they are null, which
//! of them are equal, and distances within an object. It does not keep other numbers that a program
//! computes from an address, such as a hash of it, or its distance from another object.

use lydian_smt::{BinOp, Node, Sort, Term, TermPool};
use rustc_hash::FxHashSet;

use super::LazyInputs;
use crate::concretise::test_objects::is_address;

impl LazyInputs {
    /// Whether a condition is about the number that the address of an input object is, so that a test
    /// may not satisfy it although a model does. Returns a symbol of such an address.
    pub fn number_in(&self, pool: &mut TermPool, condition: Term) -> Option<Term> {
        let mut seen = FxHashSet::default();
        let mut waiting = vec![condition];
        while let Some(next) = waiting.pop() {
            let Some(symbol) = self.address_symbol(pool, next) else { continue };
            if !seen.insert(next) {
                continue;
            }
            let is_condition = |pool: &TermPool, term| pool.sort(term) == Sort::Bool;
            match pool.node(next) {
                Node::Un(_, a) if is_condition(pool, a) => waiting.push(a),
                Node::Bin(_, a, b) if is_condition(pool, a) && is_condition(pool, b) => {
                    waiting.extend([a, b]);
                }
                Node::Ite(condition, a, b) if is_condition(pool, next) => {
                    waiting.extend([condition, a, b]);
                }
                Node::Bin(op @ (BinOp::Eq | BinOp::Ult | BinOp::Slt), a, b)
                    if self.compares_places(pool, op, [a, b], &mut waiting) => {}
                _ => return Some(symbol),
            }
        }
        None
    }

    /// Whether a comparison is one of addresses, or of places in an object, whatever numbers they are.
    /// Adds the conditions of choices to `conditions`.
    fn compares_places(
        &self,
        pool: &mut TermPool,
        op: BinOp,
        [a, b]: [Term; 2],
        conditions: &mut Vec<Term>,
    ) -> bool {
        let are_addresses =
            self.are_addresses(pool, a, conditions) && self.are_addresses(pool, b, conditions);
        let of_b = self.address_symbols(pool, b);
        let are_of_b = |of_a: Vec<Term>| of_a.iter().all(|symbol| of_b.contains(symbol));
        are_addresses && (op == BinOp::Eq || are_of_b(self.address_symbols(pool, a)))
            || self.is_place_in_array(pool, a)
            || self.is_place_in_array(pool, b)
    }

    /// Whether a value is a choice of addresses, constants, and addresses that are moved by numbers. The
    /// symbol of an address stands for it, without the bits that are known.
    fn are_addresses(&self, pool: &mut TermPool, value: Term, conditions: &mut Vec<Term>) -> bool {
        let mut waiting = vec![value];
        let mut seen = FxHashSet::default();
        while let Some(next) = waiting.pop() {
            if !seen.insert(next) || self.is_pointer(next) || self.is_symbol(next) {
                continue;
            }
            if self.address_symbol(pool, next).is_none() {
                continue;
            }
            match pool.node(next) {
                Node::Ite(condition, a, b) => {
                    conditions.push(condition);
                    waiting.extend([a, b]);
                }
                Node::Bin(BinOp::Add, a, b) if self.address_symbol(pool, a).is_none() => {
                    waiting.push(b);
                }
                Node::Bin(BinOp::Add | BinOp::Sub, a, b)
                    if self.address_symbol(pool, b).is_none() =>
                {
                    waiting.push(a);
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a value is the distance of an address from a place of an input object, or its rest by the
    /// size of an element: exploration says so where a pointer leads into an array.
    fn is_place_in_array(&self, pool: &mut TermPool, value: Term) -> bool {
        let distance = match pool.node(value) {
            Node::Bin(BinOp::URem, distance, _) => distance,
            _ => value,
        };
        let (a, b) = match pool.node(distance) {
            Node::Bin(BinOp::Add, a, b) => (a, b),
            Node::Bin(BinOp::Sub, a, place) => {
                return self.is_pointer(a)
                    && pool.as_u64(place).is_some_and(|place| is_address(u128::from(place)));
            }
            _ => return false,
        };
        let is_place = |pool: &TermPool, by: Term| {
            pool.as_u64(by).is_some_and(|by| is_address(u128::from(by.wrapping_neg())))
        };
        self.is_pointer(a) && is_place(pool, b) || self.is_pointer(b) && is_place(pool, a)
    }

    /// The symbols of addresses of input objects in a term.
    pub fn address_symbols(&self, pool: &mut TermPool, term: Term) -> Vec<Term> {
        let vars = pool.vars_of(term);
        let tables = self.tables();
        vars.iter().filter(|var| tables.symbols.contains_key(var)).copied().collect()
    }

    /// The first of these symbols.
    fn address_symbol(&self, pool: &mut TermPool, term: Term) -> Option<Term> {
        let vars = pool.vars_of(term);
        let tables = self.tables();
        vars.iter().find(|var| tables.symbols.contains_key(var)).copied()
    }

    fn is_symbol(&self, var: Term) -> bool {
        self.tables().symbols.contains_key(&var)
    }
}
