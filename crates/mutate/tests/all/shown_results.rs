//! Results as diffs and in the forms of other tools.

use lydian_mutate::mutant::UnitMutants;
use lydian_mutate::report::{difference, elements, json, page};
use lydian_mutate::results::{Failure, MutantResult, MutationResults, Outcome, UnitResults};
use serde_json::Value;

use crate::common::Program;

const TEXT: &str = "int f(int a)\n{\n    return a\n        + 1; /* ä */\n}\n";

fn results() -> (Program, MutationResults) {
    let program = Program::new(TEXT);
    let unit: UnitMutants = program.notes();
    let outcome = |number: u32| match number % 4 {
        0 => Outcome::Survived,
        1 => Outcome::Killed { test: "first".into(), failure: Failure::Status(1) },
        2 => Outcome::Killed { test: "first".into(), failure: Failure::Timeout },
        _ => Outcome::NotReached,
    };
    let mutants = unit.mutants.iter().map(|mutant| MutantResult {
        mutant: mutant.clone(),
        outcome: outcome(mutant.number),
        reached_by: vec!["first".into()],
        infected_by: vec!["first".into()],
        killed_by: vec!["first".into()],
        subsumed: false,
        generated: None,
        also_in: Vec::new(),
    });
    let mutants = mutants.collect();
    let tests = vec![("first".to_owned(), 1500)];
    let units = vec![UnitResults { unit, mutants }];
    (program, MutationResults { units, tests, ..MutationResults::default() })
}

#[test]
fn a_diff_applies_to_the_file() {
    let (program, results) = results();
    let read = std::fs::read_to_string(program.place.path().join("program.c")).unwrap();
    let sum = results.all().find(|it| it.mutant.name == "AOR + -> -").unwrap();
    let diff = difference::unified(&sum.mutant, &read);
    assert!(diff.contains("-        + 1; /* ä */\n+    return a\n"), "{diff}");
    let patch = program.place.path().join("p.diff");
    std::fs::write(&patch, &diff).unwrap();
    let mut command = std::process::Command::new("git");
    let folder = program.place.path();
    command.args(["apply", "--unsafe-paths", "--directory=/", "-p0", "--check"]).arg(&patch);
    let checked = command.current_dir(folder).output().unwrap();
    let said = String::from_utf8_lossy(&checked.stderr).into_owned();
    assert!(checked.status.success(), "{said}\n{diff}");
}

#[test]
fn each_form_has_each_mutant() {
    let (_, results) = results();
    let count = results.all().count();
    let own: Value = serde_json::from_str(&json::render(&results, &|_| "diff".into())).unwrap();
    assert_eq!(own["mutants"].as_array().unwrap().len(), count);
    assert_eq!(own["score"]["mutants"], count);
    let read = |_: &str| TEXT.to_owned();
    let shown = |_: &str| "f.c".to_owned();
    let page = page::render(&results, &read, &shown, &|mutant| mutant.name.clone());
    assert_eq!(page.matches("<div>").count(), count);
}

#[test]
fn of_mutants_that_others_subsume_none_is_needed() {
    let (_, mut results) = results();
    let kills = [&["b"][..], &["a", "b"], &["b"], &["c", "a"], &[]];
    for (result, tests) in results.units[0].mutants.iter_mut().zip(kills) {
        result.killed_by = tests.iter().map(|test| (*test).to_owned()).collect();
    }
    results.units[0].mutants.truncate(kills.len());
    results.mark_subsumed();
    let marked: Vec<bool> = results.all().map(|result| result.subsumed).collect();
    assert_eq!(marked, [false, true, true, false, false]);
}

/// What `mutation-testing-report-schema`, version 2, asks of a report.
#[test]
fn the_report_for_mutation_testing_elements_has_what_its_schema_asks_for() {
    let (_, results) = results();
    let text = elements::render(&results, &|_| TEXT.to_owned(), &|_| "f.c".to_owned());
    let report: Value = serde_json::from_str(&text).unwrap();
    for required in ["schemaVersion", "thresholds", "files"] {
        assert!(report.get(required).is_some(), "{required}");
    }
    let file = &report["files"]["f.c"];
    assert_eq!(file["language"], "c");
    assert_eq!(file["source"], TEXT);
    let statuses = [
        "Killed",
        "Survived",
        "NoCoverage",
        "CompileError",
        "RuntimeError",
        "Timeout",
        "Ignored",
        "Pending",
    ];
    let mut ids = Vec::new();
    for mutant in file["mutants"].as_array().unwrap() {
        ids.push(mutant["id"].as_str().unwrap());
        assert!(mutant["mutatorName"].is_string());
        assert!(statuses.contains(&mutant["status"].as_str().unwrap()));
        let at = |end: &str| {
            let place = &mutant["location"][end];
            (place["line"].as_u64().unwrap(), place["column"].as_u64().unwrap())
        };
        assert!(at("start") < at("end") && at("start").0 >= 1 && at("start").1 >= 1);
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique");
}
