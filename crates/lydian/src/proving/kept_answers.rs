//! Answers about error calls that a ledger keeps for later runs.
//!
//! The key is the whole text of the program with its flags, so places and calls are those of the answers. A
//! later run takes all answers over, if none is open or the run may take no more than the one that gave them.

use std::collections::BTreeMap;
use std::path::Path;

use lydian_base::Place;
use lydian_ir::{FuncId, StmtId};
use lydian_ledger::{Effort, EvidenceScope, FunctionName, Ledger, NoteKind};
use serde::{Deserialize, Serialize};

use super::verdicts::{ErrorAnswer, ErrorProof, MAIN};
use super::{LinkedProgram, ProofRequest};
use crate::error::Error;
use crate::generation::workers;
use crate::shared_ledger::digest;
use crate::shared_ledger::unit_name;

/// All answers about a program.
#[derive(Serialize, Deserialize)]
pub(super) struct KeptAnswers {
    effort: Effort,
    errors: Vec<KeptError>,
    pub(super) inexact: Vec<String>,
}

/// The answer about one call.
#[derive(Serialize, Deserialize)]
struct KeptError {
    place: Option<Place>,
    function: String,
    answer: ErrorAnswer,
    engine: String,
    #[serde(default)]
    overflow: Option<Place>,
    call: (FuncId, StmtId),
}

/// Where answers about a program are kept.
pub(super) struct AnswerStore<'r> {
    request: &'r ProofRequest,
    ledger: &'r Path,
    unit: String,
    key: String,
}

impl<'r> AnswerStore<'r> {
    /// The place for the answers about a program, if the request names a ledger.
    pub(super) fn of(program: &LinkedProgram, request: &'r ProofRequest) -> Option<Self> {
        let ledger = request.ledger.as_deref()?;
        let mut hasher = blake3::Hasher::new();
        let target = program.linked.program.types.target;
        let flags = request.program.flags.join(" ");
        let about = format!("{target:?} {} {flags}\n", program.wraps_on_overflow);
        hasher.update(about.as_bytes()).update(program.linked.source.text().as_bytes());
        let key = digest::key(hasher.finalize());
        let unit = program.files.first().map_or_else(String::new, |file| unit_name(file));
        Some(Self { request, ledger, unit, key })
    }

    fn function(&self) -> FunctionName<'_> {
        FunctionName { unit: &self.unit, name: MAIN }
    }

    /// The answers of an earlier run, if they are to be taken over.
    ///
    /// # Errors
    /// A ledger that cannot be used.
    pub(super) fn known(&self) -> Result<Option<KeptAnswers>, Error> {
        if self.request.again || self.request.certify {
            return Ok(None);
        }
        let ledger = Ledger::open(self.ledger).map_err(Error::from)?;
        let note = ledger.note(self.function(), NoteKind::Errors, &self.key);
        let note = note.map_err(Error::from)?;
        let kept: Option<KeptAnswers> = note.and_then(|text| serde_json::from_str(&text).ok());
        let effort = effort(self.request);
        Ok(kept.filter(|kept| !kept.is_open() || effort.is_within(&kept.effort)))
    }

    /// Keeps answers for later runs. Where something is false in an argument, nothing is kept.
    ///
    /// # Errors
    /// A ledger that cannot be used.
    pub(super) fn keep(&self, errors: &[ErrorProof], inexact: &[String]) -> Result<(), Error> {
        if errors.iter().any(|error| matches!(error.answer, ErrorAnswer::Unconfirmed(_))) {
            return Ok(());
        }
        let kept = |error: &ErrorProof| KeptError {
            place: error.place.clone(),
            function: error.function.clone(),
            answer: error.answer.clone(),
            engine: error.engine.clone(),
            overflow: error.overflow.clone(),
            call: error.call,
        };
        let kept = KeptAnswers {
            effort: effort(self.request),
            errors: errors.iter().map(kept).collect(),
            inexact: inexact.to_vec(),
        };
        let detail = serde_json::to_string(&kept).expect("answers are valid JSON");
        let scope = EvidenceScope { code: self.key.clone(), configuration: String::new() };
        let mut ledger = Ledger::open(self.ledger).map_err(Error::from)?;
        let mut recording = ledger.record(self.function(), &scope).map_err(Error::from)?;
        recording.note(NoteKind::Errors, &self.key, &detail).map_err(Error::from)?;
        recording.commit().map_err(Error::from)
    }
}

impl KeptAnswers {
    fn is_open(&self) -> bool {
        self.errors.iter().any(|error| matches!(error.answer, ErrorAnswer::Unknown(_)))
    }

    /// The answers.
    pub(super) fn errors(self) -> Vec<ErrorProof> {
        let error = |KeptError { place, function, answer, engine, overflow, call }| ErrorProof {
            place,
            function,
            answer,
            engine,
            overflow,
            call,
        };
        self.errors.into_iter().map(error).collect()
    }
}

/// What a run may take.
fn effort(request: &ProofRequest) -> Effort {
    let settings = format!("{} {:?}", env!("CARGO_PKG_VERSION"), request.provers);
    let jobs = workers::jobs(request.jobs) as u64;
    let limits = [("time", request.time.as_millis() as u64), ("jobs", jobs)];
    let limits = limits.into_iter().map(|(name, most)| (name.to_owned(), Some(most)));
    Effort { settings, limits: limits.collect::<BTreeMap<_, _>>() }
}
