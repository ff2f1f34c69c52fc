//! Traces of explorations, one line of JSON for each event.

use std::fs::File;
use std::io::{BufWriter, Error, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lydian::{Event, Observer, TraceEvent};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;
use crate::progress::Terminal;

/// A line of a trace.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct TraceLine {
    /// The function that is explored.
    pub(crate) function: String,
    #[serde(flatten)]
    pub(crate) event: TraceEvent,
    /// The place of the state, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) place: Option<String>,
}

/// Shows events on standard error, and writes those of explorations to a file if requested.
pub(crate) struct Tracing {
    terminal: Terminal,
    file: Option<TraceFile>,
}

struct TraceFile {
    path: PathBuf,
    /// The file, and the first error of writing to it.
    state: Mutex<(BufWriter<File>, Option<Error>)>,
}

impl Tracing {
    /// Creates the file, if there is to be one.
    pub(crate) fn begin(path: Option<&Path>) -> Result<Self, Failure> {
        let file = path.map(|path| {
            let file = File::create(path).map_err(|error| cannot_write(path, &error))?;
            let state = Mutex::new((BufWriter::new(file), None));
            Ok::<_, Failure>(TraceFile { path: path.to_owned(), state })
        });
        Ok(Self { terminal: Terminal::new(), file: file.transpose()? })
    }

    /// Completes the file. A failed write is an error.
    pub(crate) fn end(self) -> Result<(), Failure> {
        let Some(TraceFile { path, state }) = self.file else { return Ok(()) };
        let (mut writer, error) = state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let written = error.map_or_else(|| writer.flush(), Err);
        written.map_err(|error| cannot_write(&path, &error))
    }
}

impl Observer for Tracing {
    fn notice(&self, event: Event<'_>) {
        let (Event::Trace { function, event, place }, Some(file)) = (event, &self.file) else {
            return self.terminal.notice(event);
        };
        let line = TraceLine {
            function: function.to_owned(),
            event: event.clone(),
            place: place.map(str::to_owned),
        };
        let mut state = file.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (writer, error) = &mut *state;
        if error.is_none() {
            let written = serde_json::to_writer(&mut *writer, &line).map_err(Error::from);
            *error = written.and_then(|()| writer.write_all(b"\n")).err();
        }
    }
}

fn cannot_write(path: &Path, error: &Error) -> Failure {
    Failure::environment("trace", format!("cannot write the trace {}: {error}", path.display()))
}
