//! Errors that end a task before its work is done.

use std::fmt;

use lydian_base::{Diagnostic, SourceMap, Span};
use lydian_ledger::LedgerError;

/// The kinds of an [`Error`], by who can mend it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ErrorKind {
    /// The request, the configuration or an objective of the user's is wrong.
    Usage,
    /// The C cannot be read: no such file or function, or clang rejects it.
    Source,
    /// Every function that was asked for uses something that is not supported.
    Unsupported,
    /// The machine lacks something: no clang, no permission, a full disk.
    Environment,
    /// The ledger cannot be used: corrupt, locked, or of another version.
    Ledger,
}

/// An error that ended a task before its work was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Its kind.
    pub kind: ErrorKind,
    /// The diagnostics for the user; empty if an observer got them before.
    pub diagnostics: Vec<Diagnostic>,
}

impl Error {
    /// An error with one diagnostic.
    pub fn new(kind: ErrorKind, diagnostic: Diagnostic) -> Self {
        Self { kind, diagnostics: vec![diagnostic] }
    }

    /// An error of the request's. `code` is that of its diagnostic.
    pub fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, Diagnostic::error(code, message))
    }

    /// An error in the C.
    pub fn source(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Source, Diagnostic::error(code, message))
    }

    /// An error of the machine's.
    pub fn environment(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Environment, Diagnostic::error(code, message))
    }

    /// Whether some of its diagnostics are about a range of a text.
    pub(crate) fn is_in(&self, map: &SourceMap, span: Span) -> bool {
        let first = map.place(span.start);
        let lines = first.line..=map.place(span.end.saturating_sub(1)).line;
        let places = self.diagnostics.iter().filter_map(|diagnostic| diagnostic.place.as_ref());
        places.into_iter().any(|place| place.file == first.file && lines.contains(&place.line))
    }

    /// The same with one more note on its last diagnostic.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.pop() {
            self.diagnostics.push(last.note(note));
        }
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.diagnostics.split_first() else {
            return f.write_str("the task ended early, as its observer was told");
        };
        f.write_str(&first.message)?;
        others.iter().try_for_each(|other| write!(f, "; {}", other.message))
    }
}

impl std::error::Error for Error {}

impl From<LedgerError> for Error {
    fn from(error: LedgerError) -> Self {
        let kind = match error {
            LedgerError::Full { .. } | LedgerError::Access { .. } => ErrorKind::Environment,
            _ => ErrorKind::Ledger,
        };
        Self::new(kind, Diagnostic::error("ledger", error.to_string()))
    }
}
