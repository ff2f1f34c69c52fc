//! Log messages about Lydian's own work, written to standard error on request.
//!
//! All crates log with the crate `log`; only this module installs a logger.

use std::io::Write as _;
use std::time::Instant;

use env_filter::{Builder, FilteredLog};
use log::{Log, Metadata, Record};

use crate::exit::Failure;

/// The environment variable with the filter.
const VARIABLE: &str = "LYDIAN_LOG";

/// Installs a logger with a filter: that of the option `--log`, else that of the environment. Without
/// either nothing is written or formatted.
pub(crate) fn install(option: Option<&str>) -> Result<(), Failure> {
    let variable = std::env::var(VARIABLE).ok();
    let asked = option.or(variable.as_deref()).unwrap_or_default();
    if asked.trim().is_empty() {
        return Ok(());
    }
    let mut builder = Builder::new();
    builder.try_parse(asked).map_err(|error| {
        let failure = Failure::usage("log", error.to_string());
        failure.note("a filter is a level, or CRATE=LEVEL with commas: `info,lydian_symex=debug`")
    })?;
    let filter = builder.build();
    let level = filter.filter();
    let logger = FilteredLog::new(Lines { begun: Instant::now() }, filter);
    // This is the only logger, so installing it cannot fail.
    if log::set_boxed_logger(Box::new(logger)).is_ok() {
        log::set_max_level(level);
    }
    Ok(())
}

/// A logger that writes a line for each record: the seconds since the start, the level, the module and
/// the message.
struct Lines {
    begun: Instant,
}

impl Log for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        let (seconds, level) = (self.begun.elapsed().as_secs_f64(), record.level());
        let line = format!("[{seconds:9.3} {level:5} {}] {}\n", record.target(), record.args());
        // A closed standard error is no reason to stop.
        let _ = std::io::stderr().lock().write_all(line.as_bytes());
    }

    fn flush(&self) {}
}
