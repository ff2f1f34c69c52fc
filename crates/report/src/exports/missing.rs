//! Objectives that no run covers, for tools that show findings beside the code.

use std::collections::BTreeMap;

use super::one_line;
use crate::coverage::{FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus};
use crate::report::Report;

/// An objective that no run covers. Duplicates and objectives that comments exclude are left out.
pub(super) struct Missing<'a> {
    pub(super) file: &'a FileCoverage,
    /// The position of the file among those of the report.
    pub(super) file_index: usize,
    pub(super) function: &'a FunctionCoverage,
    pub(super) objective: &'a ObjectiveCoverage,
    /// Identifies it among all others, and stays the same when code moves: it has no line.
    pub(super) fingerprint: String,
}

impl<'a> Missing<'a> {
    /// All of a report, in the order of the files and of their text. Equal ones are distinguished by
    /// a number.
    pub(super) fn all(report: &'a Report) -> Vec<Self> {
        let mut found = Vec::new();
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (file_index, file) in report.coverage.files.iter().enumerate() {
            let shown = report.shown(&file.path);
            for function in &file.functions {
                let missing = |objective: &&ObjectiveCoverage| {
                    objective.status == ObjectiveStatus::Missing
                        && report.coverage.criteria.contains(&objective.criterion)
                };
                for objective in function.objectives.iter().filter(missing) {
                    let ObjectiveCoverage { criterion, name, text, .. } = objective;
                    let identity =
                        format!("{shown}\0{}\0{criterion}\0{name}\0{text}", function.name);
                    let hash = &blake3::hash(identity.as_bytes()).to_hex()[..32];
                    let count = seen.entry(hash.to_owned()).or_insert(0);
                    *count += 1;
                    let fingerprint = format!("{hash}:{count}");
                    found.push(Missing { file, file_index, function, objective, fingerprint });
                }
            }
        }
        found
    }

    /// The objective as one sentence.
    pub(super) fn message(&self) -> String {
        message(self.function, self.objective)
    }

    /// Its line, from 1.
    pub(super) fn line(&self) -> u32 {
        line(self.objective)
    }
}

/// A missing objective of a function as one sentence.
pub(super) fn message(function: &FunctionCoverage, objective: &ObjectiveCoverage) -> String {
    let ObjectiveCoverage { criterion, name, text, .. } = objective;
    let what = format!("No run covers {name} of {criterion} in {}", function.name);
    match text.as_str() {
        // The place must be reached, in any state.
        "1" => what,
        text => format!("{what}: {}", one_line(text)),
    }
}

/// The line of an objective, from 1.
pub(super) fn line(objective: &ObjectiveCoverage) -> u32 {
    objective.start.line.max(1)
}
