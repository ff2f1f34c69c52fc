//! Exit codes, and the errors that end a command.

use lydian::{Diagnostic, Error, ErrorKind};

/// The end of a command. Documented in `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ExitCode {
    /// Everything asked for was done.
    Done = 0,
    /// A criterion is covered to less than `--fail-under` asks, or a check has no answer.
    Below = 1,
    /// The command line, the configuration or an objective of the user's is wrong.
    Usage = 2,
    /// The C cannot be read: no such file or function, or clang rejects it.
    Source = 3,
    /// Every function that was asked for uses something that is not supported.
    Unsupported = 4,
    /// The machine lacks something: no clang, no permission, a full disk.
    Environment = 5,
    /// The ledger cannot be used: corrupt, locked, or of another version.
    Ledger = 6,
    /// Engines contradicted each other or the native program: a bug of Lydian's.
    Internal = 70,
    /// Stopped by Ctrl-C; everything found is kept.
    Interrupted = 130,
}

/// The end of a program that `lydian run` ran. Documented in `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunStatus {
    /// With this status of its own.
    Exited(u8),
    /// By `abort`, or a failed assertion.
    Aborted,
    /// By undefined behaviour.
    Undefined,
    /// A limit was reached.
    Stopped,
    /// Its further behaviour is unknown.
    Unknown,
}

impl RunStatus {
    /// The exit code: the program's own, or a shell's code for a signal of that meaning.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Exited(status) => status,
            Self::Stopped => 124,
            Self::Unknown => 125,
            Self::Undefined => 132,
            Self::Aborted => 134,
        }
    }
}

/// An error that ends a command before its work is done.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) code: ExitCode,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    pub(crate) fn new(code: ExitCode, diagnostic: Diagnostic) -> Self {
        Self { code, diagnostics: vec![diagnostic] }
    }

    pub(crate) fn usage(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Usage, Diagnostic::error(code, message))
    }

    pub(crate) fn source(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Source, Diagnostic::error(code, message))
    }

    pub(crate) fn environment(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Environment, Diagnostic::error(code, message))
    }

    /// The same with one more note on its last diagnostic.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.pop() {
            self.diagnostics.push(last.note(note));
        }
        self
    }
}

impl From<Error> for Failure {
    fn from(Error { kind, diagnostics }: Error) -> Self {
        let code = match kind {
            ErrorKind::Usage => ExitCode::Usage,
            ErrorKind::Source => ExitCode::Source,
            ErrorKind::Unsupported => ExitCode::Unsupported,
            ErrorKind::Environment => ExitCode::Environment,
            ErrorKind::Ledger => ExitCode::Ledger,
        };
        Self { code, diagnostics }
    }
}
