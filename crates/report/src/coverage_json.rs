//! Coverage as JSON, and back. The form is documented in `docs/coverage-json.md`.
//!
//! `summary` is for scripts and dashboards. `coverage` has all data, from which every other form can
//! be made, on another machine or together with the coverage of other runs.

use lydian_base::EntityId as _;
use lydian_ir::BoolTree;
use serde::{Deserialize, Serialize};

use crate::coverage::{Coverage, DecisionCoverage};
use crate::report::Report;
use crate::totals::Totals;

/// The value of the member `format`.
pub const FORMAT: &str = "lydian-coverage";

/// The version of the form. It changes when readers of an older version would misread it. Members may
/// be added without a new version.
pub const VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    version: u32,
    lydian: &'static str,
    summary: Summary<'a>,
    coverage: &'a Coverage,
}

#[derive(Serialize)]
struct Summary<'a> {
    totals: Vec<Entry>,
    files: Vec<FileEntry<'a>>,
}

#[derive(Serialize)]
struct FileEntry<'a> {
    path: String,
    totals: Vec<Entry>,
    functions: Vec<FunctionEntry<'a>>,
}

#[derive(Serialize)]
struct FunctionEntry<'a> {
    name: &'a str,
    line: u32,
    totals: Vec<Entry>,
}

/// Counts, and the coverage in percent.
#[derive(Serialize)]
struct Entry {
    #[serde(flatten)]
    totals: Totals,
    percent: f64,
}

/// Why a text cannot be read as a coverage.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is not of this form at all.
    #[error("it is no coverage that `lydian report --json` wrote: {0}")]
    Form(#[from] serde_json::Error),
    /// It is JSON of another tool.
    #[error("it is JSON, but its `format` is not `{FORMAT}`")]
    Format,
    /// It was written by a newer Lydian.
    #[error(
        "it has version {0} of its form; this Lydian reads version {VERSION}: write it again with the `lydian report --json` of this one"
    )]
    Version(u32),
    /// A decision contradicts itself.
    #[error("the decision at {line}:{column} is damaged: {why}")]
    Decision {
        /// Its line.
        line: u32,
        /// Its column.
        column: u32,
        /// The error.
        why: &'static str,
    },
}

/// The JSON text.
pub fn render(report: &Report) -> String {
    let coverage = &report.coverage;
    let criteria = &coverage.criteria;
    let files = coverage.files.iter().map(|file| FileEntry {
        path: report.shown(&file.path),
        totals: entries(file.totals(criteria)),
        functions: file
            .functions
            .iter()
            .map(|function| FunctionEntry {
                name: &function.name,
                line: function.start.line,
                totals: entries(function.totals(criteria)),
            })
            .collect(),
    });
    let document = Document {
        format: FORMAT,
        version: VERSION,
        lydian: env!("CARGO_PKG_VERSION"),
        summary: Summary { totals: entries(coverage.totals()), files: files.collect() },
        coverage,
    };
    serde_json::to_string(&document).expect("names and numbers are valid JSON") + "\n"
}

fn entries(totals: Vec<Totals>) -> Vec<Entry> {
    let entry =
        |totals: Totals| Entry { percent: f64::from(totals.percent().tenths()) / 10.0, totals };
    totals.into_iter().map(entry).collect()
}

/// Reads what [`render`] wrote.
pub fn read(text: &str) -> Result<Coverage, ReadError> {
    #[derive(Deserialize)]
    struct Head {
        format: Option<String>,
        version: Option<u32>,
    }
    #[derive(Deserialize)]
    struct Body {
        coverage: Coverage,
    }
    let head: Head = serde_json::from_str(text)?;
    if head.format.as_deref() != Some(FORMAT) {
        return Err(ReadError::Format);
    }
    match head.version {
        Some(VERSION) => {}
        version => return Err(ReadError::Version(version.unwrap_or(0))),
    }
    let Body { coverage } = serde_json::from_str(text)?;
    let functions = coverage.files.iter().flat_map(|file| &file.functions);
    for decision in functions.flat_map(|function| &function.decisions) {
        check(decision).map_err(|why| {
            let (line, column) = decision.start.into();
            ReadError::Decision { line, column, why }
        })?;
    }
    Ok(coverage)
}

/// Whether a decision's rows and tree fit its conditions.
fn check(decision: &DecisionCoverage) -> Result<(), &'static str> {
    let count = decision.conditions.len();
    let fits = |len: usize| len == count;
    if !decision.rows.iter().all(|row| fits(row.values.len()) && fits(row.reached.len())) {
        return Err("a row has not as many values as there are conditions");
    }
    let mut seen = vec![false; count];
    check_tree(&decision.tree, &mut seen)
}

fn check_tree(tree: &BoolTree, seen: &mut [bool]) -> Result<(), &'static str> {
    match tree {
        BoolTree::Const(_) => Ok(()),
        BoolTree::Cond(condition) => match seen.get_mut(condition.index()) {
            None => Err("its tree has a condition that is not listed"),
            Some(true) => Err("its tree has a condition twice"),
            Some(fresh) => {
                *fresh = true;
                Ok(())
            }
        },
        BoolTree::Not(a) => check_tree(a, seen),
        BoolTree::And(a, b)
        | BoolTree::Or(a, b)
        | BoolTree::BitAnd(a, b)
        | BoolTree::BitOr(a, b)
        | BoolTree::Eq(a, b)
        | BoolTree::Xor(a, b) => {
            check_tree(a, seen)?;
            check_tree(b, seen)
        }
        BoolTree::Ite(c, a, b) => {
            check_tree(c, seen)?;
            check_tree(a, seen)?;
            check_tree(b, seen)
        }
    }
}
