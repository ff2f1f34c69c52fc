//! Checks certificates without the rest of Lydian:
//!
//! ```text
//! cargo run --release -p lydian-check --example check_certificates -- SECONDS FILE...
//! ```

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use lydian_check::{Document, Outcome, Solver, check};

fn main() -> std::io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(20);
    let solver = Solver::find(None, Duration::from_secs(seconds)).map_err(std::io::Error::other)?;
    let mut out = std::io::stdout();
    for file in arguments {
        let document = Document::read(Path::new(&file)).map_err(std::io::Error::other)?;
        let report = check(&document, &solver).map_err(std::io::Error::other)?;
        let outcome = match report.outcome {
            Outcome::Checked => "stands".to_owned(),
            Outcome::Refuted { condition, .. } => format!("is false: {condition}"),
            Outcome::Open { condition, reason } => format!("is not decided: {condition}: {reason}"),
            Outcome::IllFormed(what) => format!("is ill-formed: {what}"),
        };
        let (conditions, time) = (report.conditions, report.time.as_secs_f64());
        writeln!(out, "{file} {outcome} ({conditions} conditions, {time:.2} s)")?;
    }
    Ok(())
}
