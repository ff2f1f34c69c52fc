//! The compiler's flags of a file, and errors of the front end.

use std::path::Path;

use lydian_base::Diagnostic;
use lydian_frontend::FrontendError;
use lydian_frontend::compile_commands::CompileCommands;
use lydian_frontend::flags::CompileFlags;

use crate::error::{Error, ErrorKind};

/// The flags of a file: those that were given, else those of the database that was named or is
/// nearest.
pub(crate) fn flags_of(
    file: &Path,
    flags: &[String],
    database: Option<&Path>,
) -> Result<CompileFlags, Error> {
    let bad = |error: &dyn std::fmt::Display| Error::usage("flags", error.to_string());
    if !flags.is_empty() {
        let flags = CompileFlags::new(flags, file).map_err(|error| bad(&error))?;
        let stray = flags.other_inputs().find(|input| has_extension(input, &["c", "i"]));
        return match stray.map(Path::display) {
            None => Ok(flags),
            Some(stray) => Err(Error::usage(
                "flags",
                format!("{stray} is a source file among the compiler's flags"),
            )
            .note(format!("`--with {stray}`, before `--`, makes it part of the program"))),
        };
    }
    let nearest = database.map(Path::to_owned).or_else(|| CompileCommands::locate(file));
    let Some(path) = nearest else { return Ok(CompileFlags::default()) };
    let found = CompileCommands::read(&path).and_then(|all| all.flags_for(file));
    match found {
        // A database that was only found nearby need not list the file.
        Err(_) if database.is_none() => Ok(CompileFlags::default()),
        found => found.map_err(|error| bad(&error)),
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}

/// An error for a file that is C++ by its name.
pub(crate) fn check_language(file: &Path) -> Result<(), Error> {
    let other = ["cc", "cp", "cpp", "cxx", "c++", "C", "CPP", "hh", "hpp", "hxx"];
    if !has_extension(file, &other) {
        return Ok(());
    }
    let failure = Error::source("source", format!("{} is C++ by its name", file.display()));
    Err(failure.note("Lydian reads C; a file that is C after all needs a name that ends in .c"))
}

/// The error for an error of the front end.
pub(crate) fn rejected(error: FrontendError) -> Error {
    use lydian_frontend::clang::ClangError;
    match error {
        FrontendError::Clang(ClangError::Rejected(diagnostics)) => {
            let is_other = diagnostics.first().is_some_and(is_about_cpp);
            let failure = Error { kind: ErrorKind::Source, diagnostics };
            if is_other { failure.note("this looks like C++; Lydian reads C") } else { failure }
        }
        FrontendError::Clang(error) => Error::environment("clang", error.to_string()),
        error @ FrontendError::Source { .. } => Error::source("source", error.to_string()),
        error => Error::usage("flags", error.to_string()),
    }
}

/// Whether clang's error is about a keyword of C++.
fn is_about_cpp(diagnostic: &Diagnostic) -> bool {
    let words = ["class", "namespace", "template", "using"];
    words.iter().any(|word| diagnostic.message == format!("unknown type name '{word}'"))
}
