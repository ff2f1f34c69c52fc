//! What a path keeps of its first run, for a comparison with the second.

use std::sync::Arc;

use lydian_base::EntityId;
use lydian_inputs::ExternalPlan;
use lydian_ir::FuncId;
use lydian_smt::Term;

use crate::config::SecondRun;
use crate::machine::memory::{Background, Contents, Memory, ObjectId};
use crate::machine::program::context::Context;

/// What is left out where a second run restricts the inputs.
pub(crate) const RESTRICTED: &str = "what the second run alone does with addresses of inputs";

/// A call of an undefined function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RecordedCall {
    pub(crate) func: FuncId,
    pub(crate) args: Vec<Term>,
}

/// What the first run of a path left.
#[derive(Clone, Debug)]
pub(crate) struct FirstRun {
    /// The value that its last call returned.
    pub(crate) result: Option<Term>,
    pub(crate) memory: Memory,
    /// The results of undefined functions, and its further calls.
    pub(crate) externals: Arc<Vec<Arc<ExternalPlan>>>,
    pub(crate) calls: Arc<Vec<RecordedCall>>,
}

/// Sets the variable that tells the runs apart to 0, where there is one.
pub(crate) fn set_up(second: Option<SecondRun>, context: &Context<'_>, memory: &mut Memory) {
    if let Some(object) = second.and_then(|second| object_of(second, context, memory)) {
        memory.object_mut(object).contents = Contents::new(Background::Zero);
    }
}

/// The object of the variable that tells the runs apart. `None` where there is none, or no code names it.
pub(crate) fn object_of(
    second: SecondRun,
    context: &Context<'_>,
    memory: &Memory,
) -> Option<ObjectId> {
    memory.object_at(context.globals[second.variable()?.index()])
}
