//! Cases that internal errors leave, and running them again.
//!
//! Where engines contradict each other or what is measured, the test is kept with all that its run needs
//! ([`KeptCase`]). Replaying it loads the program anew and runs the test by the interpreter and natively.
//! The outcome says for each objective of concern what was claimed and what each run covers
//! ([`Replay`]).

mod comparison;
pub(crate) mod keeper;
pub(crate) mod kept_case;

pub use comparison::{Replay, ReplayEndings, ReplayedObjective};
pub use kept_case::{Claim, ClaimedVerdict, KeptCase};
