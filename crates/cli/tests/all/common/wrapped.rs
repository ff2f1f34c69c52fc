//! Builds with `lydian cc`, and what their runs covered.

use std::process::Command;

use serde_json::Value;

use super::{LYDIAN, Ran, Workplace};

/// `lydian cc` with these options, before `--`.
pub(crate) fn cc(at: &Workplace, options: &str, words: &str) -> Ran {
    let mut command = Command::new(LYDIAN);
    at.settle(&mut command);
    command.env_remove("LYDIAN_DIR").env_remove("LYDIAN_CC").arg("cc");
    command.args(options.split_whitespace()).arg("--").args(words.split_whitespace());
    Ran::of(&mut command)
}

/// A build that is to work.
pub(crate) fn built(at: &Workplace, options: &str, words: &str) -> Ran {
    let ran = cc(at, options, words);
    assert_eq!(ran.code, Some(0), "lydian cc {options} -- {words}: {ran}");
    ran
}

/// A shell command in the folder.
pub(crate) fn shell(at: &Workplace, line: &str) -> Ran {
    let mut command = Command::new("sh");
    at.settle(&mut command);
    command.env_remove("LYDIAN_DIR").args(["-c", line]);
    Ran::of(&mut command)
}

/// What all runs covered.
pub(crate) fn coverage(at: &Workplace) -> Value {
    at.done("report --json coverage.json");
    at.json("coverage.json")["coverage"].clone()
}

/// The function of this name, of any file.
pub(crate) fn function<'v>(coverage: &'v Value, name: &str) -> &'v Value {
    let files = coverage["files"].as_array().expect("a list of files");
    let mut functions = files.iter().flat_map(|file| file["functions"].as_array().expect("a list"));
    let found = functions.find(|function| function["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {coverage:#}"))
}

/// How many objectives of a criterion a function has, and how many are covered.
pub(crate) fn counts(coverage: &Value, name: &str, criterion: &str) -> (usize, usize) {
    let objectives = function(coverage, name)["objectives"].as_array().expect("a list").clone();
    let of = objectives.iter().filter(|one| one["criterion"] == criterion);
    let covered = of.clone().filter(|one| one["status"] == "covered").count();
    (of.count(), covered)
}

/// Whether a function was entered.
pub(crate) fn entered(coverage: &Value, name: &str) -> bool {
    function(coverage, name)["entered"] == true
}

/// The warnings, as one text.
pub(crate) fn warnings(coverage: &Value) -> String {
    let list = coverage["warnings"].as_array().expect("a list of warnings");
    list.iter().map(|one| format!("{}\n", one.as_str().unwrap_or(""))).collect()
}
