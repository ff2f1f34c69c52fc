//! Terms outside of their pool, for a thread that has another.
//!
//! Ids have no meaning in another pool, and the canonical form depends on them: operands of commutative
//! operators stand in the order of their age. So terms travel as a list of nodes and are made again by
//! the smart constructors of the other pool, which may order and simplify them differently. Symbols are
//! identified by their names.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{Node, Term};
use crate::terms::wide::Wide;

/// A node without references into its pool.
#[derive(Clone, Debug)]
enum Part {
    /// A node whose operands are positions of parts before it.
    Node(Node),
    Wide(Wide),
    /// A symbol and its default bits.
    Symbol(Arc<str>, u64),
    Table(Vec<u64>),
}

/// Some terms, with all their parts.
#[derive(Clone, Debug, Default)]
pub struct PortableTerms {
    /// The nodes; operands come before their users.
    parts: Vec<(Part, Sort)>,
    /// The positions of the terms.
    terms: Vec<u32>,
}

impl PortableTerms {
    /// Terms of a pool.
    pub fn take(pool: &TermPool, terms: impl IntoIterator<Item = Term>) -> PortableTerms {
        let mut taken = PortableTerms::default();
        let mut known = FxHashMap::default();
        for term in terms {
            let at = taken.add(pool, term, &mut known);
            taken.terms.push(at);
        }
        taken
    }

    fn add(&mut self, pool: &TermPool, term: Term, known: &mut FxHashMap<Term, u32>) -> u32 {
        let mut waiting = vec![term];
        while let Some(&next) = waiting.last() {
            if known.contains_key(&next) {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            let children = pool.children(next);
            waiting.extend(children.iter().filter(|child| !known.contains_key(child)));
            if waiting.len() > before {
                continue;
            }
            waiting.pop();
            let part = match pool.node(next) {
                Node::Wide(id) => Part::Wide(pool.wide(id)),
                Node::Table(id) => Part::Table(pool.table(id).to_vec()),
                Node::Var(_) => {
                    let name = pool.var_name(next).unwrap_or_default();
                    Part::Symbol(name.into(), pool.default_bits(next))
                }
                node => Part::Node(node.map(|child| Term(known[&child]))),
            };
            known.insert(next, self.parts.len() as u32);
            self.parts.push((part, pool.sort(next)));
        }
        known[&term]
    }

    /// The terms in another pool, in the order in which they were taken.
    ///
    /// # Panics
    /// If the pool has a symbol of the same name and of another sort.
    pub fn make(&self, pool: &mut TermPool) -> Vec<Term> {
        let mut made: Vec<Term> = Vec::with_capacity(self.parts.len());
        for (part, sort) in &self.parts {
            let term = match (part, *sort) {
                (Part::Symbol(name, bits), sort) if sort.is_small() => {
                    pool.var_with_default(name, sort, *bits)
                }
                (Part::Symbol(name, _), sort) => pool.var(name, sort),
                (Part::Wide(bits), sort) => pool.bv_wide(sort.width(), *bits),
                (Part::Table(elements), Sort::Array { index, element }) => {
                    pool.const_table(index, element, elements)
                }
                (Part::Table(_), sort) => unreachable!("a table that is a {sort}"),
                (Part::Node(Node::Bool(value)), _) => pool.bool(*value),
                (Part::Node(Node::Bits(bits)), sort) => pool.bv(sort.width(), *bits),
                (Part::Node(Node::Float(bits)), Sort::Float(float)) => pool.fp_const(float, *bits),
                (Part::Node(node), sort) => {
                    let children = node.children();
                    let children: Vec<Term> =
                        children.iter().map(|child| made[child.index()]).collect();
                    pool.remade(*node, sort, &children)
                }
            };
            made.push(term);
        }
        self.terms.iter().map(|at| made[*at as usize]).collect()
    }
}

/// Numbers that identify terms by their structure, whichever pool they are in. Terms have the same
/// number if they differ at most in the order of exchangeable operands; other collisions are very
/// unlikely. The numbers are kept for each term.
#[derive(Debug, Default)]
pub struct Structures {
    /// By term; 0 where it is not known.
    known: Vec<u64>,
}

impl Structures {
    /// The number of a term. All terms must be of one pool.
    pub fn of(&mut self, pool: &TermPool, term: Term) -> u64 {
        if self.known.len() < pool.len() {
            self.known.resize(pool.len(), 0);
        }
        if self.known[term.index()] != 0 {
            return self.known[term.index()];
        }
        let mut waiting = vec![term];
        while let Some(&next) = waiting.last() {
            if self.known[next.index()] != 0 {
                waiting.pop();
                continue;
            }
            let before = waiting.len();
            let children = pool.children(next);
            waiting.extend(children.iter().filter(|child| self.known[child.index()] == 0));
            if waiting.len() == before {
                waiting.pop();
                self.known[next.index()] = self.number(pool, next).max(1);
            }
        }
        self.known[term.index()]
    }

    /// The number of a term whose operands have theirs.
    fn number(&self, pool: &TermPool, term: Term) -> u64 {
        let mut hasher = DefaultHasher::new();
        pool.sort(term).hash(&mut hasher);
        let node = pool.node(term);
        match node {
            Node::Wide(id) => (0u8, pool.wide(id)).hash(&mut hasher),
            Node::Table(id) => (1u8, pool.table(id)).hash(&mut hasher),
            Node::Var(_) => (2u8, pool.var_name(term)).hash(&mut hasher),
            node => (3u8, node.map(|_| Term(0))).hash(&mut hasher),
        }
        let operands = node.children();
        let mut operands: Vec<u64> = operands.iter().map(|term| self.known[term.index()]).collect();
        if matches!(node, Node::Bin(op, ..) if op.is_commutative()) {
            operands.sort_unstable();
        }
        operands.hash(&mut hasher);
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Evaluator, FloatSort, Model, Value};

    /// Terms over all kinds of leaves and operators, with two symbols.
    fn terms(pool: &mut TermPool, swapped: bool) -> Vec<Term> {
        let sort = Sort::BitVec(32);
        let names = if swapped { ["y", "x"] } else { ["x", "y"] };
        for name in names {
            pool.var(name, sort);
        }
        let (x, y) = (pool.var("x", sort), pool.var("y", sort));
        let sum = pool.add(x, y);
        let product = pool.mul(y, x);
        let less = pool.slt(sum, product);
        let byte = pool.extract(15, 8, sum);
        let wide = pool.zext(x, 100);
        let all = pool.bv_wide(100, Wide::ones(100));
        let wide = pool.bvxor(wide, all);
        let table = pool.const_array(8, &[3, 1, 4, 1, 5]);
        let element = pool.select(table, byte);
        let stored = pool.store(table, byte, element);
        let other = pool.bv(8, 2);
        let read = pool.select(stored, other);
        let float = pool.fp_from_signed(FloatSort::F32, x);
        let half = pool.f32(0.5);
        let float = pool.fp_mul(float, half);
        let nan = pool.fp_is_nan(float);
        let either = pool.or(less, nan);
        let choice = pool.ite(either, sum, product);
        vec![choice, read, wide, float, nan]
    }

    fn model(pool: &mut TermPool, x: u64, y: u64) -> Model {
        let sort = Sort::BitVec(32);
        let values = [("x", x), ("y", y)];
        let values = values.map(|(name, bits)| (pool.var(name, sort), Value::from_u64(sort, bits)));
        Model::from_values(values.to_vec())
    }

    #[test]
    fn terms_have_the_same_values_in_another_pool() {
        let (mut here, mut there) = (TermPool::new(), TermPool::new());
        there.var("y", Sort::BitVec(32));
        let all = terms(&mut here, false);
        let copies = PortableTerms::take(&here, all.iter().copied()).make(&mut there);
        let mut evaluators = [Evaluator::new(), Evaluator::new()];
        for (x, y) in [(1, 2), (0xffff_ffff, 7), (0x8000_0000, 0x8000_0001), (0x300, 0)] {
            let models = (model(&mut here, x, y), model(&mut there, x, y));
            for (term, copy) in all.iter().zip(&copies) {
                let value = evaluators[0].eval(&here, &models.0, *term);
                assert_eq!(evaluators[1].eval(&there, &models.1, *copy), value);
            }
        }
    }

    #[test]
    fn structures_are_those_of_another_pool_whatever_is_older_there() {
        let (mut here, mut there) = (TermPool::new(), TermPool::new());
        let (mut of_here, mut of_there) = (Structures::default(), Structures::default());
        let all = terms(&mut here, false);
        let others = terms(&mut there, true);
        let here: Vec<u64> = all.iter().map(|term| of_here.of(&here, *term)).collect();
        let there: Vec<u64> = others.iter().map(|term| of_there.of(&there, *term)).collect();
        assert_eq!(here, there);
        let mut distinct = here.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), here.len());
    }

    #[test]
    fn operands_that_may_not_be_exchanged_make_another_structure() {
        let mut pool = TermPool::new();
        let (x, y) = (pool.var("x", Sort::BitVec(8)), pool.var("y", Sort::BitVec(8)));
        let (a, b) = (pool.udiv(x, y), pool.udiv(y, x));
        let mut structures = Structures::default();
        assert_ne!(structures.of(&pool, a), structures.of(&pool, b));
        assert_ne!(structures.of(&pool, x), structures.of(&pool, y));
    }
}
