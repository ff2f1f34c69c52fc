//! Objectives as test cases, in JUnit's XML, which continuous integration shows as results of tests.
//!
//! A suite is a file and a criterion, so that its counts are a row of the table. A class is a file
//! and a function, because readers group by classes and make packages of folders. Readers identify a
//! test by its class and name alone, and drop or mix equal ones. So no two cases of a report have
//! both in common. The number of a line is in them only if it is part of the objective's own text, as
//! for a path, so that a case stays the same one when code moves.
//!
//! | objective | test case |
//! |---|---|
//! | covered | passed |
//! | missing | `failure`, with the criterion as its type |
//! | unmeasured, as the files that were compiled as they are | `error`: it counts as not covered |
//! | excluded, duplicate | `skipped`: it is out of the denominator |

use std::collections::{BTreeMap, BTreeSet};

use super::missing;
use super::one_line;
use super::xml::{self, Xml, XmlResult, document, element, empty};
use crate::coverage::{
    FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus, PlainFile,
};
use crate::report::Report;

/// The number of characters of an objective's text in the name of its test case.
const TEXT_IN_NAME: usize = 200;

/// The type of an error: nothing was measured.
const UNMEASURED: &str = "unmeasured";

struct Suite {
    name: String,
    cases: Vec<Case>,
}

struct Case {
    class: String,
    name: String,
    file: String,
    /// `None` for a whole file.
    line: Option<u32>,
    /// The text of that line, if it is known.
    source: Option<String>,
    outcome: Outcome,
}

enum Outcome {
    Passed,
    /// The reason for the failure: a sentence.
    Failed {
        kind: &'static str,
        message: String,
    },
    /// The reason why it was not measured: a sentence.
    Error {
        message: String,
    },
    /// The reason why it does not count: a sentence.
    Skipped {
        message: String,
    },
}

/// The number of cases, and the numbers of those that did not pass.
#[derive(Clone, Copy, Default)]
struct Counts {
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
}

/// The XML. Paths are relative to the report's root. It has no times, since runs are not known by
/// objective.
pub fn render(report: &Report) -> String {
    let mut suites = Vec::new();
    for file in &report.coverage.files {
        for criterion in &report.coverage.criteria {
            let cases: Vec<Case> = objectives(file)
                .filter(|(_, objective)| objective.criterion == *criterion)
                .map(|(function, objective)| of_objective(report, file, function, objective))
                .collect();
            if !cases.is_empty() {
                let name = format!("{} {criterion}", report.shown(&file.path));
                suites.push(Suite { name, cases });
            }
        }
    }
    suites.extend(report.coverage.plain.iter().map(|file| of_plain_file(report, file)));
    number_those_alike(&mut suites);
    document(None, |xml| all(xml, &suites))
}

fn objectives(
    file: &FileCoverage,
) -> impl Iterator<Item = (&FunctionCoverage, &ObjectiveCoverage)> {
    file.functions
        .iter()
        .flat_map(|function| function.objectives.iter().map(move |objective| (function, objective)))
}

fn of_objective(
    report: &Report,
    file: &FileCoverage,
    function: &FunctionCoverage,
    objective: &ObjectiveCoverage,
) -> Case {
    let shown = report.shown(&file.path);
    let ObjectiveCoverage { criterion, name, text, .. } = objective;
    let name = match text.as_str() {
        // The place must be reached, in any state.
        "1" => format!("{criterion} {name}"),
        text => format!("{criterion} {name}: {}", beginning(&one_line(text))),
    };
    Case {
        class: format!("{}.{}", class_of(&shown), function.name),
        name,
        file: shown,
        line: Some(missing::line(objective)),
        source: source_line(report, file, missing::line(objective)),
        outcome: outcome(function, objective),
    }
}

fn outcome(function: &FunctionCoverage, objective: &ObjectiveCoverage) -> Outcome {
    match &objective.status {
        ObjectiveStatus::Covered => Outcome::Passed,
        ObjectiveStatus::Missing => Outcome::Failed {
            kind: objective.criterion.name(),
            message: missing::message(function, objective),
        },
        ObjectiveStatus::Unmeasured(why) => {
            Outcome::Error { message: format!("It is not measured: {}", one_line(why)) }
        }
        ObjectiveStatus::Duplicate => Outcome::Skipped {
            message: "It is the same as an earlier one of the criterion".to_owned(),
        },
        ObjectiveStatus::Excluded(Some(why)) => {
            Outcome::Skipped { message: format!("It is justified: {}", one_line(why)) }
        }
        ObjectiveStatus::Excluded(None) => {
            Outcome::Skipped { message: "A comment excludes its line".to_owned() }
        }
    }
}

fn source_line(report: &Report, file: &FileCoverage, line: u32) -> Option<String> {
    let text = report.text(&file.path, file.changed).ok()?;
    Some(text.line(line)?.trim().to_owned())
}

/// A suite of one case with the reason why a file is not measured.
fn of_plain_file(report: &Report, file: &PlainFile) -> Suite {
    let shown = report.shown(&file.path);
    let message = format!("The file was compiled as it is: {}", one_line(&file.reason));
    let case = Case {
        class: class_of(&shown),
        name: "whole file".to_owned(),
        file: shown.clone(),
        line: None,
        source: None,
        outcome: Outcome::Error { message },
    };
    Suite { name: shown, cases: vec![case] }
}

/// A path as the name of a class: folders are packages, and no other dot makes one.
fn class_of(shown: &str) -> String {
    let parts = shown.split('/').filter(|part| !part.is_empty());
    parts.map(|part| part.replace('.', "_")).collect::<Vec<_>>().join(".")
}

/// The beginning of a text that is long.
fn beginning(text: &str) -> String {
    match text.char_indices().nth(TEXT_IN_NAME) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Gives all but the first of several cases with the same class and name a number that makes them
/// different.
fn number_those_alike(suites: &mut [Suite]) {
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut taken: BTreeSet<(String, String)> = BTreeSet::new();
    for case in suites.iter_mut().flat_map(|suite| &mut suite.cases) {
        let original = case.name.clone();
        let count = counts.entry((case.class.clone(), original.clone())).or_insert(1);
        while !taken.insert((case.class.clone(), case.name.clone())) {
            *count += 1;
            case.name = format!("{original} ({count})");
        }
    }
}

impl Counts {
    fn of<'a>(cases: impl Iterator<Item = &'a Case>) -> Self {
        let mut counts = Self::default();
        for case in cases {
            counts.tests += 1;
            match case.outcome {
                Outcome::Passed => {}
                Outcome::Failed { .. } => counts.failures += 1,
                Outcome::Error { .. } => counts.errors += 1,
                Outcome::Skipped { .. } => counts.skipped += 1,
            }
        }
        counts
    }

    fn attributes(self) -> [(&'static str, String); 4] {
        [
            ("tests", self.tests.to_string()),
            ("failures", self.failures.to_string()),
            ("errors", self.errors.to_string()),
            ("skipped", self.skipped.to_string()),
        ]
    }
}

fn all(xml: &mut Xml, suites: &[Suite]) -> XmlResult {
    let counts = Counts::of(suites.iter().flat_map(|suite| &suite.cases));
    let attributes = [("name", "Lydian".to_owned())].into_iter().chain(counts.attributes());
    element(xml, "testsuites", attributes, |xml| {
        suites.iter().try_for_each(|suite| one_suite(xml, suite))
    })
}

fn one_suite(xml: &mut Xml, suite: &Suite) -> XmlResult {
    let counts = Counts::of(suite.cases.iter());
    let attributes = [("name", suite.name.clone())].into_iter().chain(counts.attributes());
    element(xml, "testsuite", attributes, |xml| {
        suite.cases.iter().try_for_each(|case| one_case(xml, case))
    })
}

fn one_case(xml: &mut Xml, case: &Case) -> XmlResult {
    let mut attributes = vec![
        ("classname", case.class.clone()),
        ("name", case.name.clone()),
        ("file", case.file.clone()),
    ];
    attributes.extend(case.line.map(|line| ("line", line.to_string())));
    let (name, kind, message) = match &case.outcome {
        Outcome::Passed => return empty(xml, "testcase", attributes),
        Outcome::Failed { kind, message } => ("failure", Some(*kind), message),
        Outcome::Error { message } => ("error", Some(UNMEASURED), message),
        Outcome::Skipped { message } => ("skipped", None, message),
    };
    let of_outcome = [("message", message.clone())].into_iter();
    let of_outcome = of_outcome.chain(kind.map(|kind| ("type", kind.to_owned())));
    element(xml, "testcase", attributes, |xml| match kind {
        // Some readers show the text alone, and a link at its place.
        Some(_) => element(xml, name, of_outcome, |xml| {
            let line = case.line.map(|line| format!(":{line}")).unwrap_or_default();
            let source = case.source.as_ref().map(|text| format!("\n    {text}"));
            let source = source.unwrap_or_default();
            xml::text(xml, &format!("{}{line}: {message}{source}", case.file))
        }),
        None => empty(xml, name, of_outcome),
    })
}
