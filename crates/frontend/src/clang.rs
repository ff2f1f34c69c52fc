//! Runs clang: the preprocessor, and the parser that prints record layouts and its AST as JSON.
//!
//! Clang 19 is required, since its JSON is no stable interface. The parser reads the preprocessed
//! text from its standard input with the line markers blanked. So every place that clang prints,
//! in messages, in the names of anonymous records and in layouts, is a line and column of that very
//! text, unique even where one header is read twice; the source map leads on to the user's files.

mod messages;

pub(crate) use messages::{Message, Position, parse_messages};

use lydian_base::{Diagnostic, Place};
use lydian_process::{Start, StartedProcess};
use std::ffi::OsString;
use std::io::{self, PipeReader, Read, Write};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

/// The environment variable that names another clang 19 than the one in `PATH`.
pub const CLANG_VARIABLE: &str = "LYDIAN_CLANG";

/// Why clang gave no result.
#[derive(Debug, thiserror::Error)]
pub enum ClangError {
    /// There is no clang 19.
    #[error(
        "cannot run `{program}`: install clang 19 (Debian: `apt-get install clang-19`), or set \
         LYDIAN_CLANG to its path"
    )]
    Missing {
        /// The program that was tried.
        program: String,
    },
    /// The system could not run it or lost the connection to it.
    #[error("running `{program}` failed: {error}")]
    Io {
        /// The program.
        program: String,
        /// The system's error.
        error: io::Error,
    },
    /// Its output is not the JSON of clang 19.
    #[error("clang's syntax tree cannot be read; clang 19 is needed: {0}")]
    Json(serde_json::Error),
    /// It found errors in the program or its flags.
    #[error("clang rejects the program: {}", first_message(.0))]
    Rejected(Vec<Diagnostic>),
}

fn first_message(diagnostics: &[Diagnostic]) -> String {
    diagnostics.first().map_or_else(String::new, |first| match &first.place {
        Some(place) => format!("{place}: {}", first.message),
        None => first.message.clone(),
    })
}

/// A clang to run.
#[derive(Clone, Debug)]
pub struct Clang {
    program: OsString,
}

impl Clang {
    /// The clang that `LYDIAN_CLANG` names, else `clang-19` from `PATH`. That it can be run shows
    /// only when it is.
    pub fn locate() -> Result<Self, ClangError> {
        let named = std::env::var_os(CLANG_VARIABLE).filter(|name| !name.is_empty());
        let clang = Self { program: named.unwrap_or_else(|| "clang-19".into()) };
        let on_path = |directory: PathBuf| directory.join(&clang.program).is_file();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let found =
            Path::new(&clang.program).is_file() || std::env::split_paths(&path).any(on_path);
        if found { Ok(clang) } else { Err(ClangError::Missing { program: clang.name() }) }
    }

    /// A clang at a path of the caller's choice.
    pub fn at(program: impl Into<OsString>) -> Self {
        Self { program: program.into() }
    }

    /// Lets it be loaded meanwhile, to be ready when it is first run.
    pub fn prepare(&self) {
        lydian_process::prepare(&self.program);
    }

    /// How it is started: its path, or its name in `PATH`.
    pub fn program(&self) -> &std::ffi::OsStr {
        &self.program
    }

    /// Runs clang with `input` as its standard input and gives its whole output. Errors that it
    /// reports become [`ClangError::Rejected`] with the places that it prints.
    pub(crate) fn output(
        &self,
        arguments: &[&str],
        directory: Option<&Path>,
        input: &[u8],
    ) -> Result<Vec<u8>, ClangError> {
        let mut running = self.start(arguments, directory, input.to_vec(), Runs::Several)?;
        let mut output = Vec::new();
        let read = running.stdout.read_to_end(&mut output).map_err(|error| self.io(error));
        let messages = running.finish(self)?;
        read?;
        let place = |message: &Message| {
            message.at.as_ref().map(|at| Place {
                file: at.file.as_str().into(),
                line: at.line,
                column: at.column,
            })
        };
        reject(&messages, place)?;
        Ok(output)
    }

    /// Starts clang; its output is read from the result, then `finish` waits for it.
    pub(crate) fn start(
        &self,
        arguments: &[&str],
        directory: Option<&Path>,
        input: Vec<u8>,
        runs: Runs,
    ) -> Result<RunningClang, ClangError> {
        let mut start = Start::new(&self.program)
            .args(["-fno-color-diagnostics", "-fno-caret-diagnostics", "-Qunused-arguments"])
            .args(arguments)
            .piped_input()
            .piped_output();
        if let Some(directory) = directory {
            start = start.directory(directory);
        }
        if runs == Runs::One {
            start = start.last();
        }
        let mut started = start.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if directory.is_none_or(Path::is_dir) => {
                ClangError::Missing { program: self.name() }
            }
            _ => self.io(error),
        })?;
        let missing = || self.io(io::Error::other("a pipe to it is missing"));
        let mut stdin = started.input.take().ok_or_else(missing)?;
        let stdout = started.output.take().ok_or_else(missing)?;
        let mut stderr = started.messages.try_clone().map_err(|error| self.io(error))?;
        // Clang may stop reading early, after an error: then the write fails, and the message
        // says why.
        let writer = thread::spawn(move || drop(stdin.write_all(&input)));
        let messages = thread::spawn(move || {
            let mut text = Vec::new();
            stderr.read_to_end(&mut text).map(|_| text)
        });
        Ok(RunningClang { started, stdout, writer, messages })
    }

    fn io(&self, error: io::Error) -> ClangError {
        ClangError::Io { program: self.name(), error }
    }

    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }
}

/// Whether a run of clang is hardly followed by others, so that copies of it are not worth making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    One,
    Several,
}

/// A clang that is at work.
pub(crate) struct RunningClang {
    started: StartedProcess,
    /// Its output.
    pub(crate) stdout: PipeReader,
    writer: JoinHandle<()>,
    messages: JoinHandle<io::Result<Vec<u8>>>,
}

impl RunningClang {
    /// Waits for the end and gives the errors that clang reported. The output must have been read
    /// to its end, or clang is stopped. A clang that fails without a message is an error here.
    pub(crate) fn finish(self, clang: &Clang) -> Result<Vec<Message>, ClangError> {
        let Self { started, stdout, writer, messages } = self;
        drop(stdout);
        let joined = messages.join().unwrap_or_else(|_| Ok(Vec::new()));
        let text = joined.map_err(|error| clang.io(error))?;
        let status = started.wait().map_err(|error| clang.io(error))?;
        // The writer ends by itself once clang has closed its input.
        drop(writer.join());
        let messages = parse_messages(&String::from_utf8_lossy(&text));
        if !status.success() && messages.is_empty() {
            let said = String::from_utf8_lossy(&text).trim().to_owned();
            return Err(clang.io(io::Error::other(format!("{status}: {said}"))));
        }
        Ok(messages)
    }
}

/// Makes an error of the messages, if there are any. `place` gives the user's place of a message.
pub(crate) fn reject(
    messages: &[Message],
    place: impl Fn(&Message) -> Option<Place>,
) -> Result<(), ClangError> {
    if messages.is_empty() {
        return Ok(());
    }
    let diagnostic = |message: &Message| {
        let diagnostic = Diagnostic::error("c-error", &message.text);
        let diagnostic = match place(message) {
            Some(place) => diagnostic.at(place),
            None => diagnostic,
        };
        message.notes.iter().fold(diagnostic, |diagnostic, note| diagnostic.note(note))
    };
    Err(ClangError::Rejected(messages.iter().map(diagnostic).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_clang_says_what_to_install() {
        let clang = Clang::at("/no/such/clang-19");
        let error = clang.output(&["--version"], None, b"").unwrap_err();
        assert!(error.to_string().contains("apt-get install clang-19"), "{error}");
    }

    #[test]
    fn a_syntax_error_has_its_place_and_text() {
        let clang = Clang::locate().unwrap();
        let error =
            clang.output(&["-fsyntax-only", "-x", "c", "-"], None, b"int a\n= ;").unwrap_err();
        let ClangError::Rejected(diagnostics) = error else { panic!("{error}") };
        assert_eq!(diagnostics[0].message, "expected expression");
        assert_eq!(diagnostics[0].place.as_ref().unwrap().to_string(), "<stdin>:2:3");
    }

    #[test]
    fn an_unknown_flag_is_an_error_without_a_place() {
        let clang = Clang::locate().unwrap();
        let error = clang.output(&["-fno-such-flag", "-E", "-x", "c", "-"], None, b"").unwrap_err();
        let ClangError::Rejected(diagnostics) = error else { panic!("{error}") };
        assert!(
            diagnostics[0].message.contains("-fno-such-flag") && diagnostics[0].place.is_none()
        );
    }
}
