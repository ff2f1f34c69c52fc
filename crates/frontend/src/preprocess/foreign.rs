//! Foreign assembly: assembly that this machine's assembler refuses, as firmware for other machines has.
//!
//! It is replaced in the preprocessed text, before anything else reads it, so that every engine, the
//! native build and the suite see one program in C ([`replace`]). Which assembly is foreign, clang says:
//! the whole text is compiled, and the places of its errors are looked up among the assembly of the text
//! ([`ask`]). Newlines stay, so places of other code keep their lines.

mod ask;
mod models;
mod replace;
mod scan;

use lydian_base::{Diagnostic, SourceMap};

use super::edits::Edit;
use crate::clang::{Clang, ClangError};
use crate::flags::CompileFlags;

pub(crate) use ask::without_markers;

/// What takes the place of foreign assembly in a text.
#[derive(Debug, Default)]
pub(super) struct Replacements {
    /// The edits of the text.
    pub(super) edits: Vec<Edit>,
    /// What stands in front of the text: the models that it uses.
    pub(super) prelude: String,
    /// Where assembly was replaced, and by what.
    pub(super) places: Vec<(usize, By)>,
}

/// What takes the place of assembly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Its meaning in C.
    Model(String),
    /// Calls of an undefined function.
    Call(String),
    /// Nothing: assembly between functions, names of registers, and statements without outputs and effects.
    Nothing,
}

/// Whether something is a replacement of one kind.
type IsOf = fn(&By) -> bool;

/// Finds the foreign assembly of a preprocessed text without comments, which is edited further before
/// anything reads it. Runs clang only where the text has assembly: once, and once more after each round that
/// found some.
///
/// # Errors
/// Where clang cannot be run. Errors of the text itself are left to whoever parses it.
pub(super) fn foreign_assembly(
    clang: &Clang,
    flags: &CompileFlags,
    text: &str,
    further: &[Edit],
) -> Result<Replacements, ClangError> {
    let found = scan::scan(text);
    if found.is_empty() {
        return Ok(Replacements::default());
    }
    let mut foreign = vec![false; found.len()];
    loop {
        let made = replace::replacements(text, &found, &foreign);
        if !ask::mark_refused(clang, flags, (text, &made, further), &found, &mut foreign)? {
            return Ok(made);
        }
    }
}

impl Replacements {
    /// A warning for each kind of replacement, with its places.
    pub(super) fn diagnostics(
        &self,
        source: &SourceMap,
        moved: impl Fn(usize) -> usize,
    ) -> Vec<Diagnostic> {
        let kinds: [(IsOf, &str); 3] = [
            (
                |by| matches!(by, By::Call(_)),
                "calls of undefined functions take the place of assembly for another machine",
            ),
            (
                |by| matches!(by, By::Model(_)),
                "models in C take the place of assembly for another machine",
            ),
            (
                |by| matches!(by, By::Nothing),
                "assembly for another machine that has no result is left out",
            ),
        ];
        let kind =
            |(is_of, what): (fn(&By) -> bool, &str)| {
                let mut places = self.places.iter().filter(|(_, by)| is_of(by)).peekable();
                let place = |at: usize| source.place(moved(at) as u32);
                let first = place(places.peek()?.0);
                let warning = Diagnostic::warning("foreign-assembly", what).at(first);
                Some(places.fold(warning, |warning, (at, by)| {
                    warning.note(format!("{}: {by}", place(*at)))
                }))
            };
        kinds.into_iter().filter_map(kind).collect()
    }
}

impl std::fmt::Display for By {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Model(instruction) => write!(out, "`{instruction}`"),
            Self::Call(function) => write!(out, "`{function}`"),
            Self::Nothing => out.write_str("nothing"),
        }
    }
}

#[cfg(test)]
mod tests;
