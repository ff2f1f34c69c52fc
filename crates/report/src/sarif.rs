//! Missing objectives as SARIF 2.1.0, which code hosts show beside the code.
//!
//! One result for each objective that no run covers; objectives that comments exclude, duplicates
//! and covered ones are left out. A rule is a criterion. Paths are relative to the project's folder,
//! `SRCROOT`. A result's fingerprint is made of what identifies the objective without its line, so
//! that it stays the same one when code moves.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use lydian_objective::Criterion;
use serde::Serialize;
use serde_json::{Value, json};

use crate::coverage::{FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus};
use crate::report::Report;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
struct SarifResult {
    #[serde(rename = "ruleId")]
    rule_id: &'static str,
    #[serde(rename = "ruleIndex")]
    rule_index: usize,
    level: &'static str,
    message: Value,
    locations: Value,
    #[serde(rename = "partialFingerprints")]
    fingerprints: Value,
}

/// The SARIF text.
pub fn render(report: &Report) -> String {
    let criteria = &report.coverage.criteria;
    let mut results = Vec::new();
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for file in &report.coverage.files {
        for function in &file.functions {
            for objective in &function.objectives {
                let Some(rule) = criteria.iter().position(|c| *c == objective.criterion) else {
                    continue;
                };
                if objective.status == ObjectiveStatus::Missing {
                    results.push(result(report, file, function, objective, rule, &mut seen));
                }
            }
        }
    }
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Lydian",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": criteria.iter().copied().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "originalUriBaseIds": { "SRCROOT": { "uri": folder_uri(&report.root) } },
            "results": results,
        }],
    });
    serde_json::to_string(&log).expect("names and numbers are valid JSON") + "\n"
}

fn rule(criterion: Criterion) -> Value {
    let name = criterion.name();
    json!({
        "id": name,
        "name": name,
        "shortDescription": { "text": format!("A test objective of {name} that no run covers") },
        "help": { "text": format!(
            "The tests that were measured do not cover this objective of the criterion {name}. Add a \
             test that does, or say in a comment `lydian-justify {name}: reason` why none can."
        ) },
        "defaultConfiguration": { "level": "note" },
    })
}

fn result(
    report: &Report,
    file: &FileCoverage,
    function: &FunctionCoverage,
    objective: &ObjectiveCoverage,
    rule_index: usize,
    seen: &mut BTreeMap<String, u32>,
) -> SarifResult {
    let ObjectiveCoverage { criterion, name, text, start, .. } = objective;
    let shown = report.shown(&file.path);
    let message =
        format!("No run covers {name} of {criterion} in {}: {}", function.name, one_line(text));
    let identity = format!("{shown}\0{}\0{criterion}\0{name}\0{text}", function.name);
    let hash = blake3::hash(identity.as_bytes()).to_hex();
    let count = seen.entry(hash[..32].to_owned()).or_insert(0);
    *count += 1;
    let region = match column(report, file, objective) {
        Some(column) => json!({ "startLine": start.line.max(1), "startColumn": column }),
        None => json!({ "startLine": start.line.max(1) }),
    };
    SarifResult {
        rule_id: criterion.name(),
        rule_index,
        level: "note",
        message: json!({ "text": message }),
        locations: json!([{
            "physicalLocation": {
                "artifactLocation": artifact(report, &file.path),
                "region": region,
            },
            "logicalLocations": [{ "name": function.name, "kind": "function" }],
        }]),
        fingerprints: json!({ "lydianObjective/v1": format!("{}:{count}", &hash[..32]) }),
    }
}

/// The column in UTF-16 units, where the line is known.
fn column(report: &Report, file: &FileCoverage, objective: &ObjectiveCoverage) -> Option<usize> {
    let text = report.text(&file.path, file.changed).ok()?;
    let line = text.line(objective.start.line)?;
    let before = (objective.start.column as usize).checked_sub(1)?;
    Some(line.get(..before)?.encode_utf16().count() + 1)
}

fn artifact(report: &Report, path: &Path) -> Value {
    match path.strip_prefix(&report.root) {
        Ok(relative) => json!({ "uri": uri(relative), "uriBaseId": "SRCROOT" }),
        Err(_) if path.is_absolute() => json!({ "uri": format!("file://{}", uri(path)) }),
        Err(_) => json!({ "uri": uri(path) }),
    }
}

fn folder_uri(root: &Path) -> String {
    format!("file://{}/", uri(root).trim_end_matches('/'))
}

/// A path as the path of a URI.
fn uri(path: &Path) -> String {
    let mut text = String::new();
    for component in path.components() {
        if matches!(component, Component::RootDir) {
            text.push('/');
            continue;
        }
        if !text.is_empty() && !text.ends_with('/') {
            text.push('/');
        }
        for byte in component.as_os_str().as_encoded_bytes() {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                    text.push(char::from(*byte));
                }
                _ => text.push_str(&format!("%{byte:02X}")),
            }
        }
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
