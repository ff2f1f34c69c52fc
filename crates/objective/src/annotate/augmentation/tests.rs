//! The transformed conditions of small functions, and their texts.

use lydian_ir::{BinOp, BoolTree, CmpOp, Expr};

use crate::annotate::{Request, annotate};
use crate::criterion::Criterion;
use crate::testing::{Sample, cond};

/// The names and texts of the objectives of a criterion.
fn objectives(sample: Sample, criterion: Criterion) -> Vec<(String, String)> {
    let (program, map, func) = sample.finish();
    let annotation = annotate(&program, &map, func, &Request::new([criterion])).expect("a body");
    let objectives = annotation.objectives;
    let entries = objectives.criteria[&criterion].iter();
    let text = |label| objectives.labels[label].text.to_string();
    entries.map(|entry| (entry.name.clone(), text(entry.label))).collect()
}

/// The parts behind the first colon of names, with the texts.
fn short(found: Vec<(String, String)>) -> Vec<String> {
    let name = |name: &str| name.split_once(": ").map_or(name, |(_, how)| how).to_owned();
    found.into_iter().map(|(of, text)| format!("{}: {text}", name(&of))).collect()
}

fn borders(op: CmpOp) -> Vec<String> {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let (a, b) = (sample.read(x), sample.constant(3));
    let expr = sample.expr(Expr::Cmp(op, a, b));
    sample.lone_decision(expr);
    short(objectives(sample, Criterion::AugBoundary))
}

#[test]
fn a_strict_comparison_has_the_values_of_both_equations_on_both_sides() {
    let expected = [
        "just inside: (x == 3 - 1) && (x < 3)",
        "further inside: (x < 3 - 1) && (x < 3)",
        "just outside: x == 3",
        "further outside: x > 3",
    ];
    assert_eq!(borders(CmpOp::LtS), expected);
}

#[test]
fn a_comparison_and_its_negation_have_the_same_conditions() {
    let texts = |op| -> Vec<String> {
        let found = borders(op).into_iter();
        found.filter_map(|one| Some(one.split_once(": ")?.1.to_owned())).collect()
    };
    assert_eq!(texts(CmpOp::LtS), texts(CmpOp::GeS));
    assert_eq!(texts(CmpOp::GtS), texts(CmpOp::LeS));
    assert_eq!(texts(CmpOp::Eq), texts(CmpOp::Ne));
    let expected = ["(x == 3 + 1) && (x > 3)", "(x > 3 + 1) && (x > 3)", "x == 3", "x < 3"];
    assert_eq!(texts(CmpOp::GtS), expected);
}

#[test]
fn an_equation_has_the_value_and_those_beside_it() {
    let expected = [
        "equal: x == 3",
        "just below: (x == 3 - 1) && (x < 3)",
        "just above: (x == 3 + 1) && (x > 3)",
    ];
    assert_eq!(borders(CmpOp::Ne), expected);
}

#[test]
fn a_division_has_a_condition_for_each_error_and_for_its_absence() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let (x, y) = (sample.param("x", int), sample.param("y", int));
    let (a, b) = (sample.read(x), sample.read(y));
    let quotient = sample.expr(Expr::Binary(BinOp::DivU, a, b));
    sample.returned(quotient);
    let found = short(objectives(sample, Criterion::AugErrors));
    assert_eq!(found, ["division by zero: y == 0", "no division by zero: !(y == 0)"]);
}

#[test]
fn operators_of_the_paper_are_mutated_and_variables_are_not_made_absolute() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let (a, b) = (sample.read(x), sample.constant(3));
    let sum = sample.expr(Expr::Binary(BinOp::AddU, a, b));
    sample.returned(sum);
    let names = objectives(sample, Criterion::AugMutation);
    let operator = |name: &str| name.split(": ").nth(1).map(|how| how[..3].to_owned());
    let mut operators: Vec<String> = names.iter().filter_map(|(name, _)| operator(name)).collect();
    operators.sort_unstable();
    operators.dedup();
    assert_eq!(operators, ["AOR", "CRO", "UOI"]);
}

fn clauses(tree: BoolTree) -> Vec<String> {
    let mut sample = Sample::new("f");
    sample.decision(tree);
    objectives(sample, Criterion::AugLogic).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_clause_of_a_conjunction_has_two_active_conditions_and_two_inactive_ones() {
    let names = clauses(BoolTree::And(cond(0), cond(1)));
    let count = |verb: &str| names.iter().filter(|name| name.contains(verb)).count();
    assert_eq!(count(" decides "), 4);
    // A clause that does not decide a conjunction leaves it false.
    let idle_and_true =
        |name: &&String| name.contains(" does not decide ") && name.ends_with("true");
    assert_eq!(names.iter().filter(idle_and_true).count(), count(" does not decide ") / 2);
}

#[test]
fn a_clause_below_an_exclusive_or_has_all_combinations_and_is_never_inactive() {
    let names = clauses(BoolTree::Xor(cond(0), cond(1)));
    let active = names.iter().filter(|name| name.contains(" decides ")).count();
    assert_eq!((active, names.len()), (8, 8));
}

#[test]
fn connectives_become_each_other_and_exclusive_or() {
    let mut sample = Sample::new("f");
    sample.decision(BoolTree::Or(cond(0), cond(1)));
    let found = short(objectives(sample, Criterion::AugMutation));
    let logical = found.iter().filter(|name| name.starts_with("LOR || -> "));
    assert_eq!(logical.count(), 2, "{found:?}");
}
