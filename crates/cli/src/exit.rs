//! Exit codes, and the errors that end a command.

use lydian_base::Diagnostic;

/// How the command ended. Documented in `docs/exit-codes.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitCode {
    /// Everything asked for was done.
    Done = 0,
    /// Done, but engines contradicted each other or the native program: a bug of Lydian's.
    Contradiction = 1,
    /// The command line is wrong (clap's own code).
    #[allow(dead_code, reason = "clap ends the process with it; the table is complete")]
    Usage = 2,
    /// The input is wrong: a missing file, C that does not compile, an unknown function, an
    /// ill-formed objective or configuration.
    Input = 3,
    /// The machine lacks something: no clang, no permission, a full disk.
    Environment = 4,
    /// The ledger cannot be used: corrupt, locked, or of another version.
    Ledger = 5,
    /// Stopped by Ctrl-C; everything found is saved.
    Interrupted = 130,
}

/// What ends a command before its work is done.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: ExitCode,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Failure {
    pub(crate) fn new(code: ExitCode, diagnostic: Diagnostic) -> Self {
        Self { code, diagnostics: vec![diagnostic] }
    }

    pub(crate) fn input(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Input, Diagnostic::error(code, message))
    }

    pub(crate) fn environment(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(ExitCode::Environment, Diagnostic::error(code, message))
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        if let Some(last) = self.diagnostics.pop() {
            self.diagnostics.push(last.note(note));
        }
        self
    }
}
