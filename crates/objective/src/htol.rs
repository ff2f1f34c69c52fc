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
//! A term is over `|| && == != < <= > >= + - * / % !`, numbers and names. In a label's predicate,
//! bindings and duties it is also over the program's variables with `.`, `->`, `[]` and `*`. Names
//! may end in primes. The signs of the paper (▷ ↤ → ⟨ ⟩ · ∧ ∨ ≠ ¬ ⇒) may be written, and `//` begins
//! a comment. A point's name is that of a label in the program (`//! name: predicate`); used as a
//! label it is that label with its predicate.
//!
//! A path is no hyperlabel but an objective of the criterion `spc`: nodes of the function's graph,
//! each named by a place in it, that follow one another ([`crate::paths`]).
//!
//! [`parse`] and [`parse_file`] read texts. `Display` prints a text that reads back as the same tree.
//! [`visible_names`] checks the rules of Figure 4. The criteria `htol` and `spc` make objectives of a
//! program's function ([`crate::annotate`]).

mod error;
mod file;
mod form;
mod lexer;
mod parser;
mod printer;
pub(crate) mod references;
pub(crate) mod scope;
pub mod syntax;
#[cfg(test)]
mod tests;

pub use error::HtolError;
pub use file::HtolFile;
pub use form::{NameLookup, visible_names};
pub use parser::{parse, parse_file};
