//! `lydian cc`: a compiler that measures.
//!
//! Each C file is preprocessed by the user's compiler, parsed, annotated, rewritten and compiled by
//! the user's compiler again. What cannot be done so is compiled as it is, with a warning and a
//! record: a build never breaks because of Lydian.

pub(crate) mod compiler;
pub(crate) mod noted;
mod sharing;
pub(crate) mod unit;
