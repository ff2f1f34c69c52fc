//! The front end on C files: what it decodes, lowers and refuses, and what the lowered programs
//! compute.

mod decode;
mod differential;
mod lower;
mod parse_errors;
mod real_programs;

use std::path::{Path, PathBuf};

/// The C files of a folder, sorted.
fn c_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "c"))
        .collect();
    files.sort();
    files
}
