//! Mutants that are called equivalent, against ten million random inputs each.
//!
//!     cargo bench -p lydian-cli --bench equivalence [-- INPUTS]
//!
//! `lydian mutate` decides the mutants of functions of numbers. A program calls each one that it calls
//! equivalent, and the original, on the same inputs, borders among them. Printed are the mutants and the time.
//! An input that tells a mutant apart ends the bench with code 1.

#[path = "../tests/all/mutation/equivalence/program.rs"]
mod program;

use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::time::Instant;

use program::{program, unit};
use serde_json::Value;

const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");

fn main() -> ExitCode {
    let given = std::env::args().skip(1).find_map(|word| word.parse().ok());
    let inputs: u32 = given.unwrap_or(10_000_000);
    let place = tempfile::tempdir().expect("a folder");
    let at = |name: &str| place.path().join(name);
    std::fs::write(at("unit.c"), unit()).expect("the unit is written");
    let mut mutate = Command::new(LYDIAN);
    mutate.args(["mutate", "unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit"]);
    mutate.args(["--proof-time", "60", "--show", "0", "--json", "m.json"]);
    let decided = mutate.current_dir(place.path()).output().expect("lydian starts");
    assert!(decided.status.success(), "{}", String::from_utf8_lossy(&decided.stderr));
    let text = std::fs::read(at("m.json")).expect("results");
    let report: Value = serde_json::from_slice(&text).expect("JSON");
    let all = report["mutants"].as_array().expect("a list of mutants");
    let is_equal = |it: &&Value| it["outcome"]["kind"] == "equivalent" && it["function"] != "main";
    let equal: Vec<&Value> = all.iter().filter(is_equal).collect();
    std::fs::write(at("check.c"), program(&equal, inputs)).expect("the program is written");
    let mut clang = Command::new("clang-19");
    clang.args(["-O1", "-w", "-fwrapv", "check.c", "-o", "check"]).current_dir(place.path());
    assert!(clang.status().expect("clang starts").success());
    let begun = Instant::now();
    let output = Command::new(at("check")).output().expect("the program starts");
    let seconds = begun.elapsed().as_secs_f64();
    let mut out = std::io::stdout();
    let _ = writeln!(
        out,
        "{} of {} mutants are called equivalent; {inputs} inputs each in {seconds:.1} s",
        equal.len(),
        all.len()
    );
    if output.status.success() {
        return ExitCode::SUCCESS;
    }
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let wrong = said.split(':').next().and_then(|number| equal.get(number.parse::<usize>().ok()?));
    let _ = writeln!(out, "told apart: {said}{wrong:?}");
    ExitCode::FAILURE
}
