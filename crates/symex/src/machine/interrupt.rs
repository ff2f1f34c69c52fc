//! Why the machine leaves a state before it went on: it is at its end, or others are to see to something
//! first.

use lydian_smt::Term;

use crate::limits::Cut;
use crate::machine::ending::Ending;

/// Why a state does not simply go on.
#[derive(Debug)]
pub(crate) enum Interrupt {
    /// It was split; another state may go on first.
    Yield,
    /// It is at its end.
    End(Ending),
    /// No input takes it.
    Infeasible,
    /// It took a pointer for one into a larger record than what that leads to.
    Outgrown,
    /// It is about to look at an object of the inputs, whose address this is, of which the invariant at a
    /// position holds that it does not suppose yet.
    Invariant(usize, Term),
}

impl Interrupt {
    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::End(Ending::Cut(Cut::Unsupported(what.into())))
    }
}
