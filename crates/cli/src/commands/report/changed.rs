//! The lines of a change, from git or from a diff, and their coverage line by line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;
use std::path::Path;
use std::process::Command;

use lydian_report::Report;
use lydian_report::branches::LineTable;
use lydian_report::coverage::{Coverage, FileCoverage, ObjectiveStatus};
use lydian_report::filters::changes::Changes;

use super::scope::ReportScope;
use crate::exit::Failure;

/// The most lines with missing coverage that are shown.
const MOST_LINES: usize = 200;
/// The most characters of a line that are shown.
const MOST_COLUMNS: usize = 100;

/// The change that the report is limited to, if it is.
pub(in crate::commands) fn read(
    diff: Option<&str>,
    patch: Option<&Path>,
    root: &Path,
) -> Result<Option<Changes>, Failure> {
    match (diff, patch) {
        (Some(revision), _) => of_git(root, revision).map(Some),
        (None, Some(file)) => {
            let mut text = String::new();
            let read = match file.as_os_str() == "-" {
                true => std::io::stdin().read_to_string(&mut text).map(drop),
                false => std::fs::read_to_string(file).map(|found| text = found),
            };
            read.map_err(|error| {
                Failure::environment("patch", format!("cannot read {}: {error}", file.display()))
            })?;
            parse(&text, root, &file.display().to_string()).map(Some)
        }
        (None, None) => Ok(None),
    }
}

fn parse(text: &str, root: &Path, name: &str) -> Result<Changes, Failure> {
    Changes::read(text, root).map_err(|error| {
        Failure::usage("patch", format!("cannot use {name}: {error}"))
            .note("it is to be a unified diff, with paths relative to --root")
    })
}

/// The changes since a commit, for a command that takes no diff.
pub(in crate::commands) fn since(root: &Path, revision: &str) -> Result<Changes, Failure> {
    let words = "--since takes a commit, a branch or a range, as `git diff` does";
    of_git(root, revision).map_err(|failure| noted_alone(failure, words))
}

/// A failure with one note in the place of its own: those of git's name the option of another command.
pub(in crate::commands) fn noted_alone(failure: Failure, note: &str) -> Failure {
    let diagnostics = failure.diagnostics.into_iter().map(|mut diagnostic| {
        diagnostic.notes.clear();
        diagnostic.note(note)
    });
    Failure { diagnostics: diagnostics.collect(), ..failure }
}

/// The changes since a commit, with uncommitted changes and untracked files.
fn of_git(root: &Path, revision: &str) -> Result<Changes, Failure> {
    let top = git(root, &["rev-parse", "--show-toplevel"])?;
    let top = Path::new(top.trim_end_matches('\n'));
    let options = ["diff", "--no-color", "--no-ext-diff", "--unified=0", "--find-renames"];
    let prefixes = ["--src-prefix=a/", "--dst-prefix=b/", "--end-of-options", revision, "--"];
    let text = git(top, &[&options[..], &prefixes[..]].concat())?;
    let mut changes = parse(&text, top, "what `git diff` says")?;
    let new = git(top, &["ls-files", "--others", "--exclude-standard", "-z"])?;
    new.split_terminator('\0').for_each(|name| changes.add_file(top.join(name)));
    Ok(changes)
}

pub(in crate::commands) fn git(folder: &Path, words: &[&str]) -> Result<String, Failure> {
    let ran = Command::new("git").arg("-C").arg(folder).args(words).output();
    let output = ran.map_err(|error| {
        Failure::environment("diff", format!("git cannot be started: {error}"))
            .note("--patch FILE takes a diff that was made elsewhere")
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(Failure::usage("diff", format!("git {}: {said}", words[0]))
            .note("--diff takes a commit, a branch or a range, as `git diff` does"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A warning about changed C files that no build has.
pub(super) fn untold(
    changes: &Changes,
    coverage: &Coverage,
    scope: &ReportScope,
    root: &Path,
) -> Vec<String> {
    let is_known = |path: &Path| {
        let files = coverage.files.iter().map(|file| &file.path);
        let mut all = files.chain(coverage.plain.iter().map(|file| &file.path));
        all.any(|known| known == path)
    };
    let is_c = |path: &Path| path.extension().is_some_and(|ending| ending == "c");
    let touched = changes.files().map(|(path, _)| path);
    let untold = touched.filter(|path| is_c(path) && scope.keeps(path) && !is_known(path));
    let shown = |path: &Path| lydian_report::filters::paths::shown(path, root);
    let tell = |path| format!("{} changed, and no build that was measured has it", shown(path));
    untold.map(tell).collect()
}

/// The changed lines with missing coverage, with their text and the missing objectives.
pub(super) fn lines(report: &Report) -> String {
    let mut out = String::new();
    let mut left = MOST_LINES;
    let mut more = 0;
    for file in &report.coverage.files {
        let lacking = lacking(report, file);
        if lacking.is_empty() {
            continue;
        }
        if left > 0 {
            let _ = writeln!(out, "\n{}", report.shown(&file.path));
        }
        let text = report.text(&file.path, file.changed).ok();
        for (line, lacks) in lacking {
            if left == 0 {
                more += 1;
                continue;
            }
            left -= 1;
            let source = text.and_then(|text| text.line(line)).unwrap_or_default().trim_end();
            let source: String = source.replace('\t', "    ").chars().take(MOST_COLUMNS).collect();
            let _ = writeln!(out, "{line:>7}  {lacks:<20} | {source}");
        }
    }
    if more > 0 {
        let _ = writeln!(out, "and {more} more lines; --html shows all");
    }
    match out.is_empty() {
        true => "\nNothing is missing on the changed lines.\n".to_owned(),
        false => format!("\nChanged lines on which something is missing:\n{out}"),
    }
}

/// The missing objectives on each line.
fn lacking(report: &Report, file: &FileCoverage) -> BTreeMap<u32, String> {
    let table = LineTable::of(file);
    let mut found = BTreeMap::new();
    let objectives = || file.functions.iter().flat_map(|function| &function.objectives);
    let mut lines: Vec<u32> = objectives().map(|objective| objective.start.line).collect();
    lines.extend(table.lines.keys());
    lines.sort_unstable();
    lines.dedup();
    for line in lines {
        if table.lines.get(&line).is_some_and(|line| !line.covered()) {
            found.insert(line, "not run".to_owned());
            continue;
        }
        let mut parts = Vec::new();
        for criterion in &report.coverage.criteria {
            let own = objectives().filter(|it| it.start.line == line && it.criterion == *criterion);
            let counted: Vec<_> = own
                .filter(|it| {
                    !matches!(it.status, ObjectiveStatus::Duplicate | ObjectiveStatus::Excluded(_))
                })
                .collect();
            let covered = counted.iter().filter(|it| it.status == ObjectiveStatus::Covered).count();
            if covered < counted.len() {
                parts.push(format!("{criterion} {covered}/{}", counted.len()));
            }
        }
        if !parts.is_empty() {
            found.insert(line, parts.join(", "));
        }
    }
    found
}
