//! Writing to standard output.

use std::io::Write as _;

use crate::exit::Failure;

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
