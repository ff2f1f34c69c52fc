//! Strong mutation of C ([004]): mutants as changes of the text, one text that holds all of them, and
//! the results of running tests on them.
//!
//! A test kills a mutant *strongly* if it passes on the program and fails on the mutant. So a mutant
//! is a program of its own. Compiling each would take most of the time; a *mutant schema* (Untch,
//! Offutt and Harrold, ISSTA 1993, [Schemata]) is one program that behaves as any of them, chosen when
//! it starts.
//!
//! [`enumerate()`] lists the mutants of a unit, [`schema()`] writes the schema, [`clones`] compares the
//! code of mutants with that of the original, [`results`] has outcomes and scores, and [`report`]
//! shows them. Nothing here starts a process.

pub mod clones;
mod enumerate;
pub mod mutant;
mod operator;
pub mod pattern;
pub mod products;
pub mod report;
pub mod results;
mod schema;
mod text;

pub use enumerate::{Choice, Enumeration, enumerate};
pub use mutant::{Mutant, MutantId, Position, UnitId, UnitMutants};
pub use operator::Operator;
pub use pattern::Pattern;
pub use schema::{
    CASE_VARIABLE, CHOICE, MUTANT_VARIABLE, RECORD_VARIABLE, SERVER_VARIABLE, choices, schema,
};
pub use text::on_one_line;
