use super::*;
use crate::coverage::{ConditionCoverage, Position};

type Join = fn(Box<BoolTree>, Box<BoolTree>) -> BoolTree;

fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(ConditionId::from_index(index)))
}

fn decision(tree: BoolTree, conditions: usize, rows: &[&str]) -> DecisionCoverage {
    let condition = |index: usize| ConditionCoverage {
        start: Position { line: 1, column: index as u32 + 1 },
        text: format!("c{index}"),
        pure: true,
        counts: Default::default(),
    };
    DecisionCoverage {
        short_circuit: false,
        start: Position { line: 1, column: 1 },
        text: String::new(),
        from_macro: false,
        conditions: (0..conditions).map(condition).collect(),
        tree,
        rows: rows.iter().map(|row| DecisionRow::try_from((*row).to_owned()).unwrap()).collect(),
        outcomes: [true, true],
        recorded: true,
    }
}

/// `c0 && (c1 || c2)`.
fn nested() -> BoolTree {
    BoolTree::And(cond(0), Box::new(BoolTree::Or(cond(1), cond(2))))
}

#[test]
fn a_condition_that_is_not_reached_counts_as_the_same() {
    let found = analyse(&decision(nested(), 3, &["F--=F", "TT-=T"]));
    assert_eq!(found[0].unique, Some((1, 0)));
    assert_eq!(found[1].masking, None);
    assert_eq!(found[1].decided(), [false, true]);
    assert_eq!(found[2].decided(), [false, false]);
}

#[test]
fn a_known_value_that_was_not_reached_counts_as_the_same() {
    let found = analyse(&decision(nested(), 3, &["Ftf=F", "TFT=T"]));
    assert_eq!((found[0].masking, found[0].unique), (Some((1, 0)), Some((1, 0))));
}

#[test]
fn a_reached_value_that_differs_leaves_masking_alone() {
    let tree = BoolTree::Or(
        Box::new(BoolTree::And(cond(0), cond(1))),
        Box::new(BoolTree::And(cond(2), cond(3))),
    );
    // Both reach the first three, and the third has other values.
    let found = analyse(&decision(tree, 4, &["FtTF=F", "TTff=T", "TFF-=F"]));
    assert_eq!((found[0].masking, found[0].unique), (Some((1, 0)), Some((1, 0))));
    assert_eq!((found[1].masking, found[1].unique), (Some((1, 2)), Some((1, 2))));
    let both = BoolTree::BitAnd(
        Box::new(BoolTree::BitOr(cond(0), cond(1))),
        Box::new(BoolTree::BitOr(cond(2), cond(3))),
    );
    let found = analyse(&decision(both, 4, &["TFTF=T", "FFFT=F"]));
    assert_eq!((found[0].masking, found[0].unique), (Some((0, 1)), None));
}

#[test]
fn rows_with_one_outcome_show_nothing() {
    let tree = BoolTree::Xor(cond(0), cond(1));
    let found = analyse(&decision(tree.clone(), 2, &["TF=T", "FT=T"]));
    assert_eq!(found[0].masking, None);
    assert_eq!(found[0].decided(), [true, true]);
    let missing = wanted(&decision(tree, 2, &["TF=T", "FT=T"]), 0, &found[0]).unwrap();
    assert_eq!(
        missing,
        [MissingRow { values: vec![Some(false), Some(false)], outcome: false, beside: Some(0) }]
    );
}

#[test]
fn the_missing_row_is_like_one_that_was_seen() {
    let seen = decision(nested(), 3, &["TFT=T", "F--=F"]);
    let found = analyse(&seen);
    let missing = wanted(&seen, 2, &found[2]).unwrap();
    let expected = vec![Some(true), Some(false), Some(false)];
    assert_eq!(missing, [MissingRow { values: expected, outcome: false, beside: Some(0) }]);
    let missing = wanted(&seen, 1, &found[1]).unwrap();
    assert_eq!(missing.len(), 2);
}

#[test]
fn a_condition_beside_a_constant_may_never_decide() {
    let tree = BoolTree::And(cond(0), Box::new(BoolTree::Const(false)));
    let seen = decision(tree, 1, &["T=F", "F=F"]);
    let found = analyse(&seen);
    assert_eq!(wanted(&seen, 0, &found[0]), None);
}

/// All trees with the conditions of `range` in order, up to operators' symmetry.
fn trees(range: std::ops::Range<usize>) -> Vec<BoolTree> {
    if range.len() == 1 {
        let leaf = cond(range.start);
        return vec![(*leaf).clone(), BoolTree::Not(leaf)];
    }
    let mut all = Vec::new();
    for middle in range.start + 1..range.end {
        for left in trees(range.start..middle) {
            for right in trees(middle..range.end) {
                let pair = || (Box::new(left.clone()), Box::new(right.clone()));
                let joins: [Join; 6] = [
                    BoolTree::And,
                    BoolTree::Or,
                    BoolTree::BitAnd,
                    BoolTree::BitOr,
                    BoolTree::Eq,
                    BoolTree::Xor,
                ];
                all.extend(joins.map(|join| {
                    let (left, right) = pair();
                    join(left, right)
                }));
            }
        }
    }
    if range.len() == 3 {
        let [c, a, b] = [0, 1, 2].map(|offset| cond(range.start + offset));
        all.push(BoolTree::Ite(c, a, b));
    }
    all
}

/// The row of a decision under an assignment of all its conditions, evaluated from left to right.
fn run(tree: &BoolTree, values: &[bool]) -> DecisionRow {
    let mut reached = vec![false; values.len()];
    let outcome = walk(tree, values, &mut reached);
    let values = values.iter().zip(&reached).map(|(value, r)| r.then_some(*value)).collect();
    DecisionRow { values, reached, outcome }
}

fn walk(tree: &BoolTree, values: &[bool], reached: &mut [bool]) -> bool {
    match tree {
        BoolTree::Const(value) => *value,
        BoolTree::Cond(condition) => {
            reached[condition.index()] = true;
            values[condition.index()]
        }
        BoolTree::Not(a) => !walk(a, values, reached),
        BoolTree::And(a, b) => walk(a, values, reached) && walk(b, values, reached),
        BoolTree::Or(a, b) => walk(a, values, reached) || walk(b, values, reached),
        BoolTree::BitAnd(a, b) => walk(a, values, reached) & walk(b, values, reached),
        BoolTree::BitOr(a, b) => walk(a, values, reached) | walk(b, values, reached),
        BoolTree::Eq(a, b) => walk(a, values, reached) == walk(b, values, reached),
        BoolTree::Xor(a, b) => walk(a, values, reached) != walk(b, values, reached),
        BoolTree::Ite(c, a, b) => {
            let first = walk(c, values, reached);
            walk(if first { a } else { b }, values, reached)
        }
    }
}

#[test]
fn what_is_wanted_completes_the_pair_for_every_tree_of_three_conditions() {
    let mut asked = 0;
    for tree in trees(0..3) {
        let all: Vec<DecisionRow> = (0..8u32)
            .map(|bits| run(&tree, &[0, 1, 2].map(|index| bits >> index & 1 == 1)))
            .collect();
        for rows in std::iter::once(Vec::new()).chain(all.iter().map(|row| vec![row.clone()])) {
            let mut seen = decision(tree.clone(), 3, &[]);
            seen.rows = rows;
            for index in 0..3 {
                let found = analyse(&seen);
                let missing = wanted(&seen, index, &found[index]).expect("no constants");
                let mut with = seen.clone();
                for want in missing {
                    // Any completion of what does not matter must do.
                    let values: Vec<bool> =
                        want.values.iter().map(|value| value.unwrap_or(asked % 2 == 0)).collect();
                    let row = run(&tree, &values);
                    assert_eq!(row.outcome, want.outcome, "{tree:?} {values:?}");
                    with.rows.push(row);
                    asked += 1;
                }
                let after = analyse(&with);
                assert!(after[index].masking.is_some(), "{tree:?} c{index} {:?}", with.rows);
            }
        }
    }
    assert!(asked > 1000, "{asked}");
}
