//! Calls.

use crate::limits::Cut;
use crate::machine::Machine;
use crate::machine::context::Context;
use crate::machine::decision_log::Question;
use crate::machine::ending::Ending;
use crate::machine::interrupt::Interrupt;
use crate::machine::memory::{
    Background, Knowledge, NewObject, ObjectKind, Resolution, Target, flatten_address, function_at,
    mentions_other_than,
};
use crate::machine::permitted::PermittedWrites;
use crate::machine::reachable::is_of_system;
use crate::machine::setup::{add_input_object, contents_of};
use crate::machine::site::SiteKey;
use crate::machine::stack::leave_frame;
use crate::machine::state::{Frame, Notes, ReturnTo, State};
use crate::machine::step::as_type;
use lydian_base::EntityId;
use lydian_eval::{Traps, Undetermined, sort_of, to_bytes, undefined_symbol};
use lydian_inputs::{CellPlan, ExternalCall, ExternalPlan, OutTarget, asked_for, external_result};
use lydian_ir::libc::{Family, model_of};
use lydian_ir::outside::writes_nothing;
use lydian_ir::{
    Body, CType, CTypeId, Callee, ExprId, FuncId, Function, LocalId, Stmt, Storage, TrapKind, Type,
};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::Term;
use std::sync::Arc;

/// A call whose operands were evaluated.
pub(crate) struct CallSite {
    pub(crate) args: Vec<Term>,
    pub(crate) register: Option<LocalId>,
    pub(crate) dst: Option<Term>,
    /// The C type of the result.
    pub(crate) result: CTypeId,
}
