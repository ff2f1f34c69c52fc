//! Models of library functions over symbolic memory.

use lydian_ir::{Body, FuncId};

use super::calls::CallSite;
use super::explore::Engine;
use super::outcome::Ending;
use super::state::State;
use super::step::Flow;

/// A library function that has a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Modelled {
    /// `abort` and what it stands for.
    Abort,
    /// `exit` and its like.
    Exit,
}

impl Modelled {
    /// The model of the function of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "abort" | "__assert_fail" => Some(Self::Abort),
            "exit" | "_exit" | "_Exit" | "quick_exit" => Some(Self::Exit),
            _ => None,
        }
    }
}

impl Engine<'_, '_> {
    /// Executes a call of a modelled function.
    pub(super) fn call_model(
        &mut self,
        state: &mut State,
        _body: &Body,
        model: Modelled,
        _func: FuncId,
        _site: CallSite,
    ) -> Result<(), Flow> {
        match model {
            Modelled::Abort => Err(self.trapped(state, lydian_ir::TrapKind::Abort)),
            Modelled::Exit => Err(Flow::End(Ending::Exited)),
        }
    }
}
