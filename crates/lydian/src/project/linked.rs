//! Several files linked to one program that runs, with all of the C library.

use std::path::PathBuf;

use lydian_base::Diagnostic;
use lydian_clib::{ClibError, Library, Purpose};
use lydian_frontend::clang::ClangError;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{FrontendError, Unit};
use lydian_ir::link::{LinkedUnits, Role, link};

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
        let LinkRequest { files, flags, compile_commands } = request;
        let sources = units::sources(files, flags, compile_commands.as_deref())?;
        let first = sources.first().ok_or_else(|| Error::usage("files", "no C file is named"))?;
        let wraps_on_overflow = sources.iter().all(|source| source.flags.wraps_on_overflow());
        let library = library(&first.flags, observer)?;
        let loaded = units::load(&units::requests(&sources), observer)?;
        let left_out = loaded.iter().flat_map(left_out).collect();
        let files = sources.iter().map(|source| &source.file);
        let parts = files.zip(loaded).map(|(file, unit)| units::link_unit(file, unit, Role::Part));
        let linked = match library {
            Some(library) => library.link(parts.collect(), Purpose::Run),
            None => link(parts.collect()),
        };
        let linked = linked.map_err(units::unlinked)?;
        tell(observer, &linked.diagnostics);
        Ok(Self { linked, wraps_on_overflow, left_out })
    }
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
