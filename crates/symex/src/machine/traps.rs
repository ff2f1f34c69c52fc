//! Traps of the program under test: they end a path, and one test for each place of a trap is kept.

pub(crate) mod crashes;
pub(crate) mod trapping;
