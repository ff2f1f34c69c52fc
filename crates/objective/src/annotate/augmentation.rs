//! The transformation criteria of augmented exploration ([004] 4): for each condition and expression of
//! a function, the transformed conditions that path conditions are augmented by.
//!
//! A transformation works on the expressions of the IR, which keep the operators of the source; terms of
//! paths are simplified and have lost them. Its results are labels: an engine evaluates them with the
//! values of one occurrence on a path, and a native run records whether a test satisfied them. So a
//! transformed condition has one meaning for all ([labels](../../../../docs/internals/labels.md)).
//!
//! A name says what is transformed, in the words of the source, and how.

pub(super) mod boundary;
pub(super) mod errors;
pub(super) mod logic;
pub(super) mod mutation;
#[cfg(test)]
mod tests;
