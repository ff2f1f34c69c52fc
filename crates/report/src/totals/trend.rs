//! The trend of coverage from commit to commit: a file with one line of JSON for each commit.

use lydian_objective::Criterion;
use serde::{Deserialize, Serialize};

use crate::totals::{Percent, Totals};

/// The totals at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrendPoint {
    /// The commit, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Its time, in seconds since 1970.
    pub time: u64,
    /// For each criterion, the numbers of covered objectives and of those that count.
    pub totals: Vec<(Criterion, usize, usize)>,
}

/// The points, in the order of their times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trend {
    /// The points.
    pub points: Vec<TrendPoint>,
}

/// Why a file cannot be read as a trend.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line} is no point of a trend: {why}")]
pub struct BadTrend {
    line: usize,
    why: String,
}

impl TrendPoint {
    /// The point of a report.
    pub fn of(totals: &[Totals], commit: Option<String>, time: u64) -> Self {
        let counted = totals.iter().map(|row| (row.criterion, row.covered, row.denominator()));
        Self { commit, time, totals: counted.collect() }
    }

    /// The coverage of a criterion, if it was measured.
    pub fn percent(&self, criterion: Criterion) -> Option<Percent> {
        let found = self.totals.iter().find(|(own, ..)| *own == criterion)?;
        Some(Percent::of(found.1, found.2))
    }
}

impl Trend {
    /// Reads a file's text.
    ///
    /// # Errors
    /// If a line is no point.
    pub fn read(text: &str) -> Result<Self, BadTrend> {
        let mut trend = Self::default();
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
            let point = serde_json::from_str(line)
                .map_err(|error| BadTrend { line: number, why: error.to_string() })?;
            trend.add(point);
        }
        Ok(trend)
    }

    /// Adds a point. It replaces an earlier one of the same commit.
    pub fn add(&mut self, point: TrendPoint) {
        self.points.retain(|old| old.commit.is_none() || old.commit != point.commit);
        let at = self.points.partition_point(|old| old.time <= point.time);
        self.points.insert(at, point);
    }

    /// The file's text.
    pub fn render(&self) -> String {
        let line = |point| serde_json::to_string(point).expect("names and numbers are valid JSON");
        self.points.iter().map(|point| line(point) + "\n").collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(commit: &str, time: u64, covered: usize) -> TrendPoint {
        let totals = vec![(Criterion::Stmt, covered, 10)];
        TrendPoint { commit: Some(commit.to_owned()), time, totals }
    }

    #[test]
    fn a_commit_is_there_once_and_all_are_in_order_and_read_back() {
        let mut trend = Trend::default();
        let points = [point("b", 2, 5), point("a", 1, 3), point("b", 2, 6)];
        points.into_iter().for_each(|it| trend.add(it));
        assert_eq!(trend.points, [point("a", 1, 3), point("b", 2, 6)]);
        assert_eq!(Trend::read(&trend.render()).unwrap(), trend);
        let bad = Trend::read("\n{\"time\":1}\n").unwrap_err().to_string();
        assert!(bad.starts_with("line 2 is no point"), "{bad}");
    }
}
