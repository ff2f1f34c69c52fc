//! Host calls: the few calls by which a program reaches the world outside, and on which the C library in
//! C rests. They are served only in a run of a whole program ([`super::run_program`]); elsewhere
//! functions of these names are undefined like any other.
//!
//! | function | gives |
//! |---|---|
//! | `long __lydian_write(int fd, const void *, unsigned long)` | how many bytes were written |
//! | `long __lydian_read(int fd, void *, unsigned long)` | how many bytes were read, 0 at the end |
//! | `int __lydian_open(const char *, int flags, int mode)` | a descriptor; flags are Linux's |
//! | `int __lydian_close(int fd)` | 0 |
//! | `long __lydian_seek(int fd, long offset, int whence)` | the position |
//! | `int __lydian_remove(const char *)` | 0 |
//! | `int __lydian_rename(const char *, const char *)` | 0 |
//! | `int __lydian_isatty(int fd)` | 1 for descriptors 1 and 2, if [`super::ProgramRun::terminal`] says so |
//! | `long __lydian_time(void)` | seconds since 1970 |
//! | `long __lydian_clock(void)` | microseconds of processor time |
//! | `char *__lydian_getenv(const char *)` | the value, or null |
//! | `void (*__lydian_destructor(int n))(void)` | the `n`-th function to run at the exit, or null |
//! | `void __lydian_exit(int)` | does not return |
//!
//! A failure is the negative of Linux's number for it. Widths of parameters may differ from these:
//! arguments are read as they are passed.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

/// Numbers of failures, as Linux has them.
const NOT_FOUND: i64 = -2;
const IO: i64 = -5;
const BAD_DESCRIPTOR: i64 = -9;
const NOT_ALLOWED: i64 = -13;
const EXISTS: i64 = -17;
const INVALID: i64 = -22;
const CANNOT_SEEK: i64 = -29;

/// Flags of `open`, as Linux has them on x86-64.
const ACCESS: u64 = 3;
const WRITE_ONLY: u64 = 1;
const READ_WRITE: u64 = 2;
const CREATE: u64 = 0o100;
const EXCLUSIVE: u64 = 0o200;
const TRUNCATE: u64 = 0o1000;
const APPEND: u64 = 0o2000;

/// Descriptors from this one on are refused.
const MOST_FILES: usize = 1024;

/// Which files a program may reach: those at these paths, and below them.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Files that it may read.
    pub read: Vec<PathBuf>,
    /// Files that it may write, make, and read.
    pub write: Vec<PathBuf>,
}

/// Receives the output of a program: the descriptor (1 or 2), and the bytes.
pub type Output<'a> = dyn FnMut(i32, &[u8]) + 'a;

/// An open file.
enum OpenFile {
    Input,
    Output(i32),
    File(File),
}

/// The world outside, as a program sees it.
pub(super) struct Host<'a> {
    input: &'a [u8],
    output: &'a mut Output<'a>,
    files: &'a Files,
    open: Vec<Option<OpenFile>>,
    /// Names and the addresses of their values.
    pub(super) environment: Vec<(Vec<u8>, u64)>,
    /// Seconds since 1970, if the program is to see always the same.
    time: Option<u64>,
    started: Instant,
    /// Whether the program's output goes to a terminal.
    pub(super) terminal: bool,
}

impl<'a> Host<'a> {
    pub(super) fn new(
        input: &'a [u8],
        output: &'a mut Output<'a>,
        files: &'a Files,
        time: Option<u64>,
    ) -> Self {
        let open =
            vec![Some(OpenFile::Input), Some(OpenFile::Output(1)), Some(OpenFile::Output(2))];
        let environment = Vec::new();
        Self {
            input,
            output,
            files,
            open,
            environment,
            time,
            started: Instant::now(),
            terminal: false,
        }
    }

    /// The address of the value of an environment variable.
    pub(super) fn variable(&self, name: &[u8]) -> Option<u64> {
        let found = self.environment.iter().find(|(key, _)| key == name);
        found.map(|(_, address)| *address)
    }

    fn file(&mut self, descriptor: i64) -> Option<&mut OpenFile> {
        self.open.get_mut(usize::try_from(descriptor).ok()?)?.as_mut()
    }

    /// Whether a descriptor is a terminal.
    pub(super) fn is_terminal(&mut self, descriptor: i64) -> bool {
        self.terminal && matches!(self.file(descriptor), Some(OpenFile::Output(_)))
    }

    pub(super) fn write(&mut self, descriptor: i64, bytes: &[u8]) -> i64 {
        match self.file(descriptor) {
            Some(OpenFile::Output(number)) => {
                let number = *number;
                (self.output)(number, bytes);
                bytes.len() as i64
            }
            Some(OpenFile::File(file)) => match file.write(bytes) {
                Ok(count) => count as i64,
                Err(error) => number_of(error.kind()),
            },
            _ => BAD_DESCRIPTOR,
        }
    }

    /// At most `count` bytes, or a failure.
    pub(super) fn read(&mut self, descriptor: i64, count: u64) -> Result<Vec<u8>, i64> {
        match self.file(descriptor) {
            Some(OpenFile::Input) => {
                let count = self.input.len().min(count as usize);
                let (taken, rest) = self.input.split_at(count);
                self.input = rest;
                Ok(taken.to_vec())
            }
            Some(OpenFile::File(file)) => {
                let mut bytes = Vec::new();
                match file.take(count).read_to_end(&mut bytes) {
                    Ok(_) => Ok(bytes),
                    Err(error) => Err(number_of(error.kind())),
                }
            }
            _ => Err(BAD_DESCRIPTOR),
        }
    }

    pub(super) fn open(&mut self, name: &[u8], flags: u64) -> i64 {
        let Ok(name) = std::str::from_utf8(name) else { return NOT_FOUND };
        let path = Path::new(name);
        let writes = flags & ACCESS != 0 || flags & (CREATE | TRUNCATE) != 0;
        if !self.files.allow(path, writes) {
            return if path.exists() || writes { NOT_ALLOWED } else { NOT_FOUND };
        }
        let mut options = OpenOptions::new();
        options.read(flags & ACCESS != WRITE_ONLY);
        options.write(matches!(flags & ACCESS, WRITE_ONLY | READ_WRITE));
        options.append(flags & APPEND != 0 && flags & ACCESS != 0);
        if flags & ACCESS != 0 {
            options.create(flags & CREATE != 0).truncate(flags & TRUNCATE != 0);
            options.create_new(flags & CREATE != 0 && flags & EXCLUSIVE != 0);
        }
        let file = match options.open(path) {
            Ok(file) => file,
            Err(error) => return number_of(error.kind()),
        };
        let free = self.open.iter().position(Option::is_none).unwrap_or(self.open.len());
        if free >= MOST_FILES {
            return INVALID;
        }
        if free == self.open.len() {
            self.open.push(None);
        }
        self.open[free] = Some(OpenFile::File(file));
        free as i64
    }

    pub(super) fn close(&mut self, descriptor: i64) -> i64 {
        let place = usize::try_from(descriptor).ok().and_then(|at| self.open.get_mut(at));
        match place.and_then(Option::take) {
            Some(_) => 0,
            None => BAD_DESCRIPTOR,
        }
    }

    /// Removes a file, or an empty folder.
    pub(super) fn remove(&self, name: &[u8]) -> i64 {
        let Some(path) = self.changeable(name) else { return NOT_ALLOWED };
        let removed = match path.is_dir() {
            true => std::fs::remove_dir(path),
            false => std::fs::remove_file(path),
        };
        removed.map_or_else(|error| number_of(error.kind()), |()| 0)
    }

    pub(super) fn rename(&self, from: &[u8], to: &[u8]) -> i64 {
        match (self.changeable(from), self.changeable(to)) {
            (Some(from), Some(to)) => {
                std::fs::rename(from, to).map_or_else(|error| number_of(error.kind()), |()| 0)
            }
            _ => NOT_ALLOWED,
        }
    }

    /// The path of this name, if the program may change what is there.
    fn changeable<'n>(&self, name: &'n [u8]) -> Option<&'n Path> {
        let path = Path::new(std::str::from_utf8(name).ok()?);
        self.files.allow(path, true).then_some(path)
    }

    pub(super) fn seek(&mut self, descriptor: i64, offset: i64, whence: i64) -> i64 {
        let to = match whence {
            0 if offset >= 0 => SeekFrom::Start(offset as u64),
            1 => SeekFrom::Current(offset),
            2 => SeekFrom::End(offset),
            _ => return INVALID,
        };
        match self.file(descriptor) {
            Some(OpenFile::File(file)) => file.seek(to).map_or(INVALID, |position| position as i64),
            Some(_) => CANNOT_SEEK,
            None => BAD_DESCRIPTOR,
        }
    }

    pub(super) fn seconds(&self) -> i64 {
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        self.time.unwrap_or_else(|| now().map_or(0, |time| time.as_secs())) as i64
    }

    /// Microseconds; by steps where the program is to see always the same.
    pub(super) fn clock(&self, steps: u64) -> i64 {
        match self.time {
            Some(_) => (steps / 32) as i64,
            None => self.started.elapsed().as_micros() as i64,
        }
    }
}

impl Files {
    /// Whether a path may be opened. What `..` and links lead to counts, not the name.
    fn allow(&self, path: &Path, writes: bool) -> bool {
        let real = |path: &Path| path.canonicalize().ok();
        let target = real(path).or_else(|| {
            // A file that is to be made: its folder must be there.
            let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let folder = real(folder.unwrap_or(Path::new(".")))?;
            Some(folder.join(path.file_name()?))
        });
        let Some(target) = target else { return false };
        let below =
            |paths: &[PathBuf]| paths.iter().filter_map(|p| real(p)).any(|p| target.starts_with(p));
        below(&self.write) || (!writes && below(&self.read))
    }
}

/// Linux's number for a failure, below zero.
const fn number_of(kind: ErrorKind) -> i64 {
    match kind {
        ErrorKind::NotFound => NOT_FOUND,
        ErrorKind::PermissionDenied => NOT_ALLOWED,
        ErrorKind::AlreadyExists => EXISTS,
        ErrorKind::InvalidInput => INVALID,
        _ => IO,
    }
}
