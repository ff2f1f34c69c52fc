//! Why a state does not simply go on.

use crate::State;
use crate::exploration::explore::Engine;
use crate::limits::Cut;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::outbox::{EndedPath, Retraction};
use crate::machine::questions::Feasible;
use crate::machine::site::SiteKey;
use crate::machine::step::check_outgrown;
use crate::merging::cycles::is_in_a_circle;
use lydian_ir::Stmt;
use lydian_ir::source::Point;

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
