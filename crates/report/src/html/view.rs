//! Views of a report: its files with their coverage by lines.

use std::collections::{BTreeMap, BTreeSet};

use lydian_objective::Criterion;

use crate::branches::{Line, LineTable};
use crate::coverage::{
    DecisionCoverage, FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus,
    SwitchCoverage,
};
use crate::report::Report;
use crate::sources::SourceText;
use crate::totals::Totals;

/// The report that pages are made of, with the views of its files.
#[derive(Debug)]
pub(super) struct Site<'a> {
    pub(super) report: &'a Report,
    pub(super) files: Vec<FileView<'a>>,
    /// Whether executions were counted.
    pub(super) counts: bool,
}

/// A file with its coverage, by lines.
#[derive(Debug)]
pub(super) struct FileView<'a> {
    pub(super) coverage: &'a FileCoverage,
    /// Its text, or the reason why its lines are not shown.
    pub(super) text: Result<&'a SourceText, String>,
    pub(super) shown: String,
    pub(super) table: LineTable,
    pub(super) totals: Vec<Totals>,
    pub(super) functions: BTreeMap<u32, Vec<&'a FunctionCoverage>>,
    pub(super) objectives: BTreeMap<u32, Vec<&'a ObjectiveCoverage>>,
    pub(super) decisions: BTreeMap<u32, Vec<&'a DecisionCoverage>>,
    pub(super) switches: BTreeMap<u32, Vec<&'a SwitchCoverage>>,
    /// Its position among the files.
    pub(super) index: usize,
    /// The beginning of the names of its pages.
    pub(super) stem: String,
}

/// The coverage of a line as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineStatus {
    Covered,
    Partly,
    Missing,
    Excluded,
    None,
}

/// The display of a status.
pub(super) struct StatusMark {
    /// The class of the style.
    pub(super) class: &'static str,
    pub(super) symbol: &'static str,
    pub(super) word: &'static str,
}

impl LineStatus {
    /// A character for it, which scripts read.
    pub(super) fn digit(self) -> char {
        match self {
            Self::None => '0',
            Self::Covered => '1',
            Self::Partly => '2',
            Self::Missing => '3',
            Self::Excluded => '4',
        }
    }

    /// Its display on pages.
    pub(super) const fn shown(self) -> StatusMark {
        let (class, symbol, word) = match self {
            Self::Covered => ("yes", "✓", "covered"),
            Self::Partly => ("may", "◐", "partly covered"),
            Self::Missing => ("no", "✗", "not covered"),
            Self::Excluded => ("out", "–", "excluded"),
            Self::None => ("", "", ""),
        };
        StatusMark { class, symbol, word }
    }
}

impl<'a> Site<'a> {
    pub(super) fn new(report: &'a Report) -> Self {
        let mut names = BTreeSet::new();
        let files = report.coverage.files.iter().enumerate().map(|(index, coverage)| {
            let stem = unique(&mut names, &report.shown(&coverage.path));
            FileView::new(report, coverage, index, stem)
        });
        let mut functions = report.coverage.files.iter().flat_map(|file| &file.functions);
        let counts = functions.any(|function| !function.entries.is_none());
        Self { report, files: files.collect(), counts }
    }

    /// The number of columns of the table of a source.
    pub(super) fn columns(&self) -> u32 {
        3 + u32::from(self.counts)
    }
}

impl<'a> FileView<'a> {
    pub(super) fn new(
        report: &'a Report,
        coverage: &'a FileCoverage,
        index: usize,
        stem: String,
    ) -> Self {
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

    /// The lines with recorded coverage, for a text that is not shown.
    pub(super) fn recorded(&self) -> BTreeSet<u32> {
        let lines = self.table.lines.keys().chain(self.objectives.keys());
        lines.chain(self.functions.keys()).copied().collect()
    }

    pub(super) fn status(&self, line: u32) -> LineStatus {
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

    pub(super) fn objectives_at(&self, line: u32) -> &[&'a ObjectiveCoverage] {
        self.objectives.get(&line).map_or(&[], Vec::as_slice)
    }

    /// The status of a line for each criterion by itself, as a digit.
    pub(super) fn by_criterion(&self, line: u32, criteria: &[Criterion]) -> String {
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
