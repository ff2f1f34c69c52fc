//! From several files to one program: the files with their flags, loaded and linked.

use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Severity};
use lydian_frontend::compile_commands::CompileCommands;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load_all};
use lydian_ir::link::{LinkError, LinkUnit, Role};

use super::flags::{flags_of, rejected};
use crate::error::{Error, ErrorKind};
use crate::events::{Observer, tell};

/// A file, and the flags that it is compiled with.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    pub(crate) file: PathBuf,
    pub(crate) flags: CompileFlags,
}

/// The files that a user names: C files, and compilation databases, which stand for all
/// their files. Flags are those after `--`, else the nearest database's.
pub(crate) fn sources(
    files: &[PathBuf],
    flags: &[String],
    database: Option<&Path>,
) -> Result<Vec<Source>, Error> {
    let mut sources = Vec::new();
    for file in files {
        if file.extension().is_some_and(|extension| extension == "json") {
            let units = CompileCommands::read(file).and_then(|commands| commands.units());
            let units = units.map_err(|error| Error::usage("flags", error.to_string()))?;
            sources.extend(units.into_iter().map(|(file, flags)| Source { file, flags }));
        } else {
            let flags = flags_of(file, flags, database)?;
            sources.push(Source { file: file.clone(), flags });
        }
    }
    Ok(sources)
}

/// Loads the files, several at a time, and reports omissions. An error in one of them fails all, once
/// the observer got the errors of all.
pub(crate) fn load(requests: &[LoadRequest], observer: &dyn Observer) -> Result<Vec<Unit>, Error> {
    let mut units = Vec::new();
    let mut failed: Option<Error> = None;
    for project in load_all(requests) {
        match project {
            Ok(unit) => {
                tell(observer, &unit.diagnostics);
                if unit.diagnostics.iter().any(|found| found.severity == Severity::Error) {
                    let wrong = Error { kind: ErrorKind::Usage, diagnostics: Vec::new() };
                    failed.get_or_insert(wrong);
                }
                units.push(unit);
            }
            Err(error) => {
                let failure = rejected(error);
                match &mut failed {
                    Some(failed) => failed.diagnostics.extend(failure.diagnostics),
                    None => failed = Some(failure),
                }
            }
        }
    }
    failed.map_or(Ok(units), Err)
}

/// Requests to load sources with the default options.
pub(crate) fn requests(sources: &[Source]) -> Vec<LoadRequest> {
    let parse = |source: &Source| ParseRequest::new(&source.file, source.flags.clone());
    sources.iter().map(|source| LoadRequest::new(parse(source))).collect()
}

/// The linker's input. Static names that must be changed get the file's name, without its folders.
pub(crate) fn link_unit(file: &Path, unit: Unit, role: Role) -> LinkUnit {
    let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    LinkUnit { name, program: unit.program, source: unit.source, role }
}

/// The failure for units that do not link.
pub(crate) fn unlinked(error: LinkError) -> Error {
    match error {
        LinkError::Duplicates(diagnostics) => Error { kind: ErrorKind::Source, diagnostics },
        LinkError::Nothing | LinkError::TooLong => {
            let diagnostic = Diagnostic::error("link", error.to_string());
            Error::new(ErrorKind::Source, diagnostic)
        }
    }
}
