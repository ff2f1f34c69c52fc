//! The user's compile flags, as far as they change the meaning of a program's text.
//!
//! A build's flags serve many ends: output names, dependency files, warnings, optimisation,
//! linking. [`CompileFlags`] keeps those that decide what is parsed: macros and include paths for
//! the preprocessor, language and target for both steps. Everything else is left out, optimisation
//! levels included, since they only bring in fortified header variants of library functions.

use std::path::{Path, PathBuf};

/// Flags for one source file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct CompileFlags {
    /// Flags that only the preprocessor needs (`-I`, `-D`, `-include`, …), in order.
    preprocessor: Vec<String>,
    /// Flags that choose the language and the target (`-std`, `-f…`, `-m…`), in order.
    language: Vec<String>,
    /// Files among the flags beside the source itself, in order.
    inputs: Vec<String>,
    /// Where relative paths in the flags and the source start; `None` is the current directory.
    directory: Option<PathBuf>,
}

/// Why flags are not accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// A flag that takes an argument is the last one.
    #[error("the compile flag `{0}` needs an argument")]
    MissingArgument(String),
    /// The flags ask for another language than C.
    #[error("the compile flags ask for the language `{0}`; only C is supported")]
    Language(String),
}

/// The treatment of a flag.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Preprocessor,
    Language,
    Drop,
}

/// Flags whose argument is the next word, or is joined on when it is a single-letter style flag
/// or ends in `=`.
const WITH_ARGUMENT: &[(&str, bool, Use)] = &[
    // (flag, may its argument be joined to it, what is done with it)
    ("-I", true, Use::Preprocessor),
    ("-D", true, Use::Preprocessor),
    ("-U", true, Use::Preprocessor),
    ("-isystem-after", true, Use::Preprocessor),
    ("-isystem", true, Use::Preprocessor),
    ("-iquote", true, Use::Preprocessor),
    ("-idirafter", true, Use::Preprocessor),
    ("-isysroot", true, Use::Preprocessor),
    ("-imacros", true, Use::Preprocessor),
    ("-include", true, Use::Preprocessor),
    ("-iprefix", true, Use::Preprocessor),
    ("-iwithprefixbefore", true, Use::Preprocessor),
    ("-iwithprefix", true, Use::Preprocessor),
    ("--sysroot", false, Use::Preprocessor),
    ("-Xpreprocessor", false, Use::Preprocessor),
    ("-target", false, Use::Language),
    ("--target", false, Use::Language),
    ("-arch", false, Use::Language),
    ("-Xclang", false, Use::Drop),
    ("-Xlinker", false, Use::Drop),
    ("-Xassembler", false, Use::Drop),
    ("-mllvm", false, Use::Drop),
    ("-o", true, Use::Drop),
    ("-MF", true, Use::Drop),
    ("-MT", true, Use::Drop),
    ("-MQ", true, Use::Drop),
    ("-MJ", true, Use::Drop),
    ("-l", true, Use::Drop),
    ("-L", true, Use::Drop),
    ("-T", true, Use::Drop),
    ("-u", true, Use::Drop),
    ("-z", false, Use::Drop),
    ("-aux-info", false, Use::Drop),
    ("--param", false, Use::Drop),
];

impl CompileFlags {
    /// Sorts the flags of a compiler's command line, given without the compiler's name. `source`
    /// is the file to be compiled, which is left out where it occurs.
    pub fn new(arguments: &[String], source: &Path) -> Result<Self, FlagError> {
        let mut flags = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            if let Some(&(name, joined, purpose)) = flag_with_argument(argument) {
                if argument.len() > name.len() && joined {
                    flags.keep(purpose, [argument.clone()]);
                } else {
                    let value = rest.next();
                    let value =
                        value.ok_or_else(|| FlagError::MissingArgument(argument.clone()))?;
                    flags.keep(purpose, [argument.clone(), value.clone()]);
                }
            } else if let Some(language) = argument.strip_prefix("-x") {
                let next = if language.is_empty() { rest.next().map(String::as_str) } else { None };
                check_language(next.unwrap_or(language))?;
            } else if argument.starts_with('-') {
                flags.keep(purpose_of(argument), [argument.clone()]);
            } else if Path::new(argument) != source {
                flags.inputs.push(argument.clone());
            }
        }
        Ok(flags)
    }

    /// The same flags with relative paths starting at `directory`.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Other inputs of the same command line, which are no business of this source.
    pub fn other_inputs(&self) -> impl Iterator<Item = &Path> {
        self.inputs.iter().map(Path::new)
    }

    /// The directory in which the compiler is to be run.
    pub fn directory(&self) -> Option<&Path> {
        self.directory.as_deref()
    }

    /// The flags for preprocessing: all that are kept.
    pub fn for_preprocessing(&self) -> impl Iterator<Item = &str> {
        self.language.iter().chain(&self.preprocessor).map(String::as_str)
    }

    /// The flags for parsing text that is preprocessed already.
    pub fn for_parsing(&self) -> impl Iterator<Item = &str> {
        self.language.iter().map(String::as_str)
    }

    /// Takes out a language flag that clang does not know. Returns whether it was there.
    pub fn drop_language_flag(&mut self, flag: &str) -> bool {
        let before = self.language.len();
        self.language.retain(|kept| kept != flag);
        self.language.len() != before
    }

    /// Whether signed overflow wraps around under these flags: the last of `-fwrapv`,
    /// `-fno-strict-overflow` and their opposites decides.
    pub fn wraps_on_overflow(&self) -> bool {
        let decisive = self.language.iter().rev().find_map(|flag| match flag.as_str() {
            "-fwrapv" | "-fno-strict-overflow" => Some(true),
            "-fno-wrapv" | "-fstrict-overflow" | "-ftrapv" => Some(false),
            _ => None,
        });
        decisive.unwrap_or(false)
    }

    /// Whether `//` starts a comment: not in strict C90.
    pub fn line_comments(&self) -> bool {
        !self.standard().is_some_and(is_strict_c90)
    }

    /// Whether the text is C of before 1999.
    pub fn before_c99(&self) -> bool {
        let standard = self.standard();
        standard.is_some_and(|standard| is_strict_c90(standard) || GNU_C90.contains(&standard))
    }

    /// The standard that the flags name.
    fn standard(&self) -> Option<&str> {
        self.language.iter().rev().find_map(|flag| match flag.as_str() {
            "-ansi" => Some("c90"),
            other => other.strip_prefix("-std=").or_else(|| other.strip_prefix("--std=")),
        })
    }

    fn keep<const N: usize>(&mut self, purpose: Use, words: [String; N]) {
        match purpose {
            Use::Preprocessor => self.preprocessor.extend(words),
            Use::Language => self.language.extend(words),
            Use::Drop => {}
        }
    }
}

/// The entry of [`WITH_ARGUMENT`] that the flag is, alone or with its argument joined on.
fn flag_with_argument(argument: &str) -> Option<&'static (&'static str, bool, Use)> {
    WITH_ARGUMENT.iter().find(|(name, joined, _)| {
        argument == *name || (*joined && argument.starts_with(name) && !is_other_flag(argument))
    })
}

/// Flags that begin like one with a joined argument but are something else.
fn is_other_flag(argument: &str) -> bool {
    ["-objc", "-undef", "-include-pch"].iter().any(|other| argument.starts_with(other))
        || (argument.starts_with("-include") && argument != "-include")
}

/// C90 with GNU's extensions.
const GNU_C90: [&str; 2] = ["gnu89", "gnu90"];

fn is_strict_c90(standard: &str) -> bool {
    matches!(standard, "c89" | "c90" | "iso9899:1990" | "iso9899:199409")
}

fn check_language(language: &str) -> Result<(), FlagError> {
    match language {
        "c" | "cpp-output" | "none" | "c-header" => Ok(()),
        other => Err(FlagError::Language(other.to_owned())),
    }
}

/// The treatment of a flag that takes no further word.
fn purpose_of(flag: &str) -> Use {
    const PREPROCESSOR: &[&str] = &["-nostdinc", "-undef", "-trigraphs", "-nobuiltininc", "-Wp,"];
    const NO_LANGUAGE: &[&str] = &[
        "-fsyntax-only",
        "-fdiagnostics",
        "-fcolor-diagnostics",
        "-fno-color-diagnostics",
        "-fno-diagnostics",
        "-fmax-errors",
        "-ferror-limit",
        "-fprofile",
        "-fcoverage",
        "-ftest-coverage",
        "-fsanitize",
        "-fno-sanitize",
        "-flto",
        "-fno-lto",
        "-fuse-ld",
        "-save-temps",
        "-fplugin",
        "-fdebug",
        "-fmacro-backtrace-limit",
        "-fdump",
        "-fmodules",
        "-fdirectives-only",
        "-mrelax-all",
    ];
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| flag.starts_with(prefix));
    if flag.starts_with("-Wp,-M") {
        Use::Drop
    } else if starts(PREPROCESSOR) || flag.starts_with("--sysroot=") {
        Use::Preprocessor
    } else if starts(NO_LANGUAGE) {
        Use::Drop
    } else if starts(&["-std=", "--std=", "-f", "-m", "--target="])
        || flag == "-ansi"
        || flag == "-pthread"
    {
        Use::Language
    } else {
        // Warnings, optimisation, debugging, dependency files, linking.
        Use::Drop
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(line: &str) -> CompileFlags {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        CompileFlags::new(&words, Path::new("a.c")).unwrap()
    }

    fn parts(line: &str) -> (String, String) {
        let flags = sorted(line);
        (flags.preprocessor.join(" "), flags.language.join(" "))
    }

    #[test]
    fn flags_that_change_the_meaning_are_kept_and_all_others_dropped() {
        let line = "-c -O2 -g -Wall -Werror -Iinc -I other -DX=1 -D Y -U Z -std=c99 -fwrapv -m32 \
                    -include pre.h -isystem sys -MD -MF a.d -MT a.o -o a.o a.c -lm -pthread";
        let (preprocessor, language) = parts(line);
        assert_eq!(preprocessor, "-Iinc -I other -DX=1 -D Y -U Z -include pre.h -isystem sys");
        assert_eq!(language, "-std=c99 -fwrapv -m32 -pthread");
    }

    #[test]
    fn an_output_name_joined_to_its_flag_is_dropped() {
        assert_eq!(parts("-oa.o -DA"), ("-DA".into(), String::new()));
    }

    #[test]
    fn a_flag_without_its_argument_is_an_error() {
        let error = CompileFlags::new(&["-I".to_owned()], Path::new("a.c")).unwrap_err();
        assert_eq!(error, FlagError::MissingArgument("-I".into()));
    }

    #[test]
    fn another_language_is_an_error() {
        let words = ["-x".to_owned(), "c++".to_owned()];
        let error = CompileFlags::new(&words, Path::new("a.c")).unwrap_err();
        assert_eq!(error, FlagError::Language("c++".into()));
    }

    #[test]
    fn the_last_overflow_flag_decides() {
        assert!(sorted("-fno-wrapv -fwrapv").wraps_on_overflow());
        assert!(!sorted("-fwrapv -fstrict-overflow").wraps_on_overflow());
        assert!(!sorted("").wraps_on_overflow());
    }

    #[test]
    fn the_last_standard_decides_what_c_the_text_is() {
        assert!(!sorted("").before_c99() && !sorted("-std=gnu89 -std=c99").before_c99());
        assert!(sorted("-std=gnu89").before_c99() && sorted("-std=gnu89").line_comments());
        assert!(sorted("-ansi").before_c99() && !sorted("-ansi").line_comments());
    }

    #[test]
    fn strict_c90_has_no_line_comments() {
        assert!(!sorted("-ansi").line_comments());
        assert!(!sorted("-std=c89").line_comments());
        assert!(sorted("-std=gnu89").line_comments());
        assert!(sorted("").line_comments());
    }
}
