//! The request for an encoding.

use lydian_ir::{FuncId, Program};
use lydian_objective::FunctionObjectives;

use crate::local::Semantics;

/// A program, where its runs begin, and the goals.
#[derive(Clone, Copy, Debug)]
pub struct EncodeRequest<'a> {
    /// The program. It must have passed `lydian_ir::verify`.
    pub program: &'a Program,
    /// The function where runs begin: `main`, or a function under test.
    pub entry: FuncId,
    /// The goals.
    pub goals: Goals<'a>,
    /// The meaning of signed overflow and of conditions that are not reached.
    pub semantics: Semantics,
    /// The meaning of what C leaves open.
    pub rules: Rules,
    /// The limits.
    pub limits: EncodeLimits,
}

/// The places that the goals are made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Goals<'a> {
    /// Whether each call of an error function is a goal: `reach_error`, `__VERIFIER_error`, a failed
    /// `assert`.
    pub errors: bool,
    /// The labels of one function, each of which is a goal, in every activation of the function.
    pub labels: Option<&'a FunctionObjectives>,
    /// The sequences of one function, each of which is a goal. If there are both, it is one function's.
    pub sequences: Option<&'a FunctionObjectives>,
}

/// The meaning of a read of what was never written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UninitialisedRead {
    /// It gives any value.
    #[default]
    AnyValue,
    /// It ends the path. The encoding lets it give any value, which has more runs.
    EndsPath,
}

/// The meaning of what C leaves open.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// The meaning of a read of what was never written.
    pub uninitialised: UninitialisedRead,
    /// Whether allocations of memory always succeed.
    pub allocation_succeeds: bool,
}

/// The limits of an encoding.
#[derive(Clone, Copy, Debug)]
pub struct EncodeLimits {
    /// How many blocks of inlined functions there may be. A call that needs more is opaque.
    pub blocks: usize,
    /// How many functions a call through a pointer may choose from. With more it is opaque.
    pub choices: usize,
    /// How many scalars or elements a copy of memory may have one by one.
    pub pieces: usize,
    /// Whether memory that is no object of the program is followed, byte by byte. Else each read of it
    /// gives any value, which makes smaller terms.
    pub outside: bool,
}

impl Default for EncodeLimits {
    fn default() -> Self {
        Self { blocks: 20_000, choices: 16, pieces: 256, outside: true }
    }
}

/// Why a program has no encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EncodeError {
    /// The function has no body.
    NoBody(String),
    /// The program does something that the encoding does not have, and that would add behaviours
    /// anywhere: threads, signals, jumps between functions.
    Unsupported(String),
}

impl std::fmt::Display for EncodeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoBody(name) => write!(f, "{name} has no body"),
            Self::Unsupported(what) => write!(f, "{what} is not supported"),
        }
    }
}

impl std::error::Error for EncodeError {}
