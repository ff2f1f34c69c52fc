//! Other tools: checkers that are asked about errors and objectives, and proofs and runs in forms that they
//! read.

mod c_export;
pub(crate) mod checkers;
mod errors;
mod witnesses;

pub use c_export::ProofInC;
pub use checkers::{Checker, CheckerAnswer, CheckerOptions, CheckerReport, CommandTemplate};
pub use errors::{CheckedError, Conclusion, OutsideRequest};
pub use witnesses::{Witness, WitnessKind};
