//! The external solver: a program that reads SMT-LIB from its standard input.
//!
//! A process of z3 has many scripts, one after the other, with a reset between them. Any other solver has a
//! process for each.

mod process;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fmt, io};

use process::{Process, Reply};

/// The most memory of z3, in megabytes.
const MOST_MEMORY: u32 = 4096;
/// The mark behind an answer.
const END: &str = "lydian:end";

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

    /// The answer for a script that asks once.
    ///
    /// # Errors
    /// The solver does not run, or does not answer.
    pub fn ask(&self, script: &str) -> Result<Answer, SolverError> {
        self.session().ask(script)
    }

    /// Questions that share processes.
    pub fn session(&self) -> Session<'_> {
        Session { solver: self, process: None }
    }

    fn name(&self) -> &str {
        self.program.file_name().and_then(OsStr::to_str).unwrap_or_default()
    }

    /// Whether one process can have several scripts.
    fn is_shared(&self) -> bool {
        self.name().starts_with("z3")
    }

    fn failed(&self, error: &io::Error) -> SolverError {
        SolverError::Failed(self.program.clone(), error.to_string())
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if self.name().starts_with("cvc5") {
            command.args(["--lang", "smt2", "-q", "-"]);
        } else {
            command.arg("-in").arg("-smt2").arg(format!("-memory:{MOST_MEMORY}"));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env("LC_ALL", "C");
        command
    }
}

/// Questions to a solver, one after the other.
#[derive(Debug)]
pub struct Session<'s> {
    solver: &'s Solver,
    process: Option<Process>,
}

impl Session<'_> {
    /// The answer for a script that asks once. Where it is satisfiable, it is asked for the values.
    ///
    /// # Errors
    /// The solver does not run, or does not answer.
    pub fn ask(&mut self, script: &str) -> Result<Answer, SolverError> {
        self.ask_within(script, 1)
    }

    /// The same, with one part of so many of the time.
    pub(crate) fn ask_within(&mut self, script: &str, parts: u32) -> Result<Answer, SolverError> {
        let time = self.solver.time / parts.max(1);
        // Where there is no model, that is an error behind the answer, which nobody reads.
        let text = match self.run(&format!("{script}(get-model)\n"), time)? {
            Some(text) => text,
            None => return Ok(Answer::Unknown(format!("no answer in {time:?}"))),
        };
        let (answer, model) = text.split_once('\n').unwrap_or((&text, ""));
        match answer.trim() {
            "unsat" => Ok(Answer::Unsatisfiable),
            "unknown" | "timeout" => Ok(Answer::Unknown("the solver does not know".to_owned())),
            "sat" => Ok(Answer::Satisfiable(model.trim().to_owned())),
            _ => {
                let start: String = text.chars().take(200).collect();
                Err(SolverError::Nonsense(self.solver.program.clone(), start))
            }
        }
    }

    /// All that the solver writes for a script; nothing if its time is over.
    fn run(&mut self, script: &str, time: Duration) -> Result<Option<String>, SolverError> {
        let failed = |error: io::Error| self.solver.failed(&error);
        if !self.solver.is_shared() {
            let mut process = Process::start(self.solver.command()).map_err(failed)?;
            process.write(script.to_owned());
            process.close();
            return Ok(process.read(None, time).text());
        }
        let process = match self.process.take() {
            Some(process) => self.process.insert(process),
            None => self.process.insert(Process::start(self.solver.command()).map_err(failed)?),
        };
        // A solver that is left alone, since its user was killed, ends by itself.
        let limit = time.as_millis();
        process
            .write(format!("(reset)\n(set-option :timeout {limit})\n{script}(echo \"{END}\")\n"));
        let reply = process.read(Some(END), time);
        // A process that was too late or has ended has no more answers.
        if !matches!(reply, Reply::Marked(_)) {
            self.process = None;
        }
        Ok(reply.text())
    }
}
