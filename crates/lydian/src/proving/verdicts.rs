//! Answers about goals, in the terms of the program.

use lydian_base::Place;
use lydian_ir::{CTypeId, CTypes, FuncId, StmtId};
use serde::{Deserialize, Serialize};

use super::invariants::PointInvariants;

/// The function where a program begins.
pub(crate) const MAIN: &str = "main";
/// The name of the exploration among the engines.
pub(super) const EXPLORATION: &str = "exploration";

/// Who looks for answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provers {
    /// The engines of `lydian-prove` and the exploration, which share the time.
    #[default]
    Together,
    /// The engines alone.
    Engines,
    /// The exploration alone.
    Exploration,
}

/// What is known of a call of an error function.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorProof {
    /// The place of the call.
    pub place: Option<Place>,
    /// The function with the call.
    pub function: String,
    /// The answer.
    pub answer: ErrorAnswer,
    /// The engine that found the answer.
    pub engine: String,
    /// Where the run that was found overflows a signed number before it gets there, which C leaves
    /// undefined; none if it does not, or if the compiler is told that overflow wraps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overflow: Option<Place>,
    /// The call.
    #[serde(skip)]
    pub(crate) call: (FuncId, StmtId),
}

/// The answer for a call of an error function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorAnswer {
    /// A run with these inputs gets there, as the interpreter confirms.
    Reached(Vec<InputValue>),
    /// No run gets there.
    Unreachable(Argument),
    /// Neither is known.
    Unknown(String),
    /// An internal error: this part of an engine's argument is false.
    Unconfirmed(String),
}

/// The value of a call that gives the program an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputValue {
    /// The function that is called. For the first value of a variable that begins without one, a name
    /// that [`Beginning`](lydian_ir::beginnings::Beginning) reads.
    pub function: String,
    /// The C type of the result, where it is known.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub ty: Option<String>,
    /// The bytes of its result, in the order of memory.
    pub bytes: Vec<u8>,
}

/// Why no run gets to a place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Argument {
    /// The number of successive states that the induction looks at; 1 for plain induction.
    pub depth: u32,
    /// Whether all runs are shorter than that, so that they were looked at one and all.
    pub exhaustive: bool,
    /// What holds whenever control is at a loop's head.
    pub invariants: Vec<PointInvariants>,
    /// The argument of the exploration, or the word of an outside checker, as a sentence; there are no
    /// invariants then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<String>,
}

/// A type as C writes it.
pub(super) fn spelled(types: &CTypes, ty: CTypeId) -> String {
    types.spell(ty, "").trim().to_owned()
}
