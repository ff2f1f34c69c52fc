//! Missing objectives as annotations of GitHub Actions: commands that a job prints.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::missing::Missing;
use crate::report::Report;

/// The commands, one for each line of the sources with missing objectives. GitHub shows ten notices
/// of a step, so lines with more missing objectives come first.
pub fn render(report: &Report) -> String {
    let all = Missing::all(report);
    let mut lines: BTreeMap<(usize, u32), Vec<&Missing<'_>>> = BTreeMap::new();
    for missing in &all {
        lines.entry((missing.file_index, missing.line())).or_default().push(missing);
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(_, missing)| std::cmp::Reverse(missing.len()));
    let mut out = String::new();
    for ((_, line), missing) in lines {
        let path = property(&report.shown(&missing[0].file.path));
        let messages: Vec<String> = missing.iter().map(|one| one.message()).collect();
        let title = match messages.len() {
            1 => "1 objective is not covered".to_owned(),
            count => format!("{count} objectives are not covered"),
        };
        let _ = writeln!(
            out,
            "::notice file={path},line={line},title={title}::{}",
            data(&messages.join("\n"))
        );
    }
    out
}

/// A message, escaped.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property's value, escaped.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
