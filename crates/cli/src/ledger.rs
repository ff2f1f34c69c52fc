//! Opening the ledger of a folder of tests.

use std::path::{Path, PathBuf};

use lydian_base::Diagnostic;
use lydian_objective::ledger::{Ledger, LedgerError};

use crate::exit::{ExitCode, Failure};
use crate::render;

/// Where a folder of tests keeps its ledger.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join("ledger.sqlite")
}

/// Opens or makes the ledger; `fresh` sets an old one aside first.
pub(crate) fn open(folder: &Path, fresh: bool) -> Result<Ledger, Failure> {
    let path = path(folder);
    if fresh {
        let aside = Ledger::set_aside(&path).map_err(|error| {
            Failure::environment("ledger", format!("cannot rename {}: {error}", path.display()))
        })?;
        if let Some(aside) = aside {
            let message = format!("the old ledger is now {}", aside.display());
            render::diagnostics(&[Diagnostic::new(lydian_base::Severity::Note, "ledger", message)]);
        }
    }
    Ledger::open(&path).map_err(failure)
}

/// The failure for trouble with the ledger.
pub(crate) fn failure(error: LedgerError) -> Failure {
    let code = match error {
        LedgerError::Full { .. } | LedgerError::Access { .. } => ExitCode::Environment,
        _ => ExitCode::Ledger,
    };
    Failure::new(code, Diagnostic::error("ledger", error.to_string()))
}
