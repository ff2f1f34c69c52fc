//! `lydian check`: certificates of proofs stand, and what was changed in them is seen.

use std::sync::OnceLock;

use serde_json::{Value, json};

use crate::common::Workplace;

/// An error function, and an assertion that calls it.
const HEAD: &str = "\
extern void abort(void);
extern void *malloc(unsigned long);
void reach_error(void) { abort(); }
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
void __VERIFIER_assume(int holds);
static void check(int holds)
{
    if (!holds)
        reach_error();
}
";

/// A loop without a bound that keeps a linear relation. Runs with chosen inputs leave it soon: a loop up to
/// an input would take a part of the time for proofs in the interpreter.
const LINEAR: &str = "int main(void)
{
    unsigned i = 0, sum = 0;
    while (__VERIFIER_nondet_int()) {
        i++;
        sum += 2;
    }
    check(sum == 2 * i);
    return 0;
}
";

/// A program's folder, with certificates of its proofs in `proofs`.
fn proved(program: &str) -> Workplace {
    let place = Workplace::with(&format!("{HEAD}{program}"));
    let ran = place.done("prove unit.c --provers engines --time 600 --certificates proofs");
    assert!(ran.out.contains("unreachable"), "{}", ran.out);
    place
}

/// A program's certificates stand.
fn assert_stands(program: &str) {
    let ran = proved(program).run("check proofs --time 600");
    assert!(ran.out.contains("1 of 1 certificates stand"), "{}{}", ran.out, ran.err);
    ran.says(0, &[]);
}

/// The name of the only certificate.
fn certificate_of(place: &Workplace) -> String {
    let entries = std::fs::read_dir(place.path("proofs")).expect("a folder");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    let mut names = names.map(|name| name.to_string_lossy().into_owned());
    let name = names.find(|name| name.ends_with(".json")).expect("a certificate");
    format!("proofs/{name}")
}

/// The certificate of [`LINEAR`], and the IR's text.
fn linear() -> (Value, String) {
    static FOUND: OnceLock<(Value, String)> = OnceLock::new();
    let make = || {
        let place = proved(LINEAR);
        let certificate = place.json(&certificate_of(&place));
        let text = place.read(&format!("proofs/{}", file_of(&certificate)));
        (certificate, text)
    };
    FOUND.get_or_init(make).clone()
}

/// The file with the IR's text.
fn file_of(certificate: &Value) -> String {
    certificate["program"]["file"].as_str().expect("a name").to_owned()
}

/// The exit code of the check of a changed certificate of [`LINEAR`], and its output.
fn changed(change: impl FnOnce(&mut Value)) -> (i32, String) {
    let (mut certificate, text) = linear();
    let place = Workplace::with("");
    place.write(&file_of(&certificate), &text);
    change(&mut certificate);
    place.write("a.certificate.json", &certificate.to_string());
    let ran = place.run("check . --time 600");
    (ran.code.expect("it ends by itself"), ran.out + &ran.err)
}

/// The position of a point with invariants.
fn point_of(certificate: &Value) -> usize {
    let points = certificate["points"].as_array().expect("points");
    let has_some = |point: &Value| !point["invariants"].as_array().expect("a list").is_empty();
    points.iter().position(has_some).expect("a point with invariants")
}

#[test]
fn a_linear_relation_of_a_loop_stands() {
    assert_stands(LINEAR);
}

#[test]
fn a_loop_in_a_function_that_is_called_twice_stands() {
    assert_stands(
        "static unsigned twice(void)
{
    unsigned i = 0, sum = 0;
    while (__VERIFIER_nondet_int()) {
        i++;
        sum += 2;
    }
    return sum - 2 * i;
}
int main(void)
{
    unsigned a = twice(), b = twice();
    check(a + b == 0);
    return 0;
}
",
    );
}

#[test]
fn a_loop_that_fills_an_array_stands() {
    assert_stands(
        "int main(void)
{
    int a[16], i, n = 0;
    for (i = 0; i < 16; i++) {
        a[i] = i;
        n++;
    }
    check(n == i && i == 16);
    return a[3];
}
",
    );
}

#[test]
fn a_table_of_the_program_stands() {
    assert_stands(
        "static const int table[4] = { 3, 1, 4, 1 };
int main(void)
{
    unsigned at = 0;
    while (__VERIFIER_nondet_int())
        at = (at + 1) & 3;
    check(table[at] > 0);
    return 0;
}
",
    );
}

#[test]
fn writes_through_a_pointer_stand() {
    assert_stands(
        "static void count(int *to) { if (*to < 100) *to += 1; }
int main(void)
{
    int counter = 0;
    while (__VERIFIER_nondet_int())
        count(&counter);
    check(counter <= 100);
    return 0;
}
",
    );
}

#[test]
fn a_block_from_the_heap_stands() {
    assert_stands(
        "struct pair { int first, second; };
int main(void)
{
    struct pair *p = malloc(sizeof *p);
    p->first = 1;
    p->second = 0;
    while (__VERIFIER_nondet_int())
        if (p->second < 10)
            p->second++;
    check(p->first == 1);
    return 0;
}
",
    );
}

#[test]
fn a_global_that_loops_change_stands() {
    assert_stands(
        "static int state;
int main(void)
{
    while (__VERIFIER_nondet_int()) {
        if (state == 0)
            state = 1;
        else if (state == 1)
            state = 2;
        else
            state = 0;
    }
    check(state != 3);
    return 0;
}
",
    );
}

#[test]
fn nested_loops_stand() {
    assert_stands(
        "int main(void)
{
    unsigned i = 0, j;
    while (i < 1000) {
        for (j = 0; j < 10; j++)
            check(i < 1000);
        i++;
    }
    return 0;
}
",
    );
}

#[test]
fn bytes_and_shifts_stand() {
    assert_stands(
        "int main(void)
{
    unsigned char c = 0;
    while (__VERIFIER_nondet_int())
        c = (unsigned char)(__VERIFIER_nondet_uchar() << 1);
    check((c & 1) == 0);
    return 0;
}
",
    );
}

#[test]
fn a_call_through_a_pointer_stands() {
    assert_stands(
        "static int one(int x) { return x & 1; }
static int two(int x) { return x & 2; }
int main(void)
{
    int (*f)(int) = __VERIFIER_nondet_int() ? one : two;
    int sum = 0;
    while (__VERIFIER_nondet_int())
        sum = f(__VERIFIER_nondet_int());
    check(sum >= 0 && sum < 4);
    return 0;
}
",
    );
}

#[test]
fn a_program_whose_runs_all_end_stands() {
    assert_stands(
        "int main(void)
{
    int i, x = __VERIFIER_nondet_int(), bits = 0;
    for (i = 0; i < 4; i++)
        if (x >> i & 1)
            bits++;
    check(bits <= 4);
    return 0;
}
",
    );
}

#[test]
fn states_that_alternate_stand() {
    assert_stands(
        "int main(void)
{
    int a = 0, b = 1, c = 2, t;
    while (__VERIFIER_nondet_int()) {
        t = a;
        a = b;
        b = c;
        c = t;
    }
    check(a != b);
    return 0;
}
",
    );
}

#[test]
fn a_contract_of_a_recursive_function_stands() {
    assert_stands(
        "static unsigned id(unsigned x) { return x == 0 ? 0 : id(x - 1) + 1; }
int main(void)
{
    unsigned in = __VERIFIER_nondet_uchar();
    check(id(in) == in);
    return 0;
}
",
    );
}

#[test]
fn a_contract_about_a_global_stands() {
    assert_stands(
        "static unsigned deep;
static void down(unsigned n)
{
    if (n) {
        deep++;
        down(n - 1);
    }
}
int main(void)
{
    unsigned in = __VERIFIER_nondet_uchar();
    down(in);
    check(deep == in);
    return 0;
}
",
    );
}

#[test]
fn mutual_recursion_stands() {
    assert_stands(
        "static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
int main(void)
{
    int n = __VERIFIER_nondet_uchar();
    check(even(n) == !(n & 1));
    return 0;
}
",
    );
}

#[test]
fn an_invariant_about_an_element_at_any_index_stands() {
    let place = proved(
        "int main(void)
{
    int a[256], i, n = __VERIFIER_nondet_uchar();
    for (i = 0; i < n; i++)
        a[i] = 7;
    for (i = 0; i < n; i++)
        check(a[i] == 7);
    return 0;
}
",
    );
    let state = place.json(&certificate_of(&place))["state"].to_string();
    assert!(state.contains("any"), "{state}");
    place.run("check proofs --time 600").says(0, &[]);
}

#[test]
fn a_condition_on_floats_stands() {
    assert_stands(
        "extern double __VERIFIER_nondet_double(void);
int main(void)
{
    double x = __VERIFIER_nondet_double();
    __VERIFIER_assume(x > -1.0 && x < 1.0);
    check(x - x * x * x / 6.0 < 1.01);
    return 0;
}
",
    );
}

#[test]
fn an_invariant_that_does_not_hold_at_first_is_seen() {
    let (code, said) = changed(|certificate| {
        let point = point_of(certificate);
        certificate["points"][point]["invariants"] = json!(["false"]);
    });
    assert_eq!(code, 70, "{said}");
    assert!(said.contains("preserves the invariants"), "{said}");
}

#[test]
fn invariants_that_are_too_weak_are_seen() {
    let (code, said) = changed(|certificate| {
        let point = point_of(certificate);
        certificate["points"][point]["invariants"] = json!(["true"]);
    });
    assert_eq!(code, 70, "{said}");
    assert!(said.contains("leads to the goal"), "{said}");
}

#[test]
fn another_goal_is_seen() {
    let (code, said) = changed(|certificate| {
        let call = certificate["instances"][1]["call"]["statement"].clone();
        certificate["goal"] = json!({"function": "main", "statement": call});
    });
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("no error and no assertion"), "{said}");
    let (code, said) = changed(|certificate| certificate["goal"]["function"] = json!("nowhere"));
    assert_eq!(code, 2, "{said}");
}

#[test]
fn a_point_that_is_missing_is_seen() {
    let (code, said) = changed(|certificate| {
        let points = certificate["points"].as_array_mut().expect("points");
        points.truncate(1);
    });
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("a cycle passes no point"), "{said}");
}

#[test]
fn a_call_that_is_missing_is_seen() {
    let (code, said) = changed(|certificate| {
        let instances = certificate["instances"].as_array_mut().expect("instances");
        instances.truncate(1);
        let objects = certificate["objects"].as_array_mut().expect("objects");
        objects.retain(|object| object["origin"]["local"]["instance"] != json!(1));
    });
    // The error counts as reached in what is not followed.
    assert_eq!(code, 70, "{said}");
}

#[test]
fn another_argument_is_seen() {
    let (code, said) = changed(|certificate| certificate["argument"]["depth"] = json!(0));
    assert_eq!(code, 2, "{said}");
    let (code, said) = changed(|certificate| {
        let point = point_of(certificate);
        certificate["points"][point]["invariants"] = json!([]);
        certificate["argument"] = json!({"kind": "exhaustion", "depth": 2});
    });
    assert_eq!(code, 70, "{said}");
}

#[test]
fn addresses_that_are_shared_are_seen() {
    let (code, said) = changed(|certificate| {
        let function = certificate["functions"][0].clone();
        certificate["functions"][1][1] = function[1].clone();
    });
    assert_eq!(code, 2, "{said}");
}

#[test]
fn another_program_is_seen() {
    let (certificate, text) = linear();
    let place = Workplace::with("");
    place.write(&file_of(&certificate), &text.replace("add.u", "sub.u"));
    place.write("a.certificate.json", &certificate.to_string());
    let ran = place.run("check .");
    ran.says(2, &[]);
    assert!(ran.out.contains("is not the program"), "{}", ran.out);
}

#[test]
fn what_is_no_certificate_is_refused() {
    let (code, said) = changed(|certificate| certificate["format"] = json!(99));
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("format 99"), "{said}");
    let place = Workplace::with("int main(void) { return 0; }\n");
    place.write("no.certificate.json", "{}");
    let ran = place.run("check no.certificate.json");
    ran.says(2, &[]);
    assert!(ran.out.contains("no certificate"), "{}", ran.out);
    place.refused("check nothing.certificate.json", 3, &["cannot read"]);
    place.refused("check .. --solver no-such-solver", 5, &["no-such-solver"]);
}
