//! Coverage as Codecov's own JSON ("custom coverage format").

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::branches::{Line, LineTable};
use crate::report::Report;

#[derive(Serialize)]
struct Document {
    /// For each file, the coverage of its lines, by number.
    coverage: BTreeMap<String, BTreeMap<u32, Value>>,
}

/// The JSON text. A line without branches has a count, which is 1 or 0 if nothing was counted. A line
/// with branches has the number of those that were taken: `"1/2"`.
pub fn render(report: &Report) -> String {
    let files = report.coverage.files.iter().map(|file| {
        let table = LineTable::of(file);
        let lines = table.lines.iter().map(|(number, line)| (*number, of_line(line))).collect();
        (report.shown(&file.path), lines)
    });
    let document = Document { coverage: files.collect() };
    serde_json::to_string(&document).expect("names and numbers are valid JSON") + "\n"
}

fn of_line(line: &Line) -> Value {
    match line.count_branches() {
        (0, _) => json!(line.hits),
        (found, taken) => json!(format!("{taken}/{found}")),
    }
}
