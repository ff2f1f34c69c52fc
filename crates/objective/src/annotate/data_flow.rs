//! Criteria of data flow: pairs of definitions and uses, of whole variables and of cells.

pub(super) mod cells;
pub(super) mod variables;
