//! Runs of tools with limits of time, memory and text.
//!
//! A tool may start processes of its own, and all of them belong to its process group. When its time is
//! over the whole group ends.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;

use crate::measurement::process_group;

/// The most text of a tool that is read; traces are long.
const MOST_TEXT: u64 = 256 << 20;
/// A script that limits the memory of what it becomes. Its arguments are the limit in KiB, and the command.
const LIMITED: &str = "ulimit -v \"$0\" && exec \"$@\"";

/// The limits of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) time: Duration,
    /// In bytes, for each process.
    pub(super) memory: Option<u64>,
}

/// The end of a run.
#[derive(Debug)]
pub(super) struct Ended {
    /// How the tool ended; none if its time was over or the user stopped it.
    pub(super) status: Option<ExitStatus>,
    pub(super) output: String,
    pub(super) errors: String,
}

impl Ended {
    /// How the tool ended, and the line that tells most, for the user.
    pub(super) fn told(&self) -> String {
        let how = match self.status {
            None => "it was stopped".to_owned(),
            Some(status) => match (status.signal(), status.code()) {
                (Some(signal), _) => format!("it crashed (signal {signal})"),
                (_, Some(code)) => format!("it ended with code {code}"),
                _ => "it ended".to_owned(),
            },
        };
        let lines = self.errors.lines().chain(self.output.lines());
        let line = lines.map(str::trim).find(|line| line.len() > 2);
        match line {
            Some(line) => format!("{how}: {}", line.chars().take(200).collect::<String>()),
            None => format!("{how} and wrote nothing"),
        }
    }
}

/// Runs a program in a folder.
///
/// # Errors
/// The program cannot be started.
pub(super) fn run(
    program: &Path,
    arguments: &[String],
    folder: &Path,
    limits: Limits,
    cancel: &CancelToken,
) -> io::Result<Ended> {
    let mut command = command(program, arguments, limits);
    command.current_dir(folder).env("LC_ALL", "C").process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    thread::scope(|scope| {
        let output = scope.spawn(move || text_of(output));
        let errors = scope.spawn(move || text_of(errors));
        let status = process_group::wait(&mut child, Instant::now() + limits.time, cancel);
        let text = |thread: thread::ScopedJoinHandle<'_, String>| thread.join().unwrap_or_default();
        Ok(Ended { status: status?, output: text(output), errors: text(errors) })
    })
}

fn command(program: &Path, arguments: &[String], limits: Limits) -> Command {
    let Some(bytes) = limits.memory else {
        let mut command = Command::new(program);
        command.args(arguments);
        return command;
    };
    let mut command = Command::new("/bin/sh");
    let kib = OsString::from((bytes / 1024).max(1).to_string());
    command.args([OsString::from("-c"), OsString::from(LIMITED), kib]).arg(program).args(arguments);
    command
}

fn text_of(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let _ = stream.by_ref().take(MOST_TEXT).read_to_end(&mut bytes);
        // A tool that writes more is not to wait for a reader.
        let _ = io::copy(&mut stream, &mut io::sink());
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limits: Limits) -> Ended {
        let arguments = ["-c".to_owned(), script.to_owned()];
        let place = std::env::temp_dir();
        run(Path::new("/bin/sh"), &arguments, &place, limits, &CancelToken::new()).unwrap()
    }

    const ENOUGH: Limits = Limits { time: Duration::from_secs(60), memory: None };

    #[test]
    fn a_tool_that_ends_gives_its_texts_and_its_code() {
        let ended = shell("echo out; echo err >&2; exit 3", ENOUGH);
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("out\n", "err\n"));
        assert_eq!(ended.told(), "it ended with code 3: err");
    }

    #[test]
    fn a_tool_that_hangs_is_stopped_with_all_its_processes() {
        let limits = Limits { time: Duration::from_millis(300), ..ENOUGH };
        let begun = Instant::now();
        // The pipes stay open until the inner shell ends, too.
        let ended = shell("echo begun; sh -c 'sleep 1000' & wait", limits);
        assert!(ended.status.is_none() && begun.elapsed() < Duration::from_secs(100));
        assert_eq!(ended.output, "begun\n");
    }

    #[test]
    fn a_tool_has_no_more_memory_than_its_limit() {
        let limits = Limits { memory: Some(64 << 20), ..ENOUGH };
        let ended = shell("ulimit -v", limits);
        assert_eq!(ended.output.trim(), (64 << 10).to_string());
    }

    #[test]
    fn a_crash_is_told() {
        let ended = shell("kill -SEGV $$", ENOUGH);
        assert_eq!(ended.told(), "it crashed (signal 11) and wrote nothing");
    }
}
