//! Writing files so that a full disk loses nothing.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Writes a whole file beside its place and then moves it there, so that a reader sees either the old
/// or the new contents and a full disk leaves the old. A link is followed. A device or a pipe stays and
/// gets the contents.
pub fn file(path: &Path, contents: &str) -> Result<(), Error> {
    bytes(path, contents.as_bytes())
}

/// The same for contents that are no text.
pub fn bytes(path: &Path, contents: &[u8]) -> Result<(), Error> {
    if path.metadata().is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return std::fs::write(path, contents).map_err(|error| unwritable(path, &error));
    }
    let followed = path.is_symlink().then(|| path.canonicalize().ok()).flatten();
    let place = followed.as_deref().unwrap_or(path);
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let write = || -> std::io::Result<()> {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(contents)?;
        file.as_file().sync_all()?;
        use std::os::unix::fs::PermissionsExt as _;
        file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        file.persist(place).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(|error| unwritable(path, &error))
}

/// Writes several files as [`file()`] does, but waits for the disk only once.
pub fn files(all: &[(PathBuf, String)]) -> Result<(), Error> {
    std::thread::scope(|scope| {
        let writers = all.iter().map(|(path, contents)| scope.spawn(move || file(path, contents)));
        let writers: Vec<_> = writers.collect();
        let written =
            writers.into_iter().map(|writer| writer.join().expect("writing panics never"));
        written.fold(Ok(()), Result::and)
    })
}

/// Writes one of many reproducible files, without waiting for the disk.
pub fn page(path: &Path, contents: &str) -> Result<(), Error> {
    std::fs::write(path, contents).map_err(|error| unwritable(path, &error))
}

/// A folder that is there while the value is.
pub(crate) fn temporary_folder() -> Result<tempfile::TempDir, Error> {
    tempfile::tempdir().map_err(|error| {
        Error::environment("temporary-folder", format!("no temporary folder: {error}"))
    })
}

/// Makes a folder and those above it.
pub fn folder(path: &Path) -> Result<(), Error> {
    if let Some(file) = path.ancestors().find(|above| above.is_file()) {
        let what = format!("cannot make the folder {}", path.display());
        let why = format!("{} is a file: name another folder, or move the file", file.display());
        return Err(Error::environment("output", what).note(why));
    }
    std::fs::create_dir_all(path).map_err(|error| unwritable(path, &error))
}

/// The path of a file relative to a folder; absolute if they have nothing in common.
pub fn relative(folder: &Path, file: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // `..` is relative to the real place of the folder.
    let folder = folder.canonicalize().unwrap_or_else(|_| whole(folder));
    let file = whole(file);
    let shares = folder.components().nth(1) == file.components().nth(1);
    let shorter = pathdiff::diff_paths(&file, &folder).filter(|_| shares);
    shorter.unwrap_or(file).display().to_string()
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    let failure = Error::environment("output", format!("cannot write {}: {error}", path.display()));
    match error.kind() {
        std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
            failure.note("make room and run the same command again: what was there before is kept")
        }
        _ => failure,
    }
}
