//! Fast starts of programs that run often, compilers above all.
//!
//! A compiler that is linked with large shared libraries spends most of a short run on loading: 20 to
//! 30 ms for clang, whose work on a small file takes five. So the first run of a program makes a fork
//! server of it ([`server`]): a process that is loaded, waits before `main`, and is copied for every
//! run. A copy behaves as a process of its own: it has its own arguments, folder and streams, and its
//! memory is that of a process that has not begun. If there can be no such server, or it is lost,
//! programs are started as usual, so only time depends on it. A server may stay for the next run of
//! Lydian ([`Starter::keeping`]).

mod inherited;
mod server;
mod starter;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

pub use starter::{KEEP_VARIABLE, Starter, finish, prepare};

/// A program to run, with its arguments and streams. All programs run with `LC_ALL=C`, because their
/// messages are parsed.
#[derive(Clone, Debug)]
pub struct Start {
    program: OsString,
    arguments: Vec<OsString>,
    directory: Option<PathBuf>,
    input: bool,
    output: bool,
    last: bool,
}

impl Start {
    /// A program by its path or its name in `PATH`, without arguments, in the current folder, with
    /// empty input and its standard output discarded.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            arguments: Vec::new(),
            directory: None,
            input: false,
            output: false,
            last: false,
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|word| word.as_ref().to_owned()));
        self
    }

    /// Runs in this folder.
    #[must_use]
    pub fn directory(mut self, directory: &Path) -> Self {
        self.directory = Some(directory.to_owned());
        self
    }

    /// Its standard input is written by the caller.
    #[must_use]
    pub const fn piped_input(mut self) -> Self {
        self.input = true;
        self
    }

    /// Its standard output is read by the caller.
    #[must_use]
    pub const fn piped_output(mut self) -> Self {
        self.output = true;
        self
    }

    /// The program will hardly be needed again: its server, if it has one, ends with this run, which
    /// saves a copy. If it has none, none is made.
    #[must_use]
    pub const fn last(mut self) -> Self {
        self.last = true;
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// Those of [`Command::spawn`]: the program or the folder is missing, no process can be made.
    pub fn spawn(&self) -> io::Result<StartedProcess> {
        starter::of_user().spawn(self)
    }

    /// Starts it as an ordinary child.
    fn spawn_by_itself(&self) -> io::Result<StartedProcess> {
        let (ours, theirs) = self.streams()?;
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).env("LC_ALL", "C");
        let [input, output, messages] = theirs;
        command.stdin(Stdio::from(input)).stdout(Stdio::from(output)).stderr(Stdio::from(messages));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Ok(ours.of(Process::Child(command.spawn()?)))
    }

    /// Both ends of the streams: this process's, and the child's standard input, output and error.
    fn streams(&self) -> io::Result<(StreamEnds, [OwnedFd; 3])> {
        let null = || File::options().read(true).write(true).open("/dev/null").map(OwnedFd::from);
        let (input, theirs_in) = match self.input {
            true => io::pipe().map(|(read, write)| (Some(write), read.into()))?,
            false => (None, null()?),
        };
        let (output, theirs_out) = match self.output {
            true => io::pipe().map(|(read, write)| (Some(read), write.into()))?,
            false => (None, null()?),
        };
        let (messages, theirs_messages) = io::pipe()?;
        let ours = StreamEnds { input, output, messages };
        Ok((ours, [theirs_in, theirs_out, theirs_messages.into()]))
    }
}

impl fmt::Display for Start {
    /// Its command line, and the folder in which it runs if that is another one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}", self.program.display())?;
        self.arguments.iter().try_for_each(|word| write!(f, " {}", word.display()))?;
        f.write_str("`")?;
        self.directory.iter().try_for_each(|directory| write!(f, " in {}", directory.display()))
    }
}

/// This process's ends of a child's streams.
struct StreamEnds {
    input: Option<PipeWriter>,
    output: Option<PipeReader>,
    messages: PipeReader,
}

impl StreamEnds {
    fn of(self, process: Process) -> StartedProcess {
        let Self { input, output, messages } = self;
        StartedProcess { input, output, messages, process }
    }
}

/// A running process.
#[derive(Debug)]
pub struct StartedProcess {
    /// Its standard input, if that is to be written.
    pub input: Option<PipeWriter>,
    /// Its standard output, if that is to be read.
    pub output: Option<PipeReader>,
    /// Its standard error.
    pub messages: PipeReader,
    process: Process,
}

#[derive(Debug)]
enum Process {
    /// A child of this process.
    Child(Child),
    /// A copy of a server, which reports its end.
    Copy(PipeReader),
}

impl StartedProcess {
    /// Whether it is a copy of a fork server, or was one.
    pub const fn is_copy(&self) -> bool {
        matches!(self.process, Process::Copy(_))
    }

    /// Waits for its end. Its output must be read to the end before, or not at all.
    ///
    /// # Errors
    /// The system does not tell, or the server of a copy was killed.
    pub fn wait(self) -> io::Result<ExitStatus> {
        let Self { input, output, messages, process } = self;
        drop((input, output, messages));
        match process {
            Process::Child(mut child) => child.wait(),
            Process::Copy(mut told) => number(&mut told).map(ExitStatus::from_raw),
        }
    }
}

/// A number from a server.
fn number(told: &mut PipeReader) -> io::Result<i32> {
    let mut bytes = [0; 4];
    told.read_exact(&mut bytes)?;
    Ok(i32::from_ne_bytes(bytes))
}
