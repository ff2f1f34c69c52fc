//! Compilation databases (`compile_commands.json`): which flags a build uses for which file.
//!
//! Format: <https://clang.llvm.org/docs/JSONCompilationDatabase.html>. An entry gives its command
//! as one shell-quoted string (`command`) or as a list (`arguments`); paths are relative to its
//! `directory`.

use crate::flags::{CompileFlags, FlagError};
use serde::Deserialize;
use std::path::{Component, Path, PathBuf};

/// A compilation database that was read.
#[derive(Clone, Debug)]
pub struct CompileCommands {
    path: PathBuf,
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    directory: PathBuf,
    file: PathBuf,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Why a database does not give flags.
#[derive(Debug, thiserror::Error)]
pub enum CompileCommandsError {
    /// It cannot be read.
    #[error("cannot read {path}: {error}")]
    Read {
        /// The database.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// It is no JSON of the expected form.
    #[error("{path} is no compilation database: {error}")]
    Format {
        /// The database.
        path: PathBuf,
        /// The parser's message.
        error: serde_json::Error,
    },
    /// It does not name the file.
    #[error("{path} has no entry for {file}")]
    NoEntry {
        /// The database.
        path: PathBuf,
        /// The file that was looked for.
        file: PathBuf,
    },
    /// The entry has neither a `command` that a shell could read nor `arguments`.
    #[error("the entry for {file} in {path} has no readable `command` or `arguments`")]
    NoCommand {
        /// The database.
        path: PathBuf,
        /// The entry's file.
        file: PathBuf,
    },
    /// Its flags are not accepted.
    #[error("the entry for {file} in {path}: {error}")]
    Flags {
        /// The database.
        path: PathBuf,
        /// The entry's file.
        file: PathBuf,
        /// Why not.
        error: FlagError,
    },
}

impl CompileCommands {
    /// Reads the database at `path`.
    pub fn read(path: &Path) -> Result<Self, CompileCommandsError> {
        let text = std::fs::read(path)
            .map_err(|error| CompileCommandsError::Read { path: path.to_owned(), error })?;
        let entries = serde_json::from_slice(&text)
            .map_err(|error| CompileCommandsError::Format { path: path.to_owned(), error })?;
        Ok(Self { path: path.to_owned(), entries })
    }

    /// The nearest database for a source file: `compile_commands.json` in one of its parent
    /// directories or in their `build` directory.
    pub fn locate(source: &Path) -> Option<PathBuf> {
        let source = std::path::absolute(source).ok()?;
        let candidates = source.ancestors().skip(1).flat_map(|directory| {
            ["compile_commands.json", "build/compile_commands.json"]
                .map(|name| directory.join(name))
        });
        candidates.into_iter().find(|path| path.is_file())
    }

    /// The flags of the first entry for `source`.
    pub fn flags_for(&self, source: &Path) -> Result<CompileFlags, CompileCommandsError> {
        let wanted = canonical(source);
        let base = self.path.parent().unwrap_or(Path::new(""));
        let found = self
            .entries
            .iter()
            .find(|entry| canonical(&base.join(&entry.directory).join(&entry.file)) == wanted);
        let entry = found.ok_or_else(|| CompileCommandsError::NoEntry {
            path: self.path.clone(),
            file: source.to_owned(),
        })?;
        let words = entry.words().ok_or_else(|| CompileCommandsError::NoCommand {
            path: self.path.clone(),
            file: entry.file.clone(),
        })?;
        let flags = CompileFlags::new(&words, &entry.file).map_err(|error| {
            CompileCommandsError::Flags { path: self.path.clone(), file: entry.file.clone(), error }
        })?;
        Ok(flags.in_directory(base.join(&entry.directory)))
    }

    /// The files that have entries, in order, each with its flags. Of several entries for one file
    /// the first counts.
    ///
    /// # Errors
    /// Where one of them has no command, or flags that are not accepted.
    pub fn units(&self) -> Result<Vec<(PathBuf, CompileFlags)>, CompileCommandsError> {
        let mut seen = std::collections::BTreeSet::new();
        let files = self.files().filter(|file| seen.insert(canonical(file)));
        files.map(|file| Ok((file.clone(), self.flags_for(&file)?))).collect()
    }

    /// The files that have entries, in order.
    pub fn files(&self) -> impl Iterator<Item = PathBuf> {
        let base = self.path.parent().unwrap_or(Path::new("")).to_owned();
        self.entries.iter().map(move |entry| base.join(&entry.directory).join(&entry.file))
    }
}

impl Entry {
    /// The words of the command after the compiler. A launcher such as `ccache` in front of the
    /// compiler is skipped with it.
    fn words(&self) -> Option<Vec<String>> {
        let words = match (&self.arguments, &self.command) {
            (Some(arguments), _) => arguments.clone(),
            (None, Some(command)) => shlex::split(command)?,
            (None, None) => return None,
        };
        Some(words.into_iter().skip(1).collect())
    }
}

/// The path with links resolved where it exists, else absolute with `.` and `..` taken out.
fn canonical(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut plain = PathBuf::new();
    for component in absolute.components() {
        match component {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn database(json: &str) -> (tempfile::TempDir, CompileCommands) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("compile_commands.json");
        std::fs::write(&path, json).unwrap();
        let commands = CompileCommands::read(&path).unwrap();
        (directory, commands)
    }

    #[test]
    fn a_command_is_split_as_a_shell_does() {
        let json = r#"[{"directory": "sub", "file": "../a.c",
                        "command": "cc -c -DNAME='\"x y\"' -I inc ../a.c -o a.o"}]"#;
        let (directory, commands) = database(json);
        let flags = commands.flags_for(&directory.path().join("a.c")).unwrap();
        let words: Vec<_> = flags.for_preprocessing().collect();
        assert_eq!(words, ["-DNAME=\"x y\"", "-I", "inc"]);
        assert_eq!(flags.directory(), Some(directory.path().join("sub").as_path()));
    }

    #[test]
    fn arguments_are_taken_as_they_are() {
        let json = r#"[{"directory": ".", "file": "a.c", "arguments": ["cc", "-std=c99", "a.c"]}]"#;
        let (directory, commands) = database(json);
        let flags = commands.flags_for(&directory.path().join("a.c")).unwrap();
        assert_eq!(flags.for_parsing().collect::<Vec<_>>(), ["-std=c99"]);
    }

    #[test]
    fn every_file_comes_once_with_the_flags_of_its_first_entry() {
        let json = r#"[{"directory": ".", "file": "a.c", "arguments": ["cc", "-DA"]},
                       {"directory": ".", "file": "b.c", "arguments": ["cc", "-DB"]},
                       {"directory": ".", "file": "./a.c", "arguments": ["cc", "-DC"]}]"#;
        let (_directory, commands) = database(json);
        let units = commands.units().unwrap();
        let flags = units.iter().flat_map(|(_, flags)| flags.for_preprocessing());
        assert_eq!(flags.collect::<Vec<_>>(), ["-DA", "-DB"]);
    }

    #[test]
    fn a_file_without_an_entry_is_named_in_the_error() {
        let (directory, commands) = database("[]");
        let error = commands.flags_for(&directory.path().join("b.c")).unwrap_err();
        assert!(error.to_string().contains("has no entry for"), "{error}");
    }

    #[test]
    fn a_file_that_is_no_database_is_an_error_and_no_panic() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("compile_commands.json");
        std::fs::write(&path, "{").unwrap();
        let error = CompileCommands::read(&path).unwrap_err();
        assert!(matches!(error, CompileCommandsError::Format { .. }));
    }

    #[test]
    fn the_nearest_database_is_found_from_the_source() {
        let (directory, _) = database("[]");
        let source = directory.path().join("src/deep/a.c");
        let found = CompileCommands::locate(&source);
        assert_eq!(found, Some(directory.path().join("compile_commands.json")));
    }
}
