//! Warnings about mutants and their tests.

use lydian_base::Diagnostic;

use crate::events::{Observer, tell};

/// Tells of something that is left out.
pub(crate) fn warn(observer: &dyn Observer, message: impl Into<String>) {
    tell(observer, &[Diagnostic::warning("mutants", message.into())]);
}
