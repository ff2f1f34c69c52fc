//! Conditions that evaluation does not reach have the value that they have on the state, where
//! evaluating them there only computes and does not trap: generating, proving and measuring agree.

use crate::common::{Workplace, figures};

/// The figures of some criteria after `gen`, which must not contradict itself: objectives, covered,
/// infeasible, and nothing else.
fn generated(text: &str, function: &str, expected: &[(&str, [u64; 3])]) {
    let place = Workplace::with(text);
    let ran =
        place.done(&format!("gen unit.c --function {function} -c cc,mcc,gacc,cacc --json t.json"));
    assert!(!ran.err.contains("contradiction"), "{ran}");
    let table = place.json("t.json");
    for (criterion, [objectives, covered, infeasible]) in expected {
        let found = figures(&table, function, criterion);
        let wanted = [*objectives, *covered, *infeasible, 0, 0];
        assert_eq!(found, wanted, "{criterion}: {table:#}");
    }
}

/// What runs with these arguments cover of `mcc`.
fn combinations(text: &str, function: &str, names: &[&str], runs: &[&[i64]]) -> u64 {
    let place = Workplace::with(text);
    let tests = runs.iter().enumerate().map(|(number, values)| {
        let args = names.iter().zip(*values).map(|(name, value)| format!("\"{name}\": {value}"));
        let args: Vec<String> = args.collect();
        let args = args.join(", ");
        format!(r#"{{"name": "t{number}", "function": "{function}", "args": {{{args}}}}}"#)
    });
    let tests: Vec<String> = tests.collect();
    let suite = format!(r#"{{"version": 1, "source": "unit.c", "tests": [{}]}}"#, tests.join(", "));
    place.write("mine.json", &suite);
    place.done("cover unit.c -c mcc --tests mine.json --json t.json");
    figures(&place.json("t.json"), function, "mcc")[1]
}

#[test]
fn operators_inside_of_a_condition_are_evaluated_as_c_does() {
    // Where `a` is below 250 the second condition is true for 2 or 3, and never else.
    generated(
        "int f(int a, int b) { if (a < 250 || (b ? 2 : 3) == a) return 1; return 0; }\n",
        "f",
        &[("cc", [6, 6, 0]), ("mcc", [6, 5, 1]), ("gacc", [6, 5, 1]), ("cacc", [3, 2, 1])],
    );
    generated(
        "int f(int a, int b) { if (a < 2 || (!b) * 2 == a) return 1; return 0; }\n",
        "f",
        &[("cc", [6, 6, 0]), ("mcc", [6, 6, 0]), ("gacc", [6, 6, 0]), ("cacc", [3, 3, 0])],
    );
    // The division is never evaluated with a `b` of 0: there the sum is 1.
    const SUM: &str =
        "int f(int a, int b) { if (a > 1 && (b && a / b > 1) + 1 == 2) return 1; return 0; }\n";
    let run = |a, b| combinations(SUM, "f", &["a", "b"], &[&[a, b]]);
    assert_eq!([run(0, 0), run(-6, -2), run(0, 1)], [1, 1, 1]);
    assert_eq!(run(i64::from(i32::MIN), -1), 0);
}

#[test]
fn a_shift_has_a_value_where_its_amount_is_in_range() {
    const BIT: &str = "int f(int a, unsigned b, int i) { return (a && ((b >> i) & 1)) ? 1 : 0; }\n";
    generated(BIT, "f", &[("cc", [4, 4, 0]), ("mcc", [4, 4, 0]), ("gacc", [4, 4, 0])]);
    let runs = |i: i64| combinations(BIT, "f", &["a", "b", "i"], &[&[0, 2, i]]);
    assert_eq!([runs(0), runs(1), runs(31), runs(32), runs(-1)], [1, 1, 1, 0, 0]);
}

#[test]
fn a_quotient_has_a_value_where_it_is_one() {
    const RATIO: &str = "int f(int a, int b) { return b > 0 && a / b > 1; }\n";
    generated(RATIO, "f", &[("mcc", [4, 4, 0]), ("gacc", [4, 4, 0])]);
    let least = i64::from(i32::MIN);
    let run = |a, b| combinations(RATIO, "f", &["a", "b"], &[&[a, b]]);
    assert_eq!([run(-6, -2), run(6, 0), run(least, -1), run(least, -2)], [1, 0, 0, 1]);
}

#[test]
fn an_element_has_a_value_where_the_array_has_it() {
    const ELEMENT: &str = "int f(int n)\n{\n    int t[8] = { 1, 2, 3, 0, 5 };\n    \
                           if (n > 3 && t[n & 15])\n        return 1;\n    return 0;\n}\n";
    generated(ELEMENT, "f", &[("mcc", [4, 4, 0]), ("gacc", [4, 4, 0])]);
    let run = |n| combinations(ELEMENT, "f", &["n"], &[&[n]]);
    assert_eq!([run(0), run(3), run(-16), run(-1), run(-8)], [1, 1, 1, 0, 0]);
    const INNER: &str = "static int m[2][3] = { { 1, 0, 1 }, { 0, 1, 0 } };\n\
                         int f(int i, int j) { return i > 0 && i < 2 && m[i][j]; }\n";
    let run = |i, j| combinations(INNER, "f", &["i", "j"], &[&[i, j]]);
    // Beside the row lies the next one, which is another array.
    assert_eq!([run(0, 2), run(0, 3), run(0, -1), run(-1, 3)], [1, 0, 0, 0]);
}

#[test]
fn a_variable_that_nothing_was_assigned_to_has_no_value() {
    const UNSET: &str = "int f(int c)\n{\n    int x;\n    if (c > 3)\n        x = c;\n    \
                         if (c > 3 && x == 9)\n        return 1;\n    return 0;\n}\n";
    generated(
        UNSET,
        "f",
        &[("cc", [6, 6, 0]), ("mcc", [6, 4, 2]), ("gacc", [6, 5, 1]), ("cacc", [3, 2, 1])],
    );
    // The first decision is all that a run with a small argument covers.
    assert_eq!(combinations(UNSET, "f", &["c"], &[&[9], &[0]]), 3);
    const FETCHED: &str = "static int get(int c, int *p)\n{\n    if (c < 3)\n        return 1;\n    \
                           *p = c;\n    return 0;\n}\n\
                           int f(int c) { int x; return get(c, &x) == 0 && x == 9; }\n";
    generated(FETCHED, "f", &[("mcc", [4, 2, 2]), ("gacc", [4, 3, 1])]);
    const MEMBERS: &str = "struct s { int a, b; };\n\
                           int f(int c)\n{\n    struct s s;\n    s.a = c;\n    if (c > 3)\n        \
                           s.b = 1;\n    return (c > 5 && s.a == 9) + (c > 5 && s.b == 1);\n}\n";
    generated(MEMBERS, "f", &[("mcc", [10, 6, 4])]);
}

#[test]
fn what_has_an_effect_or_reads_through_a_pointer_has_no_value() {
    generated(
        "int f(const int *p) { return p && *p > 3; }\n",
        "f",
        &[("mcc", [4, 2, 2]), ("gacc", [4, 3, 1])],
    );
    generated(
        "int f(int a, int b) { return a && b++ > 3; }\n",
        "f",
        &[("mcc", [4, 2, 2]), ("gacc", [4, 3, 1])],
    );
    generated(
        "int f(int a) { volatile int b = a; return a > 1 && b > 3; }\n",
        "f",
        &[("gacc", [4, 3, 1])],
    );
}

#[test]
fn under_short_circuit_semantics_no_condition_that_is_not_reached_has_a_value() {
    let place = Workplace::with("int f(int a, int b) { return b > 0 && a / b > 1; }\n");
    place.done("gen unit.c -c mcc,gacc --semantics short-circuit --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "mcc"), [4, 2, 2, 0, 0]);
    assert_eq!(figures(&table, "f", "gacc"), [4, 4, 0, 0, 0], "what is masked is not asked for");
}
