//! A loaded and linked program, with the functions of it that the user wants to test.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lydian_base::{Diagnostic, MacroUses, Place, SourceMap, Span};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::preprocess::SelfRunningAttributes;
use lydian_inputs::InputSpec;
use lydian_inputs::settings::InterruptSettings;
use lydian_ir::interp::Location;
use lydian_ir::source::{Point, WrittenLine};
use lydian_ir::{FuncId, Program, Target};
use lydian_native::Companion;
use lydian_report::GuessSummary;
use lydian_report::sources::Sources;

use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};
use handlers::Handlers;
use request::{ProjectRequest, WholeProgramRequest};

pub(crate) mod flags;
mod functions;
mod guesses;
mod handlers;
mod learning;
pub(crate) mod linked;
mod loading;
pub(crate) mod paths;
pub(crate) mod registered;
pub(crate) mod request;
mod settings_in_c;
mod svd;
pub(crate) mod undefined;
pub(crate) mod units;
mod whole_program;

/// The compiler of the instrumented program.
pub(crate) const COMPILER: &str = "clang-19";

/// A program, and the functions of it that the user asked for.
#[derive(Debug)]
pub struct Project {
    pub(crate) program: Program,
    /// The assumptions about inputs: settings over guesses.
    pub(crate) spec: InputSpec,
    /// Each has a body.
    pub(crate) functions: Vec<FuncId>,
    /// The names of functions whose bodies use constructs that are not supported.
    pub(crate) left_out: BTreeSet<String>,
    pub(crate) texts: SourceTexts,
    pub(crate) build: UserBuild,
    pub(crate) settings: ProjectSettings,
    /// Set where the program is tested as a whole. Otherwise tests call each function.
    pub(crate) whole: Option<WholeProgramTest>,
    /// The request that it was loaded for.
    pub(crate) request: ProjectRequest,
    /// The guesses about inputs, found when they are first asked for.
    guesses: OnceLock<Vec<GuessSummary>>,
    /// The handlers of interrupts, found when they are first asked for.
    handlers: OnceLock<Handlers>,
}

/// The source texts of a project.
#[derive(Debug)]
pub(crate) struct SourceTexts {
    /// The texts of all units, the file's own first. All spans of the program refer to it.
    pub(crate) all: SourceMap,
    /// The texts of the user's units, the file's own first, without the C library's.
    pub(crate) users: SourceMap,
    /// The offset in `users` at which the text of each unit begins.
    pub(crate) starts: Vec<u32>,
    /// The lines of the file's comments that are in the language of hyperlabels.
    pub(crate) written: Vec<WrittenLine>,
    /// The files that the texts came from, read when they are first asked for.
    files: OnceLock<Sources>,
    /// The uses of macros in these files, found when they are first asked for.
    macros: OnceLock<MacroUses>,
}

/// The files of a project, and how they are compiled.
#[derive(Debug)]
pub(crate) struct UserBuild {
    /// The C file that the user named.
    pub(crate) file: PathBuf,
    pub(crate) flags: CompileFlags,
    /// The other units of the program under test.
    pub(crate) companions: Vec<Companion>,
    /// The absolute paths of the user's stubs, which are part of the program.
    pub(crate) stubs: Vec<String>,
    /// Whether C took the place of assembly in the file that is not this machine's.
    pub(crate) had_foreign_assembly: bool,
    /// The attributes of functions of the file that run by themselves, except in tests of functions.
    pub(crate) self_running: SelfRunningAttributes,
}

/// The settings of a project, apart from those that its specification of inputs has.
#[derive(Debug)]
pub(crate) struct ProjectSettings {
    /// The settings that say which runs are considered, as the ledger keeps them.
    pub(crate) text: String,
    /// The kinds of assumptions that the settings accept.
    pub(crate) accepted: Vec<String>,
    /// What they say of handlers of interrupts.
    pub(crate) interrupts: InterruptSettings,
    /// The file of settings. The specification of inputs has taken the settings themselves out of it.
    pub(crate) config: Configuration,
}

/// The test of a program as a whole.
#[derive(Debug)]
pub(crate) struct WholeProgramTest {
    /// The function that tests call.
    pub(crate) entry: FuncId,
    /// The C text of a driver, which calls a `main` with parameters; empty where `main` has none.
    pub(crate) driver: String,
    /// Statements of the user about the program's surroundings, one sentence each.
    pub(crate) surroundings: Vec<String>,
    pub(crate) request: WholeProgramRequest,
}

impl SourceTexts {
    pub(crate) const fn new(
        all: SourceMap,
        users: SourceMap,
        starts: Vec<u32>,
        written: Vec<WrittenLine>,
    ) -> Self {
        Self { all, users, starts, written, files: OnceLock::new(), macros: OnceLock::new() }
    }

    /// The files that the texts came from, as they are on the disk.
    pub(crate) fn files(&self) -> &Sources {
        self.files.get_or_init(|| Sources::read(self.all.files().into_iter().map(Path::new)))
    }

    /// A line of the source without the blanks around it.
    pub(crate) fn line(&self, file: &str, line: u32) -> Option<&str> {
        Some(self.whole_line(file, line)?.trim())
    }

    /// Some lines of the source, from one on; fewer where the file ends.
    pub(crate) fn lines(&self, file: &str, from: u32, count: u32) -> &[String] {
        let Some(Ok(text)) = self.files().get(Path::new(file)) else { return &[] };
        let Some(first) = (from as usize).checked_sub(1) else { return &[] };
        let end = text.lines.len().min(first + count as usize);
        text.lines.get(first..end).unwrap_or_default()
    }

    fn whole_line(&self, file: &str, line: u32) -> Option<&str> {
        self.files().get(Path::new(file))?.ok()?.line(line)
    }

    /// A preprocessed text that is about a place, with the macros that the source has there.
    pub(crate) fn with_macros(&self, place: &Place, text: &str) -> String {
        let uses = || self.all.macro_uses(|file, line| self.whole_line(file, line));
        self.macros.get_or_init(uses).restored(place, text)
    }
}

impl Project {
    /// The program as the engines see it.
    pub const fn program(&self) -> &Program {
        &self.program
    }

    /// The texts of all units, to which the program's spans refer.
    pub const fn source_map(&self) -> &SourceMap {
        &self.texts.all
    }

    /// The file under test as it is compiled, where C took the place of assembly that is not this machine's:
    /// preprocessed, with the user's stubs.
    pub(crate) fn without_foreign_assembly(&self) -> Option<String> {
        if !self.build.had_foreign_assembly {
            return None;
        }
        let all = self.texts.users.text();
        let end = self.texts.starts.get(1).map_or(all.len(), |start| *start as usize);
        let text = &all[..end];
        let label = match text.contains("lydian_label(\"") {
            true => {
                "\n__attribute__((weak)) void lydian_label(const char *name, ...) { (void)name; }\n"
            }
            false => "",
        };
        let name = self.build.file.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace("*/", "");
        let head =
            "preprocessed, with C in place of assembly for another machine. Written by Lydian.";
        Some(format!("/* {name}, {head} */\n{text}{label}"))
    }

    /// Statements of the user about the program's surroundings, one sentence each.
    pub(crate) fn surroundings(&self) -> &[String] {
        self.whole.as_ref().map_or(&[], |whole| &whole.surroundings)
    }

    /// The functions that were asked for. Each has a body.
    pub fn functions(&self) -> &[FuncId] {
        &self.functions
    }

    /// The name of a function.
    pub fn name(&self, function: FuncId) -> &str {
        &self.program.functions[function].name
    }

    /// Refuses programs that are not compiled for x86-64: neither the exploration nor the native runner
    /// supports other addresses.
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

    /// The function that tests call where the program is tested as a whole.
    pub(crate) fn entry(&self) -> Option<FuncId> {
        self.whole.as_ref().map(|whole| whole.entry)
    }

    /// The functions that tests call.
    pub(crate) fn entries(&self) -> &[FuncId] {
        match &self.whole {
            Some(whole) => std::slice::from_ref(&whole.entry),
            None => &self.functions,
        }
    }

    /// The name of the function that tests call, as a user says it: a whole program may have a driver before
    /// `main`.
    pub(crate) const fn caller<'n>(&self, function: &'n str) -> &'n str {
        if self.whole.is_some() { "main" } else { function }
    }
}

/// The span of a statement or terminator; that of its function if it has none.
pub fn location_span(program: &Program, location: Location) -> Option<Span> {
    let function = &program.functions[location.function];
    let source = &function.body.as_ref()?.source;
    let span = match location.point {
        Point::Stmt(stmt) => source.stmts[stmt],
        Point::Term(block) => source.terms[block],
    };
    Some(if span.is_none() { function.span } else { span }).filter(|span| !span.is_none())
}
