//! The functions of a file that the user means, and the diagnostics about them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Place, Severity, SourceMap};
use lydian_frontend::Unit;
use lydian_inputs::InputSpec;
use lydian_ir::{FuncId, Function, Program};

use super::paths::{canonical, canonical_file};
use super::request::ProjectRequest;
use crate::error::{Error, ErrorKind};

/// The code of the front end's diagnostics about unsupported constructs.
const UNSUPPORTED: &str = "unsupported-construct";

/// The functions that were named, or all that the user's file defines.
pub(crate) fn chosen(
    program: &Program,
    map: &SourceMap,
    request: &ProjectRequest,
) -> Result<Vec<FuncId>, Error> {
    if request.functions.is_empty() {
        let own = OwnText::of(program, map, &request.file);
        let all: Vec<FuncId> = program
            .defined()
            .filter(|(_, function)| own.holds(&map.place(function.span.start)))
            .filter(|(_, function)| !InputSpec::is_of_settings(&function.name))
            .map(|(id, _)| id)
            .collect();
        return match all.is_empty() {
            true if own.is_empty() => Err(nothing_to_test(request)),
            true => Err(nothing_supported(request)),
            false => Ok(all),
        };
    }
    let mut found = Vec::new();
    let mut unsupported = 0;
    for name in &request.functions {
        let id = program.function_named(name);
        match id.filter(|id| program.functions[*id].body.is_some()) {
            Some(id) => found.push(id),
            // Earlier diagnostics gave the reason for the missing body.
            None if id.is_some_and(|id| is_defined(&program.functions[id], map)) => {
                unsupported += 1
            }
            None => return Err(no_such_function(program, name, request)),
        }
    }
    if found.is_empty() && unsupported > 0 { Err(nothing_supported(request)) } else { Ok(found) }
}

/// Whether the text of a function is a definition, whether it could be lowered or not.
fn is_defined(function: &Function, map: &SourceMap) -> bool {
    map.slice(function.span).trim_end().ends_with('}')
}

/// The files that count as the user's own. Without named functions, only their functions are tested.
enum OwnText {
    /// The file that the user named.
    File(PathBuf),
    /// The named file defines nothing and only includes others: the files of all functions outside of
    /// system headers.
    Included(BTreeSet<PathBuf>),
}

impl OwnText {
    fn of(program: &Program, map: &SourceMap, file: &Path) -> Self {
        let main = canonical(file);
        let defined = || program.functions.values().filter(|function| is_defined(function, map));
        let file_of = |function: &Function| canonical_file(&map.place(function.span.start));
        if defined().any(|function| file_of(function) == main) {
            return Self::File(main);
        }
        let outside = defined().filter(|function| !map.is_system(function.span.start));
        Self::Included(outside.map(file_of).collect())
    }

    /// Whether it defines no function.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Included(files) if files.is_empty())
    }

    fn holds(&self, place: &Place) -> bool {
        let file = canonical_file(place);
        match self {
            Self::File(own) => *own == file,
            Self::Included(files) => files.contains(&file),
        }
    }
}

/// The diagnostics to show. Those about unsupported constructs are shown only for the requested
/// functions, with the number of the others, since headers are full of them.
pub(crate) fn relevant(unit: &Unit, request: &ProjectRequest) -> Vec<Diagnostic> {
    let (program, map) = (&unit.program, &unit.source);
    let own = OwnText::of(program, map, &request.file);
    let named = |place: &Place| {
        let functions = request.functions.iter().filter_map(|name| program.function_named(name));
        functions.map(|id| program.functions[id].span).any(|span| {
            let (start, end) = (map.place(span.start), map.place(span.end));
            start.file == place.file && (start.line..=end.line).contains(&place.line)
        })
    };
    let wanted = |diagnostic: &&Diagnostic| {
        diagnostic.code != UNSUPPORTED
            || match &diagnostic.place {
                Some(place) if request.functions.is_empty() => own.holds(place),
                Some(place) => named(place),
                None => true,
            }
    };
    let mut shown: Vec<Diagnostic> = unit.diagnostics.iter().filter(wanted).cloned().collect();
    let hidden = unit.diagnostics.len() - shown.len();
    if hidden > 0 {
        let were = if hidden == 1 { "construct is" } else { "constructs are" };
        let message = format!("{hidden} more unsupported {were} outside of what was asked for");
        shown.push(Diagnostic::new(Severity::Note, UNSUPPORTED, message));
    }
    shown
}

fn nothing_to_test(request: &ProjectRequest) -> Error {
    let what = format!("{} defines no function", request.file.display());
    let failure = Error::new(ErrorKind::Unsupported, Diagnostic::error("nothing-to-test", what));
    failure.note("objectives are about functions: name the file that has them")
}

fn nothing_supported(request: &ProjectRequest) -> Error {
    let what = match request.functions.as_slice() {
        [] => format!("{} defines no function that is supported", request.file.display()),
        [one] => format!("the function `{one}` is not supported"),
        _ => "none of the functions is supported".to_owned(),
    };
    Error::new(ErrorKind::Unsupported, Diagnostic::error("nothing-supported", what))
}

fn no_such_function(program: &Program, name: &str, request: &ProjectRequest) -> Error {
    let file = request.file.display();
    let failure = Error::source("no-such-function", format!("{file} does not define `{name}`"));
    let near = program
        .defined()
        .map(|(_, function)| (strsim::jaro_winkler(&function.name, name), &function.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, near)) => failure.note(format!("there is a function `{near}`")),
        None => failure.note(format!("`lydian objectives {file}` lists what it defines")),
    }
}
