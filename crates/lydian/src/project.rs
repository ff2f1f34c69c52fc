//! A program that was loaded and linked, with the functions of it that the user asked for.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lydian_base::{Diagnostic, SourceMap, Span};
use lydian_frontend::flags::CompileFlags;
use lydian_inputs::InputSpec;
use lydian_ir::interp::Location;
use lydian_ir::source::{Point, WrittenLine};
use lydian_ir::{FuncId, Program, Target};
use lydian_native::Companion;
use lydian_report::GuessSummary;
use lydian_report::sources::Sources;

use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};
use request::{ProjectRequest, WholeProgramRequest};

pub(crate) mod flags;
mod functions;
mod guesses;
pub(crate) mod linked;
mod loading;
pub(crate) mod paths;
pub(crate) mod request;
mod settings_in_c;
pub(crate) mod units;
mod whole_program;

/// What compiles the instrumented program.
pub(crate) const COMPILER: &str = "clang-19";

/// A program, and the functions of it that the user asked for.
#[derive(Debug)]
pub struct Project {
    pub(crate) program: Program,
    /// The texts of all units, the file's own first: what every span refers to.
    pub(crate) map: SourceMap,
    /// The texts of the user's units, the file's own first, without what the C library adds.
    pub(crate) users: SourceMap,
    /// Where the text of each of them begins.
    pub(crate) starts: Vec<u32>,
    /// What the file's comments say in the language of hyperlabels.
    pub(crate) written: Vec<WrittenLine>,
    /// The other units, as they are compiled.
    pub(crate) companions: Vec<Companion>,
    /// The C file that the user named.
    pub(crate) file: PathBuf,
    pub(crate) flags: CompileFlags,
    /// Each has a body.
    pub(crate) functions: Vec<FuncId>,
    /// What tests call, where the program is tested as a whole; else they call each function.
    pub(crate) entry: Option<FuncId>,
    /// The C that calls `main` with arguments, where that is tested.
    pub(crate) driver: String,
    /// What the user says of a whole program's surroundings, one sentence each.
    pub(crate) surroundings: Vec<String>,
    /// The absolute paths of the user's stubs, which are part of the program.
    pub(crate) stubs: Vec<String>,
    /// What is assumed about inputs.
    pub(crate) spec: InputSpec,
    /// The settings as they are in the ledger: which runs are considered.
    pub(crate) settings_text: String,
    /// The kinds of assumptions that the settings accept.
    pub(crate) accepted: Vec<String>,
    /// How it may be tested as a whole.
    pub(crate) whole: Option<WholeProgramRequest>,
    /// What it was loaded from.
    pub(crate) request: ProjectRequest,
    /// The file of settings, which `spec` has now.
    pub(crate) config: Configuration,
    /// The files that the texts came from, read when they are first asked for.
    pub(crate) sources: OnceLock<Sources>,
    /// What is guessed about inputs, found when it is first asked for.
    pub(crate) guesses: OnceLock<Vec<GuessSummary>>,
}

impl Project {
    /// The program as the engines see it.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// The texts of all units, to which the program's spans refer.
    pub const fn source_map(&self) -> &SourceMap {
        &self.map
    }

    /// The functions that were asked for. Each has a body.
    pub fn functions(&self) -> &[FuncId] {
        &self.functions
    }

    /// The name of a function.
    pub fn name(&self, function: FuncId) -> &str {
        &self.program.functions[function].name
    }

    /// Refuses what is not compiled for x86-64: neither the exploration nor the native runner knows
    /// other addresses.
    ///
    /// # Errors
    /// One of kind [`ErrorKind::Unsupported`] where the program is compiled for another target.
    pub fn require_x86_64(&self) -> Result<(), Error> {
        match self.program.types.target {
            Target::X86_64 => Ok(()),
            Target::I386 => {
                let what = "tests of 32-bit programs (`-m32`) are neither generated nor measured";
                let error = Diagnostic::error("unsupported-target", what);
                let error = Error::new(ErrorKind::Unsupported, error);
                Err(error.note("`lydian run`, `objectives` and `ir` take such programs"))
            }
        }
    }

    /// What tests call.
    pub(crate) fn entries(&self) -> &[FuncId] {
        match &self.entry {
            Some(entry) => std::slice::from_ref(entry),
            None => &self.functions,
        }
    }

    /// What a user calls the function that tests call: a whole program may have a driver before `main`.
    pub(crate) const fn caller<'n>(&self, function: &'n str) -> &'n str {
        if self.entry.is_some() { "main" } else { function }
    }

    /// The files that the texts came from, as they are on the disk.
    pub(crate) fn sources(&self) -> &Sources {
        self.sources.get_or_init(|| Sources::read(self.map.files().into_iter().map(Path::new)))
    }
}

/// The text of a statement or terminator; that of its function where it has none.
pub fn location_span(program: &Program, location: Location) -> Option<Span> {
    let function = &program.functions[location.function];
    let source = &function.body.as_ref()?.source;
    let span = match location.point {
        Point::Stmt(stmt) => source.stmts[stmt],
        Point::Term(block) => source.terms[block],
    };
    Some(if span.is_none() { function.span } else { span }).filter(|span| !span.is_none())
}
