//! Programs as text with certificates of theirs, and the check.

use std::time::Duration;

use lydian_check::{Certificate, Document, Outcome, Solver, check};
use serde_json::{Value, json};

/// Types, and the functions that all programs have.
pub(crate) const HEAD: &str = r#"ty0 = void
ty1 = function ty0 ()
ty2 = int "int" 32 signed
ty3 = int "unsigned int" 32 unsigned
ty4 = function ty3 (ty3)
ty5 = function ty3 ()
ty6 = function ty2 ()
ty7 = pointer ty3
ty8 = function ty3 (ty7)

function f0 "reach_error" ty1 external ()

function f1 "__VERIFIER_nondet_uint" ty5 external ()

"#;

/// A program with a certificate.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) text: String,
    pub(crate) certificate: Value,
}

/// The parts of a certificate that examples differ in.
pub(crate) struct Parts {
    pub(crate) main: u32,
    pub(crate) goal: u32,
    pub(crate) instances: Value,
    pub(crate) objects: Value,
    pub(crate) state: Value,
    pub(crate) points: Value,
}

/// A program of some functions behind [`HEAD`], with a certificate by plain induction.
pub(crate) fn example(functions: &str, parts: Parts) -> Example {
    let count = functions.matches("function f").count() as u64 + 2;
    let addresses: Vec<Value> = (0..count).map(|at| json!([at, 8192 + 2 * at])).collect();
    let certificate = json!({
        "format": 3,
        "program": {"file": "a.ir", "sha256": "", "entry": "main"},
        "rules": {"signed_overflow": "wraps", "allocation_succeeds": true},
        "goal": {"function": "main", "statement": parts.goal},
        "argument": {"kind": "induction", "depth": 1},
        "instances": parts.instances,
        "objects": parts.objects,
        "functions": addresses,
        "state": parts.state,
        "points": parts.points,
    });
    assert_eq!(certificate["instances"][0]["function"], json!(parts.main));
    Example { text: format!("{HEAD}{functions}"), certificate }
}

impl Example {
    /// The result of the check.
    pub(crate) fn outcome(&self) -> Outcome {
        outcome(&self.text, &self.certificate)
    }

    /// The example with another text in place of one in the program.
    pub(crate) fn with_text(mut self, old: &str, new: &str) -> Self {
        assert_eq!(self.text.matches(old).count(), 1, "{old}");
        self.text = self.text.replace(old, new);
        self
    }

    /// The same after a change.
    pub(crate) fn changed(&self, change: impl FnOnce(&mut Value)) -> Outcome {
        let mut certificate = self.certificate.clone();
        change(&mut certificate);
        outcome(&self.text, &certificate)
    }
}

/// The result of the check of a certificate of a program; what does not read is ill-formed.
pub(crate) fn outcome(text: &str, certificate: &Value) -> Outcome {
    let certificate = match Certificate::parse(&certificate.to_string()) {
        Ok(certificate) => certificate,
        Err(error) => return Outcome::IllFormed(error.to_string()),
    };
    let document = Document { certificate, text: text.to_owned() };
    let solver = Solver::find(None, Duration::from_secs(60)).expect("a solver");
    check(&document, &solver).expect("an answer").outcome
}

/// A loop that counts by ones and sums by twos, with an error where the sum is not `expected`.
pub(crate) fn counting(expected: &str, invariant: &str) -> Example {
    let functions = format!(
        r#"function f2 "main" ty6 external ()
{{
  params ()
  local v0 "i" ty3 var register i32
  local v1 "sum" ty3 var register i32
  local v2 "n" ty3 var register i32
  entry bb0
  bb0:
    s0: v0 = 0:i32
    s1: v1 = 0:i32
    s2: call f1 ty5 () () -> v2
    goto bb1
  bb1:
    branch lt.u(v0, v2) ? bb2 : bb3
  bb2:
    s3: v0 = add.u(v0, 1:i32)
    s4: v1 = add.u(v1, 2:i32)
    goto bb1
  bb3:
    branch eq(v1, {expected}) ? bb4 : bb5
  bb4:
    return 0:i32
  bb5:
    s5: call f0 ty1 () ()
    return 0:i32
}}
"#
    );
    let register = |local: u32, name: &str| json!({"name": name, "place": {"register": {"instance": 0, "local": local}}});
    let parts = Parts {
        main: 2,
        goal: 5,
        instances: json!([{"function": 2, "name": "main"}]),
        objects: json!([]),
        state: json!([register(0, "i"), register(1, "sum"), register(2, "n")]),
        points: json!([
            {"instance": 0, "block": 0, "current": [], "invariants": []},
            {"instance": 0, "block": 1, "current": [0, 1, 2], "invariants": [invariant]},
        ]),
    };
    example(&functions, parts)
}

/// A function that calls itself and gives its argument, with an error where the result is not `expected`.
pub(crate) fn recursive(expected: &str, contract: &str) -> Example {
    let functions = format!(
        r#"function f2 "id" ty4 external ("x")
{{
  params (v0)
  local v0 "x" ty3 param register i32
  local v1 "" ty3 temp register i32
  entry bb0
  bb0:
    branch eq(v0, 0:i32) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s0: call f2 ty4 (sub.u(v0, 1:i32)) (ty3) -> v1
    return add.u(v1, 1:i32)
}}

function f3 "main" ty6 external ()
{{
  params ()
  local v0 "in" ty3 var register i32
  local v1 "out" ty3 var register i32
  entry bb0
  bb0:
    s0: call f1 ty5 () () -> v0
    s1: call f2 ty4 (v0) (ty3) -> v1
    branch eq(v1, {expected}) ? bb1 : bb2
  bb1:
    return 0:i32
  bb2:
    s2: call f0 ty1 () ()
    return 0:i32
}}
"#
    );
    let parts = Parts {
        main: 3,
        goal: 2,
        instances: json!([
            {"function": 3, "name": "main"},
            {"function": 2, "name": "id", "recursive": true},
        ]),
        objects: json!([]),
        state: json!([
            {"name": "x.before", "place": {"argument": {"instance": 1, "local": 0}}},
            {"name": "result", "place": {"result": {"instance": 1}}},
        ]),
        points: json!([
            {"instance": 0, "block": 0, "current": [], "invariants": []},
            {"instance": 1, "kind": "enter", "block": 0, "current": [0], "invariants": []},
            {"instance": 1, "kind": "return", "block": 0, "current": [0, 1],
             "invariants": [contract]},
        ]),
    };
    example(&functions, parts)
}
