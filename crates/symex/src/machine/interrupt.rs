//! The reasons why the machine leaves a state before it went on: the path is at its end, or the
//! exploration has something to do first.

use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::ending::Ending;

/// Why a state does not go on.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// The state was split; another state may go first.
    Yield,
    /// The path is at its end.
    End(Ending),
    /// No input takes the path.
    Infeasible,
    /// A pointer was used with a larger record than it leads to.
    Outgrown,
    /// The path is about to look at the input object at this address, with the invariant at this
    /// position, which the path does not suppose yet.
    Invariant(usize, Term),
}

impl Interrupt {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::End(Ending::Cut(Cut::Unsupported(what.into())))
    }
}
