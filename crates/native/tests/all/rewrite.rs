//! Rewritten functions do what they did, and say what was covered.

use lydian_ir::source::MarkStyle;
use lydian_ir::test::{ExternalResult, Test};
use lydian_ir::{BoolTree, Purity};
use lydian_native::{MeasuredRun, Optimization, Outcome};
use lydian_objective::Criterion;

use crate::common::watched::{Watched, and, cond, or};
use crate::common::{Unit, call, int};

const LEVELS: [Optimization; 3] = [Optimization::None, Optimization::Some, Optimization::Full];

fn of_ints(text: &str, params: usize) -> Unit {
    let mut unit = Unit::new(text);
    let int = unit.int();
    unit.defines("f", int, &vec![int; params])
}

fn values(measured: &[MeasuredRun]) -> Vec<i32> {
    let value = |measured: &MeasuredRun| match &measured.run.outcome {
        Outcome::Returned(bytes) => i32::from_le_bytes(bytes.as_slice().try_into().unwrap()),
        other => panic!("{other}"),
    };
    measured.iter().map(value).collect()
}

fn grid(params: usize) -> Vec<Test> {
    let one = |n: usize| {
        let args: Vec<_> = (0..params).map(|bit| int((n >> bit & 1) as i32)).collect();
        call("f", &args)
    };
    (0..1 << params).map(one).collect()
}

/// `if (a && b || c)` on all values.
fn and_or(purities: [Purity; 3]) -> Watched {
    let text =
        "int f(int a, int b, int c) { if ((a == 1) && (b == 1) || (c == 1)) return 1; return 0; }";
    let mut watched = Watched::new(of_ints(text, 3));
    let conditions: Vec<_> = ["a == 1", "b == 1", "c == 1"].into_iter().zip(purities).collect();
    let tree = *or(and(cond(0), cond(1)), cond(2));
    watched.decision("(a == 1) && (b == 1) || (c == 1)", tree, &conditions);
    watched
}

#[test]
fn a_decision_records_its_outcome_and_keeps_its_value() {
    let watched = and_or([Purity::MayTrap; 3]);
    for level in LEVELS {
        let (measured, names, plan) = watched.measure(Criterion::Dc, &grid(3), level);
        let expected: Vec<i32> = (0..8).map(|n| i32::from(n & 3 == 3 || n & 4 != 0)).collect();
        assert_eq!(values(&measured), expected);
        let outcome = |value: &i32| vec![format!("d0 {}", *value == 1)];
        assert_eq!(names, expected.iter().map(outcome).collect::<Vec<_>>());
        assert_eq!(plan.cells.len(), 2);
    }
}

#[test]
fn all_combinations_of_pure_conditions_are_told_apart() {
    let watched = and_or([Purity::Pure; 3]);
    for level in LEVELS {
        let (measured, names, plan) = watched.measure(Criterion::Mcc, &grid(3), level);
        assert_eq!(values(&measured), [0, 0, 0, 1, 1, 1, 1, 1]);
        assert!(names.iter().all(|names| names.len() == 1), "{names:?}");
        let mut all: Vec<_> = names.concat();
        all.sort();
        all.dedup();
        assert_eq!((all.len(), plan.cells.len()), (8, 8));
    }
}

#[test]
fn a_condition_that_may_trap_and_is_not_reached_has_no_value() {
    let watched = and_or([Purity::Pure, Purity::MayTrap, Purity::Pure]);
    let (_, names, _) = watched.measure(Criterion::Mcc, &grid(3), Optimization::Some);
    // `b` is reached only where `a` is true; `c` always has a value.
    let counts: Vec<_> = names.iter().map(Vec::len).collect();
    assert_eq!(counts, [0, 1, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn under_short_circuit_semantics_what_is_not_reached_has_no_value() {
    let mut watched = and_or([Purity::Pure; 3]);
    watched.short_circuit = true;
    let (_, names, _) = watched.measure(Criterion::Mcc, &grid(3), Optimization::Some);
    // All three are reached only where the first is true and the second false.
    assert_eq!(names.iter().map(Vec::len).collect::<Vec<_>>(), [0, 1, 0, 0, 0, 1, 0, 0]);
    let (_, names, _) = watched.measure(Criterion::Cc, &grid(3), Optimization::Some);
    let counts: Vec<_> = names.iter().map(Vec::len).collect();
    assert_eq!(counts, [2, 3, 2, 2, 2, 3, 2, 2]);
}

#[test]
fn a_condition_with_an_effect_is_evaluated_as_often_as_before() {
    let text = "int get(void); int f(int a, int b) { int n = 0; \
                while (a < 3 && (n += get()) < 10 && b != n) a++; return a * 100 + n; }";
    let mut unit = of_ints(text, 2);
    let int_type = unit.int();
    unit.add("get", int_type, &[], false, false);
    let mut watched = Watched::new(unit);
    let tree = *and(and(cond(0), cond(1)), cond(2));
    let purities = [Purity::Pure, Purity::Effects, Purity::Pure];
    let conditions = ["a < 3", "(n += get()) < 10", "b != n"].into_iter().zip(purities);
    let conditions: Vec<_> = conditions.collect();
    watched.decision("a < 3 && (n += get()) < 10 && b != n", tree, &conditions);
    let mut test = call("f", &[int(0), int(4)]);
    for value in [1, 2, 4, 8] {
        test.externals.push(ExternalResult::new("get", int(value)));
    }
    for level in LEVELS {
        let (measured, names, _) =
            watched.measure(Criterion::Mcc, std::slice::from_ref(&test), level);
        assert_eq!(values(&measured), [307]);
        // True each time, but for the last: `a < 3` is false, the second has no value.
        assert_eq!(names[0].len(), 1, "{names:?}");
        let (_, names, _) = watched.measure(Criterion::Cc, std::slice::from_ref(&test), level);
        assert_eq!(names[0].len(), 4, "{names:?}");
    }
}

#[test]
fn a_decision_with_more_conditions_than_a_word_has_bits_is_recorded() {
    let count = 70;
    let condition = |n: usize| format!("(x > {n} * 2)");
    let words: Vec<_> = (0..count).map(condition).collect();
    let joined = words.join(" && ");
    let text = format!("int f(int x) {{ if ({joined}) return 1; return 0; }}");
    let mut watched = Watched::new(of_ints(&text, 1));
    let tree = (1..count).fold(cond(0), |tree, n| and(tree, cond(n)));
    let conditions: Vec<_> = words.iter().map(|words| (words.as_str(), Purity::Pure)).collect();
    watched.decision(&joined, *tree, &conditions);
    let tests = [call("f", &[int(69)]), call("f", &[int(1000)])];
    let (measured, names, plan) = watched.measure(Criterion::Cc, &tests, Optimization::Some);
    assert_eq!((values(&measured), plan.wide.len()), (vec![0, 1], 1));
    // 69 > 2n holds for n up to 34.
    let trues = names[0].iter().filter(|name| name.contains("true")).count();
    assert_eq!((trues, names[0].len(), names[1].len()), (35, 70, 70));
}

#[test]
fn nested_decisions_and_marks_are_all_recorded() {
    let text = "int f(int a, int b) { int r = 0; if (a == 1) { r = 5; if (b == 1) r = 7; } \
                else r = 2; return r; }";
    let mut watched = Watched::new(of_ints(text, 2));
    watched.decision("a == 1", *cond(0), &[("a == 1", Purity::Pure)]);
    watched.decision("b == 1", *cond(0), &[("b == 1", Purity::Pure)]);
    watched.mark("int r = 0;", MarkStyle::Before);
    watched.mark("if (a == 1) { r = 5; if (b == 1) r = 7; } else r = 2;", MarkStyle::Wrap);
    for words in ["r = 5;", "if (b == 1) r = 7;", "r = 7;", "r = 2;", "return r;"] {
        watched.mark(words, MarkStyle::Wrap);
    }
    for level in LEVELS {
        let (measured, names, _) = watched.measure(Criterion::Stmt, &grid(2), level);
        assert_eq!(values(&measured), [2, 5, 2, 7]);
        let counts: Vec<_> = names.iter().map(Vec::len).collect();
        assert_eq!(counts, [4, 5, 4, 6]);
    }
    let (_, names, _) = watched.measure(Criterion::Dc, &grid(2), Optimization::Full);
    assert_eq!(names.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1, 2]);
}

#[test]
fn a_run_that_crashes_or_never_ends_covers_what_it_passed_before() {
    let text = "int f(int a, int b) { int r = 0; if (a == 1) r = 5; \
                while (b == 1) __asm__ volatile(\"\"); r += *(int *)(long)(b * 8); \
                if (r == 3) r = 4; return r; }";
    let mut watched = Watched::new(of_ints(text, 2));
    watched.decision("a == 1", *cond(0), &[("a == 1", Purity::Pure)]);
    watched.decision("b == 1", *cond(0), &[("b == 1", Purity::Pure)]);
    watched.decision("r == 3", *cond(0), &[("r == 3", Purity::Pure)]);
    for level in LEVELS {
        let (measured, names, _) = watched.measure(Criterion::Dc, &grid(2), level);
        assert!(matches!(measured[0].run.outcome, Outcome::Crashed(_)));
        assert!(matches!(measured[2].run.outcome, Outcome::TimedOut(_)));
        assert_eq!(names[0], ["d0 false", "d1 false"]);
        assert_eq!(names[3], ["d0 true", "d1 true"]);
    }
}

#[test]
fn an_exclusive_or_of_conditions_is_recorded() {
    let text = "int f(int a, int b) { int r = (a == 1) != (b == 1); return r; }";
    let mut watched = Watched::new(of_ints(text, 2));
    let conditions = [("a == 1", Purity::Pure), ("b == 1", Purity::MayTrap)];
    watched.decision("(a == 1) != (b == 1)", BoolTree::Xor(cond(0), cond(1)), &conditions);
    let (measured, names, _) = watched.measure(Criterion::Gacc, &grid(2), Optimization::Some);
    assert_eq!(values(&measured), [0, 1, 1, 0]);
    assert!(names.iter().all(|names| names.len() == 2), "{names:?}");
}
