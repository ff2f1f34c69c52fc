//! Definedness: the condition that a value does not depend on memory that was never written.
//!
//! A copy of a symbolic number of bytes to a fresh buffer leaves `ite(i < n, byte, unwritten)`
//! there. A program that reads only the first `n` bytes never uses an unwritten one, though the
//! term names it. [`definedness`] expresses that as a Boolean that a solver can decide.

use lydian_smt::{BinOp, Node, Term, TermPool, UnOp};
use rustc_hash::FxHashMap;

use crate::machine::memory::cells::depends_on_unwritten;
use crate::machine::memory::depends_on_undefined;

/// The most stores of an array term that a read is followed through.
const MOST_STORES: usize = 256;

/// A Boolean. Where it holds, the value of `term` is the same whatever the values of unwritten
/// bytes are. Where it does not, the value may depend on them.
pub fn definedness(pool: &mut TermPool, term: Term) -> Term {
    let mut known: FxHashMap<Term, Term> = FxHashMap::default();
    let mut waiting = vec![term];
    while let Some(&next) = waiting.last() {
        if known.contains_key(&next) {
            waiting.pop();
            continue;
        }
        let is_value = |bits, pool: &mut TermPool| !depends_on_unwritten(pool, bits);
        let defined = match pool.node(next) {
            Node::Un(UnOp::FpFromBits, bits) => is_value(bits, pool),
            _ => false,
        };
        if defined || !depends_on_undefined(pool, next) {
            known.insert(next, pool.tt());
            continue;
        }
        let needed = needed(pool, next);
        let missing = needed.iter().copied().filter(|term| !known.contains_key(term));
        let before = waiting.len();
        waiting.extend(missing);
        if waiting.len() == before {
            let value = combine(pool, next, &known);
            known.insert(next, value);
        }
    }
    known[&term]
}

/// The terms with a definedness that the definedness of a term is made of.
fn needed(pool: &TermPool, term: Term) -> Vec<Term> {
    match pool.node(term) {
        Node::Bin(BinOp::Select, array, index) => match stores(pool, array) {
            Some((stores, _)) => {
                let pairs = stores.iter().flat_map(|(at, value)| [*at, *value]);
                pairs.chain([index]).collect()
            }
            None => vec![array, index],
        },
        node => node.children().to_vec(),
    }
}

fn combine(pool: &mut TermPool, term: Term, known: &FxHashMap<Term, Term>) -> Term {
    match pool.node(term) {
        Node::Var(_) => pool.ff(),
        Node::Ite(condition, a, b) => {
            let chosen = pool.ite(condition, known[&a], known[&b]);
            pool.and(known[&condition], chosen)
        }
        Node::Bin(BinOp::And, a, b) => {
            // One defined operand that is false is enough.
            let (not_a, not_b) = (pool.not(a), pool.not(b));
            let both = pool.and(known[&a], known[&b]);
            let (first, second) = (pool.and(known[&a], not_a), pool.and(known[&b], not_b));
            let either = pool.or(first, second);
            pool.or(both, either)
        }
        Node::Bin(BinOp::Select, array, index) => match stores(pool, array) {
            Some((stores, base)) => {
                let mut value =
                    if depends_on_undefined(pool, base) { pool.ff() } else { pool.tt() };
                for (at, element) in stores.iter().rev() {
                    let here = pool.eq(index, *at);
                    value = pool.ite(here, known[element], value);
                    value = pool.and(value, known[at]);
                }
                pool.and(value, known[&index])
            }
            None => pool.and(known[&array], known[&index]),
        },
        node => {
            let mut all = pool.tt();
            for child in node.children() {
                all = pool.and(all, known[&child]);
            }
            all
        }
    }
}

/// The stores of an array term, the last one first, and the array beneath them; `None` where there
/// are too many.
fn stores(pool: &TermPool, array: Term) -> Option<(Vec<(Term, Term)>, Term)> {
    let mut found = Vec::new();
    let mut base = array;
    while let Node::Store(inner, index, value) = pool.node(base) {
        found.push((index, value));
        base = inner;
        if found.len() > MOST_STORES {
            return None;
        }
    }
    Some((found, base))
}

#[cfg(test)]
mod tests {
    use lydian_eval::{Undetermined, undefined_symbol};
    use lydian_smt::Sort;

    use super::*;

    #[test]
    fn a_choice_is_defined_where_the_chosen_value_is() {
        let mut pool = TermPool::new();
        let unwritten = undefined_symbol(&mut pool, Undetermined::Unwritten, "x", Sort::BitVec(8));
        let (c, byte) = (pool.var("c", Sort::Bool), pool.var("b", Sort::BitVec(8)));
        let choice = pool.ite(c, byte, unwritten);
        assert_eq!(definedness(&mut pool, choice), c);
        let zero = pool.bv(8, 0);
        let test = pool.eq(choice, zero);
        let guarded = pool.and(c, test);
        let defined = definedness(&mut pool, guarded);
        // Where `c` does not hold the conjunction is false, whatever the byte is.
        let truth = pool.tt();
        assert_eq!(defined, truth);
        assert_eq!(definedness(&mut pool, byte), truth);
    }

    #[test]
    fn an_element_of_an_array_is_defined_where_it_was_stored() {
        let mut pool = TermPool::new();
        let sort = Sort::Array { index: 32, element: 8 };
        let array = undefined_symbol(&mut pool, Undetermined::Unwritten, "a", sort);
        let (i, j) = (pool.var("i", Sort::BitVec(32)), pool.var("j", Sort::BitVec(32)));
        let value = pool.var("v", Sort::BitVec(8));
        let stored = pool.store(array, i, value);
        let read = pool.select(stored, j);
        let same = pool.eq(i, j);
        let defined = definedness(&mut pool, read);
        let differs = pool.neq(defined, same);
        let mut evaluator = lydian_smt::Evaluator::new();
        for (x, y) in [(1, 1), (1, 2)] {
            let bits = |value| lydian_smt::Value::from_u64(Sort::BitVec(32), value);
            let model = lydian_smt::Model::from_values(vec![(i, bits(x)), (j, bits(y))]);
            assert!(!evaluator.holds(&pool, &model, differs));
        }
    }
}
