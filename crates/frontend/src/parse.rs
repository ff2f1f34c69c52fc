//! From a source file to its typed syntax tree: the front end's first half.

use crate::ast::TranslationUnit;
use crate::clang::{Clang, ClangError, Message, Position, RunningClang, Runs, reject};
use crate::compile_commands::CompileCommandsError;
use crate::ctypes::TargetLayout;
use crate::decode::{Insertions, decode};
use crate::flags::{CompileFlags, FlagError};
use crate::layout::target;
use crate::preprocess::{
    PreprocessedText, Preprocessing, SelfRunning, SelfRunningAttributes, preprocess,
    without_markers,
};
use crate::unused::blank_unused;
use lydian_base::{Diagnostic, Place, SourceMap};
use lydian_ir::source::WrittenLine;
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// A request to parse a source file.
#[derive(Clone, Debug)]
pub struct ParseRequest {
    /// The C source file.
    pub source: PathBuf,
    /// The flags that it is compiled with.
    pub flags: CompileFlags,
    /// The clang to use; `None` looks for it, see [`Clang::locate`].
    pub clang: Option<Clang>,
    /// How the source is preprocessed.
    pub preprocessing: Preprocessing,
    /// What becomes of functions that run by themselves.
    pub self_running: SelfRunning,
}

impl ParseRequest {
    /// A request to parse `source` with `flags`, with the clang that is installed.
    pub fn new(source: impl Into<PathBuf>, flags: CompileFlags) -> Self {
        Self {
            source: source.into(),
            flags,
            clang: None,
            preprocessing: Preprocessing::Clang,
            self_running: SelfRunning::Stays,
        }
    }
}

/// A source file, parsed.
#[derive(Clone, Debug)]
pub struct ParsedUnit {
    /// Its syntax tree.
    pub ast: TranslationUnit,
    /// The preprocessed text that all spans are ranges of, and the way back to the user's files.
    pub source: SourceMap,
    /// The flags in use, without those that clang does not know.
    pub flags: CompileFlags,
    /// Warnings: flags that were left out, label comments that are none.
    pub diagnostics: Vec<Diagnostic>,
    /// The lines of comments in which the user writes hyperlabels.
    pub written: Vec<WrittenLine>,
    /// Whether C took the place of assembly that is not this machine's.
    pub had_foreign_assembly: bool,
    /// The attributes of functions that ran by themselves and are plain functions now.
    pub self_running: SelfRunningAttributes,
}

/// Why a source file was not parsed.
#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    /// The source file cannot be read.
    #[error("cannot read {path}: {error}")]
    Source {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Clang gave no result: it is missing, or it rejects the program.
    #[error(transparent)]
    Clang(#[from] ClangError),
    /// The compile flags are not accepted.
    #[error(transparent)]
    Flags(#[from] FlagError),
    /// The compilation database gives no flags.
    #[error(transparent)]
    CompileCommands(#[from] CompileCommandsError),
}

/// Parses one source file: asks clang for the target, preprocesses, parses, decodes. Runs clang
/// three times (five times with label comments), and once more where there are variable length
/// arrays. Constructs that are not modelled are
/// `Unsupported` nodes in the tree; an error means that there is no tree.
pub fn parse_unit(request: &ParseRequest) -> Result<ParsedUnit, FrontendError> {
    let clang = located(request)?;
    let ClangInput { flags, target, text, mut diagnostics } = prepare(&clang, request)?;
    let PreprocessedText {
        source,
        diagnostics: of_labels,
        written,
        had_foreign_assembly,
        self_running,
    } = text;
    diagnostics.extend(of_labels);
    let mut text = parsable(&clang, source.text());
    let none = Insertions::default();
    // Where another compiler preprocesses and compiles, clang only parses.
    let runs = match request.preprocessing {
        Preprocessing::Clang => Runs::Several,
        Preprocessing::Compiler { .. } | Preprocessing::Done => Runs::One,
    };
    if runs == Runs::One {
        blank_unused(&mut text, &source);
    }
    let mut running = start_dump(&clang, &flags, text, runs)?;
    let decoded = decode(&mut running.stdout, &source, target.clone(), &none);
    let messages = running.finish(&clang)?;
    reject(&messages, |message| place_of(message, &source))?;
    let (mut ast, wanted) = decoded.map_err(crate::decode::DecodeError::into_clang_error)?;
    if !wanted.is_empty() {
        // Where clang refuses the longer text, variable length arrays stay unsupported.
        let text = parsable(&clang, &wanted.apply(source.text()));
        let mut running = start_dump(&clang, &flags, text, runs)?;
        let decoded = decode(&mut running.stdout, &source, target, &wanted);
        let messages = running.finish(&clang)?;
        if let (Ok(()), Ok((with_bounds, _))) = (reject(&messages, |_| None), decoded) {
            ast = with_bounds;
        }
    }
    Ok(ParsedUnit { ast, source, flags, diagnostics, written, had_foreign_assembly, self_running })
}

/// What clang prints of a source file, with what is needed to decode it: for keeping, and for
/// tests of the decoder on what no clang prints.
#[derive(Clone, Debug)]
pub struct Dump {
    /// Record layouts and the tree in JSON.
    pub output: Vec<u8>,
    /// The preprocessed text.
    pub source: SourceMap,
    target: TargetLayout,
}

impl Dump {
    /// Has clang print one source file. Fails as [`parse_unit`] does.
    pub fn of(request: &ParseRequest) -> Result<Self, FrontendError> {
        let clang = located(request)?;
        let ClangInput { flags, target, text, .. } = prepare(&clang, request)?;
        let source = text.source;
        let text = parsable(&clang, source.text());
        let mut running = start_dump(&clang, &flags, text, Runs::One)?;
        let mut output = Vec::new();
        let read = running.stdout.read_to_end(&mut output);
        let messages = running.finish(&clang)?;
        reject(&messages, |message| place_of(message, &source))?;
        read.map_err(|error| ClangError::Io { program: "clang".into(), error })?;
        Ok(Self { output, source, target })
    }

    /// The tree, decoded from `output`. The bounds of variable length arrays, which clang does not
    /// print, are missing in it.
    pub fn decode(&self) -> Result<TranslationUnit, ClangError> {
        let (output, none) = (self.output.as_slice(), Insertions::default());
        let decoded = decode(output, &self.source, self.target.clone(), &none);
        Ok(decoded.map_err(crate::decode::DecodeError::into_clang_error)?.0)
    }
}

/// The clang to use for a source file that is there.
fn located(request: &ParseRequest) -> Result<Clang, FrontendError> {
    readable(&request.source)?;
    match &request.clang {
        Some(clang) => Ok(clang.clone()),
        None => Ok(Clang::locate()?),
    }
}

/// Starts the run of clang that prints the tree of a text.
fn start_dump(
    clang: &Clang,
    flags: &CompileFlags,
    text: Vec<u8>,
    runs: Runs,
) -> Result<RunningClang, ClangError> {
    let mut arguments = vec![
        "-fsyntax-only",
        // Warnings are the build's business, those that clang makes errors by default included.
        "-w",
        "-Wno-everything",
        "-Xclang",
        "-ast-dump=json",
        "-Xclang",
        "-fdump-record-layouts-complete",
    ];
    arguments.extend(flags.for_parsing());
    arguments.extend(["-x", "cpp-output", "-"]);
    clang.start(&arguments, None, text, runs)
}

/// The results of two runs of clang that do not wait for each other.
struct ClangInput {
    flags: CompileFlags,
    target: TargetLayout,
    text: PreprocessedText,
    diagnostics: Vec<Diagnostic>,
}

/// Asks for the target and preprocesses at the same time. Where clang does not know a flag, the
/// text is preprocessed again without it.
fn prepare(clang: &Clang, request: &ParseRequest) -> Result<ClangInput, FrontendError> {
    let mut flags = request.flags.clone();
    let text = |flags: &CompileFlags, how: &Preprocessing| {
        preprocess(clang, &request.source, flags, how, request.self_running)
    };
    let (probed, first) = std::thread::scope(|scope| {
        let text = scope.spawn(|| text(&request.flags, &request.preprocessing));
        let probed = target::probe(clang, &mut flags);
        (probed, text.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (target, diagnostics) = probed?;
    let text = match request.preprocessing == Preprocessing::Clang && flags != request.flags {
        false => first?,
        true => text(&flags, &Preprocessing::Clang)?,
    };
    Ok(ClangInput { flags, target, text, diagnostics })
}

fn readable(path: &Path) -> Result<(), FrontendError> {
    let open = std::fs::File::open(path).and_then(|file| file.metadata());
    let error = match open {
        Ok(metadata) if metadata.is_dir() => std::io::ErrorKind::IsADirectory.into(),
        Ok(_) => return Ok(()),
        Err(error) => error,
    };
    Err(FrontendError::Source { path: path.to_owned(), error })
}

/// The text as clang can read it, with the same offsets: with spaces in place of line markers, so that
/// clang counts the text's own lines, and without what only gcc knows.
fn parsable(clang: &Clang, text: &str) -> Vec<u8> {
    let mut bytes = without_markers(text);
    crate::gnu::adapt(clang, &mut bytes, text);
    for (at, word) in text.match_indices("__malloc__") {
        blank_argument(&mut bytes, at + word.len());
    }
    bytes
}

/// Blanks the parenthesis that follows: gcc's `__malloc__` attribute may name the function that
/// frees, which clang does not know, and which changes nothing that Lydian looks at.
fn blank_argument(bytes: &mut [u8], from: usize) {
    let blank = bytes[from..].iter().take_while(|byte| **byte == b' ').count();
    let open = from + blank;
    if bytes.get(open) != Some(&b'(') {
        return;
    }
    if let Some(length) = bytes[open..].iter().position(|byte| *byte == b')') {
        bytes[open..=open + length].fill(b' ');
    }
}

/// The user's place of a message about the preprocessed text.
fn place_of(message: &Message, source: &SourceMap) -> Option<Place> {
    let Position { line, column, .. } = message.at.as_ref()?;
    let lines = source.text().split_inclusive('\n');
    let before = lines.take(line.checked_sub(1)? as usize).map(str::len).sum::<usize>();
    let offset = u32::try_from(before).ok()?.checked_add(column.checked_sub(1)?)?;
    let last = u32::try_from(source.text().len()).ok()?;
    Some(source.place(offset.min(last)))
}
