//! Comments that take objectives out of the count.

use std::path::{Path, PathBuf};

use lydian_base::Diagnostic;
use lydian_objective::Criterion;
use lydian_report::Report;
use lydian_report::coverage::{
    Coverage, ExecutionCount, FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus,
    Position,
};
use lydian_report::sources::{SourceText, Sources};

/// A file with a missing objective of STMT and of DC on each line.
fn file(text: &str, digest: Option<String>) -> FileCoverage {
    let objective = |criterion, line| ObjectiveCoverage {
        decision: None,
        criterion,
        name: format!("{criterion} {line}"),
        start: Position { line, column: 1 },
        text: "x".into(),
        status: ObjectiveStatus::Missing,
    };
    let lines = 1..=text.lines().count() as u32;
    let objectives = lines
        .flat_map(|line| [objective(Criterion::Stmt, line), objective(Criterion::Dc, line)])
        .collect();
    let function = FunctionCoverage {
        part: false,
        name: "f".into(),
        start: Position { line: 1, column: 1 },
        end_line: 1,
        entered: None,
        entries: ExecutionCount::default(),
        lines: Vec::new(),
        decisions: Vec::new(),
        switches: Vec::new(),
        objectives,
        def_uses: Vec::new(),
    };
    FileCoverage {
        path: "/f.c".into(),
        digest,
        functions: vec![function],
        ..FileCoverage::default()
    }
}

fn read_with(
    text: &str,
    digest: Option<String>,
) -> Result<(Report, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut sources = Sources::default();
    sources.insert(PathBuf::from("/f.c"), SourceText::of(text.as_bytes()));
    let coverage = Coverage {
        criteria: vec![Criterion::Stmt, Criterion::Dc],
        files: vec![file(text, digest)],
        ..Coverage::default()
    };
    Report::with(coverage, sources, Path::new("/"))
}

fn read(text: &str) -> Result<(Report, Vec<Diagnostic>), Vec<Diagnostic>> {
    read_with(text, None)
}

/// The names of the objectives that are excluded, with their justifications.
fn excluded(report: &Report) -> Vec<(String, Option<String>)> {
    let objectives = report.coverage.files[0].functions[0].objectives.iter();
    let of = |objective: &ObjectiveCoverage| match &objective.status {
        ObjectiveStatus::Excluded(why) => Some((objective.name.clone(), why.clone())),
        _ => None,
    };
    objectives.filter_map(of).collect()
}

fn names(report: &Report) -> Vec<String> {
    excluded(report).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_line_marker_takes_out_its_line_and_a_branch_marker_its_decisions() {
    let text = "a; // LCOV_EXCL_LINE\nb;\nif (c) // GCOVR_EXCL_BR_LINE\nd; // XLCOV_EXCL_LINE";
    let (report, warnings) = read(text).unwrap();
    assert_eq!(names(&report), ["stmt 1", "dc 1", "dc 3"]);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_region_begins_with_its_first_line_and_ends_before_its_last() {
    let text = "a;\nb; // LCOV_EXCL_START\nc;\nd; // LCOV_EXCL_STOP\n\
                e; // GCOVR_EXCL_BR_START\nf; // GCOVR_EXCL_BR_STOP";
    let (report, _) = read(text).unwrap();
    assert_eq!(names(&report), ["stmt 2", "dc 2", "stmt 3", "dc 3", "dc 5"]);
    assert_eq!(report.coverage.files[0].exclusions.lines.0, [(2, 3)]);
}

#[test]
fn a_region_that_is_not_closed_or_not_opened_is_warned_of() {
    let (_, warnings) = read("a; // LCOV_EXCL_START\nb; // GCOVR_EXCL_BR_STOP").unwrap();
    let texts: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        texts,
        ["GCOVR_EXCL_BR_STOP has no GCOVR_EXCL_BR_START", "LCOV_EXCL_START has no LCOV_EXCL_STOP",]
    );
    assert_eq!(warnings[1].place.as_ref().unwrap().line, 1);
}

#[test]
fn a_justification_is_for_its_line_or_for_the_next_line_of_code() {
    let text = "a; // lydian-justify dc: callers check\n\n/* lydian-justify stmt, dc: by design */\n\
                // a note\n\nb;\nc; /* lydian-justify all: never */";
    let (report, warnings) = read(text).unwrap();
    let why = |text: &str| Some(text.to_owned());
    let expected = [
        ("dc 1".to_owned(), why("callers check")),
        ("stmt 6".to_owned(), why("by design")),
        ("dc 6".to_owned(), why("by design")),
        ("stmt 7".to_owned(), why("never")),
        ("dc 7".to_owned(), why("never")),
    ];
    assert_eq!(excluded(&report), expected);
    assert!(warnings.is_empty(), "{warnings:?}");
    let dc = report.coverage.totals()[1];
    assert_eq!((dc.objectives, dc.excluded, dc.denominator()), (7, 3, 4));
}

#[test]
fn a_comment_before_code_on_its_line_is_for_that_line() {
    let (report, _) = read("/* lydian-justify dc: x */ a;\nb;").unwrap();
    assert_eq!(names(&report), ["dc 1"]);
}

#[test]
fn a_justification_without_a_text_is_an_error_with_its_place() {
    let errors =
        read("int a;\nx = \"// lydian-justify dc:\"; // lydian-justify dc:  \n").unwrap_err();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(errors[0].message, "a justification needs a text that says why");
    assert_eq!(errors[0].place.as_ref().unwrap().to_string(), "/f.c:2:33");
}

#[test]
fn a_justification_names_criteria_that_exist() {
    let messages = |text: &str| read(text).unwrap_err()[0].message.clone();
    assert!(messages("a; // lydian-justify mcd: x").contains("no criterion `mcd`"));
    assert!(messages("a; // lydian-justify : x").contains("names the criteria"));
    assert!(messages("a; // lydian-justify dc x").contains("colon"));
}

#[test]
fn a_justification_for_what_is_covered_is_warned_of() {
    let mut sources = Sources::default();
    let text =
        "a; // lydian-justify dc: no\nb; // lydian-justify wm: no\nc; // lydian-justify rte: no";
    sources.insert(PathBuf::from("/f.c"), SourceText::of(text.as_bytes()));
    let mut file = file(text, None);
    for objective in &mut file.functions[0].objectives {
        objective.status = ObjectiveStatus::Covered;
    }
    let coverage = Coverage {
        criteria: vec![Criterion::Stmt, Criterion::Dc, Criterion::Wm],
        files: vec![file],
        ..Coverage::default()
    };
    let (report, warnings) = Report::with(coverage, sources, Path::new("/")).unwrap();
    assert!(names(&report).is_empty());
    assert!(warnings[0].message.contains("not needed"), "{warnings:?}");
    assert!(warnings[1].message.contains("for nothing"), "{warnings:?}");
    assert_eq!(warnings.len(), 2, "of RTE nothing is known: {warnings:?}");
}

#[test]
fn comments_of_a_file_that_changed_are_not_read() {
    let (report, _) = read_with("a; // LCOV_EXCL_LINE", Some("0".repeat(64))).unwrap();
    assert!(report.coverage.files[0].changed);
    assert!(names(&report).is_empty());
    assert!(report.text(Path::new("/f.c"), true).is_err());
}
