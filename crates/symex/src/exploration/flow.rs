//! Why a state does not simply go on, once all that its step asked for is done.

use crate::limits::Cut;
use crate::machine::ending::Ending;

/// Why a state does not simply go on, once all that the machine left is seen to.
#[derive(Debug)]
pub(crate) enum Flow {
    /// It was split; another state may go on first.
    Yield,
    /// It is at its end.
    End(Ending),
    /// No input takes it.
    Infeasible,
}

impl Flow {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::End(Ending::Cut(Cut::Unsupported(what.into())))
    }
}
