//! Preprocessing: from the user's file and flags to one text that everything else works on.
//!
//! Clang's preprocessor runs with the user's flags and keeps comments; [`comments`] then blanks
//! them and turns label comments into calls of `lydian_label`, which a declaration in front of the
//! text makes known. `__LYDIAN__` is defined, so that a program may declare its labels only for
//! Lydian. The predicates of label comments may use macros: they are expanded with the macros that
//! are defined at the comment's place, in a second run that is made only when there are labels.

mod attributes;
mod blocks;
mod comments;
mod edits;
mod foreign;
mod self_running;

use crate::clang::{Clang, ClangError};
use crate::flags::CompileFlags;
use attributes::move_layout_attributes;
use comments::{LabelComment, StrippedText, strip_comments};
use edits::{Edit, Edits};
pub(crate) use foreign::without_markers;
use foreign::{Replacements, foreign_assembly};
use lydian_base::{Diagnostic, Place, SourceMap};
use lydian_ir::source::WrittenLine;
use self_running::{INTERRUPT, made_plain};
pub use self_running::{SELF_RUNNING, SelfRunning, SelfRunningAttributes};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The function that user labels call: `lydian_label("name", predicate)`.
pub const LABEL_FUNCTION: &str = "lydian_label";

/// The macro that is defined while Lydian reads a program.
pub const LYDIAN_MACRO: &str = "__LYDIAN__";

/// What stands in front of every preprocessed text: variadic, so that a predicate of any scalar
/// type is accepted.
const PRELUDE: &str = "# 1 \"<lydian>\" 1 3\nextern void lydian_label(const char *, ...);\n";

/// What stands in front of a text that gcc preprocessed, so that clang can read it: the types that
/// gcc knows and clang does not. It is one line of its own file; a text for gcc does without it.
pub const GNU_TYPES: &str = "# 1 \"<lydian>\" 1 3\ntypedef float _Float32; \
    typedef double _Float64; typedef double _Float32x; typedef long double _Float64x; \
    typedef __float128 _Float128;\n";

/// How a source file becomes one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Preprocessing {
    /// Clang preprocesses it with the flags.
    #[default]
    Clang,
    /// A compiler of the user's does.
    Compiler {
        /// The compiler.
        program: OsString,
        /// Its arguments, without those that make it preprocess and without the source.
        arguments: Vec<String>,
        /// Whether it is gcc, whose text needs [`GNU_TYPES`].
        is_gcc: bool,
    },
    /// The file holds preprocessed text.
    Done,
}

/// A preprocessed translation unit.
#[derive(Clone, Debug)]
pub struct PreprocessedText {
    /// The text and the way back to the user's files.
    pub source: SourceMap,
    /// Label comments that could not become labels.
    pub diagnostics: Vec<Diagnostic>,
    /// The lines of comments in which the user writes hyperlabels.
    pub written: Vec<WrittenLine>,
    /// Whether C took the place of assembly that is not this machine's.
    pub had_foreign_assembly: bool,
    /// The attributes of functions that ran by themselves and are plain functions now.
    pub self_running: SelfRunningAttributes,
}

/// Preprocesses `source` with the user's flags. Runs clang once, and twice more when there are
/// label comments.
pub fn preprocess(
    clang: &Clang,
    source: &Path,
    flags: &CompileFlags,
    how: &Preprocessing,
    self_running: SelfRunning,
) -> Result<PreprocessedText, ClangError> {
    let input = absolute_if_moved(source, flags);
    let text = |mode: &str| match how {
        Preprocessing::Clang => run(clang, &input, flags, mode),
        Preprocessing::Compiler { program, arguments, .. } => {
            run_compiler(program, arguments, &input, mode)
        }
        Preprocessing::Done => std::fs::read(&input)
            .map_err(|error| ClangError::Io { program: "the preprocessed text".to_owned(), error }),
    };
    let raw = text("-C")?;
    let mut stripped = strip_comments(&raw, flags.line_comments());
    if !stripped.labels.is_empty() {
        let with_macros = strip_comments(&text("-dD")?, flags.line_comments());
        expand_predicates(clang, &mut stripped.labels, &with_macros)?;
    }
    let is_gcc = matches!(how, Preprocessing::Compiler { is_gcc: true, .. });
    let words = match (self_running, how) {
        (SelfRunning::IsPlain, _) => &SELF_RUNNING[..],
        // No compiler for this machine takes the handlers of another.
        (SelfRunning::Stays, Preprocessing::Clang) => &[INTERRUPT],
        (SelfRunning::Stays, _) => &[],
    };
    let plain = made_plain(&stripped.text, words);
    let foreign = match how {
        Preprocessing::Clang => foreign_assembly(clang, flags, &stripped.text, &plain.0)?,
        // The user's own compiler assembles it.
        Preprocessing::Compiler { .. } | Preprocessing::Done => Replacements::default(),
    };
    let mut made = assemble(&stripped, (&foreign, plain), &input.to_string_lossy(), is_gcc);
    made.source.find_columns(|file| {
        let path = flags.directory().map_or_else(|| PathBuf::from(file), |base| base.join(file));
        let bytes = std::fs::read(path).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    });
    Ok(made)
}

/// Runs another compiler's preprocessor. Its messages are dropped: the compilation itself will
/// print them.
fn run_compiler(
    program: &OsString,
    arguments: &[String],
    source: &Path,
    mode: &str,
) -> Result<Vec<u8>, ClangError> {
    let name = || program.to_string_lossy().into_owned();
    let output = Command::new(program)
        .args(arguments)
        .args(["-E", "-C", mode, "-w", &format!("-D{LYDIAN_MACRO}=1")])
        .arg(source)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| ClangError::Io { program: name(), error })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().find(|line| line.contains("error")).unwrap_or("").to_owned();
            let message = format!("{}: {first}", output.status);
            Err(ClangError::Io { program: name(), error: std::io::Error::other(message) })
        }
    }
}

/// The path to give to clang: relative ones mean the current directory, not the flags'.
fn absolute_if_moved(source: &Path, flags: &CompileFlags) -> PathBuf {
    match flags.directory() {
        Some(_) => std::path::absolute(source).unwrap_or_else(|_| source.to_owned()),
        None => source.to_owned(),
    }
}

/// Runs the preprocessor with comments kept; `-dD` keeps macro definitions too.
fn run(
    clang: &Clang,
    source: &Path,
    flags: &CompileFlags,
    mode: &str,
) -> Result<Vec<u8>, ClangError> {
    let define = format!("-D{LYDIAN_MACRO}=1");
    let mut arguments = vec!["-E", "-C", mode, "-w", "-x", "c", &define];
    arguments.extend(flags.for_preprocessing());
    let path = source.to_string_lossy();
    arguments.extend(["--", &*path]);
    clang.output(&arguments, flags.directory(), b"")
}

/// Replaces each predicate by its expansion under the macros defined where it stands.
/// `with_macros` is the same text with its macro definitions.
fn expand_predicates(
    clang: &Clang,
    labels: &mut [LabelComment],
    with_macros: &StrippedText,
) -> Result<(), ClangError> {
    const MARK: &str = "lydian_predicate_";
    let mut input = String::new();
    let mut macros = with_macros.macros.iter().peekable();
    for (number, label) in with_macros.labels.iter().enumerate() {
        while let Some((_, line)) = macros.next_if(|(at, _)| *at <= label.at) {
            input.push_str(line);
            input.push('\n');
        }
        input.push_str(&format!("{MARK}{number} {}\n", label.predicate));
    }
    let arguments = ["-E", "-P", "-undef", "-nostdinc", "-w", "-x", "c", "-"];
    let output = clang.output(&arguments, None, input.as_bytes())?;
    for line in String::from_utf8_lossy(&output).lines() {
        let expanded = line.trim().strip_prefix(MARK).and_then(|rest| rest.split_once(' '));
        let Some((number, predicate)) = expanded else { continue };
        if let Some(label) = number.parse().ok().and_then(|n: usize| labels.get_mut(n)) {
            predicate.trim().clone_into(&mut label.predicate);
        }
    }
    Ok(())
}

/// Puts the prelude and the calls into the text, and the attributes where clang needs them.
fn assemble(
    stripped: &StrippedText,
    (foreign, (plain, self_running)): (&Replacements, (Vec<Edit>, SelfRunningAttributes)),
    main_file: &str,
    is_gcc: bool,
) -> PreprocessedText {
    let mut edits = move_layout_attributes(&stripped.text);
    edits.extend(plain);
    edits.extend(foreign.edits.iter().cloned());
    edits.extend(stripped.labels.iter().map(|label| Edit {
        at: label.at,
        delete: 0,
        insert: format!("{LABEL_FUNCTION}(\"{}\", {});", label.name, label.predicate),
    }));
    if !foreign.prelude.is_empty() {
        edits.insert(0, Edit { at: 0, delete: 0, insert: foreign.prelude.clone() });
    }
    if !declares_label_function(&stripped.text) {
        edits.insert(0, Edit { at: 0, delete: 0, insert: PRELUDE.to_owned() });
    }
    if is_gcc {
        edits.insert(0, Edit { at: 0, delete: 0, insert: GNU_TYPES.to_owned() });
    }
    let edits = Edits::new(edits);
    let source = SourceMap::from_preprocessed(edits.apply(&stripped.text), main_file);
    let place = |at: usize| source.place(edits.moved(at) as u32);
    let diagnostics = stripped.bad.iter();
    let diagnostics =
        diagnostics.map(|bad| Diagnostic::warning("label-comment", bad.reason).at(place(bad.at)));
    let mut diagnostics: Vec<Diagnostic> = diagnostics.collect();
    diagnostics.extend(foreign.diagnostics(&source, |at| edits.moved(at)));
    let written = stripped.written.iter().map(|line| {
        let Place { file, line: number, column } = place(line.at);
        WrittenLine {
            text: line.text.clone(),
            place: Place { file, line: number, column: column + line.skipped as u32 },
            at: edits.moved(line.at) as u32,
            begins: line.begins,
        }
    });
    let written = written.collect();
    let had_foreign_assembly = !foreign.places.is_empty();
    PreprocessedText { source, diagnostics, written, had_foreign_assembly, self_running }
}

/// Whether the program declares `lydian_label` itself.
fn declares_label_function(text: &str) -> bool {
    text.match_indices(LABEL_FUNCTION).any(|(at, _)| {
        let before = text[..at].trim_end();
        before.ends_with("void") || before.ends_with("int")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn preprocess_text(text: &str) -> PreprocessedText {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        std::fs::write(&path, text).unwrap();
        let clang = Clang::locate().unwrap();
        preprocess(
            &clang,
            &path,
            &CompileFlags::default(),
            &Preprocessing::Clang,
            SelfRunning::Stays,
        )
        .unwrap()
    }

    #[test]
    fn a_label_comment_becomes_a_call_on_its_own_line() {
        let text = "int f(int a) {\n  //! big: a > 3\n  return a; // done\n}\n";
        let result = preprocess_text(text);
        let text = result.source.text();
        let at = text.find("lydian_label(\"big\", a > 3);").unwrap();
        let place = result.source.place(at as u32);
        assert_eq!((place.line, place.column), (2, 3));
        let after = result.source.place(text.find("return").unwrap() as u32);
        assert_eq!((after.line, after.column), (3, 3));
        assert!(!text.contains("done") && result.diagnostics.is_empty());
    }

    #[test]
    fn the_predicate_of_a_label_comment_sees_the_macros_of_its_place() {
        let text = "#define LIMIT 3\n#define BIG(x) ((x) > LIMIT)\nint f(int a) {\n\
                    //! one: BIG(a)\n#undef LIMIT\n#define LIMIT 4\n//! two: BIG(a)\nreturn a; }\n";
        let result = preprocess_text(text);
        assert!(result.source.text().contains("lydian_label(\"one\", ((a) > 3));"));
        assert!(result.source.text().contains("lydian_label(\"two\", ((a) > 4));"));
    }

    #[test]
    fn a_malformed_label_comment_is_reported_where_the_user_wrote_it() {
        let text = "int f(int a) {\n  //! ok: a\n  //! nothing\n  return a;\n}\n";
        let result = preprocess_text(text);
        let place = result.diagnostics[0].place.as_ref().unwrap();
        assert_eq!((result.diagnostics.len(), place.line, place.column), (1, 3, 3));
    }

    #[test]
    fn a_program_that_declares_the_label_function_keeps_its_declaration() {
        let text = "void lydian_label(const char *name, int predicate);\n";
        assert!(!preprocess_text(text).source.text().contains("<lydian>"));
        assert!(preprocess_text("int a;\n").source.text().contains("<lydian>"));
    }

    #[test]
    fn lydians_macro_is_defined() {
        let text = "#ifdef __LYDIAN__\nint seen;\n#endif\n";
        assert!(preprocess_text(text).source.text().contains("int seen;"));
    }

    #[test]
    fn a_missing_header_is_reported_with_its_place() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.c");
        std::fs::write(&path, "\n#include \"no_such.h\"\n").unwrap();
        let clang = Clang::locate().unwrap();
        let error = preprocess(
            &clang,
            &path,
            &CompileFlags::default(),
            &Preprocessing::Clang,
            SelfRunning::Stays,
        )
        .unwrap_err();
        let ClangError::Rejected(diagnostics) = error else { panic!("{error}") };
        assert_eq!(diagnostics[0].place.as_ref().unwrap().line, 2);
        assert!(diagnostics[0].message.contains("no_such.h"));
    }
}
