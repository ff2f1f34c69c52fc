//! The evaluator: the value of a term in a model.
//!
//! This is the hottest code of symbolic execution, where every branch condition is evaluated in
//! the state's model. Values live in a vector indexed by term and stamped with a generation;
//! evaluating again in the same model costs only what is new, and changing the model costs
//! nothing but a new stamp. There is no recursion, so that deep terms do not overflow the stack.
//!
//! `Ite`, `And` and reads of arrays are evaluated lazily: operands that do not matter are skipped.

use crate::terms::float_ops;
use crate::terms::pool::TermPool;
use crate::terms::semantics;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::value::{ArrayValue, Model, Value};
use crate::terms::wide::Wide;
use std::sync::Arc;

#[derive(Clone, Copy, Default)]
struct Cell {
    generation: u32,
    /// The value, or its position in `wides` for wide terms.
    value: u64,
}

/// Evaluates terms of one pool at a time, with a cache for the last model.
#[derive(Default)]
pub struct Evaluator {
    cells: Vec<Cell>,
    generation: u32,
    model: u64,
    pool: u64,
    wides: Vec<Wide>,
    stack: Vec<Term>,
}

impl Evaluator {
    /// An evaluator with an empty cache.
    pub fn new() -> Evaluator {
        Evaluator::default()
    }

    /// Whether a Boolean term holds in the model.
    pub fn holds(&mut self, pool: &TermPool, model: &Model, t: Term) -> bool {
        debug_assert_eq!(pool.sort(t), Sort::Bool);
        self.eval_u64(pool, model, t) == 1
    }

    /// The bit pattern of a term of at most 64 bits that is no array.
    #[inline]
    pub fn eval_u64(&mut self, pool: &TermPool, model: &Model, t: Term) -> u64 {
        assert!(pool.sort(t).is_small(), "a {} is no word", pool.sort(t));
        if let Node::Bits(v) | Node::Float(v) = pool.node(t) {
            return v;
        }
        self.prepare(pool, model);
        self.run(pool, model, t);
        self.cells[t.index()].value
    }

    /// The value of a term of any sort.
    pub fn eval(&mut self, pool: &TermPool, model: &Model, t: Term) -> Value {
        let sort = pool.sort(t);
        if let Sort::Array { .. } = sort {
            return Value::Array(Arc::new(self.eval_array(pool, model, t)));
        }
        self.prepare(pool, model);
        self.run(pool, model, t);
        Value::from_wide(sort, self.wide_value(pool, t))
    }

    /// The contents of an array.
    pub fn eval_array(&mut self, pool: &TermPool, model: &Model, t: Term) -> ArrayValue {
        let mut stores = Vec::new();
        let mut base = t;
        let mut array = loop {
            match pool.node(base) {
                Node::Store(a, i, v) => {
                    let i = self.eval_u64(pool, model, i);
                    let v = self.eval_u64(pool, model, v);
                    stores.push((i, v));
                    base = a;
                }
                Node::Ite(c, x, y) => base = if self.holds(pool, model, c) { x } else { y },
                Node::Un(UnOp::ConstArray, v) => {
                    break ArrayValue {
                        default: self.eval_u64(pool, model, v),
                        elements: Default::default(),
                    };
                }
                Node::Var(_) => {
                    break match model.get(base) {
                        Some(Value::Array(a)) => (**a).clone(),
                        _ => ArrayValue::default(),
                    };
                }
                _ => break pool.array_default(base).unwrap_or_default(),
            }
        };
        for (i, v) in stores.into_iter().rev() {
            array.elements.insert(i, v);
        }
        array
    }

    fn prepare(&mut self, pool: &TermPool, model: &Model) {
        if self.model != model.id() || self.pool != pool.id() || self.generation == u32::MAX {
            if self.generation == u32::MAX {
                self.cells.clear();
                self.generation = 0;
            }
            self.generation += 1;
            self.wides.clear();
            self.model = model.id();
            self.pool = pool.id();
        }
        if self.cells.len() < pool.len() {
            self.cells.resize(pool.len().next_power_of_two(), Cell::default());
        }
    }

    #[inline]
    fn known(&self, t: Term) -> Option<u64> {
        let cell = self.cells[t.index()];
        (cell.generation == self.generation).then_some(cell.value)
    }

    /// The value if it is known; else notes on the stack that it is wanted.
    #[inline]
    fn want(&mut self, t: Term) -> Option<u64> {
        let v = self.known(t);
        if v.is_none() {
            self.stack.push(t);
        }
        v
    }

    fn wide_value(&self, pool: &TermPool, t: Term) -> Wide {
        let v = self.cells[t.index()].value;
        if pool.sort(t).is_small() { Wide::from_u64(v) } else { self.wides[v as usize] }
    }

    fn run(&mut self, pool: &TermPool, model: &Model, root: Term) {
        if self.known(root).is_some() {
            return;
        }
        let floor = self.stack.len();
        self.stack.push(root);
        while self.stack.len() > floor {
            let t = self.stack[self.stack.len() - 1];
            if self.known(t).is_some() {
                self.stack.pop();
                continue;
            }
            // `None` means that operands were pushed and `t` has its turn later.
            if let Some(value) = self.step(pool, model, t) {
                self.cells[t.index()] = Cell { generation: self.generation, value };
                self.stack.pop();
            }
        }
    }

    fn push_wide(&mut self, w: Wide) -> u64 {
        self.wides.push(w);
        self.wides.len() as u64 - 1
    }

    #[inline]
    fn step(&mut self, pool: &TermPool, model: &Model, t: Term) -> Option<u64> {
        match pool.node(t) {
            Node::Bool(b) => Some(b as u64),
            Node::Bits(v) | Node::Float(v) => Some(v),
            Node::Wide(id) => Some(self.push_wide(pool.wide(id))),
            Node::Var(_) => Some(self.variable(pool, model, t)),
            Node::Ite(c, x, y) => {
                let c = self.want(c)?;
                self.want(if c == 1 { x } else { y })
            }
            Node::Bin(BinOp::And, a, b) => match self.want(a)? {
                0 => Some(0),
                _ => self.want(b),
            },
            Node::Bin(BinOp::Select, array, i) => {
                let i = self.want(i)?;
                self.read(pool, model, array, i)
            }
            Node::Bin(op, a, b) => {
                let (x, y) = (self.want(a), self.want(b));
                let (x, y) = (x?, y?);
                let (sa, sb) = (pool.sort(a), pool.sort(b));
                if sa.is_small() && sb.is_small() && pool.sort(t).is_small() {
                    return Some(semantics::binary(op, sa, sb, x, y));
                }
                let (x, y) = (self.wide_value(pool, a), self.wide_value(pool, b));
                let r = semantics::binary_wide(op, sa, sb, x, y);
                Some(self.store_result(pool, t, r))
            }
            Node::Un(op, a) => {
                let x = self.want(a)?;
                let (from, to) = (pool.sort(a), pool.sort(t));
                if from.is_small() && to.is_small() {
                    return Some(semantics::unary(op, from, to, x));
                }
                let r = semantics::unary_wide(op, from, to, self.wide_value(pool, a));
                Some(self.store_result(pool, t, r))
            }
            Node::Extract(a, low) => {
                let x = self.want(a)?;
                let w = pool.width(t);
                if pool.sort(a).is_small() {
                    return Some(x >> low & semantics::ones(w));
                }
                let r = self.wide_value(pool, a).lshr(low).mask(w);
                Some(self.store_result(pool, t, r))
            }
            Node::Fma(a, b, c) => {
                let (x, y, z) = (self.want(a), self.want(b), self.want(c));
                Some(float_ops::fma(pool.float_sort(t), x?, y?, z?))
            }
            Node::Table(_) | Node::Store(..) => {
                unreachable!("arrays are read at an index, never evaluated as words")
            }
        }
    }

    fn store_result(&mut self, pool: &TermPool, t: Term, r: Wide) -> u64 {
        if pool.sort(t).is_small() { r.low_u64() } else { self.push_wide(r) }
    }

    fn variable(&mut self, pool: &TermPool, model: &Model, t: Term) -> u64 {
        let sort = pool.sort(t);
        let value = model.get(t).filter(|v| v.has_sort(sort));
        if sort.is_small() {
            return value.and_then(Value::to_u64).unwrap_or_else(|| pool.default_bits(t));
        }
        let wide = value.and_then(Value::to_wide).unwrap_or(Wide::ZERO);
        self.push_wide(wide)
    }

    /// The element of an array at a concrete index, walking down its stores.
    fn read(&mut self, pool: &TermPool, model: &Model, array: Term, i: u64) -> Option<u64> {
        let mut base = array;
        loop {
            match pool.node(base) {
                Node::Store(a, j, v) => match self.known(j) {
                    Some(j) if j == i => return self.want(v),
                    Some(_) => base = a,
                    None => {
                        // Ask for all the indexes below at once, or a long chain of stores would
                        // be walked once for each.
                        while let Node::Store(a, j, _) = pool.node(base) {
                            self.want(j);
                            base = a;
                        }
                        return None;
                    }
                },
                Node::Ite(c, x, y) => base = if self.want(c)? == 1 { x } else { y },
                Node::Un(UnOp::ConstArray, v) => return self.want(v),
                Node::Table(id) => {
                    let table = pool.table(id);
                    return Some(
                        usize::try_from(i).ok().map_or(0, |i| table.get(i).copied().unwrap_or(0)),
                    );
                }
                _ => {
                    return Some(match model.get(base) {
                        Some(Value::Array(a)) => a.get(i),
                        _ => 0,
                    });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changing_the_model_changes_the_values() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(32));
        let k = p.bv(32, 5);
        let t = p.mul(x, k);
        let mut e = Evaluator::new();
        let model = |v| Model::from_values(vec![(x, Value::Bits { width: 32, value: v })]);
        let (m, n) = (model(3), model(4));
        assert_eq!(e.eval_u64(&p, &m, t), 15);
        assert_eq!(e.eval_u64(&p, &n, t), 20);
        assert_eq!(e.eval_u64(&p, &m, t), 15);
        assert_eq!(e.eval_u64(&p, &Model::new(), t), 0);
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_operators_evaluates() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(32));
        let mut t = x;
        for i in 0..100_000u64 {
            let k = p.bv(32, i | 1);
            t = p.bvxor(t, x);
            t = p.mul(t, k);
        }
        let mut e = Evaluator::new();
        assert_eq!(e.eval_u64(&p, &Model::new(), t), 0);
    }

    #[test]
    fn the_latest_store_to_an_index_is_read() {
        let mut p = TermPool::new();
        let a = p.var("a", Sort::Array { index: 32, element: 8 });
        let (i, j) = (p.var("i", Sort::BitVec(32)), p.var("j", Sort::BitVec(32)));
        let (u, v) = (p.bv(8, 1), p.bv(8, 2));
        let s = p.store(a, i, u);
        let s = p.store(s, j, v);
        let k = p.bv(32, 7);
        let t = p.select(s, k);
        let at = |i_val, j_val| {
            Model::from_values(vec![
                (i, Value::Bits { width: 32, value: i_val }),
                (j, Value::Bits { width: 32, value: j_val }),
                (a, Value::Array(Arc::new(ArrayValue { default: 9, elements: [(7, 5)].into() }))),
            ])
        };
        let mut e = Evaluator::new();
        assert_eq!(e.eval_u64(&p, &at(7, 7), t), 2);
        assert_eq!(e.eval_u64(&p, &at(7, 6), t), 1);
        assert_eq!(e.eval_u64(&p, &at(6, 6), t), 5);
        let contents = e.eval_array(&p, &at(7, 7), s);
        assert_eq!((contents.get(7), contents.get(8)), (2, 9));
    }

    #[test]
    fn wide_vectors_evaluate_through_concatenation_and_slices() {
        let mut p = TermPool::new();
        let x = p.var("x", Sort::BitVec(128));
        let y = p.mul(x, x);
        let t = p.extract(127, 64, y);
        let m = Model::from_values(vec![(
            x,
            Value::from_wide(Sort::BitVec(128), Wide::from_u64(u64::MAX)),
        )]);
        let mut e = Evaluator::new();
        assert_eq!(e.eval_u64(&p, &m, t), u64::MAX - 1);
    }
}
