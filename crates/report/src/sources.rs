//! The texts of the files that a report shows, as they are now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The text of a file. Bytes that are no UTF-8 are shown as replacement characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceText {
    /// Its lines without their ends.
    pub lines: Vec<String>,
    /// The BLAKE3 hash of its bytes, in hexadecimal.
    pub digest: String,
}

/// The texts of files by path, or the reason why there is none.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: BTreeMap<PathBuf, Result<SourceText, String>>,
}

impl SourceText {
    /// The text of a file's bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let digest = blake3::hash(bytes).to_hex().to_string();
        let text = String::from_utf8_lossy(bytes);
        Self { lines: text.lines().map(str::to_owned).collect(), digest }
    }

    /// The line with a number, from 1.
    pub fn line(&self, number: u32) -> Option<&str> {
        self.lines.get((number as usize).checked_sub(1)?).map(String::as_str)
    }
}

impl Sources {
    /// Reads files; those that cannot be read are kept with the reason.
    pub fn read<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        let read = |path: &Path| match std::fs::read(path) {
            Ok(bytes) => Ok(SourceText::of(&bytes)),
            Err(error) => Err(error.to_string()),
        };
        Self { texts: paths.into_iter().map(|path| (path.to_owned(), read(path))).collect() }
    }

    /// The text of a file, or why it could not be read; `None` for a file that was not asked for.
    pub fn get(&self, path: &Path) -> Option<Result<&SourceText, &str>> {
        self.texts.get(path).map(|text| text.as_ref().map_err(String::as_str))
    }

    /// The texts of all files that could be read.
    pub fn texts(&self) -> impl Iterator<Item = &SourceText> {
        self.texts.values().filter_map(|text| text.as_ref().ok())
    }

    /// Adds or replaces the text of a file.
    pub fn insert(&mut self, path: PathBuf, text: SourceText) {
        self.texts.insert(path, Ok(text));
    }
}
