//! Coverage as gcov's JSON (`--json-format`, format version 1), with the members that gcovr adds,
//! so that one file feeds both those that read gcov's form and gcovr (`gcovr --add-tracefile`).
//!
//! Counts are 1 or 0. A branch's `throw` and `fallthrough` are false: C has no exceptions, and
//! blocks are not laid out here.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::branches::{Line, LineTable};
use crate::coverage::FileCoverage;
use crate::report::Report;

/// The version of gcovr's tracefiles that gcovr 5.2, of Debian 12, reads. Every gcovr reads its own
/// version only.
pub const GCOVR_VERSION: &str = "0.3";

#[derive(Serialize)]
struct Document {
    format_version: &'static str,
    gcc_version: String,
    current_working_directory: String,
    data_file: &'static str,
    #[serde(rename = "gcovr/format_version")]
    gcovr_version: String,
    files: Vec<File>,
}

#[derive(Serialize)]
struct File {
    file: String,
    functions: Vec<Function>,
    lines: Vec<LineEntry>,
}

#[derive(Serialize)]
struct Function {
    name: String,
    demangled_name: String,
    start_line: u32,
    start_column: u32,
    end_line: u32,
    end_column: u32,
    blocks: u32,
    blocks_executed: u32,
    execution_count: u8,
    /// gcovr's name for `start_line`.
    lineno: u32,
}

#[derive(Serialize)]
struct LineEntry {
    line_number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    count: u8,
    unexecuted_block: bool,
    branches: Vec<Branch>,
    #[serde(rename = "gcovr/noncode")]
    noncode: bool,
    #[serde(rename = "gcovr/excluded")]
    excluded: bool,
}

#[derive(Serialize)]
struct Branch {
    count: u8,
    throw: bool,
    fallthrough: bool,
}

/// The JSON text, with gcovr's format version ([`GCOVR_VERSION`], or another one that is asked for).
pub fn render(report: &Report, gcovr_version: &str) -> String {
    let document = Document {
        format_version: "1",
        gcc_version: format!("lydian {}", env!("CARGO_PKG_VERSION")),
        current_working_directory: report.root.display().to_string(),
        data_file: "lydian",
        gcovr_version: gcovr_version.to_owned(),
        files: report.coverage.files.iter().map(|file| of_file(report, file)).collect(),
    };
    serde_json::to_string(&document).expect("names and numbers are valid JSON") + "\n"
}

fn of_file(report: &Report, file: &FileCoverage) -> File {
    let table = LineTable::of(file);
    let counted = |line: u32| !file.exclusions.line(line);
    let functions: Vec<Function> = file
        .functions
        .iter()
        .filter(|function| counted(function.start.line) && function.is_listed())
        .map(|function| Function {
            name: function.name.clone(),
            demangled_name: function.name.clone(),
            start_line: function.start.line,
            start_column: function.start.column,
            end_line: function.end_line,
            end_column: 1,
            blocks: 1,
            blocks_executed: u32::from(function.ran()),
            execution_count: u8::from(function.ran()),
            lineno: function.start.line,
        })
        .collect();
    let owners = owners(file);
    let lines = table.lines.iter().map(|(number, line)| of_line(*number, line, &owners)).collect();
    File { file: report.shown(&file.path), functions, lines }
}

/// The functions by their first lines, with their last lines.
fn owners(file: &FileCoverage) -> BTreeMap<u32, (u32, &str)> {
    let all = file.functions.iter();
    all.map(|function| (function.start.line, (function.end_line, function.name.as_str()))).collect()
}

fn of_line(number: u32, line: &Line, owners: &BTreeMap<u32, (u32, &str)>) -> LineEntry {
    let owner = owners.range(..=number).next_back();
    let branches = line.branches.iter().flat_map(|group| &group.ways);
    LineEntry {
        line_number: number,
        function_name: owner
            .filter(|(_, (end, _))| number <= *end)
            .map(|(_, (_, name))| (*name).to_owned()),
        count: u8::from(line.covered),
        unexecuted_block: !line.covered,
        branches: branches
            .map(|way| Branch { count: u8::from(way.taken), throw: false, fallthrough: false })
            .collect(),
        noncode: false,
        excluded: false,
    }
}
