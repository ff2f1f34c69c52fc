//! Errors of texts in the language of hyperlabels.

use std::ops::Range;

use crate::hyper::form::Rule;

/// An error in a text, with its place in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HtolError {
    /// A character that begins nothing.
    #[error("`{found}` has no meaning here")]
    Character {
        /// The character.
        found: char,
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// A number that is none or has more than 127 bits.
    #[error("this is no number of at most 127 bits")]
    Number {
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// A text of another kind is expected.
    #[error("{what} is expected here")]
    Expected {
        /// What is expected.
        what: String,
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// Parts are nested too deep, or too many operators follow each other.
    #[error("this is nested deeper than {limit}")]
    TooDeep {
        /// The greatest depth.
        limit: usize,
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// A rule of well-formedness is broken.
    #[error("ill-formed: {rule}; broken by {}", shown(.names))]
    IllFormed {
        /// The rule.
        rule: Rule,
        /// The names that break it.
        names: Vec<String>,
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// Something that the program or the file does not have.
    #[error("{what}")]
    Unknown {
        /// The fault, as one sentence.
        what: String,
        /// Its place, in bytes.
        at: Range<usize>,
    },
    /// Something that is not supported.
    #[error("{what} is not supported")]
    Unsupported {
        /// The construct, as a noun.
        what: String,
        /// Its place, in bytes.
        at: Range<usize>,
    },
}

fn shown(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl HtolError {
    /// Its place, in bytes.
    pub const fn at(&self) -> &Range<usize> {
        match self {
            Self::Character { at, .. }
            | Self::Number { at }
            | Self::Expected { at, .. }
            | Self::TooDeep { at, .. }
            | Self::IllFormed { at, .. }
            | Self::Unknown { at, .. }
            | Self::Unsupported { at, .. } => at,
        }
    }

    /// The line and the column, from 1, at which it begins in the text.
    pub fn line_and_column(&self, text: &str) -> (u32, u32) {
        let before = text.get(..self.at().start).unwrap_or(text);
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        (line as u32 + 1, column as u32 + 1)
    }
}
