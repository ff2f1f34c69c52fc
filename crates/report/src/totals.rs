//! Totals: the part of the objectives that is covered, for a function, a file or everything.
//!
//! Coverage is `covered / (objectives - duplicates - excluded)`. An objective that cannot be measured
//! stays in the denominator, since nothing shows that it is covered.

pub mod thresholds;
pub mod trend;

use std::collections::BTreeMap;
use std::fmt;

use lydian_objective::Criterion;
use serde::{Deserialize, Serialize};

use crate::coverage::{
    Coverage, FileCoverage, FunctionCoverage, ObjectiveCoverage, ObjectiveStatus,
};
use crate::report::Report;

/// The counts of one criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// The criterion.
    pub criterion: Criterion,
    /// All objectives.
    pub objectives: usize,
    /// Those that a run covers.
    pub covered: usize,
    /// Those that no run covers.
    pub missing: usize,
    /// Those that are the same as an earlier one of the criterion.
    pub duplicates: usize,
    /// Those that a comment takes out of the count.
    pub excluded: usize,
    /// Those that cannot be measured.
    pub unmeasured: usize,
}

impl Totals {
    /// No objectives of a criterion.
    pub const fn new(criterion: Criterion) -> Self {
        Self {
            criterion,
            objectives: 0,
            covered: 0,
            missing: 0,
            duplicates: 0,
            excluded: 0,
            unmeasured: 0,
        }
    }

    /// The number of objectives that count.
    pub const fn denominator(&self) -> usize {
        self.objectives - self.duplicates - self.excluded
    }

    /// The part that is covered, from 0 to 1; 1 where nothing counts.
    pub fn coverage(&self) -> f64 {
        match self.denominator() {
            0 => 1.0,
            denominator => self.covered as f64 / denominator as f64,
        }
    }

    /// The coverage for people. It is rounded down, so that only full coverage reads 100.0%.
    pub fn percent(&self) -> Percent {
        Percent::of(self.covered, self.denominator())
    }

    /// Whether at least this percentage is covered.
    pub fn reaches(&self, percent: f64) -> bool {
        self.coverage() * 100.0 >= percent
    }

    /// Counts one more objective.
    fn add(&mut self, status: &ObjectiveStatus) {
        self.objectives += 1;
        *match status {
            ObjectiveStatus::Covered => &mut self.covered,
            ObjectiveStatus::Missing => &mut self.missing,
            ObjectiveStatus::Duplicate => &mut self.duplicates,
            ObjectiveStatus::Excluded(_) => &mut self.excluded,
            ObjectiveStatus::Unmeasured(_) => &mut self.unmeasured,
        } += 1;
    }
}

/// A part in tenths of a percent, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent(u32);

impl Percent {
    /// `part` of `whole`; everything of nothing.
    pub fn of(part: usize, whole: usize) -> Self {
        let tenths = match whole {
            0 => 1000,
            whole => (part as u128 * 1000 / whole as u128) as u32,
        };
        Self(tenths)
    }

    /// In tenths of a percent.
    pub const fn tenths(self) -> u32 {
        self.0
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}%", self.0 / 10, self.0 % 10)
    }
}

/// The counts of objectives for each of the criteria, in their order.
pub fn count<'a>(
    criteria: &[Criterion],
    objectives: impl Iterator<Item = &'a ObjectiveCoverage>,
) -> Vec<Totals> {
    let mut totals: Vec<Totals> = criteria.iter().copied().map(Totals::new).collect();
    for objective in objectives {
        if let Some(row) = totals.iter_mut().find(|row| row.criterion == objective.criterion) {
            row.add(&objective.status);
        }
    }
    totals
}

/// The counts of every folder with files in it or below it, by the folder's path as it is shown.
pub fn of_folders(report: &Report) -> BTreeMap<String, Vec<Totals>> {
    let mut files: BTreeMap<String, Vec<&FileCoverage>> = BTreeMap::new();
    for file in &report.coverage.files {
        let shown = report.shown(&file.path);
        let folders = shown.match_indices('/').map(|(at, _)| &shown[..=at]);
        folders.for_each(|folder| files.entry(folder.to_owned()).or_default().push(file));
    }
    let of = |(folder, files): (String, Vec<&FileCoverage>)| {
        let functions = files.iter().flat_map(|file| &file.functions);
        let all = functions.flat_map(|function| &function.objectives);
        (folder, count(&report.coverage.criteria, all))
    };
    files.into_iter().map(of).collect()
}

impl FunctionCoverage {
    /// The counts of the function.
    pub fn totals(&self, criteria: &[Criterion]) -> Vec<Totals> {
        count(criteria, self.objectives.iter())
    }
}

impl FileCoverage {
    /// The counts of the file.
    pub fn totals(&self, criteria: &[Criterion]) -> Vec<Totals> {
        count(criteria, self.functions.iter().flat_map(|function| &function.objectives))
    }
}

impl Coverage {
    /// The counts of everything.
    pub fn totals(&self) -> Vec<Totals> {
        let functions = self.files.iter().flat_map(|file| &file.functions);
        count(&self.criteria, functions.flat_map(|function| &function.objectives))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_is_rounded_down_and_nothing_is_wholly_covered() {
        assert_eq!(Percent::of(1999, 2000).to_string(), "99.9%");
        assert_eq!(Percent::of(1, 3).to_string(), "33.3%");
        assert_eq!(Percent::of(0, 0).to_string(), "100.0%");
    }

    #[test]
    fn what_cannot_be_measured_counts_as_not_covered() {
        let mut row = Totals::new(Criterion::Dc);
        row.add(&ObjectiveStatus::Covered);
        row.add(&ObjectiveStatus::Unmeasured("too wide".into()));
        row.add(&ObjectiveStatus::Duplicate);
        row.add(&ObjectiveStatus::Excluded(None));
        assert_eq!(row.denominator(), 2);
        assert_eq!(row.coverage(), 0.5);
        assert!(row.reaches(50.0) && !row.reaches(50.1));
    }
}
