//! Coverage as gcov's JSON (`--json-format`, format version 1), with the members that gcovr adds, so
//! that one file serves readers of gcov's form and gcovr (`gcovr --add-tracefile`), 5.0 and newer. A
//! version ignores the members that it does not know.
//!
//! `conditions` are those of gcc's `-fcondition-coverage`: for a decision, the number of values of
//! its conditions that decided the outcome, as in [`crate::independence`]. A count is 1 or 0 if
//! nothing was counted. A branch's `throw` and `fallthrough` are false: C has no exceptions, and
//! blocks are not laid out here.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::Serialize;

use crate::branches::{BranchWay, IndependenceGroup, Line, LineTable};
use crate::coverage::{FileCoverage, FunctionCoverage, Position};
use crate::report::Report;

/// The newest version of gcovr whose tracefiles are known here.
pub const GCOVR_VERSION: &str = "8.8";

/// The first version of gcovr with each version of tracefiles. Every gcovr reads only its own version
/// of tracefiles.
const GCOVR_FORMATS: [((u32, u32), &str); 8] = [
    ((5, 0), "0.2"),
    ((5, 1), "0.3"),
    ((6, 0), "0.5"),
    ((7, 0), "0.6"),
    ((8, 0), "0.10"),
    ((8, 3), "0.11"),
    ((8, 4), "0.14"),
    ((8, 7), "0.15"),
];

/// The version of a tracefile, as gcovr's `gcovr/format_version` has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GcovrFormat(String);

impl FromStr for GcovrFormat {
    type Err = String;

    /// From gcovr's own version (`8.3`), or from the version of its tracefiles itself, which begins with
    /// `0.`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad =
            || format!("`{text}` is no version of gcovr, as `gcovr --version` says it: 5.2, 8.3");
        let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
        let minor = minor.split('.').next().unwrap_or_default();
        let number = |text: &str| text.parse::<u32>().map_err(|_| bad());
        let version = (number(major)?, number(minor)?);
        if version.0 == 0 {
            return Ok(Self(text.to_owned()));
        }
        let known = GCOVR_FORMATS.iter().rev().find(|(from, _)| *from <= version);
        let oldest = "tracefiles of gcovr before 5.0 are not written".to_owned();
        Ok(Self(known.ok_or(oldest)?.1.to_owned()))
    }
}

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
    execution_count: u64,
    /// gcovr's name for `start_line`.
    lineno: u32,
    /// The number of times that it returned, which gcovr 7 requires.
    returned_count: u64,
    /// gcovr's, from 0 to 100.
    blocks_percent: f32,
    /// gcovr's places of begin and end: line and column.
    pos: [String; 2],
}

#[derive(Serialize)]
struct LineEntry {
    line_number: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_name: Option<String>,
    count: u64,
    unexecuted_block: bool,
    branches: Vec<Branch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conditions: Vec<Conditions>,
    #[serde(rename = "gcovr/noncode")]
    noncode: bool,
    #[serde(rename = "gcovr/excluded")]
    excluded: bool,
}

#[derive(Serialize)]
struct Branch {
    count: u64,
    throw: bool,
    fallthrough: bool,
    /// gcovr's number of it on the line.
    branchno: usize,
    /// gcovr 7's name for `source_block_id`.
    blockno: usize,
    /// The number of the branch on the line, the same for all of its ways.
    source_block_id: usize,
}

/// The conditions of a decision.
#[derive(Serialize)]
struct Conditions {
    /// gcovr's number of the decision on the line.
    conditionno: usize,
    /// The number of values: two for each condition.
    count: usize,
    /// The number of values that decided the outcome.
    covered: usize,
    /// The conditions that did not decide it by being false.
    not_covered_false: Vec<usize>,
    /// The same for true.
    not_covered_true: Vec<usize>,
}

impl Conditions {
    fn of((conditionno, group): (usize, &IndependenceGroup)) -> Self {
        let not_covered = |value: bool| -> Vec<usize> {
            let conditions = group.conditions.iter().enumerate();
            let not = conditions.filter(|(_, (_, decided))| !decided[usize::from(value)]);
            not.map(|(at, _)| at).collect()
        };
        let (not_covered_false, not_covered_true) = (not_covered(false), not_covered(true));
        let count = 2 * group.conditions.len();
        let covered = count - not_covered_false.len() - not_covered_true.len();
        Self { conditionno, count, covered, not_covered_false, not_covered_true }
    }
}

/// The JSON text, for a version of gcovr.
pub fn render(report: &Report, gcovr: &GcovrFormat) -> String {
    let document = Document {
        format_version: "1",
        gcc_version: format!("lydian {}", env!("CARGO_PKG_VERSION")),
        current_working_directory: report.root.display().to_string(),
        data_file: "lydian",
        gcovr_version: gcovr.0.clone(),
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
        .map(of_function)
        .collect();
    let owners = owners(file);
    let lines = table.lines.iter().map(|(number, line)| of_line(*number, line, &owners)).collect();
    File { file: report.shown(&file.path), functions, lines }
}

fn of_function(function: &FunctionCoverage) -> Function {
    let Position { line, column } = function.start;
    let ran = function.ran();
    let count = function.entries.or_once(ran);
    Function {
        name: function.name.clone(),
        demangled_name: function.name.clone(),
        start_line: line,
        start_column: column,
        end_line: function.end_line,
        end_column: 1,
        blocks: 1,
        blocks_executed: u32::from(ran),
        execution_count: count,
        lineno: line,
        returned_count: count,
        blocks_percent: if ran { 100.0 } else { 0.0 },
        pos: [format!("{line}:{column}"), format!("{}:1", function.end_line)],
    }
}

/// The functions by their first lines, with their last lines.
fn owners(file: &FileCoverage) -> BTreeMap<u32, (u32, &str)> {
    let all = file.functions.iter();
    all.map(|function| (function.start.line, (function.end_line, function.name.as_str()))).collect()
}

fn of_line(number: u32, line: &Line, owners: &BTreeMap<u32, (u32, &str)>) -> LineEntry {
    let owner = owners.range(..=number).next_back();
    let ways = line.branches.iter().enumerate();
    let ways = ways.flat_map(|(block, group)| group.ways.iter().map(move |way| (block, way)));
    let branch = |(branchno, (block, way)): (usize, (usize, &BranchWay))| Branch {
        count: way.hits,
        throw: false,
        fallthrough: false,
        branchno,
        blockno: block,
        source_block_id: block,
    };
    LineEntry {
        line_number: number,
        function_name: owner
            .filter(|(_, (end, _))| number <= *end)
            .map(|(_, (_, name))| (*name).to_owned()),
        count: line.hits,
        unexecuted_block: !line.covered(),
        branches: ways.enumerate().map(branch).collect(),
        conditions: line.decisions.iter().enumerate().map(Conditions::of).collect(),
        noncode: false,
        excluded: false,
    }
}
