//! Predicates of a decision's tree: its outcome, where a part decides it, and the conditions that are
//! always reached.
//!
//! Each condition occurs once in a tree. So the exclusive or of a tree's two cofactors has a form
//! without the condition, in which every other condition occurs at most twice: the Boolean difference
//! taken along the path to the part. In two-valued logic the two are equal. In Kleene's logic the
//! form used here is known wherever the cofactors' form is, and also where an unknown operand of `==`
//! or `^` cannot matter.

use lydian_ir::{BoolTree, ConditionId};

use crate::decision::vector::ConditionSet;
use crate::label::Pred;

/// The tree's value as a predicate on its decision's event. Equal to [`BoolTree::eval`] on every
/// partial assignment.
pub fn outcome(tree: &BoolTree) -> Pred {
    outcome_with(tree, &Pred::Cond)
}

/// As [`outcome`], with `leaf` in the place of each condition.
pub fn outcome_with(tree: &BoolTree, leaf: &impl Fn(ConditionId) -> Pred) -> Pred {
    let part = |tree: &BoolTree| outcome_with(tree, leaf);
    match tree {
        BoolTree::Const(value) => Pred::Const(*value),
        BoolTree::Cond(condition) => leaf(*condition),
        BoolTree::Not(a) => Pred::not(part(a)),
        BoolTree::And(a, b) | BoolTree::BitAnd(a, b) => Pred::and(part(a), part(b)),
        BoolTree::Or(a, b) | BoolTree::BitOr(a, b) => Pred::or(part(a), part(b)),
        BoolTree::Eq(a, b) => Pred::not(Pred::xor(part(a), part(b))),
        BoolTree::Xor(a, b) => Pred::xor(part(a), part(b)),
        BoolTree::Ite(test, a, b) => {
            let (test, a, b) = (part(test), part(a), part(b));
            // Without the third part, a choice between two true values would depend on its test.
            let both = Pred::and(a.clone(), b.clone());
            let chosen = Pred::or(Pred::and(test.clone(), a), Pred::and(Pred::not(test), b));
            Pred::or(chosen, both)
        }
    }
}

/// Calls `visit` with each node of the tree, parents first, and the predicate that is true where the
/// decision's outcome depends on the node's value.
pub fn for_each_node(tree: &BoolTree, visit: &mut impl FnMut(&BoolTree, &Pred)) {
    descend(tree, Pred::Const(true), visit);
}

fn descend(tree: &BoolTree, decides: Pred, visit: &mut impl FnMut(&BoolTree, &Pred)) {
    visit(tree, &decides);
    match tree {
        BoolTree::Const(_) | BoolTree::Cond(_) => {}
        BoolTree::Not(a) => descend(a, decides, visit),
        BoolTree::And(a, b) | BoolTree::BitAnd(a, b) => {
            descend(a, Pred::and(decides.clone(), outcome(b)), visit);
            descend(b, Pred::and(decides, outcome(a)), visit);
        }
        BoolTree::Or(a, b) | BoolTree::BitOr(a, b) => {
            descend(a, Pred::and(decides.clone(), Pred::not(outcome(b))), visit);
            descend(b, Pred::and(decides, Pred::not(outcome(a))), visit);
        }
        BoolTree::Eq(a, b) | BoolTree::Xor(a, b) => {
            descend(a, decides.clone(), visit);
            descend(b, decides, visit);
        }
        BoolTree::Ite(test, a, b) => {
            let differ = Pred::xor(outcome(a), outcome(b));
            let chosen = outcome(test);
            descend(test, Pred::and(decides.clone(), differ), visit);
            descend(a, Pred::and(decides.clone(), chosen.clone()), visit);
            descend(b, Pred::and(decides, Pred::not(chosen)), visit);
        }
    }
}

/// For each condition, from left to right, the predicate that is true where it decides the outcome:
/// `tree[c := 1]` differs from `tree[c := 0]`.
pub fn active_conditions(tree: &BoolTree) -> Vec<(ConditionId, Pred)> {
    let mut found = Vec::new();
    for_each_node(tree, &mut |node, decides| {
        if let BoolTree::Cond(condition) = node {
            found.push((*condition, decides.clone()));
        }
    });
    found
}

/// The tree's conditions, from left to right.
pub fn conditions(tree: &BoolTree) -> Vec<ConditionId> {
    let mut found = Vec::new();
    tree.for_each_condition(&mut |condition| found.push(condition));
    found
}

/// The predicate that evaluation reaches a condition, over the values of the conditions before it;
/// `None` if the tree has no such condition.
pub fn reaches(tree: &BoolTree, wanted: ConditionId) -> Option<Pred> {
    let after = |test: Pred, tree: &BoolTree| Some(Pred::and(test, reaches(tree, wanted)?));
    match tree {
        BoolTree::Const(_) => None,
        BoolTree::Cond(condition) => (*condition == wanted).then_some(Pred::Const(true)),
        BoolTree::Not(a) => reaches(a, wanted),
        BoolTree::And(a, b) => reaches(a, wanted).or_else(|| after(outcome(a), b)),
        BoolTree::Or(a, b) => reaches(a, wanted).or_else(|| after(Pred::not(outcome(a)), b)),
        BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b)
        | BoolTree::Eq(a, b)
        | BoolTree::Xor(a, b) => reaches(a, wanted).or_else(|| reaches(b, wanted)),
        BoolTree::Ite(test, a, b) => reaches(test, wanted)
            .or_else(|| after(outcome(test), a))
            .or_else(|| after(Pred::not(outcome(test)), b)),
    }
}

/// The conditions that every evaluation reaches, whatever the values.
pub fn always_reached(tree: &BoolTree) -> ConditionSet {
    let mut set = ConditionSet::new();
    collect_always_reached(tree, &mut set);
    set
}

fn collect_always_reached(tree: &BoolTree, set: &mut ConditionSet) {
    match tree {
        BoolTree::Const(_) => {}
        BoolTree::Cond(condition) => set.insert(*condition),
        BoolTree::Not(a) => collect_always_reached(a, set),
        // A constant on the left does not stop evaluation if it has the neutral value.
        BoolTree::And(a, b) => {
            collect_always_reached(a, set);
            if **a == BoolTree::Const(true) {
                collect_always_reached(b, set);
            }
        }
        BoolTree::Or(a, b) => {
            collect_always_reached(a, set);
            if **a == BoolTree::Const(false) {
                collect_always_reached(b, set);
            }
        }
        BoolTree::Ite(test, _, _) => collect_always_reached(test, set),
        BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b)
        | BoolTree::Eq(a, b)
        | BoolTree::Xor(a, b) => {
            collect_always_reached(a, set);
            collect_always_reached(b, set);
        }
    }
}

/// The predicate that a condition was reached: a constant if it always is.
pub fn reached(always: &ConditionSet, condition: ConditionId) -> Pred {
    if always.contains(condition) { Pred::Const(true) } else { Pred::Reached(condition) }
}

/// `a` or its negation.
pub fn signed(a: Pred, value: bool) -> Pred {
    if value { a } else { Pred::not(a) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lydian_base::EntityId;

    fn cond(index: usize) -> Box<BoolTree> {
        Box::new(BoolTree::Cond(ConditionId::from_index(index)))
    }

    #[test]
    fn an_operand_of_and_decides_where_the_other_is_true() {
        let tree = BoolTree::And(cond(0), cond(1));
        let active = active_conditions(&tree);
        assert_eq!(active[0].1, Pred::Cond(ConditionId::from_index(1)));
        assert_eq!(active[1].1, Pred::Cond(ConditionId::from_index(0)));
    }

    #[test]
    fn an_operand_of_xor_always_decides() {
        let active = active_conditions(&BoolTree::Xor(cond(0), cond(1)));
        assert!(active.iter().all(|(_, decides)| *decides == Pred::Const(true)));
    }

    #[test]
    fn the_right_side_of_and_is_not_always_reached_but_that_of_bitwise_and_is() {
        let second = ConditionId::from_index(1);
        assert!(!always_reached(&BoolTree::And(cond(0), cond(1))).contains(second));
        assert!(always_reached(&BoolTree::BitAnd(cond(0), cond(1))).contains(second));
    }
}
