//! `lydian prove` with the exploration: who decides, values of variables that begin without one, loops
//! without an end, and counterexamples as C.

use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, Workplace};

const HEAD: &str = "\
extern void abort(void);
void reach_error(void) { abort(); }
int __VERIFIER_nondet_int(void);
unsigned char __VERIFIER_nondet_uchar(void);
double __VERIFIER_nondet_double(void);
void __VERIFIER_assume(int holds);
static void check(int holds)
{
    if (!holds)
        reach_error();
}
";

fn workplace(body: &str) -> Workplace {
    Workplace::with(&format!("{HEAD}int main(void)\n{{\n{body}\n    return 0;\n}}\n"))
}

/// The answer for the only error of a program, who gave it, and the text of the command.
fn answer(body: &str, options: &str) -> (Value, String, String) {
    let place = workplace(body);
    let ran = place.done(&format!("prove unit.c --time 30 --json t.json {options}"));
    let proofs = place.json("t.json");
    let errors = proofs["errors"].as_array().expect("a list of errors");
    assert_eq!(errors.len(), 1, "{ran}");
    let engine = errors[0]["engine"].as_str().unwrap_or_default();
    (errors[0]["answer"].clone(), engine.to_owned(), ran.out.clone())
}

const FORTY_PATHS: &str = "    int x = __VERIFIER_nondet_int(), i = 0;
    __VERIFIER_assume(x >= 0 && x < 40);
    while (i < x) i++;
    check(i == x);";

#[test]
fn an_exploration_whose_paths_all_end_is_an_argument() {
    let (answer, engine, text) = answer(FORTY_PATHS, "--provers exploration");
    assert!(answer["unreachable"]["paths"].as_str().is_some_and(|why| why.contains("elsewhere")));
    assert_eq!(engine, "exploration", "{text}");
    assert!(text.contains("of the program end"), "{text}");
}

#[test]
fn engines_alone_have_no_help_of_the_exploration() {
    let (answer, engine, text) = answer(FORTY_PATHS, "--provers engines");
    assert!(answer["unreachable"].get("paths").is_none(), "{text}");
    assert_ne!(engine, "exploration", "{text}");
}

#[test]
fn both_decide_together_on_one_thread_and_on_two() {
    let unsafe_one = "    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    check(x < 7 || y != 3 * x + 1);";
    for jobs in ["--jobs 1", "--jobs 2"] {
        let (reached, _, text) = answer(unsafe_one, jobs);
        assert!(reached["reached"].as_array().is_some_and(|inputs| inputs.len() == 2), "{text}");
        let (unreachable, _, text) = answer(FORTY_PATHS, jobs);
        assert!(unreachable.get("unreachable").is_some(), "{text}");
    }
}

#[test]
fn a_loop_without_an_end_that_reads_inputs_costs_no_verdict() {
    let (answer, _, text) = answer(
        "    int state = 1;
    while (1) {
        int input = __VERIFIER_nondet_int();
        if (input == 1 && state == 1) state = 2;
        else if (input == 2 && state == 2) state = 3;
        else if (state == 3) state = 1;
        check(state != 4);
    }",
        "--provers exploration",
    );
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn a_state_that_later_inputs_lead_to_is_not_lost_among_those_that_were_met() {
    let (answer, _, text) = answer(
        "    int state = 1, key = __VERIFIER_nondet_int();
    while (1) {
        int input = __VERIFIER_nondet_int();
        if (input == 1) state = state == 1 ? 2 : 1;
        else if (input == key && state == 2) state = 3;
        else if (input == 5) state = 1;
        check(state != 3 || key != 9);
    }",
        "--provers exploration",
    );
    assert!(answer.get("reached").is_some(), "{text}");
}

#[test]
fn a_variable_without_a_value_has_any_and_the_answer_names_it() {
    for provers in ["engines", "exploration", "together"] {
        let options = format!("--provers {provers}");
        let (reached, _, text) = answer("    int x;\n    check(x != 5);", &options);
        assert!(reached.get("reached").is_some(), "{provers}: {text}");
        assert!(text.contains("`x` in `main` begins as 5"), "{provers}: {text}");
    }
}

#[test]
fn a_value_of_a_variable_is_chosen_once() {
    for provers in ["engines", "exploration"] {
        let options = format!("--provers {provers}");
        let (same, _, text) =
            answer("    int x;\n    int y = x;\n    check(x == y && x - y == 0);", &options);
        assert!(same.get("unreachable").is_some(), "{provers}: {text}");
    }
}

#[test]
fn scalars_of_variables_in_memory_begin_with_any_value_too() {
    let body = "    struct { int a; char b[3]; } s;
    int *p = &s.a;
    char *q = s.b;
    check(*p != 77 || q[1] != 'x');";
    for provers in ["engines", "exploration"] {
        let (reached, _, text) = answer(body, &format!("--provers {provers}"));
        assert!(reached.get("reached").is_some(), "{provers}: {text}");
        assert!(text.contains("`s.a` in `main` begins as 77"), "{provers}: {text}");
        assert!(text.contains("`s.b[1]` in `main` begins as 120"), "{provers}: {text}");
    }
}

#[test]
fn a_variable_that_is_set_first_is_no_input() {
    let body = "    int x, y[2];
    x = 3;
    y[0] = x;
    y[1] = 4;
    check(y[0] + y[1] == 7);";
    let (answer, _, text) = answer(body, "");
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn allocations_succeed() {
    let body = "    int *p = __builtin_malloc(8);
    check(p != 0);";
    let (answer, _, text) = answer(body, "--provers exploration");
    assert!(answer.get("unreachable").is_some(), "{text}");
}

#[test]
fn a_counterexample_as_c_reaches_the_error_natively() {
    let place = workplace(
        "    int a = __VERIFIER_nondet_int();
    unsigned char b = __VERIFIER_nondet_uchar();
    double c = __VERIFIER_nondet_double();
    int d = __VERIFIER_nondet_int();
    __VERIFIER_assume(a < -3);
    check(b != 200 || c != 0.25 || d != a + 1);",
    );
    for provers in ["engines", "exploration"] {
        let ran = place.done(&format!("prove unit.c --provers {provers} --tests {provers}"));
        assert!(ran.out.contains("reached ("), "{ran}");
        let test = place.path(provers).join("error-10.c");
        let compiled = Command::new("gcc")
            .args(["-w", "-o"])
            .arg(place.path("run"))
            .args([place.path("unit.c"), test])
            .output()
            .expect("gcc runs");
        assert!(
            compiled.status.success(),
            "{compiled:?}\n{}",
            place.read(&format!("{provers}/error-10.c"))
        );
        let native = Command::new(place.path("run")).output().expect("it runs");
        use std::os::unix::process::ExitStatusExt as _;
        assert_eq!(native.status.signal(), Some(6), "{provers}: it ends by abort");
    }
}

#[test]
fn a_program_of_32_bits_is_explored() {
    let body = "    int a[4] = {1, 2, 3, 4}, i = __VERIFIER_nondet_int();
    int *p = a;
    __VERIFIER_assume(i >= 0 && i < 4);
    check(p[i] != 3 || i == 2);";
    let place = workplace(body);
    let ran: Ran = place.done("prove unit.c --provers exploration -- -m32");
    assert!(ran.out.contains("unreachable (exploration)"), "{ran}");
}
