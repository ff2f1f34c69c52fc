//! A call whose operands were evaluated.

use lydian_ir::{CTypeId, LocalId};
use lydian_smt::Term;

/// A call whose operands were evaluated.
pub(crate) struct CallSite {
    pub(crate) args: Vec<Term>,
    pub(crate) register: Option<LocalId>,
    pub(crate) dst: Option<Term>,
    /// The C type of the result.
    pub(crate) result: CTypeId,
}
