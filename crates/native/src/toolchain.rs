//! The compiler and the linker, and the files that are the same for all programs.
//!
//! A build of a small program is short beside the start of a compiler. So the runner and the fixed
//! part of the harness are compiled once on a machine and kept ([`lydian_base::cache`]), as is what
//! the compiler says of its libraries and of how it starts the linker, which is then started
//! directly.
//!
//! Most of a link is reading the libraries that every program is linked with. They and the
//! compiler's own start files are left out where the objects need nothing of them, and of the
//! libraries only their tables of symbols are read where that is enough. Where such a short link
//! fails, the whole one is made, so that its messages are the user's.

use std::ffi::CString;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lydian_base::cache::{Key, identity};
use lydian_base::{Cache, NameSet};
use lydian_process::Start;

use crate::build::{BuildError, Compilation, refused, write};
use crate::elf::Symbols;
use crate::harness;

const RUNNER_FLAGS: &[&str] = &["-O2", "-w", "-std=gnu17", "runner.c", "-o", "runner", "-ldl"];
/// The runner's files, beside the header that it shares with the harness.
const RUNNER_FILES: &[(&str, &str)] = &[
    ("runner.c", harness::RUNNER),
    ("environments.h", harness::ENVIRONMENTS),
    ("queue.h", harness::QUEUE),
    ("devices.h", lydian_ir::device::ACCESS_TRAPS),
    ("files.h", harness::FILES),
    ("confine.h", harness::CONFINE),
];
const OWN_FLAGS: &[&str] = &["-O1", "-w", "-std=gnu17", "-fno-builtin", "-fPIC", "-c"];

/// The compiler's arguments for linking an object. The harness's fixed part identifies the linker's
/// command.
const FIXED: &str = "lydian-harness.o";
const OUTPUT: &str = "unit.so";
const LINKING: &[&str] = &[
    "-shared",
    "-Wl,-Bsymbolic",
    "-Wl,-z,now",
    "-Wl,-z,relro",
    "-Wl,-z,defs",
    "-Wl,-z,noexecstack",
    FIXED,
    "-o",
    OUTPUT,
    "-lm",
];

/// The libraries that every program is linked with. Of the last one, programs get parts from an
/// archive instead where that has them.
const LIBRARIES: [&str; 3] = ["libc.so.6", "libm.so.6", "libgcc_s.so.1"];

/// The names that the libraries of every program define.
#[derive(Clone, Debug, Default)]
pub struct Libraries {
    /// Their paths, in the order of [`LIBRARIES`].
    paths: Vec<String>,
    names: Vec<NameSet>,
}

impl Libraries {
    /// The libraries with which a compiler links every program.
    ///
    /// # Errors
    /// No temporary folder can be made.
    pub fn of(compiler: &str) -> Result<Self, BuildError> {
        let place = tempfile::tempdir()
            .map_err(|error| BuildError::File { path: std::env::temp_dir(), error })?;
        Ok(Toolchain::new(compiler, place.path()).libraries())
    }

    /// Whether one of them defines a name.
    pub fn contains(&self, name: &str) -> bool {
        self.names.iter().any(|names| names.contains(name))
    }

    /// The files of all of them.
    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The paths of the C library and of its mathematical part, if these define all of the names.
    fn for_all(&self, names: &[&str]) -> Option<&[String]> {
        if names.is_empty() {
            return Some(&[]);
        }
        let of_c = |name: &&str| self.names[..2].iter().any(|names| names.contains(name));
        (self.names.len() == LIBRARIES.len() && names.iter().all(of_c)).then(|| &self.paths[..2])
    }
}

/// A compiler at work in a folder.
pub(crate) struct Toolchain<'a> {
    compiler: &'a str,
    place: &'a Path,
    cache: Cache,
    /// None for a compiler that cannot be told from others: nothing is kept of it.
    identity: Option<Vec<u8>>,
}

impl<'a> Toolchain<'a> {
    /// `place` holds `lydian.h`.
    pub(crate) fn new(compiler: &'a str, place: &'a Path) -> Self {
        let identity = identity(compiler.as_ref());
        Self { compiler, place, cache: Cache::of_user(), identity }
    }

    /// The runner's program.
    pub(crate) fn runner(&self) -> Result<PathBuf, BuildError> {
        let texts = RUNNER_FILES.iter().map(|(_, text)| *text).chain([harness::HEADER]);
        let key = self.key("runner", texts.chain(RUNNER_FLAGS.iter().copied()));
        let kept = key.as_ref().and_then(|key| self.cache.file(key));
        if let Some(path) = kept.filter(|path| is_executable(path)) {
            return Ok(path);
        }
        for (name, text) in RUNNER_FILES {
            write(&self.place.join(name), text)?;
        }
        self.compile("runner", RUNNER_FLAGS)?;
        self.keep(key, "runner");
        Ok(self.place.join("runner"))
    }

    /// Puts the compiled fixed part of the harness into the folder.
    pub(crate) fn harness(&self) -> Result<(), BuildError> {
        let texts = [harness::REPLACEMENTS, harness::HEADER];
        let key = self.key("harness", texts.into_iter().chain(OWN_FLAGS.iter().copied()));
        if let Some(object) = key.as_ref().and_then(|key| self.cache.get(key)) {
            let path = self.place.join(FIXED);
            return std::fs::write(&path, object).map_err(|error| BuildError::File { path, error });
        }
        write(&self.place.join("harness.c"), harness::REPLACEMENTS)?;
        self.compile_own("harness.c", FIXED)?;
        self.keep(key, FIXED);
        Ok(())
    }

    /// Compiles C of Lydian's own.
    pub(crate) fn compile_own(&self, from: &str, to: &str) -> Result<(), BuildError> {
        let arguments: Vec<&str> = OWN_FLAGS.iter().copied().chain([from, "-o", to]).collect();
        self.compile("harness", &arguments)
    }

    fn compile(&self, what: &'static str, arguments: &[&str]) -> Result<(), BuildError> {
        let start = Start::new(self.compiler).args(arguments).directory(self.place).last();
        Compilation::of(&start, self.compiler, what)?.finish()
    }

    /// The names that the libraries of every program define.
    pub(crate) fn libraries(&self) -> Libraries {
        let key = self.key("libraries", LIBRARIES);
        let kept = self.kept_words(key.as_ref());
        let paths = kept.filter(|paths| paths.iter().all(|path| Path::new(path).is_file()));
        let paths = paths.unwrap_or_else(|| {
            let found: Vec<String> =
                LIBRARIES.iter().filter_map(|name| self.file_of(name)).collect();
            if found.len() == LIBRARIES.len() {
                self.keep_words(key, &found);
            }
            found
        });
        let names = paths.iter().map(|path| self.exported(path)).collect();
        Libraries { paths, names }
    }

    /// The names that a shared library defines for others.
    fn exported(&self, path: &str) -> NameSet {
        let key = identity(path.as_ref()).map(|file| Key::new("exported", [&*file]));
        let kept = key.as_ref().and_then(|key| self.cache.get(key));
        let kept = kept.and_then(|text| NameSet::from_text(String::from_utf8(text).ok()?));
        kept.unwrap_or_else(|| {
            let names = Symbols::exported(Path::new(path));
            if let Some(key) = key.filter(|_| !names.is_empty()) {
                self.cache.put(&key, names.text().as_bytes());
            }
            names
        })
    }

    /// Where the compiler finds a library.
    fn file_of(&self, library: &str) -> Option<String> {
        let mut asked = Command::new(self.compiler);
        let answer = asked.arg(format!("-print-file-name={library}")).output().ok()?;
        Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())
    }

    /// Links objects and the harness into `unit.so`, with options of the linker's. `needed` are the
    /// names that none of the objects define.
    pub(crate) fn link(
        &self,
        objects: &[String],
        options: &[String],
        needed: &[&str],
        libraries: &Libraries,
    ) -> Result<(), BuildError> {
        let Some(words) = self.linker() else { return self.link_by_compiler(objects, options) };
        let more: Vec<&str> = objects.iter().chain(options).map(String::as_str).collect();
        if let Some(libraries) = libraries.for_all(needed) {
            let libraries = libraries.iter().map(String::as_str);
            let more: Vec<&str> = more.iter().copied().chain(libraries).collect();
            if self.run_linker(&short(&words), &more).is_ok() {
                return Ok(());
            }
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        self.run_linker(&words, &more)
    }

    /// Runs a linker's command with more words after the harness.
    fn run_linker(&self, words: &[&str], more: &[&str]) -> Result<(), BuildError> {
        let [linker, words @ ..] = words else { return Ok(()) };
        let mut command = Command::new(linker);
        for word in words {
            command.arg(word);
            if *word == FIXED {
                command.args(more);
            }
        }
        command.current_dir(self.place).stdin(Stdio::null()).stdout(Stdio::null());
        log::debug!("starting {command:?}");
        let started = |error| BuildError::Start { compiler: (*linker).to_owned(), error };
        let output = command.stderr(Stdio::piped()).output().map_err(started)?;
        match output.status.success() {
            true => Ok(()),
            false => Err(refused(linker, "harness", &String::from_utf8_lossy(&output.stderr))),
        }
    }

    /// The same by way of the compiler, which takes longer.
    fn link_by_compiler(&self, objects: &[String], options: &[String]) -> Result<(), BuildError> {
        let options = options.iter().map(|option| format!("-Wl,{option}"));
        let mut arguments: Vec<String> = LINKING.iter().map(|&word| word.to_owned()).collect();
        arguments.extend(objects.iter().cloned().chain(options));
        Compilation::start(self.compiler, self.place, "harness", &arguments)?.finish()
    }

    /// The linker's command as the compiler would start it, if that can be read.
    fn linker(&self) -> Option<Vec<String>> {
        let key = self.key("linker", LINKING.iter().copied());
        if let Some(words) = self.kept_words(key.as_ref()) {
            return Some(words);
        }
        let mut asked = Command::new(self.compiler);
        asked.arg("-###").args(LINKING).current_dir(self.place).env("LC_ALL", "C");
        let answer = asked.stdin(Stdio::null()).output().ok()?;
        let said = String::from_utf8(answer.stderr).ok()?;
        let words = shlex::split(said.lines().last()?)?;
        let is_whole = Path::new(words.first()?).is_absolute()
            && words.iter().filter(|word| *word == FIXED).count() == 1
            && words.windows(2).any(|pair| pair == ["-o", OUTPUT]);
        if !is_whole {
            return None;
        }
        self.keep_words(key, &words);
        Some(words)
    }

    fn key<'t>(&'t self, what: &str, parts: impl IntoIterator<Item = &'t str>) -> Option<Key> {
        let identity = self.identity.as_deref()?;
        let parts = parts.into_iter().map(str::as_bytes);
        Some(Key::new(what, std::iter::once(identity).chain(parts)))
    }

    /// Keeps a file of the folder.
    fn keep(&self, key: Option<Key>, file: &str) {
        if let (Some(key), Ok(content)) = (key, std::fs::read(self.place.join(file))) {
            self.cache.put(&key, &content);
        }
    }

    fn kept_words(&self, key: Option<&Key>) -> Option<Vec<String>> {
        serde_json::from_slice(&self.cache.get(key?)?).ok()
    }

    fn keep_words(&self, key: Option<Key>, words: &[String]) {
        if let (Some(key), Ok(text)) = (key, serde_json::to_vec(words)) {
            self.cache.put(&key, &text);
        }
    }
}

/// A linker's command without the libraries and the start files that compilers add.
fn short(words: &[String]) -> Vec<&str> {
    const WITH_A_WORD: [&str; 3] = ["-m", "-o", "-z"];
    let mut short = Vec::new();
    let mut words = words.iter().map(String::as_str);
    short.extend(words.next());
    while let Some(word) = words.next() {
        if WITH_A_WORD.contains(&word) {
            short.push(word);
            short.extend(words.next());
        } else if word == FIXED
            || matches!(word, "-shared" | "-Bsymbolic" | "--eh-frame-hdr")
            || word.starts_with("--hash-style=")
        {
            short.push(word);
        }
    }
    short
}

/// Whether a file may be run; some file systems forbid it.
fn is_executable(path: &Path) -> bool {
    let path = CString::new(path.as_os_str().as_bytes());
    // SAFETY: the path is a string with its end.
    path.is_ok_and(|path| unsafe { libc::access(path.as_ptr(), libc::X_OK) } == 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn with_cache(place: &Path, cache: &Path) -> Toolchain<'static> {
        let place: &'static Path = Box::leak(place.to_owned().into_boxed_path());
        let mut toolchain = Toolchain::new("clang-19", place);
        toolchain.cache = Cache::at(cache);
        write(&place.join("lydian.h"), harness::HEADER).unwrap();
        toolchain
    }

    /// The toolchain of a folder with the harness and one unit, and the objects to link.
    fn with_unit(place: &Path, text: &str) -> (Toolchain<'static>, [String; 1]) {
        let toolchain = with_cache(place, &place.join("cache"));
        write(&place.join("unit.c"), text).unwrap();
        toolchain.harness().unwrap();
        toolchain.compile_own("unit.c", "unit.o").unwrap();
        (toolchain, ["unit.o".to_owned()])
    }

    #[test]
    fn what_is_kept_is_what_the_compiler_would_give_again() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let cache = tempfile::tempdir().unwrap();
        let fresh = with_cache(first.path(), cache.path());
        let kept = with_cache(second.path(), cache.path());
        assert_eq!(fresh.runner().unwrap(), first.path().join("runner"));
        assert!(kept.runner().unwrap().starts_with(cache.path()));
        fresh.harness().unwrap();
        kept.harness().unwrap();
        let object = |place: &Path| std::fs::read(place.join(FIXED)).unwrap();
        assert_eq!(object(first.path()), object(second.path()));
        assert!(!second.path().join("harness.c").exists());
        let (made, read) = (fresh.libraries(), kept.libraries());
        assert_eq!((made.paths, made.names), (read.paths.clone(), read.names.clone()));
        assert!(read.contains("malloc") && read.contains("cos") && !read.contains("no_such"));
        assert_eq!(fresh.linker().unwrap(), kept.linker().unwrap());
    }

    #[test]
    fn objects_are_linked_by_the_linker_and_by_the_compiler_alike() {
        let text = "extern void *malloc(unsigned long); extern int puts(const char *);\n\
                    extern double cos(double); double sum; int at_exit(void);\n\
                    void *f(void) { sum += cos(sum); return puts(\"f\") ? malloc(3) : 0; }\n";
        let defined = |how: &str, text: &str| {
            let place = tempfile::tempdir().unwrap();
            let (toolchain, objects) = with_unit(place.path(), text);
            assert!(toolchain.linker().is_some());
            let options = ["--wrap=malloc".to_owned()];
            let libraries = toolchain.libraries();
            let linked = match how {
                "by the compiler" => toolchain.link_by_compiler(&objects, &options),
                "short" => toolchain.link(&objects, &options, &["puts", "cos"], &libraries),
                // A name that no library has.
                _ => toolchain.link(&objects, &options, &["puts", "no_such"], &libraries),
            };
            linked.unwrap();
            let symbols = Symbols::read(&place.path().join(OUTPUT)).unwrap();
            let start_files = symbols.defined.contains_key("frame_dummy");
            assert_eq!(start_files, how != "short", "{how}");
            let names = symbols.exported.into_iter();
            names.filter(|name| !name.starts_with('_')).collect::<BTreeSet<String>>()
        };
        let names = defined("short", text);
        assert!(names.contains("f") && names.contains("lydian_services"), "{names:?}");
        assert_eq!(names, defined("by the compiler", text));
        assert_eq!(names, defined("whole", text));
    }

    #[test]
    fn a_program_that_needs_no_library_is_linked_without_one() {
        let place = tempfile::tempdir().unwrap();
        let (toolchain, objects) = with_unit(place.path(), "int f(int a) { return a + 1; }\n");
        toolchain.link(&objects, &[], &[], &toolchain.libraries()).unwrap();
        let bytes = std::fs::read(place.path().join(OUTPUT)).unwrap();
        assert!(!bytes.windows(9).any(|bytes| bytes == b"libc.so.6"));
    }

    #[test]
    fn what_no_library_defines_is_an_error_that_names_it() {
        let place = tempfile::tempdir().unwrap();
        let (toolchain, objects) =
            with_unit(place.path(), "int g(void); int f(void) { return g(); }\n");
        for needed in [&["g"][..], &[]] {
            let error = toolchain.link(&objects, &[], needed, &toolchain.libraries()).unwrap_err();
            let said = error.to_string();
            assert!(said.contains("undefined") && said.contains('g'), "{said}");
        }
    }
}
