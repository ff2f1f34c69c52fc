//! Missing objectives as SARIF 2.1.0, which code hosts show beside the code.
//!
//! There is one result for each objective that no run covers. Objectives that comments exclude,
//! duplicates and covered ones are left out. A rule is a criterion. Paths are relative to the
//! project's folder, `SRCROOT`. A result's fingerprint identifies the objective without its line, so
//! that it stays the same one when code moves.

use std::path::{Component, Path};

use lydian_objective::Criterion;
use serde::Serialize;
use serde_json::{Value, json};

use super::missing::Missing;
use crate::coverage::{FileCoverage, ObjectiveCoverage};
use crate::report::Report;
use crate::sources::SourceText;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SarifResult<'a> {
    rule_id: &'static str,
    rule_index: usize,
    level: &'static str,
    message: Message,
    locations: [Location<'a>; 1],
    partial_fingerprints: Fingerprints,
}

#[derive(Serialize)]
struct Message {
    text: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location<'a> {
    physical_location: Physical<'a>,
    logical_locations: [Logical<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Physical<'a> {
    artifact_location: &'a Artifact,
    region: Region,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Artifact {
    uri: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri_base_id: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<usize>,
}

#[derive(Serialize)]
struct Logical<'a> {
    name: &'a str,
    kind: &'static str,
}

#[derive(Serialize)]
struct Fingerprints {
    #[serde(rename = "lydianObjective/v1")]
    objective: String,
}

#[derive(Serialize)]
struct Log<'a> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    tool: Value,
    column_kind: &'static str,
    original_uri_base_ids: Value,
    results: Vec<SarifResult<'a>>,
}

/// A file with its text as the log has it.
struct File<'a> {
    text: Option<&'a SourceText>,
    artifact: Artifact,
}

/// The SARIF text.
pub fn render(report: &Report) -> String {
    let criteria = &report.coverage.criteria;
    let file = |coverage| File::of(report, coverage);
    let files: Vec<File<'_>> = report.coverage.files.iter().map(file).collect();
    let missing = Missing::all(report);
    let driver = json!({
        "name": "Lydian",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": criteria.iter().copied().map(rule).collect::<Vec<_>>(),
    });
    let run = Run {
        tool: json!({ "driver": driver }),
        column_kind: "utf16CodeUnits",
        original_uri_base_ids: json!({ "SRCROOT": { "uri": folder_uri(&report.root) } }),
        results: missing.iter().map(|one| result(criteria, &files, one)).collect(),
    };
    let log = Log { schema: SCHEMA, version: "2.1.0", runs: [run] };
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

fn result<'a>(
    criteria: &[Criterion],
    files: &'a [File<'a>],
    missing: &Missing<'a>,
) -> SarifResult<'a> {
    let criterion = missing.objective.criterion;
    let file = &files[missing.file_index];
    let physical_location = Physical {
        artifact_location: &file.artifact,
        region: Region { start_line: missing.line(), start_column: file.column(missing.objective) },
    };
    SarifResult {
        rule_id: criterion.name(),
        rule_index: criteria.iter().position(|c| *c == criterion).unwrap_or_default(),
        level: "note",
        message: Message { text: missing.message() },
        locations: [Location {
            physical_location,
            logical_locations: [Logical { name: &missing.function.name, kind: "function" }],
        }],
        partial_fingerprints: Fingerprints { objective: missing.fingerprint.clone() },
    }
}

impl<'a> File<'a> {
    fn of(report: &'a Report, coverage: &'a FileCoverage) -> Self {
        Self {
            text: report.text(&coverage.path, coverage.changed).ok(),
            artifact: artifact(report, &coverage.path),
        }
    }

    /// The column in UTF-16 units, if the line is known.
    fn column(&self, objective: &ObjectiveCoverage) -> Option<usize> {
        let line = self.text?.line(objective.start.line)?;
        let before = (objective.start.column as usize).checked_sub(1)?;
        Some(line.get(..before)?.encode_utf16().count() + 1)
    }
}

fn artifact(report: &Report, path: &Path) -> Artifact {
    match path.strip_prefix(&report.root) {
        Ok(relative) => Artifact { uri: uri(relative), uri_base_id: Some("SRCROOT") },
        Err(_) if path.is_absolute() => {
            Artifact { uri: format!("file://{}", uri(path)), uri_base_id: None }
        }
        Err(_) => Artifact { uri: uri(path), uri_base_id: None },
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
