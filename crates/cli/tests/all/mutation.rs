//! `lydian mutate`: mutants that tests kill, of suites and of projects.

mod bad_input;
mod copies;
mod equivalence;
mod kept;
mod killing;
mod of_projects;
mod of_suites;

use serde_json::Value;

use crate::common::{Ran, Workplace};

/// A command whose words may have spaces.
fn mutate(at: &Workplace, words: &[&str]) -> Ran {
    let mut command = at.command("mutate");
    command.args(words).env_remove("LYDIAN_DIR").env_remove("LYDIAN_CC");
    Ran::of(&mut command)
}

/// The mutants of a report, as `name` at `line` and their outcomes.
fn outcomes(report: &Value) -> Vec<(String, u64, String)> {
    let mutants = report["mutants"].as_array().expect("a list of mutants");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    mutants
        .iter()
        .map(|it| {
            let line = it["start"]["line"].as_u64().expect("a number");
            (text(&it["name"]), line, text(&it["outcome"]["kind"]))
        })
        .collect()
}

/// The outcome of the first mutant with this name on this line.
fn outcome(report: &Value, name: &str, line: u64) -> String {
    let all = outcomes(report);
    let found = all.iter().find(|it| it.0 == name && it.1 == line);
    found.unwrap_or_else(|| panic!("no {name} on line {line}: {all:?}")).2.clone()
}
