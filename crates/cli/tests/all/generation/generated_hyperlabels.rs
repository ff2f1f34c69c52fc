//! Tests for hyperlabels: what `lydian gen` finds, proves and says, on functions small enough that
//! the numbers were worked out by hand.

use serde_json::Value;

use crate::common::{Workplace, figures};

/// Objectives, covered, infeasible, unknown; none of the criteria here has duplicates.
type ExpectedRow = (&'static str, &'static str, [u64; 4]);

/// Runs `gen` and holds its table against what is expected, then `cover` on the tests, which is to
/// count at least what `gen` says.
fn generated(work: &Workplace, criteria: &str, more: &str, expected: &[ExpectedRow]) -> Value {
    work.done(&format!("gen unit.c -c {criteria} {more} -o tests --json gen.json"));
    work.done(&format!("cover unit.c -c {criteria} {more} --tests tests --json cover.json"));
    let (table, cover) = (work.json("gen.json"), work.json("cover.json"));
    for (function, criterion, numbers) in expected {
        let [objectives, covered, infeasible, _, unknown] = figures(&table, function, criterion);
        let found = [objectives, covered, infeasible, unknown];
        assert_eq!(found, *numbers, "{criterion} of {function}: {table:#}");
        let measured = figures(&cover, function, criterion)[1];
        assert!(measured >= covered, "{criterion} of {function}: cover counts {measured}");
        assert!(measured <= objectives - infeasible, "{criterion} of {function}: {cover:#}");
    }
    table
}

const LOGIC: &str = "
int three(int a, int b, int c) {
    if (a > 0 && (b > 3 || c == 7))
        return 1;
    return 0;
}
int coupled(int x) {
    if (x > 0 && x > 5)
        return 1;
    return 0;
}
int guarded(int *p) {
    if (p && *p > 0)
        return 1;
    return 0;
}
";

#[test]
fn logic_criteria_that_relate_two_evaluations_get_tests_and_proofs() {
    let work = Workplace::with(LOGIC);
    // three: a cannot be idle where the decision is true, since it is false without a.
    // coupled: the vectors are TT, TF and FF, so x > 0 never decides alone; but its evaluation to
    // false marks it, which is all that MCDC asks.
    // guarded: *p has no value where p is null, so nothing shows that p decides, or that it is idle.
    let expected: [ExpectedRow; 15] = [
        ("three", "mcdc", [3, 3, 0, 0]),
        ("three", "cacc", [3, 3, 0, 0]),
        ("three", "racc", [3, 3, 0, 0]),
        ("three", "ricc", [6, 5, 1, 0]),
        ("three", "cutpnfp", [7, 7, 0, 0]),
        ("coupled", "mcdc", [2, 2, 0, 0]),
        ("coupled", "cacc", [2, 1, 1, 0]),
        ("coupled", "racc", [2, 1, 1, 0]),
        ("coupled", "ricc", [4, 1, 3, 0]),
        ("coupled", "cutpnfp", [4, 2, 2, 0]),
        ("guarded", "mcdc", [2, 2, 0, 0]),
        ("guarded", "cacc", [2, 1, 1, 0]),
        ("guarded", "racc", [2, 1, 1, 0]),
        ("guarded", "ricc", [4, 0, 4, 0]),
        ("guarded", "cutpnfp", [4, 2, 2, 0]),
    ];
    generated(&work, "mcdc,cacc,racc,ricc,cutpnfp", "", &expected);
}

#[test]
fn a_minimal_suite_keeps_the_tests_that_cover_a_pair_together() {
    let work = Workplace::with(LOGIC);
    // Unique-cause MC/DC of three conditions needs four tests, in whatever way.
    let expected: [ExpectedRow; 1] = [("three", "racc", [3, 3, 0, 0])];
    let table = generated(&work, "racc", "--function three", &expected);
    assert_eq!(table["functions"][0]["tests"], 4, "{table:#}");
    let tests = work.read("tests/tests.json");
    assert!(tests.contains("racc: d0.c1 alone decides"), "{tests}");
}

#[test]
fn verdicts_on_hyperlabels_are_known_again_when_the_command_is_repeated() {
    let work = Workplace::with(LOGIC);
    let expected: [ExpectedRow; 2] =
        [("coupled", "racc", [2, 1, 1, 0]), ("coupled", "cutpnfp", [4, 2, 2, 0])];
    let first = generated(&work, "racc,cutpnfp", "--function coupled", &expected);
    // No time to find anything: it all comes from the ledger.
    let again = generated(&work, "racc,cutpnfp", "--function coupled", &expected);
    assert_eq!(first["functions"][0]["criteria"], again["functions"][0]["criteria"]);
    work.done("gen unit.c -c racc,cutpnfp --function coupled --time 0 -o tests --json none.json");
    let none = work.json("none.json");
    assert_eq!(first["functions"][0]["criteria"], none["functions"][0]["criteria"]);
}

#[test]
fn with_short_circuit_semantics_what_is_not_reached_is_free() {
    let work = Workplace::with(LOGIC);
    let expected: [ExpectedRow; 4] = [
        ("guarded", "racc", [2, 2, 0, 0]),
        ("coupled", "racc", [2, 2, 0, 0]),
        ("three", "racc", [3, 3, 0, 0]),
        ("three", "cacc", [3, 3, 0, 0]),
    ];
    let table =
        work.done("gen unit.c -c racc,cacc --semantics short-circuit -o tests --json gen.json");
    assert!(table.out.contains("racc"), "{table}");
    let table = work.json("gen.json");
    for (function, criterion, numbers) in expected {
        let [objectives, covered, infeasible, _, unknown] = figures(&table, function, criterion);
        assert_eq!(
            [objectives, covered, infeasible, unknown],
            numbers,
            "{criterion} of {function}"
        );
    }
}

const FLOW: &str = "
int flow(int a, int b) {
    int x = 1;
    if (a > 0)
        x = 2;
    if (a > 5)
        return x + b;
    return x;
}
int cells(int i, int j) {
    int a[4] = {0};
    a[i & 3] = 1;
    a[j & 3] = 2;
    return a[1];
}
int through(int c) {
    int x = 1, y = 2;
    int *p = c ? &x : &y;
    *p = 7;
    return x;
}
int g;
void set(int v) { g = v; }
int get(int c, int v) {
    if (c)
        set(v);
    else
        g = 5;
    return g;
}
";

#[test]
fn pairs_of_definitions_and_uses_get_tests_and_proofs() {
    let work = Workplace::with(FLOW);
    // flow: x has two definitions and two uses, a one definition and two conditions with two ways
    // each, b one pair. That x = 1 reaches x + b needs a <= 0 and a > 5.
    // cells: i, j, and the three definitions of a, each of which reaches a[1] for some i and j.
    // through: x = 1 and *p reach the return, c two ways and p its one use, y none.
    // get: c two ways, v, g = 5, and g = v of the function that it calls.
    let expected: [ExpectedRow; 8] = [
        ("flow", "all-uses", [9, 8, 1, 0]),
        ("flow", "all-defs", [4, 4, 0, 0]),
        ("cells", "all-uses-cells", [5, 5, 0, 0]),
        ("cells", "all-defs-cells", [5, 5, 0, 0]),
        ("through", "all-uses", [5, 5, 0, 0]),
        ("get", "all-uses", [5, 5, 0, 0]),
        ("set", "all-uses", [1, 1, 0, 0]),
        // Only a run that begins in get reaches a use of what set defines.
        ("set", "all-defs", [2, 1, 0, 1]),
    ];
    generated(&work, "all-defs,all-uses,all-defs-cells,all-uses-cells", "", &expected);
}

const LOOPS: &str = "
int loop(int n) {
    int s = 0;
    while (n > 0) {
        s += n;
        n--;
    }
    return s;
}
int always(int n) {
    int s = 0;
    for (int i = 0; i < 3; i++)
        s += n;
    return s;
}
int twice(int a) {
    int x = 0;
    if (a > 0)
        x = 2;
    if (a > 5)
        return x + 1;
    return x;
}
";

#[test]
fn loops_and_paths_get_tests_and_proofs() {
    let work = Workplace::with(LOOPS);
    // The loop of always turns three times: it is not skipped, nor left after the first round, which
    // the basis' paths do. The second test of twice fails where the first does.
    let expected: [ExpectedRow; 12] = [
        ("loop", "slo", [1, 1, 0, 0]),
        ("loop", "elo", [1, 1, 0, 0]),
        ("loop", "mlo", [1, 1, 0, 0]),
        ("loop", "epc", [5, 5, 0, 0]),
        ("loop", "ppc", [5, 5, 0, 0]),
        ("loop", "bpc", [2, 2, 0, 0]),
        ("always", "slo", [1, 0, 1, 0]),
        ("always", "mlo", [1, 1, 0, 0]),
        ("always", "epc", [5, 4, 1, 0]),
        ("always", "bpc", [2, 0, 2, 0]),
        ("twice", "epc", [5, 4, 1, 0]),
        ("twice", "ppc", [4, 3, 1, 0]),
    ];
    generated(&work, "slo,elo,mlo,epc,ppc,bpc", "", &expected);
}

#[test]
fn what_a_run_covers_before_undefined_behaviour_is_counted_and_nothing_else() {
    // The use in the division is passed before it traps, that in the return is not.
    let work = Workplace::with("int f(int a) { int x = a; int y = 10 / x; return y + x; }");
    let expected: [ExpectedRow; 1] = [("f", "all-uses", [4, 4, 0, 0])];
    generated(&work, "all-uses,all-defs", "", &expected);
}

const VALUES: &str = "
int flow(int high, int low) {
    int res;
    //! start: 1
    res = low + (high > 3);
    //! end: 1
    return res;
}
int safe(int high, int low) {
    int res;
    //! begin: 1
    res = low * 2;
    if (high > 10)
        res = res + 0;
    //! done: 1
    return res;
}
int values(int x, int y) {
    //! in: x > 0
    int z = x * 3 + y;
    //! out: z > 10
    return z;
}
";

const RELATIONS: &str = "
function flow;
objective interference =
  < [start |> { lo  <- low } -> end |> { r  <- res }] .
    [start |> { lo' <- low } -> end |> { r' <- res }]
  | lo == lo' && r != r' >;
function safe;
objective no_interference =
  < [begin |> { lo  <- low } -> done |> { r  <- res }] .
    [begin |> { lo' <- low } -> done |> { r' <- res }]
  | lo == lo' && r != r' >;
function values;
objective within_a_run = < [in |> { a <- x } -> out |> { b <- z }] | b == a + 100 >;
objective of_two_runs = < in |> { a <- x } . out |> { b <- z } | a == 77 && b == 5 * a + 1 >;
objective of_three_runs =
  < in |> { a <- x } . in |> { b <- x } . in |> { c <- x }
  | a + 1 == b && b + 1 == c && c > 1000 >;
objective never = < [in |> { a <- x } -> out |> { b <- y }] | a < 0 && b > 3 >;
";

#[test]
fn guards_over_values_relate_the_inputs_of_several_runs() {
    let work = Workplace::with(VALUES);
    work.write("unit.htol", RELATIONS);
    // What is high shows in flow, and not in safe; in has x > 0.
    let expected: [ExpectedRow; 3] = [
        ("flow", "htol", [1, 1, 0, 0]),
        ("safe", "htol", [1, 0, 1, 0]),
        ("values", "htol", [4, 3, 1, 0]),
    ];
    let table = generated(&work, "htol", "--htol unit.htol", &expected);
    assert_eq!(table["functions"][0]["tests"], 2, "two runs show interference: {table:#}");
}

#[test]
fn decisions_of_many_conditions_get_pairs_without_listing_their_vectors() {
    let work = Workplace::with(
        "int f(int a, int b, int c, int d, int e, int g, int h, int i) {
            if ((a > 1 && b < 3) || (c == 5 && d != 2 && e >= 7) || (g < 0 && (h > 3 || i == 2)))
                return 1;
            return 0;
        }",
    );
    let expected: [ExpectedRow; 3] =
        [("f", "racc", [8, 8, 0, 0]), ("f", "ricc", [16, 16, 0, 0]), ("f", "mcdc", [8, 8, 0, 0])];
    generated(&work, "racc,ricc,mcdc", "", &expected);
}

#[test]
fn pairs_that_no_states_allow_are_infeasible_without_exploration() {
    // That no condition of a && b is idle where it is true follows from its form, without any time;
    // that x > 5 implies x > 0 takes a proof, but no path.
    let work = Workplace::with(LOGIC);
    work.done("gen unit.c -c racc,ricc --function coupled --time 0 -o tests --json gen.json");
    let table = work.json("gen.json");
    let numbers = |criterion| {
        let [objectives, covered, infeasible, _, _] = figures(&table, "coupled", criterion);
        [objectives, covered, infeasible]
    };
    assert_eq!([numbers("racc"), numbers("ricc")], [[2, 0, 0], [4, 0, 2]], "{table:#}");
    work.done("gen unit.c -c racc,ricc --function coupled --max-paths 0 -o tests --json gen.json");
    let table = work.json("gen.json");
    let numbers = |criterion| figures(&table, "coupled", criterion)[2];
    assert_eq!([numbers("racc"), numbers("ricc")], [1, 3], "{table:#}");
}
