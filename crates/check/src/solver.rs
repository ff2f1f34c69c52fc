//! The external solver: a program that reads SMT-LIB from its standard input.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fmt, io};

/// The time between two looks at a solver that runs.
const PAUSE: Duration = Duration::from_millis(2);
/// The most memory of z3, in megabytes.
const MOST_MEMORY: u32 = 4096;
/// The most of an answer that is kept.
const MOST_TEXT: usize = 1 << 20;

/// An answer for a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// No values make all assertions true.
    Unsatisfiable,
    /// These do, as the solver writes them.
    Satisfiable(String),
    /// The solver does not know, for a reason.
    Unknown(String),
}

/// Why a solver gives no answer.
#[derive(Debug)]
pub enum SolverError {
    /// There is no such program.
    Missing(Vec<String>),
    /// It cannot be started, or ended without an answer.
    Failed(PathBuf, String),
    /// It wrote something that is no answer.
    Nonsense(PathBuf, String),
}

impl fmt::Display for SolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(names) => write!(
                f,
                "no solver is there: {} is not on the PATH (Debian has it in the package {})",
                names.join(" or "),
                names.first().map_or("z3", String::as_str)
            ),
            Self::Failed(path, why) => write!(f, "{} failed: {why}", path.display()),
            Self::Nonsense(path, text) => {
                write!(f, "{} gave no answer but: {text}", path.display())
            }
        }
    }
}

impl std::error::Error for SolverError {}

/// An external solver, and the time that it may take for one script.
#[derive(Clone, Debug)]
pub struct Solver {
    program: PathBuf,
    time: Duration,
}

/// The solvers that are looked for, the first that is there being taken.
const KNOWN: [&str; 2] = ["z3", "cvc5"];

impl Solver {
    /// The solver of a name or path; without one the first of z3 and cvc5 on the `PATH`.
    ///
    /// # Errors
    /// No such program is there.
    pub fn find(name: Option<&Path>, time: Duration) -> Result<Self, SolverError> {
        let path = env::var_os("PATH").unwrap_or_default();
        Self::find_in(&path, name, time)
    }

    /// The same, in the folders of a search path.
    ///
    /// # Errors
    /// No such program is there.
    pub fn find_in(path: &OsStr, name: Option<&Path>, time: Duration) -> Result<Self, SolverError> {
        let wanted: Vec<PathBuf> = match name {
            Some(name) => vec![name.to_owned()],
            None => KNOWN.iter().map(PathBuf::from).collect(),
        };
        for name in &wanted {
            if name.components().count() > 1 && name.is_file() {
                return Ok(Self { program: name.clone(), time });
            }
            let mut places = env::split_paths(path).map(|folder| folder.join(name));
            if let Some(program) = places.find(|place| place.is_file()) {
                return Ok(Self { program, time });
            }
        }
        let names = wanted.iter().map(|name| name.display().to_string());
        Err(SolverError::Missing(names.collect()))
    }

    /// The program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The answer for a script that asks once. Where it is satisfiable, it is asked again for the values.
    ///
    /// # Errors
    /// The solver does not run, or does not answer.
    pub fn ask(&self, script: &str) -> Result<Answer, SolverError> {
        let text = match self.run(script)? {
            Some(text) => text,
            None => return Ok(Answer::Unknown(format!("no answer in {:?}", self.time))),
        };
        match text.lines().next().unwrap_or_default().trim() {
            "unsat" => Ok(Answer::Unsatisfiable),
            "unknown" | "timeout" => Ok(Answer::Unknown("the solver does not know".to_owned())),
            "sat" => {
                let again = self.run(&format!("{script}(get-model)\n"))?.unwrap_or_default();
                let model = again.split_once('\n').map_or("", |(_, model)| model);
                Ok(Answer::Satisfiable(model.trim().to_owned()))
            }
            _ => {
                let start: String = text.chars().take(200).collect();
                Err(SolverError::Nonsense(self.program.clone(), start))
            }
        }
    }

    fn failed(&self, error: &io::Error) -> SolverError {
        SolverError::Failed(self.program.clone(), error.to_string())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        let name = self.program.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if name.starts_with("cvc5") {
            command.args(["--lang", "smt2", "-q", "-"]);
        } else {
            command.arg("-in").arg("-smt2").arg(format!("-memory:{MOST_MEMORY}"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("LC_ALL", "C");
        command
    }

    /// All that the solver writes; nothing if its time is over.
    fn run(&self, script: &str) -> Result<Option<String>, SolverError> {
        let mut child = self.command().spawn().map_err(|error| self.failed(&error))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let text = thread::scope(|scope| {
            // A solver that does not read must not stop this process.
            let writer = scope.spawn(move || {
                input.map(|mut input| input.write_all(script.as_bytes()).is_ok());
            });
            let reader = scope.spawn(move || {
                let mut bytes = Vec::new();
                let limit = MOST_TEXT as u64;
                if let Some(output) = output {
                    let _ = output.take(limit).read_to_end(&mut bytes);
                }
                bytes
            });
            let ended = self.wait(&mut child);
            // Both end with the process, since it alone has the other ends of the pipes.
            let _ = writer.join();
            let bytes = reader.join().unwrap_or_default();
            ended.map(|ended| ended.then(|| String::from_utf8_lossy(&bytes).into_owned()))
        });
        text.map_err(|error| self.failed(&error))
    }

    /// Waits for the end. Returns whether it came in time.
    fn wait(&self, child: &mut Child) -> io::Result<bool> {
        let end = Instant::now() + self.time;
        loop {
            if child.try_wait()?.is_some() {
                return Ok(true);
            }
            if Instant::now() >= end {
                let _ = child.kill();
                child.wait()?;
                return Ok(false);
            }
            thread::sleep(PAUSE);
        }
    }
}
