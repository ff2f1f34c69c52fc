//! Changes: the lines of a unified diff, to which a coverage can be limited.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::coverage::{Coverage, DecisionCoverage, FunctionCoverage, LineRanges, SwitchCoverage};

/// The lines that a change added or gave another text, by file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    files: BTreeMap<PathBuf, LineRanges>,
    /// The lines of the files before the change that it removed, and those around the added lines.
    before: BTreeMap<PathBuf, BTreeSet<u32>>,
}

/// Why a text cannot be read as a diff.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadDiff {
    /// Lines outside of hunks.
    #[error("line {0} of the diff is no header of a hunk, `@@ -A,B +C,D @@`")]
    Hunk(usize),
    /// A hunk without a file.
    #[error("line {0} of the diff has a hunk before the name of a file, `+++ b/…`")]
    File(usize),
    /// It ends within a hunk.
    #[error("the diff ends within a hunk")]
    End,
}

/// The rest of a hunk, in lines.
struct Hunk {
    /// The next line of the new file.
    next: u32,
    /// The next line of the old one.
    next_old: u32,
    old: u32,
    new: u32,
}

impl Changes {
    /// Reads a unified diff, as `git diff` and `diff -u` write it. Paths are relative to `root`,
    /// after their `b/` if they have one.
    ///
    /// # Errors
    /// If the text is no unified diff.
    pub fn read(diff: &str, root: &Path) -> Result<Self, BadDiff> {
        let mut changes = Self::default();
        let mut file: Option<PathBuf> = None;
        let mut old_file: Option<PathBuf> = None;
        let mut hunk: Option<Hunk> = None;
        let mut added: Vec<u32> = Vec::new();
        let mut removed: BTreeSet<u32> = BTreeSet::new();
        for (number, line) in (1..).zip(diff.lines()) {
            if let Some(open) = &mut hunk {
                match line.as_bytes().first() {
                    Some(b'+') => {
                        added.push(open.next);
                        removed.extend([open.next_old.saturating_sub(1), open.next_old]);
                        open.next = open.next.saturating_add(1);
                        open.new = open.new.saturating_sub(1);
                    }
                    Some(b'-') => {
                        removed.insert(open.next_old);
                        open.next_old = open.next_old.saturating_add(1);
                        open.old = open.old.saturating_sub(1);
                    }
                    // It marks a file whose last line has no end.
                    Some(b'\\') => {}
                    _ => {
                        open.next = open.next.saturating_add(1);
                        open.next_old = open.next_old.saturating_add(1);
                        open.new = open.new.saturating_sub(1);
                        open.old = open.old.saturating_sub(1);
                    }
                }
                if open.old == 0 && open.new == 0 {
                    hunk = None;
                    let lines = std::mem::take(&mut added);
                    changes.add(file.as_ref().ok_or(BadDiff::File(number))?, lines);
                    if let Some(old) = &old_file {
                        changes.before.entry(old.clone()).or_default().append(&mut removed);
                    }
                    removed.clear();
                }
            } else if let Some(name) = line.strip_prefix("--- ") {
                old_file = Some(root.join(path(name, "a/"))).filter(|_| name != "/dev/null");
            } else if let Some(name) = line.strip_prefix("+++ ") {
                file = Some(root.join(path(name, "b/")));
            } else if line.starts_with("@@") {
                let open = header(line).ok_or(BadDiff::Hunk(number))?;
                if file.is_none() {
                    return Err(BadDiff::File(number));
                }
                hunk = Some(open).filter(|open| open.old > 0 || open.new > 0);
            }
        }
        if hunk.is_some() { Err(BadDiff::End) } else { Ok(changes) }
    }

    fn add(&mut self, file: &Path, lines: Vec<u32>) {
        if !lines.is_empty() {
            let ranges = LineRanges::of(lines);
            let found = self.files.entry(file.to_owned()).or_default();
            // Hunks come in order.
            found.0.extend(ranges.0);
        }
    }

    /// Adds a whole file.
    pub fn add_file(&mut self, file: PathBuf) {
        self.files.insert(file, LineRanges(vec![(1, u32::MAX)]));
    }

    /// The files before the change, with the lines that it touches.
    pub fn before(&self) -> impl Iterator<Item = (&Path, &BTreeSet<u32>)> {
        self.before.iter().map(|(path, lines)| (path.as_path(), lines))
    }

    /// The files with their lines.
    pub fn files(&self) -> impl Iterator<Item = (&Path, &LineRanges)> {
        self.files.iter().map(|(path, lines)| (path.as_path(), lines))
    }

    /// Limits a coverage to the items that begin on lines of the change. A decision counts if it or
    /// one of its conditions begins on one of them, a switch if it or one of its labels does, a pair
    /// of a definition and a use if the use does. Files without such items are removed; files that
    /// are not measured stay if the change touches them.
    pub fn limit(&self, coverage: &mut Coverage) {
        let none = LineRanges::default();
        for file in &mut coverage.files {
            let lines = self.files.get(&file.path).unwrap_or(&none);
            file.functions.iter_mut().for_each(|function| limit(function, lines));
            file.functions.retain(|function| !is_empty(function));
        }
        coverage.files.retain(|file| !file.functions.is_empty());
        coverage.plain.retain(|file| self.files.contains_key(&file.path));
    }
}

/// The path after `+++ ` or `--- `, without the additions of `diff`.
fn path(name: &str, side: &str) -> String {
    let name = name.split('\t').next().unwrap_or(name).trim_end_matches('\r');
    let name = match name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => unquoted(quoted),
        None => name.to_owned(),
    };
    name.strip_prefix(side).unwrap_or(&name).to_owned()
}

/// A path that git has quoted as C does.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        match rest.next() {
            Some(digit @ b'0'..=b'3') => {
                let mut value = digit - b'0';
                // Three digits are a byte. A fourth one is a character of the name.
                for _ in 0..2 {
                    let digit = rest.next_if(|byte| (b'0'..=b'7').contains(byte));
                    value = digit.map_or(value, |digit| value * 8 + (digit - b'0'));
                }
                bytes.push(value);
            }
            Some(b't') => bytes.push(b'\t'),
            Some(b'n') => bytes.push(b'\n'),
            Some(b'r') => bytes.push(b'\r'),
            Some(other) => bytes.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Reads `@@ -3,2 +3,4 @@`; a count that is not there is 1.
fn header(line: &str) -> Option<Hunk> {
    let ranges = line.strip_prefix("@@ -")?.split(" @@").next()?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| -> Option<(u32, u32)> {
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Some((start.parse().ok()?, count.parse().ok()?))
    };
    let ((start, old), (next, new)) = (range(old)?, range(new)?);
    // Text that is added after a line has the number of that line.
    let next_old = if old == 0 { start.saturating_add(1) } else { start };
    Some(Hunk { next, next_old, old, new })
}

/// Keeps the items that begin on the lines.
fn limit(function: &mut FunctionCoverage, lines: &LineRanges) {
    let has = |line: u32| lines.contains(line);
    if !has(function.start.line) {
        function.entered = None;
        function.part = true;
    }
    function.lines.retain(|line| has(line.line));
    let of_decision = |decision: &DecisionCoverage| {
        let conditions = decision.conditions.iter().map(|condition| condition.start.line);
        has(decision.start.line) || conditions.into_iter().any(has)
    };
    let of_switch = |switch: &SwitchCoverage| {
        has(switch.start.line) || switch.ways.iter().any(|way| has(way.start.line))
    };
    // The new positions of the decisions that stay.
    let mut places = Vec::new();
    let mut count = 0;
    function.decisions.retain(|decision| {
        let stays = of_decision(decision);
        places.push(stays.then_some(count));
        count += u32::from(stays);
        stays
    });
    function.switches.retain(of_switch);
    function.objectives.retain(|objective| has(objective.start.line));
    for objective in &mut function.objectives {
        let place = |old: u32| places.get(old as usize).copied().flatten();
        objective.decision = objective.decision.and_then(place);
    }
    function.def_uses.retain(|pair| has(pair.usage.line));
}

fn is_empty(function: &FunctionCoverage) -> bool {
    function.entered.is_none()
        && function.lines.is_empty()
        && function.decisions.is_empty()
        && function.switches.is_empty()
        && function.objectives.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(diff: &str, file: &str) -> Vec<(u32, u32)> {
        let changes = Changes::read(diff, Path::new("/p")).unwrap();
        changes.files.get(Path::new(file)).map_or_else(Vec::new, |ranges| ranges.0.clone())
    }

    const DIFF: &str = "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n\
                        @@ -3,0 +4,2 @@ int f(void) {\n+    one();\n+    two();\n\
                        @@ -10,2 +12 @@\n-    old();\n---x;\n+++x;\n\
                        @@ -20,3 +21,0 @@\n-a\n-b\n-c\n\
                        diff --git a/gone.c b/gone.c\n--- a/gone.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-int x;\n\
                        --- a/t.c\t2026-01-01\n+++ \"b/\\303\\244 \\\"t.c\"\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n\
                        \\ No newline at end of file\n";

    #[test]
    fn added_and_changed_lines_are_found_with_their_files() {
        assert_eq!(lines(DIFF, "/p/src/a.c"), [(4, 5), (12, 12)]);
        assert_eq!(lines(DIFF, "/p/ä \"t.c"), [(2, 2)]);
        let changes = Changes::read(DIFF, Path::new("/p")).unwrap();
        assert_eq!(changes.files.len(), 2);
        let before = |file: &str| Vec::from_iter(changes.before[Path::new(file)].iter().copied());
        assert_eq!(before("/p/src/a.c"), [3, 4, 10, 11, 12, 20, 21, 22]);
        assert_eq!((before("/p/gone.c"), before("/p/t.c")), (vec![1], vec![2, 3]));
    }

    #[test]
    fn numbers_at_the_limit_and_digits_behind_a_quoted_byte_are_read() {
        let text = "+++ \"b/\\30312.c\"\n@@ -4294967295,2 +4294967295,2 @@\n-a\n-b\n+c\n+d\n";
        let changes = Changes::read(text, Path::new("/p")).unwrap();
        let (path, _) = changes.files().next().unwrap();
        assert_eq!(path, Path::new("/p/\u{fffd}12.c"));
    }

    #[test]
    fn what_is_no_diff_is_told_with_its_line() {
        let read = |text: &str| Changes::read(text, Path::new("/p")).unwrap_err();
        assert_eq!(read("+++ b/a.c\n@@ -1 +x @@\n"), BadDiff::Hunk(2));
        assert_eq!(read("@@ -1 +1 @@\n-a\n+b\n"), BadDiff::File(1));
        assert_eq!(read("+++ b/a.c\n@@ -1,2 +1,2 @@\n a\n"), BadDiff::End);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([-+ @\\\\]{1,3}[ab/,0-9 \"]{0,9}\n){0,12}") {
            let _ = Changes::read(&text, Path::new("/p"));
        }

        /// A diff is written from the lines that are to be found.
        #[test]
        fn the_lines_of_a_written_diff_are_found(
            hunks in prop::collection::vec((1u32..9, 0u32..4, 1u32..5), 1..6)
        ) {
            let (mut text, mut expected) = ("+++ b/a.c\n".to_owned(), Vec::new());
            let (mut old, mut new) = (1, 1);
            for (between, gone, come) in hunks {
                old += between;
                new += between;
                text += &format!("@@ -{old},{gone} +{new},{come} @@\n");
                text += &"-x\n".repeat(gone as usize);
                text += &"+y\n".repeat(come as usize);
                expected.extend(new..new + come);
                (old, new) = (old + gone, new + come);
            }
            let changes = Changes::read(&text, Path::new("/p")).unwrap();
            let ranges = &changes.files[Path::new("/p/a.c")];
            let last = expected.iter().max().unwrap() + 3;
            let found: Vec<u32> = (0..last).filter(|line| ranges.contains(*line)).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
