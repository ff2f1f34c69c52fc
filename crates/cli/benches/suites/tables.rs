//! What the bench prints about all suites.

use std::collections::BTreeMap;

use comfy_table::{Table, presets};

use crate::Row;
use crate::builds::{BUILDS, Built};
use crate::coverage::ToolAgreement;
use crate::llvm::Share;

/// A row for each library, and one for all.
pub(crate) fn by_library(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "library",
        "files",
        "compile everywhere",
        "pass everywhere",
        "tests",
        "undefined",
        "others that assert nothing",
        "lines a test, median",
        "95th percentile",
    ]);
    let mut by_library: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        by_library.entry(&row.library).or_default().push(row);
    }
    for (library, rows) in &by_library {
        table.add_row(library_row(library, rows));
    }
    table.add_row(library_row("all", &rows.iter().collect::<Vec<_>>()));
    table
}

fn library_row(name: &str, rows: &[&Row]) -> Vec<String> {
    let everywhere =
        |holds: fn(&Built) -> bool| rows.iter().filter(|row| row.built.iter().all(holds)).count();
    let mut lines: Vec<usize> =
        rows.iter().flat_map(|row| row.reading.lines.iter().copied()).collect();
    lines.sort_unstable();
    let percentile =
        |percent: usize| lines.get(lines.len() * percent / 100).copied().unwrap_or_default();
    let counts = [
        rows.len(),
        everywhere(|built| built.compiled.is_ok()),
        everywhere(|built| built.trouble().is_none()),
        lines.len(),
        rows.iter().map(|row| row.reading.undefined).sum(),
        rows.iter().map(|row| row.reading.silent).sum(),
        percentile(50),
        percentile(95),
    ];
    std::iter::once(name.to_owned()).chain(counts.map(|count| count.to_string())).collect()
}

/// A row for each build.
pub(crate) fn by_build(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "build",
        "files",
        "compile",
        "without warnings",
        "pass twice",
        "tests that fail",
    ]);
    for (at, build) in BUILDS.iter().enumerate() {
        let built: Vec<&Built> = rows.iter().map(|row| &row.built[at]).collect();
        let count = |holds: fn(&Built) -> bool| built.iter().filter(|built| holds(built)).count();
        let counts = [
            built.len(),
            count(|built| built.compiled.is_ok()),
            count(|built| built.compiled.is_ok() && built.warning.is_none()),
            count(Built::passes),
            built.iter().map(|built| built.failed.len()).sum(),
        ];
        let counts = counts.map(|count| count.to_string());
        table.add_row(std::iter::once(build.name.to_owned()).chain(counts));
    }
    table
}

/// A row for each tool that measures coverage.
pub(crate) fn coverage(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "coverage",
        "claims",
        "as measured",
        "files",
        "files where all are",
    ]);
    let confirmed: Vec<&ToolAgreement> =
        rows.iter().filter_map(|row| row.confirmed.as_ref().ok()).collect();
    type ShareOf = fn(&ToolAgreement) -> Share;
    let of: [(&str, ShareOf); 4] = [
        ("gcov, lines", |confirmed| confirmed.gcov_lines),
        ("llvm-cov, lines", |confirmed| confirmed.llvm.lines),
        ("one of the two, lines", |confirmed| confirmed.lines_of_one),
        ("llvm-cov, conditions", |confirmed| confirmed.llvm.branches),
    ];
    for (name, count) in of {
        let counts: Vec<Share> = confirmed.iter().map(|confirmed| count(confirmed)).collect();
        let agree = |count: &&Share| count.agree == count.all;
        let numbers = [
            counts.iter().map(|count| count.all).sum(),
            counts.iter().map(|count| count.agree).sum(),
            counts.len(),
            counts.iter().filter(agree).count(),
        ];
        let numbers = numbers.map(|number: usize| number.to_string());
        table.add_row(std::iter::once(name.to_owned()).chain(numbers));
    }
    table
}
