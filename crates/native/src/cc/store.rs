//! The folder that builds and runs write to and reports read: `.lydian`.
//!
//! | folder | what is in it |
//! |---|---|
//! | `notes` | packed notes, by the unit's id |
//! | `units` | for each object that was made: what it is of, which notes hold now, which held before; or why it is not instrumented |
//! | `images` | for each linked file: the ids of its units |
//! | `cells` | counter files, `image.slot` |
//! | `lost` | empty files that tell of runs that could not be counted |
//! | `runtime` | the objects that are linked into programs |
//! | `tmp` | texts on their way to the compiler |
//!
//! Files appear whole, by a rename, since several builds may write at once. Nothing here is needed
//! for the program itself: what cannot be written costs counts, never the build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectSection as _};
use serde::{Deserialize, Serialize};

use super::images::Image;
use super::notes::{self, UnitId};

/// The environment variable that names the folder.
const VARIABLE: &str = "LYDIAN_DIR";

/// The folder's own name.
const NAME: &str = ".lydian";

/// Entries of the root folder of a project under version control, or with a configuration of
/// Lydian.
const ROOTS: &[&str] = &[".git", ".hg", ".svn", "lydian.toml"];

/// Files in the folders of a project that is built.
const BUILT: &[&str] = &[
    "configure",
    "CMakeLists.txt",
    "CMakeCache.txt",
    "config.status",
    "meson.build",
    "build.ninja",
    "Makefile",
    "makefile",
    "GNUmakefile",
];

/// Why the folder could not be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A file could not be written or read.
    #[error("{}: {error}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// The run-time could not be compiled.
    #[error("the run-time cannot be compiled: {0}")]
    Runtime(String),
}

/// The folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    path: PathBuf,
}

/// The record of an object that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitRecord {
    /// The object, as an absolute path.
    pub object: PathBuf,
    /// The source, as an absolute path.
    pub source: PathBuf,
    /// How it was compiled.
    pub state: UnitState,
    /// The ids of earlier compilations, whose counters no longer count.
    pub superseded: Vec<UnitId>,
}

/// How an object was compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitState {
    /// Instrumented; its notes.
    Instrumented(UnitId),
    /// As it is: why.
    Plain(String),
}

impl Store {
    /// The folder at this path, which need not be there yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The folder for what happens in `directory`, an absolute path: the one that `LYDIAN_DIR`
    /// names, else the nearest `.lydian` in it or above it, else `.lydian` in
    /// 1. the nearest folder with `.git`, `.hg`, `.svn` or `lydian.toml`,
    /// 2. the topmost folder with something that builds are made from: `configure`, a makefile,
    ///    `CMakeLists.txt`, `meson.build` and the like,
    /// 3. `directory` itself.
    pub fn locate(directory: &Path) -> Self {
        if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
            return Self::at(directory.join(named));
        }
        let holds = |folder: &Path, names: &[&str]| {
            names.iter().any(|name| folder.join(name).symlink_metadata().is_ok())
        };
        let mut above = directory.ancestors();
        if let Some(folder) = above.find(|folder| folder.join(NAME).is_dir()) {
            return Self::at(folder.join(NAME));
        }
        let root = directory.ancestors().find(|folder| holds(folder, ROOTS));
        let built = || directory.ancestors().filter(|folder| holds(folder, BUILT)).last();
        Self::at(root.or_else(built).unwrap_or(directory).join(NAME))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn make_folder(&self, folder: &Path) -> Result<(), StoreError> {
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::File { path: folder.to_owned(), error })
    }

    /// A folder for texts on their way to the compiler, which is removed with the result.
    ///
    /// # Errors
    /// Where it cannot be made.
    pub fn temporary(&self) -> Result<tempfile::TempDir, StoreError> {
        let folder = self.path.join("tmp");
        self.make_folder(&folder)?;
        tempfile::Builder::new()
            .prefix("unit-")
            .tempdir_in(&folder)
            .map_err(|error| StoreError::File { path: folder, error })
    }

    /// Writes a file in a folder, whole or not at all.
    fn write(&self, folder: &str, name: &str, bytes: &[u8]) -> Result<PathBuf, StoreError> {
        let folder = self.path.join(folder);
        self.make_folder(&folder)?;
        let path = folder.join(name);
        let written = || {
            let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(&folder)?;
            std::io::Write::write_all(&mut file, bytes)?;
            let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
            file.as_file().set_permissions(readable)?;
            file.persist(&path).map_err(|error| error.error)
        };
        match written() {
            Ok(_) => Ok(path),
            Err(error) => Err(StoreError::File { path, error }),
        }
    }

    /// Keeps packed notes, in the place of damaged ones too. Returns where they are.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn keep_notes(&self, id: UnitId, packed: &[u8]) -> Result<PathBuf, StoreError> {
        let path = self.path.join("notes").join(id.to_string());
        match std::fs::read(&path) {
            Ok(there) if there == packed => Ok(path),
            _ => self.write("notes", &id.to_string(), packed),
        }
    }

    /// The packed notes of a unit, if they are there.
    pub fn notes(&self, id: UnitId) -> Option<Vec<u8>> {
        std::fs::read(self.path.join("notes").join(id.to_string())).ok()
    }

    /// Records an object.
    ///
    /// # Errors
    /// Where the record cannot be written.
    pub fn record(&self, object: &Path, source: &Path, state: UnitState) -> Result<(), StoreError> {
        let name = name_of(object);
        let before = std::fs::read(self.path.join("units").join(&name)).ok();
        let before = before.and_then(|bytes| serde_json::from_slice::<UnitRecord>(&bytes).ok());
        let mut superseded = Vec::new();
        if let Some(before) = before {
            superseded = before.superseded;
            if let UnitState::Instrumented(id) = before.state {
                superseded.push(id);
            }
        }
        if let UnitState::Instrumented(id) = &state {
            superseded.retain(|old| old != id);
        }
        let (object, source) = (object.to_owned(), source.to_owned());
        let record = UnitRecord { object, source, state, superseded };
        let bytes = serde_json::to_vec(&record).unwrap_or_default();
        self.write("units", &name, &bytes).map(|_| ())
    }

    /// Forgets that an object was compiled as it is.
    pub fn forget_plain(&self, object: &Path) {
        let path = self.path.join("units").join(name_of(object));
        let record = std::fs::read(&path).ok();
        let record = record.and_then(|bytes| serde_json::from_slice::<UnitRecord>(&bytes).ok());
        if record.is_some_and(|record| matches!(record.state, UnitState::Plain(_))) {
            // Files that cannot be removed are only reported.
            drop(std::fs::remove_file(path));
        }
    }

    /// The records of all objects, by their paths.
    pub fn units(&self) -> Vec<UnitRecord> {
        let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
        let mut units: Vec<UnitRecord> = self.files("units").into_iter().filter_map(read).collect();
        units.sort_by(|a, b| a.object.cmp(&b.object));
        units
    }

    /// Notes which units a linked file holds, and keeps those of their notes that are not here yet.
    ///
    /// # Errors
    /// Where the file cannot be read or something cannot be written. A file of another format holds
    /// no units.
    pub fn record_image(&self, linked: &Path) -> Result<(), StoreError> {
        let error = |error| StoreError::File { path: linked.to_owned(), error };
        let file = std::fs::File::open(linked).map_err(error)?;
        // SAFETY: the link has ended; a file that someone cuts off meanwhile is not worth more than
        // the signal that this would raise.
        let bytes = unsafe { memmap2::Mmap::map(&file) }.map_err(error)?;
        let Ok(file) = object::File::parse(&*bytes) else { return Ok(()) };
        let section = file.section_by_name(".lydian_notes");
        let Some(section) = section.and_then(|section| section.data().ok()) else { return Ok(()) };
        let found = notes::in_section(section);
        let mut ids: Vec<UnitId> = found.iter().map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        for (id, packed) in found {
            self.keep_notes(id, packed)?;
        }
        let record = Image::read(linked, ids, &file);
        let bytes = serde_json::to_vec(&record).unwrap_or_default();
        self.write("images", &name_of(linked), &bytes).map(|_| ())
    }

    /// The ids of the units of all linked files, each with one of the files.
    pub fn image_units(&self) -> BTreeMap<UnitId, PathBuf> {
        let of = |image: Image| image.units.into_iter().map(move |id| (id, image.linked.clone()));
        self.images().into_iter().flat_map(of).collect()
    }

    /// All linked files, by their paths.
    pub fn images(&self) -> Vec<Image> {
        let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
        let mut images: Vec<Image> = self.files("images").into_iter().filter_map(read).collect();
        images.sort_by(|a, b| a.linked.cmp(&b.linked));
        images
    }

    /// The files with records of builds that cannot be read. What they were of is not known.
    pub fn damaged_records(&self) -> Vec<PathBuf> {
        let is_sound = |path: &PathBuf, is_unit: bool| {
            let Ok(bytes) = std::fs::read(path) else { return false };
            match is_unit {
                true => serde_json::from_slice::<UnitRecord>(&bytes).is_ok(),
                false => serde_json::from_slice::<Image>(&bytes).is_ok(),
            }
        };
        let of = |folder: &str, is_unit| {
            let files = self.files(folder).into_iter();
            files.filter(move |path| !is_sound(path, is_unit)).collect::<Vec<_>>()
        };
        [of("units", true), of("images", false)].concat()
    }

    /// The counter files of all runs, by name.
    pub fn cell_files(&self) -> Vec<PathBuf> {
        let of_tests = self.tests().into_iter().flat_map(|test| test.cell_files);
        self.files("cells").into_iter().chain(of_tests).collect()
    }

    /// The tests that runs were marked as, by name.
    pub fn tests(&self) -> Vec<TestRuns> {
        let of = |folder: PathBuf| {
            let name = std::fs::read(folder.join("name")).ok()?;
            let name = String::from_utf8_lossy(&name).into_owned();
            Some(TestRuns { name, cell_files: files(&folder.join("cells")) })
        };
        let mut tests: Vec<TestRuns> = self.files("tests").into_iter().filter_map(of).collect();
        tests.sort_by(|a, b| a.name.cmp(&b.name));
        tests
    }

    /// How many images had runs that could not be counted.
    pub fn lost(&self) -> usize {
        let of_tests = self.files("tests").into_iter().map(|test| files(&test.join("lost")).len());
        self.files("lost").len() + of_tests.sum::<usize>()
    }

    /// Says whether this is the first time that something is told to the user.
    pub fn first_time(&self, what: &str) -> bool {
        let folder = self.path.join("told");
        let made = self.make_folder(&folder).is_ok();
        made && std::fs::File::create_new(folder.join(what)).is_ok()
    }

    /// Removes all files of runs. Files of builds stay.
    ///
    /// # Errors
    /// Where a file cannot be removed.
    pub fn forget_runs(&self) -> Result<(), StoreError> {
        let removed = |path: PathBuf, result: std::io::Result<()>| match result {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::File { path, error })
            }
            _ => Ok(()),
        };
        for path in self.files("cells").into_iter().chain(self.files("lost")) {
            let result = std::fs::remove_file(&path);
            removed(path, result)?;
        }
        let tests = self.path.join("tests");
        let result = std::fs::remove_dir_all(&tests);
        removed(tests, result)
    }

    fn files(&self, folder: &str) -> Vec<PathBuf> {
        files(&self.path.join(folder))
    }
}

/// The counter files of runs that were marked as one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestRuns {
    /// The test's name.
    pub name: String,
    /// The counter files.
    pub cell_files: Vec<PathBuf>,
}

/// The files in a folder, by name, but for those that are being written.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().as_encoded_bytes();
            !name.starts_with(b".new-")
        })
        .collect();
    files.sort();
    files
}

/// The name of the record of a file.
fn name_of(path: &Path) -> String {
    blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex()[..24].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_lies_in_the_projects_root() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().join("p");
        let deep = root.join("src/lib");
        std::fs::create_dir_all(&deep).expect("folders");
        assert_eq!(Store::locate(&deep).path(), deep.join(".lydian"));
        std::fs::write(root.join("configure"), "").expect("a file");
        std::fs::write(root.join("src/Makefile"), "").expect("a file");
        assert_eq!(Store::locate(&deep).path(), root.join(".lydian"));
        std::fs::create_dir(root.join("src/.git")).expect("a folder");
        assert_eq!(Store::locate(&deep).path(), root.join("src/.lydian"));
        std::fs::create_dir(root.join("src/lib/.lydian")).expect("a folder");
        assert_eq!(Store::locate(&deep).path(), root.join("src/lib/.lydian"));
    }

    #[test]
    fn a_new_compilation_supersedes_the_earlier_ones() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path().join("s"));
        let [a, b] = [UnitId([1; 16]), UnitId([2; 16])];
        let (object, source) = (Path::new("/o/a.o"), Path::new("/o/a.c"));
        for id in [a, b, a] {
            store.record(object, source, UnitState::Instrumented(id)).expect("it is written");
        }
        let units = store.units();
        assert_eq!(units.len(), 1);
        assert_eq!(
            (&units[0].state, &units[0].superseded[..]),
            (&UnitState::Instrumented(a), &[b][..])
        );
        store.record(object, source, UnitState::Plain("why".into())).expect("it is written");
        assert_eq!(store.units()[0].superseded, [b, a]);
    }

    #[test]
    fn a_thing_is_told_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::at(folder.path());
        assert!(store.first_time("lto") && !store.first_time("lto"));
    }
}
