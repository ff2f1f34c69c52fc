//! Comments that take objectives out of the count: those of lcov and gcovr, and Lydian's own.
//!
//! | comment | takes out |
//! |---|---|
//! | `LCOV_EXCL_LINE`, `GCOVR_EXCL_LINE` | everything that begins on the line |
//! | `..._EXCL_START`, `..._EXCL_STOP` | the same from the line of the first to before that of the second |
//! | `..._EXCL_BR_LINE`, `..._EXCL_BR_START`, `..._EXCL_BR_STOP` | branches and decisions alone |
//! | `lydian-justify mcdc: text` | what is not covered of a criterion, on this line or, where the comment stands alone, on the next line of code |
//!
//! Markers are found anywhere in a line, as by lcov. Lydian's own must be in a comment and must give
//! a text. Excluded objectives stay listed.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr as _;

use lydian_base::{Diagnostic, Place};
use lydian_objective::Criterion;

use crate::coverage::{Exclusions, FileCoverage, LineRanges, ObjectiveCoverage, ObjectiveStatus};
use crate::filters::comments::{Comment, comments};
use crate::sources::SourceText;

/// The word that begins a justification.
const JUSTIFY: &str = "lydian-justify";

/// A justification, read from its comment.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Justification {
    /// The line of the objectives.
    target: u32,
    /// The criteria; none for all.
    criteria: Vec<Criterion>,
    /// The reason why they need not be covered.
    text: String,
    /// The place of the comment.
    place: Place,
}

/// Reads the comments of a file and marks the objectives that they exclude. Returns errors for
/// ill-formed justifications, and warnings for comments without effect. A justification for criteria
/// none of which was measured is ignored.
pub fn apply(
    file: &mut FileCoverage,
    text: &SourceText,
    measured: &[Criterion],
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let path = file.path.clone();
    let read = markers(&path, &text.lines, &mut found);
    file.exclusions.lines.merge(read.lines);
    file.exclusions.branches.merge(read.branches);
    exclude(file);
    for justification in justifications(&path, text, &mut found) {
        let criteria = &justification.criteria;
        if criteria.is_empty() || criteria.iter().any(|criterion| measured.contains(criterion)) {
            justify(file, justification, &mut found);
        }
    }
    found
}

/// Marks the objectives on excluded lines.
fn exclude(file: &mut FileCoverage) {
    let exclusions = &file.exclusions;
    if exclusions.is_empty() {
        return;
    }
    for function in &mut file.functions {
        for objective in &mut function.objectives {
            let line = objective.start.line;
            let out = exclusions.line(line)
                || exclusions.branch(line) && objective.criterion.construct().is_of_branches();
            if out && counts(objective) {
                objective.status = ObjectiveStatus::Excluded(None);
            }
        }
    }
}

fn counts(objective: &ObjectiveCoverage) -> bool {
    !matches!(objective.status, ObjectiveStatus::Duplicate | ObjectiveStatus::Excluded(_))
}

/// The lines between two markers. Several headers share one state each, as they are read by
/// different tools.
struct Region {
    header: &'static str,
    kind: &'static str,
    open: Option<u32>,
    lines: BTreeSet<u32>,
}

fn markers(path: &Path, lines: &[String], found: &mut Vec<Diagnostic>) -> Exclusions {
    let region = |header, kind| Region { header, kind, open: None, lines: BTreeSet::new() };
    let mut regions = [
        region("LCOV_EXCL_", ""),
        region("GCOVR_EXCL_", ""),
        region("LCOV_EXCL_", "BR_"),
        region("GCOVR_EXCL_", "BR_"),
    ];
    for (index, line) in lines.iter().enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let marked = line.contains("_EXCL_");
        for region in &mut regions {
            if marked {
                region.read(path, line, number, found);
            }
            if region.open.is_some() {
                region.lines.insert(number);
            }
        }
    }
    let mut exclusions = [BTreeSet::new(), BTreeSet::new()];
    for region in regions {
        if let Some(line) = region.open {
            let message = format!("{}START has no {}STOP", region.name(), region.name());
            found.push(warning(path, line, message));
        }
        exclusions[usize::from(!region.kind.is_empty())].extend(region.lines);
    }
    let [all, branches] = exclusions.map(LineRanges::of);
    Exclusions { lines: all, branches }
}

impl Region {
    fn name(&self) -> String {
        format!("{}{}", self.header, self.kind)
    }

    fn read(&mut self, path: &Path, line: &str, number: u32, found: &mut Vec<Diagnostic>) {
        let has = |marker: &str| contains_word(line, &format!("{}{marker}", self.name()));
        let (stop, start, single) = (has("STOP"), has("START"), has("LINE"));
        if stop {
            if self.open.take().is_none() {
                let message = format!("{}STOP has no {}START", self.name(), self.name());
                found.push(warning(path, number, message));
            }
        } else if start {
            self.open.get_or_insert(number);
        }
        if single {
            self.lines.insert(number);
        }
    }
}

/// Whether a line has a marker that is not the end of a longer word, such as a marker of another
/// tool.
fn contains_word(line: &str, marker: &str) -> bool {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices(marker).any(|(at, _)| {
        !line[..at].ends_with(part_of_word) && !line[at + marker.len()..].starts_with(part_of_word)
    })
}

fn place(path: &Path, line: u32, column: u32) -> Place {
    Place { file: path.display().to_string().into(), line, column }
}

fn warning(path: &Path, line: u32, message: String) -> Diagnostic {
    Diagnostic::warning("exclusion", message).at(place(path, line, 1))
}

fn justifications(
    path: &Path,
    text: &SourceText,
    found: &mut Vec<Diagnostic>,
) -> Vec<Justification> {
    let all = comments(&text.lines);
    let mut read = Vec::new();
    for comment in &all {
        let body = comment.text.trim_start();
        let Some(rest) = body.strip_prefix(JUSTIFY) else { continue };
        let column = comment.column + (comment.text.len() - body.len()) as u32;
        let place = place(path, comment.line, column);
        let target = match comment.alone && !code_follows(text, comment.line) {
            true => next_code_line(text, &all, comment.line),
            false => comment.line,
        };
        match parse(rest) {
            Ok((criteria, why)) => {
                read.push(Justification { target, criteria, text: why, place });
            }
            Err(message) => {
                let form = "it is written `// lydian-justify mcdc,dc: why it cannot be covered`";
                found.push(Diagnostic::error("justification", message).at(place).note(form));
            }
        }
    }
    read
}

/// The criteria and the text of a justification, behind its first word.
fn parse(rest: &str) -> Result<(Vec<Criterion>, String), String> {
    let (names, why) = rest
        .split_once(':')
        .ok_or("a justification has a colon between its criteria and its text")?;
    let mut criteria = Vec::new();
    for name in names.split(',').map(str::trim) {
        match name {
            "" => return Err("a justification names the criteria that it is for, or `all`".into()),
            "all" => return finish(Vec::new(), why),
            name => criteria.push(Criterion::from_str(name).map_err(|error| error.to_string())?),
        }
    }
    finish(criteria, why)
}

fn finish(criteria: Vec<Criterion>, why: &str) -> Result<(Vec<Criterion>, String), String> {
    match why.trim() {
        "" => Err("a justification needs a text that says why".into()),
        why => Ok((criteria, why.to_owned())),
    }
}

/// Whether there is code behind the comments of a line that begins with one.
fn code_follows(text: &SourceText, line: u32) -> bool {
    let line = text.line(line).unwrap_or("").trim_end();
    match line.rfind("*/") {
        Some(end) => {
            let rest = line[end + 2..].trim_start();
            !rest.is_empty() && !rest.starts_with("//")
        }
        None => false,
    }
}

/// The first line below a comment that has something other than comments.
fn next_code_line(text: &SourceText, all: &[Comment<'_>], line: u32) -> u32 {
    let last = u32::try_from(text.lines.len()).unwrap_or(u32::MAX);
    let only_comment = |number: u32| {
        let first = all.partition_point(|comment| comment.line < number);
        let comment = all.get(first).filter(|comment| comment.line == number);
        comment.is_some_and(|comment| comment.alone) && !code_follows(text, number)
    };
    let blank = |number: u32| text.line(number).is_none_or(|text| text.trim().is_empty());
    (line + 1..=last).find(|number| !blank(*number) && !only_comment(*number)).unwrap_or(line)
}

/// Marks the objectives that a justification is for.
fn justify(file: &mut FileCoverage, justification: Justification, found: &mut Vec<Diagnostic>) {
    let Justification { target, criteria, text, place } = justification;
    let (mut justified, mut covered) = (false, false);
    for objective in file.functions.iter_mut().flat_map(|function| &mut function.objectives) {
        let meant = criteria.is_empty() || criteria.contains(&objective.criterion);
        if objective.start.line != target || !meant {
            continue;
        }
        match objective.status {
            ObjectiveStatus::Missing | ObjectiveStatus::Unmeasured(_) => {
                objective.status = ObjectiveStatus::Excluded(Some(text.clone()));
                justified = true;
            }
            ObjectiveStatus::Excluded(_) => justified = true,
            ObjectiveStatus::Covered => covered = true,
            ObjectiveStatus::Duplicate => {}
        }
    }
    if !justified {
        let message = match covered {
            true => "the justification is not needed: what it is for is covered",
            false => "the justification is for nothing: no such objective begins on its line",
        };
        found.push(Diagnostic::warning("justification", message).at(place));
    }
}
