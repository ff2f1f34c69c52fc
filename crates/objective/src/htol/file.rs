//! Texts in the language of hyperlabels: `.htol` files, and the comments of a unit, which are read as
//! one file.

use lydian_base::{Diagnostic, Place};
use lydian_ir::Program;
use lydian_ir::source::WrittenLine;

use super::error::HtolError;
use super::parser;
use super::syntax::{Extent, File, Item, Name};

/// An `.htol` file that was read, or the comments of a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtolFile {
    /// Its path, for messages.
    pub path: String,
    /// Its text.
    pub text: String,
    /// Its items.
    pub file: File,
    /// For comments, the offset at which each line begins in the text, and its place.
    places: Vec<(usize, Place)>,
}

impl HtolFile {
    /// Reads a text.
    ///
    /// # Errors
    /// A message with its place, if the text does not follow the grammar, or names no function before
    /// its first item.
    pub fn read(path: impl Into<String>, text: impl Into<String>) -> Result<Self, Diagnostic> {
        let (path, text) = (path.into(), text.into());
        let mut this = Self { path, text, file: File::default(), places: Vec::new() };
        let read = parser::items(&this.text, 0).and_then(|items| {
            about_functions(&items)?;
            Ok(items)
        });
        match read {
            Ok(items) => {
                this.file = File { items };
                Ok(this)
            }
            Err(error) => Err(this.diagnostic(&error)),
        }
    }

    /// Reads the comments of a unit. A comment within a function is about this function unless it
    /// says otherwise. An error in one comment leaves out this comment alone.
    pub fn of_comments(program: &Program, lines: &[WrittenLine]) -> (Self, Vec<Diagnostic>) {
        let path = lines.first().map_or(String::new(), |line| line.place.file.to_string());
        let mut this =
            Self { path, text: String::new(), file: File::default(), places: Vec::new() };
        let mut wrong = Vec::new();
        for comment in lines.chunk_by(|_, next| !next.begins) {
            let from = this.text.len();
            for line in comment {
                this.places.push((this.text.len(), line.place.clone()));
                this.text.push_str(&line.text);
                this.text.push('\n');
            }
            let around = program.defined().find(|(_, function)| {
                let body = function.body.as_ref().map(|body| body.source.body);
                body.is_some_and(|body| body.start <= comment[0].at && comment[0].at < body.end)
            });
            let mut items = Vec::new();
            if let Some((_, function)) = around {
                let at = Extent(from..from);
                items.push(Item::Function(Name { text: function.name.clone(), at }));
            }
            let read = parser::items(&this.text, from).and_then(|more| {
                items.extend(more);
                about_functions(&items)
            });
            match read {
                Ok(()) => this.file.items.append(&mut items),
                Err(error) => wrong.push(this.diagnostic(&error)),
            }
        }
        (this, wrong)
    }

    /// The functions that it is about, in order.
    pub fn functions(&self) -> impl Iterator<Item = &str> {
        self.file.items.iter().filter_map(|item| match item {
            Item::Function(name) => Some(name.text.as_str()),
            _ => None,
        })
    }

    /// The file with only the items about functions for which `holds` is true.
    #[must_use]
    pub fn only_about(mut self, holds: impl Fn(&str) -> bool) -> Self {
        let mut here = false;
        self.file.items.retain(|item| {
            if let Item::Function(name) = item {
                here = holds(&name.text);
            }
            here
        });
        self
    }

    /// An error with its place, in the file or in the C file with the comment.
    pub(crate) fn diagnostic(&self, error: &HtolError) -> Diagnostic {
        let at = error.at().start;
        let place = match self.places.iter().rev().find(|(start, _)| *start <= at) {
            Some((start, place)) => {
                Place { column: place.column + (at - start) as u32, ..place.clone() }
            }
            None => {
                let (line, column) = error.line_and_column(&self.text);
                Place { file: self.path.as_str().into(), line, column }
            }
        };
        Diagnostic::error("ill-formed-objective", error.to_string()).at(place)
    }
}

/// Checks that a function is named before anything else.
fn about_functions(items: &[Item]) -> Result<(), HtolError> {
    match items.first() {
        None | Some(Item::Function(_)) => Ok(()),
        Some(item) => {
            let what = "`function` and its name, before what is said of it,".to_owned();
            Err(HtolError::Expected { what, at: item.name().at.0.clone() })
        }
    }
}
