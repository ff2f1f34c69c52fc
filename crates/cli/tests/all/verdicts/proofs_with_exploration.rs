//! `lydian prove` with the exploration: who decides, values of variables that begin without one, loops
//! without an end, and counterexamples as C.

use std::os::unix::process::ExitStatusExt as _;
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
    let ran = place.done(&format!("prove unit.c --time 300 --json t.json {options}"));
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
        let ran =
            place.done(&format!("prove unit.c --time 300 --provers {provers} --tests {provers}"));
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
    let ran: Ran = place.done("prove unit.c --time 300 --provers exploration -- -m32");
    assert!(ran.out.contains("unreachable (exploration)"), "{ran}");
}

/// A walk over remainders that reads inputs for ever: the numbers that its steps are made of.
struct Walk {
    modulus: u64,
    first: u64,
    goal: u64,
    factor: u64,
    add: u64,
    /// What the second step adds, where a value that is read once is this number.
    jump: [u64; 2],
}

impl Walk {
    /// A random one.
    fn new(seed: &mut u64) -> Self {
        let mut below = |most: u64| {
            *seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (*seed >> 33) % most
        };
        let modulus = 4 + below(12);
        let mut number = || below(modulus);
        let (first, goal, factor, add) = (number(), number(), number(), number());
        let jump = number();
        Self { modulus, first, goal, factor, add, jump: [jump, below(3)] }
    }

    fn text(&self, name: &str) -> String {
        let Self { modulus, first, goal, factor, add, jump: [jump, kept] } = self;
        format!(
            "static void {name}(void)
{{
    unsigned s = {first}, kept = __VERIFIER_nondet_int() & 3;
    for (;;) {{
        int in = __VERIFIER_nondet_int();
        if (in == 1) s = (s * {factor} + {add}) % {modulus};
        else if (in == 2) {{ if (kept == {kept}) s = (s + {jump}) % {modulus}; }}
        if (s == {goal} && kept != 3) reach_error();
    }}
}}
"
        )
    }

    /// Whether any inputs lead to the error, by a search of all states.
    fn is_reached(&self) -> bool {
        let met = |kept: u64| {
            let mut met = vec![false; self.modulus as usize];
            let mut waiting = vec![self.first];
            let mut behind = vec![false; self.modulus as usize];
            behind[self.first as usize] = true; // an input that changes nothing
            while let Some(s) = waiting.pop() {
                if std::mem::replace(&mut met[s as usize], true) {
                    continue;
                }
                let mut next = vec![(s * self.factor + self.add) % self.modulus];
                if kept == self.jump[1] {
                    next.push((s + self.jump[0]) % self.modulus);
                }
                next.iter().for_each(|next| behind[*next as usize] = true);
                waiting.extend(next);
            }
            behind[self.goal as usize]
        };
        (0..3).any(met)
    }
}

#[test]
fn walks_that_never_end_reach_what_a_search_of_all_states_reaches() {
    let mut seed = 5;
    let walks: Vec<Walk> = (0..30).map(|_| Walk::new(&mut seed)).collect();
    let name = |at: usize| format!("walk{at}");
    let functions: String =
        walks.iter().enumerate().map(|(at, walk)| walk.text(&name(at))).collect();
    let cases = (0..walks.len()).map(|at| format!("    case {at}: {}(); break;\n", name(at)));
    let main = format!(
        "int main(void)\n{{\n    switch (__VERIFIER_nondet_int()) {{\n{}    }}\n    return 0;\n}}\n",
        cases.collect::<String>()
    );
    let place = Workplace::with(&format!("{HEAD}{functions}{main}"));
    let ran = place.done("prove unit.c --provers exploration --time 600 --json t.json");
    let proofs = place.json("t.json");
    let errors = proofs["errors"].as_array().expect("a list of errors");
    let mut reached = 0;
    for (at, walk) in walks.iter().enumerate() {
        let error = errors.iter().find(|error| error["function"] == name(at).as_str());
        let answer = &error.expect("an error for each walk")["answer"];
        let expected = if walk.is_reached() { "reached" } else { "unreachable" };
        assert!(answer.get(expected).is_some(), "{}\n{ran}", walk.text(&name(at)));
        reached += usize::from(walk.is_reached());
    }
    assert!((5..29).contains(&reached), "{reached}");
}
