//! Files of the repository that tests read.

use std::path::{Path, PathBuf};

/// The folder of the repository.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("the crate lies in crates/testkit").to_path_buf()
}

/// The C files of a folder of the repository, in the order of their names.
pub(crate) fn c_files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).expect("the folder exists");
    let paths = entries.map(|entry| entry.expect("an entry can be read").path());
    let mut found: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "c")).collect();
    found.sort();
    found
}
