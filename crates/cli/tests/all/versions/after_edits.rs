//! A second run after edits finds what a fresh run finds, and explores only what an edit concerns.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::Rng;
use serde_json::Value;

use crate::common::Workplace;

#[path = "../../../benches/shared/connected.rs"]
mod connected;

use connected::{ConnectedFunctions, Edit};

/// Two groups of functions: the first ten, and two more.
const FUNCTIONS: usize = 12;

/// The verdicts by function, in the order of its objectives, and the functions that were explored.
fn generate(at: &Workplace, folder: &str) -> (BTreeMap<String, Vec<Value>>, Vec<String>) {
    at.done(&format!("gen unit.c -o {folder} -c stmt,mcdc,wm --time 20 --json table.json"));
    let table = at.json("table.json");
    let (mut verdicts, mut explored) = (BTreeMap::new(), Vec::new());
    for function in table["functions"].as_array().unwrap() {
        let name = function["name"].as_str().unwrap().to_owned();
        if !function["exploration"].is_null() {
            explored.push(name.clone());
        }
        let parts = ["criterion", "name", "line", "column", "text", "verdict", "assumptions"];
        let of_one = |it: &Value| parts.iter().map(|part| it[*part].clone()).collect::<Value>();
        let objectives = function["objectives"].as_array().unwrap();
        assert!(!objectives.is_empty(), "{name} has no objectives");
        verdicts.insert(name, objectives.iter().map(of_one).collect());
    }
    (verdicts, explored)
}

#[test]
fn verdicts_after_random_edits_are_those_of_a_fresh_run() {
    let mut file = ConnectedFunctions::new(FUNCTIONS);
    let at = Workplace::with(&file.text());
    let mut rng = Rng::new(11);
    generate(&at, "kept");
    let mut touched = BTreeSet::new();
    let mut edits = vec![Edit::Type, Edit::Variable];
    for kind in [Edit::Condition, Edit::Constant, Edit::Literal] {
        edits.push(kind(rng.below(FUNCTIONS as u64) as usize));
    }
    while !edits.is_empty() {
        let edit = edits.swap_remove(rng.below(edits.len() as u64) as usize);
        file.edit(edit);
        at.write("unit.c", &file.text());
        let (kept, explored) = generate(&at, "kept");
        let other = format!("fresh-{}", edits.len());
        let (fresh, _) = generate(&at, &other);
        assert_eq!(kept, fresh, "{edit:?}");
        touched.extend(explored);
        let [own, other] = ["kept", &other].map(|folder| at.read(&format!("{folder}/tests.c")));
        // Tests of an edited function before its edit may stay.
        let untouched = kept.keys().filter(|name| !touched.contains(*name));
        for name in untouched {
            assert_eq!(tests_of(&own, name), tests_of(&other, name), "{edit:?}: {name}");
        }
        let table = at.read("kept/objectives.json");
        let (again, explored) = generate(&at, "kept");
        assert_eq!((again, explored), (kept, Vec::new()), "{edit:?}: nothing changed since");
        assert_eq!(at.read("kept/tests.c"), own, "{edit:?}: nothing changed since");
        let [now, before] =
            [at.read("kept/objectives.json"), table].map(|text| without_work(&text));
        assert_eq!(now, before, "{edit:?}: nothing changed since");
    }
    assert!(touched.len() < FUNCTIONS, "some functions are settled all the time: {touched:?}");
}

/// The tests of a function in a suite, with their comments.
fn tests_of<'s>(suite: &'s str, function: &str) -> Vec<&'s str> {
    let begins = [format!("static void test_{function}_"), format!("static void test_{function}(")];
    let is_own = |part: &&str| begins.iter().any(|begin| part.contains(begin));
    suite.split("\n\n").filter(is_own).collect()
}

/// A table of objectives without what says how they were found.
fn without_work(table: &str) -> Value {
    let begin = table.find('{').expect("a table");
    let mut all: Value = serde_json::from_str(&table[begin..]).expect("JSON");
    for function in all["functions"].as_array_mut().expect("functions") {
        function["seconds"] = Value::Null;
        function["exploration"] = Value::Null;
    }
    for key in ["taken_over", "sealed"] {
        all[key] = Value::Null;
    }
    all
}

#[test]
fn a_new_literal_leaves_what_is_known_of_functions_behind_it() {
    let mut file = ConnectedFunctions::new(FUNCTIONS);
    let at = Workplace::with(&file.text());
    let (_, explored) = generate(&at, "kept");
    assert!(explored.contains(&"f11".to_owned()), "{explored:?}");
    file.edit(Edit::Condition(0));
    at.write("unit.c", &file.text());
    let (_, explored) = generate(&at, "kept");
    let concerned: &[&str] = &["f0", "f1"];
    assert_eq!(explored, concerned);
}
