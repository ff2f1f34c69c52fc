//! Missing objectives as GitLab's Code Quality report (`artifacts:reports:codequality`), which is
//! shown in merge requests.

use serde::Serialize;

use super::missing::Missing;
use crate::report::Report;

#[derive(Serialize)]
struct Finding {
    description: String,
    check_name: &'static str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// The JSON text: an array with one finding for each objective. The rule of a finding is the criterion,
/// its severity `info`. Paths are relative to the report's root.
pub fn render(report: &Report) -> String {
    let findings: Vec<Finding> =
        Missing::all(report).into_iter().map(|one| of(report, one)).collect();
    serde_json::to_string(&findings).expect("names and numbers are valid JSON") + "\n"
}

fn of(report: &Report, missing: Missing<'_>) -> Finding {
    Finding {
        description: missing.message(),
        check_name: missing.objective.criterion.name(),
        severity: "info",
        location: Location {
            path: report.shown(&missing.file.path),
            lines: Lines { begin: missing.line() },
        },
        fingerprint: missing.fingerprint,
    }
}
