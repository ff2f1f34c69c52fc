//! Mutants that are proved equivalent, against random inputs: no input tells them from the original.

mod program;

use std::process::Command;

use serde_json::Value;

use program::{program, unit};

use super::mutate;
use crate::common::Workplace;

/// The inputs that each mutant meets.
const INPUTS: u32 = 200_000;

#[test]
fn no_random_input_tells_a_mutant_apart_that_is_proved_equivalent() {
    let at = Workplace::with(&unit());
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit", "--json", "m.json"];
    let operators = "ROR,ABS,CRO";
    let more = ["--proof-time", "30", "--operators", operators, "--show", "0"];
    let ran = mutate(&at, &[&words[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let all = report["mutants"].as_array().unwrap().iter();
    let of_loops =
        |it: &&Value| ["bits", "sorted", "even"].contains(&it["function"].as_str().unwrap());
    let proved: Vec<&Value> = all
        .filter(|it| it["outcome"]["kind"] == "equivalent" && it["function"] != "main")
        .collect();
    let by_proof = |it: &&Value| it["outcome"]["proof"] == "proof";
    let count = proved.iter().copied().filter(by_proof).filter(of_loops).count();
    assert!(count > 0, "loops and memory: {ran}");
    at.write("check.c", &program(&proved, INPUTS));
    let build = ["-O1", "-w", "-fwrapv", "check.c", "-o", "check"];
    let built = Command::new("clang-19").args(build).current_dir(at.path("")).status().unwrap();
    assert!(built.success());
    let output = Command::new(at.path("check")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = said.split(':').next().and_then(|number| proved.get(number.parse::<usize>().ok()?));
    assert!(output.status.success(), "{said}{wrong:?}");
}
