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
ty7 = function ty4 () variadic

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
        "format": 3,
        "program": {"file": "a.ir", "sha256": "", "entry": "main"},
        "rules": {"signed_overflow": "wraps", "allocation_succeeds": true},
        "goal": {"function": "main", "statement": statement},
        "argument": {"kind": "induction", "depth": 1},
        "instances": [{"function": 2, "name": "main"}],
        "objects": objects,
        "functions": [[0, 8192], [1, 8194], [2, 8196], [3, 8198]],
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

/// A program that comes to the error if a pointer, which is a number of 32 bits in memory, is the address
/// of a local.
const READS_A_NUMBER: &str = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "n" ty2 var register i32
  local v1 "cell" ty3 var memory 8 8
  local v2 "x" ty2 var memory 4 4
  entry bb0
  bb0:
    s0: store i64 &v1, zext i64(v0)
    branch eq(load ptr(&v1), &v2) ? bb1 : bb2
  bb1:
    s1: call f0 ty1 () ()
    return 0:i32
  bb2:
    return 0:i32
}
"#;

/// A program that comes to the error if half of an address is not zero.
const COPIES_HALF: &str = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "from" ty4 var memory 8 8
  local v1 "to" ty4 var memory 8 8
  local v2 "x" ty2 var memory 4 4
  entry bb0
  bb0:
    s0: store ptr &v0, &v2
    s1: store ptr &v1, 0:ptr
    s2: copy &v1, &v0, 4
    branch eq(load ptr(&v1), 0:ptr) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s3: call f0 ty1 () ()
    return 0:i32
}
"#;

/// A program that comes to the error if the lowest bits of the number of an address are not zero.
const READS_AN_ADDRESS: &str = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "cell" ty4 var memory 8 8
  local v1 "x" ty2 var memory 4 4
  entry bb0
  bb0:
    s0: store ptr &v0, &v1
    branch eq(load i32(&v0), 0:i32) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s1: call f0 ty1 () ()
    return 0:i32
}
"#;

/// The locals of a program at addresses whose lowest 32 bits are zero.
fn locals(numbers: &[u32]) -> Value {
    let local = |number: &u32| {
        let origin = json!({"local": {"instance": 0, "local": number}});
        json!({"origin": origin, "name": "x", "address": u64::from(*number + 1) << 40})
    };
    numbers.iter().map(local).collect()
}

#[test]
fn a_number_in_memory_may_be_any_address() {
    let found = outcome(READS_A_NUMBER, (locals(&[1, 2]), 1));
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
}

#[test]
fn a_part_of_an_address_is_any_number() {
    let found = outcome(READS_AN_ADDRESS, (locals(&[0, 1]), 1));
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
    let found = outcome(COPIES_HALF, (locals(&[0, 1, 2]), 3));
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
}

/// A program that calls a function of this declaration, and then does not come to the error.
fn calling(ty: &str, declaration: &str, arguments: &str) -> Outcome {
    let main = format!(
        r#"function f2 "main" ty6 external ()
{{
  params ()
  local v0 "p" ty4 var register ptr
  local v1 "x" ty2 var memory 4 4
  entry bb0
  bb0:
    s0: store i32 &v1, 0:i32
    s1: call f3 {ty} ({arguments}) -> v0
    branch eq(load i32(&v1), 0:i32) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s2: call f0 ty1 () ()
    return 0:i32
}}

function f3 {declaration}
"#
    );
    outcome(&main, (locals(&[1]), 2))
}

#[test]
fn the_system_s_functions_are_followed_if_they_are_known() {
    let known = calling("ty5", "\"strdup\" ty5 external system (\"n\")", "4:i64) (ty3");
    assert_eq!(known, Outcome::Checked);
    let found = calling("ty5", "\"go_elsewhere\" ty5 external system (\"n\")", "4:i64) (ty3");
    let is_it = matches!(&found, Outcome::Open { reason, .. } if reason.contains("go_elsewhere"));
    assert!(is_it, "{found:?}");
}

#[test]
fn nothing_is_known_of_a_call_without_all_arguments() {
    let found = calling("ty7", "\"memcpy\" ty7 external ()", "&v1, &v1) (ty4, ty4");
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
    let arguments = "&v1, &v1, 4:i64) (ty4, ty4, ty3";
    let found = calling("ty7", "\"memcpy\" ty7 external ()", arguments);
    assert_eq!(found, Outcome::Checked);
}
