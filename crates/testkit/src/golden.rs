//! Golden tests: a text that a test made, against the expected text in a file beside its input.

use std::path::Path;

/// The environment variable with which the expected files are overwritten.
pub const BLESS: &str = "LYDIAN_BLESS";

/// Compares `actual` with the contents of `expected`. With `LYDIAN_BLESS=1` the file is written
/// instead. Panics, with the difference, when they are not the same.
pub fn check(expected: &Path, actual: &str) {
    if std::env::var_os(BLESS).is_some() {
        std::fs::write(expected, actual)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", expected.display()));
        return;
    }
    let text = std::fs::read_to_string(expected).unwrap_or_else(|error| {
        panic!("cannot read {}: {error}; set {BLESS}=1 to write it", expected.display())
    });
    similar_asserts::assert_eq!(text, actual, "{} differs; {BLESS}=1 accepts", expected.display());
}
