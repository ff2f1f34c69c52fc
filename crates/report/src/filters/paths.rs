//! Path filters: the files that a report is limited to, as its user names them.

use std::path::Path;
use std::str::FromStr;

use globset::{Glob, GlobMatcher};

use crate::coverage::Coverage;

/// Files by their paths relative to the report's root: a file, a folder with all that is below it, or a
/// pattern in which `*` stands for any characters, `/` among them.
#[derive(Clone, Debug)]
pub enum PathPattern {
    /// A file or folder.
    Plain(String),
    /// With `*`, `?`, `[…]` or `{…}`.
    Glob(GlobMatcher),
}

impl FromStr for PathPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.contains(['*', '?', '[', '{']) {
            let glob = Glob::new(text).map_err(|error| error.to_string())?;
            return Ok(Self::Glob(glob.compile_matcher()));
        }
        let path = text.trim_start_matches("./").trim_end_matches('/');
        match path.is_empty() {
            true => Err("it names no file or folder".to_owned()),
            false => Ok(Self::Plain(if path == "." { String::new() } else { path.to_owned() })),
        }
    }
}

impl PathPattern {
    /// Whether it matches a file.
    pub fn matches(&self, shown: &str) -> bool {
        match self {
            Self::Plain(path) if path.is_empty() => true,
            Self::Plain(path) => {
                let rest = shown.strip_prefix(path.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            Self::Glob(glob) => glob.is_match(shown),
        }
    }
}

/// The files that a report is limited to.
#[derive(Clone, Debug, Default)]
pub struct PathFilter {
    /// If there are any, only files that one of these matches.
    pub include: Vec<PathPattern>,
    /// No files that one of these matches.
    pub exclude: Vec<PathPattern>,
}

impl PathFilter {
    /// Whether a file belongs to the report.
    pub fn keeps(&self, shown: &str) -> bool {
        let one = |patterns: &[PathPattern]| patterns.iter().any(|pattern| pattern.matches(shown));
        (self.include.is_empty() || one(&self.include)) && !one(&self.exclude)
    }

    /// Removes the files from a coverage that do not belong to the report. Returns their number.
    pub fn apply(&self, coverage: &mut Coverage, root: &Path) -> usize {
        let keeps = |path: &Path| self.keeps(&shown(path, root));
        let before = coverage.files.len() + coverage.plain.len();
        coverage.files.retain(|file| keeps(&file.path));
        coverage.plain.retain(|file| keeps(&file.path));
        before - coverage.files.len() - coverage.plain.len()
    }
}

/// A path as reports show it: relative to their root, where it is below.
pub fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(include: &[&str], exclude: &[&str], path: &str) -> bool {
        let read = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        PathFilter { include: read(include), exclude: read(exclude) }.keeps(path)
    }

    #[test]
    fn a_folder_stands_for_all_that_is_below_it_and_for_nothing_else() {
        assert!(keeps(&["src"], &[], "src/a.c") && keeps(&["./src/"], &[], "src/deep/a.c"));
        assert!(!keeps(&["src"], &[], "src2/a.c") && !keeps(&["src"], &[], "lib/src/a.c"));
        assert!(keeps(&["."], &["src/a.c"], "src/b.c") && !keeps(&[], &["src/a.c"], "src/a.c"));
    }

    #[test]
    fn a_pattern_stands_for_whole_paths() {
        assert!(keeps(&["*/test_*.c"], &[], "src/deep/test_a.c"));
        assert!(!keeps(&["*.h"], &[], "a.c") && !keeps(&[], &["{tests,demo}/*"], "demo/x/a.c"));
        assert!("[".parse::<PathPattern>().is_err() && "./".parse::<PathPattern>().is_err());
    }
}
