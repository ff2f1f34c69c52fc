//! The file with the totals of each commit.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use lydian::files;
use lydian_report::Report;
use lydian_report::totals::trend::{Trend, TrendPoint};

use super::changed::git;
use crate::exit::Failure;

/// Adds the report's totals to a file, which may be new. Returns its whole contents.
pub(super) fn add(path: &Path, report: &Report) -> Result<Trend, Failure> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let message = format!("cannot read {}: {error}", path.display());
            return Err(Failure::environment("trend", message));
        }
    };
    let mut trend = Trend::read(&text).map_err(|error| {
        Failure::usage("trend", format!("cannot use {}: {error}", path.display()))
    })?;
    let (commit, time) = commit(&report.root);
    trend.add(TrendPoint::of(&report.coverage.totals(), commit, time));
    files::file(path, &trend.render())?;
    Ok(trend)
}

/// The checked-out commit and its time; the present time if there is none.
fn commit(root: &Path) -> (Option<String>, u64) {
    let found = git(root, &["log", "-1", "--format=%H %ct"]).ok();
    let found = found.as_deref().and_then(|text| text.trim().split_once(' '));
    let known = found.and_then(|(commit, time)| Some((commit.to_owned(), time.parse().ok()?)));
    match known {
        Some((commit, time)) => (Some(commit), time),
        None => (None, SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |it| it.as_secs())),
    }
}
