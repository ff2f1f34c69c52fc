//! Predicates of the logic criteria against their definitions, on random decisions.

use lydian_base::EntityId;
use lydian_ir::{BoolTree, ConditionId, Truth};
use lydian_objective::decision::masking::{MaskedEvaluation, unmasked_conditions};
use lydian_objective::decision::predicates::{
    active_conditions, always_reached, conditions, outcome,
};
use lydian_objective::decision::vector::evaluate;
use lydian_objective::{ConditionSet, DecisionVector, Pred};
use proptest::prelude::*;

/// A tree in which each of at most 7 conditions occurs once, numbered from left to right.
fn tree() -> impl Strategy<Value = BoolTree> {
    let first = ConditionId::from_index(0);
    let leaf = prop_oneof![
        8 => Just(BoolTree::Cond(first)),
        1 => any::<bool>().prop_map(BoolTree::Const),
    ];
    let tree = leaf.prop_recursive(4, 7, 3, |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        let two = (boxed.clone(), boxed.clone());
        prop_oneof![
            boxed.clone().prop_map(BoolTree::Not),
            two.clone().prop_map(|(a, b)| BoolTree::And(a, b)),
            two.clone().prop_map(|(a, b)| BoolTree::Or(a, b)),
            two.clone().prop_map(|(a, b)| BoolTree::BitAnd(a, b)),
            two.clone().prop_map(|(a, b)| BoolTree::BitOr(a, b)),
            two.clone().prop_map(|(a, b)| BoolTree::Eq(a, b)),
            two.prop_map(|(a, b)| BoolTree::Xor(a, b)),
            (boxed.clone(), boxed.clone(), boxed)
                .prop_map(|(test, a, b)| BoolTree::Ite(test, a, b)),
        ]
    });
    tree.prop_map(|mut tree| {
        number(&mut tree, &mut 0);
        tree
    })
    .prop_filter("few enough to try all values", |tree| conditions(tree).len() <= 7)
}

fn number(tree: &mut BoolTree, next: &mut usize) {
    match tree {
        BoolTree::Const(_) => {}
        BoolTree::Cond(id) => {
            *id = ConditionId::from_index(*next);
            *next += 1;
        }
        BoolTree::Not(a) => number(a, next),
        BoolTree::And(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b)
        | BoolTree::Eq(a, b)
        | BoolTree::Xor(a, b) => {
            number(a, next);
            number(b, next);
        }
        BoolTree::Ite(test, a, b) => {
            number(test, next);
            number(a, next);
            number(b, next);
        }
    }
}

/// The event in which exactly the conditions in `known` have a value.
fn event(known: u64, value: u64) -> DecisionVector {
    DecisionVector {
        reached: ConditionSet::from_bits(known),
        known: ConditionSet::from_bits(known),
        value: ConditionSet::from_bits(value & known),
    }
}

fn two_valued(tree: &BoolTree, value: u64) -> bool {
    evaluate(tree, &mut |condition| value >> condition.index() & 1 == 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_outcome_is_the_trees_value_for_every_partial_assignment(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        let pred = outcome(&tree);
        for known in 0..all {
            for value in (0..all).filter(|value| value & !known == 0) {
                let truth = |condition: ConditionId| {
                    let bit = |set: u64| set >> condition.index() & 1 == 1;
                    if bit(known) { Truth::from(bit(value)) } else { Truth::Unknown }
                };
                prop_assert_eq!(pred.eval(&event(known, value)), tree.eval(&truth));
            }
        }
    }

    #[test]
    fn a_condition_decides_exactly_where_flipping_it_flips_the_outcome(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        for (condition, decides) in active_conditions(&tree) {
            for value in 0..all {
                let flipped = two_valued(&tree, value ^ 1 << condition.index());
                let expected = Truth::from(two_valued(&tree, value) != flipped);
                prop_assert_eq!(decides.eval(&event(all - 1, value)), expected);
            }
        }
    }

    #[test]
    fn what_is_known_of_part_of_the_conditions_holds_for_all_values_of_the_others(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        let cofactors = |c: ConditionId| {
            let with = |constant: bool| substitute(&tree, c, constant);
            Pred::xor(outcome(&with(true)), outcome(&with(false)))
        };
        for (condition, decides) in active_conditions(&tree) {
            let cofactors = cofactors(condition);
            for known in 0..all {
                let values = (0..all).filter(|value| value & !known == 0);
                for value in values.take(16) {
                    let truth = decides.eval(&event(known, value));
                    if let Some(expected) = cofactors.eval(&event(known, value)).known() {
                        prop_assert_eq!(truth.known(), Some(expected), "less known");
                    }
                    let completions = (0..all).filter(|other| other & known == value);
                    for completion in completions {
                        let full = decides.eval(&event(all - 1, completion));
                        prop_assert!(truth == Truth::Unknown || truth == full);
                    }
                }
            }
        }
    }

    #[test]
    fn a_condition_that_decides_was_reached(tree in tree()) {
        let count = conditions(&tree).len();
        for value in 0..1u64 << count {
            let mut reached = ConditionSet::new();
            evaluate(&tree, &mut |condition| {
                reached.insert(condition);
                value >> condition.index() & 1 == 1
            });
            let always = always_reached(&tree);
            for (condition, decides) in active_conditions(&tree) {
                let truth = decides.eval(&event((1 << count) - 1, value));
                prop_assert!(!truth.is_true() || reached.contains(condition));
                prop_assert!(!always.contains(condition) || reached.contains(condition));
            }
        }
    }
}

/// The evaluation with these values, in which the conditions that are not reached are unknown.
fn short_circuit(tree: &BoolTree, value: u64) -> DecisionVector {
    let mut reached = ConditionSet::new();
    evaluate(tree, &mut |condition| {
        reached.insert(condition);
        value >> condition.index() & 1 == 1
    });
    let bits = (0..64).filter(|at| reached.contains(ConditionId::from_index(*at)));
    let known = bits.fold(0, |set, at| set | 1 << at);
    DecisionVector { reached, ..event(known, value) }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Masking MC/DC with don't cares, by its definition.
    #[test]
    fn a_condition_is_unmasked_exactly_where_some_free_values_let_it_decide(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        let predicates = unmasked_conditions(&tree);
        for value in 0..all {
            let vector = short_circuit(&tree, value);
            let evaluation = MaskedEvaluation::of(&tree, &vector);
            prop_assert_eq!(evaluation.outcome, two_valued(&tree, value));
            let agrees = |other: &u64| short_circuit(&tree, *other) == vector;
            let completions: Vec<u64> = (0..all).filter(agrees).collect();
            for (condition, unmasked) in &predicates {
                let decides = completions.iter().any(|completion| {
                    let flipped = completion ^ 1 << condition.index();
                    two_valued(&tree, *completion) != two_valued(&tree, flipped)
                });
                let expected = vector.reached.contains(*condition) && decides;
                prop_assert_eq!(unmasked.eval(&vector), Truth::from(expected));
                prop_assert_eq!(evaluation.unmasked.contains(*condition), expected);
            }
        }
    }

    #[test]
    fn values_of_conditions_that_are_not_reached_do_not_change_masking(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        for value in 0..all {
            let short = short_circuit(&tree, value);
            let full = DecisionVector { reached: short.reached.clone(), ..event(all - 1, value) };
            for (_, unmasked) in unmasked_conditions(&tree) {
                prop_assert_eq!(unmasked.eval(&short), unmasked.eval(&full));
            }
        }
    }

    #[test]
    fn a_minimal_form_has_the_value_of_its_tree(tree in tree()) {
        let all = 1u64 << conditions(&tree).len();
        for wanted in [true, false] {
            let form = lydian_objective::decision::dnf::minimal(&tree, wanted).expect("few conditions");
            for value in 0..all {
                let vector = event(all - 1, value);
                let is_true = form.iter().any(|i| i.pred().eval(&vector).is_true());
                prop_assert_eq!(is_true, two_valued(&tree, value) == wanted);
            }
        }
    }
}

fn substitute(tree: &BoolTree, condition: ConditionId, value: bool) -> BoolTree {
    let part = |tree: &BoolTree| Box::new(substitute(tree, condition, value));
    match tree {
        BoolTree::Cond(id) if *id == condition => BoolTree::Const(value),
        BoolTree::Const(_) | BoolTree::Cond(_) => tree.clone(),
        BoolTree::Not(a) => BoolTree::Not(part(a)),
        BoolTree::And(a, b) => BoolTree::And(part(a), part(b)),
        BoolTree::Or(a, b) => BoolTree::Or(part(a), part(b)),
        BoolTree::BitAnd(a, b) => BoolTree::BitAnd(part(a), part(b)),
        BoolTree::BitOr(a, b) => BoolTree::BitOr(part(a), part(b)),
        BoolTree::Eq(a, b) => BoolTree::Eq(part(a), part(b)),
        BoolTree::Xor(a, b) => BoolTree::Xor(part(a), part(b)),
        BoolTree::Ite(test, a, b) => BoolTree::Ite(part(test), part(a), part(b)),
    }
}
