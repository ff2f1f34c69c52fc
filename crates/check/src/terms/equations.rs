//! A decision about equations between polynomials.
//!
//! A query is contradictory if, however its disjunctions are decided, an equation that it denies follows
//! from those that it has. External solvers turn products into bits, and often have no answer here.

use rustc_hash::FxHashMap;

use super::polynomials::Expansion;
use super::{Node, Term, Terms};

/// The most ways to decide disjunctions.
const MOST_CASES: u32 = 100;
/// The most terms that are expanded in one case.
const MOST_EXPANDED: u32 = 20_000;
/// The deepest nesting of sums and products.
const DEEPEST: u32 = 200;

/// Truth values that are known of terms.
#[derive(Clone, Default)]
struct Facts {
    known: FxHashMap<Term, bool>,
    /// Disjunctions that are not decided.
    open: Vec<Vec<(Term, bool)>>,
}

impl Terms {
    /// Whether some terms surely contradict one another, as far as equations of polynomials show it.
    pub(crate) fn contradict_by_equations(&self, asserted: &[Term]) -> bool {
        if !self.multiplies(asserted) {
            return false;
        }
        let mut facts = Facts::default();
        let consistent = asserted.iter().all(|term| self.learn(&mut facts, *term, true));
        let mut cases = MOST_CASES;
        !consistent || self.is_impossible(facts, &mut cases)
    }

    /// Whether there is a product of terms that are no numbers.
    fn multiplies(&self, asserted: &[Term]) -> bool {
        let (needed, _) = self.needed(asserted);
        let nodes = self.nodes.iter().zip(needed).filter(|(_, needed)| *needed);
        nodes.map(|((node, _), _)| node).any(|node| match node {
            Node::Application(head, args) if head == "bvmul" => {
                args.iter().all(|arg| self.number(*arg).is_none())
            }
            _ => false,
        })
    }

    /// Notes a truth value, and what follows from it. False if it is known to be another.
    fn learn(&self, facts: &mut Facts, term: Term, value: bool) -> bool {
        let mut waiting = vec![(term, value)];
        while let Some((term, value)) = waiting.pop() {
            if let Some(own) = self.truth_of(term) {
                if own != value {
                    return false;
                }
                continue;
            }
            match facts.known.insert(term, value) {
                Some(known) if known != value => return false,
                Some(_) => continue,
                None => {}
            }
            let Node::Application(head, args) = &self.nodes[term.0 as usize].0 else { continue };
            match (head.as_str(), value) {
                ("not", _) => waiting.push((args[0], !value)),
                ("and", true) | ("or", false) => {
                    waiting.extend(args.iter().map(|arg| (*arg, value)));
                }
                ("and", false) | ("or", true) => {
                    facts.open.push(args.iter().map(|arg| (*arg, value)).collect());
                }
                ("=>", true) => facts.open.push(vec![(args[0], false), (args[1], true)]),
                ("=>", false) => waiting.extend([(args[0], true), (args[1], false)]),
                _ => {}
            }
        }
        true
    }

    /// Whether facts contradict one another in each of at most so many cases.
    fn is_impossible(&self, mut facts: Facts, cases: &mut u32) -> bool {
        if *cases == 0 {
            return false;
        }
        *cases -= 1;
        if self.denies_what_follows(&facts) {
            return true;
        }
        let Some(disjunction) = facts.open.pop() else { return false };
        disjunction.into_iter().all(|(term, value)| {
            let mut case = facts.clone();
            !self.learn(&mut case, term, value) || self.is_impossible(case, cases)
        })
    }

    /// Whether an equation that is false follows from those that are true.
    fn denies_what_follows(&self, facts: &Facts) -> bool {
        let choice = |test: Term| {
            self.truth_of(test).or_else(|| facts.known.get(&test).copied()).or_else(|| match &self
                .nodes[test.0 as usize]
                .0
            {
                Node::Application(head, args) if head == "not" => {
                    facts.known.get(&args[0]).map(|value| !value)
                }
                _ => None,
            })
        };
        let (mut zeros, mut others) = (Vec::new(), Vec::new());
        let mut expansion = Expansion { terms: self, choice, left: MOST_EXPANDED };
        for (term, value) in &facts.known {
            match (expansion.difference(*term, DEEPEST), value) {
                (Some(difference), true) => zeros.push(difference),
                (Some(difference), false) => others.push(difference),
                (None, _) => {}
            }
        }
        others.iter().any(|other| other.vanishes_with(&zeros))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Sort;
    use super::*;

    /// Whether the invariant `1 + x z = x + z y` is preserved by `x := x z + 1; y := y z + c`, as far as
    /// polynomials show it.
    fn is_preserved(c: u128) -> bool {
        let mut terms = Terms::default();
        let [x, y, z] = ["x", "y", "z"].map(|name| terms.fresh(name, Sort::Bits(64)));
        let (one, c) = (terms.bits(64, 1), terms.bits(64, c));
        let invariant = |terms: &mut Terms, x: Term, y: Term| {
            let (xz, zy) = (terms.arithmetic("bvmul", x, z), terms.arithmetic("bvmul", z, y));
            let (left, right) = (terms.add(one, xz), terms.add(x, zy));
            terms.equal(left, right)
        };
        let before = invariant(&mut terms, x, y);
        let (xz, yz) = (terms.arithmetic("bvmul", x, z), terms.arithmetic("bvmul", y, z));
        let (next_x, next_y) = (terms.add(xz, one), terms.add(yz, c));
        let after = invariant(&mut terms, next_x, next_y);
        let fails = terms.not(after);
        // The premise may stand in a disjunction whose other side is false.
        let never = terms.fresh("never", Sort::Bool);
        let (either, not_never) = (terms.or(never, before), terms.not(never));
        terms.contradict_by_equations(&[either, fails, not_never])
    }

    #[test]
    fn an_equation_between_polynomials_follows_from_others_or_not() {
        assert!(is_preserved(0));
        assert!(!is_preserved(1));
    }

    #[test]
    fn an_equation_that_is_not_denied_is_no_contradiction() {
        let mut terms = Terms::default();
        let [x, y] = ["x", "y"].map(|name| terms.fresh(name, Sort::Bits(8)));
        let (xy, two) = (terms.arithmetic("bvmul", x, y), terms.bits(8, 2));
        let (is_two, other) = (terms.equal(xy, two), terms.equal(x, y));
        let differ = terms.not(other);
        assert!(!terms.contradict_by_equations(&[is_two, differ]));
        // Twice the difference vanishes where the difference does not: 2 x y = 4 does not give x y = 2.
        let (double, four) = (terms.arithmetic("bvmul", two, xy), terms.bits(8, 4));
        let (is_four, is_not) = (terms.equal(double, four), terms.not(is_two));
        assert!(!terms.contradict_by_equations(&[is_four, is_not]));
        assert!(terms.contradict_by_equations(&[is_two, is_not]));
    }
}
