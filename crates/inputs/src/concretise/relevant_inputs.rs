//! The inputs that the values of some terms depend on in a model.
//!
//! The claims of a test are terms: the facts of its path and the conditions of its covered labels. An
//! input that none of them depends on needs no value in the test.

use lydian_smt::{BinOp, Evaluator, Model, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

/// Symbols, and elements of array symbols.
#[derive(Debug, Default)]
pub struct RelevantInputs {
    symbols: FxHashSet<Term>,
    elements: FxHashMap<Term, FxHashSet<u64>>,
}

impl RelevantInputs {
    /// The inputs that terms depend on in a model. Of an if-then-else only the chosen side counts.
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

    /// Adds an element of an array, and the terms that it depends on to `waiting`.
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

    /// Whether a term has a relevant symbol, or reads a relevant element.
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

    /// The relevant elements of an array symbol.
    pub fn elements(&self, array: Term) -> impl Iterator<Item = u64> + '_ {
        self.elements.get(&array).into_iter().flatten().copied()
    }
}
