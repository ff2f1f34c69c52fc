//! Mutants, and the notes of a unit about its mutants.

use std::fmt;
use std::path::PathBuf;

use lydian_base::Span;
use serde::{Deserialize, Serialize};

use crate::operator::Operator;

/// A place in a user's file, both numbers counted from 1; columns count bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// One change of a unit's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mutant {
    /// Its number in its unit, from 1.
    pub number: u32,
    /// Its operator.
    pub operator: Operator,
    /// The operator and the change, as `AOR + -> -`.
    pub name: String,
    /// The function that it changes.
    pub function: String,
    /// The range of the preprocessed text that is replaced.
    pub span: Span,
    /// The replaced text.
    pub original: String,
    /// The text in its place.
    pub replacement: String,
    /// The user's file, as the preprocessor names it.
    pub file: String,
    /// The first character of the replaced text in the user's file.
    pub start: Position,
    /// The place just past its last character.
    pub end: Position,
    /// Whether a macro makes the replaced text: the user's file does not have it as it is.
    pub in_macro: bool,
    /// A name that stays the same while the function's text does: for runs that take over results.
    pub key: String,
}

impl Mutant {
    /// The text of the unit with this change.
    pub fn apply(&self, text: &str) -> String {
        let range = self.span.range();
        [&text[..range.start], &self.replacement, &text[range.end..]].concat()
    }
}

/// The id of a unit with mutants: a hash of its text and mutants.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UnitId(String);

impl UnitId {
    /// The id of a unit.
    pub fn of(text: &str, mutants: &[Mutant]) -> Self {
        let mut hash = blake3::Hasher::new();
        hash.update(text.as_bytes());
        for mutant in mutants {
            hash.update(&mutant.span.start.to_le_bytes());
            hash.update(&mutant.span.end.to_le_bytes());
            hash.update(mutant.replacement.as_bytes());
        }
        Self(hash.finalize().to_hex()[..16].to_owned())
    }
}

impl fmt::Display for UnitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A mutant of a program: its unit and its number there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MutantId {
    /// The unit.
    pub unit: UnitId,
    /// The number.
    pub number: u32,
}

impl fmt::Display for MutantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.unit, self.number)
    }
}

/// A unit's mutants, with all that is needed to compile each of them alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitMutants {
    /// Its id.
    pub id: UnitId,
    /// The C file, as an absolute path.
    pub source: PathBuf,
    /// The folder in which it was compiled.
    pub directory: PathBuf,
    /// The compiler's flags for the preprocessed text.
    pub flags: Vec<String>,
    /// The preprocessed text, without mutants.
    pub text: String,
    /// The mutants, by number.
    pub mutants: Vec<Mutant>,
    /// The functions with mutants.
    pub functions: Vec<FunctionNotes>,
    /// The functions without mutants, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// The numbers of mutants by patterns that make no program.
    #[serde(default)]
    pub refused: Vec<u32>,
    /// All functions that the text defines, in its order.
    #[serde(default)]
    pub defined: Vec<FunctionText>,
}

/// The definition of a function in a unit's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionText {
    /// Its name.
    pub name: String,
    /// The whole definition.
    pub span: Span,
}

/// The text of a function with mutants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionNotes {
    /// Its name.
    pub name: String,
    /// The whole definition.
    pub span: Span,
    /// The name within it.
    pub name_span: Span,
    /// The body, from brace to brace.
    pub body: Span,
    /// Whether a copy of it under another name means the same.
    pub copies: bool,
    /// The types of its parameters, if it computes an integer from integers and does nothing else: no
    /// loops, calls, memory, globals and traps. Else nothing.
    pub computes: Vec<String>,
    /// The numbers of its first mutant, and of the one after its last.
    pub numbers: (u32, u32),
}

impl UnitMutants {
    /// The mutant of this number.
    pub fn mutant(&self, number: u32) -> Option<&Mutant> {
        self.mutants.get((number as usize).checked_sub(1)?)
    }

    /// The function that a mutant changes.
    pub fn function_of(&self, mutant: &Mutant) -> Option<&FunctionNotes> {
        let mut all = self.functions.iter();
        all.find(|function| {
            let (first, end) = function.numbers;
            (first..end).contains(&mutant.number)
        })
    }

    /// The id of a mutant among all units.
    pub fn id_of(&self, mutant: &Mutant) -> MutantId {
        MutantId { unit: self.id.clone(), number: mutant.number }
    }
}
