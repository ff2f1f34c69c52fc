//! From a source file to its typed syntax tree: the front end's first half.

use crate::ast::TranslationUnit;
use crate::clang::{Clang, ClangError, Message, reject};
use crate::compile_commands::CompileCommandsError;
use crate::decode::{Insertions, decode};
use crate::flags::{CompileFlags, FlagError};
use crate::layout::target;
use crate::preprocess::{Preprocessed, preprocess};
use lydian_base::{Diagnostic, Place, SourceMap};
use std::path::{Path, PathBuf};

/// What to parse.
#[derive(Clone, Debug)]
pub struct ParseRequest {
    /// The C source file.
    pub source: PathBuf,
    /// The flags that it is compiled with.
    pub flags: CompileFlags,
    /// The clang to use; `None` looks for it, see [`Clang::locate`].
    pub clang: Option<Clang>,
}

impl ParseRequest {
    /// A request to parse `source` with `flags`, with the clang that is installed.
    pub fn new(source: impl Into<PathBuf>, flags: CompileFlags) -> Self {
        Self { source: source.into(), flags, clang: None }
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
}

/// Why a source file was not parsed.
#[derive(Debug, thiserror::Error)]
pub enum FrontendError {
    /// The source file cannot be read.
    #[error("cannot read {path}: {error}")]
    Source {
        /// The file.
        path: PathBuf,
        /// What the system said.
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
    readable(&request.source)?;
    let clang = match &request.clang {
        Some(clang) => clang.clone(),
        None => Clang::locate()?,
    };
    let mut flags = request.flags.clone();
    let (target, mut diagnostics) = target::probe(&clang, &mut flags)?;
    let Preprocessed { source, diagnostics: of_labels } =
        preprocess(&clang, &request.source, &flags)?;
    diagnostics.extend(of_labels);
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
    let text = without_line_markers(source.text());
    let none = Insertions::default();
    let mut running = clang.start(&arguments, None, text)?;
    let decoded = decode(&mut running.stdout, &source, target.clone(), &none);
    let messages = running.finish(&clang)?;
    reject(&messages, |message| place_of(message, &source))?;
    let (mut ast, wanted) = decoded.map_err(crate::decode::DecodeError::into_clang_error)?;
    if !wanted.is_empty() {
        // Where clang refuses the longer text, variable length arrays stay unsupported.
        let text = without_line_markers(&wanted.apply(source.text()));
        let mut running = clang.start(&arguments, None, text)?;
        let decoded = decode(&mut running.stdout, &source, target, &wanted);
        let messages = running.finish(&clang)?;
        if let (Ok(()), Ok((with_bounds, _))) = (reject(&messages, |_| None), decoded) {
            ast = with_bounds;
        }
    }
    Ok(ParsedUnit { ast, source, flags, diagnostics })
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

/// The text with spaces in place of line markers, so that clang counts the text's own lines.
fn without_line_markers(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marker = line
            .strip_prefix("# ")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if marker {
            let end = start + line.trim_end_matches('\n').len();
            bytes[start..end].fill(b' ');
        }
        start += line.len();
    }
    bytes
}

/// The user's place of a message about the preprocessed text.
fn place_of(message: &Message, source: &SourceMap) -> Option<Place> {
    let (_, line, column) = message.at.as_ref()?;
    let lines = source.text().split_inclusive('\n');
    let before = lines.take(line.checked_sub(1)? as usize).map(str::len).sum::<usize>();
    let offset = u32::try_from(before).ok()?.checked_add(column.checked_sub(1)?)?;
    let last = u32::try_from(source.text().len()).ok()?;
    Some(source.place(offset.min(last)))
}
