//! Coverage as pages to look at.
//!
//! A folder of pages that need no server and nothing from elsewhere: an index, all functions, what
//! is excluded, and for each file its lines with what is known of them. No page is larger than
//! 2 MB, whatever the file: a long one is cut where functions begin, and what is much for a line or
//! a function has pages of its own. All works without scripts, but for sorting, filtering, choosing a
//! criterion, and drawing definitions to their uses; nothing is told by colour alone.

mod decision;
mod draft;
mod function;
mod highlight;
mod index;
mod lists;
mod objectives;
mod shell;
mod source;
mod trend;

use std::collections::{BTreeMap, BTreeSet};

use draft::{Draft, Places, in_parallel};
use lydian_objective::Criterion;

use crate::branches::{Line, LineTable};
use crate::coverage::{
    DecisionCoverage, FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus,
    SwitchCoverage,
};
use crate::report::Report;
use crate::sources::SourceText;
use crate::totals::Totals;
use crate::trend::Trend;

/// What pages are made of.
#[derive(Debug)]
struct Site<'a> {
    report: &'a Report,
    files: Vec<FileView<'a>>,
    /// Whether it was counted how often anything ran.
    counts: bool,
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A file with what is known of it, by lines.
#[derive(Debug)]
struct FileView<'a> {
    coverage: &'a FileCoverage,
    /// Its text, or why its lines are not shown.
    text: Result<&'a SourceText, String>,
    shown: String,
    table: LineTable,
    totals: Vec<Totals>,
    functions: BTreeMap<u32, Vec<&'a FunctionCoverage>>,
    objectives: BTreeMap<u32, Vec<&'a ObjectiveCoverage>>,
    decisions: BTreeMap<u32, Vec<&'a DecisionCoverage>>,
    switches: BTreeMap<u32, Vec<&'a SwitchCoverage>>,
    /// Its position among the files.
    index: usize,
    /// What the names of its pages begin with.
    stem: String,
}

/// What is known of a line as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStatus {
    Covered,
    Partly,
    Missing,
    Excluded,
    None,
}

/// The pages of a report, with their style and script, and with how coverage went if that is given; made
/// on all processors.
pub fn pages(report: &Report, trend: Option<&Trend>) -> Vec<Page> {
    let site = Site::new(report);
    let drafts = in_parallel(site.files.len(), |index| source::drafts(&site, &site.files[index]));
    let parts = |drafts: &Vec<Draft>| {
        let parts =
            drafts.iter().filter_map(|draft| Some((draft.lines.clone()?, draft.name.clone())));
        parts.collect()
    };
    let places = Places(drafts.iter().map(parts).collect());
    let mut lists = vec![index::draft(&site, trend.is_some())];
    lists.extend(trend.map(trend::draft));
    lists.extend(lists::functions(&site));
    lists.extend(lists::excluded(&site));
    let drafts: Vec<Draft> = lists.into_iter().chain(drafts.into_iter().flatten()).collect();
    let mut pages = in_parallel(drafts.len(), |index| places.page(&drafts[index]));
    for (name, text) in [
        ("style.css", include_str!("html/style.css")),
        ("report.js", include_str!("html/report.js")),
    ] {
        pages.push(Page { name: name.to_owned(), text: text.to_owned() });
    }
    pages
}

impl<'a> Site<'a> {
    fn new(report: &'a Report) -> Self {
        let mut names = BTreeSet::new();
        let files = report.coverage.files.iter().enumerate().map(|(index, coverage)| {
            let stem = unique(&mut names, &report.shown(&coverage.path));
            FileView::new(report, coverage, index, stem)
        });
        let mut functions = report.coverage.files.iter().flat_map(|file| &file.functions);
        let counts = functions.any(|function| !function.entries.is_none());
        Self { report, files: files.collect(), counts }
    }

    /// How many columns the table of a source has.
    fn columns(&self) -> u32 {
        3 + u32::from(self.counts)
    }
}

impl<'a> FileView<'a> {
    fn new(report: &'a Report, coverage: &'a FileCoverage, index: usize, stem: String) -> Self {
        let mut view = Self {
            coverage,
            text: report.text(&coverage.path, coverage.changed),
            shown: report.shown(&coverage.path),
            table: LineTable::of(coverage),
            totals: coverage.totals(&report.coverage.criteria),
            functions: BTreeMap::new(),
            objectives: BTreeMap::new(),
            decisions: BTreeMap::new(),
            switches: BTreeMap::new(),
            index,
            stem,
        };
        for function in &coverage.functions {
            view.functions.entry(function.start.line).or_default().push(function);
            for objective in &function.objectives {
                view.objectives.entry(objective.start.line).or_default().push(objective);
            }
            for decision in &function.decisions {
                view.decisions.entry(decision.start.line).or_default().push(decision);
            }
            for switch in &function.switches {
                view.switches.entry(switch.start.line).or_default().push(switch);
            }
        }
        view
    }

    /// The lines of a text that is not shown, with something that was recorded of them.
    fn recorded(&self) -> BTreeSet<u32> {
        let lines = self.table.lines.keys().chain(self.objectives.keys());
        lines.chain(self.functions.keys()).copied().collect()
    }

    fn status(&self, line: u32) -> LineStatus {
        if self.coverage.exclusions.line(line) {
            return LineStatus::Excluded;
        }
        let (covered, missing) = has(self.objectives_at(line).iter().copied());
        let passed = self.table.lines.get(&line).map(Line::covered);
        match (passed, covered, missing) {
            (Some(false), false, _) | (None, false, true) => LineStatus::Missing,
            (Some(true), _, false) | (None, true, false) => LineStatus::Covered,
            (Some(true), _, true) | (None, true, true) | (Some(false), true, _) => {
                LineStatus::Partly
            }
            (None, false, false) => LineStatus::None,
        }
    }

    fn objectives_at(&self, line: u32) -> &[&'a ObjectiveCoverage] {
        self.objectives.get(&line).map_or(&[], Vec::as_slice)
    }

    /// The status of a line for each criterion by itself, as a digit.
    fn by_criterion(&self, line: u32, criteria: &[Criterion]) -> String {
        let excluded = self.coverage.exclusions.line(line);
        let status = |criterion: &Criterion| {
            let own = self.objectives_at(line).iter().filter(|it| it.criterion == *criterion);
            let mut own = own.copied().peekable();
            match (own.peek().is_some(), excluded) {
                (false, _) => LineStatus::None,
                (true, true) => LineStatus::Excluded,
                (true, false) => match has(own) {
                    (true, false) => LineStatus::Covered,
                    (true, true) => LineStatus::Partly,
                    (false, true) => LineStatus::Missing,
                    (false, false) => LineStatus::Excluded,
                },
            }
        };
        criteria.iter().map(|criterion| status(criterion).digit()).collect()
    }
}

/// Whether there are covered and missing ones among objectives.
fn has<'o>(objectives: impl IntoIterator<Item = &'o ObjectiveCoverage>) -> (bool, bool) {
    let (mut covered, mut missing) = (false, false);
    for objective in objectives {
        covered |= objective.status == ObjectiveStatus::Covered;
        missing |= objective.status == ObjectiveStatus::Missing;
    }
    (covered, missing)
}

/// A name for a file's pages: its path with everything but letters and digits replaced.
fn unique(names: &mut BTreeSet<String>, shown: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = shown.trim_start_matches('/').chars().map(plain).collect();
    let tail = name.len().saturating_sub(120);
    let base = format!("src_{}", &name[tail..]);
    let mut name = base.clone();
    let mut number = 1;
    while !names.insert(name.to_lowercase()) {
        number += 1;
        name = format!("{base}-{number}");
    }
    name
}
