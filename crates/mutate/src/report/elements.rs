//! The results in the form of mutation-testing-elements, version 2 of its schema
//! (<https://github.com/stryker-mutator/mutation-testing-elements>, `mutation-testing-report-schema`).
//!
//! Its columns count UTF-16 units where Lydian's count bytes. A mutant in a macro has the place of the
//! macro's name. Mutants without difference at their place are `Survived`, with that as the reason;
//! equivalent ones are `Ignored`.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::mutant::{Mutant, Position};
use crate::results::{EquivalenceProof, Failure, MutantResult, MutationResults, Outcome};

/// The name under which all tests stand, since they have no file.
const TESTS: &str = "tests";

/// The results. `read` gives the text of a file; `shown` gives its path in the report.
pub fn render(
    results: &MutationResults,
    read: &dyn Fn(&str) -> String,
    shown: &dyn Fn(&str) -> String,
) -> String {
    let ids: BTreeMap<&str, String> = (results.tests.iter().enumerate())
        .map(|(at, (name, _))| (name.as_str(), format!("test-{at}")))
        .collect();
    let mut files: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    let mut texts: BTreeMap<&str, String> = BTreeMap::new();
    for unit in &results.units {
        for result in &unit.mutants {
            let file = result.mutant.file.as_str();
            let text = texts.entry(file).or_insert_with(|| read(file));
            let id = unit.unit.id_of(&result.mutant).to_string();
            files.entry(file).or_default().push(mutant(result, id, text, &ids));
        }
    }
    let files: BTreeMap<String, Value> = files
        .into_iter()
        .map(|(file, mutants)| {
            let source = texts.remove(file).unwrap_or_default();
            (shown(file), json!({ "language": "c", "source": source, "mutants": mutants }))
        })
        .collect();
    let tests: Vec<Value> = results
        .tests
        .iter()
        .map(|(name, _)| json!({ "id": ids[name.as_str()], "name": name }))
        .collect();
    let whole = json!({
        "schemaVersion": "2",
        "thresholds": { "high": 80, "low": 60 },
        "files": files,
        "testFiles": { TESTS: { "tests": tests } },
        "framework": { "name": "Lydian" },
    });
    let mut text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    text.push('\n');
    text
}

fn mutant(result: &MutantResult, id: String, text: &str, ids: &BTreeMap<&str, String>) -> Value {
    let of = &result.mutant;
    let named = |names: &[String]| -> Vec<&String> {
        names.iter().filter_map(|name| ids.get(name.as_str())).collect()
    };
    let mut value = json!({
        "id": id,
        "mutatorName": of.operator.name(),
        "description": of.name,
        "replacement": of.replacement,
        "location": location(of, text),
        "status": status(&result.outcome),
        "coveredBy": named(&result.reached_by),
    });
    if matches!(result.outcome, Outcome::Killed { .. }) {
        value["killedBy"] = json!(named(&result.killed_by));
    }
    if let Some(reason) = reason(&result.outcome) {
        value["statusReason"] = json!(reason);
    }
    value
}

/// The status in the schema's words.
const fn status(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Killed { failure: Failure::Timeout, .. } => "Timeout",
        Outcome::Killed { .. } => "Killed",
        Outcome::Survived | Outcome::NotInfected => "Survived",
        Outcome::NotReached => "NoCoverage",
        Outcome::Equivalent { .. } => "Ignored",
        Outcome::Invalid { .. } => "CompileError",
        Outcome::Pending => "Pending",
    }
}

fn reason(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::Killed { failure: Failure::Status(status), .. } => {
            Some(format!("the test exits with status {status}"))
        }
        Outcome::Killed { failure: Failure::Signal(signal), .. } => {
            Some(format!("signal {signal} ends the test"))
        }
        Outcome::NotInfected => Some("no test makes a difference at its place".to_owned()),
        Outcome::Equivalent { proof: EquivalenceProof::SameCode } => {
            Some("equivalent: a compiler makes the same code of it".to_owned())
        }
        Outcome::Equivalent { proof: EquivalenceProof::Proof } => {
            Some("equivalent: proved for all runs".to_owned())
        }
        Outcome::Invalid { reason } => Some(reason.clone()),
        _ => None,
    }
}

fn location(mutant: &Mutant, text: &str) -> Value {
    let end = if mutant.in_macro { mutant.start } else { mutant.end };
    let (start, end) = (in_utf16(mutant.start, text), in_utf16(end, text));
    let end = if end <= start { Position { column: start.column + 1, ..start } } else { end };
    json!({ "start": start, "end": end })
}

fn in_utf16(at: Position, text: &str) -> Position {
    let line = text.lines().nth(at.line as usize - 1).unwrap_or_default();
    let before = line.get(..at.column as usize - 1);
    let column = before.map_or(at.column, |before| before.encode_utf16().count() as u32 + 1);
    Position { column, ..at }
}
