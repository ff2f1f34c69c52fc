//! Objectives that no run reaches, where exploration does not come to an end: proofs over all runs.

use crate::common::{Workplace, figures};

/// The counts of a criterion for `f`: objectives, covered, infeasible, duplicate, unknown.
fn counts(body: &str, criterion: &str) -> (Workplace, [u64; 5]) {
    let place = Workplace::with(body);
    place.done(&format!(
        "gen unit.c --function f -c {criterion} --time 20 --max-paths 3000 --json t.json"
    ));
    let found = figures(&place.json("t.json"), "f", criterion);
    (place, found)
}

#[test]
fn a_property_of_loops_over_arrays_of_any_length_decides_branches() {
    let (place, [all, covered, infeasible, duplicate, unknown]) = counts(
        "int f(const int *a, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (a[i] & 1)
            sum += 2;
    }
    if (sum & 1)
        return 1;
    return 0;
}
",
        "bc",
    );
    assert_eq!([all, covered, infeasible, duplicate, unknown], [6, 5, 1, 0, 0]);
    let ran = place.done("explain infeasible");
    let told = "proof over all runs: always in f at unit.c:4:21: (f::sum mod 2) == 0";
    assert!(ran.out.contains(told), "{ran}");
}

#[test]
fn runs_behind_thousands_of_turns_become_tests() {
    let (place, [all, covered, ..]) = counts(
        "struct counter { unsigned steps; int level; };
int ask(struct counter *c);
int f(struct counter *c, unsigned n)
{
    unsigned i = 0, sum = 0;
    int mode = ask(c);
    if (!c)
        return -1;
    while (i < n) {
        i++;
        sum += 3;
    }
    if (sum == 90000 && c->level == 7 && mode == 2)
        return 1;
    return 0;
}
",
        "bc",
    );
    assert_eq!([all, covered], [10, 10]);
    let suite = std::fs::read_to_string(place.path("tests/tests.c")).unwrap();
    assert!(suite.contains("f(&c, 30000), 1)"), "{suite}");
}

#[test]
fn a_list_of_any_length_has_no_negative_greatest_value() {
    let (_, [all, covered, infeasible, duplicate, unknown]) = counts(
        "struct node { int value; struct node *next; };
int f(const struct node *list)
{
    int greatest = 0;
    while (list) {
        if (list->value > greatest)
            greatest = list->value;
        list = list->next;
    }
    if (greatest < 0)
        return -1;
    return greatest;
}
",
        "bc",
    );
    assert_eq!([all, covered, infeasible, duplicate, unknown], [6, 5, 1, 0, 0]);
}

#[test]
fn a_definition_that_each_run_overwrites_reaches_no_use() {
    let (_, [all, covered, infeasible, duplicate, unknown]) = counts(
        "int f(const char *text, int n)
{
    int state = 0, count = 0;
    for (int i = 0; i < n; i++) {
        if (text[i] == '(')
            state = 1;
        else
            state = 2;
        count += state;
        if (count > 100)
            count = 0;
    }
    if (state == 1 && count == 0)
        return 5;
    return count;
}
",
        "all-uses",
    );
    assert_eq!(covered + infeasible + duplicate + unknown, all);
    assert!(infeasible > 3, "{infeasible} infeasible, {unknown} unknown");
}

#[test]
fn a_write_through_another_pointer_of_the_inputs_is_among_the_runs() {
    let (_, [all, covered, infeasible, ..]) = counts(
        "int f(int *a, int *b, int n)
{
    *a = 1;
    while (n-- > 0)
        *b = 2;
    if (*a == 2)
        return 1;
    return 0;
}
",
        "bc",
    );
    assert_eq!(infeasible, 0, "`b` may be `a`: {covered} of {all} are covered");
}

/// A static local has the values that calls of its function give it, and no other one.
#[test]
fn no_test_gives_a_static_local_a_value_that_calls_do_not() {
    let (_, [all, covered, _, _, unknown]) = counts(
        "int f(unsigned n)
{
    static int last;
    unsigned i = 0, sum = 0;
    while (i < n) {
        i++;
        sum += 3;
    }
    if (last == 77 && sum == 90000)
        return 1;
    last = sum & 1;
    return 0;
}
",
        "bc",
    );
    assert_eq!([all, covered], [6, 3]);
    assert!(unknown > 0);
}

#[test]
fn no_test_has_inputs_that_statements_about_inputs_exclude() {
    let place = Workplace::with(
        "int f(unsigned n)
{
    unsigned i = 0, sum = 0;
    while (i < n) {
        i++;
        sum += 3;
    }
    if (sum == 90000)
        return 1;
    return 0;
}
",
    );
    let words = "gen unit.c -c bc --time 20 --max-paths 3000 --json t.json --fresh";
    place.done(words);
    assert_eq!(figures(&place.json("t.json"), "f", "bc")[..2], [4, 4]);
    place.write("lydian.toml", "[function.f]\npreconditions = [\"n < 29000\"]\n");
    place.done(words);
    assert_eq!(figures(&place.json("t.json"), "f", "bc")[..2], [4, 3]);
}
