//! The meaning of IR expressions and of labels' predicates over terms, written once for every
//! engine that reasons with a solver.
//!
//! [`expr::Evaluation::eval`] turns an expression into a term and the conditions under which it
//! traps. The caller's [`expr::StateReader`] gives the values of registers, addresses and memory.
//! [`pred::eval_pred`] turns a predicate into the pair of terms that say where it is surely true
//! and where it is surely false, in Kleene's logic. The concrete interpreter of `lydian-ir` is the
//! independent party that both are tested against.
//!
//! Invariant: a value of machine type `ty` is a term of sort [`sort::sort_of`]`(ty)`.

pub mod arith;
pub mod expr;
pub mod nan;
pub mod pred;
mod soft;
pub mod sort;
pub mod traps;
pub mod undetermined;

pub use expr::{Evaluation, StateReader};
pub use pred::{EventReader, Kleene, eval_pred};
pub use sort::{from_bytes, sort_of, to_bytes};
pub use traps::{Fault, Traps};
pub use undetermined::{Undetermined, undefined_symbol};
