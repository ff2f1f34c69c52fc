//! Other tools that check programs, as black boxes ([001] 6 and 7.3).
//!
//! A question is one objective. Lydian writes a program that calls a function of the tool's dialect where
//! the objective is covered ([001] 4.3, Figure 2; [`lydian_native::checked_units`]), starts the tool with
//! a time limit, and reads the answer. *Reachable* counts only if the inputs of the tool's run, run by
//! another party, cover the objective. *Unreachable* is the tool's word, with its bounds and what it
//! assumed as assumptions.
//!
//! A tool that is missing ends the task. One that hangs, crashes or writes nonsense leaves the objective
//! as it was, and the reason is told.

mod answer_words;
mod cbmc;
mod dialect;
mod process;
mod questions;
mod tool;
mod witness_inputs;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lydian_base::CancelToken;
use serde::Serialize;

use crate::error::Error;
use crate::proving::InputValue;

pub(crate) use dialect::{Dialect, QuestionText};
use process::{Ended, Limits};
pub use tool::{Checker, CommandTemplate};

/// A tool, and its limits for one question.
#[derive(Clone, Debug)]
pub struct CheckerOptions {
    /// The tool.
    pub checker: Checker,
    /// The time for a question.
    pub time: Duration,
    /// The most memory of the tool, in bytes.
    pub memory: Option<u64>,
    /// How often loops are unwound, where the tool takes a bound; without it the bound grows with the
    /// time.
    pub unwind: Option<u32>,
}

/// The answer of a tool to a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckerAnswer {
    /// The objective is covered by a run with these inputs, as far as the tool told them.
    Reachable(Vec<InputValue>),
    /// No run covers it, if these sentences are true.
    Unreachable {
        /// The bounds that runs were looked at within; none if there are no others.
        bounds: Vec<String>,
        /// What the tool takes for granted.
        assumptions: Vec<String>,
    },
    /// The tool does not know, for this reason.
    Open(String),
    /// The tool failed: it crashed, or wrote something that is no answer.
    Failed(String),
}

/// An answer with its cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckerReport {
    /// The tool's name and version.
    pub tool: String,
    /// The answer.
    pub answer: CheckerAnswer,
    /// The time in seconds.
    pub seconds: f64,
}

/// A tool that is there.
pub(crate) struct ReadyChecker<'o> {
    options: &'o CheckerOptions,
    program: PathBuf,
    version: String,
}

impl<'o> ReadyChecker<'o> {
    /// Finds the tool and asks for its version.
    ///
    /// # Errors
    /// The tool is not there.
    pub(crate) fn find(options: &'o CheckerOptions) -> Result<Self, Error> {
        let program = options.checker.find()?;
        let version = options.checker.version(&program);
        Ok(Self { options, program, version })
    }

    /// The tool's name and version.
    pub(crate) fn name(&self) -> &str {
        &self.version
    }

    /// The C that the tool understands.
    pub(crate) const fn dialect(&self) -> Dialect {
        self.options.checker.dialect()
    }

    /// Asks a question.
    ///
    /// # Errors
    /// Files that cannot be written, and a tool that cannot be started.
    pub(crate) fn ask(
        &self,
        question: &QuestionText,
        cancel: &CancelToken,
    ) -> Result<CheckerReport, Error> {
        let begun = std::time::Instant::now();
        let folder = tempfile::Builder::new().prefix("lydian-check-").tempdir();
        let folder = folder.map_err(|error| {
            Error::environment("checker", format!("no folder for a question: {error}"))
        })?;
        let files = question.write(folder.path())?;
        let asked = Asked { ready: self, question, files, folder: folder.path(), cancel };
        let answer = match &self.options.checker {
            Checker::Cbmc(_) => cbmc::ask(&asked)?,
            _ => answer_words::ask(&asked)?,
        };
        let seconds = begun.elapsed().as_secs_f64();
        log::info!("{}: {answer:?} after {seconds:.1} s", self.version);
        Ok(CheckerReport { tool: self.version.clone(), answer, seconds })
    }
}

/// A question whose files are written.
struct Asked<'a> {
    ready: &'a ReadyChecker<'a>,
    question: &'a QuestionText,
    /// The C files of the program.
    files: Vec<PathBuf>,
    /// A folder for the tool's own files.
    folder: &'a Path,
    cancel: &'a CancelToken,
}

impl Asked<'_> {
    /// Runs the tool with some arguments for at most so long.
    fn run(&self, arguments: &[String], time: Duration) -> Result<Ended, Error> {
        let limits = Limits { time, memory: self.ready.options.memory };
        let program = &self.ready.program;
        process::run(program, arguments, self.folder, limits, self.cancel).map_err(|error| {
            let message = format!("cannot start {}: {error}", program.display());
            Error::environment("checker", message)
        })
    }
}
