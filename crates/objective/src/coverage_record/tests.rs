//! Consolidation against the definitions of the criteria, and on hyperlabels made by hand.

use lydian_base::EntityId;
use lydian_ir::{BoolTree, ConditionId, Decision, DecisionId};
use proptest::prelude::*;

use super::*;
use crate::annotate::{Request, annotate};
use crate::criterion::Criterion;
use crate::decision::predicates::conditions;
use crate::decision::vector::evaluate;
use crate::hyper::{Atom, Binding, Formula, FormulaOp, Hyper};
use crate::testing::{Sample, cond, tree};

const HYPER: [Criterion; 5] =
    [Criterion::Cacc, Criterion::Racc, Criterion::Ricc, Criterion::Mcdc, Criterion::Cutpnfp];

fn objectives_of(tree: &BoolTree, short_circuit: bool) -> (FunctionObjectives, Decision) {
    let mut sample = Sample::new("f");
    sample.decision(tree.clone());
    let (program, map, func) = sample.finish();
    let request = Request { short_circuit, ..Request::new(HYPER) };
    let annotation = annotate(&program, &map, func, &request).expect("a body");
    let body = program.functions[func].body.as_ref().expect("a body");
    let decision = body.decisions.values().next().expect("a decision").clone();
    (annotation.objectives, decision)
}

fn record_of(decision: &Decision, short_circuit: bool, values: &[u32]) -> CoverageRecord {
    let mut record = CoverageRecord::new();
    for value in values {
        let is_true = |c: ConditionId| value >> c.index() & 1 == 1;
        let vector = DecisionVector::of(decision, short_circuit, is_true, |_| false);
        record.add_vector(DecisionId::from_index(0), vector);
    }
    record
}

/// The names of the covered objectives.
fn covered(tree: &BoolTree, criterion: Criterion, short: bool, values: &[u32]) -> Vec<String> {
    let (objectives, decision) = objectives_of(tree, short);
    let record = record_of(&decision, short, values);
    let entries = &objectives.hyper_criteria[&criterion];
    let is_covered = |entry: &&crate::HyperEntry| {
        let hyper = &objectives.hypers[entry.hyper].hyper;
        record.covers(&objectives, hyper).expect("it is small")
    };
    entries.iter().filter(is_covered).map(|entry| entry.name.clone()).collect()
}

fn boxed(tree: BoolTree) -> Box<BoolTree> {
    Box::new(tree)
}

/// Values of conditions, the first one being the first letter.
fn values(rows: &str) -> Vec<u32> {
    let bits = |row: &str| {
        row.chars().enumerate().fold(0, |bits, (at, c)| bits | u32::from(c == 'T') << at)
    };
    rows.split(' ').map(bits).collect()
}

#[test]
fn pairs_for_a_conjunction_worked_out_by_hand() {
    let tree = BoolTree::And(cond(0), cond(1));
    let all = |criterion, rows: &str| covered(&tree, criterion, false, &values(rows));
    assert_eq!(all(Criterion::Racc, "TT FT"), ["d0.c0 alone decides"]);
    assert_eq!(all(Criterion::Racc, "TT FF"), [""; 0], "both differ");
    assert_eq!(all(Criterion::Cacc, "TT FT TF"), ["d0.c0 decides", "d0.c1 decides"]);
    assert_eq!(all(Criterion::Cacc, "TT FF"), [""; 0], "with b false a does not decide");
    // A part that is not reached does not mask.
    assert_eq!(all(Criterion::Mcdc, "TT FF"), ["d0.c0 decides"]);
    assert_eq!(all(Criterion::Ricc, "TF FF"), ["d0.c0 alone idle, d0 false"]);
    assert_eq!(all(Criterion::Ricc, "TT FF TF FT").len(), 2, "none is idle where it is true");
}

#[test]
fn short_circuit_pairs_for_a_conjunction_are_those_of_the_table() {
    let tree = BoolTree::And(cond(0), cond(1));
    for criterion in [Criterion::Cacc, Criterion::Racc, Criterion::Mcdc] {
        let rows = |rows: &str| covered(&tree, criterion, true, &values(rows)).len();
        assert_eq!(rows("TT FT TF"), 2, "{criterion}");
        assert_eq!(rows("TT FF"), 1, "{criterion}: what is not reached may be anything");
        assert_eq!(rows("TT TF"), 1, "{criterion}");
        assert_eq!(rows("TF FF"), 0, "{criterion}");
    }
}

#[test]
fn masking_shows_more_than_unique_cause() {
    // (a && b) || c: for c, "FT F" and "TF T" differ in more than c, but a && b is false in both.
    let tree = BoolTree::Or(boxed(BoolTree::And(cond(0), cond(1))), cond(2));
    let rows = values("FTF TFT");
    assert_eq!(covered(&tree, Criterion::Cacc, false, &rows), ["d0.c2 decides"]);
    assert_eq!(covered(&tree, Criterion::Racc, false, &rows), [""; 0]);
    assert_eq!(covered(&tree, Criterion::Racc, true, &rows), [""; 0], "a was reached in both");
}

#[test]
fn an_exclusive_or_needs_different_outcomes() {
    let tree = BoolTree::Xor(cond(0), cond(1));
    for criterion in [Criterion::Cacc, Criterion::Mcdc] {
        assert_eq!(covered(&tree, criterion, false, &values("TF FT")), [""; 0]);
        assert_eq!(covered(&tree, criterion, false, &values("TF FF")), ["d0.c0 decides"]);
        assert_eq!(covered(&tree, criterion, false, &values("TF FF FT")).len(), 2);
    }
}

#[test]
fn near_false_points_differ_in_one_literal() {
    // a && (b || !c) = ab + a!c
    let not_c = boxed(BoolTree::Not(cond(2)));
    let tree = BoolTree::And(cond(0), boxed(BoolTree::Or(cond(1), not_c)));
    let rows = |rows: &str| covered(&tree, Criterion::Cutpnfp, false, &values(rows));
    // ab alone is TTT; without a it is FTT, which is false.
    assert_eq!(rows("TTT FTT"), ["d0 c0 c1 by c0", "!d0 !c0 by c0"]);
    assert_eq!(rows("TTT FTF"), [""; 0], "c differs too");
}

/// The decisions of the golden table, with `!` and constants in the least usual places.
fn golden() -> Vec<(&'static str, BoolTree)> {
    let not = |tree| BoolTree::Not(boxed(tree));
    let and_12 = || boxed(BoolTree::And(cond(1), cond(2)));
    let product = |a: usize, b: usize| boxed(BoolTree::And(cond(a), cond(b)));
    vec![
        ("a && b", BoolTree::And(cond(0), cond(1))),
        ("a || b && c", BoolTree::Or(cond(0), and_12())),
        ("a == (b && c)", BoolTree::Eq(cond(0), and_12())),
        ("a ^ b", BoolTree::Xor(cond(0), cond(1))),
        ("!a", not(*cond(0))),
        ("a && 1", BoolTree::And(cond(0), boxed(BoolTree::Const(true)))),
        ("a ? b : c", BoolTree::Ite(cond(0), cond(1), cond(2))),
        ("a && b || a && c", BoolTree::Or(product(0, 1), product(2, 3))),
    ]
}

/// The number of objectives of a criterion, and the number that the rows cover.
fn counts(tree: &BoolTree, criterion: Criterion, rows: &[u32]) -> (usize, usize) {
    let mut sample = Sample::new("f");
    sample.decision(tree.clone());
    let (program, map, func) = sample.finish();
    let annotation = annotate(&program, &map, func, &Request::new([criterion])).expect("a body");
    let objectives = annotation.objectives;
    let body = program.functions[func].body.as_ref().expect("a body");
    let decision = body.decisions.values().next().expect("a decision");
    let record = record_of(decision, false, rows);
    let covers = |hyper| record.covers(&objectives, hyper).expect("it is small");
    match objectives.hyper_criteria.get(&criterion) {
        Some(entries) => {
            let covered = entries.iter().filter(|e| covers(&objectives.hypers[e.hyper].hyper));
            (entries.len(), covered.count())
        }
        None => {
            let entries = &objectives.criteria[&criterion];
            let covered = entries.iter().filter(|e| record.covers_label(&objectives, e.label));
            (entries.len(), covered.count())
        }
    }
}

/// Worked out by hand: the objectives, and those that all combinations of the conditions' values
/// cover. In the last decision both `a`s are the same condition of the program, so that only
/// combinations in which they agree exist.
#[test]
fn all_combinations_cover_what_was_worked_out_by_hand() {
    use Criterion::{Cacc, Cutpnfp, Ic, Mcdc, Racc, Ricc, Utpc};
    let expected = [
        [(2, 2), (2, 2), (4, 2), (2, 2), (3, 3), (3, 3), (4, 4)],
        [(3, 3), (3, 3), (6, 5), (3, 3), (4, 4), (4, 4), (7, 7)],
        [(3, 3), (3, 3), (4, 4), (3, 3), (6, 6), (6, 6), (14, 14)],
        [(2, 2), (2, 2), (0, 0), (2, 2), (4, 4), (4, 4), (8, 8)],
        [(1, 1), (1, 1), (0, 0), (1, 1), (2, 2), (2, 2), (2, 2)],
        [(1, 1), (1, 1), (0, 0), (1, 1), (2, 2), (2, 2), (2, 2)],
        [(3, 3), (3, 3), (6, 6), (3, 3), (4, 4), (4, 4), (8, 8)],
        // Neither `a` can differ alone. Of the negation's implicants !a!a', !a!c, !b!a' and !b!c the
        // middle ones cannot be true alone.
        [(4, 4), (4, 2), (8, 4), (4, 4), (6, 6), (6, 4), (12, 4)],
    ];
    let criteria = [Cacc, Racc, Ricc, Mcdc, Ic, Utpc, Cutpnfp];
    for ((text, tree), expected) in golden().into_iter().zip(expected) {
        let count = conditions(&tree).len();
        let coupled = |row: &u32| count < 4 || row & 1 == row >> 2 & 1;
        let rows: Vec<u32> = (0..1 << count).filter(coupled).collect();
        for (criterion, expected) in criteria.into_iter().zip(expected) {
            assert_eq!(counts(&tree, criterion, &rows), expected, "{criterion} of {text}");
        }
    }
}

/// Each pair of evaluations, by the definition of the criterion.
fn by_definition(tree: &BoolTree, criterion: Criterion, rows: &[u32], count: usize) -> Vec<String> {
    let value = |bits: u32| evaluate(tree, &mut |c| bits >> c.index() & 1 == 1);
    let decides = |bits: u32, at: usize| value(bits) != value(bits ^ 1 << at);
    let pairs = || rows.iter().flat_map(|x| rows.iter().map(move |y| (*x, *y)));
    let exists = |found: &dyn Fn(u32, u32) -> bool| pairs().any(|(x, y)| found(x, y));
    let mut names = Vec::new();
    for at in 0..count {
        let differs = |x: u32, y: u32| x >> at & 1 == 1 && y >> at & 1 == 0;
        let alone = |x: u32, y: u32| differs(x, y) && x ^ y == 1 << at;
        match criterion {
            Criterion::Cacc => {
                let pair = |x, y| {
                    differs(x, y) && decides(x, at) && decides(y, at) && value(x) != value(y)
                };
                names.extend(exists(&pair).then(|| format!("d0.c{at} decides")));
            }
            Criterion::Racc => {
                let pair = |x, y| alone(x, y) && decides(x, at) && decides(y, at);
                names.extend(exists(&pair).then(|| format!("d0.c{at} alone decides")));
            }
            _ => {
                for outcome in [true, false] {
                    let pair = |x, y| alone(x, y) && !decides(x, at) && value(x) == outcome;
                    let name = || format!("d0.c{at} alone idle, d0 {outcome}");
                    names.extend(exists(&pair).then(name));
                }
            }
        }
    }
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn active_and_inactive_clauses_are_covered_as_defined(
        tree in tree(6),
        rows in proptest::collection::vec(any::<u32>(), 0..12),
    ) {
        let count = conditions(&tree).len();
        let rows: Vec<u32> = rows.into_iter().map(|row| row & ((1 << count) - 1)).collect();
        for criterion in [Criterion::Cacc, Criterion::Racc, Criterion::Ricc] {
            let expected = by_definition(&tree, criterion, &rows, count);
            prop_assert_eq!(covered(&tree, criterion, false, &rows), expected);
        }
    }

    /// Conditions of a random tree are uncoupled: each has its own text, and all values occur.
    #[test]
    fn mcdc_and_cacc_agree_under_short_circuit_semantics(
        tree in tree(7),
        rows in proptest::collection::vec(any::<u32>(), 0..12),
    ) {
        let mcdc = covered(&tree, Criterion::Mcdc, true, &rows);
        prop_assert_eq!(&covered(&tree, Criterion::Cacc, true, &rows), &mcdc);
        prop_assert_eq!(&covered(&tree, Criterion::Mcdc, false, &rows), &mcdc);
        let unique = covered(&tree, Criterion::Racc, true, &rows);
        for name in unique {
            let masked = name.replace(" alone", "");
            prop_assert!(mcdc.contains(&masked), "{} but not {}", name, masked);
        }
    }

    #[test]
    fn records_merge_in_any_order(
        tree in tree(5),
        rows in proptest::collection::vec(any::<u32>(), 0..12),
        split in 0..12usize,
    ) {
        let (objectives, decision) = objectives_of(&tree, false);
        let (a, b) = rows.split_at(split.min(rows.len()));
        let whole = record_of(&decision, false, &rows);
        let halves = [a, b].map(|rows| record_of(&decision, false, rows));
        let mut merged = halves[1].clone();
        prop_assert_eq!(merged.merge(&halves[0]), merged.size() != halves[1].size());
        prop_assert!(!merged.clone().merge(&halves[0]), "nothing is new the second time");
        let all = std::slice::from_ref(&objectives);
        let mut at_once = Consolidation::new(all);
        at_once.update(std::slice::from_ref(&whole));
        let mut stepwise = Consolidation::new(all);
        stepwise.update(&halves[1..]);
        stepwise.update(std::slice::from_ref(&merged));
        for hyper in objectives.hypers.ids() {
            prop_assert_eq!(at_once.is_covered(0, hyper), stepwise.is_covered(0, hyper));
        }
    }
}

#[test]
fn many_vectors_of_a_wide_decision_are_consolidated() {
    // (c0 || c1) && (c2 || c3) && ...
    let pair = |at: usize| BoolTree::Or(cond(2 * at), cond(2 * at + 1));
    let tree = (1..24).fold(pair(0), |tree, at| BoolTree::And(boxed(tree), boxed(pair(at))));
    let (objectives, decision) = objectives_of(&tree, false);
    let mut record = CoverageRecord::new();
    let mut state = 1u64;
    let mut add = |bits: u64| {
        let is_true = |c: ConditionId| bits >> c.index() & 1 == 1;
        let vector = DecisionVector::of(&decision, false, is_true, |_| false);
        record.add_vector(DecisionId::from_index(0), vector);
    };
    for _ in 0..1000 {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        add(state >> 16);
    }
    // Every pair with its left side true, then each left side false.
    let base = (0..24).fold(0, |bits, at| bits | 1u64 << (2 * at));
    add(base);
    (0..24).for_each(|at| add(base & !(1 << (2 * at))));
    let mut consolidation = Consolidation::new(std::slice::from_ref(&objectives));
    consolidation.update(std::slice::from_ref(&record));
    let left: Vec<bool> = objectives.hyper_criteria[&Criterion::Racc]
        .iter()
        .map(|entry| consolidation.is_covered(0, entry.hyper))
        .collect();
    for at in 0..24 {
        assert!(left[2 * at], "c{} is false alone in one vector", 2 * at);
    }
}

/// A function with two marks and what is bound at them: `< l1 |> {x} . l2 |> {y} | guard >`.
fn two_marks(guard: Formula) -> (FunctionObjectives, Hyper, [LabelValues; 2]) {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let x = sample.param("x", int);
    sample.mark();
    sample.mark();
    let read = sample.read(x);
    let (program, map, func) = sample.finish();
    let request = Request::new([Criterion::Stmt]);
    let objectives = annotate(&program, &map, func, &request).expect("a body").objectives;
    let values = BoundValue::Expr(read);
    let atoms = ["x", "y"].into_iter().zip(objectives.labels.ids()).map(|(name, label)| {
        let bindings =
            [name, "unused"].map(|name| Binding { name: name.to_owned(), value: values.clone() });
        Hyper::Atom(Atom { function: func, label, bindings: bindings.into() })
    });
    let hyper = Hyper::Guard(Box::new(Hyper::All(atoms.collect())), guard);
    let mut ids = objectives.labels.ids();
    let wanted = [ids.next(), ids.next()].map(|label| LabelValues {
        label: label.expect("two labels"),
        values: vec![values.clone()],
    });
    (objectives, hyper, wanted)
}

#[test]
fn a_guard_relates_values_of_different_runs() {
    let sum = Formula::binary(FormulaOp::Add, Formula::name("x"), Formula::name("y"));
    let guard = Formula::binary(FormulaOp::Eq, sum, Formula::Number(10));
    let (objectives, hyper, [first, second]) = two_marks(guard);
    let mut record = CoverageRecord::new();
    record.add_label_values(first.clone(), vec![3]);
    record.add_label_values(second.clone(), vec![8]);
    assert_eq!(record.covers(&objectives, &hyper), Ok(false));
    let mut other = CoverageRecord::new();
    other.add_label_values(first, vec![2]);
    assert!(record.merge(&other));
    assert_eq!(record.covers(&objectives, &hyper), Ok(true));
}

fn add_hyperlabel(objectives: &mut FunctionObjectives, hyper: Hyper) {
    objectives.hypers.push(crate::Hyperlabel {
        hyper,
        text: "".into(),
        place: objectives.labels.values().next().expect("a label").place.clone(),
        key: crate::LabelKey(String::new()),
    });
}

#[test]
fn a_value_that_no_guard_uses_is_not_asked_for() {
    let guard = Formula::binary(FormulaOp::Lt, Formula::name("x"), Formula::name("y"));
    let (mut objectives, hyper, expected) = two_marks(guard);
    add_hyperlabel(&mut objectives, hyper);
    let wanted = RecordRequest::of(std::slice::from_ref(&objectives));
    let asked: Vec<_> = wanted[0].labels.iter().map(|asked| asked.values.clone()).collect();
    assert_eq!(asked, expected);
    assert!(wanted[0].labels.iter().all(|asked| asked.filter.is_none()));
    assert!(wanted[0].decisions.is_empty() && wanted[0].sequences.is_empty());
}

#[test]
fn what_a_guard_says_of_one_label_alone_filters_what_is_kept_of_it() {
    let compare = |op, a: &str, b| Formula::binary(op, Formula::name(a), Formula::Number(b));
    let both = Formula::binary(FormulaOp::Lt, Formula::name("x"), Formula::name("y"));
    let guard = Formula::and(both, compare(FormulaOp::Gt, "x", 3));
    let filters = |guards: &[Formula]| {
        let (mut objectives, _, _) = two_marks(Formula::Number(1));
        for guard in guards {
            let (_, hyper, _) = two_marks(guard.clone());
            add_hyperlabel(&mut objectives, hyper);
        }
        let wanted = RecordRequest::of(std::slice::from_ref(&objectives));
        wanted[0].labels.iter().map(|asked| asked.filter.clone()).collect::<Vec<_>>()
    };
    let more = compare(FormulaOp::Gt, "0", 3);
    assert_eq!(filters(std::slice::from_ref(&guard)), [Some(more.clone()), None]);
    let seven = compare(FormulaOp::Eq, "x", 7);
    let two = Formula::or(more, compare(FormulaOp::Eq, "0", 7));
    assert_eq!(filters(&[guard.clone(), seven])[0], Some(two));
    let any = Formula::binary(FormulaOp::Ne, Formula::name("x"), Formula::name("y"));
    assert_eq!(filters(&[guard, any]), [None, None], "the other one may need any");
}

#[test]
fn a_label_that_was_covered_without_values_does_not_satisfy_a_guard() {
    let guard = Formula::binary(FormulaOp::Eq, Formula::name("x"), Formula::name("x"));
    let (objectives, hyper, [first, second]) = two_marks(guard);
    let mut record = CoverageRecord::new();
    record.cover_label(first.label);
    record.cover_label(second.label);
    assert_eq!(record.covers(&objectives, &hyper), Ok(false));
    record.add_label_values(first, vec![0]);
    assert_eq!(record.covers(&objectives, &hyper), Ok(true), "the guard is about x alone");
}

#[test]
fn what_cannot_be_judged_says_why() {
    let (objectives, hyper, _) = two_marks(Formula::Number(1));
    let any = Hyper::Any(vec![hyper.clone(), hyper]);
    let all = Hyper::All(vec![any; 20]);
    let guarded = Hyper::Guard(Box::new(all.clone()), Formula::Number(1));
    let record = CoverageRecord::new();
    let error = record.covers(&objectives, &guarded).unwrap_err().to_string();
    assert!(error.contains("more than 4096 conjunctions"), "{error}");
    assert_eq!(record.covers(&objectives, &all), Ok(false), "unguarded parts need no normal form");
}

#[test]
fn a_coverage_record_survives_being_written_as_json() {
    let (_, _, [first, _]) = two_marks(Formula::Number(1));
    let mut record = CoverageRecord::new();
    record.add_label_values(first, vec![-1]);
    record.add_vector(DecisionId::from_index(3), DecisionVector::default());
    let text = serde_json::to_string(&record).expect("it is plain");
    assert_eq!(serde_json::from_str::<CoverageRecord>(&text).expect("as written"), record);
}
