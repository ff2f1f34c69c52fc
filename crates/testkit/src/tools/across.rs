//! Random programs in two files under `lydian cc`, with the pairs of globals between the files.
//!
//! The files are compiled apart, and with them a `main` that is not instrumented. What the report says
//! of the functions of the first file must be what the trace semantics says of the linked program:
//! the same pairs with the other file, and of all pairs that both have the same verdicts. Pairs with
//! an initial value, whose place is another one for each file, are compared by their texts.

use std::collections::BTreeMap;
use std::path::Path;

use lydian_native::Optimization;
use lydian_objective::trace::{self, Trace, Tracer};
use lydian_objective::{Criterion, FunctionObjectives};
use serde_json::Value;

use super::{BatchFolder, Comparison, list, main_of, position, read_json, text};
use crate::agreement::{Batch, Settings, TracedTest};

/// The criteria that are compared.
const CRITERIA: [Criterion; 2] = [Criterion::AllUses, Criterion::AllDefs];

/// Runs the tests of a batch of two files under `lydian cc`, and compares.
pub fn compare(
    batch: &Batch,
    settings: &Settings,
    lydian: &Path,
    level: Optimization,
) -> Comparison {
    let subject = &batch.subject;
    let with_further = subject.with_further();
    let tracer = Tracer::new(&subject.program, &with_further, subject.short_circuit);
    let tests: Vec<Vec<TracedTest>> =
        (0..batch.cases.len()).map(|index| batch.tests(&tracer, index, settings)).collect();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let place = BatchFolder { folder, lydian };
    let report = report(&place, batch, &main_of(batch, &tests), level);
    let mut found = Comparison::of(&tests);
    for (case, tests) in batch.cases.iter().zip(&tests) {
        let traces: Vec<Trace> = tests.iter().map(|test| test.trace.clone()).collect();
        for index in batch.functions(case) {
            let own = &subject.objectives[index];
            let name = &subject.program.functions[own.function].name;
            let listed = report.iter().find(|function| text(&function["name"]) == name);
            match listed {
                Some(listed) => function(name, own, &traces, listed, &mut found),
                None => found.mismatches.push(format!("{name} is not in the report")),
            }
        }
    }
    found
}

/// The functions of the first file, as `lydian report --json` has them.
fn report(place: &BatchFolder<'_>, batch: &Batch, main: &str, level: Optimization) -> Vec<Value> {
    let write = |name: &str, text: &str| std::fs::write(place.path(name), text);
    write("main.c", main).expect("the folder takes it");
    for (number, file) in batch.files.iter().enumerate() {
        let (source, object) = (format!("subject{number}.c"), format!("subject{number}.o"));
        write(&source, file).expect("the folder takes it");
        let compile = ["-fwrapv", "-w", "-c", &source, "-o", &object];
        let words = ["cc", "-c", "all-uses,all-defs", "--", "clang-19", level.flag()];
        place.run(place.lydian, &[&words[..], &compile[..]].concat());
    }
    place.run("clang-19", &["-w", "-DFORK", "-c", "main.c", "-o", "main.o"]);
    let link = ["cc", "--", "clang-19", "subject0.o", "subject1.o", "main.o", "-o", "both"];
    place.run(place.lydian, &link);
    place.run(place.path("both"), &[]);
    place.run(place.lydian, &["report", "--json", "report.json"]);
    let mut report = read_json(&place.path("report.json"));
    let files = report["coverage"]["files"].as_array_mut().expect("a report has files");
    let file = files.iter_mut().find(|file| text(&file["path"]).ends_with("subject0.c"));
    let functions = file.map(|file| file["functions"].take());
    functions.and_then(|functions| functions.as_array().cloned()).unwrap_or_default()
}

/// The keys of objectives that both have, and whether each objective with the key is covered.
type Verdicts = BTreeMap<(&'static str, String), Vec<bool>>;

fn function(
    name: &str,
    own: &FunctionObjectives,
    traces: &[Trace],
    listed: &Value,
    found: &mut Comparison,
) {
    let (mut ours, mut theirs) = (Verdicts::new(), Verdicts::new());
    for criterion in CRITERIA {
        for entry in own.hyper_criteria.get(&criterion).into_iter().flatten() {
            let hyper = &own.hypers[entry.hyper];
            let at = (u64::from(hyper.place.line), u64::from(hyper.place.column));
            if let Some(key) = key(criterion, &hyper.text, at) {
                let covered = trace::is_covered(traces, own, &hyper.hyper);
                ours.entry(key).or_default().push(covered);
            }
        }
        for objective in list(&listed["objectives"]) {
            let at = position(&objective["start"]);
            let is_it = text(&objective["criterion"]) == criterion.name();
            let key = key(criterion, text(&objective["text"]), at).filter(|_| is_it);
            let covered = match text(&objective["status"]) {
                "covered" => true,
                "missing" => false,
                _ => continue,
            };
            if let Some(key) = key {
                theirs.entry(key).or_default().push(covered);
            }
        }
    }
    for (key, covered) in &theirs {
        let (criterion, text) = key;
        match ours.get(key) {
            Some(ours) => {
                // Within the file there may be more pairs, where the other's functions are not known.
                let same = match text.contains(OTHER) {
                    true => ours.len() == covered.len(),
                    false => ours.len() <= covered.len(),
                };
                let count = |all: &[bool]| all.iter().filter(|one| **one).count();
                let same = same && count(ours) == count(covered);
                found.judge("lydian cc across files and the trace semantics", same, || {
                    format!("{name} {criterion} {text}: {covered:?} instead of {ours:?}")
                });
            }
            // A pair within the file may be found where functions of the other are not known.
            None if text.contains(OTHER) => {
                let text = format!("{name} {criterion} {text}: only lydian cc has it");
                found.mismatches.push(text);
            }
            None => {}
        }
    }
    let missing = ours.keys().filter(|key| !theirs.contains_key(*key));
    for (criterion, text) in missing {
        found.mismatches.push(format!("{name} {criterion} {text}: lydian cc does not have it"));
    }
}

/// The end of what is said of a function in the other file.
const OTHER: &str = " in subject1.c";

/// The key by which an objective is compared; none if `lydian cc` has it in the other file.
fn key(
    criterion: Criterion,
    text: &str,
    (line, column): (u64, u64),
) -> Option<(&'static str, String)> {
    let key = match criterion {
        // Whether a definition has one use or several is another number in each file.
        Criterion::AllDefs => {
            let is_own = !text.starts_with("the initial value");
            is_own.then(|| format!("{} at {line}:{column}", text.split(' ').next().unwrap_or("")))
        }
        _ => (!text.ends_with(OTHER)).then(|| text.to_owned()),
    };
    key.map(|key| (criterion.name(), key))
}
