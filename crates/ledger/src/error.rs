//! Errors of a ledger, by the user's possible reactions.

use std::path::{Path, PathBuf};

use lydian_objective::LabelKey;
use rusqlite::ErrorCode;

/// Why the ledger cannot be used, or a finding not be recorded. Nothing is ever deleted.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The file is damaged, or no SQLite database at all.
    #[error(
        "the ledger {} is damaged: {detail}; move it away, or run again with `--fresh`, which keeps it under another name",
        path.display()
    )]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The fault.
        detail: String,
    },
    /// The file is a database of something else.
    #[error(
        "{} is a database, but no ledger of Lydian's; name another file, or move it away",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer version.
    #[error(
        "the ledger {} has format {found}, this version of Lydian knows formats up to {known}; use the newer version, or `--fresh`",
        path.display()
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i64,
        /// The newest format that is known here.
        known: i64,
    },
    /// The disk, or a limit on the file's size, is full.
    #[error(
        "there is no room left for the ledger {}; what was committed before is kept, so free some space and run again",
        path.display()
    )]
    Full {
        /// The file.
        path: PathBuf,
    },
    /// Another process has written for longer than this one waited.
    #[error("the ledger {} is in use by another process; wait for it to end, or stop it", path.display())]
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// The file or its folder cannot be opened, read or written.
    #[error("cannot use the ledger {}: {detail}", path.display())]
    Access {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        detail: String,
    },
    /// Evidence for a label, or naming a test, that is not in the ledger: a fault of the tool.
    #[error("internal error: evidence on label {label} names a label or test that is not recorded")]
    NotRecorded {
        /// The label.
        label: LabelKey,
    },
    /// Anything else that SQLite reports: a fault of the tool.
    #[error("internal error in the ledger {}: {source}", path.display())]
    Sqlite {
        /// The file.
        path: PathBuf,
        /// The error.
        source: rusqlite::Error,
    },
}

impl LedgerError {
    /// An error of the system about the file.
    pub(super) fn from_system(path: &Path, error: &std::io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::Full { path }
            }
            _ => Self::Access { path, detail: error.to_string() },
        }
    }

    /// Maps an error of SQLite.
    pub(super) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        let detail = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Corrupt { path, detail }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { path },
            Some(
                ErrorCode::SystemIoFailure
                | ErrorCode::CannotOpen
                | ErrorCode::ReadOnly
                | ErrorCode::PermissionDenied
                | ErrorCode::FileLockingProtocolFailed,
            ) => Self::Access { path, detail },
            _ => match error {
                // A value of another type than the schema's: someone wrote into the file.
                rusqlite::Error::InvalidColumnType(..)
                | rusqlite::Error::FromSqlConversionFailure(..)
                | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt { path, detail },
                source => Self::Sqlite { path, source },
            },
        }
    }
}
