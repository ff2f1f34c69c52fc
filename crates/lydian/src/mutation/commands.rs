//! Tests as commands, and their runs with limits of time.
//!
//! A test is a process group of its own. When it has ended or its time is over, the whole group is
//! killed, so that a mutant that forks leaves nothing.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lydian_base::{CancelToken, Diagnostic};
use lydian_mutate::results::Failure;
use lydian_mutate::{CASE_VARIABLE, MUTANT_VARIABLE, RECORD_VARIABLE, SERVER_VARIABLE};

use super::serving::PlainStart;
use crate::error::{Error, ErrorKind};
use crate::measurement::process_group;

/// The time of a test without a mutant.
const LONGEST: Duration = Duration::from_secs(3600);
/// The begin of the names of the functions that run a test of a suite.
pub(crate) const CASE_FUNCTION: &str = "lydian_case_";
/// The first bytes of a compiled program.
pub(crate) const PROGRAM: &[u8; 4] = b"\x7fELF";
/// The last lines of a failing command that are shown.
const LINES: usize = 8;

/// A test.
#[derive(Clone, Debug)]
pub(crate) struct TestCommand {
    pub(crate) name: String,
    program: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// The run of a test.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TestRun {
    /// Its failure; none if it passed.
    pub(crate) failure: Option<Failure>,
    pub(crate) time: Duration,
}

impl TestCommand {
    /// A program with one argument.
    pub(crate) fn program(name: &str, program: PathBuf) -> Self {
        let arguments = vec![name.to_owned()];
        Self { name: name.to_owned(), program, arguments, variables: Vec::new() }
    }

    /// The function in which it begins, if it runs one test of a suite; a command of a shell may begin
    /// anywhere.
    pub(crate) fn root(&self) -> Option<String> {
        self.is_of_suite().then(|| format!("{CASE_FUNCTION}{}", self.name))
    }

    /// What tests with the same server have in common.
    pub(crate) fn server_key(&self) -> String {
        if self.is_of_suite() { self.program.display().to_string() } else { self.name.clone() }
    }

    /// The program that can serve it, if it only starts one, and the server's command. The program of a
    /// suite takes a test's name from the environment, too.
    pub(crate) fn served(&self) -> Option<(PathBuf, Command)> {
        if self.is_of_suite() {
            let command = Self { arguments: Vec::new(), ..self.clone() }.command(None);
            return Some((self.program.clone(), command));
        }
        let PlainStart { program, command } = PlainStart::of(&self.name)?;
        let arguments = vec!["-c".to_owned(), command];
        Some((program, Self { arguments, ..self.clone() }.command(None)))
    }

    fn is_of_suite(&self) -> bool {
        self.arguments.len() == 1
    }

    /// A hash of the scripts and other files that its command names. Programs are left out, as what they do
    /// follows from their units and a build makes them anew, and so are files that the command writes.
    pub(crate) fn scripts(&self) -> String {
        let mut hash = blake3::Hasher::new();
        for command in &self.arguments {
            for word in read_words(command) {
                hash.update(word.as_bytes());
                hash.update(script_hash(Path::new(word)).as_bytes());
            }
        }
        hash.finalize().to_hex().to_string()
    }

    /// A command of a shell.
    pub(crate) fn shell(command: &str, variables: &[(&'static str, String)]) -> Self {
        Self {
            name: command.to_owned(),
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), command.to_owned()],
            variables: variables.to_vec(),
        }
    }

    /// The command, with a variable more.
    fn command(&self, variable: Option<(&str, &str)>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).process_group(0).stdin(Stdio::null());
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        for name in [MUTANT_VARIABLE, RECORD_VARIABLE, SERVER_VARIABLE, CASE_VARIABLE] {
            command.env_remove(name);
        }
        command.envs(variable);
        command
    }

    /// Runs it with a variable of the environment.
    ///
    /// # Errors
    /// It cannot be started.
    pub(crate) fn run(
        &self,
        variable: Option<(&str, &str)>,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Result<TestRun, Error> {
        let mut command = self.command(variable);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let begun = Instant::now();
        let mut child = command.spawn().map_err(|error| self.unstartable(&error))?;
        let status = process_group::wait(&mut child, begun + limit, cancel);
        let time = begun.elapsed();
        let status = status.map_err(|error| self.unstartable(&error))?;
        Ok(TestRun { failure: failure(status), time })
    }

    fn unstartable(&self, error: &std::io::Error) -> Error {
        Error::environment("mutants", format!("cannot run the test `{}`: {error}", self.name))
    }

    /// Its output, for the message about a failure.
    fn output(&self) -> String {
        let output = self.command(None).output();
        let Ok(output) = output else { return String::new() };
        last_lines(&[output.stdout, output.stderr])
    }
}

/// The last lines of what a command writes.
pub(crate) fn last_lines(output: &[Vec<u8>; 2]) -> String {
    let text = output.concat();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// The words of a command of a shell, but for those to which it directs its output.
fn read_words(command: &str) -> impl Iterator<Item = &str> {
    let is_between = |c: char| c.is_whitespace() || ";|&<>()'\"`=".contains(c);
    let is_written = |word: &str| {
        let start = word.as_ptr() as usize - command.as_ptr() as usize;
        command[..start].trim_end().ends_with('>')
    };
    command.split(is_between).filter(move |word| !word.is_empty() && !is_written(word))
}

/// The hash of a file that is no program; of no bytes for all else, as programs, devices and folders.
fn script_hash(path: &Path) -> blake3::Hash {
    let script = || {
        path.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let mut file = BufReader::new(File::open(path).ok()?);
        let is_program = file.fill_buf().ok()?.starts_with(PROGRAM);
        let mut hash = blake3::Hasher::new();
        (!is_program).then(|| std::io::copy(&mut file, &mut hash).ok())??;
        Some(hash.finalize())
    };
    script().unwrap_or_else(|| blake3::hash(&[]))
}

/// Makes sure that a test passes without a mutant, unless its run is cancelled.
pub(crate) fn check_passes(test: &TestCommand, cancel: &CancelToken) -> Result<TestRun, Error> {
    let run = test.run(None, LONGEST, cancel)?;
    match run.failure {
        Some(failure) if !cancel.is_cancelled() => Err(fails(test, failure)),
        _ => Ok(run),
    }
}

/// The error for a test that fails without a mutant.
pub(crate) fn fails(test: &TestCommand, failure: Failure) -> Error {
    let how = match failure {
        Failure::Status(status) => format!("exits with status {status}"),
        Failure::Signal(signal) => format!("is ended by signal {signal}"),
        Failure::Timeout => "does not end".to_owned(),
    };
    let what = format!("the test `{}` {how} without any mutant", test.name);
    let error = Diagnostic::error("failing-test", what);
    let error = Error::new(ErrorKind::Usage, error)
        .note("a test that fails on the program itself kills no mutant: mend it, or leave it out");
    // A test that does not end would not end here either.
    let said = if failure == Failure::Timeout { String::new() } else { test.output() };
    match said.trim().is_empty() {
        true => error,
        false => error.note(format!("it says: {said}")),
    }
}

/// The failure that a status is; none stands for a test whose time was over.
pub(crate) fn failure(status: Option<ExitStatus>) -> Option<Failure> {
    let Some(status) = status else { return Some(Failure::Timeout) };
    match (status.code(), status.signal()) {
        (Some(0), _) => None,
        (Some(code), _) => Some(Failure::Status(code)),
        (None, signal) => Some(Failure::Signal(signal.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Option<Failure> {
        TestCommand::shell(script, &[]).run(None, limit, &CancelToken::new()).unwrap().failure
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn a_test_passes_fails_or_crashes() {
        assert_eq!(run("exit 0", MINUTE), None);
        assert_eq!(run("exit 3", MINUTE), Some(Failure::Status(3)));
        assert_eq!(run("kill -SEGV $$", MINUTE), Some(Failure::Signal(11)));
    }

    #[test]
    fn scripts_that_a_command_names_are_known_by_what_they_say() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("check.sh");
        let scripts = |content: &str| {
            std::fs::write(&file, content).unwrap();
            TestCommand::shell(&format!("x=1 sh {}; true", file.display()), &[]).scripts()
        };
        let first = scripts("exit 0");
        assert_ne!(scripts("exit 1"), first);
        assert_eq!(scripts("exit 0"), first);
        assert_eq!(scripts("\x7fELF 1"), scripts("\x7fELF 2"), "programs are built anew");
        let written = |content: &str| {
            std::fs::write(&file, content).unwrap();
            TestCommand::shell(&format!("true > {}", file.display()), &[]).scripts()
        };
        assert_eq!(written("1"), written("2"), "what a command writes is not what it depends on");
        TestCommand::shell("head -c 1 < /dev/zero", &[]).scripts();
    }

    /// Whether the process whose number is in a file ends.
    fn ends(file: &std::path::Path) -> bool {
        let number = std::fs::read_to_string(file).unwrap();
        let end = Instant::now() + MINUTE;
        while Instant::now() < end {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", number.trim()));
            let Ok(state) = state else { return true };
            if state.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')) {
                return true;
            }
            std::thread::yield_now();
        }
        false
    }

    #[test]
    fn a_test_that_hangs_is_killed_with_the_processes_that_it_started() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("number");
        let script = format!("sleep 1000 & echo $! > {}; wait", file.display());
        assert_eq!(run(&script, Duration::from_secs(2)), Some(Failure::Timeout));
        assert!(ends(&file));
    }

    #[test]
    fn processes_that_a_test_leaves_do_not_outlive_it() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("number");
        let script = format!("sleep 1000 & echo $! > {}; exit 0", file.display());
        assert_eq!(run(&script, MINUTE), None);
        assert!(ends(&file));
    }
}
