//! Checks of certificates by an external solver: of files, and of those that a ledger's verdicts rest on.

mod of_ledger;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_check::document::objectives::Objective;
use lydian_check::document::{DocumentError, EXTENSION};
use lydian_check::{Document, Outcome, Solver, SolverError, check};
use serde::Serialize;

use crate::error::Error;

/// Certificates, and the solver for them.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// Certificates, ledgers, and folders with certificates or with a ledger.
    pub paths: Vec<PathBuf>,
    /// The time for each condition.
    pub time: Duration,
    /// The solver's name or path; without one z3 or cvc5, which ever is there.
    pub solver: Option<PathBuf>,
}

/// The results of all checks.
#[derive(Clone, Debug, Serialize)]
pub struct Checks {
    /// The solver.
    pub solver: String,
    /// The certificates, in the order of the request and of their names.
    pub certificates: Vec<CertificateCheck>,
}

/// The check of one certificate.
#[derive(Clone, Debug, Serialize)]
pub struct CertificateCheck {
    /// Its file; of one in a ledger, that of the ledger.
    pub file: PathBuf,
    /// Its name in a ledger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The call that no run comes to, as the program's text has it; none if it is about objectives.
    pub goal: Option<String>,
    /// The objectives that no run covers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objectives: Vec<Objective>,
    /// The result.
    pub result: CheckResult,
    /// How many conditions the solver was asked.
    pub conditions: u32,
    /// The time in seconds.
    pub seconds: f64,
    /// The objectives of the ledger whose verdicts were withdrawn, since they rest on it and it does not
    /// stand or is not about them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<String>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckResult {
    /// The certificate stands.
    Checked,
    /// A condition has no answer.
    Open {
        /// The condition.
        condition: String,
        /// Why.
        reason: String,
    },
    /// It is no certificate of this version, or of its program.
    IllFormed(String),
    /// The solver wrote something that is no answer.
    Unanswered(String),
    /// A condition is false: an internal error, if Lydian wrote the certificate.
    Refuted {
        /// The condition.
        condition: String,
        /// Values that show it, as the solver writes them.
        model: String,
    },
}

impl Checks {
    /// Checks certificates. Stops before the next one when cancelled. A verdict of a ledger that rests on a
    /// certificate which is false or ill-formed is withdrawn there.
    ///
    /// # Errors
    /// No solver; an only file that cannot be read, and a folder without certificates; a ledger that cannot
    /// be used.
    pub fn run(request: &CheckRequest, cancel: &CancelToken) -> Result<Self, Error> {
        let solver = Solver::find(request.solver.as_deref(), request.time);
        let solver = solver.map_err(|error| solver_error(&error))?;
        let mut certificates = Vec::new();
        let (mut ledgers, mut others) = (Vec::new(), Vec::new());
        for path in &request.paths {
            match of_ledger::ledger_at(path) {
                Some(ledger) => ledgers.push(ledger),
                None => others.push(path),
            }
        }
        let files = files_of(others.into_iter())?;
        let is_only = files.len() == 1 && ledgers.is_empty();
        for ledger in ledgers {
            certificates.extend(of_ledger::check_ledger(&ledger, &solver, cancel)?);
        }
        for file in files {
            if cancel.is_cancelled() {
                break;
            }
            let document = Document::read(&file);
            if let (true, Err(error @ DocumentError::Access(..))) = (is_only, &document) {
                return Err(Error::source("certificate", error.to_string()));
            }
            certificates.push(checked(file, document, &solver));
        }
        Ok(Self { solver: solver.program().display().to_string(), certificates })
    }
}

fn solver_error(error: &SolverError) -> Error {
    Error::environment("solver", error.to_string())
}

/// The check of one certificate. What goes wrong with it is its result, so that the others have theirs.
fn checked(
    file: PathBuf,
    document: Result<Document, DocumentError>,
    solver: &Solver,
) -> CertificateCheck {
    let without = |file: PathBuf, result: CheckResult| CertificateCheck {
        file,
        name: None,
        goal: None,
        objectives: Vec::new(),
        result,
        conditions: 0,
        seconds: 0.0,
        withdrawn: Vec::new(),
    };
    let document = match document {
        Ok(document) => document,
        Err(error) => return without(file, CheckResult::IllFormed(error.to_string())),
    };
    let report = match check(&document, solver) {
        Ok(report) => report,
        Err(error) => return without(file, CheckResult::Unanswered(error.to_string())),
    };
    let result = match report.outcome {
        Outcome::Checked => CheckResult::Checked,
        Outcome::Open { condition, reason } => CheckResult::Open { condition, reason },
        Outcome::IllFormed(what) => CheckResult::IllFormed(what),
        Outcome::Refuted { condition, model } => CheckResult::Refuted { condition, model },
    };
    let (conditions, seconds) = (report.conditions, report.time.as_secs_f64());
    let (goal, objectives) = (report.goal, report.objectives);
    CertificateCheck {
        file,
        name: None,
        goal,
        objectives,
        result,
        conditions,
        seconds,
        withdrawn: Vec::new(),
    }
}

/// The certificates among some paths, those in folders by name.
fn files_of<'p>(paths: impl Iterator<Item = &'p PathBuf>) -> Result<Vec<PathBuf>, Error> {
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let mut found = in_folder(path)?;
        if found.is_empty() {
            let message = format!("there is no certificate in {}", path.display());
            return Err(Error::source("certificate", message));
        }
        found.sort();
        all.append(&mut found);
    }
    Ok(all)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let unreadable = |error: std::io::Error| {
        Error::source("certificate", format!("cannot read {}: {error}", folder.display()))
    };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().ends_with(EXTENSION)) {
            found.push(path);
        }
    }
    Ok(found)
}
