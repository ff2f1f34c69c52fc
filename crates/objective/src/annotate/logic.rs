//! Criteria of logic: the values of decisions and of their conditions.

pub mod clauses;
pub(super) mod decisions;
pub mod implicants;
