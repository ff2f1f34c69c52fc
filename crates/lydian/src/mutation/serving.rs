//! Programs under test that wait for mutants, and are copied for each run.
//!
//! To load and link a program takes longer than most tests of units. So the run-time of the schema can
//! stop a program before anything of it runs, and start a copy for each mutant (`lydian_serve` of
//! `runtime/schema.c`). A copy has a chosen mutant from its beginning on, as a process that is started with
//! the environment's `LYDIAN_MUTANT` has, so verdicts do not depend on how a test is started.
//!
//! A test of a suite is a program. A command of a shell has a server if it only starts a program: `./check
//! basic`, `cd build && MODE=fast ./check`. **Invariant:** the process that serves is the one that was
//! started, and its program is the one that the command names. So nothing that a copy leaves out has an
//! effect, and the copy's status is the test's.
//!
//! A test without a server is started as usual; only time depends on it.

use std::fs::File;
use std::io::{self, Read as _};
use std::mem::size_of;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_mutate::{CASE_VARIABLE, MUTANT_VARIABLE, SERVER_VARIABLE};

use super::commands::{PROGRAM, TestCommand, TestRun, failure};
use crate::measurement::process_group;

/// The descriptor of the socket in the program, above those that programs expect to be free.
const SOCKET: RawFd = 200;
/// The time for a program to come to the run-time of its schema.
const PATIENCE: Duration = Duration::from_secs(20);
/// The longest pause between two looks at what was cancelled.
const PAUSE: Duration = Duration::from_millis(50);
/// The time of a copy that waits for a processor, in multiples of its limit.
const MOST_WAIT: u32 = 10;
/// The parts of a second in which the system counts processor time for programs.
const TICKS: u32 = 100;
/// Tests that take longer gain nothing by a server.
const LONG: Duration = Duration::from_secs(1);
/// The room for a mutant's name, and the most bytes of a test's.
const MOST_MUTANT: usize = 64;
const MOST_CASE: usize = 200;
/// The most servers of a thread.
const MOST: usize = 32;

/// The servers of a thread: of one program for the tests of a suite, of a program for each command.
#[derive(Default)]
pub(crate) struct TestServers {
    /// With the test's program or command; none where there can be none.
    known: Vec<(String, Option<TestServer>)>,
}

impl TestServers {
    /// Runs a test on a mutant in a copy. None where the test has no server, or lost it: then it is to be
    /// started as usual.
    pub(crate) fn run(
        &mut self,
        test: &TestCommand,
        mutant: &str,
        (usual, limit): (Duration, Duration),
        cancel: &CancelToken,
    ) -> Option<TestRun> {
        if usual > LONG || mutant.len() > MOST_MUTANT || test.name.len() > MOST_CASE {
            return None;
        }
        let key = test.server_key();
        let at = match self.known.iter().position(|(known, _)| *known == key) {
            Some(at) => at,
            None if self.known.len() == MOST => return None,
            None => {
                self.known.push((key, TestServer::start(test, cancel)));
                self.known.len() - 1
            }
        };
        let server = &mut self.known[at].1;
        let run = server.as_mut()?.run(mutant, &test.name, limit, cancel);
        if run.is_none() {
            *server = None;
        }
        run
    }
}

/// A process that is copied. It ends with this value.
struct TestServer {
    connection: OwnedFd,
    process: Child,
}

impl TestServer {
    /// Starts the server of a test. None if the test is no program with mutants.
    fn start(test: &TestCommand, cancel: &CancelToken) -> Option<Self> {
        let (program, mut command) = test.served()?;
        let (connection, theirs) = sockets().ok()?;
        command.env(SERVER_VARIABLE, SOCKET.to_string());
        command.env(MUTANT_VARIABLE, "-".repeat(MOST_MUTANT));
        command.env(CASE_VARIABLE, "-".repeat(MOST_CASE));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let socket = theirs.as_raw_fd();
        let pass = move || {
            // SAFETY: the call takes two numbers.
            match unsafe { libc::dup2(socket, SOCKET) } {
                SOCKET => Ok(()),
                _ => Err(io::Error::last_os_error()),
            }
        };
        // SAFETY: `dup2` may be called between fork and exec, and takes two numbers.
        unsafe { command.pre_exec(pass) };
        let mut process = command.spawn().ok()?;
        drop(theirs);
        let end = Instant::now() + PATIENCE;
        let server = number(&connection, end, cancel);
        let is_it = |own: i32| u32::try_from(own).ok() == Some(process.id());
        if server.is_some_and(is_it) && runs(process.id(), &program) {
            return Some(Self { connection, process });
        }
        // It goes on as the program without a mutant, which passes.
        drop(connection);
        drop(process_group::wait(&mut process, end, cancel));
        None
    }

    /// Runs a copy. None if the server is lost.
    fn run(
        &self,
        mutant: &str,
        test: &str,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Option<TestRun> {
        let begun = Instant::now();
        let packet = [mutant.as_bytes(), b"\0", test.as_bytes(), b"\0"].concat();
        send(&self.connection, &packet).ok()?;
        let copy = number(&self.connection, begun + PATIENCE, &CancelToken::new())?;
        if copy <= 0 {
            return None;
        }
        let status = self.status(copy, begun, limit, cancel);
        process_group::end(copy);
        if status.is_none() {
            // The server tells of the copy that was killed, or is lost.
            process_group::end_process(copy);
            number(&self.connection, Instant::now() + PATIENCE, &CancelToken::new())?;
        }
        let failure = failure(status.map(ExitStatus::from_raw));
        Some(TestRun { failure, time: begun.elapsed() })
    }
}

impl TestServer {
    /// The status of a copy. None if its time is over. Time in which other programs have the processors does
    /// not count, up to a limit, so that a busy machine kills no mutant.
    fn status(
        &self,
        copy: i32,
        begun: Instant,
        limit: Duration,
        cancel: &CancelToken,
    ) -> Option<i32> {
        let mut end = begun + limit;
        loop {
            if let Some(status) = number(&self.connection, end, cancel) {
                return Some(status);
            }
            let stat = std::fs::read_to_string(format!("/proc/{copy}/stat")).ok()?;
            let is_last = Instant::now() >= begun + limit * MOST_WAIT || cancel.is_cancelled();
            if is_last || !waits_for_processor(&stat, limit) {
                return None;
            }
            end = Instant::now() + PAUSE;
        }
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // A server that waits has no copy; one that was lost is killed.
        drop(process_group::wait(&mut self.process, Instant::now(), &CancelToken::new()));
    }
}

/// A command of a shell that only starts a program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PlainStart {
    /// The program.
    pub(crate) program: PathBuf,
    /// The command, in which the program takes the place of the shell.
    pub(crate) command: String,
}

impl PlainStart {
    /// Reads a command: the path of a program after assignments, and after `cd FOLDER &&`.
    pub(crate) fn of(command: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || " _-./=+,:@%&".contains(c);
        if !command.chars().all(is_plain) {
            return None;
        }
        let mut folder = PathBuf::new();
        let mut words = command.split(' ').filter(|word| !word.is_empty()).peekable();
        while words.next_if_eq(&"cd").is_some() {
            folder.push(words.next()?);
            words.next_if_eq(&"&&")?;
        }
        let program = words.find(|word| !word.contains('='))?;
        let is_whole = program.contains('/') && words.all(|word| !word.contains('&'));
        let at = program.as_ptr() as usize - command.as_ptr() as usize;
        let command = format!("{}exec {}", &command[..at], &command[at..]);
        let program = folder.join(program);
        (is_whole && is_program(&program)).then_some(Self { program, command })
    }
}

fn is_program(path: &Path) -> bool {
    let mut magic = [0; PROGRAM.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *PROGRAM
}

/// Whether a process runs a program.
fn runs(process: u32, program: &Path) -> bool {
    let file = |path: &Path| std::fs::metadata(path).ok().map(|it| (it.dev(), it.ino()));
    let own = file(Path::new(&format!("/proc/{process}/exe")));
    own.is_some() && own == file(program)
}

/// Whether a process, by its line in `/proc`, could run and had less processor time than a limit.
fn waits_for_processor(stat: &str, limit: Duration) -> bool {
    // Its name, in parentheses, may have any character.
    let fields: Vec<&str> =
        stat.rsplit_once(')').map_or(Vec::new(), |(_, rest)| rest.split(' ').skip(1).collect());
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u32>().ok());
    let (Some(own), Some(of_system)) = (ticks(11), ticks(12)) else { return false };
    fields[0] == "R" && Duration::from_secs(1) * own.saturating_add(of_system) / TICKS < limit
}

/// A pair of sockets that carry packets.
fn sockets() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the place has room for two descriptors, which are ours if the call succeeds.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

fn send(connection: &OwnedFd, packet: &[u8]) -> io::Result<()> {
    let (socket, flags) = (connection.as_raw_fd(), libc::MSG_NOSIGNAL);
    // SAFETY: the place has as many bytes as the call says.
    let sent = unsafe { libc::send(socket, packet.as_ptr().cast(), packet.len(), flags) };
    match usize::try_from(sent) {
        Ok(sent) if sent == packet.len() => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The next number of a server. None if it does not come in time, or the server is gone.
fn number(connection: &OwnedFd, end: Instant, cancel: &CancelToken) -> Option<i32> {
    let socket = connection.as_raw_fd();
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let is_there = process_group::is_readable(socket, left.min(PAUSE));
        if is_there {
            let mut bytes = [0; size_of::<i32>()];
            // SAFETY: the place has as many bytes as the call says.
            let read = unsafe { libc::recv(socket, bytes.as_mut_ptr().cast(), bytes.len(), 0) };
            return (read == size_of::<i32>() as isize).then(|| i32::from_ne_bytes(bytes));
        }
        if left.is_zero() || cancel.is_cancelled() {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_time_without_a_processor_does_not_count() {
        let waits = |state: &str, own: u32, of_system: u32| {
            let stat = format!(
                "12 (a ) b) {state} 1 12 12 0 -1 4194304 95 0 0 0 {own} {of_system} 0 0 20 0 1 0"
            );
            waits_for_processor(&stat, Duration::from_millis(500))
        };
        assert!(waits("R", 40, 9));
        assert!(!waits("R", 40, 10), "it had its time");
        assert!(!waits("S", 0, 0), "it waits for something else");
        assert!(!waits_for_processor("", Duration::from_secs(1)));
    }

    #[test]
    fn only_commands_that_start_a_program_have_one() {
        let here = std::env::current_exe().unwrap();
        let (path, name) = (here.display(), here.file_name().unwrap().display());
        let folder = here.parent().unwrap().display();
        for command in [
            format!("{path}"),
            format!("{path} basic --fast"),
            format!("MODE=fast {path}"),
            format!("cd {folder} && A=1 ./{name} all"),
        ] {
            let found = PlainStart::of(&command).unwrap();
            assert_eq!(found.program.canonicalize().unwrap(), here.canonicalize().unwrap());
            assert_eq!(found.command.replacen("exec ", "", 1), command);
        }
        let script = tempfile::NamedTempFile::new().unwrap();
        for command in [
            format!("rm -f out && {path}"),
            format!("{path} && {path}"),
            format!("{path} & {path}"),
            format!("{path} < input"),
            format!("{path}; true"),
            format!("! {path}"),
            format!("cd {folder}"),
            format!("{path} $MODE"),
            format!("sh {path}"),
            format!("{}", script.path().display()),
            "make".to_owned(),
            String::new(),
        ] {
            assert_eq!(PlainStart::of(&command), None, "{command}");
        }
    }
}
