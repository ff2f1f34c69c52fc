//! Mutants that are proved equivalent, against random inputs: no input tells them from the original.

mod program;

use std::process::Command;

use serde_json::Value;

use program::{program, unit};

use super::{mutate, outcome};
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

#[test]
fn mutants_of_a_header_are_compared_as_their_unit_compiles_them() {
    let at = Workplace::with("#include \"top.h\"\nint main(void)\n{\n    return top(1);\n}\n");
    let header = "\
#ifdef WIDE
typedef unsigned number;
#else
typedef unsigned char number;
#endif
static inline int top(number n)
{
    int turns = 0;
    while (turns < 3)
        turns++;
    return n > 255 ? turns : 0;
}
";
    at.write("top.h", header);
    let build = ["--build", "$CC -DWIDE unit.c -o unit", "--test", "./unit"];
    let more = ["--operators", "RVR,CRO", "--json", "m.json"];
    let ran = mutate(&at, &[&["top.h"][..], &build, &more].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    // They differ where a number is more than a byte.
    assert_eq!(outcome(&report, "RVR -> 0", 11), "not_infected", "{ran}");
    assert_eq!(outcome(&report, "CRO 3 -> 1", 9), "survived", "{ran}");
}

#[test]
fn a_mutant_that_only_overflow_tells_apart_is_not_equivalent_by_its_code() {
    let text = "int least(int a, int b) { return a < b ? a : b; }\n\
                int main(void) { return least(1, 2) == 7; }\n";
    let at = Workplace::with(text);
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit", "--json", "m.json"];
    let more = ["--proof-time", "0", "--operators", "UOI,ROR", "--show", "0"];
    let ran = mutate(&at, &[&words[..], &more].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    let all = report["mutants"].as_array().unwrap().iter();
    let of = |replacement: &str| -> Vec<&str> {
        let own = all.clone().filter(|it| it["replacement"] == replacement);
        own.map(|it| it["outcome"]["kind"].as_str().unwrap()).collect()
    };
    assert_eq!(of("a <= b"), ["equivalent"], "{ran}");
    let of_next = of("(b + 1)");
    assert!(!of_next.is_empty() && !of_next.contains(&"equivalent"), "{of_next:?} {ran}");
}
