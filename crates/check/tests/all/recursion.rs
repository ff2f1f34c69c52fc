//! Certificates with contracts of recursive functions.

use lydian_check::Outcome;
use serde_json::json;

use crate::common::{Parts, example, recursive};

#[test]
fn a_contract_that_each_return_satisfies_stands() {
    assert_eq!(recursive("v0", "(= x1 x0)").outcome(), Outcome::Checked);
    let twice = recursive("v0", "(and (= x1 x0) (= x0 x1))");
    assert_eq!(twice.outcome(), Outcome::Checked);
}

#[test]
fn a_contract_that_some_return_violates_is_seen() {
    let small = "(and (= x1 x0) (bvule x1 100:32))";
    for contract in ["false", small, "(and (= x1 x0) (= x0 0:32))"] {
        let found = recursive("v0", contract).outcome();
        let is_it = matches!(&found, Outcome::Refuted { condition, .. }
            if condition.contains("return of id"));
        assert!(is_it, "{contract}: {found:?}");
    }
}

#[test]
fn a_contract_that_is_too_weak_leaves_the_goal_open() {
    for contract in ["true", "(bvule 0:32 x1)"] {
        let found = recursive("v0", contract).outcome();
        assert!(matches!(found, Outcome::Refuted { .. }), "{contract}: {found:?}");
    }
    // The error is reached, whatever holds of the function.
    let found = recursive("add.u(v0, 1:i32)", "(= x1 x0)").outcome();
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
}

#[test]
fn a_contract_of_old_values_says_nothing_of_a_call() {
    let found = recursive("v0", "(= x1 x0)").changed(|certificate| {
        certificate["points"][2]["current"] = json!([1]);
    });
    assert!(matches!(found, Outcome::Refuted { .. }), "{found:?}");
}

#[test]
fn a_recursive_function_needs_its_ends() {
    for end in [1, 2] {
        let found = recursive("v0", "(= x1 x0)").changed(|certificate| {
            certificate["points"].as_array_mut().expect("points").remove(end);
        });
        assert!(matches!(found, Outcome::IllFormed(_)), "{found:?}");
    }
    let found = recursive("v0", "(= x1 x0)").changed(|certificate| {
        certificate["instances"][1]["recursive"] = json!(false);
    });
    assert!(matches!(found, Outcome::IllFormed(_)), "{found:?}");
}

#[test]
fn a_local_that_another_activation_knows_is_not_followed() {
    // `f(p)` writes to its local through the pointer that it hands on.
    let functions = r#"function f2 "f" ty8 external ("p")
{
  params (v0)
  local v0 "p" ty7 param register ptr
  local v1 "own" ty3 var memory 4 4
  local v2 "" ty3 temp register i32
  entry bb0
  bb0:
    s0: store i32 &v1, 0:i32
    branch eq(v0, 0:ptr) ? bb1 : bb2
  bb1:
    s1: call f2 ty8 (&v1) (ty7) -> v2
    return load i32(&v1)
  bb2:
    s2: store i32 v0, 7:i32
    return 0:i32
}

function f3 "main" ty6 external ()
{
  params ()
  local v0 "r" ty3 var register i32
  entry bb0
  bb0:
    s0: call f2 ty8 (0:ptr) (ty7) -> v0
    branch eq(v0, 0:i32) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s1: call f0 ty1 () ()
    return 0:i32
}
"#;
    let parts = Parts {
        main: 3,
        goal: 1,
        instances: json!([
            {"function": 3, "name": "main"},
            {"function": 2, "name": "f", "recursive": true},
        ]),
        objects: json!([
            {"origin": {"local": {"instance": 1, "local": 1}}, "name": "own", "address": 1 << 20},
        ]),
        state: json!([{"name": "result", "place": {"result": {"instance": 1}}}]),
        points: json!([
            {"instance": 0, "block": 0, "current": [], "invariants": []},
            {"instance": 1, "kind": "enter", "block": 0, "current": [], "invariants": []},
            {"instance": 1, "kind": "return", "block": 0, "current": [0],
             "invariants": ["(= x0 0:32)"]},
        ]),
    };
    let found = example(functions, parts).outcome();
    let is_it = matches!(&found, Outcome::Open { reason, .. } if reason.contains("activations"));
    assert!(is_it, "{found:?}");
}
