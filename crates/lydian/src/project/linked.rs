//! Several files linked to one program that runs, with all of the C library.

use std::path::PathBuf;

use lydian_base::Diagnostic;
use lydian_clib::{ClibError, Library, Purpose};
use lydian_frontend::clang::ClangError;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{FrontendError, Unit};
use lydian_ir::libc::{Source as LibrarySource, library_function};
use lydian_ir::link::{LinkedUnits, Role, link, resolve_weak};
use lydian_ir::{Function, GlobalInit, Program};

use super::units;
use crate::error::Error;
use crate::events::{Observer, tell};

/// A program that the interpreter can run.
#[derive(Debug)]
pub struct LinkedProgram {
    /// The program with its text.
    pub linked: LinkedUnits,
    /// Whether its files are all compiled so that signed overflow wraps.
    pub wraps_on_overflow: bool,
    /// The names of functions of the files that use a construct which is not supported. In the program
    /// they have no body.
    pub left_out: Vec<String>,
    /// The files of the user's units, which are the first.
    pub files: Vec<PathBuf>,
}

/// The files of a program that is to run.
#[derive(Clone, Debug, Default)]
pub struct LinkRequest {
    /// C files, and compilation databases, which stand for all their files.
    pub files: Vec<PathBuf>,
    /// The compiler's flags. Without any, those of the compilation database.
    pub flags: Vec<String>,
    /// The compilation database; none for the nearest, if there is one.
    pub compile_commands: Option<PathBuf>,
}

impl LinkedProgram {
    /// Loads and links the files. The observer gets diagnostics about omissions.
    ///
    /// # Errors
    /// C that cannot be read or does not link.
    pub fn load(request: &LinkRequest, observer: &dyn Observer) -> Result<Self, Error> {
        Self::load_with(request, observer, |_| true)
    }

    /// The same without the C library where the files leave nothing undefined that it has.
    ///
    /// # Errors
    /// C that cannot be read or does not link.
    pub(crate) fn load_needed(
        request: &LinkRequest,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        Self::load_with(request, observer, |units| units.iter().any(|unit| needs(&unit.program)))
    }

    fn load_with(
        request: &LinkRequest,
        observer: &dyn Observer,
        needs_library: impl Fn(&[Unit]) -> bool,
    ) -> Result<Self, Error> {
        let LinkRequest { files, flags, compile_commands } = request;
        let sources = units::sources(files, flags, compile_commands.as_deref())?;
        let first = sources.first().ok_or_else(|| Error::usage("files", "no C file is named"))?;
        let wraps_on_overflow = sources.iter().all(|source| source.flags.wraps_on_overflow());
        let loaded = units::load(&units::requests(&sources), observer)?;
        let library = match needs_library(&loaded) {
            true => library(&first.flags, observer)?,
            false => None,
        };
        let left_out = loaded.iter().flat_map(left_out).collect();
        let named = sources.iter().map(|source| source.file.clone()).collect();
        let files = sources.iter().map(|source| &source.file);
        let parts = files.zip(loaded).map(|(file, unit)| units::link_unit(file, unit, Role::Part));
        let linked = match library {
            Some(library) => library.link(parts.collect(), Purpose::Run),
            None => link(parts.collect()),
        };
        let mut linked = linked.map_err(units::unlinked)?;
        resolve_weak(&mut linked.program);
        tell(observer, &linked.diagnostics);
        Ok(Self { linked, wraps_on_overflow, left_out, files: named })
    }
}

/// Whether a program leaves something undefined that the C library in C may have.
fn needs(program: &Program) -> bool {
    let is_open = |function: &&Function| function.body.is_none();
    let mut open = program.functions.values().filter(is_open).map(|function| &function.name);
    let in_c = |name: &String| {
        library_function(name).is_some_and(|found| matches!(found.source, LibrarySource::C(_)))
    };
    open.any(in_c) || program.globals.values().any(|global| global.init == GlobalInit::Extern)
}

/// The names of the functions of a unit that use constructs which are not supported.
pub(super) fn left_out(unit: &Unit) -> impl Iterator<Item = String> {
    unit.left_out.keys().map(|function| unit.program.functions[*function].name.clone())
}

/// The C library for a target. If its headers are missing or do not suit the target, the program may
/// still not need it and is not refused.
fn library(flags: &CompileFlags, observer: &dyn Observer) -> Result<Option<Library>, Error> {
    match Library::lower(flags) {
        Ok(library) => Ok(Some(library)),
        Err(ClibError::Frontend(FrontendError::Clang(error @ ClangError::Rejected(_)))) => {
            let text = format!("there is no C library for these flags: {error}");
            tell(observer, &[Diagnostic::warning("libc", text)]);
            Ok(None)
        }
        Err(error) => Err(Error::environment("libc", error.to_string())),
    }
}
