//! Verdicts that hang on C types: signs, promotions, the bits of floats.

use crate::common::{Workplace, figures, rows};

/// Objectives, covered, infeasible, duplicate and unknown of `f`.
fn verdicts(text: &str, criterion: &str) -> [u64; 5] {
    let place = Workplace::with(text);
    place.done(&format!("gen unit.c --function f -c {criterion} --json t.json"));
    figures(&place.json("t.json"), "f", criterion)
}

#[test]
fn what_is_compared_has_the_sign_of_the_type_that_c_brings_it_to() {
    let signed = [
        ("int f(unsigned char c) { if (~c == 0) return 1; return 0; }\n", [3, 1, 2]),
        ("int f(unsigned long v) { if ((int)(v >> 32) != 0) return 1; return 0; }\n", [3, 3, 0]),
        ("int f(int i) { if ((long)(unsigned)i == -1) return 1; return 0; }\n", [3, 1, 2]),
        ("int f(unsigned char *p) { if (p[0] == 0xffu) return 1; return 0; }\n", [3, 2, 1]),
        ("int f(int i, unsigned u) { if (i == u) return 1; return 0; }\n", [3, 3, 0]),
    ];
    for (text, expected) in signed {
        let [objectives, covered, infeasible, ..] = verdicts(text, "bva");
        assert_eq!([objectives, covered, infeasible], expected, "{text}");
    }
}

#[test]
fn a_nan_that_is_an_input_has_any_payload_and_sign() {
    let text = "#include <string.h>
int f(float a) {
    unsigned i; memcpy(&i, &a, 4);
    if (i == 0x7fa00001u) return 1;
    if (i == 0xffc12345u) return 2;
    return 0; }
";
    assert_eq!(verdicts(text, "dc"), [4, 4, 0, 0, 0]);
    let text = "#include <string.h>
int f(double a) {
    double n = -a; unsigned long i; memcpy(&i, &n, 8);
    if (n != n && i >> 63) return 1;
    if (n != n) return 2;
    return 0; }
";
    assert_eq!(verdicts(text, "dc"), [4, 4, 0, 0, 0]);
}

#[test]
fn the_sign_of_a_nan_is_what_copysign_and_fabs_make_it() {
    let text = "#include <math.h>
#include <string.h>
int f(double a) {
    double c = copysign(a, -1); unsigned long i; memcpy(&i, &c, 8);
    if (c != c && i >> 63) return 1;
    if (!(i >> 63)) return 2;
    c = fabs(c); memcpy(&i, &c, 8);
    if (i >> 63) return 3;
    return 0; }
";
    assert_eq!(verdicts(text, "dc"), [6, 4, 2, 0, 0]);
}

#[test]
fn nothing_is_claimed_of_the_bits_of_a_nan_that_an_operation_gives() {
    let text = "int f(float a, float b) {
    union { float f; unsigned i; } u; u.f = a / b;
    if (u.f != u.f) { if (u.i >> 31) return 1; return 2; }
    return 0; }
";
    let [objectives, covered, infeasible, _, unknown] = verdicts(text, "dc");
    // Natively the sign is set, which a compiler may choose otherwise.
    assert_eq!((objectives, infeasible), (4, 0));
    assert_eq!((covered, unknown), (3, 1));
}

#[test]
fn a_call_that_ends_the_run_is_covered() {
    let text = "#include <assert.h>
int f(int x) { assert(x > 3); if (x == 5) return 1; return 0; }
";
    let place = Workplace::with(text);
    place.done("gen unit.c --function f -c fcc,fc,stmt --json t.json");
    let table = place.json("t.json");
    for criterion in ["fcc", "fc", "stmt"] {
        let [objectives, covered, ..] = figures(&table, "f", criterion);
        assert_eq!(objectives, covered, "{criterion} of {table:#}");
    }
}

#[test]
fn members_of_compound_literals_without_a_tag_are_values() {
    let text = "unsigned long long f(double d, int x) {
#pragma STDC FENV_ACCESS ON
    unsigned long long i = ((union { double f; unsigned long long i; }){ d }).i;
    if (i >> 63) return 1;
    if (((struct { int a; unsigned b : 3; }){ x, x }).b == 5) return 2;
    return 0; }
";
    let [objectives, covered, _, _, unknown] = verdicts(text, "dc");
    assert_eq!((objectives, covered, unknown), (4, 4, 0));
}

#[test]
fn a_function_that_the_program_never_calls_is_infeasible_however_far_it_is_explored() {
    let place = Workplace::with(
        "int __VERIFIER_nondet_int(void);
static int unused(int x) { if (x > 5) return 2; return 0; }
static int deep(int x) { return unused(x) ? 1 : 2; }
int indirect(int x) { if (x > 7) return 2; return 0; }
int (*p)(int) = indirect;
int main(void) { int n = 0; while (__VERIFIER_nondet_int() != n) n += 3; return p(n); }
",
    );
    place.done("gen unit.c --program -c fc,dc --time 2 --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "unused", "dc"), [2, 0, 2, 0, 0]);
    assert_eq!(figures(&table, "deep", "fc"), [1, 0, 1, 0, 0]);
    assert_eq!(figures(&table, "indirect", "fc")[2], 0);
    assert!(!rows(&table, "main").is_empty());
}

#[test]
fn a_type_that_a_program_names_bool_has_the_values_of_its_own() {
    let text = "typedef int bool;
bool twice(int a) { return a * 2; }
int f(int a) { if (twice(a) == 6) return 1; return 0; }
";
    assert_eq!(verdicts(text, "dc"), [2, 2, 0, 0, 0]);
}

#[test]
fn two_elements_of_an_array_of_pointers_lead_to_objects_of_their_own() {
    let text = "struct node { int x; struct node *next; };
int f(struct node **p, unsigned i, unsigned j)
{
    if (i >= 12 || j >= 12 || !p[i] || !p[j])
        return 0;
    if (p[i]->x != p[j]->x)
        return 1;
    return 2;
}
int g(struct node **p, unsigned i, unsigned j)
{
    if (i >= 12 || j >= 12 || !p[i] || !p[j] || !p[i]->next || !p[j]->next)
        return 0;
    return p[i]->next->x == 5 && p[j]->next->x == 6;
}
";
    let place = Workplace::with(text);
    let ran = place.done("gen unit.c -c stmt,bc --json t.json");
    for function in ["f", "g"] {
        let [all, covered, _, _, _] = figures(&place.json("t.json"), function, "bc");
        assert_eq!(covered, all, "{ran}");
    }
}
