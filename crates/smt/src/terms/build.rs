//! The smart constructors of terms, as further methods of [`TermPool`](crate::TermPool).
//!
//! Each constructor folds constants, applies the rewrites of the table
//! [`RULES`](crate::terms::rules::RULES), and makes a term in the canonical form.

mod arith;
mod array;
mod bits;
mod bool;
mod float;
