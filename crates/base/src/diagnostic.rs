//! Diagnostics are data: a stable code, a message, a place. Only the command line renders them.

use crate::span::Place;

/// Its severity.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Severity {
    /// Information for the user.
    Note,
    /// Part of the input is left out; the rest goes on.
    Warning,
    /// The request cannot be met.
    Error,
}

/// One message to the user.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Diagnostic {
    /// Stable and documented, such as `unsupported-construct`.
    pub code: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// One sentence about the problem, without the place.
    pub message: String,
    /// Its place, if it has one.
    pub place: Option<Place>,
    /// Remedies or further facts, one sentence each.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A diagnostic without a place or notes.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { code, severity, message: message.into(), place: None, notes: Vec::new() }
    }

    /// An error.
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message)
    }

    /// A warning.
    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message)
    }

    /// The same with a place.
    pub fn at(mut self, place: Place) -> Self {
        self.place = Some(place);
        self
    }

    /// The same with one more note.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}
