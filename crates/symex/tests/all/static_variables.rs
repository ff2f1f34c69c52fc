//! The values of static variables when a function is called: those that earlier calls left in them.

use lydian_inputs::Settings;
use lydian_objective::Criterion;
use lydian_symex::{Config, Limits};

use crate::common::lazy::{branches, explore, rests_on};
use crate::common::{explore_c_with, measure};

#[test]
fn the_initial_value_of_a_static_local_is_an_assumption_where_a_run_has_one_call() {
    let text = "struct s { int n; };
         int f(struct s s) { static int calls; calls++; if (calls > s.n) return 1; return 0; }";
    let settings = Settings { lazy_inputs: true, ..Settings::default() };
    let found = explore_c_with(text, "f", &[Criterion::Bc], &Config::default(), settings);
    let bounds: Vec<String> = found.summary.bounds.iter().map(|b| b.sentence.clone()).collect();
    assert_eq!(bounds, ["the static variable calls has its first value"]);
}

#[test]
fn a_static_variable_has_the_value_that_earlier_calls_left() {
    branches("int f(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }", 2, 0);
    branches(
        "int f(int x) {
             static int last;
             if (last == 77 && x == 78) { last = 0; return 1; }
             last = x;
             return 0;
         }",
        4,
        0,
    );
}

#[test]
fn values_that_no_call_gives_a_static_variable_are_infeasible() {
    branches(
        "int f(int start) {
             static int state;
             switch (state) {
             case 0: if (start) state = 1; return 0;
             case 1: state = start > 5 ? 2 : 0; return 1;
             case 2: state = 0; return 2;
             default: return 3; /* never */
             }
         }",
        7,
        1,
    );
}

#[test]
fn calls_with_other_values_of_globals_are_followed_too() {
    branches(
        "int g;
         int f(int x) {
             static int s;
             int r = 0;
             if (s == 1 && g == 7) r = 1;
             if (x == 1) { s = 1; g = 3; } else if (x == 2) { s = 1; g = 7; }
             return r;
         }",
        8,
        0,
    );
    // The path has the value that the call before asked for.
    branches(
        "int g;
         int f(int x) {
             static int s;
             if (s == 1 && g == 7) return 1;
             if (x == 1 && g == 3) s = 1; else if (x == 2 && g == 7) s = 1;
             return 0;
         }",
        12,
        0,
    );
}

/// The numbers of pairs of definitions and uses that are covered, and that are left.
fn pairs(text: &str) -> (usize, usize) {
    let settings = Settings { lazy_inputs: true, ..Settings::default() };
    let criteria = [Criterion::AllUses];
    let found = explore_c_with(text, "f", &criteria, &Config::default(), settings);
    measure::confirm(&found);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    (found.summary.covered_hypers.len(), found.summary.left_hypers.len())
}

#[test]
fn the_initial_value_of_a_static_variable_is_that_of_the_first_call() {
    // It reaches neither side of the second call's condition.
    let text = "int f(void) { static int first = 1; if (first) first = 0; return 0; }";
    assert_eq!(pairs(text), (2, 2));
}

#[test]
fn each_definition_of_a_static_variable_reaches_the_next_call() {
    let text = "int f(int x) {
             static int s;
             int r = s;
             if (x == 1) s = 5; else if (x == 2) s = 5;
             return r;
         }";
    assert_eq!(pairs(text), (8, 0));
}

#[test]
fn labels_that_need_more_calls_than_a_run_has_are_infeasible_under_an_assumption() {
    let found =
        explore("int f(void) { static int calls; calls++; if (calls > 100) return 1; return 0; }");
    assert_eq!(found.covered(Criterion::Bc).len(), 1);
    let assumed: Vec<&str> =
        found.summary.assumptions.iter().map(|one| one.sentence.as_str()).collect();
    assert_eq!(assumed, ["the static variable calls has a value that 16 calls can give it"]);
}

#[test]
fn a_static_variable_of_a_callee_has_any_value_that_its_calls_can_give() {
    let level = "static int level(int n) { static int l; if (n == 5) l = 2; return l; }";
    // Calls of the function itself give the variable all its possible values.
    let all = format!("{level} int f(int n) {{ if (level(n) == 2) return 1; return 0; }}");
    branches(&all, 4, 0);
    let none = format!("{level} int f(int n) {{ if (level(n) == 1) return 1; return 0; }}");
    branches(&none, 3, 1);
    assert!(rests_on(&none).is_empty(), "{:?}", rests_on(&none));
    // Only other functions call it: nothing is known about the values that they left.
    let others =
        format!("{level} int f(int n) {{ if (n == 5) return 0; return level(n) == 2 ? 1 : 3; }}");
    assert_eq!(rests_on(&others), ["the static variable l has its first value"]);
    // The text does not show its possible values.
    for write in ["l++", "l = n", "int *p = &l; *p = 4"] {
        let unseen = format!(
            "static int level(int n) {{ static int l; if (n == 5) {{ {write}; }} return l; }}
             int f(int n) {{ if (level(n) == 1) return 1; return 0; }}"
        );
        assert_eq!(rests_on(&unseen), ["the static variable l has its first value"], "{write}");
    }
}

#[test]
fn a_static_variable_may_be_written_through_its_address() {
    for text in [
        "int f(void) { static int l; int *p = &l; (*p)++; if (l > 3) return 1; return 0; }",
        "static void bump(int *p) { (*p)++; }
         int f(void) { static int l; bump(&l); if (l > 3) return 1; return 0; }",
    ] {
        branches(text, 2, 0);
    }
    // Any code may write through an address that escaped.
    let given_away = [
        (
            "static int *place(void) { static int l; return &l; }
             void set(void) { *place() = 7; }
             int f(void) { if (*place() == 7) return 1; return 0; }",
            "the static variable l has its first value",
        ),
        (
            "int *f(int n) { static int l; if (l == 7) return 0; l = 1; return &l + n; }",
            "only f writes to its static variable l",
        ),
    ];
    for (text, sentence) in given_away {
        assert_eq!(rests_on(text), [sentence], "{text}");
    }
    // Here the address does not escape.
    let kept =
        "int f(int n) { static int l[3]; const int *p = l; if (p[n] == 7) return 1; return 0; }";
    branches(kept, 1, 1);
    assert!(rests_on(kept).is_empty(), "{:?}", rests_on(kept));
}

#[test]
fn static_variables_have_their_first_values_where_a_program_begins() {
    let body = "static int calls; calls++; if (calls > 1) return 1; return 0;";
    let explored = |text: &str| {
        let settings = Settings { lazy_inputs: true, ..Settings::default() };
        explore_c_with(text, "main", &[Criterion::Bc], &Config::default(), settings)
    };
    let found = explored(&format!("int main(void) {{ {body} }}"));
    assert_eq!((found.covered(Criterion::Bc).len(), found.summary.left.len()), (1, 1));
    assert!(found.summary.complete && found.summary.bounds.is_empty(), "{:?}", found.summary);
    // The program may call it itself.
    let again =
        explored(&format!("int main(void) {{ {body} }} int again(void) {{ return main(); }}"));
    assert_eq!(again.covered(Criterion::Bc).len(), 2);
}

#[test]
fn a_value_of_a_callee_s_variable_that_needs_more_calls_does_not_count_as_followed() {
    let text = "
        static int level(int n) {
            static int l;
            if (n == 5 && l == 0) l = 1;
            if (n == 6 && l == 1) l = 2;
            return l;
        }
        int f(int n) { if (level(n) == 3) return 1; return 0; }";
    let explored = |calls: u32| {
        let limits = Limits { calls, ..Limits::default() };
        let config = Config { limits, ..Config::default() };
        let settings = Settings { lazy_inputs: true, ..Settings::default() };
        explore_c_with(text, "f", &[Criterion::Bc], &config, settings).summary
    };
    assert!(explored(3).bounds.is_empty(), "a third call begins with 2");
    let bounds = explored(2).bounds;
    let sentences: Vec<&str> = bounds.iter().map(|one| one.sentence.as_str()).collect();
    assert_eq!(sentences, ["the static variable l has its first value"]);
}
