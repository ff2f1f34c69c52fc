//! Coverage as SonarQube's generic test data (`sonar.coverageReportPaths`), version 1.

use super::xml::{Xml, XmlResult, document, element, empty};
use crate::branches::{Line, LineTable};
use crate::coverage::FileCoverage;
use crate::report::Report;

/// The XML. Paths are relative to the report's root, which is to be the project's base folder.
pub fn render(report: &Report) -> String {
    document(None, |xml| {
        element(xml, "coverage", [("version", "1".to_owned())], |xml| {
            report.coverage.files.iter().try_for_each(|file| of_file(xml, report, file))
        })
    })
}

fn of_file(xml: &mut Xml, report: &Report, file: &FileCoverage) -> XmlResult {
    element(xml, "file", [("path", report.shown(&file.path))], |xml| {
        let table = LineTable::of(file);
        table.lines.iter().try_for_each(|(number, line)| of_line(xml, *number, line))
    })
}

fn of_line(xml: &mut Xml, number: u32, line: &Line) -> XmlResult {
    let mut attributes =
        vec![("lineNumber", number.to_string()), ("covered", line.covered().to_string())];
    let (found, taken) = line.count_branches();
    if found > 0 {
        attributes.push(("branchesToCover", found.to_string()));
        attributes.push(("coveredBranches", taken.to_string()));
    }
    empty(xml, "lineToCover", attributes)
}
