//! The reasons why a state does not go on after a step.

use crate::limits::Cut;
use crate::machine::ending::Ending;

/// Why a state does not go on after a step, once everything that the machine left was handled.
#[derive(Debug)]
pub(crate) enum Flow {
    /// The state was split; another state may go first.
    Yield,
    /// The path is at its end.
    End(Ending),
    /// No input takes the path.
    Infeasible,
}

impl Flow {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::End(Ending::Cut(Cut::Unsupported(what.into())))
    }
}
