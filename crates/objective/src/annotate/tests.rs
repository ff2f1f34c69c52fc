//! The objectives of each criterion, and the texts of their labels.

use lydian_base::{Diagnostic, Span};
use lydian_ir::source::{Point, RootKind};
use lydian_ir::stmt::{SwitchCase, Terminator};
use lydian_ir::{BinOp, BoolTree, CastOp, CmpOp, Expr, IntKind, Program, Stmt, Type};

use lydian_base::EntityId;

use super::mutation::operand_made_absolute;
use super::*;
use crate::hyper::Hyper;
use crate::label::Pred;
use crate::testing::{I32, Sample, cond};

fn annotate_sample(sample: Sample, request: &Request) -> Annotation {
    let (program, map, func) = sample.finish();
    annotate(&program, &map, func, request).expect("a body")
}

fn names(annotation: &Annotation, criterion: Criterion) -> Vec<&str> {
    annotation.objectives.criteria[&criterion].iter().map(|entry| entry.name.as_str()).collect()
}

fn wm(sample: Sample) -> Annotation {
    annotate_sample(sample, &Request::new([Criterion::Wm]))
}

/// `a && (b || !c)`
fn three_conditions() -> BoolTree {
    BoolTree::And(cond(0), Box::new(BoolTree::Or(cond(1), Box::new(BoolTree::Not(cond(2))))))
}

fn count(tree: BoolTree, criterion: Criterion) -> usize {
    let mut sample = Sample::new("f");
    sample.decision(tree);
    annotate_sample(sample, &Request::new([criterion])).objectives.criteria[&criterion].len()
}

#[test]
fn logic_criteria_count_as_in_the_papers() {
    let counts = [
        (Criterion::Dc, 2),
        (Criterion::Cc, 6),
        (Criterion::Dcc, 8),
        (Criterion::Mcc, 8),
        (Criterion::Gacc, 6),
        (Criterion::Gicc, 12),
        (Criterion::Bc, 6),
    ];
    for (criterion, expected) in counts {
        assert_eq!(count(three_conditions(), criterion), expected, "{criterion}");
    }
}

fn hyper_count(tree: BoolTree, criterion: Criterion) -> usize {
    let mut sample = Sample::new("f");
    sample.decision(tree);
    let annotation = annotate_sample(sample, &Request::new([criterion]));
    annotation.objectives.hyper_criteria[&criterion].len()
}

#[test]
fn pairs_of_evaluations_are_counted_once_a_condition() {
    let counts = [
        (Criterion::Cacc, 3),
        (Criterion::Racc, 3),
        (Criterion::Ricc, 6),
        (Criterion::Mcdc, 3),
        // ab + a!c, !a + !bc
        (Criterion::Cutpnfp, 7),
    ];
    for (criterion, expected) in counts {
        assert_eq!(hyper_count(three_conditions(), criterion), expected, "{criterion}");
    }
    assert_eq!(count(three_conditions(), Criterion::Ic), 4);
    assert_eq!(count(three_conditions(), Criterion::Utpc), 4);
    let equality = || BoolTree::Eq(cond(0), cond(1));
    assert_eq!(hyper_count(equality(), Criterion::Ricc), 0, "a condition of it always decides");
    assert_eq!(hyper_count(equality(), Criterion::Racc), 2);
}

#[test]
fn criteria_over_too_many_conditions_have_no_objectives_but_a_warning() {
    let parity = (1..11).fold(*cond(0), |tree, c| BoolTree::Xor(Box::new(tree), cond(c)));
    let wide = (1..129).fold(*cond(0), |tree, c| BoolTree::And(Box::new(tree), cond(c)));
    for (tree, criterion, codes) in [
        (&parity, Criterion::Cutpnfp, ["dnf-limit"; 2].as_slice()),
        (&wide, Criterion::Racc, &["restricted-conditions"]),
        (&wide, Criterion::Mcdc, &[]),
    ] {
        let mut sample = Sample::new("f");
        sample.decision(tree.clone());
        let annotation = annotate_sample(sample, &Request::new([criterion]));
        let found: Vec<_> = annotation.diagnostics.iter().map(|d| d.code).collect();
        assert_eq!(found, codes, "{criterion}");
        let objectives = annotation.objectives.hyper_criteria[&criterion].len();
        assert_eq!(objectives, if codes.is_empty() { 129 } else { 0 });
    }
}

#[test]
fn a_border_has_values_at_inside_and_outside() {
    let texts_of = |op: CmpOp| {
        let mut sample = Sample::new("f");
        let int = sample.int();
        let x = sample.param("x", int);
        let (a, b) = (sample.read(x), sample.constant(3));
        let expr = sample.expr(Expr::Cmp(op, a, b));
        sample.lone_decision(expr);
        let annotation = annotate_sample(sample, &Request::new([Criterion::Bva]));
        let labels = annotation.objectives.labels.values();
        let shown = labels.zip(names(&annotation, Criterion::Bva));
        shown.map(|(label, name)| format!("{name}: {}", label.text)).collect::<Vec<_>>()
    };
    let at = "d0.c0 at the border: x == 3";
    let below = |name: &str| format!("d0.c0 {name}: (x == 3 - 1) && (x < 3)");
    let above = |name: &str| format!("d0.c0 {name}: (x == 3 + 1) && (x > 3)");
    let (inside, outside) = ("just inside", "just outside");
    assert_eq!(texts_of(CmpOp::LtS), [at.to_owned(), below(inside), above(outside)]);
    assert_eq!(texts_of(CmpOp::LeS), texts_of(CmpOp::LtS));
    assert_eq!(texts_of(CmpOp::GtS), [at.to_owned(), above(inside), below(outside)]);
    assert_eq!(texts_of(CmpOp::Eq), [at.to_owned(), below("just below"), above("just above")]);
}

#[test]
fn calls_of_one_function_are_one_objective() {
    let mut sample = Sample::new("f");
    let (g, h) = (sample.declare("g"), sample.declare("h"));
    for callee in [g, h, g] {
        sample.call(callee);
    }
    let annotation = annotate_sample(sample, &Request::new([Criterion::Fcc]));
    let objectives = &annotation.objectives;
    let shown: Vec<_> = objectives.hypers.values().map(|hyper| &*hyper.text).collect();
    assert_eq!(shown, ["f calls g at one of 2 places", "f calls h"]);
    let Hyper::Any(atoms) = &objectives.hypers.values().next().expect("two").hyper else {
        panic!("a disjunction over the call sites")
    };
    assert_eq!(atoms.len(), 2);
}

#[test]
fn a_decision_of_one_condition_is_counted_once_by_dcc_and_has_no_inactive_case() {
    let mut sample = Sample::new("f");
    sample.decision(*cond(0));
    let annotation =
        annotate_sample(sample, &Request::new([Criterion::Dcc, Criterion::Gicc, Criterion::Bc]));
    let criteria = &annotation.objectives.criteria;
    let duplicates: Vec<_> = criteria[&Criterion::Dcc].iter().map(|e| e.duplicate_of).collect();
    assert_eq!(duplicates, [None, None, Some(0), Some(1)]);
    assert!(criteria[&Criterion::Gicc].is_empty());
    assert_eq!(annotation.objectives.labels.len(), 2, "bc shares the labels of dcc");
}

#[test]
fn an_equality_has_no_inactive_case() {
    assert_eq!(count(BoolTree::Eq(cond(0), cond(1)), Criterion::Gicc), 0);
    assert_eq!(count(BoolTree::Eq(cond(0), cond(1)), Criterion::Gacc), 4);
}

#[test]
fn a_decision_with_too_many_conditions_for_mcc_gives_a_warning() {
    let mut sample = Sample::new("f");
    sample.decision(three_conditions());
    let request = Request { mcc_conditions: 2, ..Request::new([Criterion::Mcc]) };
    let annotation = annotate_sample(sample, &request);
    assert!(annotation.objectives.criteria[&Criterion::Mcc].is_empty());
    let codes: Vec<_> = annotation.diagnostics.iter().map(|d: &Diagnostic| d.code).collect();
    assert_eq!(codes, ["mcc-conditions"]);
}

#[test]
fn a_switch_has_an_objective_for_each_case_and_for_its_default() {
    let mut sample = Sample::new("f");
    let value = sample.constant(1);
    let target = sample.body.entry;
    let case = |low, high| SwitchCase { low, high, target, span: Span::NONE };
    let cases = vec![case(1, 1), case(3, 5)];
    sample.body.blocks[target].term = Terminator::Switch { value, cases, default: target };
    let annotation = annotate_sample(sample, &Request::new([Criterion::Bc, Criterion::Dc]));
    assert_eq!(names(&annotation, Criterion::Bc), ["case 1", "case 3 ... 5", "default"]);
    assert_eq!(names(&annotation, Criterion::Dc).len(), 0);
}

#[test]
fn a_block_counts_once_however_many_statements_it_has() {
    let mut sample = Sample::new("f");
    sample.mark();
    sample.mark();
    sample.decision(BoolTree::And(cond(0), cond(1)));
    let criteria = [Criterion::Fc, Criterion::Stmt, Criterion::Bbc];
    let annotation = annotate_sample(sample, &Request::new(criteria));
    assert_eq!(names(&annotation, Criterion::Fc), ["entry of f"]);
    assert_eq!(names(&annotation, Criterion::Stmt), ["m0", "m1"]);
    assert_eq!(names(&annotation, Criterion::Bbc), ["bb0", "d0.c1 evaluated"]);
}

#[test]
fn each_operator_of_an_expression_is_mutated() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let (read, two) = (sample.read(x), sample.constant(2));
    let sum = sample.expr(Expr::Binary(BinOp::AddS, read, two));
    sample.returned(sum);
    let insertions = ["ABS abs", "ABS -abs", "UOI -", "UOI ~", "UOI !", "UOI +1", "UOI -1"];
    let mut expected = insertions.to_vec();
    expected.extend(["CRO 2 -> 0", "CRO 2 -> 1", "CRO 2 -> -1"]);
    expected.extend(["AOR + -> -", "AOR + -> *", "AOR + -> /", "AOR + -> %"]);
    expected.extend(insertions);
    assert_eq!(names(&wm(sample), Criterion::Wm), expected);
}

#[test]
fn the_operand_of_an_absolute_value_is_found_and_no_other_mutant_is_taken_for_one() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let (read, two) = (sample.read(x), sample.constant(2));
    let product = sample.expr(Expr::Binary(BinOp::MulS, read, two));
    let again = sample.read(x);
    let sum = sample.expr(Expr::Binary(BinOp::AddS, product, again));
    sample.returned(sum);
    let objectives = wm(sample).objectives;
    let mut operands = Vec::new();
    for entry in &objectives.criteria[&Criterion::Wm] {
        let Pred::Expr(test) = objectives.labels[entry.label].pred else { continue };
        let Expr::Cmp(_, a, b) = objectives.exprs[test] else { continue };
        let found = operand_made_absolute(&objectives.exprs, a, b)
            .or_else(|| operand_made_absolute(&objectives.exprs, b, a));
        assert_eq!(found.is_some(), entry.name == "ABS abs", "{}", entry.name);
        operands.extend(found.map(|found| objectives.exprs[found].clone()));
    }
    assert_eq!(operands.len(), 4);
    assert_eq!(operands.iter().filter(|operand| **operand == Expr::Local(x)).count(), 2);
    assert!(operands.contains(&Expr::Binary(BinOp::MulS, read, two)), "{operands:?}");
}

#[test]
fn a_mutant_that_is_equal_by_construction_is_not_made() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let (read, zero) = (sample.read(x), sample.constant(0));
    let sum = sample.expr(Expr::Binary(BinOp::AddS, read, zero));
    sample.returned(sum);
    let annotation = wm(sample);
    let found = names(&annotation, Criterion::Wm);
    assert!(!found.contains(&"AOR + -> -") && !found.contains(&"CRO 0 -> 0"), "{found:?}");
    assert!(found.contains(&"AOR + -> *"), "{found:?}");
}

#[test]
fn pointers_get_no_arithmetic_but_their_indices_do() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let pointer = sample.program.types.pointer(int);
    let p = sample.param("p", pointer);
    let (base, index) = (sample.read(p), sample.expr(Expr::Const(Type::Int(64), 3)));
    let addr = sample.implied(Expr::Index { base, index, size: 4, bound: None });
    sample.root(Point::Term(sample.body.entry), addr, RootKind::Address);
    assert_eq!(names(&wm(sample), Criterion::Wm), ["CRO 3 -> 0", "CRO 3 -> 1", "CRO 3 -> -1"]);
}

#[test]
fn insertions_apply_to_the_promoted_value_only() {
    let mut sample = Sample::new("f");
    let char_type = sample.program.types.int(IntKind::Char);
    let c = sample.param("c", char_type);
    let read = sample.read(c);
    let promoted = sample.implied(Expr::Cast(CastOp::SExt, I32, read));
    sample.returned(promoted);
    let annotation = wm(sample);
    assert_eq!(names(&annotation, Criterion::Wm).len(), 7);
    let label = annotation.objectives.labels.values().next().expect("a label");
    let Pred::Expr(expr) = label.pred else { panic!("{:?}", label.pred) };
    let Expr::Cmp(CmpOp::Ne, a, _) = annotation.objectives.exprs[expr] else { panic!() };
    assert_eq!(a, promoted);
}

#[test]
fn a_mutant_of_a_condition_must_decide_the_outcome() {
    let mut sample = Sample::new("f");
    sample.decision(BoolTree::And(cond(0), cond(1)));
    let decision = lydian_ir::DecisionId::from_index(0);
    let condition = lydian_ir::ConditionId::from_index(0);
    let expr = sample.body.decisions[decision].conditions[condition].expr;
    let kind = RootKind::Condition { decision, condition };
    sample.root(Point::Term(sample.body.entry), expr, kind);
    let annotation = wm(sample);
    let other = Pred::Cond(lydian_ir::ConditionId::from_index(1));
    let labels = &annotation.objectives.labels;
    let entries = &annotation.objectives.criteria[&Criterion::Wm];
    let pred_of = |name: &str| {
        let entry = entries.iter().find(|entry| entry.name == name).expect("a mutant");
        labels[entry.label].pred.clone()
    };
    let Pred::And(differs, decides) = pred_of("ROR < -> <=") else { panic!() };
    assert_eq!(*decides, other);
    assert!(matches!(&*differs, Pred::Xor(a, _) if **a == Pred::Cond(condition)));
    assert_eq!(pred_of("ROR < -> true"), Pred::and(Pred::not(Pred::Cond(condition)), other));
    let connectives: Vec<_> =
        entries.iter().map(|e| e.name.as_str()).filter(|name| name.starts_with("COR")).collect();
    let expected =
        ["COR && -> ||", "COR && -> left", "COR && -> right", "COR && -> true", "COR && -> false"];
    assert_eq!(connectives, expected);
}

/// `b = a` with locals `a` (a parameter), `b`, `c`, all int; `c` has been assigned before.
fn assignment(b_has_value: bool) -> Sample {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let a = sample.param("a", int);
    let (b, c) = (sample.var("b", int), sample.var("c", int));
    let zero = sample.implied(Expr::Const(I32, 0));
    sample.stmt(Stmt::Assign { dst: c, value: zero });
    if b_has_value {
        sample.stmt(Stmt::Assign { dst: b, value: zero });
    }
    let value = sample.read(a);
    let point = sample.stmt(Stmt::Assign { dst: b, value });
    sample.root(point, value, RootKind::Assigned { local: Some(b), addr: None });
    sample
}

#[test]
fn an_assigned_variable_is_replaced_by_others_that_have_a_value() {
    let annotation = wm(assignment(true));
    let found: Vec<_> = names(&annotation, Criterion::Wm)
        .into_iter()
        .filter(|name| name.starts_with("LHS"))
        .collect();
    assert_eq!(found, ["LHS b -> c", "LHS b -> a"]);
}

#[test]
fn the_first_assignment_of_a_variable_is_not_replaced() {
    let annotation = wm(assignment(false));
    assert!(!names(&annotation, Criterion::Wm).iter().any(|name| name.starts_with("LHS")));
}

#[test]
fn parameters_are_partitioned_by_sign_limits_and_null() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let unsigned = sample.program.types.int(IntKind::UChar);
    let pointer = sample.program.types.pointer(int);
    sample.param("i", int);
    sample.param("u", unsigned);
    sample.param("p", pointer);
    let annotation = annotate_sample(sample, &Request::new([Criterion::Idc]));
    let expected = [
        "i least",
        "i negative",
        "i zero",
        "i positive",
        "i greatest",
        "u zero",
        "u positive",
        "u greatest",
        "p null",
        "p not null",
    ];
    assert_eq!(names(&annotation, Criterion::Idc), expected);
}

#[test]
fn run_time_errors_are_listed_in_the_order_of_evaluation() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let pointer = sample.program.types.pointer(int);
    let (x, p) = (sample.param("x", int), sample.param("p", pointer));
    let (x, p) = (sample.read(x), sample.read(p));
    let load = sample.expr(Expr::Load { ty: I32, addr: p, volatile: false });
    let quotient = sample.expr(Expr::Binary(BinOp::DivS, load, x));
    let two = sample.constant(2);
    let safe = sample.expr(Expr::Binary(BinOp::RemS, quotient, two));
    sample.returned(safe);
    let annotation = annotate_sample(sample, &Request::new([Criterion::Rte]));
    assert_eq!(
        names(&annotation, Criterion::Rte),
        ["null pointer dereference", "division by zero", "division overflows"]
    );
}

#[test]
fn an_index_is_checked_only_where_memory_is_reached_through_it() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let base = sample.implied(Expr::AddrLocal(x));
    let x = sample.read(x);
    let index = sample.implied(Expr::Cast(CastOp::SExt, Type::Int(64), x));
    let addr = sample.expr(Expr::Index { base, index, size: 4, bound: Some(8) });
    sample.returned(addr);
    let load = sample.expr(Expr::Load { ty: I32, addr, volatile: false });
    sample.returned(load);
    let annotation = annotate_sample(sample, &Request::new([Criterion::Rte]));
    assert_eq!(names(&annotation, Criterion::Rte), ["index outside of 0..8"]);
}

#[test]
fn the_annotator_of_a_criterion_makes_objectives_of_that_criterion() {
    for (criterion, name) in Criterion::ALL {
        assert_eq!(annotator_of(criterion).criterion(), criterion, "{name}");
    }
}

#[test]
fn labels_and_their_keys_do_not_depend_on_which_criteria_are_asked_for() {
    let make = |criteria: &[Criterion]| {
        let mut sample = Sample::new("f");
        sample.decision(three_conditions());
        annotate_sample(sample, &Request::new(criteria)).objectives
    };
    let alone = make(&[Criterion::Gacc]);
    let among = make(&Criterion::ALL.map(|(criterion, _)| criterion));
    let keys = |objectives: &FunctionObjectives| -> Vec<_> {
        let entries = &objectives.criteria[&Criterion::Gacc];
        entries.iter().map(|entry| objectives.labels[entry.label].clone()).collect()
    };
    assert_eq!(keys(&alone), keys(&among));
}

#[test]
fn a_function_without_a_body_is_an_error() {
    let (mut program, map, func) = Sample::new("f").finish();
    program.functions[func].body = None;
    let error = annotate(&program, &map, func, &Request::new([Criterion::Fc])).unwrap_err();
    assert_eq!(error, AnnotateError::NoBody("f".to_owned()));
}

#[test]
fn a_function_keeps_its_keys_when_the_file_around_it_changes() {
    let keys = |program: &Program, map: &SourceMap, func| -> Vec<String> {
        let request = Request::new([Criterion::Gacc, Criterion::Wm]);
        let objectives = annotate(program, map, func, &request).expect("a body").objectives;
        objectives.labels.values().map(|label| label.key.to_string()).collect()
    };
    let sample = || {
        let mut sample = Sample::new("f");
        sample.decision(three_conditions());
        sample
    };
    let (program, map, func) = sample().finish();
    let before = keys(&program, &map, func);

    // A type, a global and a function more, and text before the function.
    let mut edited = sample();
    edited.program.types.int(IntKind::Short);
    let shift = "int before;\n# 9 \"sample.c\"\n";
    edited.text.insert_str(0, shift);
    let body = &mut edited.body.source.body;
    *body = Span::new(body.start + shift.len() as u32, body.end + shift.len() as u32);
    let (program, map, func) = edited.finish();
    assert_eq!(keys(&program, &map, func), before);

    // A change of the function itself.
    let mut edited = sample();
    edited.text = edited.text.replace("body of", "b0dy of");
    let (program, map, func) = edited.finish();
    assert!(keys(&program, &map, func).iter().all(|key| !before.contains(key)));
}

#[test]
fn an_increment_becomes_a_decrement_and_nothing_else() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    let read = sample.read(x);
    let one = sample.implied(Expr::Const(I32, 1));
    let sum = sample.expr(Expr::Binary(BinOp::AddS, read, one));
    sample.root(Point::Term(sample.body.entry), sum, RootKind::Update);
    let annotation = wm(sample);
    let found = names(&annotation, Criterion::Wm);
    let arithmetic: Vec<_> = found.iter().filter(|name| name.starts_with("AOR")).collect();
    assert_eq!(arithmetic, [&"AOR + -> -"]);
    assert!(!found.iter().any(|name| name.starts_with("CRO")), "{found:?}");
    let texts: Vec<_> = annotation.objectives.labels.values().map(|l| l.text.to_string()).collect();
    assert!(texts.contains(&"x + 1 != x - 1".to_owned()), "{texts:?}");
}
