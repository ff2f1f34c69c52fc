//! Writing to standard output, and results as JSON.

use std::io::Write as _;
use std::path::Path;

use lydian::files;
use serde::Serialize;

use crate::exit::Failure;

/// Writes results, whose JSON is always valid, to a file.
pub(crate) fn json(path: &Path, results: &impl Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(results).expect("results are valid JSON");
    Ok(files::file(path, &(json + "\n"))?)
}

/// Writes text to standard output. A closed reader (`| head`) is no error.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => {
            Err(Failure::environment("output", format!("cannot write the output: {error}")))
        }
        Ok(()) => Ok(()),
    }
}
