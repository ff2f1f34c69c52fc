//! Which inputs the values of some terms hang on.
//!
//! What a test claims is said by terms: the facts of its path, and what covers its labels. An input that
//! none of them hangs on needs no value in the test.

use lydian_smt::{BinOp, Evaluator, Model, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

/// Symbols, and elements of array symbols.
#[derive(Debug, Default)]
pub struct Asked {
    symbols: FxHashSet<Term>,
    elements: FxHashMap<Term, FxHashSet<u64>>,
}

impl Asked {
    /// What the values of terms hang on in a model: of a choice only the side that it takes.
    pub fn by(
        pool: &TermPool,
        evaluator: &mut Evaluator,
        model: &Model,
        terms: impl IntoIterator<Item = Term>,
    ) -> Self {
        let mut asked = Self::default();
        let mut waiting: Vec<Term> = terms.into_iter().collect();
        let mut seen = FxHashSet::default();
        while let Some(term) = waiting.pop() {
            if !seen.insert(term) {
                continue;
            }
            match pool.node(term) {
                Node::Var(_) => {
                    asked.symbols.insert(term);
                }
                Node::Ite(condition, then, other) => {
                    let taken = if evaluator.holds(pool, model, condition) { then } else { other };
                    waiting.extend([condition, taken]);
                }
                Node::Bin(BinOp::Select, array, index) => {
                    waiting.push(index);
                    let index = evaluator.eval_u64(pool, model, index);
                    asked.element(pool, (evaluator, model), (array, index), &mut waiting);
                }
                node => waiting.extend(node.children()),
            }
        }
        asked
    }

    /// An element of an array is asked for; what it hangs on is to be looked at.
    fn element(
        &mut self,
        pool: &TermPool,
        (evaluator, model): (&mut Evaluator, &Model),
        (mut array, index): (Term, u64),
        waiting: &mut Vec<Term>,
    ) {
        loop {
            match pool.node(array) {
                Node::Store(before, at, value) => {
                    waiting.push(at);
                    if evaluator.eval_u64(pool, model, at) == index {
                        waiting.push(value);
                        return;
                    }
                    array = before;
                }
                Node::Ite(condition, then, other) => {
                    waiting.push(condition);
                    array = if evaluator.holds(pool, model, condition) { then } else { other };
                }
                Node::Var(_) => {
                    self.elements.entry(array).or_default().insert(index);
                    return;
                }
                node => {
                    waiting.extend(node.children());
                    return;
                }
            }
        }
    }

    /// Whether a symbol of a term is asked for, or an element that it reads.
    pub fn has(&self, pool: &TermPool, term: Term) -> bool {
        let mut waiting = vec![term];
        while let Some(next) = waiting.pop() {
            match pool.node(next) {
                Node::Var(_) if self.symbols.contains(&next) => return true,
                Node::Bin(BinOp::Select, array, index) => {
                    let index = pool.as_u64(index);
                    if index.is_some_and(|index| self.has_element(array, index)) {
                        return true;
                    }
                }
                node => waiting.extend(node.children()),
            }
        }
        false
    }

    fn has_element(&self, array: Term, index: u64) -> bool {
        self.elements.get(&array).is_some_and(|indices| indices.contains(&index))
    }

    /// The elements of an array symbol that are asked for.
    pub fn elements(&self, array: Term) -> impl Iterator<Item = u64> + '_ {
        self.elements.get(&array).into_iter().flatten().copied()
    }
}
