//! Cases of internal errors: they are kept as files, and replayed later.
//!
//! If engines contradict each other or a measurement, the test is kept with everything that its run
//! needs ([`KeptCase`]). A replay loads the program again and runs the test in the interpreter and
//! natively. Its result has, for each objective that the case is about, the claim and the coverage by
//! each run ([`Replay`]).

mod comparison;
pub(crate) mod keeper;
pub(crate) mod kept_case;

pub use comparison::{Replay, ReplayEndings, ReplayedObjective};
pub use kept_case::{Claim, ClaimedVerdict, KeptCase};
