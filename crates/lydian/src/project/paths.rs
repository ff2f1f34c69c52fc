//! Paths that name one file in one way.

use std::path::{Path, PathBuf};

use lydian_base::Place;

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

pub(crate) fn canonical_file(place: &Place) -> PathBuf {
    canonical(Path::new(&*place.file))
}
