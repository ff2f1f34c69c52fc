//! A process that is written to and read from, neither of which may block the other.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// The most of an answer that is kept, in bytes.
const MOST_TEXT: usize = 1 << 20;

/// The text that a process wrote.
#[derive(Debug)]
pub(super) enum Reply {
    /// Up to the mark.
    Marked(String),
    /// All of it: the process has ended.
    Ended(String),
    /// The time was over.
    Late,
}

impl Reply {
    /// The text, if the process was in time.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Marked(text) | Self::Ended(text) => Some(text),
            Self::Late => None,
        }
    }
}

/// A process. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// Text for its input; none once that is closed.
    input: Option<Sender<String>>,
    /// The lines of its output.
    lines: Receiver<Vec<u8>>,
}

impl Process {
    pub(super) fn start(mut command: Command) -> io::Result<Self> {
        let mut child = command.spawn()?;
        let (input, texts) = channel::<String>();
        let (found, lines) = channel();
        if let Some(mut stdin) = child.stdin.take() {
            thread::spawn(move || {
                for text in texts {
                    if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
        }
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                let mut line = Vec::new();
                // A line without an end is cut.
                while let Ok(1..) =
                    stdout.by_ref().take(MOST_TEXT as u64).read_until(b'\n', &mut line)
                {
                    if found.send(std::mem::take(&mut line)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self { child, input: Some(input), lines })
    }

    /// Writes text, at some time.
    pub(super) fn write(&self, text: String) {
        if let Some(input) = &self.input {
            // Where the process does not read any longer, it is seen that it has ended.
            let _ = input.send(text);
        }
    }

    /// Ends its input.
    pub(super) fn close(&mut self) {
        self.input = None;
    }

    /// The output up to a line with the mark, or all of it.
    pub(super) fn read(&mut self, mark: Option<&str>, time: Duration) -> Reply {
        let end = Instant::now() + time;
        let mut bytes: Vec<u8> = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) if mark.is_some_and(|mark| is_mark(&line, mark)) => {
                    return Reply::Marked(text(&bytes));
                }
                Ok(line) if bytes.len() < MOST_TEXT => bytes.extend(line),
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => return Reply::Ended(text(&bytes)),
                Err(RecvTimeoutError::Timeout) => return Reply::Late,
            }
        }
    }
}

/// Whether a line is the mark, with or without quotes.
fn is_mark(line: &[u8], mark: &str) -> bool {
    String::from_utf8_lossy(line).trim().trim_matches('"') == mark
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
