//! The user's compiler: its identification, and its runs.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Output, Stdio};

use lydian_base::Diagnostic;

use crate::error::{Error, ErrorKind};

/// The default compiler.
const DEFAULT: &str = "clang-19";

/// A compiler.
#[derive(Clone, Debug)]
pub(crate) struct Compiler {
    /// The program that starts compilations: a cache, or one that distributes them to other machines.
    launcher: Option<PathBuf>,
    /// The program.
    pub(crate) program: PathBuf,
    /// Whether it is gcc; else it takes clang's options.
    pub(crate) is_gcc: bool,
}

impl Compiler {
    /// The compiler of a command, and the words after it. The first word is the compiler, or the
    /// second if the first is a launcher, if it is no option and no file, and can be found in `PATH`
    /// or is a path of a program; else `named` is, else `LYDIAN_CC`, else clang.
    pub(crate) fn of<'w>(named: Option<&str>, words: &'w [String]) -> (CompilerName, &'w [String]) {
        let (program, rest): (PathBuf, _) = match words.split_first() {
            Some((first, rest)) if is_program(first) => (first.as_str().into(), rest),
            _ => {
                let from_environment = std::env::var("LYDIAN_CC").ok();
                let from_environment = from_environment.filter(|name| !name.is_empty());
                let name = named.map(str::to_owned).or(from_environment);
                (name.unwrap_or_else(|| DEFAULT.to_owned()).into(), words)
            }
        };
        match rest.split_first() {
            Some((next, rest)) if is_launcher(&program) && is_program(next) => {
                (CompilerName { launcher: Some(program), program: next.into() }, rest)
            }
            _ => (CompilerName { launcher: None, program }, rest),
        }
    }

    /// Identifies a compiler by its name, or else by its predefined macros.
    pub(crate) fn at(CompilerName { launcher, program }: CompilerName) -> Self {
        let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_gcc = match (name.contains("clang"), name.contains("gcc")) {
            (true, _) => false,
            (_, true) => true,
            _ => !predefines_clang(&program),
        };
        Self { launcher, program, is_gcc }
    }

    /// Runs it on these words; its messages go where Lydian's go.
    pub(crate) fn run(&self, words: &[String]) -> Result<ExitStatus, Error> {
        let mut command = command(self.launcher.as_deref(), &self.program);
        command.args(words).status().map_err(|error| unstartable(&self.program, &error))
    }

    /// Runs it and captures its output.
    pub(crate) fn output(&self, words: &[String]) -> Result<Output, Error> {
        let mut command = command(self.launcher.as_deref(), &self.program);
        command.args(words).stdin(Stdio::null());
        command.output().map_err(|error| unstartable(&self.program, &error))
    }
}

/// A compiler as a command names it.
#[derive(Debug)]
pub(crate) struct CompilerName {
    launcher: Option<PathBuf>,
    pub(crate) program: PathBuf,
}

impl CompilerName {
    /// A compiler without a launcher.
    pub(crate) fn alone(program: &str) -> Self {
        Self { launcher: None, program: program.into() }
    }

    /// The command that runs it on these words.
    pub(crate) fn command(&self, words: &[impl AsRef<std::ffi::OsStr>]) -> Command {
        let mut command = command(self.launcher.as_deref(), &self.program);
        command.args(words);
        log::debug!("starting {command:?}");
        command
    }
}

fn command(launcher: Option<&Path>, program: &Path) -> Command {
    match launcher {
        Some(launcher) => {
            let mut command = Command::new(launcher);
            command.arg(program);
            command
        }
        None => Command::new(program),
    }
}

/// Whether a program starts the compiler that is named after it.
fn is_launcher(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default();
    ["ccache", "sccache", "distcc", "icecc"].iter().any(|known| name == *known)
}

/// The exit code that a shell would give for the status.
pub(crate) fn code(status: ExitStatus) -> u8 {
    let by_signal = || status.signal().map_or(1, |signal| 128 + signal);
    status.code().unwrap_or_else(by_signal) as u8
}

/// The error for a compiler that cannot be started.
pub fn unstartable(program: &Path, error: &std::io::Error) -> Error {
    let message = format!("cannot start the compiler {}: {error}", program.display());
    let diagnostic = Diagnostic::error("compiler", message)
        .note("name another one as the first word after `--`, with `--compiler` or in LYDIAN_CC");
    Error::new(ErrorKind::Environment, diagnostic)
}

/// Whether a word names a compiler rather than an input.
fn is_program(word: &str) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    if word.starts_with(['-', '@']) || word.is_empty() {
        return false;
    }
    let is_executable = |path: &Path| {
        path.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let path = Path::new(word);
    let is_input = path.extension().is_some_and(|extension| {
        ["c", "i", "o", "a", "so", "s", "S", "lo"].iter().any(|known| extension == *known)
    });
    if is_input {
        return false;
    }
    if word.contains('/') {
        return is_executable(path);
    }
    let search = std::env::var_os("PATH").unwrap_or_default();
    !path.exists() && std::env::split_paths(&search).any(|folder| is_executable(&folder.join(word)))
}

fn predefines_clang(program: &Path) -> bool {
    let words = ["-dM", "-E", "-x", "c", "/dev/null"];
    let asked = Command::new(program).args(words).stdin(Stdio::null()).output();
    asked.is_ok_and(|answer| String::from_utf8_lossy(&answer.stdout).contains("__clang__"))
}
