//! `lydian prove`: whether any input leads a program to a call of an error function.

use serde_json::Value;

use crate::common::Workplace;

/// An error function, and an assertion that calls it.
const HEAD: &str = "\
extern void abort(void);
void reach_error(void) { abort(); }
int __VERIFIER_nondet_int(void);
unsigned __VERIFIER_nondet_uint(void);
void __VERIFIER_assume(int holds);
static void check(int holds)
{
    if (!holds)
        reach_error();
}
";

/// The answer for the only error of a program, and the text of the command.
fn answer(body: &str) -> (Value, String) {
    answer_by("together", body)
}

/// The same, by some of the provers.
fn answer_by(provers: &str, body: &str) -> (Value, String) {
    let place = Workplace::with(&format!("{HEAD}int main(void)\n{{\n{body}\n    return 0;\n}}\n"));
    let ran = place.done(&format!("prove unit.c --provers {provers} --time 60 --json t.json"));
    let proofs = place.json("t.json");
    let errors = proofs["errors"].as_array().expect("a list of errors");
    assert_eq!(errors.len(), 1, "{ran}");
    (errors[0]["answer"].clone(), ran.out.clone())
}

#[test]
fn a_loop_without_a_bound_keeps_a_linear_relation() {
    let (answer, text) = answer(
        "    unsigned i = 0, sum = 0, n = __VERIFIER_nondet_uint();
    while (i < n) {
        i++;
        sum += 2;
    }
    check(sum == 2 * i);",
    );
    let argument = &answer["unreachable"];
    assert_eq!(argument["exhaustive"], Value::Bool(false), "{text}");
    assert!(text.contains("always in main at unit.c:14:"), "{text}");
}

#[test]
fn inputs_that_lead_to_an_error_do_so_in_the_interpreter() {
    let (answer, text) = answer(
        "    int turns = 0;
    while (__VERIFIER_nondet_int() == 7) {
        turns++;
        check(turns != 3);
    }",
    );
    let inputs = answer["reached"].as_array().unwrap_or_else(|| panic!("{text}"));
    assert_eq!(inputs.len(), 3, "{text}");
    assert!(inputs.iter().all(|input| input["bytes"][0] == 7), "{text}");
    assert_eq!(text.matches("__VERIFIER_nondet_int() = 7").count(), 3, "{text}");
}

#[test]
fn what_an_assumption_excludes_is_no_run() {
    let (answer, text) = answer(
        "    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x > 10);
    check(x != 5);",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn a_call_that_wraps_around_is_an_error_that_is_found() {
    let (answer, text) = answer(
        "    unsigned x = __VERIFIER_nondet_uint();
    check(x + 10 > x);",
    );
    assert!(answer.get("reached").is_some(), "{text}");
}

#[test]
fn elements_of_an_array_are_told_apart() {
    let (answer, text) = answer(
        "    int marks[8] = {0};
    int at = __VERIFIER_nondet_int();
    __VERIFIER_assume(at >= 0 && at < 7);
    marks[at] = 1;
    check(marks[at + 1] == 0 && marks[at] == 1);",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn an_error_behind_a_long_loop_is_found_by_a_run_of_the_program() {
    let (answer, text) = answer(
        "    unsigned i = 0, sum = 0;
    while (i < 20000) {
        i++;
        sum += i & 3;
    }
    check(sum % 2);",
    );
    assert!(answer.get("reached").is_some(), "{text}");
    assert!(text.contains("(execution)"), "{text}");
}

#[test]
fn a_bound_of_a_float_polynomial_is_proved() {
    let (answer, text) = answer(
        "    extern float __VERIFIER_nondet_float(void);
    float x = __VERIFIER_nondet_float();
    __VERIFIER_assume(x > -1.5f && x < 1.5f);
    check(x - x * x * x / 6.0f <= 0.95f);",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn all_elements_that_a_loop_has_written_are_known() {
    let (answer, text) = answer_by(
        "engines",
        "    unsigned i, all[1000];
    for (i = 0; i < 1000; i++)
        all[i] = i + i;
    for (i = 0; i < 1000; i++)
        check(all[i] == i + i);",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
    assert!(text.contains("(cells)"), "{text}");
}

#[test]
fn a_program_without_main_or_without_errors_gets_a_clear_message() {
    let place = Workplace::with("int f(void) { return 1; }\n");
    place.refused("prove unit.c", 3, &["the program has no `main`"]);
    let place = Workplace::with("int main(void) { return 1; }\n");
    let ran = place.done("prove unit.c");
    assert!(ran.out.contains("no call of an error function is in the program"), "{ran}");
}

#[test]
fn no_time_leaves_the_answer_unknown_and_says_so() {
    let place = Workplace::with(&format!(
        "{HEAD}int main(void) {{ unsigned n = __VERIFIER_nondet_uint(), i = 0, s = 0; \
         while (i < n) {{ i++; s += i; }} check(s != 12345 || n > 4); return 0; }}\n"
    ));
    let ran = place.done("prove unit.c --time 0");
    assert!(ran.out.contains("unknown: out of time"), "{ran}");
}

#[test]
fn each_error_has_inputs_of_its_own_that_lead_to_it() {
    let place = Workplace::with(&format!(
        "{HEAD}static void broken(void) {{ reach_error(); }}
int main(void)
{{
    int x = __VERIFIER_nondet_int();
    if (x == 1)
        broken();
    check(x != 2);
    return 0;
}}
"
    ));
    let ran = place.done("prove unit.c --time inf --json t.json");
    let proofs = place.json("t.json");
    let errors = proofs["errors"].as_array().expect("a list of errors");
    let first_byte = |error: &Value| error["answer"]["reached"][0]["bytes"][0].as_u64();
    let found: Vec<(&str, Option<u64>)> = errors
        .iter()
        .map(|error| (error["function"].as_str().unwrap_or_default(), first_byte(error)))
        .collect();
    assert_eq!(found, [("check", Some(2)), ("broken", Some(1))], "{ran}");
}

#[test]
fn a_function_that_is_not_supported_may_lead_to_every_error() {
    let place = Workplace::with(&format!(
        "{HEAD}void strange(int x)
{{
    __float128 wide = x;
    if (wide > 7)
        reach_error();
}}
int main(void)
{{
    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x > 10);
    strange(x);
    check(x != 5);
    return 0;
}}
"
    ));
    let ran = place.done("prove unit.c --time 20");
    assert!(ran.out.contains("`strange` uses a construct that is not supported"), "{ran}");
    assert!(!ran.out.contains("unreachable"), "{ran}");
}

#[test]
fn arguments_of_main_are_inputs_too() {
    let place = Workplace::with(&format!(
        "{HEAD}int main(int argc, char **argv)
{{
    if (argc > 1 && argv[1][0] == 'x')
        reach_error();
    return 0;
}}
"
    ));
    let ran = place.done("prove unit.c --time 20");
    assert!(!ran.out.contains("unreachable ("), "{ran}");
}

/// A program whose assertion holds where signed overflow wraps, and which overflows for some input.
const HOLDS_IF_IT_WRAPS: &str = "\
static int less_one(int x) { return x - 1; }
int main(void)
{
    int x = __VERIFIER_nondet_int();
    check(less_one(x) + 1 == x);
    return 0;
}
";

#[test]
fn nothing_is_unreachable_by_signed_overflow_that_wraps_unless_flags_say_so() {
    let place = Workplace::with(&format!("{HEAD}{HOLDS_IF_IT_WRAPS}"));
    let ran = place.done("prove unit.c --time 60 --json t.json --certificates kept");
    let why = place.json("t.json")["errors"][0]["answer"]["unknown"].clone();
    let why = why.as_str().unwrap_or_else(|| panic!("{ran}"));
    assert!(why.contains("__VERIFIER_nondet_int() = -2147483648 overflows at unit.c:11:"), "{why}");
    let ran = place.run("check kept");
    assert!(!ran.out.contains("unreachable"), "there is no certificate: {ran}");
    let ran = place.done("prove unit.c --time 60 -- -fwrapv");
    assert!(ran.out.contains("unit.c:9:9: unreachable"), "{ran}");
}

#[test]
fn an_error_that_a_run_gets_to_by_signed_overflow_says_where_it_overflows() {
    let wrong = "    int x = __VERIFIER_nondet_int();
    x = x + 10;
    check(x >= -2147483638);";
    let text = format!("{HEAD}int main(void)\n{{\n{wrong}\n    return 0;\n}}\n");
    let place = Workplace::with(&text);
    let ran = place.done("prove unit.c --time 60 --json t.json --tests runs");
    assert!(ran.out.contains("reached"), "{ran}");
    assert!(ran.out.contains("a signed overflow at unit.c:14:"), "{ran}");
    assert_eq!(place.json("t.json")["errors"][0]["overflow"]["line"], 14, "{ran}");
    assert!(place.read("runs/error-9.c").contains("compile with -fwrapv"), "{ran}");
    let ran = place.done("prove unit.c --time 60 -- -fwrapv");
    assert!(ran.out.contains("reached") && !ran.out.contains("signed overflow"), "{ran}");
}

#[test]
fn what_no_run_gets_to_stays_unreachable_where_no_run_overflows() {
    let (answer, text) = answer(
        "    int x = __VERIFIER_nondet_int();
    if (x > -1000 && x < 1000)
        check(x * 2 - x == x);",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
}
