//! The compiler wrapper, `lydian cc`, which measures builds.
//!
//! Each C file is preprocessed by the user's compiler, parsed, annotated, rewritten and compiled by the
//! user's compiler again. A file for which this fails is compiled as it is, with a warning and a
//! record: a build never breaks because of Lydian.

use std::path::{Path, PathBuf};

pub use build::{Counters, WrapperOutcome, WrapperRequest, compile};
pub use compiler::unstartable;
pub use mutants::MutantRequest;
pub(crate) use unit::first_error;

mod build;
mod compiler;
pub(crate) mod mutants;
mod sharing;
mod unit;
mod unit_notes;

/// An input's path, absolute.
pub(crate) fn absolute(directory: &Path, path: impl AsRef<Path>) -> PathBuf {
    let path = directory.join(path);
    std::path::absolute(&path).unwrap_or(path)
}
