//! Options about an outside checker.

use clap::Args;
use lydian::Checker;

use super::seconds;

/// An outside checker, and its limits.
#[derive(Debug, Args)]
pub(crate) struct CheckerArgs {
    /// Ask another tool about what stays unknown: cbmc, esbmc or cpachecker, by name or path, or a
    /// command with places, such as `tool --timeout {time} {file}`
    #[arg(long, value_name = "TOOL")]
    pub(crate) checker: Option<Checker>,
    /// Seconds of the tool for each question
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = seconds, requires = "checker", allow_negative_numbers = true)]
    pub(crate) checker_time: f64,
    /// Megabytes of memory of the tool
    #[arg(long, value_name = "MB", requires = "checker")]
    pub(crate) checker_memory: Option<u64>,
    /// How often the tool unwinds loops [default: more and more often, as long as there is time]
    #[arg(long, value_name = "N", requires = "checker")]
    pub(crate) unwind: Option<u32>,
    /// Ask the tool about everything, and compare the answers
    #[arg(long, requires = "checker")]
    pub(crate) cross_check: bool,
}
