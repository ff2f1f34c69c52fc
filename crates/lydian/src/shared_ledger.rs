//! Opening the ledger of a folder of tests, and the names of functions and conditions in it.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lydian_base::Diagnostic;
use lydian_ledger::Ledger;

use crate::error::Error;
use crate::events::{Observer, tell};

pub(crate) use scopes::Scopes;

pub(crate) mod digest;
mod scopes;

/// The translation unit as the ledger names it.
pub(crate) fn unit_name(file: &Path) -> String {
    file.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The path of the ledger in a folder of tests.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("ledger.sqlite")
}

/// The ledger as threads share it: one connection, used by one thread at a time. SQLite has one writer
/// at a time anyway, and writing takes a small part of the work (see
/// `session::test_validation::COMMIT_SHARE`). Separate connections would only add ways to fail.
pub(crate) struct SharedLedger(Mutex<Ledger>);

impl SharedLedger {
    /// The ledger, for this thread alone until the guard is dropped. Keep it for one reading or
    /// recording. If a thread panics with it, its recording is rolled back and the ledger stays
    /// consistent.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Opens or makes the ledger; `fresh` sets an old one aside first.
pub(crate) fn open(
    folder: &Path,
    fresh: bool,
    observer: &dyn Observer,
) -> Result<SharedLedger, Error> {
    let path = path(folder);
    if fresh {
        let aside = Ledger::set_aside(&path).map_err(|error| {
            Error::environment("ledger", format!("cannot rename {}: {error}", path.display()))
        })?;
        if let Some(aside) = aside {
            let message = format!("the old ledger is now {}", aside.display());
            tell(observer, &[Diagnostic::new(lydian_base::Severity::Note, "ledger", message)]);
        }
    }
    let ledger = Ledger::open(&path).map_err(Error::from)?;
    log::debug!("opened the ledger {}", path.display());
    Ok(SharedLedger(Mutex::new(ledger)))
}
