//! A mutant as a unified diff of the user's file.

use crate::mutant::Mutant;

/// The unchanged lines on either side of the change.
const CONTEXT: usize = 2;

/// A mutant as a unified diff of the file's text. Where a macro makes the changed text, the diff is of
/// the lines as the preprocessor left them, under a heading that says so.
pub fn unified(mutant: &Mutant, file: &str) -> String {
    let path = &mutant.file;
    let heading = format!("--- {path}\n+++ {path} ({}, line {})\n", mutant.name, mutant.start.line);
    match changed_lines(mutant, file) {
        Some((old, new)) => heading + &hunk(file, mutant.start.line as usize, &old, &new),
        None => {
            let old = one_line(&mutant.original);
            let new = one_line(&mutant.replacement);
            let line = mutant.start.line;
            format!("{heading}@@ -{line} +{line} @@ in the expansion of a macro\n-{old}\n+{new}\n")
        }
    }
}

fn one_line(text: &str) -> String {
    crate::text::on_one_line(text)
}

/// The lines that a mutant changes, before and after.
fn changed_lines(mutant: &Mutant, file: &str) -> Option<(Vec<String>, Vec<String>)> {
    if mutant.in_macro {
        return None;
    }
    let (start, end) = (mutant.start, mutant.end);
    let lines: Vec<&str> = file.lines().collect();
    let old: Vec<String> = lines
        .get(start.line as usize - 1..end.line as usize)?
        .iter()
        .map(|line| (*line).to_owned())
        .collect();
    let before = old.first()?.get(..start.column as usize - 1)?;
    let after = old.last()?.get(end.column as usize - 1..)?;
    let new = format!("{before}{}{after}", mutant.replacement);
    Some((old.clone(), new.lines().map(|line| line.trim_end().to_owned()).collect()))
}

fn hunk(file: &str, first: usize, old: &[String], new: &[String]) -> String {
    let lines: Vec<&str> = file.lines().collect();
    let begin = first.saturating_sub(CONTEXT).max(1);
    let behind = first + old.len();
    let end = (behind + CONTEXT - 1).min(lines.len());
    let before = &lines[begin - 1..first - 1];
    let after = lines.get(behind - 1..end).unwrap_or_default();
    let around = before.len() + after.len();
    let mut out =
        format!("@@ -{begin},{} +{begin},{} @@\n", around + old.len(), around + new.len());
    let mut put = |mark: char, line: &str| {
        out.push(mark);
        out.push_str(line);
        out.push('\n');
    };
    before.iter().for_each(|line| put(' ', line));
    old.iter().for_each(|line| put('-', line));
    new.iter().for_each(|line| put('+', line));
    after.iter().for_each(|line| put(' ', line));
    out
}
