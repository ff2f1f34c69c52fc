//! `lydian tests`: the coverage of each marked test, and the tests to run after a change.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use comfy_table::presets::ASCII_MARKDOWN;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use lydian_base::Diagnostic;
use lydian_report::coverage::{Coverage, TestCoverage};
use lydian_report::filters::changes::Changes;
use lydian_report::filters::paths::shown;

use super::report::{changed, folder, read};
use crate::args::TestsArgs;
use crate::exit::{ExitCode, Failure};
use crate::{output, render};

pub(crate) fn run(args: &TestsArgs) -> Result<ExitCode, Failure> {
    let root = folder("tests", args.root.as_deref())?;
    let coverage = read("tests", &args.from)?;
    if coverage.tests.is_empty() {
        return Err(Failure::usage("tests", "no run was marked as a test".to_owned())
            .note("run each test by `lydian mark NAME -- COMMAND`, or with LYDIAN_TEST=NAME set"));
    }
    let named: Vec<&TestCoverage> = if !args.at.is_empty() {
        let places = args.at.iter().map(|text| LineRange::read(text, &root));
        let places = places.collect::<Result<Vec<LineRange>, Failure>>()?;
        coverage.tests.iter().filter(|test| places.iter().any(|place| place.is_of(test))).collect()
    } else if let Some(changes) = changed::read(args.diff.as_deref(), args.patch.as_deref(), &root)?
    {
        touched(&coverage, &changes, &root)
    } else {
        output::text(&(table(&coverage.tests) + "\n"))?;
        return Ok(ExitCode::Done);
    };
    let mut text = String::new();
    named.iter().for_each(|test| _ = writeln!(text, "{}", test.name));
    output::text(&text)?;
    Ok(ExitCode::Done)
}

/// Lines of a file.
struct LineRange {
    file: PathBuf,
    first: u32,
    last: u32,
}

impl LineRange {
    /// `src/a.c`, `src/a.c:12`, `src/a.c:12-20`.
    fn read(text: &str, root: &Path) -> Result<Self, Failure> {
        let range = |lines: &str| -> Option<(u32, u32)> {
            let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let (file, (first, last)) = match text.rsplit_once(':') {
            None => (text, (0, u32::MAX)),
            Some((file, lines)) => {
                let bad = || {
                    Failure::usage("tests", format!("`{lines}` in {text} is no line or LINE-LINE"))
                };
                (file, range(lines).filter(|(first, last)| first <= last).ok_or_else(bad)?)
            }
        };
        let path = root.join(file);
        let file = path.canonicalize().map_err(|error| {
            Failure::usage("tests", format!("cannot find {}: {error}", path.display()))
        })?;
        Ok(Self { file, first, last })
    }

    fn is_of(&self, test: &TestCoverage) -> bool {
        test.files.get(&self.file).is_some_and(|lines| lines.meets(self.first, self.last))
    }
}

/// The tests that ran a changed function, or any function of a file that is changed outside of all
/// functions; all tests if no function of such a file is known.
fn touched<'c>(coverage: &'c Coverage, changes: &Changes, root: &Path) -> Vec<&'c TestCoverage> {
    let mut places = Vec::new();
    for (path, lines) in changes.before() {
        let is_c = path.extension().is_some_and(|ending| ["c", "h"].iter().any(|it| ending == *it));
        let Some(file) = coverage.files.iter().find(|file| file.path == path) else {
            if is_c {
                let what =
                    format!("no function of {} is known: every test is named", shown(path, root));
                render::diagnostics(&[Diagnostic::warning("tests", what)]);
                return coverage.tests.iter().collect();
            }
            continue;
        };
        for line in lines {
            let around = file.functions.iter().find(|f| (f.start.line..=f.end_line).contains(line));
            places.push(match around {
                Some(function) => {
                    let (first, last) = (function.start.line, function.end_line);
                    LineRange { file: path.to_owned(), first, last }
                }
                None => LineRange { file: path.to_owned(), first: 0, last: u32::MAX },
            });
        }
    }
    coverage.tests.iter().filter(|test| places.iter().any(|place| place.is_of(test))).collect()
}

/// A row for each test: the number of lines that it executed, and of those that no other test did.
fn table(tests: &[TestCoverage]) -> String {
    let mut passed: BTreeMap<(&Path, u32), u32> = BTreeMap::new();
    for place in tests.iter().flat_map(places) {
        *passed.entry(place).or_default() += 1;
    }
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["test", "files", "lines", "lines of it alone"]);
    for test in tests {
        let alone = places(test).filter(|place| passed[place] == 1).count();
        let numbers = [test.files.len(), places(test).count(), alone];
        let mut row = vec![Cell::new(&test.name)];
        row.extend(numbers.map(|n| Cell::new(n).set_alignment(CellAlignment::Right)));
        table.add_row(row);
    }
    table.to_string()
}

/// The lines that a test executed.
fn places(test: &TestCoverage) -> impl Iterator<Item = (&Path, u32)> {
    let files = test.files.iter();
    files.flat_map(|(file, lines)| lines.lines().map(|line| (file.as_path(), line)))
}
