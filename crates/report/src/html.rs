//! Coverage as pages to look at.
//!
//! A folder of pages that need no server and nothing from elsewhere: an index, all functions, what
//! is excluded, and for each file its lines with what is known of them. A long file is cut where
//! functions begin, so that every page opens well. All works without scripts, but for sorting,
//! filtering, and drawing definitions to their uses; nothing is told by colour alone.
//!
//! Pages are made one at a time and independently, so that they can be made in parallel and need
//! not all be in memory.

mod decision;
mod function;
mod index;
mod lists;
mod objectives;
mod shell;
mod source;

use std::collections::{BTreeMap, BTreeSet};

use crate::branches::LineTable;
use crate::coverage::{
    DecisionCoverage, FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus,
    SwitchCoverage,
};
use crate::report::Report;
use crate::sources::SourceText;
use crate::totals::Totals;

/// A page of a source is cut at the next function when it has so many lines,
const PAGE_LINES: u32 = 1500;
/// and in any case when it has so many.
const MOST_PAGE_LINES: u32 = 5000;

/// The pages of a report.
#[derive(Debug)]
pub struct Site<'a> {
    report: &'a Report,
    files: Vec<FileView<'a>>,
    pages: Vec<SourcePage>,
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
    /// The positions of its first page among the pages, and of the one after its last.
    pages: std::ops::Range<usize>,
}

/// Some lines of a file.
#[derive(Debug)]
struct SourcePage {
    name: String,
    file: usize,
    first: u32,
    last: u32,
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

/// The pages that are there for every report, before those of the sources.
const FIXED: usize = 5;

impl<'a> Site<'a> {
    /// Plans the pages of a report.
    pub fn new(report: &'a Report) -> Self {
        let mut site = Self { report, files: Vec::new(), pages: Vec::new() };
        let mut names = BTreeSet::new();
        for (index, coverage) in report.coverage.files.iter().enumerate() {
            let mut view = FileView::new(report, coverage);
            let stem = unique(&mut names, &view.shown);
            let first = site.pages.len();
            for (part, (from, to)) in view.parts().into_iter().enumerate() {
                let name = match part {
                    0 => format!("{stem}.html"),
                    part => format!("{stem}.{}.html", part + 1),
                };
                site.pages.push(SourcePage { name, file: index, first: from, last: to });
            }
            view.pages = first..site.pages.len();
            site.files.push(view);
        }
        site
    }

    /// How many files there are to write.
    pub fn len(&self) -> usize {
        FIXED + self.pages.len()
    }

    /// Whether there is nothing to write, which is never so.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The n-th file, from 0.
    pub fn page(&self, index: usize) -> Page {
        let (name, text) = match index {
            0 => ("index.html", index::render(self)),
            1 => ("functions.html", lists::functions(self)),
            2 => ("excluded.html", lists::excluded(self)),
            3 => ("style.css", include_str!("html/style.css").to_owned()),
            4 => ("report.js", include_str!("html/report.js").to_owned()),
            index => {
                let page = &self.pages[index - FIXED];
                return Page { name: page.name.clone(), text: source::render(self, page) };
            }
        };
        Page { name: name.to_owned(), text }
    }

    /// Where a line of a file is shown.
    fn link(&self, file: usize, line: u32) -> String {
        let pages = &self.pages[self.files[file].pages.clone()];
        let page = pages.iter().find(|page| line <= page.last).or(pages.last());
        page.map_or_else(String::new, |page| format!("{}#L{line}", page.name))
    }
}

impl<'a> FileView<'a> {
    fn new(report: &'a Report, coverage: &'a FileCoverage) -> Self {
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
            pages: 0..0,
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

    /// The pages: first and last lines.
    fn parts(&self) -> Vec<(u32, u32)> {
        match &self.text {
            Ok(text) => self.parts_of_text(u32::try_from(text.lines.len()).unwrap_or(u32::MAX)),
            Err(_) => {
                let lines: Vec<u32> = self.recorded().into_iter().collect();
                let ends = |chunk: &[u32]| (chunk[0], chunk[chunk.len() - 1]);
                let parts: Vec<_> = lines.chunks(PAGE_LINES as usize).map(ends).collect();
                if parts.is_empty() { vec![(1, 1)] } else { parts }
            }
        }
    }

    fn parts_of_text(&self, last: u32) -> Vec<(u32, u32)> {
        let (mut parts, mut first) = (Vec::new(), 1);
        let starts = self.functions.keys().copied().filter(|line| (2..=last).contains(line));
        for start in starts.chain([last.saturating_add(1)]) {
            while start - first > MOST_PAGE_LINES {
                parts.push((first, first + MOST_PAGE_LINES - 1));
                first += MOST_PAGE_LINES;
            }
            if start - first >= PAGE_LINES && start <= last {
                parts.push((first, start - 1));
                first = start;
            }
        }
        parts.push((first, last.max(first)));
        parts
    }

    fn status(&self, line: u32) -> LineStatus {
        if self.coverage.exclusions.line(line) {
            return LineStatus::Excluded;
        }
        let objectives = self.objectives.get(&line).map_or(&[][..], Vec::as_slice);
        let has = |status: &ObjectiveStatus| objectives.iter().any(|o| o.status == *status);
        let (covered, missing) = (has(&ObjectiveStatus::Covered), has(&ObjectiveStatus::Missing));
        let passed = self.table.lines.get(&line).map(|line| line.covered);
        match (passed, covered, missing) {
            (Some(false), false, _) | (None, false, true) => LineStatus::Missing,
            (Some(true), _, false) | (None, true, false) => LineStatus::Covered,
            (Some(true), _, true) | (None, true, true) | (Some(false), true, _) => {
                LineStatus::Partly
            }
            (None, false, false) => LineStatus::None,
        }
    }
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
