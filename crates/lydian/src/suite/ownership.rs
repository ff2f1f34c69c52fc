//! Ownership of the files in a folder of tests.
//!
//! The files of a suite are sealed with a hash of their text: C in its last line, JSON in a field. So a
//! later run can distinguish its own files from files of others, which it refuses to overwrite before
//! any work, and from edited ones, which it sets aside under another name.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Severity};

use crate::error::Error;
use crate::events::{Observer, tell};

/// The text before and after the seal in C.
const OF_C: (&str, &str) = ("\n/* Sealed by Lydian: ", ". Edited, it is set aside, not lost. */\n");
/// The text before and after the seal in JSON.
const OF_JSON: (&str, &str) = ("{\n  \"sealed\": \"", "\",\n");
/// Bytes of a seal that are shown.
const SHOWN: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    /// Lydian, as it was written.
    Lydian,
    /// Lydian, edited since.
    Edited,
    /// Somebody else.
    Other,
}

/// The text of a file of a suite with its seal.
pub(crate) fn sealed(path: &Path, text: &str) -> String {
    let hash = hash_of(text);
    match is_json(path) {
        true => {
            let rest = text.strip_prefix("{\n").unwrap_or(text);
            format!("{}{hash}{}{rest}", OF_JSON.0, OF_JSON.1)
        }
        false => format!("{text}{}{hash}{}", OF_C.0, OF_C.1),
    }
}

/// An error if a file of the folder with one of these names belongs to somebody else.
pub(crate) fn check(folder: &Path, names: &[&str]) -> Result<(), Error> {
    for path in names.iter().map(|name| folder.join(name)) {
        if owner(&path) == Some(Owner::Other) {
            let what =
                format!("{} was not written by Lydian, and would be overwritten", path.display());
            return Err(Error::usage("output", what)
                .note("name another folder with -o, or move the file out of the way"));
        }
    }
    Ok(())
}

/// Gives a file that was edited since Lydian wrote it another name.
pub(crate) fn set_aside(path: &Path, observer: &dyn Observer) -> Result<(), Error> {
    if owner(path) != Some(Owner::Edited) {
        return Ok(());
    }
    let named = |number: u32| {
        let mut name: OsString = path.as_os_str().to_owned();
        name.push(format!(".{number}"));
        PathBuf::from(name)
    };
    let aside = (1..).map(named).find(|aside| !aside.exists()).expect("some number is free");
    std::fs::rename(path, &aside).map_err(|error| {
        Error::environment("output", format!("cannot rename {}: {error}", path.display()))
    })?;
    let message = format!("{} was edited; it is now {}", path.display(), aside.display());
    tell(observer, &[Diagnostic::new(Severity::Note, "edited", message)]);
    Ok(())
}

/// The owner of a file; none if there is no readable file.
fn owner(path: &Path) -> Option<Owner> {
    let text = String::from_utf8_lossy(&std::fs::read(path).ok()?).into_owned();
    let (kept, seal) = match is_json(path) {
        true => {
            let found = text.strip_prefix(OF_JSON.0).and_then(|rest| rest.split_once(OF_JSON.1));
            match found {
                Some((seal, rest)) => (format!("{{\n{rest}"), Some(seal.to_owned())),
                None => (text, None),
            }
        }
        false => match text.rsplit_once(OF_C.0) {
            Some((kept, rest)) => {
                let seal = rest.strip_suffix(OF_C.1).map(str::to_owned);
                (kept.to_owned(), Some(seal.unwrap_or_default()))
            }
            None => (text, None),
        },
    };
    // Files from before there were seals name their writer.
    let signs =
        ["written by Lydian", "that Lydian writes", "\"version\": 1", "{\n  \"functions\": ["];
    Some(match seal {
        Some(seal) if seal == hash_of(&kept) => Owner::Lydian,
        Some(_) => Owner::Edited,
        None if signs.iter().any(|sign| kept.contains(sign)) => Owner::Lydian,
        None => Owner::Other,
    })
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

fn hash_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..SHOWN].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_tell_whether_they_were_edited_and_by_whom_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("t.c", "int x;\n"), ("t.json", "{\n  \"version\": 1\n}\n")] {
            let path = folder.path().join(name);
            assert_eq!(owner(&path), None);
            let whole = sealed(&path, text);
            std::fs::write(&path, &whole).unwrap();
            assert_eq!(owner(&path), Some(Owner::Lydian), "{whole}");
            for edited in [whole.replace('1', "2"), whole.replace("int", "long")] {
                std::fs::write(&path, &edited).unwrap();
                let expected = if edited == whole { Owner::Lydian } else { Owner::Edited };
                assert_eq!(owner(&path), Some(expected), "{edited}");
            }
            std::fs::write(&path, "something else\n").unwrap();
            assert_eq!(owner(&path), Some(Owner::Other));
        }
    }
}
