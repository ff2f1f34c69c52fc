//! Predicates of labels as C text, or as code of a stack machine.
//!
//! [`dual_rail`] writes Kleene's logic in C, [`code`] writes code, [`parameters`] has the names
//! inside of functions that are called by probes, and [`writer`] is what the rest of the rewriter
//! uses.

pub(crate) mod code;
pub(crate) mod dual_rail;
pub(crate) mod parameters;
pub(crate) mod writer;

/// The variable that is set to 1 where an expression has no value.
pub(crate) const POISON: &str = "lydian_bad";

/// In mutant probes, the variable with the pages of memory that are known to be readable.
pub(crate) const PAGES: &str = "lydian_known";
