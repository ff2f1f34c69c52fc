//! Lydian's own C library: what is clearer in C than as a model in Rust.
//!
//! `src/c/` has it, in files of one subject each. It is compiled against the system's headers, so
//! that `FILE`, `struct tm` and all constants are those of the user's code, lowered by the front end
//! like any program, and linked into a program where that leaves something undefined
//! ([`lydian_ir::link`]). Its functions are marked [`lydian_ir::Function::library`].
//!
//! Beneath it lie two things: the functions that engines model ([`lydian_ir::libc::MODELLED`]:
//! `memcpy`, `malloc`, `sin`, …), and a few host calls (`__lydian_write` and so on, `internal.h`),
//! which the interpreter serves when it runs a whole program.
//!
//! Its results are glibc's in the C locale, byte for byte where C or POSIX leave no choice and, for
//! `rand`, `qsort`'s comparisons, `%p` and the texts of errors, where they do.

use std::fmt::Write as _;

use lydian_base::cache::Cache;
use lydian_base::{Diagnostic, SourceMap};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{FrontendError, LoadRequest, ParseRequest, Unit, load};
use lydian_ir::libc::{Exploration, Source, library_function};
use lydian_ir::link::{LinkError, LinkUnit, LinkedUnits, Role, link, resolve_weak};
use lydian_ir::{CType, Function, IntKind, Linkage, Program};

use kept::KeptProgram;

mod kept;

/// The files, by name, in the order in which they are compiled as one.
const FILES: [(&str, &str); 19] = [
    ("internal.h", include_str!("c/internal.h")),
    ("stream.c", include_str!("c/stream.c")),
    ("decimal.c", include_str!("c/decimal.c")),
    ("number.c", include_str!("c/number.c")),
    ("format.c", include_str!("c/format.c")),
    ("printf.c", include_str!("c/printf.c")),
    ("scanf.c", include_str!("c/scanf.c")),
    ("long_double.c", include_str!("c/long_double.c")),
    ("long_double_maths.c", include_str!("c/long_double_maths.c")),
    ("process.c", include_str!("c/process.c")),
    ("random.c", include_str!("c/random.c")),
    ("sort.c", include_str!("c/sort.c")),
    ("text.c", include_str!("c/text.c")),
    ("wide.c", include_str!("c/wide.c")),
    ("clock.c", include_str!("c/clock.c")),
    ("posix.c", include_str!("c/posix.c")),
    ("maths.c", include_str!("c/maths.c")),
    ("complex.c", include_str!("c/complex.c")),
    ("error_number.c", include_str!("c/error_number.c")),
];

/// What stands in front of the places of the library's files.
pub const FILE_PREFIX: &str = "lydian:libc/";

/// How the names of functions begin that the library's files share.
const INTERNAL_PREFIX: &str = "lydian_";

/// What the library is linked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Running a whole program: `exit` calls what `atexit` was given and writes what is buffered.
    Run,
    /// Exploring functions: only what is worth following is linked in.
    Explore,
}

/// Standard input and files that are inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    /// How many bytes standard input has at most.
    pub stdin: u32,
    /// How many files there are: `A`, `B` and so on, at most 26.
    pub files: u32,
    /// How many bytes each has at most.
    pub file_bytes: u32,
}

impl Inputs {
    /// The names of standard input and of the files, as [`lydian_ir::test::INPUT_PREFIX`] has them.
    pub fn names(&self) -> Vec<String> {
        let files = (0..self.files.min(26)).map(|file| char::from(b'A' + file as u8).to_string());
        std::iter::once("stdin".to_owned()).chain(files).collect()
    }

    /// What reads them, to be linked before the rest of the library.
    ///
    /// # Errors
    /// As [`Library::lower`] has them.
    pub fn lower(&self, flags: &CompileFlags) -> Result<Library, ClibError> {
        let each: Vec<String> = self.names().iter().map(|name| format!("DO({name})")).collect();
        let text = format!(
            "#define LYDIAN_STDIN {}\n#define LYDIAN_FILES {}\n#define LYDIAN_FILE {}\n\
             #define LYDIAN_EACH(DO) {}\n#line 1 \"{FILE_PREFIX}inputs.c\"\n{}",
            self.stdin,
            self.files.min(26),
            self.file_bytes,
            each.join(" "),
            include_str!("c/inputs.c"),
        );
        Library::lower_text("inputs.c", &text, flags)
    }
}

/// Whether a program leaves something undefined that [`Purpose::Explore`] would link in.
pub fn is_explored_by(program: &Program) -> bool {
    let undefined = program.functions.values().filter(|function| function.body.is_none());
    undefined.into_iter().any(|function| exploration(&function.name) == Exploration::Always)
}

/// When a function of the library is explored: computations are that write through pointers or call
/// back, so that a result alone does not say what they do, and conversions of text, whose results
/// follow from it. The others stay undefined there, and a test says what they return: what `rand`
/// gives is an input, and nobody wants the paths through `printf`.
fn exploration(name: &str) -> Exploration {
    match library_function(name).filter(|found| found.name == name).map(|found| found.source) {
        Some(Source::C(exploration)) => exploration,
        // What engines model needs no body there.
        Some(Source::Model(_) | Source::Nowhere) | None => Exploration::Never,
    }
}

/// Whether older systems' libraries do not have a function: a program that calls it there has it from
/// elsewhere, so that a test says what it does.
fn is_newer(name: &str) -> bool {
    library_function(name).is_some_and(|found| found.traits.newer)
}

/// Why there is no library.
#[derive(Debug, thiserror::Error)]
pub enum ClibError {
    /// Its text cannot be put where clang reads it.
    #[error("no temporary folder: {0}")]
    Folder(#[from] std::io::Error),
    /// Clang does not accept it with this target's headers.
    #[error("the C library cannot be compiled for this target: {0}")]
    Frontend(#[from] FrontendError),
}

/// The library, lowered for one target.
#[derive(Clone, Debug)]
pub struct Library {
    unit: LinkUnit,
    /// What of it is left out on this target, as the front end says it.
    pub diagnostics: Vec<Diagnostic>,
}

impl Library {
    /// Lowers the library for the target that a program's flags choose. Runs clang, which takes a part of
    /// a second; where an earlier run lowered the same text, it only preprocesses ([`kept`]).
    ///
    /// # Errors
    /// Where clang is missing or does not accept the library with the target's headers.
    pub fn lower(flags: &CompileFlags) -> Result<Self, ClibError> {
        Self::lower_text("libc.c", &text(), flags)
    }

    fn lower_text(name: &str, text: &str, flags: &CompileFlags) -> Result<Self, ClibError> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join(name);
        std::fs::write(&path, text)?;
        let request = ParseRequest::new(&path, target_flags(flags));
        let kept = KeptProgram::of(&request, Cache::of_user());
        if let Some((program, source)) = kept.as_ref().and_then(KeptProgram::read) {
            let unit = LinkUnit { name: name.to_owned(), program, source, role: Role::Library };
            return Ok(Self { unit, diagnostics: Vec::new() });
        }
        let Unit { program, source, diagnostics, .. } = load(&LoadRequest::new(request))?;
        if let Some(kept) = kept.filter(|_| diagnostics.is_empty()) {
            kept.write(&program, &source);
        }
        let unit = LinkUnit { name: name.to_owned(), program, source, role: Role::Library };
        Ok(Self { unit, diagnostics })
    }

    /// Links units, and what they leave undefined from the library.
    ///
    /// # Errors
    /// As [`link`] has them.
    pub fn link(&self, units: Vec<LinkUnit>, purpose: Purpose) -> Result<LinkedUnits, LinkError> {
        self.link_with(units, None, purpose, &|_| true)
    }

    /// The same with what reads standard input and files that are inputs ([`Inputs::lower`]). Of newer
    /// functions ([`is_newer`]), only those are explored that `has` says the system's library has.
    ///
    /// # Errors
    /// As [`link`] has them.
    pub fn link_with(
        &self,
        mut units: Vec<LinkUnit>,
        inputs: Option<&Self>,
        purpose: Purpose,
        has: &dyn Fn(&str) -> bool,
    ) -> Result<LinkedUnits, LinkError> {
        let mut library = self.unit.clone();
        units.extend(inputs.map(|inputs| inputs.unit.clone()));
        if purpose == Purpose::Explore {
            for (_, function) in library.program.functions.iter_mut() {
                let name = function.name.as_str();
                let explored = name.starts_with(INTERNAL_PREFIX)
                    || match exploration(name) {
                        Exploration::Always => !is_newer(name) || has(name),
                        Exploration::WithInputs => inputs.is_some(),
                        Exploration::Never => false,
                    };
                if function.linkage == Linkage::External && !explored {
                    function.body = None;
                }
            }
        }
        if purpose == Purpose::Run {
            units.push(start());
        }
        units.push(library);
        let mut linked = link(units)?;
        if purpose == Purpose::Run {
            resolve_weak(&mut linked.program);
        }
        Ok(linked)
    }

    /// The library itself, for the tests of it.
    pub const fn unit(&self) -> &LinkUnit {
        &self.unit
    }
}

/// A unit that names what a program needs beside what it names itself: the end of `main` is a call
/// of `exit`.
fn start() -> LinkUnit {
    let mut program = Program::default();
    let (result, status) = (program.types.void(), program.types.int(IntKind::Int));
    let ty = CType::Function { result, params: vec![status], variadic: false };
    program.functions.push(Function {
        param_names: vec!["status".to_owned()],
        noreturn: true,
        ..Function::declared("exit", program.types.intern(ty))
    });
    let source = SourceMap::from_preprocessed("", "start");
    LinkUnit { name: "start".to_owned(), program, source, role: Role::Part }
}

/// All files as one, each under its own name.
fn text() -> String {
    let mut text = "#define _GNU_SOURCE 1\n".to_owned();
    for (name, contents) in FILES {
        // Writing to a String does not fail.
        let _ = writeln!(text, "#line 1 \"{FILE_PREFIX}{name}\"");
        text += &contents.replace("#include \"internal.h\"", "");
    }
    text
}

/// The flags that choose the target, and no others: the library is not the user's code.
fn target_flags(flags: &CompileFlags) -> CompileFlags {
    let mut words = vec!["-std=gnu17".to_owned(), "-fwrapv".to_owned()];
    let mut given = flags.for_parsing();
    while let Some(flag) = given.next() {
        if matches!(flag, "-target" | "--target") {
            words.push(flag.to_owned());
            words.extend(given.next().map(str::to_owned));
        } else if matches!(flag, "-m32" | "-m64" | "-mx32") || flag.starts_with("--target=") {
            words.push(flag.to_owned());
        }
    }
    CompileFlags::new(&words, std::path::Path::new("libc.c")).unwrap_or_default()
}
