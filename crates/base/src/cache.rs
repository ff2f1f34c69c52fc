//! A cache of results between runs, in a folder of the user's.
//!
//! The cache has only results that depend on the compiler and on Lydian alone, and never on a user's
//! program: answers of the compiler, and Lydian's own C in compiled form. An entry is a file that is
//! named after the hash of everything that it depends on, and ends with the hash of its content, so
//! that damaged entries are detected. The folder is optional: if it cannot be used, everything is made
//! anew.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// The environment variable that names another folder; with an empty value nothing is kept.
pub const CACHE_VARIABLE: &str = "LYDIAN_CACHE";

/// The number of a hash's 64 digits that the name of a socket leaves out.
const SOCKET_LESS: usize = 40;

/// The folder.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// The name of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// A key for a result that is made from these parts. `what` names the kind of result, in letters
    /// and `-`.
    pub fn new<'a>(what: &str, parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hash = blake3::Hasher::new();
        for part in std::iter::once(env!("CARGO_PKG_VERSION").as_bytes()).chain(parts) {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(format!("{what}-{}", hash.finalize().to_hex()))
    }
}

impl Cache {
    /// The user's: `$LYDIAN_CACHE`, else `$XDG_CACHE_HOME/lydian`, else `~/.cache/lydian`.
    pub fn of_user() -> Self {
        let path = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let absolute = |path: PathBuf| Some(path).filter(|path| path.is_absolute());
        let folder = match path(CACHE_VARIABLE) {
            Some(folder) => absolute(folder),
            None => path("XDG_CACHE_HOME")
                .and_then(absolute)
                .or_else(|| Some(path("HOME").and_then(absolute)?.join(".cache")))
                .map(|folder| folder.join("lydian")),
        };
        Self { folder }
    }

    /// A cache in a folder of the caller's choice.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()) }
    }

    /// The content of an entry, if it exists and is intact.
    pub fn get(&self, key: &Key) -> Option<Vec<u8>> {
        let content = self.read(key);
        let found = if content.is_some() { "has" } else { "lacks" };
        log::debug!("the cache {found} {}", key.0);
        content
    }

    fn read(&self, key: &Key) -> Option<Vec<u8>> {
        let mut content = fs::read(self.folder.as_ref()?.join(&key.0)).ok()?;
        let end = content.len().checked_sub(blake3::OUT_LEN)?;
        let is_whole = blake3::hash(&content[..end]).as_bytes() == &content[end..];
        content.truncate(end);
        is_whole.then_some(content)
    }

    /// The file of an intact entry, from which a program can run: its last bytes do not belong to the
    /// content.
    pub fn file(&self, key: &Key) -> Option<PathBuf> {
        self.get(key)?;
        Some(self.folder.as_ref()?.join(&key.0))
    }

    /// The path of a socket for a key; its folder is created. The name is shorter than that of an
    /// entry, because addresses of sockets are limited in length.
    pub fn socket(&self, key: &Key) -> Option<PathBuf> {
        let folder = self.folder.as_ref()?;
        fs::create_dir_all(folder).ok()?;
        Some(folder.join(&key.0[..key.0.len() - SOCKET_LESS]))
    }

    /// Stores an entry. A failure is ignored.
    pub fn put(&self, key: &Key, content: &[u8]) {
        if let Some(folder) = &self.folder {
            // No run depends on it.
            drop(write(folder, key, content));
        }
    }
}

/// Writes under another name first, so that no reader sees a part.
fn write(folder: &Path, key: &Key, content: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let draft = folder.join(format!("{}.{}", key.0, std::process::id()));
    let mut options = File::options();
    let mut file = options.write(true).create_new(true).mode(0o700).open(&draft)?;
    let written = file
        .write_all(content)
        .and_then(|()| file.write_all(blake3::hash(content).as_bytes()))
        .and_then(|()| fs::rename(&draft, folder.join(&key.0)));
    if written.is_err() {
        drop(fs::remove_file(&draft));
    }
    written
}

/// The path of a program that is named by its path or by its name in `PATH`.
pub fn locate(program: &OsStr) -> Option<PathBuf> {
    match Path::new(program).components().count() {
        0 => None,
        1 => {
            let path = std::env::var_os("PATH")?;
            let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
            places.find(|path| path.is_file())
        }
        _ => Some(PathBuf::from(program)),
    }
}

/// The identity of a program: path, size, and time of change, which distinguish it from others of its
/// name and from its other versions. None if it is not found, by its path or in `PATH`.
pub fn identity(program: &OsStr) -> Option<Vec<u8>> {
    let found = fs::canonicalize(locate(program)?).ok()?;
    let about = fs::metadata(&found).ok()?;
    let mut identity = found.into_os_string().into_encoded_bytes();
    for number in [about.len() as i64, about.mtime(), about.mtime_nsec()] {
        identity.extend(number.to_le_bytes());
    }
    Some(identity)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("lydian-cache-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        folder
    }

    #[test]
    fn what_is_put_is_there_and_other_keys_are_not() {
        let folder = folder("put");
        let cache = Cache::at(&folder);
        let key = |parts: [&[u8]; 2]| Key::new("words", parts);
        cache.put(&key([b"ab", b"c"]), b"content");
        assert_eq!(cache.get(&key([b"ab", b"c"])).as_deref(), Some(&b"content"[..]));
        assert_eq!(cache.get(&key([b"a", b"bc"])), None);
        assert_eq!(cache.get(&Key::new("others", [&b"ab"[..], b"c"])), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_damaged_entry_is_none() {
        let folder = folder("damaged");
        let (cache, key) = (Cache::at(&folder), Key::new("words", []));
        cache.put(&key, b"content");
        let path = cache.file(&key).unwrap();
        let mut text = fs::read(&path).unwrap();
        text[0] ^= 1;
        fs::write(&path, &text).unwrap();
        assert_eq!(cache.get(&key), None);
        fs::write(&path, b"short").unwrap();
        assert_eq!(cache.get(&key), None);
        cache.put(&key, b"new");
        assert_eq!(cache.get(&key).as_deref(), Some(&b"new"[..]));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_folder_that_cannot_be_used_keeps_nothing() {
        let (cache, key) = (Cache::at("/dev/null/cache"), Key::new("words", []));
        cache.put(&key, b"content");
        assert_eq!(cache.get(&key), None);
    }

    #[test]
    fn programs_are_found_by_path_and_by_name() {
        let by_name = identity(OsStr::new("sh")).unwrap();
        assert_eq!(identity(OsStr::new("/bin/sh")), Some(by_name));
        assert_eq!(identity(OsStr::new("no-such-program-here")), None);
        assert_eq!(identity(OsStr::new("")), None);
    }
}
