//! Coverage as Cobertura's XML (`coverage-04.dtd`).
//!
//! A folder is a package, a file a class, as gcovr and others have it for C. Line rates and branch
//! rates are those of [`crate::branches`], and so are hits.

use std::collections::BTreeMap;

use super::xml::{self, Xml, XmlResult, element, empty};
use crate::branches::{BranchGroup, BranchKind, Line, LineTable};
use crate::coverage::{FileCoverage, FunctionCoverage};
use crate::report::Report;

/// The document type.
const DTD: &str = "coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\"";

/// The numbers of lines and branches, and of those that were passed.
#[derive(Clone, Copy, Default)]
struct Rates {
    lines: (usize, usize),
    branches: (usize, usize),
}

impl Rates {
    fn of(table: &LineTable) -> Self {
        Self { lines: table.count(), branches: table.count_branches() }
    }

    fn add(self, other: Self) -> Self {
        let sum = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        Self { lines: sum(self.lines, other.lines), branches: sum(self.branches, other.branches) }
    }

    fn attributes(self) -> [(&'static str, String); 2] {
        [("line-rate", rate(self.lines)), ("branch-rate", rate(self.branches))]
    }
}

/// A part from 0 to 1, rounded down.
fn rate((found, hit): (usize, usize)) -> String {
    let parts = match found {
        0 => 10_000,
        found => hit as u128 * 10_000 / found as u128,
    };
    format!("{}.{:04}", parts / 10_000, parts % 10_000)
}

/// The XML. `timestamp` is in seconds since 1970.
pub fn render(report: &Report, timestamp: u64) -> String {
    xml::document(Some(DTD), |xml| coverage(xml, report, timestamp))
}

fn coverage(xml: &mut Xml, report: &Report, timestamp: u64) -> XmlResult {
    let tables: Vec<(&FileCoverage, LineTable)> =
        report.coverage.files.iter().map(|file| (file, LineTable::of(file))).collect();
    let all = tables.iter().fold(Rates::default(), |sum, (_, table)| sum.add(Rates::of(table)));
    let number = |n: usize| n.to_string();
    let counts = [
        ("lines-covered", number(all.lines.1)),
        ("lines-valid", number(all.lines.0)),
        ("branches-covered", number(all.branches.1)),
        ("branches-valid", number(all.branches.0)),
        ("complexity", "0.0".into()),
        ("version", format!("lydian {}", env!("CARGO_PKG_VERSION"))),
        ("timestamp", timestamp.to_string()),
    ];
    element(xml, "coverage", all.attributes().into_iter().chain(counts), |xml| {
        element(xml, "sources", [], |xml| {
            element(xml, "source", [], |xml| xml::text(xml, &report.root.display().to_string()))
        })?;
        packages(xml, report, &tables)
    })
}

fn packages(xml: &mut Xml, report: &Report, tables: &[(&FileCoverage, LineTable)]) -> XmlResult {
    let mut folders: BTreeMap<String, Vec<&(&FileCoverage, LineTable)>> = BTreeMap::new();
    for entry in tables {
        let shown = report.shown(&entry.0.path);
        let folder = shown.rsplit_once('/').map_or("", |(folder, _)| folder).replace('/', ".");
        folders.entry(folder).or_default().push(entry);
    }
    element(xml, "packages", [], |xml| {
        for (folder, entries) in &folders {
            let rates =
                entries.iter().fold(Rates::default(), |sum, (_, table)| sum.add(Rates::of(table)));
            let attributes = named(folder).into_iter().chain(rates.attributes());
            element(xml, "package", attributes.chain([complexity()]), |xml| {
                element(xml, "classes", [], |xml| {
                    entries.iter().try_for_each(|(file, table)| class(xml, report, file, table))
                })
            })?;
        }
        Ok(())
    })
}

fn named(name: &str) -> [(&'static str, String); 1] {
    [("name", name.to_owned())]
}

fn complexity() -> (&'static str, String) {
    ("complexity", "0.0".into())
}

fn class(xml: &mut Xml, report: &Report, file: &FileCoverage, table: &LineTable) -> XmlResult {
    let shown = report.shown(&file.path);
    let name = shown.rsplit_once('/').map_or(shown.as_str(), |(_, name)| name).replace('.', "_");
    let attributes = named(&name)
        .into_iter()
        .chain([("filename", shown.clone())])
        .chain(Rates::of(table).attributes())
        .chain([complexity()]);
    element(xml, "class", attributes, |xml| {
        element(xml, "methods", [], |xml| {
            let counted =
                |f: &&FunctionCoverage| !file.exclusions.line(f.start.line) && f.is_listed();
            file.functions.iter().filter(counted).try_for_each(|f| method(xml, f, table))
        })?;
        lines(xml, table.lines.iter())
    })
}

fn method(xml: &mut Xml, function: &FunctionCoverage, table: &LineTable) -> XmlResult {
    let first = function.start.line;
    let own = || table.lines.range(first..=function.end_line.max(first));
    let part = LineTable { lines: own().map(|(number, line)| (*number, line.clone())).collect() };
    let attributes = named(&function.name)
        .into_iter()
        .chain([("signature", String::new())])
        .chain(Rates::of(&part).attributes())
        .chain([complexity()]);
    element(xml, "method", attributes, |xml| lines(xml, own()))
}

fn lines<'a>(xml: &mut Xml, lines: impl Iterator<Item = (&'a u32, &'a Line)>) -> XmlResult {
    element(xml, "lines", [], |xml| {
        for (number, entry) in lines {
            line(xml, *number, entry)?;
        }
        Ok(())
    })
}

fn line(xml: &mut Xml, number: u32, line: &Line) -> XmlResult {
    let hits = line.hits.to_string();
    let mut attributes = vec![("number", number.to_string()), ("hits", hits)];
    if line.branches.is_empty() {
        attributes.push(("branch", "false".into()));
        return empty(xml, "line", attributes);
    }
    let (found, taken) = line.count_branches();
    let coverage = shown_rate(found, taken, true);
    attributes.extend([("branch", "true".into()), ("condition-coverage", coverage)]);
    element(xml, "line", attributes, |xml| {
        element(xml, "conditions", [], |xml| {
            line.branches
                .iter()
                .enumerate()
                .try_for_each(|(index, group)| empty(xml, "condition", condition(index, group)))
        })
    })
}

fn condition(index: usize, group: &BranchGroup) -> [(&'static str, String); 3] {
    let taken = group.ways.iter().filter(|way| way.taken()).count();
    let kind = match group.kind {
        BranchKind::Jump => "jump",
        BranchKind::Switch => "switch",
    };
    let coverage = shown_rate(group.ways.len(), taken, false);
    [("number", index.to_string()), ("type", kind.into()), ("coverage", coverage)]
}

/// `50% (1/2)`, or without the fraction.
fn shown_rate(found: usize, hit: usize, fraction: bool) -> String {
    let percent = (hit * 100).checked_div(found).unwrap_or(100);
    match fraction {
        true => format!("{percent}% ({hit}/{found})"),
        false => format!("{percent}%"),
    }
}
