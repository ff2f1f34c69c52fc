//! One path among those that a transition joins.
//!
//! A transition has all paths from a point to the next: where they meet, values are choices. A model
//! takes one of them. Its literals are the conditions of the choices that are met on it, and under them
//! the values have no choices.

use lydian_smt::{BinOp, Evaluator, Model, Node, Sort, Term, TermPool, UnOp};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::engines::stage::conjuncts;
use crate::system::Transition;

/// The most literals of a path.
const MOST_LITERALS: usize = 64;

/// A path of a transition.
pub(super) struct Path {
    /// What holds where it is taken.
    pub(super) literals: Vec<Term>,
    /// The values at its end.
    pub(super) next: Vec<Term>,
}

impl Path {
    /// The path that a model takes through a transition whose guard holds in it; none if it is too
    /// complicated.
    pub(super) fn of(pool: &mut TermPool, model: &Model, transition: &Transition) -> Option<Self> {
        let mut walk = Walk {
            pool,
            model,
            evaluator: Evaluator::new(),
            literals: Vec::new(),
            seen: FxHashSet::default(),
        };
        walk.take(transition.guard, true);
        let next = transition.next.iter().map(|term| walk.resolved(*term)).collect();
        let literals = walk.literals;
        (literals.len() <= MOST_LITERALS).then_some(Self { literals, next })
    }
}

/// Follows a model through terms.
struct Walk<'a> {
    pool: &'a mut TermPool,
    model: &'a Model,
    evaluator: Evaluator,
    literals: Vec<Term>,
    /// Conditions that are among the literals.
    seen: FxHashSet<Term>,
}

impl Walk<'_> {
    fn holds(&mut self, condition: Term) -> bool {
        self.evaluator.holds(self.pool, self.model, condition)
    }

    /// Notes a condition that is true or false in the model, by literals that suffice for that.
    fn take(&mut self, condition: Term, is_true: bool) {
        if self.literals.len() > MOST_LITERALS || !self.seen.insert(condition) {
            return;
        }
        match self.pool.node(condition) {
            Node::Bool(_) => {}
            Node::Un(UnOp::Not, inner) => self.take(inner, !is_true),
            Node::Bin(BinOp::And, ..) => {
                let parts = conjuncts(self.pool, condition);
                if is_true {
                    parts.into_iter().for_each(|part| self.take(part, true));
                } else if let Some(part) = parts.into_iter().find(|part| !self.holds(*part)) {
                    self.take(part, false);
                }
            }
            Node::Ite(choice, yes, no) => {
                let is_yes = self.holds(choice);
                self.take(choice, is_yes);
                self.take(if is_yes { yes } else { no }, is_true);
            }
            Node::Bin(BinOp::Eq, a, b) if self.pool.sort(a) == Sort::Bool => {
                for side in [a, b] {
                    let holds = self.holds(side);
                    self.take(side, holds);
                }
            }
            _ => {
                let atom = self.resolved(condition);
                let literal = if is_true { atom } else { self.pool.not(atom) };
                if self.pool.as_bool(literal).is_none() && !self.literals.contains(&literal) {
                    self.literals.push(literal);
                }
            }
        }
    }

    /// A term with the branches that the model takes in place of choices.
    fn resolved(&mut self, term: Term) -> Term {
        let mut term = term;
        while self.literals.len() <= MOST_LITERALS {
            let mut branches: FxHashMap<Term, Term> = FxHashMap::default();
            for choice in outermost(self.pool, term) {
                let Node::Ite(condition, yes, no) = self.pool.node(choice) else { continue };
                let is_yes = self.holds(condition);
                self.take(condition, is_yes);
                branches.insert(choice, if is_yes { yes } else { no });
            }
            if branches.is_empty() {
                break;
            }
            term = self.pool.substituted(term, &mut branches);
        }
        term
    }
}

/// The choices in a term that are in no other.
fn outermost(pool: &TermPool, term: Term) -> Vec<Term> {
    let (mut waiting, mut found) = (vec![term], Vec::new());
    let mut seen: FxHashSet<Term> = FxHashSet::default();
    while let Some(next) = waiting.pop() {
        if !seen.insert(next) {
            continue;
        }
        match pool.node(next) {
            Node::Ite(..) => found.push(next),
            _ => waiting.extend(pool.children(next)),
        }
    }
    found
}
