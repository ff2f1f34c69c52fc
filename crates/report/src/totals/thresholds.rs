//! Thresholds: the least coverage of everything, of a folder, or of each file.

use std::path::Path;
use std::str::FromStr;

use lydian_objective::Criterion;

use crate::coverage::{FileCoverage, ObjectiveStatus};
use crate::filters::paths::{PathPattern, shown};
use crate::report::Report;
use crate::totals::{Totals, count};

/// `mcdc=90`, `src/crypto:mcdc=100`, `src/*.c:stmt=75`.
#[derive(Clone, Debug)]
pub struct Threshold {
    /// For a file or folder, its total; for a pattern, each file; without a path, the total of
    /// everything.
    of: Option<(String, PathPattern)>,
    /// The criterion.
    pub criterion: Criterion,
    /// From 0 to 100.
    percent: f64,
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = "it is written CRITERION=PERCENT, or PATH:CRITERION=PERCENT";
        let (what, percent) = text.rsplit_once('=').ok_or(form)?;
        let (of, name) = match what.rsplit_once(':') {
            Some((path, name)) => (Some((path.to_owned(), path.parse()?)), name),
            None => (None, what),
        };
        let criterion = name.trim().parse().map_err(|error| format!("{error}"))?;
        let number = percent.trim().trim_end_matches('%');
        let percent: f64 = number.parse().map_err(|_| format!("{percent} is no number"))?;
        match (0.0..=100.0).contains(&percent) {
            true => Ok(Self { of, criterion, percent }),
            false => Err("a percentage is from 0 to 100".into()),
        }
    }
}

/// The result of a threshold on a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThresholdResult {
    /// The totals below the threshold, as sentences.
    pub below: Vec<String>,
    /// The functions for which the criterion is not measured, though no comment excuses that, with
    /// place and reason. They are in no figure.
    pub unmeasured: Vec<String>,
    /// The files that are not measured at all, with the reason.
    pub plain: Vec<String>,
}

impl Threshold {
    /// Its path, relative to `base`, if it matches no file of the report.
    pub fn of_nothing(&self, report: &Report, base: &Path) -> Option<&str> {
        let (path, _) = self.of.as_ref()?;
        let files = report.coverage.files.iter().map(|file| &file.path);
        let plain = report.coverage.plain.iter().map(|file| &file.path);
        let mut all = files.chain(plain);
        (!all.any(|file| self.is_about(file, base))).then_some(path.as_str())
    }

    fn is_about(&self, file: &Path, base: &Path) -> bool {
        self.of.as_ref().is_none_or(|(_, pattern)| pattern.matches(&shown(file, base)))
    }

    /// Judges a report. The threshold's path is relative to `base`. A criterion that was not
    /// measured, and a path without files, count as reached.
    pub fn judge(&self, report: &Report, base: &Path) -> ThresholdResult {
        let about = |file: &&FileCoverage| self.is_about(&file.path, base);
        let files: Vec<&FileCoverage> = report.coverage.files.iter().filter(about).collect();
        let each = matches!(self.of, Some((_, PathPattern::Glob(_))));
        let parts: Vec<(String, Vec<&FileCoverage>)> = match &self.of {
            None => vec![(String::new(), files.clone())],
            Some(_) if each => {
                let one = |file: &&'_ FileCoverage| format!(" of {}", report.shown(&file.path));
                files.iter().map(|file| (one(file), vec![*file])).collect()
            }
            Some((path, _)) => vec![(format!(" of {path}"), files.clone())],
        };
        let below = parts.iter().filter_map(|(name, files)| self.below(name, files));
        let plain = report.coverage.plain.iter();
        let plain = plain.filter(|file| self.is_about(&file.path, base));
        let plain = plain.map(|file| (report.shown(&file.path), file));
        ThresholdResult {
            below: below.collect(),
            unmeasured: files.iter().flat_map(|file| self.unmeasured(report, file)).collect(),
            plain: plain.map(|(shown, file)| format!("{shown}: {}", file.reason)).collect(),
        }
    }

    fn below(&self, name: &str, files: &[&FileCoverage]) -> Option<String> {
        let functions = files.iter().flat_map(|file| &file.functions);
        let objectives = functions.flat_map(|function| &function.objectives);
        let row: Totals = *count(&[self.criterion], objectives).first()?;
        let (criterion, percent) = (self.criterion, self.percent);
        let (covered, all) = (row.covered, row.denominator());
        let is = row.percent();
        (!row.reaches(percent)).then(|| {
            format!("{criterion}{name} is covered to {is} ({covered} of {all}), not {percent}%")
        })
    }

    fn unmeasured(&self, report: &Report, file: &FileCoverage) -> Vec<String> {
        let mut found = Vec::new();
        for function in &file.functions {
            for objective in &function.objectives {
                if let ObjectiveStatus::Unmeasured(why) = &objective.status
                    && objective.criterion == self.criterion
                    && objective.is_whole_function()
                {
                    let (shown, line) = (report.shown(&file.path), function.start.line);
                    found.push(format!("`{}` ({shown}:{line}): {why}", function.name));
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_read_with_or_without_a_path() {
        let read = |text: &str| text.parse::<Threshold>();
        let of = |text: &str| read(text).unwrap().of.map(|(path, _)| path);
        assert_eq!(of("mcdc=90"), None);
        assert_eq!(of("src/a.c:mcdc=90.5%").as_deref(), Some("src/a.c"));
        assert!(matches!(read("s*:dc=1").unwrap().of, Some((_, PathPattern::Glob(_)))));
        for bad in ["mcdc", "mcdc=101", "mcdc=x", "none=3", ":mcdc=3"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
