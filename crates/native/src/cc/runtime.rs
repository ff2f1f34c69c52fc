//! The two objects that are linked into instrumented programs and libraries.
//!
//! They are compiled by the user's compiler, for the user's target, on first use, and kept in the
//! store. The store's path is in the first one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::store::{Store, StoreError};
use crate::rewrite::predicates::code::operators;

/// The source, with the macros `LYDIAN_LAST`, `LYDIAN_SHARED` and `LYDIAN_DIRECTORY`, and behind it
/// what evaluates code.
fn source() -> String {
    const PROGRAM: &str = include_str!("../../runtime/program.c");
    const EVALUATE: &str = include_str!("../../runtime/evaluate.h");
    format!("{PROGRAM}\n{}{EVALUATE}", operators())
}

/// The start of a section of cells.
pub(crate) const MAGIC: &[u8; 8] = b"LYDIANF1";

const FLAGS: &[&str] = &[
    "-x",
    "c",
    "-std=gnu11",
    "-O2",
    "-fPIC",
    "-ffreestanding",
    "-fno-builtin",
    "-fno-stack-protector",
    "-fno-exceptions",
    "-fno-asynchronous-unwind-tables",
    "-fno-lto",
    "-w",
    "-g0",
];

/// The target of the run-time.
#[derive(Clone, Copy, Debug)]
pub struct Runtime<'a> {
    /// The user's compiler.
    pub compiler: &'a Path,
    /// The flags that choose the target.
    pub target: &'a [String],
    /// Whether it goes into a shared library.
    pub shared: bool,
}

/// Objects for a link line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkObjects {
    /// To be put before all inputs.
    pub first: PathBuf,
    /// To be put after all.
    pub last: PathBuf,
}

impl Runtime<'_> {
    /// The objects, compiled unless the store has them.
    ///
    /// # Errors
    /// Where the store cannot be written or the compiler fails.
    pub fn objects(&self, store: &Store) -> Result<LinkObjects, StoreError> {
        let mut hash = blake3::Hasher::new();
        let text = source();
        hash.update(text.as_bytes());
        hash.update(self.compiler.as_os_str().as_encoded_bytes());
        for word in self.target {
            hash.update(b"\0").update(word.as_bytes());
        }
        let key = &hash.finalize().to_hex()[..16];
        let kind = if self.shared { "library" } else { "program" };
        let folder = store.path().join("runtime");
        let first = folder.join(format!("{key}-{kind}-first.o"));
        let last = folder.join(format!("{key}-last.o"));
        if !first.is_file() || !last.is_file() {
            store.make_folder(&folder)?;
            let directory = store.path().display().to_string();
            let quoted = directory.replace('\\', "\\\\").replace('"', "\\\"");
            let mut defines = vec![format!("-DLYDIAN_DIRECTORY=\"{quoted}\"")];
            if self.shared {
                defines.push("-DLYDIAN_SHARED".to_owned());
            }
            if self.compile(&text, &folder, &first, &defines).is_err() {
                // The target may have no registers for floats.
                defines.push("-DLYDIAN_NO_FLOATS".to_owned());
                self.compile(&text, &folder, &first, &defines)?;
            }
            self.compile(&text, &folder, &last, &["-DLYDIAN_LAST".to_owned()])?;
        }
        Ok(LinkObjects { first, last })
    }

    /// Compiles to a file of its own first: several links may do the same at once.
    fn compile(
        &self,
        text: &str,
        folder: &Path,
        object: &Path,
        defines: &[String],
    ) -> Result<(), StoreError> {
        let error = |error| StoreError::File { path: folder.to_owned(), error };
        let place = tempfile::Builder::new().prefix("make-").tempdir_in(folder).map_err(error)?;
        let source = place.path().join("lydian.c");
        let made = place.path().join("lydian.o");
        std::fs::write(&source, text).map_err(error)?;
        let output = Command::new(self.compiler)
            .args(self.target)
            .args(FLAGS)
            .args(defines)
            .arg("-c")
            .arg(&source)
            .arg("-o")
            .arg(&made)
            .stdin(Stdio::null())
            .output()
            .map_err(error)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or("no message").to_owned();
            return Err(StoreError::Runtime(first));
        }
        std::fs::rename(&made, object).map_err(error)
    }
}
