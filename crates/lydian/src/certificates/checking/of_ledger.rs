//! Checks of the certificates that a ledger's verdicts rest on.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use lydian_base::CancelToken;
use lydian_check::document::{DocumentError, digest};
use lydian_check::{Certificate, Document, Solver};
use lydian_ledger::{CertifiedEvidence, FunctionName, Ledger, LedgerError};
use lydian_objective::evidence::Evidence;

use super::{CertificateCheck, CheckResult, checked, in_folder};
use crate::error::Error;
use crate::shared_ledger;

/// The bytes that a database begins with.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The ledger that a path names: a database, or a folder of tests without certificates beside it.
pub(super) fn ledger_at(path: &Path) -> Option<PathBuf> {
    let is_database = |path: &Path| {
        let mut begin = [0; MAGIC.len()];
        let read = File::open(path).and_then(|mut file| file.read_exact(&mut begin));
        read.is_ok() && begin == *MAGIC
    };
    if !path.is_dir() {
        return is_database(path).then(|| path.to_owned());
    }
    let inside = shared_ledger::path(path);
    let has_certificates = in_folder(path).is_ok_and(|found| !found.is_empty());
    (is_database(&inside) && !has_certificates).then_some(inside)
}

/// Checks each certificate that an argument of a ledger names, and withdraws the arguments of those that are
/// false or ill-formed. One that the solver has no answer for withdraws nothing.
pub(super) fn check_ledger(
    path: &Path,
    solver: &Solver,
    cancel: &CancelToken,
) -> Result<Vec<CertificateCheck>, Error> {
    let mut ledger = Ledger::open(path).map_err(Error::from)?;
    let certified = ledger.certified().map_err(Error::from)?;
    let mut checks: IndexMap<&str, CertificateCheck> = IndexMap::new();
    for name in certified.iter().flat_map(|one| one.evidence.certificates()) {
        if checks.contains_key(name.as_str()) {
            continue;
        }
        if cancel.is_cancelled() {
            break;
        }
        let document = document(&ledger, name).map_err(Error::from)?;
        let check = checked(path.to_owned(), document, solver);
        checks.insert(name, CertificateCheck { name: Some(name.clone()), ..check });
    }
    for one in &certified {
        for name in one.evidence.certificates() {
            let Some(check) = checks.get_mut(name.as_str()) else { continue };
            let Some(contradiction) = objection(check, one) else { continue };
            withdraw(&mut ledger, one, contradiction).map_err(Error::from)?;
            check.withdrawn.push(format!("{}: {}", one.place, one.text));
        }
    }
    Ok(checks.into_values().collect())
}

/// A certificate of a ledger, and its program. Both are there by their digests.
fn document(ledger: &Ledger, name: &str) -> Result<Result<Document, DocumentError>, LedgerError> {
    let absent = |name: &str| Err(DocumentError::Form(format!("{name} is not in the ledger")));
    let Some(json) = ledger.document(name)? else { return Ok(absent(name)) };
    if digest(&json) != name {
        return Ok(Err(DocumentError::Form("its text was changed".to_owned())));
    }
    let certificate = match Certificate::parse(&json) {
        Ok(certificate) => certificate,
        Err(error) => return Ok(Err(error)),
    };
    let program = &certificate.program.sha256;
    let Some(text) = ledger.document(program)? else { return Ok(absent(program)) };
    if digest(&text) != *program {
        return Ok(Err(DocumentError::OtherProgram(program.clone())));
    }
    Ok(Ok(Document { certificate, text }))
}

/// The reason why a certificate is none of an argument, if so.
fn objection(check: &CertificateCheck, one: &CertifiedEvidence) -> Option<String> {
    match &check.result {
        CheckResult::Refuted { condition, .. } => Some(format!("this is false: {condition}")),
        CheckResult::IllFormed(what) => Some(what.clone()),
        CheckResult::Checked => {
            let mut named = check.objectives.iter().flat_map(|objective| &objective.of);
            let is_about = named.any(|named| named.key == one.label.0);
            (!is_about).then(|| "its certificate is about other objectives".to_owned())
        }
        CheckResult::Open { .. } | CheckResult::Unanswered(_) => None,
    }
}

/// Withdraws an argument.
fn withdraw(
    ledger: &mut Ledger,
    one: &CertifiedEvidence,
    contradiction: String,
) -> Result<(), LedgerError> {
    let function = FunctionName { unit: &one.unit, name: &one.function };
    let mut recording = ledger.record(function, &one.scope)?;
    let method = one.evidence.method().to_owned();
    recording.evidence(&one.label, &Evidence::Withdrawn { method, contradiction })?;
    recording.commit()
}
