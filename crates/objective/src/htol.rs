//! HTOL as users write it ([002] V-C): `.htol` files with hyperlabels.
//!
//! ```text
//! file      ::= { item }
//! item      ::= "function" NAME ";"                    what follows is about this function
//!             | "label" NAME "=" label ";"
//!             | "objective" NAME "=" h ";"
//!             | "path" NAME "=" point { "->" [ "..." "->" ] point } ";"
//! h         ::= p { "+" p }                            disjunction
//! p         ::= q { "." q }                            conjunction
//! q         ::= label | "(" h ")"
//!             | "[" [ "activation" ] label { passage label } "]"
//!             | "<" h "|" term ">"                     guard
//! label     ::= ( [ f ] NAME | "(" point "," term ")" ) [ "|>" "{" { NAME "<-" term ";" } "}" ]
//! point     ::= [ f ] ( NAME | "entry" | "line" NUMBER | STRING ":" NUMBER )
//! f         ::= NAME "::"                              of another function
//! passage   ::= "->" | "-(" duty { ";" duty } ")->"
//! duty      ::= "pc" "==" point "=>" term | "pc" "!=" point
//! ```
//!
//! A term is over `|| && == != < <= > >= + - * / % !`, numbers and names, in a label's predicate,
//! bindings and duties also over the program's variables with `.`, `->`, `[]` and `*`. Names may
//! end in primes. The signs of the paper (▷ ↤ → ⟨ ⟩ · ∧ ∨ ≠ ¬ ⇒) may be written, and `//` begins a
//! comment. A point's name is that of a label in the program (`//! name: predicate`); as a label it
//! is that label with its predicate.
//!
//! A path is no hyperlabel but an objective of the criterion `spc`: nodes of the function's graph,
//! each named by a place in it, that follow one another ([`crate::paths`]).
//!
//! [`parse`] and [`parse_file`] read, `Display` prints what reads back as the same,
//! [`visible_names`] checks the rules of Figure 4, and objectives of a program's function are made
//! by `htol` and `spc` ([`crate::annotate`]).

use std::ops::Range;

mod bind;
mod form;
mod lexer;
mod parser;
mod printer;
mod scope;
pub mod syntax;
#[cfg(test)]
mod tests;
mod written;

pub(crate) use bind::{Bound, Objective, objectives, paths};
pub use form::{Known, Rule, visible_names};
pub(crate) use parser::items;
pub use parser::{parse, parse_file};
pub(crate) use written::Written;

/// What is wrong with a text. Places are in bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HtolError {
    /// A character that begins nothing.
    #[error("`{found}` has no meaning here")]
    Character {
        /// The character.
        found: char,
        /// Where.
        at: Range<usize>,
    },
    /// A number that is none or has more than 127 bits.
    #[error("this is no number of at most 127 bits")]
    Number {
        /// Where.
        at: Range<usize>,
    },
    /// Something else should stand here.
    #[error("{what} is expected here")]
    Expected {
        /// What.
        what: String,
        /// Where.
        at: Range<usize>,
    },
    /// Parts are nested too deep, or too many operators follow each other.
    #[error("this is nested deeper than {limit}")]
    TooDeep {
        /// How deep they may be.
        limit: usize,
        /// Where.
        at: Range<usize>,
    },
    /// A rule of well-formedness is broken.
    #[error("ill-formed: {rule}; broken by {}", shown(.names))]
    IllFormed {
        /// The rule.
        rule: Rule,
        /// The names that break it.
        names: Vec<String>,
        /// Where.
        at: Range<usize>,
    },
    /// Something that the program or the file does not have.
    #[error("{what}")]
    Unknown {
        /// What: one sentence.
        what: String,
        /// Where.
        at: Range<usize>,
    },
    /// Something that is not supported.
    #[error("{what} is not supported")]
    Unsupported {
        /// What.
        what: String,
        /// Where.
        at: Range<usize>,
    },
}

fn shown(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

impl HtolError {
    /// Where it is, in bytes.
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

    /// The line and the column, from 1, of where it begins in the text.
    pub fn line_and_column(&self, text: &str) -> (u32, u32) {
        let before = text.get(..self.at().start).unwrap_or(text);
        let line = before.matches('\n').count();
        let column = before.len() - before.rfind('\n').map_or(0, |at| at + 1);
        (line as u32 + 1, column as u32 + 1)
    }
}
