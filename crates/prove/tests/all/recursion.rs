//! Goals of recursive programs: decisions with contracts, against known answers and the interpreter.

mod random_programs;

use std::time::Duration;

use lydian_ir::Program;
use lydian_prove::encode::Encoded;
use lydian_prove::engines::{Decided, Decision, Recursive, Schedule, decide_recursive};
use lydian_smt::{ChainConfig, Limits, TermPool, Z3Use, standard_chain};

use crate::encoding::common::{encoded, load};

/// What all programs begin with.
const HEAD: &str = "
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern void reach_error(void);
";

/// An answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Reached,
    Unreachable,
    Unknown,
}

/// A program's system, decided, with all certificates checked.
fn decided(pool: &mut TermPool, program: &Program, rounds: u32) -> (Encoded, Decided) {
    let encoded = encoded(pool, program, "main");
    let mut solver = standard_chain(&ChainConfig { z3: Z3Use::Off, ..ChainConfig::default() });
    let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
    let goals: Vec<_> = encoded.system.goals.ids().collect();
    let schedule = Schedule { rounds, first: Duration::from_millis(100), ..Schedule::default() };
    let decided = decide_recursive(pool, recursive, &goals, &mut *solver, &schedule);
    let limits = Limits::time(Duration::from_secs(60));
    let checked = decided.contracts.check(pool, recursive, &mut *solver, &limits);
    assert!(checked.is_ok(), "{checked:?}");
    for verdict in &decided.verdicts {
        if let Decision::Unreachable(certificate) = &verdict.decision {
            let checked =
                certificate.check(pool, &decided.system, verdict.goal, &mut *solver, &limits);
            assert!(checked.is_ok(), "{checked:?}");
        }
    }
    (encoded, decided)
}

/// The answers for the error calls of a program, in the order of its goals.
fn answers(program: &Program, rounds: u32) -> Vec<Found> {
    let mut pool = TermPool::new();
    let (_, decided) = decided(&mut pool, program, rounds);
    let found = |verdict: &lydian_prove::engines::Verdict| match verdict.decision {
        Decision::Reached(_) => Found::Reached,
        Decision::Unreachable(_) => Found::Unreachable,
        Decision::Unknown(_) => Found::Unknown,
    };
    decided.verdicts.iter().map(found).collect()
}

/// The answer for the only error call of a program.
fn answer(text: &str) -> Found {
    let unit = load(&format!("{HEAD}{text}"));
    let found = answers(&unit.program, 4);
    assert_eq!(found.len(), 1, "{text}");
    found[0]
}

#[test]
fn the_result_of_a_recursive_identity_is_its_argument() {
    let program = |test: &str| {
        format!(
            "unsigned id(unsigned x) {{ if (x == 0) return 0; return id(x - 1) + 1; }}
             int main(void) {{
                 unsigned in = __VERIFIER_nondet_uint(), out = id(in);
                 if ({test}) reach_error();
             }}"
        )
    };
    assert_eq!(answer(&program("out != in")), Found::Unreachable);
    assert_eq!(answer(&program("out == 1000")), Found::Reached);
}

#[test]
fn a_sum_that_is_accumulated_is_linear_in_the_arguments() {
    let program = |test: &str| {
        format!(
            "unsigned sum(unsigned n, unsigned m) {{ return n == 0 ? m : sum(n - 1, m + 1); }}
             int main(void) {{
                 unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
                 if (sum(a, b) {test}) reach_error();
             }}"
        )
    };
    assert_eq!(answer(&program("!= a + b")), Found::Unreachable);
    assert_eq!(answer(&program("== a + 3")), Found::Reached);
}

#[test]
fn recursion_on_constants_is_decided_by_tables() {
    let program = |test: &str| {
        format!(
            "int fibo(int n) {{
                 if (n < 1) return 0;
                 if (n == 1) return 1;
                 return fibo(n - 1) + fibo(n - 2);
             }}
             int main(void) {{ if (fibo(15) {test}) reach_error(); }}"
        )
    };
    assert_eq!(answer(&program("!= 610")), Found::Unreachable);
    assert_eq!(answer(&program("== 610")), Found::Reached);
}

#[test]
fn a_call_of_a_call_satisfies_the_same_contract() {
    let program = |test: &str| {
        format!(
            "int f(int n) {{ if (n > 100) return n - 10; return f(f(n + 11)); }}
             int main(void) {{
                 int n = __VERIFIER_nondet_int();
                 if (n < 0 || n > 200) return 0;
                 int r = f(n);
                 if ({test}) reach_error();
             }}"
        )
    };
    assert_eq!(answer(&program("r != 91 && n <= 100")), Found::Unreachable);
    assert_eq!(answer(&program("r != 91 && n <= 102")), Found::Reached);
}

#[test]
fn mutual_recursion_has_a_contract_for_each_function() {
    let program = |test: &str| {
        format!(
            "int odd(int n);
             int even(int n) {{ if (n == 0) return 1; return odd(n - 1); }}
             int odd(int n) {{ if (n == 0) return 0; return even(n - 1); }}
             int main(void) {{
                 int n = __VERIFIER_nondet_int();
                 if (n < 0) return 0;
                 if ({test}) reach_error();
             }}"
        )
    };
    assert_eq!(answer(&program("even(n) != !(n & 1)")), Found::Unreachable);
    assert_eq!(answer(&program("even(n) && n > 3")), Found::Reached);
}

#[test]
fn what_is_behind_a_call_that_never_returns_is_out_of_reach() {
    assert_eq!(
        answer(
            "int f(int n) { return f(n + 1) + 1; }
             int main(void) { f(0); reach_error(); }"
        ),
        Found::Unreachable
    );
    // The base case is there, and no activation gets to it.
    assert_eq!(
        answer(
            "int f(unsigned n) { if (n == 1) return 7; return f(n + 2); }
             int main(void) { if (f(0) == 7) reach_error(); }"
        ),
        Found::Unreachable
    );
}

#[test]
fn an_error_inside_of_an_activation_is_reached() {
    let program = |test: &str| {
        format!(
            "void f(int n) {{ if (n < 3) return; n--; f(n); if ({test}) reach_error(); }}
             int main(void) {{ f(4); }}"
        )
    };
    assert_eq!(answer(&program("n == 2")), Found::Reached);
    assert_eq!(answer(&program("n < 2 || n > 3")), Found::Unreachable);
}

#[test]
fn a_contract_may_hold_for_the_calls_of_the_program_only() {
    // With a negative argument, `f` would give another result.
    let program = |least: &str| {
        format!(
            "int f(int n) {{ if (n < 0) return -1; if (n == 0) return 0; return f(n - 1); }}
             int main(void) {{
                 int n = __VERIFIER_nondet_int();
                 if (n < {least}) return 0;
                 if (f(n) != 0) reach_error();
             }}"
        )
    };
    assert_eq!(answer(&program("0")), Found::Unreachable);
    assert_eq!(answer(&program("-1")), Found::Reached);
}

#[test]
fn a_recursive_function_may_change_globals() {
    let program = |test: &str| {
        format!(
            "static unsigned moves, other = 3;
             static void hanoi(unsigned n) {{
                 if (n == 0) return;
                 hanoi(n - 1); moves++; hanoi(n - 1);
             }}
             int main(void) {{ hanoi(3); if ({test}) reach_error(); }}"
        )
    };
    assert_eq!(answer(&program("moves != 7")), Found::Unreachable);
    assert_eq!(answer(&program("other != 3")), Found::Unreachable);
    assert_eq!(answer(&program("moves == 7")), Found::Reached);
}

#[test]
fn locals_of_activations_are_not_mixed_up() {
    // Each activation writes to the variable of the one before.
    let program = |test: &str| {
        format!(
            "static int last;
             static void f(int *p, int n) {{
                 int x = n;
                 if (n > 0) f(&x, n - 1);
                 last = x;
                 *p = n + 10;
             }}
             int main(void) {{ int y = 0; f(&y, 2); if ({test}) reach_error(); }}"
        )
    };
    assert_ne!(answer(&program("last == 11")), Found::Unreachable);
    assert_ne!(answer(&program("y == 12")), Found::Unreachable);
    // A variable that nobody else knows keeps its value over the calls.
    let private = "static int f(int n) {
             int x[2]; x[n & 1] = n; x[!(n & 1)] = 0;
             if (n > 0) f(n - 1);
             return x[n & 1];
         }
         int main(void) { int n = __VERIFIER_nondet_int(); if (f(n) != n) reach_error(); }";
    assert_eq!(answer(private), Found::Unreachable);
}

#[test]
fn memory_of_callers_that_a_function_can_know_may_change() {
    let program = |test: &str| {
        format!(
            "static void f(int *p, int n) {{ if (n == 0) {{ *p = 5; return; }} f(p, n - 1); }}
             int main(void) {{
                 int y = 0, z = 0; f(&y, __VERIFIER_nondet_int() & 3);
                 if ({test}) reach_error();
             }}"
        )
    };
    assert_ne!(answer(&program("y == 5 && !z")), Found::Unreachable);
    assert_eq!(answer(&program("z != 0")), Found::Unreachable);
}

#[test]
fn the_head_of_a_loop_at_the_beginning_is_no_entry() {
    // `n` changes in the loop, and the argument of the call does not.
    let program = |test: &str| {
        format!(
            "static int f(int n) {{
                 while (n > 3) n--;
                 if (n == 3) return f(2) + 1;
                 return n;
             }}
             int main(void) {{ if (f(9) {test}) reach_error(); }}"
        )
    };
    assert_eq!(answer(&program("== 3")), Found::Reached);
    assert_ne!(answer(&program("!= 3")), Found::Reached);
}

#[test]
fn recursion_through_pointers_may_do_anything_that_its_function_does() {
    assert_ne!(
        answer(
            "static int n;
             static void f(int k);
             static void (*step)(int) = f;
             static void f(int k) { if (k == 1) n = 3; if (k > 0) step(k - 1); }
             int main(void) { f(4); if (n == 3) reach_error(); }"
        ),
        Found::Unreachable
    );
}
