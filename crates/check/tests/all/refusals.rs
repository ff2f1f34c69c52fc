//! Programs with an error that is reached, and certificates that say it is not.

use std::time::Duration;

use lydian_check::{Certificate, Document, Outcome, Solver, check};
use serde_json::{Value, json};

/// Types and functions, the first of them an error.
const HEAD: &str = r#"ty0 = void
ty1 = function ty0 ()
ty2 = int "int" 32 signed
ty3 = int "unsigned long" 64 unsigned
ty4 = pointer ty0
ty5 = function ty4 (ty3)
ty6 = function ty2 ()

function f0 "reach_error" ty1 external ()

function f1 "malloc" ty5 external ("size")

"#;

/// A program that allocates 32 bytes and comes to the error.
const ALLOCATES: &str = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "p" ty4 var register ptr
  entry bb0
  bb0:
    s0: call f1 ty5 (32:i64) (ty3) -> v0
    s1: call f0 ty1 () ()
    return 0:i32
}
"#;

/// A program that comes to the error if a number is not the address of a local.
const COMPARES: &str = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "x" ty2 var memory 4 4
  entry bb0
  bb0:
    branch eq(&v0, 1048576:ptr) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s0: call f0 ty1 () ()
    return 0:i32
}
"#;

fn outcome(main: &str, (objects, statement): (Value, u32)) -> Outcome {
    let certificate = json!({
        "format": 2,
        "program": {"file": "a.ir", "sha256": "", "entry": "main"},
        "rules": {"signed_overflow": "wraps", "allocation_succeeds": true},
        "goal": {"function": "main", "statement": statement},
        "argument": {"kind": "induction", "depth": 1},
        "instances": [{"function": 2, "name": "main"}],
        "objects": objects,
        "functions": [[0, 8192], [1, 8194], [2, 8196]],
        "state": [],
        "points": [{"instance": 0, "block": 0, "current": [], "invariants": []}],
    });
    let certificate = Certificate::parse(&certificate.to_string()).expect("a certificate");
    let document = Document { certificate, text: format!("{HEAD}{main}") };
    let solver = Solver::find(None, Duration::from_secs(60)).expect("a solver");
    check(&document, &solver).expect("an answer").outcome
}

fn allocating(step: u64, most: u64) -> Outcome {
    let place = json!({
        "instance": 0, "statement": 0, "step": step, "repeats": true, "most": most,
    });
    let object = json!({"origin": {"allocated": place}, "name": "p", "address": 1_u64 << 40});
    outcome(ALLOCATES, (json!([object]), 1))
}

#[test]
fn blocks_that_are_far_apart_do_not_hide_a_run() {
    let Outcome::IllFormed(what) = allocating(1 << 40, 1 << 38) else { panic!("accepted") };
    assert!(what.contains("further apart"), "{what}");
    for (step, most) in [(64, 1 << 38), (64, 32)] {
        let found = allocating(step, most);
        assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
    }
}

#[test]
fn a_number_of_the_program_is_no_address() {
    let object = json!({
        "origin": {"local": {"instance": 0, "local": 0}}, "name": "x", "address": 1_048_576,
    });
    let found = outcome(COMPARES, (json!([object]), 0));
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
}

#[test]
fn a_call_that_is_no_error_is_no_goal() {
    let found = outcome(ALLOCATES, (json!([]), 0));
    assert!(matches!(&found, Outcome::IllFormed(what) if what.contains("no error")), "{found:?}");
}
